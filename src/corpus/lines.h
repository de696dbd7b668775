/*
 * Reads a file of JSON lines one line at a time, in memory of one line.
 *
 * Lines end in LF or CRLF; the last one may have no end. Refused with the exact place: a byte order mark, an empty
 * line, a line longer than allowed, a NUL.
 *
 * Ownership: mc_lines_open() allocates, mc_lines_close() frees (NULL allowed). A line's bytes are borrowed until the
 * next call.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct mc_lines;

struct mc_line {
    const char *text; /* followed by a NUL */
    size_t length;    /* without the line's end */
    int number;       /* from 1 */
    uint64_t offset;  /* of its first byte in the file */
};

/* Opens a regular file (not a link) for lines of at most `max` bytes. */
int mc_lines_open(const char *path, size_t max, struct mc_lines **out, struct mc_err *err) MC_CHECKED;
void mc_lines_close(struct mc_lines *lines);

/* 1: *out is the next line; 0: the end. An error names the line; after MC_INPUT and MC_LIMIT that line has been passed
 * and reading can go on. */
int mc_lines_next(struct mc_lines *lines, struct mc_line *out, struct mc_err *err) MC_CHECKED;

/* A second descriptor of the same file, for reading at offsets; the caller closes it. */
int mc_lines_dup(const struct mc_lines *lines, int *fd, struct mc_err *err) MC_CHECKED;

void mc_lines_at(struct mc_lines **lines);
#define MC_AUTOLINES MC_CLEANUP(mc_lines_at)
