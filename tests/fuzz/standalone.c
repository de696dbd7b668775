/* Runs a fuzz target over files and folders of files: the seeds as a plain regression test, without libFuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/mem.h"

#include <dirent.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    struct mc_err err;
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT((size_t)64 << 20);
    if (mc_fs_read(path, &bytes, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    LLVMFuzzerTestOneInput((const uint8_t *)mc_buf_text(&bytes), bytes.len);
    return 0;
}

static int run_dir(const char *path, size_t *count)
{
    DIR *dir = opendir(path);
    if (!dir) {
        fprintf(stderr, "no seeds in %s\n", path);
        return 1;
    }
    int failed = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            MC_AUTOFREE char *file = mc_path_join(path, entry->d_name);
            failed |= run_file(file);
            (*count)++;
        }
    }
    closedir(dir);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        failed |= mc_fs_is_dir(argv[i]) ? run_dir(argv[i], &count) : run_file(argv[i]);
    }
    printf("%zu seeds\n", count);
    return failed || count == 0;
}
