#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "grade/review.h"

static struct mc_revision revision(enum mc_verdict verdict, enum mc_source_of_verdict source, int64_t at)
{
    return (struct mc_revision){.verdict = verdict,
                                .source = source,
                                .reason = "the answer means it",
                                .by = "lee",
                                .at = {.ms = at, .offset_min = 0}};
}

static void a_review_replaces_what_it_names(void **state)
{
    (void)state;
    struct mc_history h = {.items = NULL};
    struct mc_err err;
    struct mc_revision first = revision(MC_VERDICT_MISSED, MC_SOURCE_MATCHER, 1000);
    struct mc_revision second = revision(MC_VERDICT_CORRECT, MC_SOURCE_REVIEW, 2000);
    struct mc_revision third = revision(MC_VERDICT_MISREPRESENTED, MC_SOURCE_REVIEW, 3000);
    assert_int_equal(mc_history_add(&h, 0, &first, &err), 0);
    assert_int_equal(mc_history_add(&h, 1, &second, &err), 0);
    assert_int_equal(mc_history_add(&h, 1, &third, &err), MC_MISMATCH);
    assert_string_equal(err.text, "revision 1 was expected, but 2 is in force");
    assert_string_equal(err.hint, "look at the verdict as it is now, then review it with --expect 2");
    assert_int_equal(mc_history_add(&h, 2, &third, &err), 0);
    assert_int_equal(mc_history_at(&h, NULL)->number, 3);
    assert_int_equal(mc_history_at(&h, NULL)->replaces, 2);
    static const struct {
        int64_t at, number;
    } views[] = {{1000, 1}, {1999, 1}, {2000, 2}, {2999, 2}, {3000, 3}, {9999, 3}};
    for (size_t i = 0; i < MC_COUNT(views); i++) {
        struct mc_time as_of = {.ms = views[i].at, .offset_min = 0};
        assert_int_equal(mc_history_at(&h, &as_of)->number, views[i].number);
    }
    struct mc_time before = {.ms = 999, .offset_min = 0};
    assert_null(mc_history_at(&h, &before));
    mc_history_release(&h);
}

static void reviews_say_who_and_why(void **state)
{
    (void)state;
    struct mc_history h = {.items = NULL};
    struct mc_err err;
    struct mc_revision r = revision(MC_VERDICT_CORRECT, MC_SOURCE_REVIEW, 2000);
    assert_int_equal(mc_history_add(&h, 0, &r, &err), MC_NOT_FOUND);
    assert_string_equal(err.text, "there is no verdict to review yet");
    struct mc_revision first = revision(MC_VERDICT_CORRECT, MC_SOURCE_MATCHER, 1000);
    assert_int_equal(mc_history_add(&h, 0, &first, &err), 0);
    assert_int_equal(mc_history_add(&h, 1, &r, &err), MC_EXISTS);
    assert_string_equal(err.text, "the verdict is correct already (revision 1)");
    r.verdict = MC_VERDICT_MISSED;
    r.reason = "  ";
    assert_int_equal(mc_history_add(&h, 1, &r, &err), MC_INPUT);
    assert_string_equal(err.text, "a review needs a reason");
    r.reason = "no";
    r.by = "";
    assert_int_equal(mc_history_add(&h, 1, &r, &err), MC_INPUT);
    assert_string_equal(err.text, "a review needs a name");
    r.by = "lee";
    r.at.ms = 500;
    assert_int_equal(mc_history_add(&h, 1, &r, &err), MC_INPUT);
    assert_non_null(strstr(err.text, "a revision cannot be older than the one that it replaces"));
    assert_int_equal(h.count, 1);
    mc_history_release(&h);
}

enum { ITEMS = 120 };

static void fill(struct mc_audit_item *items, char names[][16])
{
    static const char *const families[] = {"poker", "trip", "move"};
    for (size_t i = 0; i < ITEMS; i++) {
        snprintf(names[i], 16, "answer-%03zu", i);
        items[i] = (struct mc_audit_item){.answer = names[i],
                                          .slot = "s",
                                          .family = families[i % 3],
                                          .kind = i % 2 ? "current" : "historical",
                                          .verdict = i % 10 == 0 ? MC_VERDICT_MISREPRESENTED : MC_VERDICT_CORRECT};
    }
}

static void samples_hold_passes_and_failures(void **state)
{
    (void)state;
    struct mc_audit_item items[ITEMS];
    char names[ITEMS][16];
    fill(items, names);
    size_t *drawn = NULL;
    size_t count = mc_audit_sample(items, ITEMS, 24, 5, &drawn);
    assert_int_equal(count, 24);
    size_t passes = 0;
    size_t families[3] = {0};
    for (size_t i = 0; i < count; i++) {
        passes += items[drawn[i]].verdict == MC_VERDICT_CORRECT;
        families[drawn[i] % 3]++;
        assert_true(i == 0 || drawn[i] > drawn[i - 1]);
    }
    assert_true(passes > 12 && passes < 24);
    assert_true(families[0] >= 5 && families[1] >= 5 && families[2] >= 5);
    size_t *again = NULL;
    assert_int_equal(mc_audit_sample(items, ITEMS, 24, 5, &again), 24);
    assert_memory_equal(drawn, again, 24 * sizeof *drawn);
    size_t *other = NULL;
    assert_int_equal(mc_audit_sample(items, ITEMS, 24, 6, &other), 24);
    assert_memory_not_equal(drawn, other, 24 * sizeof *drawn);
    free(drawn);
    free(again);
    free(other);
}

static void the_order_of_items_makes_no_difference(void **state)
{
    (void)state;
    struct mc_audit_item items[ITEMS];
    struct mc_audit_item turned[ITEMS];
    char names[ITEMS][16];
    fill(items, names);
    for (size_t i = 0; i < ITEMS; i++) {
        turned[i] = items[ITEMS - 1 - i];
    }
    size_t *a = NULL;
    size_t *b = NULL;
    assert_int_equal(mc_audit_sample(items, ITEMS, 30, 9, &a), 30);
    assert_int_equal(mc_audit_sample(turned, ITEMS, 30, 9, &b), 30);
    for (size_t i = 0; i < 30; i++) {
        assert_string_equal(items[a[i]].answer, turned[b[i]].answer);
    }
    free(a);
    free(b);
}

static void small_samples_are_whole(void **state)
{
    (void)state;
    struct mc_audit_item items[ITEMS];
    char names[ITEMS][16];
    fill(items, names);
    for (size_t want = 0; want <= ITEMS + 5; want++) {
        size_t *drawn = NULL;
        size_t count = mc_audit_sample(items, ITEMS, want, want, &drawn);
        assert_int_equal(count, want < ITEMS ? want : ITEMS);
        for (size_t i = 1; i < count; i++) {
            assert_true(drawn[i] > drawn[i - 1]);
        }
        free(drawn);
    }
    size_t *none = NULL;
    assert_int_equal(mc_audit_sample(NULL, 0, 5, 1, &none), 0);
    free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_review_replaces_what_it_names),  cmocka_unit_test(reviews_say_who_and_why),
        cmocka_unit_test(samples_hold_passes_and_failures), cmocka_unit_test(the_order_of_items_makes_no_difference),
        cmocka_unit_test(small_samples_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
