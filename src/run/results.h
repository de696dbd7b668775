/*
 * What a run gave: every stored answer graded, and report.json put together from the store.
 *
 * Nothing here touches a container. The same stored answers and the same rubric give the same grades.
 *
 * Ownership: the report is a new reference of the caller's.
 */
#pragma once

#include "run/plan.h"
#include "store/store.h"

/* Grades all answers of the run's last attempts (a grade is an object, its row names it) and builds the report
 * (docs/report.md). */
int mc_results_make(struct mc_store *store, const struct mc_plan *plan, const char *run, json_t **report,
                    struct mc_err *err) MC_CHECKED;
