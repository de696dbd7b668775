#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/yaml.h"
#include "grade/rubric.h"

struct problems {
    char text[16][700];
    size_t count;
};

static void keep(void *arg, const struct mc_err *problem)
{
    struct problems *p = arg;
    if (p->count < MC_COUNT(p->text)) {
        snprintf(p->text[p->count], sizeof p->text[0], "%.500s | %.150s", problem->text, problem->hint);
    }
    p->count++;
}

static int read_rubric(const char *yaml, struct mc_rubric *out, struct problems *problems, struct mc_err *err)
{
    MC_AUTODOC struct mc_doc doc;
    problems->count = 0;
    if (mc_yaml_parse(yaml, strlen(yaml), "rubric.yaml", &doc, err) != 0) {
        fail_msg("%s", err->text);
    }
    struct mc_view view = mc_doc_view(&doc);
    return mc_rubric_read(&view, keep, problems, out, err);
}

static void a_rubric_is_read_as_written(void **state)
{
    (void)state;
    MC_AUTORUBRIC struct mc_rubric rubric;
    struct problems problems;
    struct mc_err err;
    assert_int_equal(read_rubric("checkpoints:\n"
                                 "  poker-move/where:\n"
                                 "    mode: complete-plan\n"
                                 "    required: [loc, price]\n"
                                 "    slots:\n"
                                 "      - id: loc\n"
                                 "        kind: current\n"
                                 "        match: entity\n"
                                 "        expected: \"Jordan's\"\n"
                                 "        alternatives: [\"44 Birch Ave\"]\n"
                                 "        forbidden: [\"Sam's\", \"12 Ash Street\"]\n"
                                 "        supported_by: [gm-move, im-confirm]\n"
                                 "      - {id: price, match: number, expected: 1.50}\n"
                                 "      - {id: rsvp, match: yesno, expected: yes}\n"
                                 "  a/none:\n"
                                 "    mode: unanswerable\n"
                                 "    slots: [{id: who, kind: abstain, forbidden: [Marco]}]\n"
                                 "  b/fun:\n"
                                 "    mode: open-ended\n"
                                 "    options: [{id: fair, match: entity, expected: street fair}]\n"
                                 "    traps: [{id: gig, match: entity, expected: the gig}]\n",
                                 &rubric, &problems, &err),
                     0);
    assert_int_equal(problems.count, 0);
    assert_int_equal(rubric.count, 3);
    assert_string_equal(rubric.checkpoints[0].id, "a/none");
    const struct mc_rubric_checkpoint *c = mc_rubric_find(&rubric, "poker-move/where");
    assert_non_null(c);
    assert_null(mc_rubric_find(&rubric, "poker-move"));
    assert_int_equal(c->mode, MC_MODE_PLAN);
    assert_int_equal(c->slots.count, 3);
    assert_string_equal(c->slots.items[0].expected, "Jordan's");
    assert_string_equal(c->slots.items[0].forbidden.items[1], "12 Ash Street");
    assert_string_equal(c->slots.items[0].supported_by.items[0], "gm-move");
    assert_string_equal(c->slots.items[1].expected, "1.50");
    assert_string_equal(c->slots.items[2].expected, "yes");
    assert_int_equal(c->slots.items[0].required, 1);
    assert_int_equal(c->slots.items[1].required, 1);
    assert_int_equal(c->slots.items[2].required, 0);
    assert_int_equal(c->slots.items[0].line, 6);
    assert_string_equal(mc_mode_name(MC_MODE_OPEN), "open-ended");
    assert_string_equal(mc_slot_kind_name(MC_SLOT_HISTORICAL), "historical");
    assert_string_equal(mc_match_name(MC_MATCH_YESNO), "yesno");
}

