#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/usage.h"
#include "base/utf8.h"

static void failing_fills_the_error_and_gives_the_code(void **state)
{
    (void)state;
    struct mc_err err;
    memset(&err, 0x55, sizeof err);
    assert_int_equal(mc_fail(&err, MC_INPUT, "no %s", "corpus"), MC_INPUT);
    assert_int_equal(err.code, MC_INPUT);
    assert_int_equal(err.sys, 0);
    assert_int_equal(err.http, 0);
    assert_int_equal(err.place, 0);
    assert_string_equal(err.text, "no corpus");
    assert_string_equal(err.hint, "");
    assert_int_equal(mc_hint(&err, "add %d", 1), MC_INPUT);
    assert_string_equal(err.hint, "add 1");
}

static void errno_chooses_the_code(void **state)
{
    (void)state;
    static const struct {
        int sys;
        enum mc_code code;
        const char *text;
    } cases[] = {{ENOENT, MC_NOT_FOUND, "opening a: No such file or directory"},
                 {EEXIST, MC_EXISTS, "opening a: File exists"},
                 {EACCES, MC_DENIED, "opening a: Permission denied"},
                 {EPERM, MC_DENIED, "opening a: Operation not permitted"},
                 {ETIMEDOUT, MC_TIMEOUT, "opening a: Connection timed out"},
                 {EIO, MC_IO, "opening a: Input/output error"}};
    struct mc_err err;
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        assert_int_equal(mc_fail_errno(&err, cases[i].sys, "opening %s", "a"), cases[i].code);
        assert_int_equal(err.sys, cases[i].sys);
        assert_string_equal(err.text, cases[i].text);
        assert_string_equal(err.hint, "");
    }
    assert_int_equal(mc_fail_errno(&err, ENOSPC, "writing a"), MC_IO);
    assert_string_equal(err.text, "writing a: No space left on device");
    assert_string_equal(err.hint, "free some space on that disk, then run the same command again");
}

/* A cut text ends in "..." after a whole character, wherever the cut falls. */
static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    struct mc_err err;
    for (size_t ascii = 0; ascii < 8; ascii++) {
        struct mc_buf text = MC_BUF_OWN;
        for (size_t i = 0; i < ascii; i++) {
            mc_buf_putc(&text, 'a');
        }
        while (text.len < 2000) {
            mc_buf_puts(&text, "\xf0\x9f\x94\x91");
        }
        mc_fail(&err, MC_INPUT, "%s", mc_buf_text(&text));
        size_t length = strlen(err.text);
        assert_true(length < sizeof err.text);
        assert_true(length > sizeof err.text - 8);
        assert_string_equal(err.text + length - 3, "...");
        assert_int_equal(mc_utf8_valid(err.text, length), length);
        assert_int_equal((length - 3 - ascii) % 4, 0);
        mc_hint(&err, "%s", mc_buf_text(&text));
        assert_string_equal(err.hint + strlen(err.hint) - 3, "...");
        assert_int_equal(mc_utf8_valid(err.hint, strlen(err.hint)), strlen(err.hint));
        mc_wrap(&err, "%s", "outer");
        assert_int_equal(strncmp(err.text, "outer: ", 7), 0);
        assert_string_equal(err.text + strlen(err.text) - 3, "...");
        assert_int_equal(mc_utf8_valid(err.text, strlen(err.text)), strlen(err.text));
        mc_buf_release(&text);
    }
}

static void the_reason_of_a_long_text_is_kept(void **state)
{
    (void)state;
    char path[1200];
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    struct mc_err err;
    assert_int_equal(mc_fail_errno(&err, ENOSPC, "writing %s", path), MC_IO);
    assert_non_null(strstr(err.text, "...: No space left on device"));
}

static void texts_are_always_utf8(void **state)
{
    (void)state;
    struct mc_err err;
    mc_fail(&err, MC_INPUT, "is \"%.4s\"", "abc\xc3\xa9");
    assert_string_equal(err.text, "is \"abc?\"");
    mc_wrap(&err, "a\xff");
    assert_string_equal(err.text, "a?: is \"abc?\"");
    json_t *text = json_string(err.text);
    assert_non_null(text);
    json_decref(text);
}

