#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/redact.h"

static const char secret[] = "p/a\"ss+wo\\rd=42~zz";

static struct mc_redactor *redactor_of(const char *value)
{
    struct mc_redactor *redactor = mc_redactor_new();
    assert_int_equal(mc_redactor_add(redactor, "KEY", value), 1);
    return redactor;
}

static void check(const char *value, const char *text, const char *expected)
{
    struct mc_redactor *redactor = redactor_of(value);
    char *clean = mc_redact_text(redactor, text);
    assert_string_equal(clean, expected);
    free(clean);
    mc_redactor_free(redactor);
}

static void plain_secrets_are_taken_out(void **state)
{
    (void)state;
    check("hunter22", "the hunter22 and hunter22hunter22.", "the [secret:KEY] and [secret:KEY][secret:KEY].");
    check("hunter22", "hunter2 hunter", "hunter2 hunter");
    check(secret, "a p/a\"ss+wo\\rd=42~zz b", "a [secret:KEY] b");
    check("with space", "x=with+space&y=with%20space", "x=[secret:KEY]&y=[secret:KEY]");
    check("hunter22", "", "");
}

static void json_escapes_are_seen_through(void **state)
{
    (void)state;
    check(secret, "{\"k\":\"p/a\\\"ss+wo\\\\rd=42~zz\"}", "{\"k\":\"[secret:KEY]\"}");
    check(secret, "{\"k\":\"p\\/a\\\"ss+wo\\\\rd=42~zz\"}", "{\"k\":\"[secret:KEY]\"}");
    check(secret, "{\"k\":\"p\\/a\\u0022ss\\u002Bwo\\\\rd\\u003d42~zz\"}", "{\"k\":\"[secret:KEY]\"}");
    /* JSON as text in JSON, as the arguments of a tool's call are. */
    check(secret, "{\"a\":\"{\\\"k\\\":\\\"p/a\\\\\\\"ss+wo\\\\\\\\rd=42~zz\\\"}\"}",
          "{\"a\":\"{\\\"k\\\":\\\"[secret:KEY]\\\"}\"}");
    check("line one\nline two", "\"line one\\nline two\"", "\"[secret:KEY]\"");
    check("line one\nline two", "\"line one\\\\nline two\"", "\"[secret:KEY]\"");
    check("tab\tcr\rbs\bff\f\x01z", "tab\\tcr\\rbs\\bff\\f\\u0001z", "[secret:KEY]");
    check("gr\xc3\xbc\xc3\x9f"
          "e",
          "\"gr\\u00fc\\u00DFe\"", "\"[secret:KEY]\"");
    check("key \xf0\x9f\x94\x91!", "\"key \\ud83d\\udd11!\"", "\"[secret:KEY]\"");
    check("key \xe2\x82\xac!!", "\"key \\u20ac!!\"", "\"[secret:KEY]\"");
    /* Half a pair, or an escape cut short, is not the secret. */
    check("key \xf0\x9f\x94\x91!", "\"key \\ud83d\\u0041!\"", "\"key \\ud83d\\u0041!\"");
    check("gr\xc3\xbc\xc3\x9f"
          "e",
          "gr\\u00f", "gr\\u00f");
}

static void json_stays_valid_where_a_match_begins_or_ends_at_a_backslash(void **state)
{
    (void)state;
    check("n12345", "\"x\\n12345\"", "\"x[secret:KEY]\"");
    check("n12345", "\"x\\\\n12345\"", "\"x[secret:KEY]\"");
    check("abcdef\\", "\"abcdef\\\\\"", "\"[secret:KEY]\"");
    check("abcdef\\", "\"abcdef\\\"\"", "\"[secret:KEY]\\\"\"");
    check("n12345", "\"\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\n12345\"", "\"\\\\\\\\\\\\\\\\\\\\[secret:KEY]\"");
}

static void url_encoding_is_seen_through_in_either_case(void **state)
{
    (void)state;
    check(secret, "?k=p%2Fa%22ss%2Bwo%5Crd%3D42~zz&x=1", "?k=[secret:KEY]&x=1");
    check(secret, "?k=p%2fa%22ss%2bwo%5crd%3d42%7ezz&x=1", "?k=[secret:KEY]&x=1");
    check(secret, "?k=p/a%22ss+wo%5crd=42~zz&x=1", "?k=[secret:KEY]&x=1"); /* Python's quote leaves '/' */
    check("100%25sure", "100%25sure 100%2525sure", "[secret:KEY] [secret:KEY]");
    check("hunter22", "hunter2%3", "hunter2%3");
}

