/* Listening to an attempt's programs, all of them at once, whichever one is waited for. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/attempt.h"

/* How far a program's clock may be from the scenario's (design.md section 4). */
enum { CLOCK_TOLERANCE_MS = 2000 };

static int record(void *payload, const char *line, size_t length, const struct mc_err *bad, struct mc_err *err)
{
    const struct mc_listener *listener = payload;
    json_t *frame = bad ? NULL : json_loadb(line, length, 0, NULL);
    json_t *data = json_object();
    json_object_set_new(data, "role", json_string(mc_role_name(listener->role)));
    if (frame) {
        json_object_set_new(data, "frame", frame);
        return mc_attempt_event(listener->attempt, "frame", data, err);
    }
    /* A bad line is kept whole, as an object; the event says which and why. */
    struct mc_digest digest;
    int rc = mc_object_put(listener->attempt->run->store, "bad frame", line, length, &digest, err);
    if (rc != 0) {
        json_decref(data);
        return rc;
    }
    json_object_set_new(data, "bytes", json_string(digest.hex));
    json_object_set_new(data, "why", json_string(bad ? bad->text : "not a JSON object"));
    return mc_attempt_event(listener->attempt, "bad_frame", data, err);
}

/* Whole lines go through the redactor together, so that no secret is split; a line without end is cut at 64 KiB. */
static int keep_errors(void *payload, const void *bytes, size_t length, struct mc_err *err)
{
    enum { LONGEST = 65536 };
    struct mc_listener *listener = payload;
    struct mc_stderr *errors = &listener->attempt->errors[listener->role];
    const char *p = bytes;
    int rc = 0;
    while (rc == 0 && length > 0) {
        const char *newline = memchr(p, '\n', length);
        size_t part = newline ? (size_t)(newline - p) + 1 : length;
        mc_buf_put(&errors->line, p, part);
        p += part;
        length -= part;
        if (newline || errors->line.len >= LONGEST) {
            MC_AUTOBUF struct mc_buf clean = MC_BUF_OWN;
            mc_redact_bytes(errors->redactor, errors->line.data, errors->line.len, &clean);
            mc_buf_clear(&errors->line);
            rc = mc_object_write(errors->writer, clean.data, clean.len, err);
        }
    }
    return rc;
}

struct mc_channel_hooks mc_attempt_hooks(struct mc_attempt *attempt, enum mc_role role)
{
    attempt->listeners[role] = (struct mc_listener){attempt, role};
    return (struct mc_channel_hooks){record, keep_errors, &attempt->listeners[role]};
}

/* The program's own clock against the scenario's, where it is under it and was waited for. */
static int check_clock(const struct mc_attempt *attempt, enum mc_role role, const struct mc_notice *notice,
                       struct mc_err *err)
{
    int faked = role == MC_HARNESS    ? attempt->entrant->harness.faked
                : role == MC_PROVIDER ? mc_provider_is_faked(&attempt->entrant->provider)
                                      : 0;
    int waited_for = notice->type == MC_READY || notice->type == MC_TURN_COMPLETED || notice->type == MC_ACCEPTED;
    if (!faked || !notice->has_at || !waited_for) {
        return 0;
    }
    int64_t expected = attempt->clock.ms + (mc_monotonic_ms() - attempt->clock_read_ms);
    int64_t off = notice->at.ms - expected;
    if (off > CLOCK_TOLERANCE_MS || off < -CLOCK_TOLERANCE_MS) {
        struct mc_time now = {.ms = expected, .offset_min = attempt->clock.offset_min};
        mc_fail(err, MC_MISMATCH, "the %s's clock reads %s, the scenario clock %s", mc_role_name(role),
                mc_time_format(notice->at).text, mc_time_format(now).text);
        return mc_hint(err, "its processes are not under libfaketime: see docs/images.md");
    }
    return 0;
}

static int keep_call(struct mc_attempt *attempt, const struct mc_model_call *call, struct mc_err *err)
{
    struct mc_call_record row = {.attempt = attempt->id,
                                 .call = call->call,
                                 .step = call->step,
                                 .role = mc_role_name(call->role),
                                 .path = call->path,
                                 .model = call->model,
                                 .upstream = call->upstream,
                                 .status = call->status,
                                 .request = call->request,
                                 .response = call->response,
                                 .usage = call->usage,
                                 .cost_usd = call->cost_usd < 0 ? (double)__builtin_nan("") : call->cost_usd,
                                 .first_byte_ms = call->first_byte_ms < 0 ? -1 : (int64_t)call->first_byte_ms,
                                 .duration_ms = (int64_t)call->duration_ms,
                                 .error = call->error};
    return mc_calls_put(attempt->run->store, &row, err);
}

