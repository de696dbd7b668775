/*
 * Scores from elsewhere: JSON lines {trial | life, harness, repetition?; checkpoint; slot?; verdict | score; by?;
 * reason?}, kept beside our verdicts and never counted among them.
 *
 * Ownership: paths are borrowed.
 */
#pragma once

#include "run/stored.h"

enum { MC_SCORES_MAX = 64 << 20, MC_SCORES_LINE = 1 << 20 };

extern const char *const mc_score_sources[]; /* official, verifier, imported; NULL-ended */

struct mc_scores_result {
    size_t added;
    size_t known; /* lines of a file that was imported before */
};

/* Takes the whole file or nothing of it; fails with file, line and path at the first line that is wrong. */
int mc_scores_import(struct mc_store *store, const struct mc_stored_run *run, const char *path, const char *source,
                     struct mc_scores_result *out, struct mc_err *err) MC_CHECKED;
