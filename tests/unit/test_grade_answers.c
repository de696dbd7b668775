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
#include "grade/answers.h"

struct seen {
    size_t answers, bad;
    char last[200];
    char problem[400];
    int64_t repetition;
    enum mc_ended ended;
    int stop_at;
};

static int take(void *arg, const struct mc_answer *answer, struct mc_err *err)
{
    struct seen *seen = arg;
    seen->answers++;
    snprintf(seen->last, sizeof seen->last, "%s|%s|%s|%s|%d", answer->life, answer->checkpoint, answer->answer,
             answer->harness, answer->line);
    seen->repetition = answer->repetition;
    seen->ended = answer->ended;
    return seen->stop_at == answer->line ? mc_fail(err, MC_NOT_FOUND, "no such life") : 0;
}

static int take_bad(void *arg, const struct mc_err *problem)
{
    struct seen *seen = arg;
    seen->bad++;
    snprintf(seen->problem, sizeof seen->problem, "%.390s", problem->text);
    return 0;
}

static int read_text(const char *text, size_t length, mc_bad_answer_fn *bad, struct seen *seen, struct mc_err *err)
{
    const char *path = TEST_BINARY_DIR "/answers.jsonl";
    assert_int_equal(mc_fs_write(path, text, length, 0600, err), 0);
    return mc_answers_read(path, mc_within(60000, NULL), take, bad, seen, err);
}

static void answers_are_read(void **state)
{
    (void)state;
    static const char text[] =
        "{\"life\":\"a\",\"checkpoint\":\"c\",\"answer\":\"8pm\"}\r\n"
        "\n"
        "{\"life\":\"b\",\"checkpoint\":\"d\",\"ended\":\"timeout\",\"harness\":\"h\",\"repetition\":3}";
    struct seen seen = {.answers = 0};
    struct mc_err err;
    assert_int_equal(read_text(text, strlen(text), NULL, &seen, &err), 0);
    assert_int_equal(seen.answers, 2);
    assert_string_equal(seen.last, "b|d||h|3");
    assert_int_equal(seen.repetition, 3);
    assert_int_equal(seen.ended, MC_ENDED_TIMEOUT);
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *problem;
    } cases[] = {
        {"{", "answers.jsonl:1"},
        {"[]", "answers.jsonl:1"},
        {"{\"life\":\"a\",\"answer\":\"x\"}", "checkpoint"},
        {"{\"life\":\"a\",\"checkpoint\":\"c\"}", "answer"},
        {"{\"life\":\"a\",\"checkpoint\":\"c\",\"answer\":5}", "answer"},
        {"{\"life\":\"a\",\"checkpoint\":\"c\",\"answer\":\"x\",\"ended\":\"died\"}", "ended"},
        {"{\"life\":\"a\",\"checkpoint\":\"c\",\"answer\":\"x\",\"repetition\":0}", "repetition"},
        {"{\"life\":\"a\",\"checkpoint\":\"c\",\"answer\":\"x\",\"score\":1}", "score"},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct seen seen = {.answers = 0};
        struct mc_err err;
        assert_int_equal(read_text(cases[i].line, strlen(cases[i].line), NULL, &seen, &err), MC_INPUT);
        if (!strstr(err.text, cases[i].problem) || !strstr(err.text, "answers.jsonl:1")) {
            fail_msg("%s: %s", cases[i].line, err.text);
        }
        assert_int_equal(seen.answers, 0);
    }
}

static void reading_goes_on_where_the_caller_says_so(void **state)
{
    (void)state;
    static const char text[] = "nonsense\n{\"life\":\"a\",\"checkpoint\":\"c\",\"answer\":\"8pm\"}\n{}\n";
    struct seen seen = {.answers = 0};
    struct mc_err err;
    assert_int_equal(read_text(text, strlen(text), take_bad, &seen, &err), 0);
    assert_int_equal(seen.answers, 1);
    assert_int_equal(seen.bad, 2);
    assert_non_null(strstr(seen.problem, "answers.jsonl:3"));
    /* The caller's own failure is not a bad line. */
    seen = (struct seen){.stop_at = 2};
    assert_int_equal(read_text(text, strlen(text), take_bad, &seen, &err), MC_NOT_FOUND);
    assert_string_equal(err.text, "no such life");
}

static void a_line_too_long_is_refused_and_passed_over(void **state)
{
    (void)state;
    static const char tail[] = "\n{\"life\":\"a\",\"checkpoint\":\"c\",\"answer\":\"8pm\"}\n";
    size_t length = (size_t)MC_ANSWERS_MAX_LINE + 100000;
    MC_AUTOFREE char *text = mc_alloc(length + sizeof tail, 1);
    memset(text, 'x', length);
    memcpy(text + length, tail, sizeof tail);
    struct seen seen = {.answers = 0};
    struct mc_err err;
    assert_int_equal(read_text(text, length + strlen(tail), NULL, &seen, &err), MC_LIMIT);
    assert_non_null(strstr(err.text, "answers.jsonl:1: the line is longer than 4194304 bytes"));
    assert_int_equal(read_text(text, length + strlen(tail), take_bad, &seen, &err), 0);
    assert_int_equal(seen.answers, 1);
    assert_int_equal(seen.bad, 1);
    assert_string_equal(seen.last, "a|c|8pm||2");
}

static void waiting_ends(void **state)
{
    (void)state;
    struct seen seen = {.answers = 0};
    struct mc_err err;
    assert_int_equal(mc_answers_read("/nowhere/answers.jsonl", mc_within(1000, NULL), take, NULL, &seen, &err),
                     MC_NOT_FOUND);
    struct mc_until past = {.at_ms = mc_monotonic_ms() - 1, .cancel = NULL};
    static const char text[] = "{\"life\":\"a\",\"checkpoint\":\"c\",\"answer\":\"8pm\"}\n";
    assert_int_equal(mc_fs_write(TEST_BINARY_DIR "/late.jsonl", text, strlen(text), 0600, &err), 0);
    assert_int_equal(mc_answers_read(TEST_BINARY_DIR "/late.jsonl", past, take, NULL, &seen, &err), MC_TIMEOUT);
    assert_int_equal(seen.answers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(reading_goes_on_where_the_caller_says_so),
        cmocka_unit_test(a_line_too_long_is_refused_and_passed_over),
        cmocka_unit_test(waiting_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
