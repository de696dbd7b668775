#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "report/audit.h"
#include "report/metrics.h"
#include "report/report.h"
#include "support/folder.h"

#define DATA TEST_SOURCE_DIR "/data/report/"

static json_t *load(void)
{
    struct mc_err err;
    json_t *report = mc_json_load(DATA "report.json", 1 << 20, &err);
    if (!report) {
        fail_msg("%s", err.text);
    }
    return report;
}

/* To accept a change: MEMCAL_UPDATE_REPORTS=1, and read the diff. */
static void check(const char *file, const struct mc_buf *text)
{
    struct mc_err err;
    if (getenv("MEMCAL_UPDATE_REPORTS")) {
        assert_int_equal(mc_fs_write(file, mc_buf_text(text), text->len, 0644, &err), 0);
    }
    MC_AUTOFREE char *wanted = test_content(file);
    assert_string_equal(mc_buf_text(text), wanted);
}

static void a_report_is_as_agreed(void **state)
{
    (void)state;
    json_t *report = load();
    MC_AUTOBUF struct mc_buf markdown = MC_BUF_OWN;
    MC_AUTOBUF struct mc_buf table = MC_BUF_OWN;
    mc_report_markdown(report, &markdown);
    mc_report_table(report, &table);
    check(DATA "report.md", &markdown);
    check(DATA "table.txt", &table);
    json_decref(report);
}

static void unknown_is_a_question_mark_and_never_zero(void **state)
{
    (void)state;
    MC_AUTOFREE char *table = test_content(DATA "table.txt");
    const char *fts = strstr(table, "\nhermes-fts") + 1;
    /* success, correct, missed, misrepresented, latency, calls, tokens, cost */
    MC_AUTOFREE char *row = mc_strndup(fts, strcspn(fts, "\n"));
    size_t marks = 0;
    for (const char *p = row; *p; p++) {
        marks += *p == '?';
    }
    assert_int_equal(marks, 9);
    assert_non_null(strstr(row, "? (?/2)"));
    assert_non_null(strstr(table, "$0.0000")); /* a known zero is a zero */
    assert_null(strstr(row, "$0"));
}

static void an_empty_report_is_no_fault(void **state)
{
    (void)state;
    static const char *const texts[] = {"{}", "[]", "null",
                                        "{\"harnesses\":[{}],\"trials\":[{}],\"comparisons\":[{}],"
                                        "\"unpinned_images\":[7]}",
                                        "{\"harnesses\":7,\"trials\":{},\"run\":[]}"};
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        json_t *report = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        assert_non_null(report);
        MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
        mc_report_markdown(report, &out);
        mc_report_table(report, &out);
        assert_non_null(strstr(mc_buf_text(&out), "run ?"));
        json_decref(report);
    }
}

/* ---- Hostile texts ---- */

static const char *const hostile[] = {
    "a | b |\n| --- | --- |\n| c | d |",
    "</td><script>alert(1)</script><img src=x onerror=alert(1)>",
    "\n# A heading\n\n- a point\n\n```\ncode\n",
    "[click](https://evil.example) ![x](https://evil.example/p.png)",
    "**bold** _it_ ~~gone~~ `code` &lt;b&gt; $x^2$ @everyone #1",
    "\x1b[2J\x1b]0;title\x07 \xc2\x9b"
    "31m \x7f",
    "https://evil.example www.evil.example",
    "back\\slash \\| \\`",
};

/* Replaces every text of the tree. */
static json_t *poisoned(const json_t *value, const char *text)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_string(value)) {
        return json_string(text);
    }
    if (json_is_object(value)) {
        json_t *object = json_object();
        json_object_foreach ((json_t *)(uintptr_t)value, key, member) {
            json_object_set_new(object, key, poisoned(member, text));
        }
        return object;
    }
    if (json_is_array(value)) {
        json_t *array = json_array();
        json_array_foreach ((json_t *)(uintptr_t)value, i, member) {
            json_array_append_new(array, poisoned(member, text));
        }
        return array;
    }
    return json_copy((json_t *)(uintptr_t)value);
}

static size_t count_lines(const char *text, const char *start)
{
    size_t count = 0;
    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        count += mc_starts_with(line, start) ? 1 : 0;
    }
    return count;
}

/* Unescaped marks in what the report did not write itself. */
static size_t bare(const char *text, char mark)
{
    size_t count = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '\\' && p[1]) {
            p++;
        } else {
            count += *p == mark;
        }
    }
    return count;
}

static void no_text_changes_the_shape_of_a_report(void **state)
{
    (void)state;
    json_t *report = load();
    json_t *plain = poisoned(report, "plain");
    MC_AUTOBUF struct mc_buf wanted = MC_BUF_OWN;
    mc_report_markdown(plain, &wanted);
    static const char marks[] = "|`*_#<>[]~&$@";
    static const char *const starts[] = {"#", "|", "- ", "    - ", "```", "\n", ""};
    for (size_t i = 0; i < MC_COUNT(hostile); i++) {
        json_t *bad = poisoned(report, hostile[i]);
        MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
        mc_report_markdown(bad, &out);
        for (size_t s = 0; s < MC_COUNT(starts); s++) {
            assert_int_equal(count_lines(mc_buf_text(&out), starts[s]), count_lines(mc_buf_text(&wanted), starts[s]));
        }
        for (const char *m = marks; *m; m++) {
            assert_int_equal(bare(mc_buf_text(&out), *m), bare(mc_buf_text(&wanted), *m));
        }
        for (const char *p = mc_buf_text(&out); *p;) {
            size_t step = mc_utf8_char(p, strlen(p));
            assert_true(step > 0);
            assert_true(*p == '\n' || !mc_utf8_is_control(p, step));
            p += step;
        }
        assert_null(strstr(mc_buf_text(&out), "https://")); /* nothing is made a link */
        assert_null(strstr(mc_buf_text(&out), "www."));
        json_decref(bad);
    }
    json_decref(plain);
    json_decref(report);
}

