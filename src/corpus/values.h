/*
 * What a rubric rests on and what it names: the evidence IDs and the values of all its slots. Variants must leave both
 * as they are.
 *
 * Ownership: mc_values_release() frees what mc_values_read() collected.
 */
#pragma once

#include "corpus/ids.h"
#include "corpus/load.h"

struct mc_values {
    char **texts; /* folded: expected, alternatives and forbidden of every slot, option and trap */
    size_t count;
    size_t capacity;
    struct mc_ids evidence; /* IDs under supported_by */
};

void mc_values_read(const struct mc_view *rubric, struct mc_values *out);
void mc_values_release(struct mc_values *values);

/* True where folded `text` holds a value as whole words. */
int mc_values_in(const struct mc_values *values, const char *text);
/* True where two folded texts hold the same values, each as often. */
int mc_values_same(const struct mc_values *values, const char *a, const char *b);
