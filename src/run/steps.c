/* The schedule of an attempt, step by step. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hermes/turn.h"
#include "provider/operation.h"
#include "run/attempt.h"

enum { CLOCK_SET_MS = 10000, SESSION_END_MS = 60000 };

/* One step while it is done. */
struct doing {
    struct mc_attempt *attempt;
    const struct mc_step *step;
    int64_t ordinal; /* counts from 1 */
    char *ref;
    const char *status; /* how it ended */
    char *detail;
};

static char *ref_of(const struct mc_life *life, const struct mc_step *step)
{
    switch (step->kind) {
    case MC_STEP_TURN:
        return mc_strdup(life->turns[step->index].id);
    case MC_STEP_PROBE:
        return mc_strdup(life->checkpoints[step->index].id);
    default:
        return mc_strdup(mc_time_format(step->at).text);
    }
}

/* The scenario clock goes to the step's time, and model calls belong to the step from now on. */
static int set_clock(const struct doing *doing, struct mc_err *err)
{
    struct mc_talk talk = mc_attempt_talk(doing->attempt, MC_SIDECAR);
    struct mc_until until = mc_within(CLOCK_SET_MS, doing->attempt->run->cancel);
    struct mc_command set = {
        .type = MC_CMD_CLOCK_SET,
        .clock_set = {.scenario_time = doing->step->at, .step = doing->ref, .limit_calls = MC_UNKNOWN}};
    struct mc_notice notice;
    int rc = mc_talk_send(&talk, &set, until, err);
    rc = rc ? rc : mc_talk_answer(&talk, &notice, until, err);
    if (rc != 0) {
        return mc_wrap(err, "setting the scenario clock");
    }
    if (notice.type != MC_CLOCK || !mc_streq(notice.clock.step, doing->ref)) {
        rc = mc_talk_unexpected(&talk, &notice, "\"clock\"", err);
    }
    mc_notice_release(&notice);
    return rc;
}

static int note_operation(void *payload, const char *operation, struct mc_err *err)
{
    const struct doing *doing = payload;
    return mc_steps_operation(doing->attempt->run->store, doing->attempt->id, doing->ordinal, operation, err);
}

/* A provider's operation that failed ends the attempt: what follows would be asked of another memory. */
static int settle_operation(struct doing *doing, struct mc_operation_outcome *outcome, struct mc_err *err)
{
    int completed = outcome->completed;
    free(doing->detail);
    doing->detail = outcome->detail ? mc_strdup(outcome->detail) : NULL;
    doing->status = completed ? "done" : "failed";
    mc_operation_outcome_release(outcome);
    if (completed) {
        return 0;
    }
    doing->attempt->culprit = MC_PROVIDER;
    doing->attempt->culprit_known = 1;
    return mc_fail(err, MC_CLOSED, "the provider says that its %s of %s failed: %s", mc_step_name(doing->step->kind),
                   doing->ref, doing->detail ? doing->detail : "it gives no reason");
}

static int do_import(struct doing *doing, struct mc_err *err)
{
    struct mc_attempt *attempt = doing->attempt;
    if (!attempt->entrant->has_provider || doing->step->count == 0) {
        doing->status = "skipped";
        doing->detail = mc_strdup(doing->step->count ? "the harness has no provider" : "nothing was collected");
        return 0;
    }
    MC_AUTOJSON json_t *observations = json_array();
    for (size_t i = 0; i < doing->step->count; i++) {
        json_t *observation = mc_life_observation_json(attempt->life, doing->step->first + i, err);
        if (!observation) {
            return err->code;
        }
        json_array_append_new(observations, observation);
    }
    struct mc_talk talk = mc_attempt_talk(attempt, MC_PROVIDER);
    struct mc_until until = mc_within(attempt->entrant->provider.limits.import_s * 1000, attempt->run->cancel);
    struct mc_import import = {.batch = doing->ref, .boundary = doing->step->at, .observations = observations};
    struct mc_operation_outcome outcome;
    int rc = mc_provider_import(&talk, &import, note_operation, doing, &outcome, until, err);
    return rc ? rc : settle_operation(doing, &outcome, err);
}

static int do_night(struct doing *doing, struct mc_err *err)
{
    struct mc_attempt *attempt = doing->attempt;
    if (!attempt->entrant->has_provider || mc_streq(attempt->entrant->provider.maintenance, "none")) {
        doing->status = "skipped";
        doing->detail = mc_strdup("there is no maintenance to do");
        return 0;
    }
    struct mc_talk talk = mc_attempt_talk(attempt, MC_PROVIDER);
    struct mc_until until = mc_within(attempt->entrant->provider.limits.night_s * 1000, attempt->run->cancel);
    struct mc_operation_outcome outcome;
    int rc = mc_provider_maintain(&talk, doing->ref, note_operation, doing, &outcome, until, err);
    return rc ? rc : settle_operation(doing, &outcome, err);
}

