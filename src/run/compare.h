/*
 * Two cells side by side: a harness of one run against a harness of the same or another.
 *
 * Ownership: everything is borrowed; *out is a new reference.
 */
#pragma once

#include "run/results.h"

/* A cell is "run/corpus/harness"; the corpus's name is checked against the run's. */
struct mc_cell {
    struct mc_stored_run run;
    char *harness;
    char *name; /* "RUN/CORPUS/HARNESS", with the whole ID */
    struct mc_metrics *metrics;
};

/* The run that a cell names, and its harness (the caller frees it; that the run has it is not checked). */
int mc_cell_find(struct mc_store *store, const char *given, struct mc_stored_run *run, char **harness,
                 struct mc_err *err) MC_CHECKED;

int mc_cell_load(struct mc_store *store, const char *given, const struct mc_time *as_of, struct mc_cell *out,
                 struct mc_err *err) MC_CHECKED;
void mc_cell_release(struct mc_cell *cell);

/* {cells: [{cell, name, corpus, lives, metrics, tally}], comparisons: [{metric, difference, p, lives, exact, told,
 * text}], same_corpus}: every metric that both have, by a paired permutation test over the base lives that both have.
 * Differences are the first cell's less the second's. */
json_t *mc_cells_compare(const struct mc_cell *a, const struct mc_cell *b);
