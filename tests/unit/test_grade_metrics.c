#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "grade/metrics.h"

static void assert_near(double a, double b)
{
    if (fabs(a - b) > 1e-9) {
        fail_msg("%.12f is not %.12f", a, b);
    }
}

/* An answer with one slot for each letter: c correct, s missed, m misrepresented, u ungraded. */
static void add(struct mc_metrics *metrics, const char *base, const char *life, int64_t repetition, enum mc_mode mode,
                enum mc_ended ended, const char *verdicts)
{
    struct mc_slot_grade slots[8] = {{.id = NULL}};
    size_t count = strlen(verdicts);
    int complete = ended == MC_ENDED_COMPLETED;
    for (size_t i = 0; i < count; i++) {
        slots[i].verdict = (enum mc_verdict)(strchr("csmu", verdicts[i]) - "csmu");
        slots[i].kind = mode == MC_MODE_UNANSWERABLE ? MC_SLOT_ABSTAIN : i == 1 ? MC_SLOT_HISTORICAL : MC_SLOT_CURRENT;
        slots[i].faults = verdicts[i] == 'm' ? MC_FAULT_STALE : 0;
        complete &= verdicts[i] == 'c';
    }
    struct mc_answer_grade grade = {.mode = mode, .ended = ended, .slots = {slots, count}, .complete = complete};
    grade.abstained = mode == MC_MODE_UNANSWERABLE && complete;
    struct mc_metric_sample sample = {.base_life = base, .life = life, .repetition = repetition, .grade = &grade};
    mc_metrics_add(metrics, &sample);
}

static double mean(const struct mc_metrics *metrics, enum mc_metric metric)
{
    double value = NAN;
    assert_int_equal(mc_metrics_mean(metrics, metric, &value), 1);
    return value;
}

static void shares_are_taken_over_slots(void **state)
{
    (void)state;
    struct mc_metrics *m = mc_metrics_new();
    add(m, "a", "a", 1, MC_MODE_PLAN, MC_ENDED_COMPLETED, "ccsm");
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_COMPLETED, "c");
    assert_near(mean(m, MC_METRIC_CORRECT), 3.0 / 5);
    assert_near(mean(m, MC_METRIC_MISSED), 1.0 / 5);
    assert_near(mean(m, MC_METRIC_MISREPRESENTED), 1.0 / 5);
    assert_near(mean(m, MC_METRIC_PRECISION), 3.0 / 4);
    assert_near(mean(m, MC_METRIC_RECALL), 3.0 / 5);
    assert_near(mean(m, MC_METRIC_F1), 6.0 / 9);
    assert_near(mean(m, MC_METRIC_SUCCESS), 1.0 / 2);
    assert_near(mean(m, MC_METRIC_PLAN), 0);
    assert_near(mean(m, MC_METRIC_HISTORICAL), 1);
    assert_near(mean(m, MC_METRIC_CURRENT), 2.0 / 4);
    assert_int_equal(mc_metrics_tally(m)->stale, 1);
    double unused = 7;
    assert_int_equal(mc_metrics_mean(m, MC_METRIC_OPTIONS, &unused), 0);
    assert_near(unused, 7);
    mc_metrics_free(m);
}

static void lives_weigh_the_same(void **state)
{
    (void)state;
    struct mc_metrics *m = mc_metrics_new();
    /* Life a: two repetitions and a variant; life b: one answer. */
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_COMPLETED, "c");
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_COMPLETED, "s");
    add(m, "a", "a", 2, MC_MODE_FACT, MC_ENDED_COMPLETED, "c");
    add(m, "a", "a-reorder", 1, MC_MODE_FACT, MC_ENDED_COMPLETED, "m");
    add(m, "b", "b", 1, MC_MODE_FACT, MC_ENDED_COMPLETED, "s");
    assert_int_equal(mc_metrics_lives(m), 2);
    assert_near(mean(m, MC_METRIC_SUCCESS), ((0.5 + 1 + 0) / 3 + 0) / 2);
    double sum = mean(m, MC_METRIC_CORRECT) + mean(m, MC_METRIC_MISSED) + mean(m, MC_METRIC_MISREPRESENTED);
    assert_near(sum, 1);
    mc_metrics_free(m);
}

