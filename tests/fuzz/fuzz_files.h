/* For targets whose parser reads files: one folder a process, on a file system in memory where there is one. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

static const char *fuzz_folder(void)
{
    static char folder[64];
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/memcal-fuzz-XXXXXX", mc_fs_is_dir("/dev/shm") ? "/dev/shm" : "/tmp");
        if (!mkdtemp(folder)) {
            abort();
        }
    }
    return folder;
}

/* Writes without the fsync of mc_fs_write(). */
static inline void fuzz_put(const char *name, const void *bytes, size_t length)
{
    MC_AUTOFREE char *path = mc_path_join(fuzz_folder(), name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) {
        abort();
    }
}

static inline void fuzz_clean(const char *name)
{
    struct mc_err err;
    MC_AUTOFREE char *path = mc_path_join(fuzz_folder(), name);
    if (mc_fs_remove_tree(path, &err) != 0) {
        abort();
    }
}

__attribute__((destructor)) static void fuzz_leave(void)
{
    struct mc_err err;
    if (mc_fs_remove_tree(fuzz_folder(), &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
    }
}
