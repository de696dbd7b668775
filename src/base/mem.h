/*
 * Memory and strings.
 *
 * Ownership: every function here returns memory that the caller frees with free(). None returns NULL: running out of
 * memory ends the program (a controller that cannot allocate cannot record either; everything acknowledged is on
 * disk). Sizes that come from outside are limited before they reach an allocation.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/attr.h"

/* `count` zeroed objects of `size` bytes; the product is checked. */
void *mc_alloc(size_t count, size_t size);

/* Grows or shrinks `old` (NULL allowed) to `count` objects of `size` bytes; new bytes are not zeroed. */
void *mc_resize(void *old, size_t count, size_t size);

/* Makes room for one more object in a growing array: `*capacity` at least doubles when `count` has reached it. */
void *mc_grow(void *array, size_t count, size_t *capacity, size_t size);

char *mc_strdup(const char *text);
char *mc_strndup(const char *text, size_t length);
char *mc_strf(const char *format, ...) MC_PRINTF(1, 2);
char *mc_vstrf(const char *format, va_list args) MC_PRINTF(1, 0);

/* True where both are NULL or both are the same text. */
int mc_streq(const char *a, const char *b);
int mc_starts_with(const char *text, const char *prefix);

/* Hands the pointer over: returns it and leaves NULL behind, so that a cleanup attribute frees nothing. */
void *mc_steal_(void *pointer_to_pointer);
#define mc_steal(pp) ((__typeof__(*(pp)))mc_steal_(pp))

/* For locals: `MC_AUTOFREE char *name = NULL;`, `MC_AUTOCLOSE int fd = -1;`. */
void mc_free_at(void *pointer_to_pointer);
void mc_close_at(int *fd);
#define MC_AUTOFREE MC_CLEANUP(mc_free_at)
#define MC_AUTOCLOSE MC_CLEANUP(mc_close_at)