/* RFC 4648 by the book, so that nothing is proved by the code under test. */
static char *base64(const char *text, size_t length, int url)
{
    const char *alphabet = url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                               : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct mc_buf out = MC_BUF_OWN;
    for (size_t i = 0; i < length; i += 3) {
        unsigned group = 0;
        for (size_t j = 0; j < 3; j++) {
            group = group << 8 | (i + j < length ? (unsigned char)text[i + j] : 0U);
        }
        for (size_t j = 0; j < 4; j++) {
            mc_buf_putc(&out, i + j > length ? '=' : alphabet[group >> (18 - 6 * j) & 63U]);
        }
    }
    return mc_buf_take(&out);
}

static void base64_is_found_at_every_alignment_in_both_alphabets(void **state)
{
    (void)state;
    static const char *const before[] = {"", "u", "us", "user:", "long user name:"};
    struct mc_redactor *redactor = redactor_of("s3cr\xfft?\xfe>value");
    for (size_t i = 0; i < MC_COUNT(before); i++) {
        for (int url = 0; url < 2; url++) {
            MC_AUTOFREE char *whole = mc_strf("%ss3cr\xfft?\xfe>value and more", before[i]);
            MC_AUTOFREE char *encoded = base64(whole, strlen(whole), url);
            MC_AUTOFREE char *text = mc_strf("Authorization: Basic %s", encoded);
            MC_AUTOFREE char *clean = mc_redact_text(redactor, text);
            assert_non_null(strstr(clean, "[secret:KEY]"));
            /* What is left cannot hold more than the borders of the secret. */
            assert_true(strlen(clean) - strlen("[secret:KEY]") <=
                        strlen(text) - (strlen("s3cr.t?.>value") * 4 / 3 - 2));
        }
    }
    /* Base64 may itself be in a URL or in JSON of an encoder that escapes '/'. */
    MC_AUTOFREE char *clean = mc_redact_text(redactor, "czNjcv90P/4\\u002bdmFsdWU= czNjcv90P%2F4%2BdmFsdWU=");
    assert_string_equal(clean, "[secret:KEY]U= [secret:KEY]U=");
    mc_redactor_free(redactor);
}

static void shapes_of_keys_are_taken_out(void **state)
{
    (void)state;
    struct mc_redactor *redactor = mc_redactor_new();
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"key sk-abcdefghij0123456789ABCD.", "key [secret:key]."},
        {"sk-proj-abcdefghij_0123456789", "[secret:key]"},
        {"AKIAIOSFODNN7EXAMPLE", "[secret:key]"},
        {"ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[secret:key]"},
        {"sk-short", "sk-short"},
        {"a task-abcdefghij0123456789ABCD", "a task-abcdefghij0123456789ABCD"},
        {"{\"t\":\"one\\nsk-abcdefghij0123456789ABCD\"}", "{\"t\":\"one\\n[secret:key]\"}"},
        {"x%3Dsk-abcdefghij0123456789ABCD", "x%3D[secret:key]"},
        {"\\u0022sk-abcdefghij0123456789ABCD\\u0022", "\\u0022[secret:key]\\u0022"},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        MC_AUTOFREE char *clean = mc_redact_text(redactor, cases[i].text);
        assert_string_equal(clean, cases[i].expected);
    }
    mc_redactor_free(redactor);
}

static void the_longest_of_two_secrets_wins(void **state)
{
    (void)state;
    struct mc_redactor *redactor = mc_redactor_new();
    assert_int_equal(mc_redactor_add(redactor, "SHORT", "abcdef"), 1);
    assert_int_equal(mc_redactor_add(redactor, "LONG", "abcdefghi"), 1);
    MC_AUTOFREE char *clean = mc_redact_text(redactor, "abcdefghi abcdefg");
    assert_string_equal(clean, "[secret:LONG] [secret:SHORT]g");
    mc_redactor_free(redactor);
}

