/*
 * A folder for a test, and files in it.
 *
 * Ownership: test_folder() gives a path that test_folder_remove() removes and frees; other texts are the caller's.
 */
#pragma once

#include <stddef.h>

char *test_folder(void);
void test_folder_remove(char *folder);

/* Writes folder/name, making its folders; gives its path. */
char *test_file(const char *folder, const char *name, const char *text);

/* The content of a file. */
char *test_content(const char *path);

/* How many files and folders are in a folder. */
size_t test_count(const char *folder);