static enum mc_ended ended_of(enum mc_turn_end end)
{
    switch (end) {
    case MC_TURN_ANSWERED:
        return MC_ENDED_COMPLETED;
    case MC_TURN_LATE:
    case MC_TURN_STUCK:
        return MC_ENDED_TIMEOUT;
    case MC_TURN_POLICY:
        return MC_ENDED_TOOL_POLICY;
    default:
        return MC_ENDED_FAILED;
    }
}

/* A turn that its program did not stop makes everything after it worthless. */
static int settle_turn(struct doing *doing, const struct mc_turn_outcome *outcome, struct mc_err *err)
{
    doing->status = outcome->end == MC_TURN_ANSWERED ? "done" : "failed";
    free(doing->detail);
    doing->detail = outcome->message ? mc_strdup(outcome->message) : NULL;
    if (outcome->end != MC_TURN_STUCK) {
        return 0;
    }
    doing->attempt->culprit = MC_HARNESS;
    doing->attempt->culprit_known = 1;
    return mc_fail(err, MC_TIMEOUT, "%s %s: %s, and the harness did not stop when told to",
                   mc_step_name(doing->step->kind), doing->ref, outcome->message);
}

static int do_turn(struct doing *doing, struct mc_err *err)
{
    struct mc_attempt *attempt = doing->attempt;
    const struct mc_life_turn *turn = &attempt->life->turns[doing->step->index];
    struct mc_talk talk = mc_attempt_talk(attempt, MC_HARNESS);
    struct mc_turn_start start = {.turn = turn->id,
                                  .session = turn->session,
                                  .kind = MC_TURN,
                                  .scenario_time = doing->step->at,
                                  .deadline_ms = attempt->entrant->harness.limits.turn_s * 1000,
                                  .text = turn->text};
    struct mc_turn_outcome outcome;
    int rc = mc_harness_turn(&talk, &start, &outcome, attempt->run->cancel, err);
    if (rc == 0) {
        rc = settle_turn(doing, &outcome, err);
        mc_turn_outcome_release(&outcome);
    }
    return rc;
}

static int keep_answer(const struct doing *doing, const struct mc_turn_outcome *outcome, struct mc_err *err)
{
    const struct mc_attempt *attempt = doing->attempt;
    struct mc_call_totals totals;
    int rc = mc_calls_total(attempt->run->store, attempt->id, doing->ref, &totals, err);
    struct mc_answer_record answer = {.attempt = attempt->id,
                                      .checkpoint = doing->ref,
                                      .ended = mc_ended_name(ended_of(outcome->end)),
                                      .answer = outcome->answer,
                                      .reason = outcome->message,
                                      .latency_ms = outcome->latency_ms,
                                      .calls = totals.calls,
                                      .usage = totals.usage};
    return rc ? rc : mc_answers_put(attempt->run->store, &answer, err);
}

static int do_probe(struct doing *doing, struct mc_err *err)
{
    struct mc_attempt *attempt = doing->attempt;
    const struct mc_checkpoint *checkpoint = &attempt->life->checkpoints[doing->step->index];
    struct mc_talk talk = mc_attempt_talk(attempt, MC_HARNESS);
    struct mc_turn_start start = {.turn = checkpoint->id,
                                  .session = checkpoint->session,
                                  .kind = MC_PROBE,
                                  .scenario_time = doing->step->at,
                                  .deadline_ms = (int64_t)checkpoint->deadline_s * 1000,
                                  .text = checkpoint->question};
    struct mc_turn_outcome outcome;
    int rc = mc_harness_turn(&talk, &start, &outcome, attempt->run->cancel, err);
    if (rc == 0) {
        rc = keep_answer(doing, &outcome, err);
        rc = rc ? rc : settle_turn(doing, &outcome, err);
        mc_turn_outcome_release(&outcome);
    }
    return rc;
}

static const char *session_of(const struct mc_life *life, const struct mc_step *step)
{
    return step->kind == MC_STEP_TURN    ? life->turns[step->index].session
           : step->kind == MC_STEP_PROBE ? life->checkpoints[step->index].session
                                         : NULL;
}

/* A session ends after the last step that uses it: only then does memory get all of it. */
static int end_session(const struct doing *doing, struct mc_err *err)
{
    struct mc_attempt *attempt = doing->attempt;
    const char *session = session_of(attempt->life, doing->step);
    if (!session) {
        return 0;
    }
    for (size_t i = (size_t)doing->ordinal; i < attempt->schedule.count; i++) {
        if (mc_streq(session_of(attempt->life, &attempt->schedule.steps[i]), session)) {
            return 0;
        }
    }
    struct mc_talk talk = mc_attempt_talk(attempt, MC_HARNESS);
    return mc_harness_end_session(&talk, session, mc_within(SESSION_END_MS, attempt->run->cancel), err);
}

