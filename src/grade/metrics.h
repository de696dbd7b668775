/*
 * Metrics over graded answers. Each formula and its source stand at its function in metrics.c and interval.c, and in
 * docs/grading.md.
 *
 * Lives weigh the same: a metric is first taken over the answers of one unit (one repetition of one life or variant of
 * it), then averaged over the units of a base life, then over base lives. A unit where a metric has no denominator is
 * left out of its average.
 *
 * Ownership: mc_metrics_new() allocates, mc_metrics_free() frees; names given are copied; grades are only read.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/random.h"
#include "grade/verdict.h"

enum mc_metric {
    MC_METRIC_SUCCESS, /* answers complete / answers that count */
    MC_METRIC_CORRECT, /* slots; these three sum to 1 */
    MC_METRIC_MISSED,
    MC_METRIC_MISREPRESENTED,
    MC_METRIC_PRECISION, /* correct / (correct + misrepresented) */
    MC_METRIC_RECALL,    /* correct / all graded slots */
    MC_METRIC_F1,
    MC_METRIC_PLAN,       /* complete-plan checkpoints that are complete */
    MC_METRIC_ABSTENTION, /* abstained where it is right, answered where it is not / all */
    MC_METRIC_CURRENT,    /* correct among slots of kind current */
    MC_METRIC_HISTORICAL, /* correct among slots of kind historical */
    MC_METRIC_OPTIONS,    /* options found / options */
    MC_METRIC_COUNT,
};
const char *mc_metric_name(enum mc_metric metric);

/* Plain totals over everything added, never averaged. */
struct mc_tally {
    uint64_t answers; /* that count: the denominator of success */
    uint64_t complete;
    uint64_t ended[MC_ENDED_CANCELLED + 1]; /* all answers by how their trial ended */
    uint64_t ungraded;                      /* answers left out because a slot is ungraded */
    uint64_t slots[MC_VERDICT_UNGRADED + 1];
    uint64_t refused; /* abstained though the question can be answered */
    uint64_t guessed; /* answered though it cannot */
    uint64_t stale, inventions, wrong_person, wrong_occurrence, duplicates;
    uint64_t traps; /* suggested */
};

struct mc_metrics;

struct mc_metrics *mc_metrics_new(void);
void mc_metrics_free(struct mc_metrics *metrics);

struct mc_metric_sample {
    const char *base_life; /* control_of or the source of a variant; the life itself where it is one */
    const char *life;
    int64_t repetition;
    const struct mc_answer_grade *grade;
};
void mc_metrics_add(struct mc_metrics *metrics, const struct mc_metric_sample *sample);

const struct mc_tally *mc_metrics_tally(const struct mc_metrics *metrics);
size_t mc_metrics_lives(const struct mc_metrics *metrics);

/* The mean over base lives; 0 where no life has it (*out untouched), else 1. */
int mc_metrics_mean(const struct mc_metrics *metrics, enum mc_metric metric, double *out);

struct mc_interval {
    double low, high; /* of the mean */
    size_t lives;     /* it rests on */
    int told;         /* 0: too few lives for an interval; low and high are not set */
};

/* Percentile bootstrap over base lives; `level` as 0.95. */
struct mc_interval mc_metrics_interval(const struct mc_metrics *metrics, enum mc_metric metric, double level,
                                       size_t resamples, uint64_t seed);

struct mc_comparison {
    double difference; /* mean over shared lives of a - b */
    double p;          /* two-sided; 1 where nothing can be told */
    size_t lives;      /* base lives that both have */
    int exact;         /* all sign patterns were tried */
    int told;          /* 0: so few lives that no difference could reach `alpha` */
};

/* Paired permutation test over the base lives that both have. */
struct mc_comparison mc_metrics_compare(const struct mc_metrics *a, const struct mc_metrics *b, enum mc_metric metric,
                                        double alpha, size_t permutations, uint64_t seed);

/* What a report says of a comparison, in one sentence; the caller frees it. */
char *mc_comparison_text(const struct mc_comparison *comparison, const char *a, const char *b, double alpha);

/* {lives, metrics: {name: {value, low?, high?, lives}}, tally: {...}}. New reference. */
json_t *mc_metrics_json(const struct mc_metrics *metrics, double level, size_t resamples, uint64_t seed);
