#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pool.h"

static void a_buffer_never_passes_its_maximum(void **state)
{
    (void)state;
    struct mc_buf buf = MC_BUF_INIT(5);
    assert_string_equal(mc_buf_text(&buf), "");
    assert_int_equal(mc_buf_add(&buf, "abc", 3), 0);
    assert_int_equal(mc_buf_add(&buf, "def", 3), MC_LIMIT);
    assert_string_equal(mc_buf_text(&buf), "abc");
    assert_int_equal(mc_buf_add_text(&buf, "de"), 0);
    assert_int_equal(mc_buf_add(&buf, "", 0), 0);
    assert_int_equal(mc_buf_add(&buf, "f", 1), MC_LIMIT);
    assert_null(mc_buf_room(&buf, 1));
    assert_null(mc_buf_room(&buf, SIZE_MAX));
    assert_non_null(mc_buf_room(&buf, 0));
    assert_string_equal(mc_buf_text(&buf), "abcde");
    mc_buf_drop(&buf, 2);
    assert_string_equal(mc_buf_text(&buf), "cde");
    mc_buf_drop(&buf, 3);
    assert_string_equal(mc_buf_text(&buf), "");
    mc_buf_drop(&buf, 0);
    mc_buf_clear(&buf);
    assert_int_equal(buf.max, 5);
    mc_buf_release(&buf);
    assert_int_equal(buf.max, 5);
    assert_null(buf.data);
}

static void content_is_handed_over(void **state)
{
    (void)state;
    struct mc_buf buf = MC_BUF_OWN;
    char *empty = mc_buf_take(&buf);
    assert_string_equal(empty, "");
    free(empty);
    for (int i = 0; i < 1000; i++) {
        mc_buf_putf(&buf, "%d,", i);
    }
    assert_int_equal(buf.len, 3890);
    mc_buf_putc(&buf, '!');
    memcpy(mc_buf_room(&buf, 2), "ok", 2);
    mc_buf_advance(&buf, 2);
    char *text = mc_buf_take(&buf);
    assert_null(buf.data);
    assert_int_equal(strlen(text), 3893);
    assert_string_equal(text + 3885, ",999,!ok");
    free(text);
}

static void a_pool_frees_all_it_gave(void **state)
{
    (void)state;
    struct mc_pool pool = {.items = NULL};
    for (int i = 0; i < 100; i++) {
        int *numbers = mc_pool_alloc(&pool, 4, sizeof *numbers);
        assert_int_equal(numbers[3], 0);
        MC_AUTOFREE char *wanted = mc_strf("n%d", i);
        assert_string_equal(mc_pool_strf(&pool, "n%d", i), wanted);
    }
    assert_string_equal(mc_pool_strdup(&pool, "x"), "x");
    assert_null(mc_pool_strdup(&pool, NULL));
    assert_non_null(mc_pool_alloc(&pool, 0, 8));
    mc_pool_release(&pool);
    assert_int_equal(pool.count, 0);
    mc_pool_release(&pool);
}

static char *shown(const char *text, size_t length)
{
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    mc_print_safe(stream, text, length);
    fclose(stream);
    return out;
}

static void nothing_printed_reaches_the_terminal_raw(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *seen;
    } cases[] = {{"plain \xc3\xa9", "plain \xc3\xa9"},
                 {"\x1b[31mred", "\\x1b[31mred"},
                 {"a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f"},
                 {"\xc2\x9b", "\\xc2\\x9b"}, /* U+009B, the one-character CSI */
                 {"\x9b", "\\x9b"},          /* the same in Latin-1 */
                 {"cut \xe2\x82", "cut \\xe2\\x82"}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        MC_AUTOFREE char *seen = shown(cases[i].text, strlen(cases[i].text));
        assert_string_equal(seen, cases[i].seen);
    }
    MC_AUTOFREE char *zero = shown("a\0b", 3);
    assert_string_equal(zero, "a\\x00b");
}

static void the_log_redacts_and_keeps_to_its_level(void **state)
{
    (void)state;
    char *out = NULL;
    size_t size = 0;
    struct mc_redactor *redactor = mc_redactor_new();
    mc_redactor_add(redactor, "KEY", "hunter22");
    struct mc_log log = {.stream = open_memstream(&out, &size), .level = MC_LOG_INFO, .redactor = redactor};
    mc_log(&log, MC_LOG_INFO, "said %s\n", "hunter22");
    mc_log(&log, MC_LOG_DEBUG, "not this");
    mc_log(NULL, MC_LOG_INFO, "nor this");
    fclose(log.stream);
    assert_string_equal(out, "memcal: said [secret:KEY]\\x0a\n");
    free(out);
    mc_redactor_free(redactor);
}

