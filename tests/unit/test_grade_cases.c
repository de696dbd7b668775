/*
 * The labelled set tests/data/grade/cases.jsonl: answers with the verdict that is right, written by hand. A line either
 * defines a slot with its zone and time, or is one case of a slot defined before it. `careless` marks answers that a
 * grader passes which only looks for the expected words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "grade/verdict.h"

struct set {

    json_t *lines;
    size_t cases, careless, wrong;
};

static json_t *load_lines(void)
{
    MC_AUTOBUF struct mc_buf file = MC_BUF_INIT(4 << 20);
    struct mc_err err;
    if (mc_fs_read(TEST_SOURCE_DIR "/data/grade/cases.jsonl", &file, &err) != 0) {
        fail_msg("%s", err.text);
    }
    json_t *lines = json_array();
    int number = 0;
    char *rest = NULL;
    for (char *line = strtok_r(file.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        struct mc_source source = {.name = "cases.jsonl", .line = ++number, .marks = NULL};
        json_t *value = mc_json_parse(line, strlen(line), &source, &err);
        if (!value) {
            fail_msg("%s", err.text);
        }
        json_array_append_new(lines, value);
    }
    return lines;
}

static json_t *find_define(json_t *lines, const char *name)
{
    size_t i;
    json_t *line;
    json_array_foreach (lines, i, line) {
        const char *define = json_string_value(json_object_get(line, "define"));
        if (define && strcmp(define, name) == 0) {
            return line;
        }
    }
    fail_msg("no slot is defined as %s", name);
    return NULL;
}

/* A rubric of one checkpoint with that one slot. */
static void read_rubric(json_t *define, struct mc_rubric *out)
{
    MC_AUTOJSON json_t *slot = json_copy(json_object_get(define, "slot"));
    json_object_set_new(slot, "id", json_string("it"));
    MC_AUTOJSON json_t *root = json_pack("{s:{s:{s:s, s:[O]}}}", "checkpoints", "case", "mode", "fact", "slots", slot);
    struct mc_source source = {.name = "cases.jsonl", .line = 0, .marks = NULL};
    struct mc_view view = mc_view_root(&source, root);
    struct mc_err err;
    if (mc_rubric_read(&view, NULL, NULL, out, &err) != 0) {
        fail_msg("%s: %s", json_string_value(json_object_get(define, "define")), err.text);
    }
}

static unsigned fault_of(const char *name)
{
    static const char *const names[] = {"stale", "invention", "wrong_person", "wrong_occurrence", "duplicate"};
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        if (strcmp(names[i], name) == 0) {
            return 1U << i;
        }
    }
    fail_msg("no fault is called %s", name);
    return 0;
}

static int faults_hold(json_t *line, unsigned faults)
{
    size_t i;
    json_t *fault;
    json_array_foreach (json_object_get(line, "faults"), i, fault) {
        if (!(faults & fault_of(json_string_value(fault)))) {
            return 0;
        }
    }
    return 1;
}

/* Quotes are the bytes that they name. */
static void check_quotes(const struct mc_slot_grade *slot, const char *answer)
{
    for (size_t i = 0; i < slot->quote_count; i++) {
        const struct mc_quote *q = &slot->quotes[i];
        assert_true(q->start < q->end && q->end <= strlen(answer));
        assert_memory_equal(answer + q->start, q->text, q->end - q->start);
    }
}

static void run_case(struct set *set, json_t *line, size_t number)
{
    json_t *define = find_define(set->lines, json_string_value(json_object_get(line, "slot")));
    struct mc_err err;
    struct mc_tz *zone;
    MC_AUTORUBRIC struct mc_rubric rubric;
    read_rubric(define, &rubric);
    assert_int_equal(mc_tz_load(json_string_value(json_object_get(define, "zone")), &zone, &err), 0);
    struct mc_grade_context context = {.zone = zone,
                                       .question = json_string_value(json_object_get(define, "question"))};
    assert_int_equal(mc_time_parse(json_string_value(json_object_get(define, "asked_at")), &context.asked_at, &err), 0);
    const char *answer = json_string_value(json_object_get(line, "answer"));
    MC_AUTOGRADE struct mc_answer_grade grade;
    assert_int_equal(mc_grade_answer(&rubric.checkpoints[0], &context, answer, MC_ENDED_COMPLETED, &grade, &err), 0);
    const struct mc_slot_grade *slot = &grade.slots.items[0];
    check_quotes(slot, answer);
    const char *want = json_string_value(json_object_get(line, "verdict"));
    const char *got = mc_verdict_name(slot->verdict);
    set->cases++;
    set->careless += json_is_true(json_object_get(line, "careless"));
    if (strcmp(want, got) != 0 || !faults_hold(line, slot->faults)) {
        set->wrong++;
        printf("line %zu, %s: \"%s\": %s expected (%s), got %s by %s, faults %u: %s\n", number,
               json_string_value(json_object_get(define, "define")), answer, want,
               json_string_value(json_object_get(line, "why")), got, slot->rule, slot->faults, slot->explanation);
    }
    mc_tz_free(zone);
}

static void every_case_has_its_verdict(void **state)
{
    (void)state;
    struct set set = {.lines = load_lines()};
    size_t i;
    json_t *line;
    json_array_foreach (set.lines, i, line) {
        if (json_object_get(line, "answer")) {
            run_case(&set, line, i + 1);
        }
    }
    printf("%zu cases, %zu of them for the careless, %zu wrong\n", set.cases, set.careless, set.wrong);
    json_decref(set.lines);
    assert_true(set.cases >= 400);
    assert_true(set.careless * 3 >= set.cases);
    assert_int_equal(set.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case_has_its_verdict)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
