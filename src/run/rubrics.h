/*
 * Lives with their rubrics, loaded on demand and kept while they are in use: memory is proportional to a few lives,
 * however many are asked for.
 *
 * Ownership: mc_rubrics_new() allocates and borrows the corpus, mc_rubrics_free() frees. A life that was given stays
 * valid until the next mc_rubrics_get().
 */
#pragma once

#include "corpus/corpus.h"
#include "grade/rubric.h"
#include "grade/verdict.h"

struct mc_rubrics;

struct mc_ruled_life {
    struct mc_life *life;
    struct mc_rubric rubric;
    char *base; /* the life that it is averaged within */
};

/* What one checkpoint is graded by. */
struct mc_ruled {
    const struct mc_ruled_life *life;
    const struct mc_checkpoint *asked;
    const struct mc_rubric_checkpoint *rubric;
    struct mc_grade_context context;
};

struct mc_rubrics *mc_rubrics_new(const struct mc_corpus *corpus);
void mc_rubrics_free(struct mc_rubrics *rubrics);

/* MC_INPUT where the corpus has no such life, or its rubric cannot be read. */
int mc_rubrics_get(struct mc_rubrics *rubrics, const char *life, const struct mc_ruled_life **out,
                   struct mc_err *err) MC_CHECKED;
/* MC_INPUT where there is no such life or it has no such checkpoint. */
int mc_rubrics_find(struct mc_rubrics *rubrics, const char *life, const char *checkpoint, struct mc_ruled *out,
                    struct mc_err *err) MC_CHECKED;