static void strings_and_arrays(void **state)
{
    (void)state;
    assert_true(mc_streq(NULL, NULL));
    assert_false(mc_streq("a", NULL));
    assert_false(mc_streq(NULL, "a"));
    assert_true(mc_streq("a", "a"));
    assert_true(mc_starts_with("abc", "ab"));
    assert_false(mc_starts_with("a", "ab"));
    char *text = mc_strndup("abcdef", 3);
    char *stolen = mc_steal(&text);
    assert_null(text);
    assert_string_equal(stolen, "abc");
    free(stolen);
    int *numbers = NULL;
    size_t room = 0;
    for (size_t i = 0; i < 100; i++) {
        numbers = mc_grow(numbers, i, &room, sizeof *numbers);
        numbers[i] = (int)i;
    }
    assert_int_equal(numbers[99], 99);
    assert_true(room >= 100);
    free(numbers);
}

static void files_are_read_with_a_limit_and_written_whole(void **state)
{
    (void)state;
    struct mc_err err;
    char dir[] = "/tmp/memcal-test-XXXXXX";
    assert_non_null(mkdtemp(dir));
    MC_AUTOFREE char *deep = mc_path_join(dir, "a/b/c");
    assert_int_equal(mc_fs_mkdirs(deep, &err), 0);
    assert_int_equal(mc_fs_mkdirs(deep, &err), 0);
    MC_AUTOFREE char *file = mc_path_join(deep, "file");
    assert_int_equal(mc_fs_write(file, "12345", 5, 0640, &err), 0);
    struct stat info;
    assert_int_equal(stat(file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    struct mc_buf exact = MC_BUF_INIT(5);
    assert_int_equal(mc_fs_read(file, &exact, &err), 0);
    assert_string_equal(mc_buf_text(&exact), "12345");
    mc_buf_release(&exact);
    struct mc_buf less = MC_BUF_INIT(4);
    assert_int_equal(mc_fs_read(file, &less, &err), MC_LIMIT);
    MC_AUTOFREE char *large = mc_strf("reading %s: larger than the 4 bytes allowed for it", file);
    assert_string_equal(err.text, large);
    mc_buf_release(&less);
    struct mc_buf any = MC_BUF_INIT(100);
    assert_int_equal(mc_fs_read(deep, &any, &err), MC_INPUT);
    MC_AUTOFREE char *irregular = mc_strf("reading %s: it is not a regular file", deep);
    assert_string_equal(err.text, irregular);
    mc_buf_release(&any);
    MC_AUTOFREE char *under = mc_path_join(file, "x");
    assert_int_equal(mc_fs_mkdirs(file, &err), MC_INPUT);
    assert_non_null(strstr(err.text, "something else has that name"));
    assert_int_not_equal(mc_fs_mkdirs(under, &err), 0);
    /* A link is removed, never followed. */
    MC_AUTOFREE char *link = mc_path_join(deep, "link");
    MC_AUTOFREE char *outside = mc_strf("%s.outside", dir);
    assert_int_equal(mc_fs_mkdirs(outside, &err), 0);
    assert_int_equal(symlink(outside, link), 0);
    assert_int_equal(mc_fs_remove_tree(dir, &err), 0);
    assert_false(mc_fs_exists(dir));
    assert_true(mc_fs_is_dir(outside));
    assert_int_equal(mc_fs_remove_tree(dir, &err), 0);
    assert_int_equal(rmdir(outside), 0);
}

static void paths_are_put_together_and_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *dir, *name, *joined;
    } joins[] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"a", "/b", "/b"}};
    for (size_t i = 0; i < MC_COUNT(joins); i++) {
        MC_AUTOFREE char *joined = mc_path_join(joins[i].dir, joins[i].name);
        assert_string_equal(joined, joins[i].joined);
    }
    static const struct {
        const char *path, *dir, *base;
    } parts[] = {{"a/b/c", "a/b", "c"}, {"/a", "/", "a"}, {"a", ".", "a"}, {"/", "/", ""}};
    for (size_t i = 0; i < MC_COUNT(parts); i++) {
        MC_AUTOFREE char *dir = mc_path_dir(parts[i].path);
        assert_string_equal(dir, parts[i].dir);
        assert_string_equal(mc_path_base(parts[i].path), parts[i].base);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_never_passes_its_maximum),
        cmocka_unit_test(content_is_handed_over),
        cmocka_unit_test(a_pool_frees_all_it_gave),
        cmocka_unit_test(nothing_printed_reaches_the_terminal_raw),
        cmocka_unit_test(the_log_redacts_and_keeps_to_its_level),
        cmocka_unit_test(strings_and_arrays),
        cmocka_unit_test(files_are_read_with_a_limit_and_written_whole),
        cmocka_unit_test(paths_are_put_together_and_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
