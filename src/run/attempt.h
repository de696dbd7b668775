/*
 * One attempt: one execution of a trial, from fresh volumes to none.
 *
 *     provision   volumes and containers are made; every program says that it is ready
 *     schedule    imports, nights, turns and probes, in the order of scenario time
 *     collect     programs end; what they leave goes into the store
 *     teardown    containers and volumes are removed
 *
 * Each step and stage is in the store before it is acted on, and again when it is done.
 *
 * Ownership: `struct mc_run` outlives its attempts and is borrowed. An attempt owns what it points to; only run/'s own
 * files look inside.
 */
#pragma once

#include "corpus/corpus.h"
#include "corpus/schedule.h"
#include "grade/verdict.h"
#include "run/plan.h"
#include "run/program.h"
#include "store/events.h"
#include "store/objects.h"
#include "store/records.h"

/* How far a run is, for whoever watches. Texts are valid during the call. */
struct mc_progress {
    enum { MC_PROGRESS_TRIAL, MC_PROGRESS_STAGE, MC_PROGRESS_STEP, MC_PROGRESS_TRIAL_ENDED } kind;
    size_t trial; /* counts from 1 */
    size_t trials;
    const char *life;
    const char *harness;
    const char *what; /* the stage, or the step's kind and ref, or how the trial ended */
    const char *scenario_time;
    size_t step; /* counts from 1 */
    size_t steps;
};

struct mc_run_watch {
    void (*on_progress)(void *payload, const struct mc_progress *progress);
    void *payload;
};

/* What all attempts of a run share. */
struct mc_run {
    struct mc_store *store;
    struct mc_events *events;
    struct mc_engine *engine;
    const struct mc_plan *plan;
    const char *id;
    const char *owner;
    const json_t *secrets; /* {NAME: value}, for the sidecar's first line */
    const struct mc_redactor *redactor;
    const struct mc_cancel *cancel;
    struct mc_run_watch watch;
};

/* Standard error of a program, kept line by line through the redactor. */
struct mc_stderr {
    struct mc_object_writer *writer;
    struct mc_buf line;
    const struct mc_redactor *redactor;
};

struct mc_attempt;

/* Who a talk or a hook speaks for. */
struct mc_listener {
    struct mc_attempt *attempt;
    enum mc_role role;
};

struct mc_attempt {
    const struct mc_run *run;
    const struct mc_planned_trial *trial;
    const struct mc_entrant *entrant;
    size_t ordinal;
    const char *trial_id;
    char *id;
    struct mc_life *life;
    struct mc_schedule schedule;
    struct mc_sandbox sandbox;
    struct mc_program programs[MC_ROLES];
    struct mc_stderr errors[MC_ROLES];
    struct mc_listener listeners[MC_ROLES];
    int ending;    /* programs were told to end: the end of a stream is no failure */
    json_t *allow; /* names of the tools offered to the model */
    char *harness_token;
    char *provider_token;
    size_t first_open_step; /* of the schedule: what is before it has been dealt with */
    /* What the wire said against the turn in hand: NULL, or the rule and its detail. */
    char *violation;
    int over_budget;
    /* The scenario clock: what it read at a moment of the monotonic clock. */
    struct mc_time clock;
    int64_t clock_read_ms;
    enum mc_role culprit; /* whose failure the last error was */
    int culprit_known;
};

struct mc_attempt_end {
    enum mc_ended ended;
    char *reason; /* NULL for completed; the caller frees it */
};

/* Runs one attempt to its end and removes everything that it made. Fails only where the store fails or cleaning up
 * does; how the attempt ended is in *out. */
int mc_attempt_run(const struct mc_run *run, size_t ordinal, const char *trial_id, int64_t number,
                   struct mc_attempt_end *out, struct mc_err *err) MC_CHECKED;

/* -- for run/'s own files -- */

/* A talk with one program of the attempt, during which all are listened to. */
struct mc_talk mc_attempt_talk(struct mc_attempt *attempt, enum mc_role role);
struct mc_channel_hooks mc_attempt_hooks(struct mc_attempt *attempt, enum mc_role role);

/* provision: everything is up and ready. */
int mc_attempt_provision(struct mc_attempt *attempt, struct mc_err *err) MC_CHECKED;

/* The schedule from first_open_step on. */
int mc_attempt_schedule(struct mc_attempt *attempt, struct mc_err *err) MC_CHECKED;
/* Probes that were never answered are recorded as ended like the attempt. */
int mc_attempt_close_steps(struct mc_attempt *attempt, enum mc_ended ended, const char *reason,
                           struct mc_err *err) MC_CHECKED;

/* Programs are told to end, and are stopped where they do not. Never fails: what went wrong is an event. */
void mc_attempt_stop(struct mc_attempt *attempt);
/* Journals, bodies and databases go into the store. */
int mc_attempt_collect(struct mc_attempt *attempt, struct mc_err *err) MC_CHECKED;
/* Containers and volumes are removed, and seen to be gone. */
int mc_attempt_teardown(struct mc_attempt *attempt, struct mc_err *err) MC_CHECKED;

/* How an attempt that failed with `err` ended, by the evidence of engine and protocol. */
enum mc_ended mc_attempt_classify(struct mc_attempt *attempt, struct mc_err *err);

/* Adds attempt, life and harness to `data` (taken) and writes the event. */
int mc_attempt_event(struct mc_attempt *attempt, const char *type, json_t *data, struct mc_err *err) MC_CHECKED;
void mc_attempt_progress(const struct mc_attempt *attempt, const struct mc_progress *progress);
