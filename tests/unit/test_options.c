#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "support/folder.h"

struct values {
    int flag;
    const char *text;
    int64_t whole;
    double number;
    struct mc_option_texts texts;
};

/* Reads a command line ("a b c"); what is printed to standard error is in *said. */
struct result {
    int code;
    int operands;
    char *words[160];
    char *line;
    char *said;
    char *printed;
    struct mc_cli cli;
};

static void read_line(struct result *r, struct values *values, const char *line, int least, int most)
{
    const struct mc_option options[] = {
        {"flag", 'f', MC_OPTION_FLAG, NULL, "a flag", &values->flag},
        {"text", 't', MC_OPTION_TEXT, "TEXT", "a text", &values->text},
        {"whole", 'k', MC_OPTION_WHOLE, "N", "a whole number", &values->whole},
        {"number", 0, MC_OPTION_NUMBER, "USD", "a number", &values->number},
        {"texts", 0, MC_OPTION_TEXTS, "ID", "texts", &values->texts},
    };
    const struct mc_usage_page page = {.synopsis = "memcal test FILE",
                                       .about = "Tests.",
                                       .options = options,
                                       .option_count = MC_COUNT(options),
                                       .examples = "  memcal test x",
                                       .least = least,
                                       .most = most};
    memset(r, 0, sizeof *r);
    r->line = mc_strdup(line);
    int count = 0;
    char *rest = NULL;
    for (char *p = strtok_r(r->line, " ", &rest); p; p = strtok_r(NULL, " ", &rest)) {
        assert_true(count < (int)MC_COUNT(r->words));
        r->words[count++] = p;
    }
    char *dir = test_folder();
    MC_AUTOFREE char *err_path = mc_strf("%s/err", dir);
    MC_AUTOFREE char *out_path = mc_strf("%s/out", dir);
    fflush(stdout);
    fflush(stderr);
    int saved[2] = {dup(1), dup(2)};
    FILE *out = fopen(out_path, "w");
    FILE *err = fopen(err_path, "w");
    dup2(fileno(out), 1);
    dup2(fileno(err), 2);
    r->code = mc_options_read(&r->cli, &page, count, r->words, &r->operands);
    fflush(stdout);
    fflush(stderr);
    dup2(saved[0], 1);
    dup2(saved[1], 2);
    close(saved[0]);
    close(saved[1]);
    fclose(out);
    fclose(err);
    r->said = test_content(err_path);
    r->printed = test_content(out_path);
    test_folder_remove(dir);
}

static void release(struct result *r)
{
    free(r->line);
    free(r->said);
    free(r->printed);
}

static void options_stand_anywhere(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "test one -f --text a=b --whole=5 --number 1.5 two --texts x --texts=y",
        "test -f -ta=b -k5 --number=1.5 --texts=x --texts y one two",
        "test --flag --text=a=b -k 5 --texts x one --number 1.5 --texts y -- two",
    };
    for (size_t i = 0; i < MC_COUNT(lines); i++) {
        struct result r;
        struct values v = {.flag = 0};
        read_line(&r, &v, lines[i], 2, 2);
        assert_int_equal(r.code, -1);
        assert_int_equal(r.operands, 2);
        assert_string_equal(r.words[0], "one");
        assert_string_equal(r.words[1], "two");
        assert_int_equal(v.flag, 1);
        assert_string_equal(v.text, "a=b");
        assert_int_equal(v.whole, 5);
        assert_true(v.number == 1.5);
        assert_int_equal(v.texts.count, 2);
        assert_string_equal(v.texts.items[0], "x");
        assert_string_equal(v.texts.items[1], "y");
        assert_null(v.texts.items[2]);
        assert_string_equal(r.said, "");
        release(&r);
    }
}

static void dashes_after_two_dashes_are_operands(void **state)
{
    (void)state;
    struct result r;
    struct values v = {.flag = 0};
    read_line(&r, &v, "test - -- --flag -f", 0, -1);
    assert_int_equal(r.code, -1);
    assert_int_equal(r.operands, 3);
    assert_string_equal(r.words[0], "-");
    assert_string_equal(r.words[1], "--flag");
    assert_int_equal(v.flag, 0);
    release(&r);
}