static void short_values_are_refused(void **state)
{
    (void)state;
    struct mc_redactor *redactor = mc_redactor_new();
    assert_int_equal(mc_redactor_add(redactor, "KEY", "12345"), 0);
    assert_int_equal(mc_redactor_add(redactor, "KEY", ""), 0);
    MC_AUTOFREE char *clean = mc_redact_text(redactor, "12345");
    assert_string_equal(clean, "12345");
    mc_redactor_free(redactor);
    mc_redactor_free(NULL);
}

/* A linear congruential generator: the same on every host (Knuth, MMIX). */
static uint64_t seed;
static unsigned below(unsigned limit)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(seed >> 33) % limit;
}

static char *random_text(size_t least, size_t most, const char *alphabet)
{
    size_t length = least + below((unsigned)(most - least + 1));
    char *text = mc_alloc(length + 1, 1);
    for (size_t i = 0; i < length; i++) {
        text[i] = alphabet[below((unsigned)strlen(alphabet))];
    }
    return text;
}

static char *percent(const char *text, int upper)
{
    struct mc_buf out = MC_BUF_OWN;
    for (const char *p = text; *p; p++) {
        if (isalnum((unsigned char)*p)) {
            mc_buf_putc(&out, *p);
        } else {
            mc_buf_putf(&out, upper ? "%%%02X" : "%%%02x", (unsigned char)*p);
        }
    }
    return mc_buf_take(&out);
}

static char *in_json(const char *before, const char *value, const char *after, size_t flags)
{
    json_t *object = json_pack("{s:o, s:i}", "text", json_pack("s++", before, value, after), "n", 1);
    assert_non_null(object);
    char *text = json_dumps(object, JSON_COMPACT | flags);
    json_decref(object);
    return text;
}

static int says_key(const char *clean)
{
    return strstr(clean, "[secret:KEY]") != NULL;
}

static void random_secrets_never_pass_and_json_stays_valid(void **state)
{
    (void)state;
    static const char marks[] = "abcnrtu0123\"\\/%+-_=~ \n\t&<{}:,";
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=_-.%nrtu\\";
    static const size_t ways[] = {0, JSON_ESCAPE_SLASH, JSON_ENSURE_ASCII};
    seed = 20261201;
    for (int round = 0; round < 3000; round++) {
        MC_AUTOFREE char *value = random_text(6, 40, letters);
        MC_AUTOFREE char *before = random_text(0, 20, marks);
        MC_AUTOFREE char *after = random_text(0, 20, marks);
        struct mc_redactor *redactor = redactor_of(value);
        /* Plain, and percent-encoded in both cases. A neighbour that lengthens a run of backslashes hides nothing. */
        MC_AUTOFREE char *plain = mc_strf("%s.%s.%s", before, value, after);
        MC_AUTOFREE char *clean = mc_redact_text(redactor, plain);
        assert_true(says_key(clean));
        assert_null(strstr(clean, value));
        for (int upper = 0; upper < 2; upper++) {
            MC_AUTOFREE char *encoded = percent(value, upper);
            MC_AUTOFREE char *url = mc_strf("%s&%s&%s", before, encoded, after);
            MC_AUTOFREE char *clean_url = mc_redact_text(redactor, url);
            assert_true(says_key(clean_url));
        }
        /* JSON, and JSON in JSON. */
        for (size_t w = 0; w < MC_COUNT(ways); w++) {
            MC_AUTOFREE char *json = in_json(before, value, after, ways[w]);
            MC_AUTOFREE char *deep = in_json("", json, "", 0);
            const char *both[] = {json, deep};
            for (size_t d = 0; d < 2; d++) {
                MC_AUTOFREE char *clean_json = mc_redact_text(redactor, both[d]);
                assert_true(says_key(clean_json));
                json_t *parsed = json_loads(clean_json, 0, NULL);
                if (!parsed) {
                    print_error("secret %s\nin %s\nout %s\n", value, both[d], clean_json);
                }
                assert_non_null(parsed);
                json_decref(parsed);
            }
        }
        mc_redactor_free(redactor);
    }
}