static void what_did_not_end_well_counts_or_is_missing(void **state)
{
    (void)state;
    struct mc_metrics *m = mc_metrics_new();
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_COMPLETED, "c");
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_FAILED, "s");
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_TIMEOUT, "s");
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_TOOL_POLICY, "s");
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_INFRASTRUCTURE, "u");
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_BUDGET, "u");
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_CANCELLED, "u");
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_COMPLETED, "cu");
    const struct mc_tally *t = mc_metrics_tally(m);
    assert_int_equal(t->answers, 4);
    assert_int_equal(t->complete, 1);
    assert_int_equal(t->ungraded, 1);
    assert_int_equal(t->ended[MC_ENDED_INFRASTRUCTURE], 1);
    assert_int_equal(t->ended[MC_ENDED_COMPLETED], 2);
    assert_int_equal(t->slots[MC_VERDICT_UNGRADED], 4);
    assert_near(mean(m, MC_METRIC_SUCCESS), 1.0 / 4);
    mc_metrics_free(m);
}

static void abstention_is_a_decision(void **state)
{
    (void)state;
    struct mc_metrics *m = mc_metrics_new();
    add(m, "a", "a", 1, MC_MODE_UNANSWERABLE, MC_ENDED_COMPLETED, "c");
    add(m, "a", "a", 1, MC_MODE_UNANSWERABLE, MC_ENDED_COMPLETED, "m");
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_COMPLETED, "s");
    add(m, "a", "a", 1, MC_MODE_FACT, MC_ENDED_TIMEOUT, "s");
    assert_near(mean(m, MC_METRIC_ABSTENTION), 2.0 / 4);
    assert_int_equal(mc_metrics_tally(m)->guessed, 1);
    assert_int_equal(mc_metrics_tally(m)->refused, 0);
    mc_metrics_free(m);
}

/* `right` of ten lives. */
static struct mc_metrics *lives(size_t count, size_t right)
{
    struct mc_metrics *m = mc_metrics_new();
    for (size_t i = 0; i < count; i++) {
        MC_AUTOFREE char *name = mc_strf("life-%03zu", i);
        add(m, name, name, 1, MC_MODE_FACT, MC_ENDED_COMPLETED, i < right ? "c" : "s");
    }
    return m;
}

static void intervals_are_the_same_everywhere(void **state)
{
    (void)state;
    struct mc_metrics *m = lives(20, 10);
    struct mc_interval a = mc_metrics_interval(m, MC_METRIC_SUCCESS, 0.95, 10000, 1);
    struct mc_interval b = mc_metrics_interval(m, MC_METRIC_SUCCESS, 0.95, 10000, 1);
    assert_int_equal(a.told, 1);
    assert_int_equal(a.lives, 20);
    assert_near(a.low, b.low);
    /* Of the binomial (20, 0.5): 2.1% lie under 6 and 5.8% under 7, and as much above 14 and above 13. */
    assert_near(a.low, 0.3);
    assert_near(a.high, 0.7);
    mc_metrics_free(m);
    struct mc_metrics *few = lives(4, 2);
    assert_int_equal(mc_metrics_interval(few, MC_METRIC_SUCCESS, 0.95, 1000, 1).told, 0);
    mc_metrics_free(few);
}

static void pairs_are_compared_by_permutation(void **state)
{
    (void)state;
    struct mc_metrics *a = lives(10, 10);
    struct mc_metrics *b = lives(10, 2);
    struct mc_comparison c = mc_metrics_compare(a, b, MC_METRIC_SUCCESS, 0.05, 10000, 1);
    assert_int_equal(c.exact, 1);
    assert_int_equal(c.told, 1);
    assert_near(c.difference, 0.8);
    /* All 8 differing lives point one way: 2 of 2^8 patterns are as far. */
    assert_near(c.p, 2.0 / 256);
    MC_AUTOFREE char *text = mc_comparison_text(&c, "x", "y", 0.05);
    assert_string_equal(text, "x is +80.0 points from y over 10 lives (p = 0.008).");
    mc_metrics_free(a);
    mc_metrics_free(b);
}

