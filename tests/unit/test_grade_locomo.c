/*
 * The grader against LoCoMo's questions: a gold answer grades correct, and the gold answer of another question of the
 * same category does not. The data is read from where it lies (MEMCAL_LOCOMO, or ../shared/data beside the source tree)
 * and never copied. Where it is not there, the test says so and is skipped.
 *
 * Until lives are imported by the program, slots are made here: a gold answer whose whole text is one date, number, or
 * yes or no is of that kind; one of one to four words with a capital is an entity; the rest is text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

#include "support/locomo.h"

#include "base/fs.h"
#include "base/mem.h"
#include "grade/verdict.h"
#include "grade/words.h"

struct item {
    char *gold;
    char *question;
    int category;
    enum mc_match match;
};

struct items {
    struct item *items;
    size_t count, capacity;
};

static enum mc_match classify(const char *gold)
{
    static const enum mc_match kinds[] = {MC_MATCH_YESNO, MC_MATCH_DATE, MC_MATCH_NUMBER};
    for (size_t i = 0; i < MC_COUNT(kinds); i++) {
        if (mc_rubric_reads(kinds[i], gold)) {
            return kinds[i];
        }
    }
    MC_AUTOWORDS struct mc_words words;
    mc_words_read(gold, strlen(gold), &words);
    size_t count = 0;
    size_t capitals = 0;
    for (size_t i = 0; i < words.count; i++) {
        count += words.items[i].kind != MC_WORD_MARK && words.items[i].norm[0] != '\'';
        capitals += words.items[i].upper;
    }
    return count >= 1 && count <= 4 && capitals > 0 ? MC_MATCH_ENTITY : MC_MATCH_TEXT;
}

static void add_questions(struct items *out, const json_t *document)
{
    size_t i;
    json_t *qa;
    json_array_foreach (json_object_get(document, "qa"), i, qa) {
        const json_t *gold = json_object_get(qa, "answer");
        int category = (int)json_integer_value(json_object_get(qa, "category"));
        if (!gold || category == 5) {
            continue;
        }
        out->items = mc_grow(out->items, out->count, &out->capacity, sizeof *out->items);
        struct item *item = &out->items[out->count++];
        item->gold = json_is_string(gold) ? mc_strdup(json_string_value(gold))
                                          : mc_strf("%lld", (long long)json_integer_value(gold));
        item->question = mc_strdup(json_string_value(json_object_get(qa, "question")));
        item->category = category;
        item->match = classify(item->gold);
    }
}

static void read_archive(const char *path, struct items *out)
{
    struct archive *archive = archive_read_new();
    archive_read_support_format_zip(archive);
    assert_int_equal(archive_read_open_filename(archive, path, 65536), ARCHIVE_OK);
    struct archive_entry *entry;
    while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
        const char *name = archive_entry_pathname(entry);
        size_t length = strlen(name);
        if (length < 5 || strcmp(name + length - 5, ".json") != 0) {
            continue;
        }
        MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT((size_t)16 << 20);
        char chunk[65536];
        la_ssize_t got;
        while ((got = archive_read_data(archive, chunk, sizeof chunk)) > 0) {
            assert_int_equal(mc_buf_add(&bytes, chunk, (size_t)got), 0);
        }
        assert_int_equal(got, 0);
        /* jansson itself: the data holds keys twice, which base/ refuses. */
        json_error_t error;
        MC_AUTOJSON json_t *document = json_loadb(bytes.data, bytes.len, 0, &error);
        assert_non_null(document);
        add_questions(out, document);
    }
    archive_read_free(archive);
}

static enum mc_verdict grade(const struct item *item, const char *answer, const struct mc_tz *zone)
{
    struct mc_slot slot = {.id = "it", .match = item->match, .expected = item->gold, .required = 1};
    struct mc_rubric_checkpoint checkpoint = {.id = "q", .mode = MC_MODE_FACT, .slots = {&slot, 1}};
    struct mc_grade_context context = {.zone = zone, .question = item->question};
    struct mc_err err;
    assert_int_equal(mc_time_parse("2024-01-15T12:00:00Z", &context.asked_at, &err), 0);
    struct mc_answer_grade out;
    assert_int_equal(mc_grade_answer(&checkpoint, &context, answer, MC_ENDED_COMPLETED, &out, &err), 0);
    enum mc_verdict verdict = out.slots.items[0].verdict;
    mc_answer_grade_release(&out);
    return verdict;
}

