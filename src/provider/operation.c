#include "provider/operation.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"

/* How long a provider is left alone before it is asked how an operation is doing: at first, and at most. */
enum { ASK_FIRST_MS = 100, ASK_LAST_MS = 2000 };

int mc_provider_check_ready(const struct mc_provider *provider, const struct mc_ready *ready, struct mc_err *err)
{
    if (provider->version && !mc_streq(provider->version, ready->version)) {
        mc_fail(err, MC_MISMATCH, "the provider %s is version %s, its manifest pins %s", provider->name, ready->version,
                provider->version);
        return mc_hint(err, "rebuild the image, or pin the version that it has");
    }
    return 0;
}

void mc_operation_outcome_release(struct mc_operation_outcome *outcome)
{
    free(outcome->operation);
    free(outcome->detail);
    *outcome = (struct mc_operation_outcome){.operation = NULL};
}

/* The next notice that is not about an operation: of one that has ended already the provider may speak twice, by
 * itself and because it was asked. */
static int next_answer(const struct mc_talk *talk, struct mc_notice *out, struct mc_until until, struct mc_err *err)
{
    for (;;) {
        int rc = mc_talk_answer(talk, out, until, err);
        if (rc != 0 || out->type != MC_OPERATION) {
            return rc;
        }
        mc_notice_release(out);
    }
}

/* Sends the request and waits for `accepted` with its key. */
static int ask(const struct mc_talk *talk, const struct mc_command *request, const char *key,
               struct mc_operation_outcome *out, struct mc_until until, struct mc_err *err)
{
    struct mc_notice notice;
    int rc = mc_talk_send(talk, request, until, err);
    rc = rc ? rc : next_answer(talk, &notice, until, err);
    if (rc != 0) {
        return rc;
    }
    const char *said = notice.type != MC_ACCEPTED       ? NULL
                       : request->type == MC_CMD_IMPORT ? notice.accepted.batch
                                                        : notice.accepted.night;
    if (!said || !mc_streq(said, key)) {
        rc = mc_talk_unexpected(talk, &notice, "\"accepted\" for this request", err);
    } else {
        out->operation = mc_strdup(notice.accepted.operation);
    }
    mc_notice_release(&notice);
    return rc;
}

/* Takes one `operation` frame: 1 where it ends the operation. */
static int take(const struct mc_talk *talk, struct mc_operation_outcome *out, struct mc_notice *notice,
                struct mc_err *err)
{
    int rc = 0;
    if (notice->type != MC_OPERATION) {
        rc = mc_talk_unexpected(talk, notice, "the end of the operation", err);
    } else if (mc_streq(notice->operation.operation, out->operation)) {
        free(out->detail);
        out->detail = notice->operation.detail ? mc_json_text(notice->operation.detail) : NULL;
        out->completed = notice->operation.state == MC_COMPLETED;
        rc = notice->operation.state != MC_RUNNING;
    } /* another operation's: recorded as it passed */
    mc_notice_release(notice);
    return rc;
}

static int wait_for_end(const struct mc_talk *talk, struct mc_operation_outcome *out, struct mc_until until,
                        struct mc_err *err)
{
    int64_t patience = ASK_FIRST_MS;
    struct mc_command status = {.type = MC_CMD_OPERATION_STATUS, .operation = out->operation};
    for (;;) {
        struct mc_notice notice;
        int rc = mc_talk_answer(talk, &notice, mc_sooner(until, patience), err);
        if (rc == 0) {
            rc = take(talk, out, &notice, err);
            if (rc != 0) {
                return rc < 0 ? rc : 0;
            }
        } else if (rc == MC_TIMEOUT && mc_left_ms(until) > 0) {
            patience = patience * 2 < ASK_LAST_MS ? patience * 2 : ASK_LAST_MS;
            rc = mc_talk_send(talk, &status, until, err);
        }
        if (rc != 0) {
            return rc;
        }
    }
}

static int operate(const struct mc_talk *talk, const struct mc_command *request, const char *key,
                   mc_accepted_fn *accepted, void *payload, struct mc_operation_outcome *out, struct mc_until until,
                   struct mc_err *err)
{
    *out = (struct mc_operation_outcome){.operation = NULL};
    int rc = ask(talk, request, key, out, until, err);
    rc = rc ? rc : accepted(payload, out->operation, err);
    rc = rc ? rc : wait_for_end(talk, out, until, err);
    if (rc != 0) {
        mc_wrap(err, "%s %s", request->type == MC_CMD_IMPORT ? "import" : "night", key);
        mc_operation_outcome_release(out);
    }
    return rc;
}

int mc_provider_import(const struct mc_talk *talk, const struct mc_import *import, mc_accepted_fn *accepted,
                       void *payload, struct mc_operation_outcome *out, struct mc_until until, struct mc_err *err)
{
    struct mc_command request = {.type = MC_CMD_IMPORT, .import = *import};
    return operate(talk, &request, import->batch, accepted, payload, out, until, err);
}

int mc_provider_maintain(const struct mc_talk *talk, const char *night, mc_accepted_fn *accepted, void *payload,
                         struct mc_operation_outcome *out, struct mc_until until, struct mc_err *err)
{
    struct mc_command request = {.type = MC_CMD_MAINTAIN, .night = night};
    return operate(talk, &request, night, accepted, payload, out, until, err);
}
