/*
 * One variation under way: what the kinds share. Each kind fills the draft's observations, turns, checkpoints and
 * rubric; what it does not change is copied byte for byte.
 *
 * Ownership: borrowed, but for the draft and the values, which vary.c releases.
 */
#pragma once

#include "base/random.h"
#include "corpus/draft.h"
#include "corpus/values.h"
#include "corpus/vary.h"

struct mc_variation {
    const struct mc_corpus *corpus;
    const struct mc_life *life;
    struct mc_doc rubric;
    struct mc_values values;
    struct mc_random random;
    struct mc_draft draft; /* its head is life.yaml's tree with the new id, variant and seed */
    struct mc_ids ids;     /* new source_ids */
};

/* Fails saying that this life has no variant of the kind, and why. */
int mc_vary_refuse(const struct mc_variation *v, struct mc_err *err, const char *why);

/* Copies observation `index` as it stands. */
int mc_vary_keep(struct mc_variation *v, size_t index, struct mc_err *err) MC_CHECKED;
/* Copies a file of the life into `out`. */
int mc_vary_copy(const struct mc_variation *v, const char *name, struct mc_buf *out, struct mc_err *err) MC_CHECKED;
/* Turns, checkpoints and rubric as they stand. */
int mc_vary_copy_rest(struct mc_variation *v, struct mc_err *err) MC_CHECKED;

int mc_vary_wording(struct mc_variation *v, struct mc_err *err) MC_CHECKED;
int mc_vary_distractor(struct mc_variation *v, struct mc_err *err) MC_CHECKED;
int mc_vary_duplicate(struct mc_variation *v, struct mc_err *err) MC_CHECKED;
int mc_vary_reorder(struct mc_variation *v, struct mc_err *err) MC_CHECKED;
int mc_vary_batch(struct mc_variation *v, struct mc_err *err) MC_CHECKED;
int mc_vary_sparse(struct mc_variation *v, struct mc_err *err) MC_CHECKED;

/* reword.c: `text` in other words; the caller frees it. The same text where nothing could be changed. */
char *mc_reword(const char *text, struct mc_random *random);
