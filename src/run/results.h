/*
 * What a run gave, put together from the store alone: report.json (docs/report.md), now or at any earlier time.
 *
 * Nothing here grades, asks a model or touches a container: verdicts are those in force (verdicts.h).
 *
 * Ownership: reports are new references of the caller's, paths and metrics too.
 */
#pragma once

#include "base/redact.h"
#include "grade/metrics.h"
#include "run/stored.h"
#include "run/verdicts.h"

/* `as_of` NULL: as things are now. MC_NOT_FOUND where the run had not been graded. */
int mc_results_make(struct mc_store *store, const struct mc_stored_run *run, const struct mc_time *as_of,
                    json_t **report, struct mc_err *err) MC_CHECKED;

/* Makes the report as it is now and writes runs/<id>/report.json and report.md; *path is that of report.md. `report`
 * and `path` may be NULL. */
int mc_results_write(struct mc_store *store, const struct mc_stored_run *run, json_t **report, char **path,
                     struct mc_err *err) MC_CHECKED;

/* The metrics of one harness of a run; MC_INPUT where the run has no such harness. */
int mc_results_metrics(struct mc_store *store, const struct mc_stored_run *run, const char *harness,
                       const struct mc_time *as_of, struct mc_metrics **out, struct mc_err *err) MC_CHECKED;

/* How intervals and tests are taken, everywhere alike. */
enum { MC_RESAMPLES = 2000, MC_PERMUTATIONS = 10000, MC_RESAMPLE_SEED = 1 };
#define MC_LEVEL 0.95
#define MC_ALPHA 0.05
