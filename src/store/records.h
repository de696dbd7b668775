/*
 * The rows of the store, one struct and a few verbs each. All SQL about them stands in records_*.c.
 *
 * Ownership: structs given to functions are borrowed. Lists are read through a callback; the texts that it is given
 * live until it returns. A callback returns 0 to go on, anything else to stop with that code.
 * Changing a row that is not there is MC_NOT_FOUND ("removed" aside: what was never planned is gone too).
 * Numbers that are not known are -1 (counts), NaN (money) or NULL (texts), and stand as NULL in the database.
 */
#pragma once

#include <stdint.h>

#include "base/usage.h"
#include "store/store.h"

/* A corpus in the store: its files are objects. */
struct mc_corpus_record {
    const char *digest;
    const char *name;
    const char *version;
    int64_t lives;
    const char *added;
};
struct mc_corpus_file {
    const char *path;
    int64_t size;
    const char *sha256;
};
int mc_corpora_add(struct mc_store *store, const struct mc_corpus_record *corpus, const struct mc_corpus_file *files,
                   size_t count, struct mc_err *err) MC_CHECKED;
int mc_corpora_list(struct mc_store *store, int (*each)(void *payload, const struct mc_corpus_record *corpus),
                    void *payload, struct mc_err *err) MC_CHECKED;
int mc_corpora_files(struct mc_store *store, const char *digest,
                     int (*each)(void *payload, const struct mc_corpus_file *file), void *payload,
                     struct mc_err *err) MC_CHECKED;
/* 1 removed, 0 there was none. */
int mc_corpora_remove(struct mc_store *store, const char *digest, struct mc_err *err) MC_CHECKED;

struct mc_run_record {
    const char *id;
    const char *name;
    const char *manifest; /* digest of the run manifest's object */
    const char *corpus;   /* digest */
    const char *state;    /* created, running, finished, interrupted, refused */
    const char *owner;
    const char *created;
    const char *ended;     /* NULL while it is not */
    int64_t exit_code;     /* -1 while it has not ended */
    const char *isolation; /* verified, or "not verified" */
};
int mc_runs_add(struct mc_store *store, const struct mc_run_record *run, struct mc_err *err) MC_CHECKED;
int mc_runs_set_state(struct mc_store *store, const char *id, const char *state, struct mc_err *err) MC_CHECKED;
int mc_runs_end(struct mc_store *store, const char *id, const char *state, int exit_code,
                struct mc_err *err) MC_CHECKED;
/* Newest first. `id` NULL: all; else the runs whose ID is or starts with it. */
int mc_runs_list(struct mc_store *store, const char *id, int (*each)(void *payload, const struct mc_run_record *run),
                 void *payload, struct mc_err *err) MC_CHECKED;

struct mc_trial_record {
    const char *id;
    const char *run;
    int64_t ordinal;
    const char *life;
    const char *harness;
    int64_t repetition;
    const char *ended;  /* NULL while it runs or waits */
    const char *reason; /* one sentence, NULL for completed */
};
int mc_trials_add(struct mc_store *store, const struct mc_trial_record *trial, struct mc_err *err) MC_CHECKED;
int mc_trials_end(struct mc_store *store, const char *id, const char *ended, const char *reason,
                  struct mc_err *err) MC_CHECKED;
int mc_trials_list(struct mc_store *store, const char *run,
                   int (*each)(void *payload, const struct mc_trial_record *trial), void *payload,
                   struct mc_err *err) MC_CHECKED;

struct mc_attempt_record {
    const char *id;
    const char *trial;
    int64_t number; /* 1 for the first */
    const char *started;
    const char *ended_at;
    const char *ended;
    const char *reason;
    int64_t wall_ms;
    int64_t engine_calls;
};
int mc_attempts_add(struct mc_store *store, const struct mc_attempt_record *attempt, struct mc_err *err) MC_CHECKED;
int mc_attempts_end(struct mc_store *store, const struct mc_attempt_record *attempt, struct mc_err *err) MC_CHECKED;
int mc_attempts_list(struct mc_store *store, const char *trial,
                     int (*each)(void *payload, const struct mc_attempt_record *attempt), void *payload,
                     struct mc_err *err) MC_CHECKED;

struct mc_stage_record {
    const char *name;
    const char *status; /* started, done, failed */
    const char *started;
    int64_t wall_ms;
    const char *detail;
};
int mc_stages_begin(struct mc_store *store, const char *attempt, const char *name, struct mc_err *err) MC_CHECKED;
int mc_stages_end(struct mc_store *store, const char *attempt, const struct mc_stage_record *stage,
                  struct mc_err *err) MC_CHECKED;
