#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/until.h"
#include "base/yaml.h"
#include "grade/verdict.h"

static const char rubric_text[] =
    "checkpoints:\n"
    "  plan:\n"
    "    mode: complete-plan\n"
    "    required: [loc, day, time]\n"
    "    slots:\n"
    "      - {id: loc, match: entity, expected: \"Jordan's\", forbidden: [\"Sam's\"], supported_by: [gm-move]}\n"
    "      - {id: day, match: date, expected: 2026-08-08}\n"
    "      - {id: time, match: time, expected: 8pm}\n"
    "      - {id: bring, match: entity, expected: chips, forbidden: [ice]}\n"
    "  none:\n"
    "    mode: unanswerable\n"
    "    slots: [{id: who, kind: abstain, match: entity, forbidden: [Marco]}]\n"
    "  fun:\n"
    "    mode: open-ended\n"
    "    options:\n"
    "      - {id: fair, match: entity, expected: street fair}\n"
    "      - {id: film, match: entity, expected: outdoor movie}\n"
    "    traps:\n"
    "      - {id: gig, match: entity, expected: jazz night}\n"
    "  mixed:\n"
    "    mode: fact\n"
    "    slots:\n"
    "      - {id: loc, match: entity, expected: \"Jordan's\"}\n"
    "      - {id: end, kind: abstain, match: time}\n";

struct fixture {
    struct mc_rubric rubric;
    struct mc_tz *zone;
    struct mc_grade_context context;
};