static void every_problem_is_reported(void **state)
{
    (void)state;
    MC_AUTORUBRIC struct mc_rubric rubric;
    struct problems problems;
    struct mc_err err;
    assert_int_equal(read_rubric("checkpoints:\n"
                                 "  one:\n"
                                 "    mode: fact\n"
                                 "    slots:\n"
                                 "      - {id: day, match: date, expected: sometime}\n"
                                 "      - {id: day, match: entity, expected: Sam, forbidden: [sam]}\n"
                                 "      - {id: n, match: number}\n"
                                 "      - {id: w, match: text, expected: \" \"}\n"
                                 "      - {id: v, match: text, expected: fine, alternatives: [x, x]}\n"
                                 "    required: [nobody]\n"
                                 "  two:\n"
                                 "    mode: fact\n"
                                 "    slots: []\n"
                                 "  three:\n"
                                 "    mode: unanswerable\n"
                                 "    slots: [{id: a, match: text, expected: b}]\n"
                                 "  four:\n"
                                 "    mode: fact\n"
                                 "    slots: [{id: a, match: text, expected: b, required: false}]\n"
                                 "    required: [a]\n"
                                 "  five:\n"
                                 "    mode: fact\n"
                                 "    slots: [{id: a, match: text, expected: b}]\n"
                                 "    traps: [{id: a, match: text, expected: b}]\n"
                                 "  six: null\n",
                                 &rubric, &problems, &err),
                     MC_INPUT);
    static const char *const expected[] = {
        "\"sometime\" cannot be read as a date | write a date as in 2026-08-08, \"Saturday\" or \"the week before 9 "
        "June 2023\"",
        "\"sam\" is forbidden and expected too | a value is either right or wrong: take it out of one of them",
        "the slot id \"day\" stands here twice | give each slot of a checkpoint its own id",
        "the slot has no \"expected\" | add it; only a slot of kind abstain has none",
        "an empty value | write the value, or take the line out",
        "\"x\" stands here twice | take one of them out",
        "no slot is called \"nobody\" | name the id of one of the checkpoint's slots",
        "the checkpoint has nothing to grade | add at least one slot",
        "slot \"a\" of an unanswerable checkpoint is not of kind abstain | write \"kind: abstain\", or choose another "
        "mode",
        "the slot \"a\" says that it is not required | take it out of the list, or its \"required: false\" away",
        "only mode open-ended has options and traps | move them to an open-ended checkpoint",
        "\"a\" is the id of two things here | give it an id of its own",
        "the checkpoint \"six\" is empty | write its slots, or take it out",
    };
    assert_int_equal(problems.count, MC_COUNT(expected));
    for (size_t i = 0; i < MC_COUNT(expected); i++) {
        if (!strstr(problems.text[i], expected[i])) {
            fail_msg("problem %zu is \"%s\", not \"%s\"", i, problems.text[i], expected[i]);
        }
    }
    assert_non_null(strstr(problems.text[0], "rubric.yaml:5: .checkpoints.one.slots[0].expected"));
    assert_non_null(strstr(err.text, "13 problems in the rubric; the first: rubric.yaml:5"));
    assert_int_equal(rubric.count, 0);
}

static void wrong_shapes_are_refused(void **state)
{
    (void)state;
    static const char *const documents[] = {
        "[]",
        "other: {}",
        "checkpoints: []",
        "checkpoints: {a: {mode: fancy, slots: [{id: a, match: text, expected: b}]}}",
        "checkpoints: {a: {mode: fact, slots: [{id: a, match: smell, expected: b}]}}",
        "checkpoints: {a: {mode: fact, slots: [{id: a, kind: old, match: text, expected: b}]}}",
        "checkpoints: {a: {mode: fact, slots: [{id: a, match: text, expected: [b]}]}}",
        "checkpoints: {a: {mode: fact, slots: [{id: a, match: text, expected: b, weight: 3}]}}",
        "checkpoints: {a: {mode: fact, slots: {id: a}}}",
        "checkpoints: {a: {mode: fact, slots: [text]}}",
        "checkpoints: {a: {mode: fact, slots: [{match: text, expected: b}]}}",
        "checkpoints: {a: {mode: fact, slots: [{id: a, match: time, expected: 25:00}]}}",
        "checkpoints: {a: {mode: fact, slots: [{id: a, match: yesno, expected: perhaps}]}}",
        "checkpoints: {a: {mode: fact, slots: [{id: a, match: number, expected: lots}]}}",
        "checkpoints: {a: {mode: open-ended, options: [{id: a, kind: abstain}]}}",
    };
    for (size_t i = 0; i < MC_COUNT(documents); i++) {
        MC_AUTORUBRIC struct mc_rubric rubric;
        struct problems problems;
        struct mc_err err;
        if (read_rubric(documents[i], &rubric, &problems, &err) != MC_INPUT || problems.count == 0) {
            fail_msg("accepted: %s", documents[i]);
        }
    }
}

static void readable_values_are_known(void **state)
{
    (void)state;
    static const struct {
        enum mc_match match;
        const char *text;
        int reads;
    } cases[] = {
        {MC_MATCH_DATE, "2026-08-08", 1},
        {MC_MATCH_DATE, "Saturday", 1},
        {MC_MATCH_DATE, "last week of July 2023", 1},
        {MC_MATCH_DATE, "between 26 March and 20 April 2023", 1},
        {MC_MATCH_DATE, "France", 0},
        {MC_MATCH_DATE, "Saturday or Sunday", 0},
        {MC_MATCH_TIME, "8pm", 1},
        {MC_MATCH_TIME, "noon", 1},
        {MC_MATCH_TIME, "half past seven", 1},
        {MC_MATCH_TIME, "soon", 0},
        {MC_MATCH_NUMBER, "$1,200", 1},
        {MC_MATCH_NUMBER, "three dogs", 1},
        {MC_MATCH_NUMBER, "many", 0},
        {MC_MATCH_YESNO, "Likely no; since it went badly", 1},
        {MC_MATCH_YESNO, "it depends", 0},
        {MC_MATCH_ENTITY, "...", 0},
        {MC_MATCH_TEXT, "anything", 1},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        if (mc_rubric_reads(cases[i].match, cases[i].text) != cases[i].reads) {
            fail_msg("%s as %s", cases[i].text, mc_match_name(cases[i].match));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rubric_is_read_as_written),
        cmocka_unit_test(every_problem_is_reported),
        cmocka_unit_test(wrong_shapes_are_refused),
        cmocka_unit_test(readable_values_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
