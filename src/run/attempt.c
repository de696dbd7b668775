#include "run/attempt.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int mc_attempt_event(struct mc_attempt *attempt, const char *type, json_t *data, struct mc_err *err)
{
    json_t *whole = data ? data : json_object();
    json_object_set_new(whole, "attempt", json_string(attempt->id));
    return mc_events_add(attempt->run->events, type, whole, err);
}

void mc_attempt_progress(const struct mc_attempt *attempt, const struct mc_progress *progress)
{
    const struct mc_run_watch *watch = &attempt->run->watch;
    if (watch->on_progress) {
        struct mc_progress whole = *progress;
        whole.trial = attempt->ordinal + 1;
        whole.trials = attempt->run->plan->trial_count;
        whole.life = attempt->trial->life;
        whole.harness = attempt->entrant->harness.name;
        whole.steps = attempt->schedule.count;
        watch->on_progress(watch->payload, &whole);
    }
}

/* A stage: its row, its event, its time. One that must be done is done though the store cannot take its row: a full
 * disk leaves no container behind. */
static int stage(struct mc_attempt *attempt, const char *name, int must,
                 int (*work)(struct mc_attempt *, struct mc_err *), struct mc_err *err)
{
    struct mc_store *store = attempt->run->store;
    int64_t began = mc_monotonic_ms();
    mc_attempt_progress(attempt, &(struct mc_progress){.kind = MC_PROGRESS_STAGE, .what = name});
    struct mc_err second;
    int noted = mc_stages_begin(store, attempt->id, name, &second);
    if (noted != 0 && !must) {
        *err = second;
        return noted;
    }
    int rc = work(attempt, err);
    if (noted == 0) {
        struct mc_stage_record record = {.name = name,
                                         .status = rc == 0 ? "done" : "failed",
                                         .wall_ms = mc_monotonic_ms() - began,
                                         .detail = rc == 0 ? NULL : err->text};
        json_t *data = json_pack("{ss ss sI ss*}", "stage", name, "status", record.status, "wall_ms",
                                 (json_int_t)record.wall_ms, "detail", record.detail);
        noted = mc_attempt_event(attempt, "stage", data, &second);
        noted = noted ? noted : mc_stages_end(store, attempt->id, &record, &second);
    }
    if (rc == 0 && noted != 0) {
        *err = second;
        rc = noted;
    }
    return rc;
}

static void make_allow(struct mc_attempt *attempt)
{
    attempt->allow = json_array();
    for (size_t i = 0; attempt->entrant->has_provider && attempt->entrant->provider.tools[i]; i++) {
        json_array_append_new(attempt->allow, json_string(attempt->entrant->provider.tools[i]));
    }
}

static int prepare(struct mc_attempt *attempt, const struct mc_run *run, size_t ordinal, const char *trial_id,
                   int64_t number, struct mc_err *err)
{
    memset(attempt, 0, sizeof *attempt);
    attempt->run = run;
    attempt->ordinal = ordinal;
    attempt->trial = &run->plan->trials[ordinal];
    attempt->entrant = &run->plan->runfile.entrants[attempt->trial->entrant];
    attempt->trial_id = trial_id;
    attempt->id = mc_strf("%s-a%lld", trial_id, (long long)number);
    make_allow(attempt);
    int rc = mc_life_load(run->plan->corpus, attempt->trial->life, &attempt->life, err);
    if (rc != 0) {
        return rc;
    }
    mc_life_schedule(attempt->life, &attempt->schedule);
    struct mc_sandbox_names names = {mc_store_uuid(run->store), run->id, trial_id, attempt->id, run->owner};
    struct mc_sandbox_images images = mc_plan_images(run->plan, attempt->trial->entrant);
    mc_sandbox_plan(&attempt->sandbox, &names, &images, attempt->entrant, attempt->life->timezone);
    struct mc_attempt_record record = {.id = attempt->id, .trial = trial_id, .number = number};
    return mc_attempts_add(run->store, &record, err);
}

