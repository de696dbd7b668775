/*
 * Variants: the same life in another shape, so that a system is measured and not one wording of one week.
 *
 * Random numbers come from xoshiro256** seeded through SplitMix64 (Blackman and Vigna, "Scrambled linear pseudorandom
 * number generators", ACM TOMS 47(4), 2021; https://prng.di.unimi.it), so the same seed gives the same bytes on every
 * host. What each kind changes, and what it must not, stands in docs/corpus.md.
 *
 * Ownership: everything is borrowed; *id is the caller's.
 */
#pragma once

#include "corpus/corpus.h"

enum mc_vary_kind {
    MC_VARY_WORDING,
    MC_VARY_DISTRACTOR,
    MC_VARY_DUPLICATE,
    MC_VARY_REORDER,
    MC_VARY_BATCH,
    MC_VARY_SPARSE,
};
extern const char *const mc_vary_names[]; /* NULL-ended, in the enum's order */

struct mc_vary {
    const char *life; /* the life to vary, by ID */
    enum mc_vary_kind kind;
    uint32_t seed;
    const char *out; /* folder of the corpus that receives the variant; made where absent */
};

/* Writes life "<life>-<kind>-<seed>" into the corpus at vary->out, and a byte-for-byte copy of the source life where
 * that corpus has none, so that the link resolves. The source is only read. Fails with MC_INPUT and the reason where
 * the variant would change what can be expected and the rubric cannot follow. */
int mc_corpus_vary(const struct mc_corpus *corpus, const struct mc_vary *vary, char **id,
                   struct mc_err *err) MC_CHECKED;
