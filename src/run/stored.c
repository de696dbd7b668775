#include "run/stored.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "store/objects.h"

enum { MANIFEST_MAX = 64 << 20 };

static char *copy(const char *text)
{
    return text ? mc_strdup(text) : NULL;
}

struct choosing {
    struct mc_stored_run *out;
    int count;
};

static int take_run(void *payload, const struct mc_run_record *run)
{
    struct choosing *choosing = payload;
    if (choosing->count++ == 0) {
        *choosing->out = (struct mc_stored_run){.id = mc_strdup(run->id),
                                                .name = mc_strdup(run->name),
                                                .state = mc_strdup(run->state),
                                                .created = mc_strdup(run->created),
                                                .ended = copy(run->ended),
                                                .isolation = mc_strdup(run->isolation),
                                                .manifest_digest = mc_strdup(run->manifest),
                                                .corpus = mc_strdup(run->corpus),
                                                .exit_code = run->exit_code};
    }
    return 0;
}

static int read_manifest(struct mc_store *store, struct mc_stored_run *run, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(MANIFEST_MAX);
    int rc = mc_object_read(store, run->manifest_digest, &bytes, err);
    if (rc == 0) {
        struct mc_source source = {.name = "the run manifest"};
        run->manifest = mc_json_parse(mc_buf_text(&bytes), bytes.len, &source, err);
        rc = run->manifest ? 0 : (int)err->code;
    }
    return rc ? mc_wrap(err, "run %s", run->id) : 0;
}

int mc_stored_run_load(struct mc_store *store, const char *given, struct mc_stored_run *out, struct mc_err *err)
{
    *out = (struct mc_stored_run){.id = NULL};
    struct choosing choosing = {.out = out};
    int last = mc_streq(given, "last");
    int rc = mc_runs_list(store, last ? NULL : given, take_run, &choosing, err);
    if (rc == 0 && choosing.count == 0) {
        mc_fail(err, MC_INPUT, "there is no run \"%s\" in the store %s", given, mc_store_dir(store));
        rc = mc_hint(err, "\"memcal runs\" lists them");
    } else if (rc == 0 && choosing.count > 1 && !last) {
        rc = mc_fail(err, MC_INPUT, "%d runs start with \"%s\": give more of the ID", choosing.count, given);
    }
    rc = rc ? rc : read_manifest(store, out, err);
    if (rc != 0) {
        mc_stored_run_release(out);
    }
    return rc;
}

void mc_stored_run_release(struct mc_stored_run *run)
{
    char *const texts[] = {run->id,    run->name,      run->state,           run->created,
                           run->ended, run->isolation, run->manifest_digest, run->corpus};
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        free(texts[i]);
    }
    json_decref(run->manifest);
    *run = (struct mc_stored_run){.id = NULL};
}

static int take_attempt(void *payload, const struct mc_attempt_record *attempt)
{
    char **id = payload;
    free(*id);
    *id = mc_strdup(attempt->id);
    return 0;
}

int mc_stored_last_attempt(struct mc_store *store, const char *trial, char **id, struct mc_err *err)
{
    *id = NULL;
    int rc = mc_attempts_list(store, trial, take_attempt, id, err);
    if (rc != 0) {
        free(mc_steal(id));
    }
    return rc;
}

struct walking {
    struct mc_store *store;
    mc_stored_answer_fn *each;
    void *payload;
    const struct mc_trial_record *trial;
    struct mc_err *err;
};

static int walk_answer(void *payload, const struct mc_answer_record *answer)
{
    struct walking *walking = payload;
    return walking->each(walking->payload, walking->trial, answer, walking->err);
}

static int walk_trial(void *payload, const struct mc_trial_record *trial)
{
    struct walking *walking = payload;
    walking->trial = trial;
    MC_AUTOFREE char *attempt = NULL;
    int rc = mc_stored_last_attempt(walking->store, trial->id, &attempt, walking->err);
    return rc || !attempt ? rc : mc_answers_list(walking->store, attempt, walk_answer, walking, walking->err);
}

int mc_stored_answers(struct mc_store *store, const char *run, mc_stored_answer_fn *each, void *payload,
                      struct mc_err *err)
{
    struct walking walking = {.store = store, .each = each, .payload = payload, .err = err};
    return mc_trials_list(store, run, walk_trial, &walking, err);
}

/* ---- answer IDs ---- */

struct finding {
    struct mc_store *store;
    const char *wanted; /* trial or attempt */
    struct mc_answer_id *out;
    struct mc_err *err;
    const char *trial;
    int has_answer;
};

static int match_attempt(void *payload, const struct mc_attempt_record *attempt)
{
    struct finding *finding = payload;
    if (mc_streq(finding->wanted, attempt->id) || mc_streq(finding->wanted, finding->trial)) {
        free(finding->out->attempt);
        finding->out->attempt = mc_strdup(attempt->id);
    }
    return 0;
}

static int match_trial(void *payload, const struct mc_trial_record *trial)
{
    struct finding *finding = payload;
    struct mc_answer_id *out = finding->out;
    if (out->trial) {
        return 0;
    }
    finding->trial = trial->id;
    int rc = mc_attempts_list(finding->store, trial->id, match_attempt, finding, finding->err);
    if (rc == 0 && out->attempt) {
        out->trial = mc_strdup(trial->id);
        out->harness = mc_strdup(trial->harness);
        out->life = mc_strdup(trial->life);
        out->repetition = trial->repetition;
    }
    return rc;
}

static int match_answer(void *payload, const struct mc_answer_record *answer)
{
    struct finding *finding = payload;
    finding->has_answer |= mc_streq(answer->checkpoint, finding->out->checkpoint);
    return 0;
}

int mc_answer_id_find(struct mc_store *store, const char *run, const char *given, struct mc_answer_id *out,
                      struct mc_err *err)
{
    *out = (struct mc_answer_id){.id = NULL};
    const char *slash = strchr(given, '/');
    if (!slash || !slash[1]) {
        mc_fail(err, MC_INPUT, "\"%s\" is no answer's ID", given);
        return mc_hint(err, "write it as TRIAL/CHECKPOINT; \"memcal show %s\" and the report name them", run);
    }
    MC_AUTOFREE char *head = mc_strndup(given, (size_t)(slash - given));
    MC_AUTOFREE char *wanted = mc_starts_with(head, run) ? mc_strdup(head) : mc_strf("%s-%s", run, head);
    struct finding finding = {.store = store, .wanted = wanted, .out = out, .err = err};
    out->checkpoint = mc_strdup(slash + 1);
    int rc = mc_trials_list(store, run, match_trial, &finding, err);
    if (rc == 0 && !out->trial) {
        mc_fail(err, MC_INPUT, "the run %s has no attempt of a trial \"%s\"", run, head);
        rc = mc_hint(err, "trials are called t1, t2, ...; the report names each answer");
    }
    rc = rc ? rc : mc_answers_list(store, out->attempt, match_answer, &finding, err);
    if (rc == 0 && !finding.has_answer) {
        mc_fail(err, MC_INPUT, "%s has no answer to \"%s\"", out->attempt, out->checkpoint);
        rc = mc_hint(err, "the report names each answer");
    }
    if (rc != 0) {
        mc_answer_id_release(out);
        return rc;
    }
    out->id = mc_strf("%s/%s", out->trial, out->checkpoint);
    return 0;
}

void mc_answer_id_release(struct mc_answer_id *id)
{
    char *const texts[] = {id->id, id->trial, id->attempt, id->checkpoint, id->harness, id->life};
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        free(texts[i]);
    }
    *id = (struct mc_answer_id){.id = NULL};
}