static void release(struct mc_attempt *attempt)
{
    for (int r = 0; r < MC_ROLES; r++) {
        mc_program_release(&attempt->programs[r]);
        mc_object_abandon(attempt->errors[r].writer);
        mc_buf_release(&attempt->errors[r].line);
    }
    mc_sandbox_release(&attempt->sandbox);
    mc_schedule_release(&attempt->schedule);
    mc_life_free(attempt->life);
    json_decref(attempt->allow);
    free(attempt->harness_token);
    free(attempt->provider_token);
    free(attempt->violation);
    free(attempt->id);
}

static int stop_and_collect(struct mc_attempt *attempt, struct mc_err *err)
{
    mc_attempt_stop(attempt);
    return mc_attempt_collect(attempt, err);
}

/* What a failure of one stage leaves to be done: the others are tried all the same. */
static void settle(struct mc_attempt *attempt, struct mc_attempt_end *out, int rc, struct mc_err *err)
{
    out->ended = MC_ENDED_COMPLETED;
    if (rc != 0) {
        out->ended = mc_attempt_classify(attempt, err);
        out->reason = mc_strdup(err->text);
    }
}

static int finish(struct mc_attempt *attempt, const struct mc_attempt_end *end, int64_t began, uint64_t calls_before,
                  struct mc_err *err)
{
    const struct mc_run *run = attempt->run;
    struct mc_attempt_record record = {.id = attempt->id,
                                       .ended = mc_ended_name(end->ended),
                                       .reason = end->reason,
                                       .wall_ms = mc_monotonic_ms() - began,
                                       .engine_calls = (int64_t)(mc_engine_counts(run->engine).calls - calls_before)};
    json_t *data = json_pack("{ss ss* sI sI}", "ended", record.ended, "reason", end->reason, "wall_ms",
                             (json_int_t)record.wall_ms, "engine_calls", (json_int_t)record.engine_calls);
    int rc = mc_attempt_close_steps(attempt, end->ended, end->reason, err);
    rc = rc ? rc : mc_attempts_end(run->store, &record, err);
    int noted = mc_attempt_event(attempt, "attempt.ended", data, err);
    return rc ? rc : noted ? noted : mc_events_flush(run->events, err);
}

int mc_attempt_run(const struct mc_run *run, size_t ordinal, const char *trial_id, int64_t number,
                   struct mc_attempt_end *out, struct mc_err *err)
{
    *out = (struct mc_attempt_end){.ended = MC_ENDED_INFRASTRUCTURE};
    struct mc_attempt attempt;
    int64_t began = mc_monotonic_ms();
    uint64_t calls_before = mc_engine_counts(run->engine).calls;
    int rc = prepare(&attempt, run, ordinal, trial_id, number, err);
    if (rc != 0) {
        release(&attempt);
        return rc;
    }
    json_t *data = json_pack("{ss ss sI}", "life", attempt.trial->life, "harness", attempt.entrant->harness.name,
                             "repetition", (json_int_t)attempt.trial->repetition);
    rc = mc_attempt_event(&attempt, "attempt.started", data, err);
    rc = rc ? rc : stage(&attempt, "provision", 0, mc_attempt_provision, err);
    rc = rc ? rc : stage(&attempt, "schedule", 0, mc_attempt_schedule, err);
    settle(&attempt, out, rc, err);
    /* Collecting and clearing up are done however the schedule ended; a fault there makes a completed attempt an
     * infrastructure failure, and never hides an earlier one. */
    int collected = stage(&attempt, "collect", 1, stop_and_collect, err);
    if (collected != 0 && out->ended == MC_ENDED_COMPLETED) {
        out->ended = MC_ENDED_INFRASTRUCTURE;
        out->reason = mc_strdup(err->text);
    }
    struct mc_err left;
    int removed = stage(&attempt, "teardown", 1, mc_attempt_teardown, &left);
    rc = finish(&attempt, out, began, calls_before, err);
    if (rc == 0 && removed != 0) {
        *err = left;
        rc = removed;
    }
    release(&attempt);
    return rc;
}
