/* What a mean over few lives is worth: bootstrap intervals and paired permutation tests. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "grade/units.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The q-quantile of sorted values, linear between neighbours (type 7 of Hyndman and Fan 1996). */
static double quantile(const double *sorted, size_t count, double q)
{
    double at = q * (double)(count - 1);
    size_t low = (size_t)at;
    size_t high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

/* Percentile bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13): lives are drawn with
 * replacement, the mean is taken, and the interval runs between the (1-level)/2 and (1+level)/2 quantiles of the means.
 * Lives are the units drawn because answers within a life are not independent. With fewer than 5 lives there are at
 * most 35 different resamples, and no interval is told. */
struct mc_interval mc_metrics_interval(const struct mc_metrics *metrics, enum mc_metric metric, double level,
                                       size_t resamples, uint64_t seed)
{
    enum { FEWEST_LIVES = 5 };
    struct mc_interval out = {.lives = 0};
    MC_AUTOFREE double *values = mc_alloc(metrics->count + 1, sizeof *values);
    for (size_t i = 0; i < metrics->count; i++) {
        out.lives += (size_t)mc_life_metric(metrics->lives[i], metric, &values[out.lives]);
    }
    if (out.lives < FEWEST_LIVES || resamples == 0) {
        return out;
    }
    MC_AUTOFREE double *means = mc_alloc(resamples, sizeof *means);
    struct mc_random random = mc_random_from(seed);
    for (size_t r = 0; r < resamples; r++) {
        double sum = 0;
        for (size_t i = 0; i < out.lives; i++) {
            sum += values[mc_random_below(&random, out.lives)];
        }
        means[r] = sum / (double)out.lives;
    }
    qsort(means, resamples, sizeof *means, by_value);
    out.low = quantile(means, resamples, (1 - level) / 2);
    out.high = quantile(means, resamples, (1 + level) / 2);
    out.told = 1;
    return out;
}

/* Differences a - b of the lives that both have; both lists stand sorted by name. */
static size_t paired_differences(const struct mc_metrics *a, const struct mc_metrics *b, enum mc_metric metric,
                                 double *out)
{
    size_t count = 0;
    size_t i = 0;
    size_t k = 0;
    while (i < a->count && k < b->count) {
        int order = strcmp(a->lives[i]->name, b->lives[k]->name);
        double x;
        double y;
        if (order == 0 && mc_life_metric(a->lives[i], metric, &x) && mc_life_metric(b->lives[k], metric, &y)) {
            out[count++] = x - y;
        }
        i += order <= 0;
        k += order >= 0;
    }
    return count;
}

static double signed_sum(const double *differences, size_t count, uint64_t signs)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (signs >> i) & 1U ? -differences[i] : differences[i];
    }
    return sum;
}

static double sampled_p(const double *differences, size_t count, double observed, size_t permutations, uint64_t seed)
{
    struct mc_random random = mc_random_from(seed);
    size_t as_far = 0;
    for (size_t p = 0; p < permutations; p++) {
        double sum = 0;
        for (size_t i = 0; i < count; i += 64) {
            size_t part = count - i < 64 ? count - i : 64;
            sum += signed_sum(differences + i, part, mc_random_next(&random));
        }
        as_far += fabs(sum) >= observed;
    }
    return (double)(as_far + 1) / (double)(permutations + 1);
}

static double exact_p(const double *differences, size_t count, double observed)
{
    uint64_t patterns = (uint64_t)1 << count;
    uint64_t as_far = 0;
    for (uint64_t signs = 0; signs < patterns; signs++) {
        as_far += fabs(signed_sum(differences, count, signs)) >= observed;
    }
    return (double)as_far / (double)patterns;
}

/* Paired permutation test (Fisher, The Design of Experiments, 1935, section 21): if the two harnesses were alike, the
 * sign of each life's difference could as well be the other. p is the share of sign patterns whose mean difference is
 * at least as far from 0 as the one seen: of all 2^n patterns up to 16 lives, of a seeded sample beyond, with one added
 * above and below so that p is never 0 (Phipson and Smyth 2010). With n lives p cannot fall under 2/2^n: where that is
 * above alpha, no difference can be told. */
struct mc_comparison mc_metrics_compare(const struct mc_metrics *a, const struct mc_metrics *b, enum mc_metric metric,
                                        double alpha, size_t permutations, uint64_t seed)
{
    enum { MOST_EXACT = 16 };
    struct mc_comparison out = {.p = 1};
    MC_AUTOFREE double *differences = mc_alloc(a->count + 1, sizeof *differences);
    out.lives = paired_differences(a, b, metric, differences);
    if (out.lives == 0) {
        return out;
    }
    double sum = 0;
    for (size_t i = 0; i < out.lives; i++) {
        sum += differences[i];
    }
    out.difference = sum / (double)out.lives;
    /* A little less, so that rounding does not part sums that are the same. */
    double observed = fabs(sum) - 1e-9;
    out.exact = out.lives <= MOST_EXACT;
    out.p = out.exact ? exact_p(differences, out.lives, observed)
                      : sampled_p(differences, out.lives, observed, permutations, seed);
    out.told = ldexp(2, -(int)(out.lives < 1000 ? out.lives : 1000)) <= alpha;
    return out;
}

char *mc_comparison_text(const struct mc_comparison *c, const char *a, const char *b, double alpha)
{
    if (c->lives == 0) {
        return mc_strf("%s and %s share no life that has this metric: nothing can be compared.", a, b);
    }
    if (!c->told) {
        return mc_strf("%s is %+.1f points from %s over %zu %s: too few for the difference to be told from chance.", a,
                       100 * c->difference, b, c->lives, c->lives == 1 ? "life" : "lives");
    }
    if (c->p > alpha) {
        return mc_strf(
            "%s is %+.1f points from %s over %zu lives (p = %.3f): the difference cannot be told from chance.", a,
            100 * c->difference, b, c->lives, c->p);
    }
    return mc_strf("%s is %+.1f points from %s over %zu lives (p = %.3f).", a, 100 * c->difference, b, c->lives, c->p);
}
