#include "run/conduct.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "run/grading.h"
#include "run/keep.h"
#include "run/owner.h"
#include "run/results.h"
#include "run/secrets.h"

/* "20261201-093000-7f3a": sorts by time, and two runs of one second still differ. */
static int make_id(char **out, struct mc_err *err)
{
    unsigned char raw[2];
    if (getrandom(raw, sizeof raw, 0) != (ssize_t)sizeof raw) {
        return mc_fail_errno(err, errno, "asking the system for random bytes");
    }
    struct mc_civil now = mc_time_civil(mc_time_now());
    *out = mc_strf("%04d%02d%02d-%02d%02d%02d-%02x%02x", now.year, now.month, now.day, now.hour, now.minute, now.second,
                   raw[0], raw[1]);
    return 0;
}

static char *trial_id(const char *run, size_t ordinal)
{
    return mc_strf("%s-t%zu", run, ordinal + 1);
}

/* The manifest is in the store before the first container exists, and is never written again. */
static int begin(const struct mc_run *run, struct mc_err *err)
{
    const struct mc_plan *plan = run->plan;
    MC_AUTOFREE char *manifest = mc_json_text(plan->manifest);
    struct mc_digest digest;
    int rc = mc_keep_corpus(run->store, plan->corpus, &plan->listing, err);
    rc = rc ? rc : mc_object_put(run->store, "manifest", manifest, strlen(manifest), &digest, err);
    rc = rc ? rc : mc_store_begin(run->store, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_run_record record = {.id = run->id,
                                   .name = plan->runfile.name,
                                   .manifest = digest.hex,
                                   .corpus = plan->listing.digest.hex,
                                   .state = "running",
                                   .owner = run->owner,
                                   .isolation = plan->verified ? "verified" : "not verified"};
    rc = mc_runs_add(run->store, &record, err);
    for (size_t i = 0; rc == 0 && i < plan->trial_count; i++) {
        const struct mc_planned_trial *planned = &plan->trials[i];
        MC_AUTOFREE char *id = trial_id(run->id, i);
        struct mc_trial_record trial = {.id = id,
                                        .run = run->id,
                                        .ordinal = (int64_t)i + 1,
                                        .life = planned->life,
                                        .harness = plan->runfile.entrants[planned->entrant].harness.name,
                                        .repetition = planned->repetition};
        rc = mc_trials_add(run->store, &trial, err);
    }
    if (rc == 0) {
        return mc_store_commit(run->store, err);
    }
    mc_store_rollback(run->store);
    return rc;
}

static void note_trial_ended(const struct mc_run *run, size_t ordinal, const struct mc_attempt_end *end)
{
    if (run->watch.on_progress) {
        const struct mc_planned_trial *planned = &run->plan->trials[ordinal];
        struct mc_progress progress = {.kind = MC_PROGRESS_TRIAL_ENDED,
                                       .trial = ordinal + 1,
                                       .trials = run->plan->trial_count,
                                       .life = planned->life,
                                       .harness = run->plan->runfile.entrants[planned->entrant].harness.name,
                                       .what = end->reason ? end->reason : mc_ended_name(end->ended)};
        run->watch.on_progress(run->watch.payload, &progress);
    }
}

/* A failed or timed-out harness is a result; another attempt is made only after an infrastructure failure. */
static int run_trial(const struct mc_run *run, size_t ordinal, enum mc_ended *ended, struct mc_err *err)
{
    MC_AUTOFREE char *id = trial_id(run->id, ordinal);
    struct mc_attempt_end end = {.ended = MC_ENDED_INFRASTRUCTURE, .reason = NULL};
    int rc = 0;
    int64_t attempts = 1 + run->plan->runfile.infrastructure_retries;
    for (int64_t number = 1; rc == 0 && number <= attempts && end.ended == MC_ENDED_INFRASTRUCTURE; number++) {
        free(end.reason);
        rc = mc_attempt_run(run, ordinal, id, number, &end, err);
    }
    if (rc == 0) {
        rc = mc_trials_end(run->store, id, mc_ended_name(end.ended), end.reason, err);
        note_trial_ended(run, ordinal, &end);
    }
    *ended = end.ended;
    free(end.reason);
    return rc;
}

static int wall_is_spent(const struct mc_run *run, int64_t began)
{
    int64_t limit = run->plan->runfile.budget_wall_s;
    return limit >= 0 && mc_monotonic_ms() - began > limit * 1000;
}

static int run_trials(const struct mc_run *run, int *exit_code, struct mc_err *err)
{
    int64_t began = mc_monotonic_ms();
    *exit_code = MC_RUN_OK;
    for (size_t i = 0; i < run->plan->trial_count; i++) {
        if (wall_is_spent(run, began)) {
            *exit_code = MC_RUN_BUDGET;
            return 0;
        }
        enum mc_ended ended;
        int rc = run_trial(run, i, &ended, err);
        if (rc != 0) {
            return rc;
        }
        if (ended == MC_ENDED_CANCELLED || ended == MC_ENDED_BUDGET) {
            *exit_code = ended == MC_ENDED_CANCELLED ? MC_RUN_CANCELLED : MC_RUN_BUDGET;
            return 0;
        }
        if (ended == MC_ENDED_INFRASTRUCTURE) {
            *exit_code = MC_RUN_MISSING;
        }
    }
    return 0;
}

/* Grades what the store has. A run that was cancelled asks no judge. Slots that a judge left open are missing. */
static int grade(const struct mc_run *run, int *exit_code, struct mc_err *err)
{
    MC_AUTORUN struct mc_stored_run stored = {.id = NULL};
    int cancelled = *exit_code == MC_RUN_CANCELLED;
    struct mc_grading_options options = {.store = run->store,
                                         .run = &stored,
                                         .judge = cancelled ? "none" : NULL,
                                         .redactor = run->redactor,
                                         .cancel = cancelled ? NULL : run->cancel};
    struct mc_grading_result result;
    int rc = mc_stored_run_load(run->store, run->id, &stored, err);
    rc = rc ? rc : mc_grading_make(&options, &result, err);
    if (rc != 0) {
        return mc_wrap(err, "grading the run %s", run->id);
    }
    if (result.unjudged > 0 && *exit_code == MC_RUN_OK) {
        *exit_code = MC_RUN_MISSING;
    }
    mc_grading_result_release(&result);
    return 0;
}

/* The report is made from the run's last row. */
static int write_report(const struct mc_run *run, char **path, struct mc_err *err)
{
    MC_AUTORUN struct mc_stored_run stored = {.id = NULL};
    int rc = mc_stored_run_load(run->store, run->id, &stored, err);
    rc = rc ? rc : mc_results_write(run->store, &stored, NULL, path, err);
    return rc ? mc_wrap(err, "the report of the run %s", run->id) : 0;
}

/* Everything between the run's first row and its last. */
static int conduct(struct mc_run *run, struct mc_conduct_result *result, struct mc_err *err)
{
    int rc = begin(run, err);
    if (rc != 0) {
        return rc;
    }
    result->run = mc_strdup(run->id);
    rc = mc_events_open(run->store, run->id, run->redactor, &run->events, err);
    if (rc != 0) {
        return rc;
    }
    json_t *data = json_pack("{ss ss sI}", "run", run->id, "manifest", run->plan->digest.hex, "trials",
                             (json_int_t)run->plan->trial_count);
    rc = mc_events_add(run->events, "run.started", data, err);
    rc = rc ? rc : run_trials(run, &result->exit_code, err);
    rc = rc ? rc : grade(run, &result->exit_code, err);
    struct mc_err second;
    const char *state = rc != 0 || result->exit_code >= MC_RUN_BUDGET ? "interrupted" : "finished";
    int ended = mc_runs_end(run->store, run->id, state, rc ? 1 : result->exit_code, rc ? &second : err);
    if (rc == 0 && (rc = ended) == 0) {
        rc = write_report(run, &result->report, err);
    }
    data = json_pack("{ss si}", "state", state, "exit_code", rc ? 1 : result->exit_code);
    ended = mc_events_add(run->events, "run.ended", data, rc ? &second : err);
    ended = ended ? ended : mc_events_flush(run->events, rc ? &second : err);
    mc_events_close(run->events);
    return rc ? rc : ended;
}

int mc_conduct(const struct mc_conduct_options *options, struct mc_conduct_result *result, struct mc_err *err)
{
    *result = (struct mc_conduct_result){.run = NULL};
    struct mc_secrets secrets = {.values = NULL};
    MC_AUTOFREE char *id = NULL;
    MC_AUTOFREE char *owner = NULL;
    int rc = mc_secrets_read(&secrets, options->plan->runfile.secrets, err);
    rc = rc ? rc : make_id(&id, err);
    rc = rc ? rc : mc_owner_self(&owner, err);
    if (rc == 0) {
        struct mc_run run = {.store = options->store,
                             .engine = options->engine,
                             .plan = options->plan,
                             .id = id,
                             .owner = owner,
                             .secrets = secrets.values,
                             .redactor = secrets.redactor,
                             .cancel = options->cancel,
                             .watch = options->watch};
        rc = conduct(&run, result, err);
    }
    mc_secrets_release(&secrets);
    return rc;
}

void mc_conduct_result_release(struct mc_conduct_result *result)
{
    free(result->run);
    free(result->report);
    *result = (struct mc_conduct_result){.run = NULL};
}