static const char audit_text[] =
    "{\"run\":\"r\",\"grading\":1,\"seed\":1,\"of\":2,\"items\":[{\"answer\":\"t/c\",\"slot\":\"s\",\"question\":\"q\","
    "\"asked_at\":\"now\",\"text\":\"one two\\nthree "
    "four\",\"quotes\":[{\"start\":4,\"end\":13},{\"start\":-1,\"end\":99}],"
    "\"verdict\":\"missed\",\"rule\":\"r\",\"source\":\"matcher\",\"explanation\":\"e\",\"revision\":1,\"kind\":"
    "\"current\","
    "\"match\":\"text\",\"required\":true,\"family\":\"f\",\"harness\":\"h\",\"evidence\":[{\"id\":\"e1\",\"channel\":"
    "\"email\","
    "\"sender\":\"Ana\",\"at\":\"then\",\"subject\":\"su\",\"text\":\"a\\nb\"}],\"command\":\"memcal review\"}]}";

static void an_audit_marks_the_words_and_nothing_else(void **state)
{
    (void)state;
    json_t *audit = json_loads(audit_text, 0, NULL);
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    mc_report_audit(audit, &out);
    assert_non_null(strstr(mc_buf_text(&out), "> one **two**  \n> **three** four\n"));
    assert_non_null(strstr(mc_buf_text(&out), "> Subject: su  \n> a  \n> b\n"));
    assert_non_null(strstr(mc_buf_text(&out), "\n    memcal review\n"));
    size_t headings = count_lines(mc_buf_text(&out), "#");
    for (size_t i = 0; i < MC_COUNT(hostile); i++) {
        json_t *bad = poisoned(audit, hostile[i]);
        MC_AUTOBUF struct mc_buf text = MC_BUF_OWN;
        mc_report_audit(bad, &text);
        assert_int_equal(count_lines(mc_buf_text(&text), "#"), headings);
        assert_int_equal(count_lines(mc_buf_text(&text), "|"), 0);
        assert_int_equal(count_lines(mc_buf_text(&text), "```"), 0);
        assert_null(strstr(mc_buf_text(&text), "\n<"));
        json_decref(bad);
    }
    json_decref(audit);
}

static void metrics_stand_side_by_side(void **state)
{
    (void)state;
    json_t *columns =
        json_pack("[{ss si s{s{sf sf sf}} s{si s{si} s{si si}}} {ss si s{} s{si s{si} s{si si}}}]", "name", "a",
                  "lives", 7, "metrics", "success", "value", 0.5, "low", 0.25, "high", 0.75, "tally", "answers", 4,
                  "slots", "correct", 3, "ended", "completed", 4, "timeout", 0, "name", "", "lives", 0, "metrics",
                  "tally", "answers", 0, "slots", "correct", 0, "ended", "completed", 0, "timeout", 0);
    assert_non_null(columns);
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    mc_report_metrics(columns, &out);
    assert_non_null(strstr(mc_buf_text(&out), "task success                  50.0% (25.0 to 75.0)    -\n"));
    assert_non_null(strstr(mc_buf_text(&out), "                                                 a  all\n"));
    assert_non_null(strstr(mc_buf_text(&out), "ended completed"));
    assert_null(strstr(mc_buf_text(&out), "ended timeout")); /* none did */
    assert_null(strstr(mc_buf_text(&out), "precision"));
    json_decref(columns);
}

static void a_table_stays_a_table(void **state)
{
    (void)state;
    json_t *report = load();
    for (size_t i = 0; i < MC_COUNT(hostile); i++) {
        json_t *bad = poisoned(report, hostile[i]);
        MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
        mc_report_table(bad, &out);
        assert_int_equal(count_lines(mc_buf_text(&out), ""), 4); /* head, two rows, the end */
        assert_null(strchr(mc_buf_text(&out), '\x1b'));
        assert_null(strstr(mc_buf_text(&out), "\xc2\x9b"));
        json_decref(bad);
    }
    json_decref(report);
}

static void columns_line_up_whatever_the_letters(void **state)
{
    (void)state;
    json_t *report = load();
    json_t *first = json_array_get(json_object_get(report, "harnesses"), 0);
    json_object_set_new(first, "name",
                        json_string("gr\xc3\xbc\xc3\x9f"
                                    "e"));
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    mc_report_table(report, &out);
    const char *head = mc_buf_text(&out);
    const char *row = strchr(head, '\n') + 1;
    size_t column = (size_t)(strstr(head, "task success") - head);
    /* Two letters of two bytes each. */
    assert_int_equal(strncmp(row + column + 2, "50% (1/2)", 9), 0);
    json_decref(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_is_as_agreed),
        cmocka_unit_test(unknown_is_a_question_mark_and_never_zero),
        cmocka_unit_test(an_empty_report_is_no_fault),
        cmocka_unit_test(no_text_changes_the_shape_of_a_report),
        cmocka_unit_test(a_table_stays_a_table),
        cmocka_unit_test(columns_line_up_whatever_the_letters),
        cmocka_unit_test(an_audit_marks_the_words_and_nothing_else),
        cmocka_unit_test(metrics_stand_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
