#include "support/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"

char *test_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    char *folder = mc_strf("%s/memcal-test-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(folder));
    return folder;
}

void test_folder_remove(char *folder)
{
    struct mc_err err;
    assert_int_equal(mc_fs_remove_tree(folder, &err), 0);
    free(folder);
}

char *test_file(const char *folder, const char *name, const char *text)
{
    struct mc_err err;
    char *path = mc_path_join(folder, name);
    MC_AUTOFREE char *dir = mc_path_dir(path);
    assert_int_equal(mc_fs_mkdirs(dir, &err), 0);
    assert_int_equal(mc_fs_write(path, text, strlen(text), 0644, &err), 0);
    return path;
}

char *test_content(const char *path)
{
    struct mc_err err;
    struct mc_buf bytes = MC_BUF_INIT((size_t)64 << 20);
    if (mc_fs_read(path, &bytes, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return mc_buf_take(&bytes);
}

size_t test_count(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        count += !mc_streq(entry->d_name, ".") && !mc_streq(entry->d_name, "..");
    }
    closedir(dir);
    return count;
}
