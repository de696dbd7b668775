#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <dirent.h>

#include "base/fs.h"
#include "base/mem.h"

static char *dir;

static int make_dir(void **state)
{
    (void)state;
    dir = mc_strdup("/tmp/memcal-fs-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    struct mc_err err;
    int rc = mc_fs_remove_tree(dir, &err);
    free(dir);
    return rc;
}

static size_t entries(const char *path)
{
    DIR *opened = opendir(path);
    assert_non_null(opened);
    size_t count = 0;
    while (readdir(opened) != NULL) {
        count++;
    }
    closedir(opened);
    return count - 2;
}

static void writing_replaces_whole_files(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOFREE char *path = mc_path_join(dir, "a");
    assert_int_equal(mc_fs_write(path, "first", 5, 0600, &err), 0);
    assert_int_equal(mc_fs_write(path, "2nd", 3, 0644, &err), 0);
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(100);
    assert_int_equal(mc_fs_read(path, &bytes, &err), 0);
    assert_string_equal(mc_buf_text(&bytes), "2nd");
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0644);
    assert_int_equal(entries(dir), 1);
    assert_int_equal(unlink(path), 0);
}

static void a_failed_write_leaves_no_temporary_file(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOFREE char *path = mc_path_join(dir, "folder");
    MC_AUTOFREE char *inside = mc_path_join(path, "x");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(mc_fs_write(inside, "x", 1, 0600, &err), 0);
    assert_int_not_equal(mc_fs_write(path, "y", 1, 0600, &err), 0); /* a folder has that name */
    assert_non_null(strstr(err.text, "renaming "));
    assert_int_equal(entries(dir), 1);
    assert_int_equal(mc_fs_remove_tree(path, &err), 0);
}

static void reading_is_limited(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOFREE char *path = mc_path_join(dir, "big");
    assert_int_equal(mc_fs_write(path, "0123456789", 10, 0600, &err), 0);
    MC_AUTOBUF struct mc_buf exact = MC_BUF_INIT(10);
    MC_AUTOBUF struct mc_buf less = MC_BUF_INIT(9);
    assert_int_equal(mc_fs_read(path, &exact, &err), 0);
    assert_int_equal(exact.len, 10);
    assert_int_equal(mc_fs_read(path, &less, &err), MC_LIMIT);
    MC_AUTOFREE char *says = mc_strf("reading %s: larger than the 9 bytes allowed for it", path);
    assert_string_equal(err.text, says);
    assert_int_equal(unlink(path), 0);
}

static void only_regular_files_are_read(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOFREE char *fifo = mc_path_join(dir, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(10);
    assert_int_equal(mc_fs_read(fifo, &bytes, &err), MC_INPUT); /* and does not hang */
    assert_non_null(strstr(err.text, "it is not a regular file"));
    assert_int_equal(mc_fs_read(dir, &bytes, &err), MC_INPUT);
    assert_int_equal(unlink(fifo), 0);
}

static void folders_are_made_with_their_parents(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOFREE char *path = mc_path_join(dir, "x/y/z");
    MC_AUTOFREE char *file = mc_path_join(dir, "x/y/z/file");
    MC_AUTOFREE char *below = mc_path_join(dir, "x/y/z/file/w");
    MC_AUTOFREE char *top = mc_path_join(dir, "x");
    assert_int_equal(mc_fs_mkdirs(path, &err), 0);
    assert_int_equal(mc_fs_mkdirs(path, &err), 0);
    assert_int_equal(mc_fs_write(file, "", 0, 0600, &err), 0);
    assert_int_equal(mc_fs_mkdirs(file, &err), MC_INPUT);
    assert_non_null(strstr(err.text, "something else has that name"));
    assert_int_not_equal(mc_fs_mkdirs(below, &err), 0);
    assert_int_equal(mc_fs_remove_tree(top, &err), 0);
    assert_false(mc_fs_exists(top));
}

static void removing_never_follows_links(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOFREE char *kept = mc_path_join(dir, "kept");
    MC_AUTOFREE char *inside = mc_path_join(dir, "kept/inside");
    MC_AUTOFREE char *doomed = mc_path_join(dir, "doomed");
    MC_AUTOFREE char *link = mc_path_join(dir, "doomed/link");
    assert_int_equal(mc_fs_mkdirs(kept, &err), 0);
    assert_int_equal(mc_fs_write(inside, "x", 1, 0600, &err), 0);
    assert_int_equal(mc_fs_mkdirs(doomed, &err), 0);
    assert_int_equal(symlink(kept, link), 0);
    assert_int_equal(mc_fs_remove_tree(doomed, &err), 0);
    assert_false(mc_fs_exists(doomed));
    assert_true(mc_fs_exists(inside));
    assert_int_equal(mc_fs_remove_tree(doomed, &err), 0); /* missing is fine */
    assert_int_equal(mc_fs_remove_tree(kept, &err), 0);
}

static void paths_are_put_together_and_taken_apart(void **state)
{
    (void)state;
    static const char *const joins[][3] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"a", "/b", "/b"}, {"/", "b", "/b"}};
    for (size_t i = 0; i < MC_COUNT(joins); i++) {
        MC_AUTOFREE char *joined = mc_path_join(joins[i][0], joins[i][1]);
        assert_string_equal(joined, joins[i][2]);
    }
    static const char *const parts[][3] = {{"a/b", "a", "b"}, {"b", ".", "b"}, {"/b", "/", "b"}, {"a/", "a", ""}};
    for (size_t i = 0; i < MC_COUNT(parts); i++) {
        MC_AUTOFREE char *folder = mc_path_dir(parts[i][0]);
        assert_string_equal(folder, parts[i][1]);
        assert_string_equal(mc_path_base(parts[i][0]), parts[i][2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writing_replaces_whole_files),
        cmocka_unit_test(a_failed_write_leaves_no_temporary_file),
        cmocka_unit_test(reading_is_limited),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(folders_are_made_with_their_parents),
        cmocka_unit_test(removing_never_follows_links),
        cmocka_unit_test(paths_are_put_together_and_taken_apart),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