static int set_up(void **state)
{
    struct fixture *f = mc_alloc(1, sizeof *f);
    struct mc_err err;
    MC_AUTODOC struct mc_doc doc;
    if (mc_yaml_parse(rubric_text, strlen(rubric_text), "rubric.yaml", &doc, &err) != 0) {
        fail_msg("%s", err.text);
    }
    struct mc_view view = mc_doc_view(&doc);
    if (mc_rubric_read(&view, NULL, NULL, &f->rubric, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(mc_tz_load("America/New_York", &f->zone, &err), 0);
    f->context.zone = f->zone;
    assert_int_equal(mc_time_parse("2026-08-05T09:00:00-04:00", &f->context.asked_at, &err), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    mc_rubric_release(&f->rubric);
    mc_tz_free(f->zone);
    free(f);
    return 0;
}

static void grade(const struct fixture *f, const char *checkpoint, const char *answer, enum mc_ended ended,
                  struct mc_answer_grade *out)
{
    struct mc_err err;
    const struct mc_rubric_checkpoint *c = mc_rubric_find(&f->rubric, checkpoint);
    assert_non_null(c);
    assert_int_equal(mc_grade_answer(c, &f->context, answer, ended, out, &err), 0);
}

static void a_plan_is_complete_with_all_required(void **state)
{
    static const struct {
        const char *answer;
        int complete;
    } cases[] = {
        {"Saturday at 8pm at Jordan's.", 1},
        {"Saturday at 8pm at Jordan's. Bring chips.", 1},
        {"Saturday at 8pm at Jordan's. Bring ice.", 0},
        {"Saturday at Jordan's.", 0},
        {"Saturday at 8pm at Sam's.", 0},
        {"", 0},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        MC_AUTOGRADE struct mc_answer_grade g;
        grade(*state, "plan", cases[i].answer, MC_ENDED_COMPLETED, &g);
        if (g.complete != cases[i].complete) {
            fail_msg("\"%s\" is %scomplete", cases[i].answer, g.complete ? "" : "not ");
        }
    }
}

static void a_verdict_shows_what_it_rests_on(void **state)
{
    MC_AUTOGRADE struct mc_answer_grade g;
    grade(*state, "plan", "Poker is at Jordan's, not Sam's.", MC_ENDED_COMPLETED, &g);
    const struct mc_slot_grade *loc = &g.slots.items[0];
    assert_int_equal(loc->verdict, MC_VERDICT_CORRECT);
    assert_string_equal(loc->rule, "asserted");
    assert_string_equal(loc->source, "matcher");
    assert_int_equal(loc->quote_count, 1);
    assert_int_equal(loc->quotes[0].start, 12);
    assert_int_equal(loc->quotes[0].end, 20);
    assert_string_equal(loc->quotes[0].text, "Jordan's");
    assert_string_equal(loc->explanation,
                        "\"Jordan's\" (bytes 12-20, asserted) is the expected \"Jordan's\": the answer asserts it");
    assert_int_equal(loc->evidence.count, 1);
    assert_string_equal(loc->evidence.items[0], "gm-move");
    assert_string_equal(g.slots.items[2].rule, "not-said");
    assert_int_equal(g.slots.items[2].verdict, MC_VERDICT_MISSED);
}

static void how_a_trial_ended_is_kept_apart(void **state)
{
    for (int e = MC_ENDED_FAILED; e <= MC_ENDED_CANCELLED; e++) {
        MC_AUTOGRADE struct mc_answer_grade g;
        grade(*state, "plan", "Saturday at 8pm at Jordan's.", (enum mc_ended)e, &g);
        int counts = e <= MC_ENDED_PROTOCOL_ERROR;
        assert_int_equal(mc_ended_counts((enum mc_ended)e), counts);
        assert_int_equal(g.slots.items[0].verdict, counts ? MC_VERDICT_MISSED : MC_VERDICT_UNGRADED);
        assert_string_equal(g.slots.items[0].rule, mc_ended_name((enum mc_ended)e));
        assert_string_equal(g.slots.items[0].source, "runner");
        assert_int_equal(g.complete, 0);
        assert_int_equal(g.abstained, 0);
        assert_int_equal(mc_answer_grade_open(&g), !counts);
    }
    MC_AUTOGRADE struct mc_answer_grade none;
    grade(*state, "none", NULL, MC_ENDED_TIMEOUT, &none);
    assert_int_equal(none.slots.items[0].verdict, MC_VERDICT_MISSED);
    assert_int_equal(none.complete, 0);
}

static void abstaining_is_right_only_where_nothing_tells(void **state)
{
    MC_AUTOGRADE struct mc_answer_grade right;
    grade(*state, "none", "I don't know who it was.", MC_ENDED_COMPLETED, &right);
    assert_int_equal(right.complete, 1);
    assert_int_equal(right.abstained, 1);
    MC_AUTOGRADE struct mc_answer_grade guess;
    grade(*state, "none", "I don't know, probably Marco.", MC_ENDED_COMPLETED, &guess);
    assert_int_equal(guess.complete, 0);
    assert_int_equal(guess.abstained, 0);
    MC_AUTOGRADE struct mc_answer_grade refused;
    grade(*state, "plan", "I don't know.", MC_ENDED_COMPLETED, &refused);
    assert_int_equal(refused.complete, 0);
    assert_int_equal(refused.abstained, 1);
    assert_string_equal(refused.slots.items[0].rule, "refused");
    MC_AUTOGRADE struct mc_answer_grade partly;
    grade(*state, "plan", "It's at Jordan's on Saturday, but I don't know the time.", MC_ENDED_COMPLETED, &partly);
    assert_int_equal(partly.abstained, 0);
    assert_int_equal(partly.slots.items[0].verdict, MC_VERDICT_CORRECT);
    assert_int_equal(partly.slots.items[2].verdict, MC_VERDICT_MISSED);
    MC_AUTOGRADE struct mc_answer_grade mixed;
    grade(*state, "mixed", "It's at Jordan's. I couldn't find when it ends.", MC_ENDED_COMPLETED, &mixed);
    assert_int_equal(mixed.complete, 1);
    assert_int_equal(mixed.abstained, 0);
}

static void options_and_traps_are_counted(void **state)
{
    static const struct {
        const char *answer;
        size_t found;
        int trapped, complete;
    } cases[] = {
        {"How about the street fair, or maybe the outdoor movie?", 2, 0, 1},
        {"You could go to the street fair.", 1, 0, 1},
        {"There's a street fair and jazz night.", 1, 1, 0},
        {"There's a street fair; jazz night was cancelled.", 1, 0, 1},
        {"The street fair! The street fair! The street fair!", 1, 0, 1},
        {"The street fair is sold out.", 0, 0, 0},
        {"Nothing I know of.", 0, 0, 0},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        MC_AUTOGRADE struct mc_answer_grade g;
        grade(*state, "fun", cases[i].answer, MC_ENDED_COMPLETED, &g);
        int trapped = g.traps.items[0].verdict == MC_VERDICT_MISREPRESENTED;
        if (g.options_found != cases[i].found || trapped != cases[i].trapped || g.complete != cases[i].complete) {
            fail_msg("\"%s\": %zu found, trapped %d, complete %d", cases[i].answer, g.options_found, trapped,
                     g.complete);
        }
        assert_int_equal(g.options_total, 2);
    }
}

static void a_thing_listed_twice_is_a_duplicate(void **state)
{
    MC_AUTOGRADE struct mc_answer_grade twice;
    grade(*state, "fun", "- street fair\n- outdoor movie\n- the Street Fair downtown", MC_ENDED_COMPLETED, &twice);
    assert_int_equal(twice.options.items[0].faults, MC_FAULT_DUPLICATE);
    assert_int_equal(twice.options.items[1].faults, 0);
    MC_AUTOGRADE struct mc_answer_grade once;
    grade(*state, "fun", "- street fair (the street fair is downtown)\n- outdoor movie", MC_ENDED_COMPLETED, &once);
    assert_int_equal(once.options.items[0].faults, 0);
}

static void the_same_answer_gives_the_same_bytes(void **state)
{
    static const char answer[] = "- Jordan's, S\xc3\xa1turday \xe2\x80\x9c"
                                 "8pm\xe2\x80\x9d\n- not Sam's";
    char *texts[2];
    for (int i = 0; i < 2; i++) {
        MC_AUTOGRADE struct mc_answer_grade g;
        grade(*state, "plan", answer, MC_ENDED_COMPLETED, &g);
        MC_AUTOJSON json_t *json = mc_answer_grade_json(&g);
        assert_non_null(json);
        texts[i] = mc_json_text(json);
        assert_string_equal(json_string_value(json_object_get(json, "mode")), "complete-plan");
        assert_string_equal(json_string_value(json_object_get(json, "ended")), "completed");
        assert_true(json_is_true(json_object_get(json, "complete")));
        json_t *slot = json_array_get(json_object_get(json, "slots"), 0);
        assert_string_equal(json_string_value(json_object_get(slot, "verdict")), "correct");
        assert_int_equal(
            json_integer_value(json_object_get(json_array_get(json_object_get(slot, "quotes"), 0), "start")), 2);
    }
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

static void bytes_that_are_no_text_are_graded_all_the_same(void **state)
{
    MC_AUTOGRADE struct mc_answer_grade g;
    grade(*state, "plan", "\xff\xfe Jordan's \xc3\x28 8pm \xe2\x82", MC_ENDED_COMPLETED, &g);
    assert_int_equal(g.slots.items[0].verdict, MC_VERDICT_CORRECT);
    MC_AUTOJSON json_t *json = mc_answer_grade_json(&g);
    assert_non_null(json);
}

static void an_answer_too_long_is_refused(void **state)
{
    struct fixture *f = *state;
    MC_AUTOFREE char *answer = mc_alloc((size_t)MC_ANSWER_MAX + 2, 1);
    memset(answer, 'a', (size_t)MC_ANSWER_MAX + 1);
    struct mc_answer_grade g;
    struct mc_err err;
    const struct mc_rubric_checkpoint *c = mc_rubric_find(&f->rubric, "plan");
    assert_int_equal(mc_grade_answer(c, &f->context, answer, MC_ENDED_COMPLETED, &g, &err), MC_LIMIT);
    assert_string_equal(err.text, "the answer to plan is 1048577 bytes long");
    assert_string_equal(err.hint, "answers may have up to 1048576 bytes");
}

/* The same words over and over: time grows with length, not with its square. */
static void long_answers_are_graded_in_bounded_time(void **state)
{
    static const char *const patterns[] = {
        "yes. actually no. ", "Saturday, ", "Jordan's or Sam's ", "not ", "8 to ", "(", "- chips\n"};
    enum { LENGTH = 100000 };
    MC_AUTOFREE char *answer = mc_alloc(LENGTH + 32, 1);
    for (size_t i = 0; i < MC_COUNT(patterns); i++) {
        size_t at = 0;
        while (at < LENGTH) {
            at += (size_t)sprintf(answer + at, "%s", patterns[i]);
        }
        int64_t before = mc_monotonic_ms();
        MC_AUTOGRADE struct mc_answer_grade g;
        grade(*state, "plan", answer, MC_ENDED_COMPLETED, &g);
        assert_true(mc_monotonic_ms() - before < 20000);
    }
}

static void a_verdict_settled_later_counts(void **state)
{
    MC_AUTOGRADE struct mc_answer_grade g;
    grade(*state, "plan", "Saturday at Jordan's", MC_ENDED_COMPLETED, &g);
    assert_int_equal(g.complete, 0);
    mc_answer_grade_settle(&g, &g.slots.items[2], MC_VERDICT_CORRECT, "review", "review", "it was in the picture");
    assert_int_equal(g.complete, 1);
    assert_string_equal(g.slots.items[2].explanation, "it was in the picture");
    mc_answer_grade_settle(&g, &g.slots.items[2], MC_VERDICT_UNGRADED, "no-majority", "judge", "timed out");
    assert_int_equal(g.complete, 0);
    assert_int_equal(mc_answer_grade_open(&g), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_complete_with_all_required),
        cmocka_unit_test(a_verdict_shows_what_it_rests_on),
        cmocka_unit_test(how_a_trial_ended_is_kept_apart),
        cmocka_unit_test(abstaining_is_right_only_where_nothing_tells),
        cmocka_unit_test(options_and_traps_are_counted),
        cmocka_unit_test(a_thing_listed_twice_is_a_duplicate),
        cmocka_unit_test(the_same_answer_gives_the_same_bytes),
        cmocka_unit_test(bytes_that_are_no_text_are_graded_all_the_same),
        cmocka_unit_test(an_answer_too_long_is_refused),
        cmocka_unit_test(long_answers_are_graded_in_bounded_time),
        cmocka_unit_test(a_verdict_settled_later_counts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