static void json_without_the_secret_stays_valid_too(void **state)
{
    (void)state;
    static const char letters[] = "nrtu05\\ab";
    seed = 7;
    for (int round = 0; round < 20000; round++) {
        MC_AUTOFREE char *value = random_text(6, 7, "nrt\\ab");
        MC_AUTOFREE char *text = random_text(0, 60, letters);
        struct mc_redactor *redactor = redactor_of(value);
        MC_AUTOFREE char *json = in_json(text, "\n\r\t", text, 0);
        MC_AUTOFREE char *clean = mc_redact_text(redactor, json);
        json_t *parsed = json_loads(clean, 0, NULL);
        if (!parsed) {
            print_error("secret %s\nin %s\nout %s\n", value, json, clean);
        }
        assert_non_null(parsed);
        json_decref(parsed);
        mc_redactor_free(redactor);
    }
}

static void pieces_give_the_same_as_the_whole(void **state)
{
    (void)state;
    static const char noise[] = "ab\\\\\\\"%/ \nsk-n";
    seed = 99;
    for (int round = 0; round < 400; round++) {
        MC_AUTOFREE char *value = random_text(6, 12, "ab\\n%/");
        struct mc_redactor *redactor = redactor_of(value);
        struct mc_buf text = MC_BUF_OWN;
        for (int part = 0; part < 8; part++) {
            MC_AUTOFREE char *around = random_text(0, 300, noise);
            mc_buf_puts(&text, around);
            MC_AUTOFREE char *key = random_text(15, 400, "abcdefgh0123456789");
            mc_buf_puts(&text, part % 3 == 0 ? " sk-" : part % 3 == 1 ? "\\nsk-" : value);
            mc_buf_puts(&text, part % 3 == 2 ? "" : key);
        }
        struct mc_buf whole = MC_BUF_OWN;
        mc_redact_bytes(redactor, text.data, text.len, &whole);
        struct mc_redact_stream stream;
        mc_redact_stream_init(&stream, redactor);
        struct mc_buf pieces = MC_BUF_OWN;
        for (size_t at = 0; at < text.len;) {
            size_t length = 1 + below(200);
            length = length < text.len - at ? length : text.len - at;
            mc_redact_stream_add(&stream, text.data + at, length, &pieces);
            assert_true(stream.held.len <= mc_redactor_window(redactor) + 600);
            at += length;
        }
        mc_redact_stream_end(&stream, &pieces);
        assert_string_equal(mc_buf_text(&pieces), mc_buf_text(&whole));
        mc_buf_release(&text);
        mc_buf_release(&whole);
        mc_buf_release(&pieces);
        mc_redactor_free(redactor);
    }
}

static void a_key_without_end_is_not_held_back_for_ever(void **state)
{
    (void)state;
    struct mc_redactor *redactor = mc_redactor_new();
    struct mc_redact_stream stream;
    mc_redact_stream_init(&stream, redactor);
    struct mc_buf out = MC_BUF_OWN;
    mc_redact_stream_add(&stream, "sk-", 3, &out);
    for (int i = 0; i < 200; i++) {
        char piece[1000];
        memset(piece, 'a', sizeof piece);
        mc_redact_stream_add(&stream, piece, sizeof piece, &out);
        assert_true(stream.held.len < 70000);
    }
    mc_redact_stream_end(&stream, &out);
    assert_int_equal(strncmp(mc_buf_text(&out), "[secret:key]", 12), 0);
    mc_buf_release(&out);
    mc_redactor_free(redactor);
}

static void wiping_overwrites(void **state)
{
    (void)state;
    char memory[] = "secret";
    mc_wipe(memory, sizeof memory);
    for (size_t i = 0; i < sizeof memory; i++) {
        assert_int_equal(memory[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_secrets_are_taken_out),
        cmocka_unit_test(json_escapes_are_seen_through),
        cmocka_unit_test(json_stays_valid_where_a_match_begins_or_ends_at_a_backslash),
        cmocka_unit_test(url_encoding_is_seen_through_in_either_case),
        cmocka_unit_test(base64_is_found_at_every_alignment_in_both_alphabets),
        cmocka_unit_test(shapes_of_keys_are_taken_out),
        cmocka_unit_test(the_longest_of_two_secrets_wins),
        cmocka_unit_test(short_values_are_refused),
        cmocka_unit_test(random_secrets_never_pass_and_json_stays_valid),
        cmocka_unit_test(json_without_the_secret_stays_valid_too),
        cmocka_unit_test(pieces_give_the_same_as_the_whole),
        cmocka_unit_test(a_key_without_end_is_not_held_back_for_ever),
        cmocka_unit_test(wiping_overwrites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
