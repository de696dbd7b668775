#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

/* Parses `text` as line 7 of "f.jsonl". */
static json_t *parse(const char *text, struct mc_err *err)
{
    struct mc_source source = {.name = "f.jsonl", .line = 7, .marks = NULL};
    return mc_json_parse(text, strlen(text), &source, err);
}

static void broken_json_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"{\"a\":1,\"a\":2}", "f.jsonl:7: not valid JSON at column"},
        {"{\"a\":NaN}", "f.jsonl:7: not valid JSON at column"},
        {"{\"a\":\"\xff\"}", "f.jsonl:7: not valid JSON at column"},
        {"{\"a\":\"\\u0000\"}", "f.jsonl:7: not valid JSON at column"},
        {"{\"a\":99999999999999999999}", "too big integer"},
        {"{\"a\":1e999}", "real number overflow"},
        {"{} {}", "end of file expected"},
        {"", "f.jsonl:7: not valid JSON at column"},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err = {.code = MC_OK};
        assert_null(parse(cases[i].text, &err));
        assert_int_equal(err.code, MC_INPUT);
        assert_non_null(strstr(err.text, cases[i].says));
        assert_int_equal(err.place, strlen("f.jsonl:7"));
    }
}

static void deep_nesting_ends_in_an_error(void **state)
{
    (void)state;
    enum { DEPTH = 200000 };
    char *text = mc_alloc(DEPTH + 1, 1);
    memset(text, '[', DEPTH);
    struct mc_err err;
    assert_null(parse(text, &err));
    assert_non_null(strstr(err.text, "maximum parsing depth reached"));
    free(text);
}

static void big_numbers_within_64_bits_are_kept(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOJSON json_t *value = parse("{\"n\":9007199254740993,\"m\":-9223372036854775808}", &err);
    assert_non_null(value);
    assert_true(json_integer_value(json_object_get(value, "n")) == INT64_C(9007199254740993));
    assert_true(json_integer_value(json_object_get(value, "m")) == INT64_MIN);
}

static void a_path_names_every_step(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOJSON json_t *value = parse("{\"checkpoints\":{\"poker-move/where\":{\"slots\":[{\"match\":\"x\"}]}}}", &err);
    struct mc_source source = {.name = "rubric", .line = 0, .marks = NULL};
    struct mc_view root = mc_view_root(&source, value);
    struct mc_view a = mc_view_member(&root, "checkpoints");
    struct mc_view b = mc_view_member(&a, "poker-move/where");
    struct mc_view c = mc_view_member(&b, "slots");
    struct mc_view d = mc_view_item(&c, 0);
    struct mc_view e = mc_view_member(&d, "match");
    MC_AUTOFREE char *path = mc_view_path(&e);
    MC_AUTOFREE char *place = mc_view_place(&e);
    MC_AUTOFREE char *top = mc_view_path(&root);
    assert_string_equal(path, ".checkpoints.\"poker-move/where\".slots[0].match");
    assert_string_equal(place, "rubric: .checkpoints.\"poker-move/where\".slots[0].match");
    assert_string_equal(top, ".");
}