static void wrapping_puts_the_context_first(void **state)
{
    (void)state;
    struct mc_err err;
    mc_fail(&err, MC_IO, "it broke");
    mc_hint(&err, "mend it");
    assert_int_equal(mc_wrap(&err, "run %d", 3), MC_IO);
    assert_string_equal(err.text, "run 3: it broke");
    assert_string_equal(err.hint, "mend it");
    assert_int_equal(mc_wrap_place(&err, "a.yaml:3: .b"), MC_IO);
    assert_string_equal(err.text, "a.yaml:3: .b: run 3: it broke");
    assert_int_equal(err.place, strlen("a.yaml:3: .b"));
    mc_wrap_place(&err, "");
    assert_int_equal(err.place, strlen("a.yaml:3: .b"));
    mc_wrap(&err, "more");
    assert_int_equal(err.place, 0);
}

static void codes_have_names(void **state)
{
    (void)state;
    assert_string_equal(mc_code_name(MC_OK), "ok");
    assert_string_equal(mc_code_name(MC_INTERNAL), "internal");
    assert_string_equal(mc_code_name(MC_TIMEOUT), "timeout");
    assert_string_equal(mc_code_name(MC_BUDGET), "budget");
    assert_string_equal(mc_code_name((enum mc_code) - 99), "unknown");
    assert_string_equal(mc_code_name((enum mc_code)5), "unknown");
}

static void utf8_is_checked_by_the_book(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
    } cases[] = {{"a", 1},
                 {"\xc2\x80", 2},
                 {"\xe0\xa0\x80", 3},
                 {"\xed\x9f\xbf", 3},
                 {"\xf4\x8f\xbf\xbf", 4},
                 {"\x80", 0},
                 {"\xc1\xbf", 0},
                 {"\xe0\x9f\xbf", 0},
                 {"\xed\xa0\x80", 0},
                 {"\xf0\x8f\xbf\xbf", 0},
                 {"\xf4\x90\x80\x80", 0},
                 {"\xf5\x80\x80\x80", 0},
                 {"\xe2\x82", 0},
                 {"\xe2\x82z", 0},
                 {"\xff", 0}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        assert_int_equal(mc_utf8_char(cases[i].bytes, strlen(cases[i].bytes)), cases[i].length);
    }
    assert_int_equal(mc_utf8_valid("ab\xff", 3), 2);
    assert_int_equal(mc_utf8_valid("", 0), 0);
    char text[] = "a\xff\xc3\xa9\xe2\x82";
    mc_utf8_mend(text);
    assert_string_equal(text, "a?\xc3\xa9??");
    assert_true(mc_utf8_is_control("\x1b", 1));
    assert_true(mc_utf8_is_control("\x7f", 1));
    assert_true(mc_utf8_is_control("\xc2\x9b", 2));
    assert_false(mc_utf8_is_control("\xc2\xa0", 2));
    assert_false(mc_utf8_is_control(" ", 1));
}

static void unknown_counts_are_null_and_never_zero(void **state)
{
    (void)state;
    struct mc_usage usage = {.input = 0, .cached_input = MC_UNKNOWN, .output = 7, .reasoning = MC_UNKNOWN};
    json_t *json = mc_usage_json(&usage);
    char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, "{\"cached_input\":null,\"input\":0,\"output\":7,\"reasoning\":null}");
    free(text);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_fills_the_error_and_gives_the_code),
        cmocka_unit_test(errno_chooses_the_code),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(the_reason_of_a_long_text_is_kept),
        cmocka_unit_test(texts_are_always_utf8),
        cmocka_unit_test(wrapping_puts_the_context_first),
        cmocka_unit_test(codes_have_names),
        cmocka_unit_test(utf8_is_checked_by_the_book),
        cmocka_unit_test(unknown_counts_are_null_and_never_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