static void few_lives_tell_nothing(void **state)
{
    (void)state;
    struct mc_metrics *a = lives(5, 5);
    struct mc_metrics *b = lives(5, 0);
    struct mc_comparison c = mc_metrics_compare(a, b, MC_METRIC_SUCCESS, 0.05, 10000, 1);
    assert_int_equal(c.told, 0);
    assert_near(c.p, 2.0 / 32);
    MC_AUTOFREE char *text = mc_comparison_text(&c, "x", "y", 0.05);
    assert_string_equal(text,
                        "x is +100.0 points from y over 5 lives: too few for the difference to be told from chance.");
    struct mc_metrics *none = mc_metrics_new();
    struct mc_comparison n = mc_metrics_compare(a, none, MC_METRIC_SUCCESS, 0.05, 10000, 1);
    MC_AUTOFREE char *nothing = mc_comparison_text(&n, "x", "y", 0.05);
    assert_string_equal(nothing, "x and y share no life that has this metric: nothing can be compared.");
    struct mc_metrics *same = lives(5, 5);
    assert_near(mc_metrics_compare(a, same, MC_METRIC_SUCCESS, 0.05, 100, 1).p, 1);
    mc_metrics_free(a);
    mc_metrics_free(b);
    mc_metrics_free(none);
    mc_metrics_free(same);
}

static void many_lives_are_sampled(void **state)
{
    (void)state;
    struct mc_metrics *a = lives(100, 60);
    struct mc_metrics *b = lives(100, 55);
    struct mc_comparison c = mc_metrics_compare(a, b, MC_METRIC_SUCCESS, 0.05, 20000, 7);
    assert_int_equal(c.exact, 0);
    assert_int_equal(c.lives, 100);
    /* Five differing lives, all one way: 2/2^5. */
    assert_true(fabs(c.p - 0.0625) < 0.01);
    MC_AUTOFREE char *text = mc_comparison_text(&c, "x", "y", 0.05);
    assert_non_null(strstr(text, "cannot be told from chance"));
    mc_metrics_free(a);
    mc_metrics_free(b);
}

/* First outputs for state 1, 2, 3, 4, from the authors' own test vectors (as in Rust's rand_xoshiro). */
static void the_generator_is_xoshiro(void **state)
{
    (void)state;
    struct mc_random random = {.state = {1, 2, 3, 4}};
    static const uint64_t expected[] = {11520, 0, 1509978240, 1215971899390074240};
    for (size_t i = 0; i < MC_COUNT(expected); i++) {
        assert_true(mc_random_next(&random) == expected[i]);
    }
    /* splitmix64 from 1234567 (Rosetta Code's vectors). */
    struct mc_random filled = mc_random_from(1234567);
    assert_true(filled.state[0] == 6457827717110365317U);
    assert_true(filled.state[1] == 3203168211198807973U);
    for (int i = 0; i < 1000; i++) {
        assert_true(mc_random_below(&filled, 7) < 7);
    }
}

static void metrics_are_written_as_json(void **state)
{
    (void)state;
    struct mc_metrics *m = lives(10, 7);
    MC_AUTOJSON json_t *json = mc_metrics_json(m, 0.95, 1000, 1);
    assert_int_equal(json_integer_value(json_object_get(json, "lives")), 10);
    json_t *success = json_object_get(json_object_get(json, "metrics"), "success");
    assert_near(json_real_value(json_object_get(success, "value")), 0.7);
    assert_non_null(json_object_get(success, "low"));
    json_t *tally = json_object_get(json, "tally");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(tally, "slots"), "correct")), 7);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(tally, "ended"), "completed")), 10);
    mc_metrics_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_taken_over_slots),
        cmocka_unit_test(lives_weigh_the_same),
        cmocka_unit_test(what_did_not_end_well_counts_or_is_missing),
        cmocka_unit_test(abstention_is_a_decision),
        cmocka_unit_test(intervals_are_the_same_everywhere),
        cmocka_unit_test(pairs_are_compared_by_permutation),
        cmocka_unit_test(few_lives_tell_nothing),
        cmocka_unit_test(many_lives_are_sampled),
        cmocka_unit_test(the_generator_is_xoshiro),
        cmocka_unit_test(metrics_are_written_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