static int act(struct doing *doing, struct mc_err *err)
{
    free(mc_steal(&doing->attempt->violation));
    int rc = set_clock(doing, err);
    if (rc != 0) {
        return rc;
    }
    doing->status = "done";
    switch (doing->step->kind) {
    case MC_STEP_IMPORT:
        rc = do_import(doing, err);
        break;
    case MC_STEP_NIGHT:
        rc = do_night(doing, err);
        break;
    case MC_STEP_TURN:
        rc = do_turn(doing, err);
        break;
    case MC_STEP_PROBE:
        rc = do_probe(doing, err);
        break;
    }
    return rc ? rc : end_session(doing, err);
}

static int do_step(struct mc_attempt *attempt, size_t index, struct mc_err *err)
{
    const struct mc_step *step = &attempt->schedule.steps[index];
    struct doing doing = {.attempt = attempt, .step = step, .ordinal = (int64_t)index + 1};
    doing.ref = ref_of(attempt->life, step);
    doing.status = "failed";
    MC_AUTOFREE char *what = mc_strf("%s %s", mc_step_name(step->kind), doing.ref);
    struct mc_time_text at = mc_time_format(step->at);
    mc_attempt_progress(
        attempt,
        &(struct mc_progress){.kind = MC_PROGRESS_STEP, .what = what, .scenario_time = at.text, .step = index + 1});
    json_t *data = json_pack("{sI ss ss ss}", "ordinal", (json_int_t)doing.ordinal, "kind", mc_step_name(step->kind),
                             "ref", doing.ref, "scenario_time", at.text);
    int64_t began = mc_monotonic_ms();
    int rc = mc_steps_begin(attempt->run->store, attempt->id, doing.ordinal, err);
    int noted = mc_attempt_event(attempt, "step.started", data, err);
    rc = rc ? rc : noted;
    rc = rc ? rc : act(&doing, err);
    struct mc_step_record record = {.ordinal = doing.ordinal,
                                    .status = rc ? "failed" : doing.status,
                                    .wall_ms = mc_monotonic_ms() - began,
                                    .detail = rc ? err->text : doing.detail};
    data = json_pack("{sI ss sI ss*}", "ordinal", (json_int_t)doing.ordinal, "status", record.status, "wall_ms",
                     (json_int_t)record.wall_ms, "detail", record.detail);
    struct mc_err second;
    noted = mc_attempt_event(attempt, "step.ended", data, &second);
    noted = noted ? noted : mc_steps_end(attempt->run->store, attempt->id, &record, &second);
    noted = noted ? noted : mc_events_flush(attempt->run->events, &second);
    if (rc == 0 && noted != 0) {
        *err = second;
        rc = noted;
    }
    free(doing.ref);
    free(doing.detail);
    return rc;
}

static int plan_steps(struct mc_attempt *attempt, struct mc_err *err)
{
    size_t count = attempt->schedule.count;
    MC_AUTOPOOL struct mc_pool pool = {.items = NULL};
    struct mc_step_record *rows = mc_pool_alloc(&pool, count, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        const struct mc_step *step = &attempt->schedule.steps[i];
        MC_AUTOFREE char *ref = ref_of(attempt->life, step);
        rows[i] = (struct mc_step_record){.ordinal = (int64_t)i + 1,
                                          .kind = mc_step_name(step->kind),
                                          .ref = mc_pool_strdup(&pool, ref),
                                          .scenario_time = mc_pool_strdup(&pool, mc_time_format(step->at).text)};
    }
    return mc_steps_plan(attempt->run->store, attempt->id, rows, count, err);
}

int mc_attempt_schedule(struct mc_attempt *attempt, struct mc_err *err)
{
    int rc = plan_steps(attempt, err);
    while (rc == 0 && attempt->first_open_step < attempt->schedule.count) {
        rc = do_step(attempt, attempt->first_open_step, err);
        attempt->first_open_step += rc == 0;
    }
    return rc;
}

struct answered {
    const char *checkpoint;
    int found;
};

static int is_answered(void *payload, const struct mc_answer_record *answer)
{
    struct answered *answered = payload;
    answered->found |= mc_streq(answer->checkpoint, answered->checkpoint);
    return 0;
}

int mc_attempt_close_steps(struct mc_attempt *attempt, enum mc_ended ended, const char *reason, struct mc_err *err)
{
    for (size_t i = attempt->first_open_step; i < attempt->schedule.count; i++) {
        const struct mc_step *step = &attempt->schedule.steps[i];
        if (step->kind != MC_STEP_PROBE) {
            continue;
        }
        struct answered answered = {.checkpoint = attempt->life->checkpoints[step->index].id, .found = 0};
        int rc = mc_answers_list(attempt->run->store, attempt->id, is_answered, &answered, err);
        if (rc == 0 && !answered.found) {
            struct mc_answer_record answer = {.attempt = attempt->id,
                                              .checkpoint = answered.checkpoint,
                                              .ended = mc_ended_name(ended),
                                              .reason = reason,
                                              .latency_ms = -1,
                                              .calls = -1,
                                              .usage = MC_USAGE_UNKNOWN};
            rc = mc_answers_put(attempt->run->store, &answer, err);
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}
