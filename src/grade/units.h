/*
 * What mc_metrics keeps, shared by metrics.c and interval.c: counts of units, which belong to base lives.
 *
 * Ownership: a unit owns its texts, mc_metrics owns its units (metrics.c frees both).
 */
#pragma once

#include "grade/metrics.h"

/* One repetition of one life or variant. Counts are doubles, as they are only ever divided. */
struct mc_unit_counts {
    char *life;
    int64_t repetition;
    double answers, complete;
    double slots[MC_VERDICT_MISREPRESENTED + 1];
    double plans, plans_complete;
    double abstentions, abstentions_right;
    double current, current_correct;
    double historical, historical_correct;
    double options, options_found;
};

struct mc_life {
    char *name;
    struct mc_unit_counts *units;
    size_t count, capacity;
};

struct mc_metrics {
    struct mc_life **lives;
    size_t count, capacity;
    struct mc_tally tally;
};

int mc_life_metric(const struct mc_life *life, enum mc_metric metric, double *out);