/* What every notice means for the attempt, whoever waits for what. */
static int observe(struct mc_attempt *attempt, enum mc_role role, const struct mc_notice *notice, struct mc_err *err)
{
    if (role == MC_SIDECAR && notice->type == MC_EVENT && notice->event.kind == MC_EVENT_MODEL_CALL) {
        return keep_call(attempt, &notice->event.model_call, err);
    }
    if (role == MC_SIDECAR && notice->type == MC_EVENT && notice->event.kind == MC_EVENT_VIOLATION) {
        const struct mc_violation *violation = &notice->event.violation;
        if (violation->rule == MC_RULE_BUDGET) {
            attempt->over_budget = 1;
        } else if (violation->rule == MC_RULE_TOOL_CALLED || violation->rule == MC_RULE_TOOLS_OFFERED) {
            free(attempt->violation);
            attempt->violation = mc_strf("wire: %s: %s", mc_rule_name(violation->rule), violation->detail);
        }
    }
    if (role == MC_SIDECAR && notice->type == MC_CLOCK) {
        attempt->clock = notice->clock.scenario_time;
        attempt->clock_read_ms = mc_monotonic_ms();
    }
    return check_clock(attempt, role, notice, err);
}

static void blame(struct mc_attempt *attempt, enum mc_role role)
{
    attempt->culprit = role;
    attempt->culprit_known = 1;
}

/* Reads what has come from one program. 1: a notice for whoever waits is in *out. */
static int drain(struct mc_attempt *attempt, enum mc_role role, int wanted, struct mc_notice *out, struct mc_err *err)
{
    struct mc_program *program = &attempt->programs[role];
    while (program->open) {
        struct mc_notice notice;
        int got = mc_channel_try(&program->channel, &notice, err);
        if (got == 0) {
            return 0;
        }
        if (got < 0) {
            program->open = 0;
            if (got == MC_CLOSED && attempt->ending && !wanted) {
                return 0;
            }
            blame(attempt, role);
            return got;
        }
        int rc = observe(attempt, role, &notice, err);
        if (rc != 0 || !wanted) {
            mc_notice_release(&notice);
            if (rc != 0) {
                return rc;
            }
            continue;
        }
        *out = notice;
        return 1;
    }
    if (!wanted) {
        return 0;
    }
    blame(attempt, role);
    return mc_fail(err, MC_CLOSED, "the %s has ended", mc_role_name(role));
}

static int wait_for_any(const struct mc_attempt *attempt, struct mc_until until, struct mc_err *err)
{
    struct pollfd fds[MC_ROLES + 1];
    nfds_t count = 0;
    for (int r = 0; r < MC_ROLES; r++) {
        if (attempt->programs[r].open) {
            fds[count++] = (struct pollfd){.fd = mc_channel_fd(&attempt->programs[r].channel), .events = POLLIN};
        }
    }
    if (until.cancel) {
        fds[count++] = (struct pollfd){.fd = until.cancel->fd, .events = POLLIN};
    }
    int64_t left = mc_left_ms(until);
    if (poll(fds, count, left > INT_MAX ? INT_MAX : (int)left) < 0 && errno != EINTR) {
        return mc_fail_errno(err, errno, "waiting for the programs");
    }
    return 0;
}

static int next(void *payload, struct mc_notice *out, struct mc_until until, struct mc_err *err)
{
    const struct mc_listener *listener = payload;
    struct mc_attempt *attempt = listener->attempt;
    attempt->culprit_known = 0;
    for (;;) {
        /* The sidecar first: what it says of a response is known before the harness acts on it. */
        for (int r = MC_ROLES - 1; r >= 0; r--) {
            int rc = drain(attempt, (enum mc_role)r, r == (int)listener->role, out, err);
            if (rc != 0) {
                return rc < 0 ? rc : 0;
            }
            if (r == MC_SIDECAR && attempt->over_budget) {
                return mc_fail(err, MC_BUDGET, "the run's budget is spent");
            }
            if (r == MC_SIDECAR && attempt->violation && listener->role == MC_HARNESS) {
                mc_fail(err, MC_DENIED, "%s", attempt->violation);
                free(mc_steal(&attempt->violation));
                return MC_DENIED;
            }
        }
        int rc = mc_check(until, mc_role_name(listener->role), err);
        if (rc == MC_TIMEOUT) {
            blame(attempt, listener->role);
        }
        rc = rc ? rc : wait_for_any(attempt, until, err);
        if (rc != 0) {
            return rc;
        }
    }
}

struct mc_talk mc_attempt_talk(struct mc_attempt *attempt, enum mc_role role)
{
    return (struct mc_talk){&attempt->programs[role].channel, next, &attempt->listeners[role]};
}