/* Whether two gold answers are plainly different: not the same words, and for yes and no not the same first word. */
static int differs(const struct item *a, const struct item *b)
{
    MC_AUTOWORDS struct mc_words x;
    MC_AUTOWORDS struct mc_words y;
    mc_words_read(a->gold, strlen(a->gold), &x);
    mc_words_read(b->gold, strlen(b->gold), &y);
    size_t i = 0;
    size_t k = 0;
    for (;;) {
        i += i < x.count && x.items[i].kind == MC_WORD_MARK;
        k += k < y.count && y.items[k].kind == MC_WORD_MARK;
        if (i >= x.count || k >= y.count || strcmp(x.items[i].norm, y.items[k].norm) != 0) {
            return i < x.count || k < y.count;
        }
        if (a->match == MC_MATCH_YESNO && b->match == MC_MATCH_YESNO) {
            return 0;
        }
        i++;
        k++;
    }
}

/* Every question is answered with the gold answers of OTHERS questions of its category, spread over all of them. */
enum { OTHERS = 12 };

static void try_others(const struct items *all, const struct mc_tz *zone, size_t *pairs, size_t *passed)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct item *item = &all->items[i];
        size_t tried = 0;
        for (size_t step = 1; step < all->count && item->match != MC_MATCH_TEXT && tried < OTHERS; step++) {
            const struct item *other = &all->items[(i + step * 131) % all->count];
            if (other == item || other->category != item->category || !differs(item, other)) {
                continue;
            }
            tried++;
            (*pairs)++;
            if (grade(item, other->gold, zone) == MC_VERDICT_CORRECT) {
                (*passed)++;
                printf("  other passes: %s \"%s\" against \"%s\"\n", mc_match_name(item->match), other->gold,
                       item->gold);
            }
        }
    }
}

static void gold_answers_pass_and_others_do_not(void **state)
{
    (void)state;
    const char *path = locomo_or_skip();
    struct items all = {.items = NULL};
    read_archive(path, &all);
    struct mc_err err;
    struct mc_tz *zone;
    assert_int_equal(mc_tz_load("America/New_York", &zone, &err), 0);
    size_t kinds[MC_MATCH_TEXT + 1] = {0};
    size_t slots = 0;
    size_t failed = 0;
    for (size_t i = 0; i < all.count; i++) {
        const struct item *item = &all.items[i];
        kinds[item->match]++;
        enum mc_verdict verdict = grade(item, item->gold, zone);
        if (item->match == MC_MATCH_TEXT) {
            continue;
        }
        slots++;
        if (verdict != MC_VERDICT_CORRECT) {
            failed++;
            printf("  gold fails: %s \"%s\"\n", mc_match_name(item->match), item->gold);
        }
    }
    size_t pairs = 0;
    size_t passed = 0;
    try_others(&all, zone, &pairs, &passed);
    printf("%zu questions: date %zu, number %zu, yes/no %zu, entity %zu, text %zu\n", all.count, kinds[MC_MATCH_DATE],
           kinds[MC_MATCH_NUMBER], kinds[MC_MATCH_YESNO], kinds[MC_MATCH_ENTITY], kinds[MC_MATCH_TEXT]);
    printf("gold grades correct: %zu of %zu (%.2f%%)\n", slots - failed, slots,
           100.0 * (double)(slots - failed) / (double)slots);
    printf("another's gold does not: %zu of %zu (%.2f%%)\n", pairs - passed, pairs,
           100.0 * (double)(pairs - passed) / (double)pairs);
    for (size_t i = 0; i < all.count; i++) {
        free(all.items[i].gold);
        free(all.items[i].question);
    }
    free(all.items);
    mc_tz_free(zone);
    assert_int_equal(all.count, 1986 - 446);
    assert_true(failed * 100 <= slots);
    assert_true(passed * 100 <= pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gold_answers_pass_and_others_do_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
