/*
 * Revisions of verdicts and samples for auditing, as pure logic; who stores them is not known here.
 *
 * A verdict is never changed: a review adds a revision that names the one it replaces. The revisions of one slot form
 * one chain, numbered from 1 (the grader's own). Every aggregate is taken over the revisions in force at one time.
 *
 * Ownership: a history owns copies of what is added (mc_history_release()); revisions read from it are borrowed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "grade/verdict.h"

enum mc_source_of_verdict {
    MC_SOURCE_MATCHER,
    MC_SOURCE_JUDGE,
    MC_SOURCE_REVIEW,
    MC_SOURCE_OFFICIAL, /* these three come from elsewhere and are never mixed with ours */
    MC_SOURCE_VERIFIER,
    MC_SOURCE_IMPORTED,
    MC_SOURCE_RUNNER, /* the trial did not complete */
};
extern const char *const mc_source_names[]; /* NULL-ended, in the enum's order */

struct mc_revision {
    int64_t number;   /* from 1 within the slot */
    int64_t replaces; /* 0 for the first */
    enum mc_verdict verdict;
    enum mc_source_of_verdict source;
    const char *reason;
    const char *by; /* "" for the grader's own */
    struct mc_time at;
};

struct mc_history {
    struct mc_revision *items;
    size_t count;
    size_t capacity;
};

/* Adds the next revision; number and replaces are set by this. `expect` is the revision that the reviewer saw (0: none
 * yet): MC_MISMATCH where another is in force. A review (source review) needs a reason and a name, changes nothing
 * where the verdict is the same (MC_EXISTS), and may not be older than what it replaces. */
int mc_history_add(struct mc_history *history, int64_t expect, const struct mc_revision *revision,
                   struct mc_err *err) MC_CHECKED;

/* The revision in force at `as_of` (NULL: the newest), or NULL where there was none yet. */
const struct mc_revision *mc_history_at(const struct mc_history *history, const struct mc_time *as_of);
void mc_history_release(struct mc_history *history);

/* One slot that could be audited. */
struct mc_audit_item {
    const char *answer; /* stable ids, unique together */
    const char *slot;
    const char *family;
    const char *kind; /* current, historical, abstain */
    enum mc_verdict verdict;
};

/* Draws `want` of `count` items (all, where there are fewer), stratified by family, kind and verdict: every stratum
 * gives its share, rounded by largest remainder, and at least one while there is room, so passes are drawn as well as
 * failures. Depends on the items and the seed only, not on their order. Indexes into *out, sorted by answer and slot;
 * returns how many; the caller frees *out. */
size_t mc_audit_sample(const struct mc_audit_item *items, size_t count, size_t want, uint64_t seed, size_t **out);
