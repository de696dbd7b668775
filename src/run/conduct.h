/*
 * Conducting a run: from a plan to a graded report in the store.
 *
 * Ownership: everything in the options is borrowed; the run's ID is the caller's.
 */
#pragma once

#include "run/attempt.h"

struct mc_conduct_options {
    struct mc_store *store;
    struct mc_engine *engine;
    const struct mc_plan *plan;
    const struct mc_cancel *cancel;
    struct mc_run_watch watch;
};

struct mc_conduct_result {
    char *run;    /* ID; NULL where the run was never begun */
    char *report; /* path of report.md; NULL where there is none */
    int exit_code;
};

/* Exit codes of a run (design.md section 8). */
enum { MC_RUN_OK = 0, MC_RUN_MISSING = 4, MC_RUN_BUDGET = 5, MC_RUN_CANCELLED = 6 };

/* 0 where the run came to its end, whatever that was (result->exit_code); negative where memcal itself failed. */
int mc_conduct(const struct mc_conduct_options *options, struct mc_conduct_result *result,
               struct mc_err *err) MC_CHECKED;
void mc_conduct_result_release(struct mc_conduct_result *result);
