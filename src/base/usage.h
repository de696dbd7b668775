/*
 * Tokens that a model processed, in disjoint classes: their sum is what was processed.
 *
 * Ownership: values only.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#define MC_UNKNOWN ((int64_t)-1) /* a count that nobody told: null in JSON, NULL in the store, never zero */

struct mc_usage {
    int64_t input; /* without cached_input */
    int64_t cached_input;
    int64_t output; /* without reasoning */
    int64_t reasoning;
};
#define MC_USAGE_UNKNOWN ((struct mc_usage){MC_UNKNOWN, MC_UNKNOWN, MC_UNKNOWN, MC_UNKNOWN})

/* A count as JSON: null where it is unknown. New reference. */
json_t *mc_count_json(int64_t count);
/* {"input": ..., "cached_input": ..., "output": ..., "reasoning": ...}; new reference. */
json_t *mc_usage_json(const struct mc_usage *usage);