int mc_stages_list(struct mc_store *store, const char *attempt,
                   int (*each)(void *payload, const struct mc_stage_record *stage), void *payload,
                   struct mc_err *err) MC_CHECKED;

struct mc_step_record {
    int64_t ordinal; /* counts from 1 in the order of the schedule */
    const char *kind;
    const char *ref; /* the collection boundary, night, turn or checkpoint */
    const char *scenario_time;
    const char *status; /* planned, started, done, failed, skipped */
    const char *operation;
    const char *started;
    int64_t wall_ms;
    const char *detail;
};
/* All steps of an attempt, in one transaction, as planned. */
int mc_steps_plan(struct mc_store *store, const char *attempt, const struct mc_step_record *steps, size_t count,
                  struct mc_err *err) MC_CHECKED;
int mc_steps_begin(struct mc_store *store, const char *attempt, int64_t ordinal, struct mc_err *err) MC_CHECKED;
int mc_steps_operation(struct mc_store *store, const char *attempt, int64_t ordinal, const char *operation,
                       struct mc_err *err) MC_CHECKED;
int mc_steps_end(struct mc_store *store, const char *attempt, const struct mc_step_record *step,
                 struct mc_err *err) MC_CHECKED;
int mc_steps_list(struct mc_store *store, const char *attempt,
                  int (*each)(void *payload, const struct mc_step_record *step), void *payload,
                  struct mc_err *err) MC_CHECKED;

struct mc_resource_record {
    const char *name;
    const char *attempt;
    const char *kind; /* container, volume */
    const char *role;
    const char *state; /* planned, created, removed */
    const char *engine_id;
    const char *facts; /* JSON: what the engine said about it */
};
/* All of an attempt's, in one transaction, before the first of them is created. */
int mc_resources_plan(struct mc_store *store, const struct mc_resource_record *resources, size_t count,
                      struct mc_err *err) MC_CHECKED;
/* State, engine ID and facts (NULL: left as they are) of several by name, in one transaction. */
int mc_resources_set(struct mc_store *store, const struct mc_resource_record *resources, size_t count,
                     struct mc_err *err) MC_CHECKED;
int mc_resources_list(struct mc_store *store, const char *attempt,
                      int (*each)(void *payload, const struct mc_resource_record *resource), void *payload,
                      struct mc_err *err) MC_CHECKED;

struct mc_answer_record {
    const char *attempt;
    const char *checkpoint;
    const char *ended;  /* how the probe ended */
    const char *answer; /* NULL where there is none */
    const char *reason;
    int64_t latency_ms;
    int64_t calls; /* model calls made for it */
    struct mc_usage usage;
};
int mc_answers_put(struct mc_store *store, const struct mc_answer_record *answer, struct mc_err *err) MC_CHECKED;
int mc_answers_list(struct mc_store *store, const char *attempt,
                    int (*each)(void *payload, const struct mc_answer_record *answer), void *payload,
                    struct mc_err *err) MC_CHECKED;

struct mc_call_record {
    const char *attempt;
    int64_t call;
    const char *step;
    const char *role;
    const char *path;
    const char *model;
    const char *upstream;
    int64_t status;
    const char *request;  /* digest */
    const char *response; /* digest */
    struct mc_usage usage;
    double cost_usd;
    int64_t first_byte_ms;
    int64_t duration_ms;
    const char *error;
};
int mc_calls_put(struct mc_store *store, const struct mc_call_record *call, struct mc_err *err) MC_CHECKED;

/* Sums over the calls of an attempt (step NULL) or one step of it: a sum is unknown where any part is. */
struct mc_call_totals {
    int64_t calls;
    struct mc_usage usage;
    double cost_usd;
};
int mc_calls_total(struct mc_store *store, const char *attempt, const char *step, struct mc_call_totals *out,
                   struct mc_err *err) MC_CHECKED;

struct mc_artifact_record {
    const char *attempt;
    const char *name;
    const char *sha256;
    int64_t size;
};
int mc_artifacts_put(struct mc_store *store, const struct mc_artifact_record *artifact, struct mc_err *err) MC_CHECKED;
int mc_artifacts_list(struct mc_store *store, const char *attempt,
                      int (*each)(void *payload, const struct mc_artifact_record *artifact), void *payload,
                      struct mc_err *err) MC_CHECKED;
