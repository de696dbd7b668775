#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *checked(void *memory)
{
    if (!memory) {
        static const char text[] = "memcal: out of memory: stopped; what was acknowledged is on disk\n";
        if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
            abort();
        }
        abort();
    }
    return memory;
}

void *mc_alloc(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size ? size : 1));
}

void *mc_resize(void *old, size_t count, size_t size)
{
    return checked(reallocarray(old, count ? count : 1, size ? size : 1));
}

void *mc_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return array;
    }
    size_t wanted = *capacity ? *capacity * 2 : 8;
    void *grown = mc_resize(array, wanted, size);
    *capacity = wanted;
    return grown;
}

char *mc_strdup(const char *text)
{
    return checked(strdup(text));
}

char *mc_strndup(const char *text, size_t length)
{
    char *copy = mc_alloc(length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *mc_vstrf(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0) {
        text = NULL;
    }
    return checked(text);
}

char *mc_strf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = mc_vstrf(format, args);
    va_end(args);
    return text;
}

int mc_streq(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

int mc_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

void *mc_steal_(void *pointer_to_pointer)
{
    void *pointer;
    void *none = NULL;
    memcpy(&pointer, pointer_to_pointer, sizeof pointer);
    memcpy(pointer_to_pointer, &none, sizeof none);
    return pointer;
}

void mc_free_at(void *pointer_to_pointer)
{
    free(mc_steal_(pointer_to_pointer));
}

void mc_close_at(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}