static void common_options_belong_to_every_command(void **state)
{
    (void)state;
    struct result r;
    struct values v = {.flag = 0};
    read_line(&r, &v, "test --json --store /s -v", 0, 0);
    assert_int_equal(r.code, -1);
    assert_int_equal(r.cli.json, 1);
    assert_string_equal(r.cli.store, "/s");
    assert_int_equal(r.cli.log.level, MC_LOG_DEBUG);
    release(&r);
    read_line(&r, &v, "test --help", 1, 1);
    assert_int_equal(r.code, MC_EXIT_OK);
    assert_string_equal(r.printed, "usage: memcal test FILE\n\nTests.\n\noptions:\n"
                                   "  -f, --flag                   a flag\n"
                                   "  -t, --text TEXT              a text\n"
                                   "  -k, --whole N                a whole number\n"
                                   "      --number USD             a number\n"
                                   "      --texts ID               texts\n"
                                   "      --json                   print JSON for machines\n"
                                   "      --store DIR              where memcal keeps what it knows [MEMCAL_STORE]\n"
                                   "  -v, --verbose                tell what is being done\n"
                                   "  -h, --help                   this page\n"
                                   "\nexamples:\n  memcal test x\n");
    release(&r);
}

static void wrong_command_lines_are_said(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *says;
    } cases[] = {
        {"test a --flog", "unknown option \"--flog\""},
        {"test a --fla", "unknown option \"--fla\""},
        {"test a -x", "unknown option \"-x\""},
        {"test a --=x", "unknown option \"--=x\""},
        {"test a --flag=1", "--flag takes no value"},
        {"test a -fx", "--flag takes no value"},
        {"test a --text", "--text needs a value: TEXT"},
        {"test a -k", "--whole needs a value: N"},
        {"test a -k five", "--whole needs a whole number, not \"five\""},
        {"test a -k 5x", "--whole needs a whole number, not \"5x\""},
        {"test a -k -1", "--whole needs a whole number, not \"-1\""},
        {"test a --whole=", "--whole needs a whole number, not \"\""},
        {"test a -k 99999999999999999999", "--whole needs a whole number, not \"99999999999999999999\""},
        {"test a --number nan", "--number needs a number, not \"nan\""},
        {"test a --number inf", "--number needs a number, not \"inf\""},
        {"test a --number -0.5", "--number needs a number, not \"-0.5\""},
        {"test a --number 1e999", "--number needs a number, not \"1e999\""},
        {"test", "an argument is missing"},
        {"test a b", "one argument too many: \"b\""},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct result r;
        struct values v = {.flag = 0};
        read_line(&r, &v, cases[i].line, 1, 1);
        assert_int_equal(r.code, MC_EXIT_USAGE);
        MC_AUTOFREE char *says = mc_strf("memcal: %s: usage: memcal test FILE\n", cases[i].says);
        assert_string_equal(r.said, says);
        release(&r);
    }
}

/* The list is read as one that ends with NULL, also when it is full. */
static void lists_end_with_null_also_when_full(void **state)
{
    (void)state;
    struct result r;
    struct values v = {.flag = 0};
    struct mc_buf line = MC_BUF_OWN;
    mc_buf_puts(&line, "test");
    for (int i = 0; i < MC_OPTION_TEXTS_MAX; i++) {
        mc_buf_putf(&line, " --texts=%d", i);
    }
    read_line(&r, &v, mc_buf_text(&line), 0, 0);
    assert_int_equal(r.code, -1);
    assert_int_equal(v.texts.count, MC_OPTION_TEXTS_MAX);
    assert_null(v.texts.items[MC_OPTION_TEXTS_MAX]);
    release(&r);
    mc_buf_puts(&line, " --texts=more");
    memset(&v, 0, sizeof v);
    read_line(&r, &v, mc_buf_text(&line), 0, 0);
    assert_int_equal(r.code, MC_EXIT_USAGE);
    assert_string_equal(r.said, "memcal: --texts is given more than 64 times: usage: memcal test FILE\n");
    release(&r);
    mc_buf_release(&line);
}

static void errors_are_json_for_machines(void **state)
{
    (void)state;
    struct result r;
    struct values v = {.flag = 0};
    read_line(&r, &v, "test --json --flog", 0, 0);
    assert_int_equal(r.code, MC_EXIT_USAGE);
    assert_string_equal(r.said, "{\"error\":{\"code\":\"input\",\"exit\":2,\"hint\":\"usage: memcal test FILE\","
                                "\"text\":\"unknown option \\\"--flog\\\"\"}}\n");
    release(&r);
    /* Whatever bytes the command line holds. */
    read_line(&r, &v, "test --json --fl\xff", 0, 0);
    assert_string_equal(r.said, "{\"error\":{\"code\":\"input\",\"exit\":2,\"hint\":\"usage: memcal test FILE\","
                                "\"text\":\"unknown option \\\"--fl?\\\"\"}}\n");
    release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_stand_anywhere),
        cmocka_unit_test(dashes_after_two_dashes_are_operands),
        cmocka_unit_test(common_options_belong_to_every_command),
        cmocka_unit_test(wrong_command_lines_are_said),
        cmocka_unit_test(lists_end_with_null_also_when_full),
        cmocka_unit_test(errors_are_json_for_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
