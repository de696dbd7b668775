#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/yaml.h"

static int parse(const char *text, struct mc_doc *doc, struct mc_err *err)
{
    return mc_yaml_parse(text, strlen(text), "f.yaml", doc, err);
}

static void what_a_manifest_has_no_use_for_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"a: 1\nb: &x 2\n", "f.yaml:2: anchors and tags are not allowed"},
        {"a: 1\nb: *x\n", "f.yaml:2: aliases are not allowed"},
        {"a: !!str 1\n", "f.yaml:1: anchors and tags are not allowed"},
        {"&k a: 1\n", "f.yaml:1: anchors and tags are not allowed"},
        {"a: &l [1, 2]\n", "f.yaml:1: anchors and tags are not allowed"},
        {"x:\n  a: 1\n  b: 2\n  a: 3\n", "f.yaml:4: the key \"a\" stands here a second time"},
        {"a: 1\n---\nb: 2\n", "f.yaml:2: a second document in one file"},
        {"? [a]\n: 1\n", "f.yaml:1: a key must be text"},
        {"\"a\\0b\": 1\n", "f.yaml:1: a NUL character is not allowed"},
        {"a: \"b\\0c\"\n", "f.yaml:1: a NUL character is not allowed"},
        {"", "f.yaml: the file is empty"},
        {"a: [1, 2\n", "f.yaml:2: not valid YAML: "},
        {"a: b: c\n", "f.yaml:1: not valid YAML: "},
        {"a: \xff\xfe\n", "not valid YAML: "},
        {"a:\tb\n\tc: d\n", "not valid YAML: "},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err = {.code = MC_OK};
        struct mc_doc doc;
        assert_int_equal(parse(cases[i].text, &doc, &err), MC_INPUT);
        assert_non_null(strstr(err.text, cases[i].says));
    }
}

/* The "billion laughs": refused at the first anchor, before anything grows. */
static void an_alias_bomb_does_not_explode(void **state)
{
    (void)state;
    struct mc_buf text = MC_BUF_OWN;
    mc_buf_puts(&text, "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for (int i = 1; i < 30; i++) {
        mc_buf_putf(&text, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1, i - 1, i - 1, i - 1,
                    i - 1);
    }
    struct mc_err err;
    struct mc_doc doc;
    assert_int_equal(parse(mc_buf_text(&text), &doc, &err), MC_INPUT);
    assert_string_equal(err.text, "f.yaml:1: anchors and tags are not allowed");
    mc_buf_release(&text);
}

static void depth_is_limited(void **state)
{
    (void)state;
    for (int depth = MC_YAML_MAX_DEPTH; depth <= MC_YAML_MAX_DEPTH + 1; depth++) {
        struct mc_buf text = MC_BUF_OWN;
        for (int i = 0; i < depth; i++) {
            mc_buf_putc(&text, '[');
        }
        for (int i = 0; i < depth; i++) {
            mc_buf_putc(&text, ']');
        }
        struct mc_err err;
        MC_AUTODOC struct mc_doc doc;
        int rc = parse(mc_buf_text(&text), &doc, &err);
        if (depth == MC_YAML_MAX_DEPTH) {
            assert_int_equal(rc, 0);
        } else {
            assert_int_equal(rc, MC_INPUT);
            assert_string_equal(err.text, "f.yaml:1: nested deeper than 64 levels");
        }
        mc_buf_release(&text);
    }
}

static void plain_scalars_follow_the_core_schema(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTODOC struct mc_doc doc;
    assert_int_equal(parse("t: true\nf: false\nn: ~\ni: -12\nr: 1.50\nyes: yes\noct: 010\nhex: 0x1f\nq: '12'\n"
                           "big: 99999999999999999999\nd: 2026-08-07\ne:\n",
                           &doc, &err),
                     0);
    json_t *root = doc.root;
    assert_true(json_is_true(json_object_get(root, "t")));
    assert_true(json_is_false(json_object_get(root, "f")));
    assert_true(json_is_null(json_object_get(root, "n")));
    assert_int_equal(json_integer_value(json_object_get(root, "i")), -12);
    assert_true(json_is_real(json_object_get(root, "r")));
    static const char *const texts[][2] = {{"yes", "yes"}, {"oct", "010"},      {"hex", "0x1f"},
                                           {"q", "12"},    {"d", "2026-08-07"}, {"big", "99999999999999999999"}};
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        assert_string_equal(json_string_value(json_object_get(root, texts[i][0])), texts[i][1]);
    }
    assert_true(json_is_null(json_object_get(root, "e")));
}

