#include "hermes/turn.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int has_name(const json_t *names, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach ((json_t *)(uintptr_t)names, i, item) {
        if (mc_streq(json_string_value(item), name)) {
            return 1;
        }
    }
    return 0;
}

/* The first of `names` that is not in `others`, NULL where all are. */
static const char *first_missing(const json_t *names, const json_t *others)
{
    size_t i;
    json_t *item;
    json_array_foreach ((json_t *)(uintptr_t)names, i, item) {
        if (!has_name(others, json_string_value(item))) {
            return json_string_value(item);
        }
    }
    return NULL;
}

int mc_harness_check_ready(const struct mc_harness *harness, const struct mc_ready *ready, const json_t *allow,
                           struct mc_err *err)
{
    if (!mc_streq(ready->version, harness->version)) {
        mc_fail(err, MC_MISMATCH, "the harness %s is version %s, its manifest pins %s", harness->name, ready->version,
                harness->version);
        return mc_hint(err, "rebuild the image, or pin the version that it has");
    }
    const char *extra = first_missing(ready->tools, allow);
    if (extra) {
        return mc_fail(err, MC_DENIED, "the harness %s offers the tool \"%s\", which is not allowed", harness->name,
                       extra);
    }
    const char *absent = first_missing(allow, ready->tools);
    if (absent) {
        return mc_fail(err, MC_DENIED, "the harness %s does not offer the provider's tool \"%s\"", harness->name,
                       absent);
    }
    return 0;
}

void mc_turn_outcome_release(struct mc_turn_outcome *outcome)
{
    free(outcome->answer);
    free(outcome->message);
    *outcome = (struct mc_turn_outcome){.usage = MC_USAGE_UNKNOWN};
}

static enum mc_turn_end end_of(enum mc_turn_failure failure)
{
    switch (failure) {
    case MC_FAIL_DEADLINE:
    case MC_FAIL_CANCELLED:
        return MC_TURN_LATE;
    case MC_FAIL_TOOL_POLICY:
        return MC_TURN_POLICY;
    default:
        return MC_TURN_ERROR;
    }
}

/* Waits for the end of `turn`. */
static int wait_for_end(const struct mc_talk *talk, const char *turn, struct mc_turn_outcome *out,
                        struct mc_until until, struct mc_err *err)
{
    struct mc_notice notice;
    int rc = mc_talk_answer(talk, &notice, until, err);
    if (rc != 0) {
        return rc;
    }
    if (notice.type == MC_TURN_COMPLETED && mc_streq(notice.turn_completed.turn, turn)) {
        out->end = MC_TURN_ANSWERED;
        out->answer = mc_strdup(notice.turn_completed.answer);
        out->usage = notice.turn_completed.usage;
    } else if (notice.type == MC_TURN_FAILED && mc_streq(notice.turn_failed.turn, turn)) {
        out->end = end_of(notice.turn_failed.reason);
        out->message = mc_strdup(notice.turn_failed.message);
    } else {
        rc = mc_talk_unexpected(talk, &notice, "the end of the turn", err);
    }
    mc_notice_release(&notice);
    return rc;
}

/* Tells the program to stop the turn and sees that it does; *out says how it ended in the end. */
static int stop_turn(const struct mc_talk *talk, const char *turn, struct mc_turn_outcome *out,
                     const struct mc_cancel *cancel, struct mc_err *err)
{
    struct mc_command stop = {.type = MC_CMD_TURN_CANCEL, .turn = turn};
    struct mc_until until = mc_within(MC_TURN_GRACE_MS, cancel);
    int rc = mc_talk_send(talk, &stop, until, err);
    do {
        rc = rc ? rc : wait_for_end(talk, turn, out, until, err);
        if (rc == MC_DENIED) {
            rc = 0; /* one more call outside the allowed set, while the first is being stopped */
            continue;
        }
    } while (rc == 0 && !out->answer && !out->message);
    return rc;
}

int mc_harness_turn(const struct mc_talk *talk, const struct mc_turn_start *turn, struct mc_turn_outcome *out,
                    const struct mc_cancel *cancel, struct mc_err *err)
{
    *out = (struct mc_turn_outcome){.usage = MC_USAGE_UNKNOWN};
    struct mc_command start = {.type = MC_CMD_TURN_START, .turn_start = *turn};
    int64_t began = mc_monotonic_ms();
    /* The program knows its deadline and has some grace to say so itself. */
    struct mc_until until = mc_within(turn->deadline_ms + MC_TURN_GRACE_MS, cancel);
    int rc = mc_talk_send(talk, &start, until, err);
    rc = rc ? rc : wait_for_end(talk, turn->turn, out, until, err);
    int denied = rc == MC_DENIED;
    int late = rc == MC_TIMEOUT;
    if (denied || late) {
        struct mc_err why = *err;
        rc = stop_turn(talk, turn->turn, out, cancel, err);
        if (rc == MC_TIMEOUT) {
            out->end = MC_TURN_STUCK;
            rc = 0;
        }
        free(out->message);
        out->message = denied ? mc_strdup(why.text) : mc_strf("no answer within %lld ms", (long long)turn->deadline_ms);
    }
    out->latency_ms = mc_monotonic_ms() - began;
    if (rc == 0 && denied && out->end != MC_TURN_STUCK) {
        out->end = MC_TURN_POLICY;
    } else if (rc == 0 && late && out->end == MC_TURN_ERROR) {
        out->end = MC_TURN_LATE; /* whatever made it fail, it came after the deadline */
    } else if (rc == 0 && out->end == MC_TURN_ANSWERED && (late || out->latency_ms > turn->deadline_ms)) {
        out->end = MC_TURN_LATE;
        free(out->message);
        out->message = mc_strf("the answer came after %lld ms, the deadline was %lld ms", (long long)out->latency_ms,
                               (long long)turn->deadline_ms);
    }
    if (rc != 0) {
        mc_turn_outcome_release(out);
    }
    return rc;
}

int mc_harness_end_session(const struct mc_talk *talk, const char *session, struct mc_until until, struct mc_err *err)
{
    struct mc_command end = {.type = MC_CMD_SESSION_END, .session = session};
    struct mc_notice notice;
    int rc = mc_talk_send(talk, &end, until, err);
    rc = rc ? rc : mc_talk_answer(talk, &notice, until, err);
    if (rc != 0) {
        return mc_wrap(err, "ending the session %s", session);
    }
    if (notice.type != MC_SESSION_ENDED || !mc_streq(notice.session, session)) {
        rc = mc_talk_unexpected(talk, &notice, "\"session.ended\"", err);
    }
    mc_notice_release(&notice);
    return rc;
}