/* Each reader on a value of a wrong kind, and what it says. */
static void readers_say_what_is_wrong(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOJSON json_t *value =
        parse("{\"s\":5,\"i\":\"x\",\"r\":true,\"b\":0,\"o\":[],\"l\":{},\"t\":\"2026-08-07T09:00:00\","
              "\"c\":\"red\",\"big\":11,\"ctl\":\"a\\nb\",\"empty\":\"\",\"null\":null,\"f\":1.5}",
              &err);
    assert_non_null(value);
    struct mc_source source = {.name = "f", .line = 3, .marks = NULL};
    struct mc_view root = mc_view_root(&source, value);
    static const char *const colours[] = {"green", "blue", NULL};
    const char *text = NULL;
    int64_t number = 0;
    double real = 0;
    int flag = 0;
    struct mc_time time;
    struct mc_view view;
    assert_int_equal(mc_read_string(&root, "s", MC_REQUIRED, &text, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .s: must be text, is a whole number");
    assert_int_equal(mc_read_int(&root, "i", MC_REQUIRED, 0, 9, &number, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .i: must be a whole number, is text");
    assert_int_equal(mc_read_int(&root, "f", MC_REQUIRED, 0, 9, &number, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .f: must be a whole number, is a number");
    assert_int_equal(mc_read_int(&root, "big", MC_REQUIRED, 0, 10, &number, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .big: must be 0 to 10, is 11");
    assert_int_equal(mc_read_number(&root, "r", MC_REQUIRED, &real, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .r: must be a number, is true or false");
    assert_int_equal(mc_read_bool(&root, "b", MC_REQUIRED, &flag, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .b: must be true or false, is a whole number");
    assert_int_equal(mc_read_object(&root, "o", MC_REQUIRED, &view, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .o: must be an object, is a list");
    assert_int_equal(mc_read_array(&root, "l", MC_REQUIRED, &view, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .l: must be a list, is an object");
    assert_int_equal(mc_read_time(&root, "t", MC_REQUIRED, &time, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .t: \"2026-08-07T09:00:00\" has no UTC offset");
    assert_string_equal(err.hint, "write the offset, as in 2026-08-07T09:00:00-04:00");
    assert_int_equal(mc_read_choice(&root, "c", MC_REQUIRED, colours, &flag, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .c: must be one of green, blue, is \"red\"");
    assert_int_equal(mc_read_id(&root, "ctl", MC_REQUIRED, &text, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .ctl: must not hold control characters");
    assert_int_equal(mc_read_id(&root, "empty", MC_REQUIRED, &text, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .empty: must have 1 to 200 characters, has 0");
    assert_int_equal(mc_read_string(&root, "gone", MC_REQUIRED, &text, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .: \"gone\" is missing");
    assert_int_equal(mc_read_string(&root, "null", MC_REQUIRED, &text, &err), MC_INPUT);
    assert_int_equal(mc_read_string(&root, "gone", MC_OPTIONAL, &text, &err), 0);
    assert_null(text);
}

static void unknown_keys_get_a_suggestion(void **state)
{
    (void)state;
    static const char *const keys[] = {"deadline_s", "question", NULL};
    struct mc_source source = {.name = "f", .line = 3, .marks = NULL};
    struct mc_err err;
    MC_AUTOJSON json_t *near = parse("{\"question\":1,\"dedline_s\":2}", &err);
    MC_AUTOJSON json_t *far = parse("{\"colour\":1}", &err);
    struct mc_view view = mc_view_root(&source, near);
    assert_int_equal(mc_only_keys(&view, keys, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .dedline_s: unknown key");
    assert_string_equal(err.hint, "did you mean \"deadline_s\"?");
    view = mc_view_root(&source, far);
    assert_int_equal(mc_only_keys(&view, keys, &err), MC_INPUT);
    assert_string_equal(err.text, "f:3: .colour: unknown key");
    assert_string_equal(err.hint, "");
}

static void the_same_value_gives_the_same_bytes(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOJSON json_t *a = parse("{\"b\":[1,2],\"a\":\"é\"}", &err);
    MC_AUTOJSON json_t *b = parse(" { \"a\" : \"\\u00e9\" , \"b\" : [ 1, 2 ] } ", &err);
    MC_AUTOFREE char *left = mc_json_text(a);
    MC_AUTOFREE char *right = mc_json_text(b);
    assert_string_equal(left, right);
    assert_string_equal(left, "{\"a\":\"é\",\"b\":[1,2]}");
}

static void wrapping_takes_the_place_away(void **state)
{
    (void)state;
    struct mc_err err;
    assert_null(parse("{", &err));
    assert_int_equal(err.place, strlen("f.jsonl:7"));
    mc_wrap(&err, "loading");
    assert_int_equal(err.place, 0);
    assert_int_equal(strncmp(err.text, "loading: f.jsonl:7: ", 20), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_json_is_refused_with_its_place),
        cmocka_unit_test(deep_nesting_ends_in_an_error),
        cmocka_unit_test(big_numbers_within_64_bits_are_kept),
        cmocka_unit_test(a_path_names_every_step),
        cmocka_unit_test(readers_say_what_is_wrong),
        cmocka_unit_test(unknown_keys_get_a_suggestion),
        cmocka_unit_test(the_same_value_gives_the_same_bytes),
        cmocka_unit_test(wrapping_takes_the_place_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