static void a_scalar_is_known_as_it_was_written(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTODOC struct mc_doc doc;
    assert_int_equal(parse("expected: 1.50\nlist: [007, true, 8]\n", &doc, &err), 0);
    struct mc_view root = mc_doc_view(&doc);
    struct mc_view expected = mc_view_member(&root, "expected");
    struct mc_view list = mc_view_member(&root, "list");
    const char *text = NULL;
    assert_int_equal(mc_view_scalar(&expected, &text, &err), 0);
    assert_string_equal(text, "1.50");
    static const char *const items[] = {"007", "true", "8"};
    for (size_t i = 0; i < MC_COUNT(items); i++) {
        struct mc_view item = mc_view_item(&list, i);
        assert_int_equal(mc_view_scalar(&item, &text, &err), 0);
        assert_string_equal(text, items[i]);
    }
    assert_int_equal(mc_view_scalar(&list, &text, &err), MC_INPUT);
    assert_string_equal(err.text, "f.yaml:2: .list: must be text, is a list");
}

static void lines_are_right_with_crlf_and_comments(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTODOC struct mc_doc doc;
    assert_int_equal(
        parse("# one\r\na:\r\n  - x\r\n  # four\r\n  - y: 5\r\nb: |\r\n  long\r\n  text\r\nc: 9\r\n", &doc, &err), 0);
    struct mc_view root = mc_doc_view(&doc);
    struct mc_view a = mc_view_member(&root, "a");
    struct mc_view item = mc_view_item(&a, 1);
    struct mc_view y = mc_view_member(&item, "y");
    struct mc_view c = mc_view_member(&root, "c");
    assert_int_equal(mc_view_line(&a), 2);
    assert_int_equal(mc_view_line(&item), 5);
    assert_int_equal(mc_view_line(&y), 5);
    assert_int_equal(mc_view_line(&c), 9);
    MC_AUTOFREE char *place = mc_view_place(&y);
    assert_string_equal(place, "f.yaml:5: .a[1].y");
    assert_string_equal(json_string_value(json_object_get(doc.root, "b")), "long\ntext\n");
}

static void many_values_keep_their_lines(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    struct mc_buf text = MC_BUF_OWN;
    for (int i = 0; i < MANY; i++) {
        mc_buf_putf(&text, "key%d: %d\n", i, i);
    }
    struct mc_err err;
    MC_AUTODOC struct mc_doc doc;
    assert_int_equal(parse(mc_buf_text(&text), &doc, &err), 0);
    struct mc_view root = mc_doc_view(&doc);
    for (int i = 0; i < MANY; i += 997) {
        char key[32];
        snprintf(key, sizeof key, "key%d", i);
        struct mc_view view = mc_view_member(&root, key);
        assert_int_equal(mc_view_line(&view), i + 1);
        assert_int_equal(json_integer_value(view.value), i);
    }
    mc_buf_release(&text);
}

static void a_missing_file_is_not_found(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_doc doc;
    assert_int_equal(mc_yaml_load("/nonexistent/x.yaml", 100, &doc, &err), MC_NOT_FOUND);
    assert_string_equal(err.text, "opening /nonexistent/x.yaml: No such file or directory");
    mc_doc_release(&doc); /* released or not, nothing to free */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_manifest_has_no_use_for_is_refused),
        cmocka_unit_test(an_alias_bomb_does_not_explode),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(plain_scalars_follow_the_core_schema),
        cmocka_unit_test(a_scalar_is_known_as_it_was_written),
        cmocka_unit_test(lines_are_right_with_crlf_and_comments),
        cmocka_unit_test(many_values_keep_their_lines),
        cmocka_unit_test(a_missing_file_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
