/*
 * A run as the store has it: nothing here needs a run file, an engine or a container.
 *
 * Ownership: mc_stored_run_load() fills a struct that mc_stored_run_release() frees; what callbacks are given lives
 * until they return.
 */
#pragma once

#include <jansson.h>

#include "store/records.h"

struct mc_stored_run {
    char *id;
    char *name;
    char *state;
    char *created;
    char *ended; /* NULL: not yet */
    char *isolation;
    char *manifest_digest;
    char *corpus; /* digest */
    int64_t exit_code;
    json_t *manifest;
};

/* `given` is an ID, the start of one, or "last". */
int mc_stored_run_load(struct mc_store *store, const char *given, struct mc_stored_run *out,
                       struct mc_err *err) MC_CHECKED;
void mc_stored_run_release(struct mc_stored_run *run);

/* The trial's last attempt; *id stays NULL where there was none. */
int mc_stored_last_attempt(struct mc_store *store, const char *trial, char **id, struct mc_err *err) MC_CHECKED;

/* Every answer of the run's last attempts, trial by trial. */
typedef int mc_stored_answer_fn(void *payload, const struct mc_trial_record *trial,
                                const struct mc_answer_record *answer, struct mc_err *err);
int mc_stored_answers(struct mc_store *store, const char *run, mc_stored_answer_fn *each, void *payload,
                      struct mc_err *err) MC_CHECKED;

/* An answer's ID is "<trial>/<checkpoint>": of the trial's last attempt. "<attempt>/<checkpoint>" names it too, and the
 * run's ID with the dash behind it may be left out ("t3/poker-move/where"). */
struct mc_answer_id {
    char *id; /* "<trial>/<checkpoint>" */
    char *trial;
    char *attempt;
    char *checkpoint;
    char *harness;
    char *life;
    int64_t repetition;
};
int mc_answer_id_find(struct mc_store *store, const char *run, const char *given, struct mc_answer_id *out,
                      struct mc_err *err) MC_CHECKED;
void mc_answer_id_release(struct mc_answer_id *id);

#define MC_AUTORUN MC_CLEANUP(mc_stored_run_release)
#define MC_AUTOANSWERID MC_CLEANUP(mc_answer_id_release)
