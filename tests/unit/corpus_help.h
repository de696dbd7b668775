/* What the tests of corpora share: a copy of a small corpus in a folder of its own, edited at one place. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/corpus.h"
#include "corpus/digest.h"
#include "corpus/validate.h"

#define SMALL TEST_SOURCE_DIR "/data/corpora/small"
#define HELPER __attribute__((unused)) static

/* A new folder; removed with remove_folder(), which frees the name. */
HELPER char *new_folder(void)
{
    char *folder = mc_strdup("/tmp/memcal-corpus-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

HELPER void remove_folder(char *folder)
{
    struct mc_err err;
    assert_int_equal(mc_fs_remove_tree(folder, &err), 0);
    free(folder);
}

/* A copy of the small corpus in a new folder. */
HELPER char *small_copy(void)
{
    struct mc_err err;
    char *folder = new_folder();
    char source[] = SMALL;
    MC_AUTOLISTING struct mc_listing listing;
    assert_int_equal(mc_listing_scan(source, &listing, &err), 0);
    assert_int_equal(mc_listing_export(&listing, mc_files_of_dir(source), folder, &err), 0);
    return folder;
}

HELPER void put(const char *folder, const char *name, const void *bytes, size_t length)
{
    struct mc_err err;
    MC_AUTOFREE char *path = mc_path_join(folder, name);
    MC_AUTOFREE char *parent = mc_path_dir(path);
    assert_int_equal(mc_fs_mkdirs(parent, &err), 0);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

HELPER void put_text(const char *folder, const char *name, const char *text)
{
    put(folder, name, text, strlen(text));
}

/* The content of a file; the caller frees it. */
HELPER char *get_text(const char *folder, const char *name)
{
    struct mc_err err;
    MC_AUTOFREE char *path = mc_path_join(folder, name);
    struct mc_buf bytes = MC_BUF_OWN;
    assert_int_equal(mc_fs_read(path, &bytes, &err), 0);
    return mc_buf_take(&bytes);
}

/* Replaces the first `from` in a file by `to`. */
HELPER void edit(const char *folder, const char *name, const char *from, const char *to)
{
    MC_AUTOFREE char *text = get_text(folder, name);
    char *at = strstr(text, from);
    assert_non_null(at);
    MC_AUTOFREE char *changed = mc_strf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    put_text(folder, name, changed);
}

/* The first problem whose text holds `text`, or NULL. */
HELPER const struct mc_problem *find_problem(const struct mc_problems *problems, const char *text)
{
    for (size_t i = 0; i < problems->count; i++) {
        if (strstr(problems->items[i].text, text)) {
            return &problems->items[i];
        }
    }
    return NULL;
}

HELPER void show_problems(const struct mc_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        const struct mc_problem *p = &problems->items[i];
        print_message("%s:%d: %s: %s (%s)\n", p->file, p->line, p->path, p->text, p->mend);
    }
}

/* Fails with all problems shown where there is an error. */
HELPER void assert_valid(const char *folder)
{
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(folder, 1, &problems);
    if (problems.errors) {
        show_problems(&problems);
    }
    assert_int_equal(problems.errors, 0);
}
