/*
 * Reviewing one verdict of a run: a person's verdict is added, the one before it stays (grade/review.h).
 *
 * Ownership: the wish is borrowed; *out is a new reference.
 */
#pragma once

#include "run/stored.h"
#include "run/verdicts.h"

struct mc_review {
    const char *answer; /* ID, as stored.h has it */
    const char *slot;
    enum mc_verdict verdict;
    const char *reason;
    const char *by;
    int64_t expect; /* the revision that the reviewer saw; negative: whatever is in force */
};

/* Adds the revision: {answer, slot, revision, replaces, from, to, by, reason, at}. MC_MISMATCH where another revision
 * is in force than expected, MC_INPUT where there is no such answer or slot, MC_EXISTS where that is the verdict
 * already. */
int mc_review_add(struct mc_store *store, const struct mc_stored_run *run, const struct mc_review *review, json_t **out,
                  struct mc_err *err) MC_CHECKED;
