#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/redact.h"

/* Every way of cutting a text gives what the whole gives. */
static void expect_same(const struct mc_redactor *redactor, const char *text)
{
    size_t length = strlen(text);
    MC_AUTOBUF struct mc_buf whole = MC_BUF_OWN;
    mc_redact_bytes(redactor, text, length, &whole);
    for (size_t piece = 1; piece <= length; piece++) {
        struct mc_redact_stream stream;
        MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
        mc_redact_stream_init(&stream, redactor);
        for (size_t at = 0; at < length; at += piece) {
            mc_redact_stream_add(&stream, text + at, length - at < piece ? length - at : piece, &out);
        }
        mc_redact_stream_end(&stream, &out);
        assert_string_equal(mc_buf_text(&out), mc_buf_text(&whole));
    }
}

static void pieces_are_redacted_like_the_whole(void **state)
{
    (void)state;
    struct mc_redactor *redactor = mc_redactor_new();
    assert_true(mc_redactor_add(redactor, "A", "secret-one"));
    assert_true(mc_redactor_add(redactor, "B", "secret-one-and-longer"));
    MC_AUTOFREE char *filler = mc_alloc(700, 1);
    memset(filler, '.', 699);
    MC_AUTOFREE char *text = mc_strf("secret-one%ssecret-one-and-longer%sxsk-abcdefghijklmnopqrstuvwxyz%s "
                                     "sk-abcdefghijklmnopqrstuvwxyz%ssecret-on",
                                     filler, filler, filler, filler);
    expect_same(redactor, text);
    expect_same(redactor, "secret-one");
    expect_same(redactor, "s");
    MC_AUTOFREE char *clean = mc_redact_text(redactor, text);
    assert_ptr_equal(strstr(clean, "[secret:A]"), clean);
    assert_non_null(strstr(clean, ".[secret:B]."));
    assert_non_null(strstr(clean, " [secret:key]."));
    assert_non_null(strstr(clean, "xsk-abcdefghijklmnopqrstuvwxyz")); /* within a word it is no key */
    assert_non_null(strstr(clean, "secret-on"));
    mc_redactor_free(redactor);
}

/* A key's shape may be longer than any window. */
static void a_long_key_is_taken_out_whole(void **state)
{
    (void)state;
    struct mc_redactor *redactor = mc_redactor_new();
    MC_AUTOFREE char *key = mc_alloc(2001, 1);
    memset(key, 'k', 2000);
    MC_AUTOFREE char *text = mc_strf("a sk-%s b", key);
    struct mc_redact_stream stream;
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    mc_redact_stream_init(&stream, redactor);
    for (size_t i = 0; text[i]; i++) {
        mc_redact_stream_add(&stream, text + i, 1, &out);
    }
    mc_redact_stream_end(&stream, &out);
    assert_string_equal(mc_buf_text(&out), "a [secret:key] b");
    mc_redactor_free(redactor);
}

static void little_is_held_back(void **state)
{
    (void)state;
    struct mc_redactor *redactor = mc_redactor_new();
    struct mc_redact_stream stream;
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    static char chunk[65536];
    memset(chunk, '.', sizeof chunk);
    mc_redact_stream_init(&stream, redactor);
    for (int i = 0; i < 100; i++) {
        mc_redact_stream_add(&stream, chunk, sizeof chunk, &out);
        assert_true(stream.held.len <= mc_redactor_window(redactor) + stream.before);
    }
    mc_redact_stream_end(&stream, &out);
    assert_int_equal(out.len, 100 * sizeof chunk);
    mc_redactor_free(redactor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_redacted_like_the_whole),
        cmocka_unit_test(a_long_key_is_taken_out_whole),
        cmocka_unit_test(little_is_held_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
