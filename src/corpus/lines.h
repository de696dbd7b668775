/*
 * Reads a file of JSON lines one line at a time, in memory of one line.
 *
 * Lines end in LF or CRLF; the last one may have no end. Refused with the exact place: a byte order mark, an empty
 * line, a line longer than allowed, a NUL.
 *
 * Ownership: mc_jsonl_open() allocates, mc_jsonl_close() frees (NULL allowed). A line's bytes are borrowed until the
 * next call.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct mc_jsonl;

struct mc_line {
    const char *text; /* followed by a NUL */
    size_t length;    /* without the line's end */
    int number;       /* from 1 */
    uint64_t offset;  /* of its first byte in the file */
};

/* Opens a regular file (not a link) for lines of at most `max` bytes. */
int mc_jsonl_open(const char *path, size_t max, struct mc_jsonl **out, struct mc_err *err) MC_CHECKED;
void mc_jsonl_close(struct mc_jsonl *lines);

/* 1: *out is the next line; 0: the end. An error names the line; after MC_INPUT and MC_LIMIT that line has been passed
 * and reading can go on. */
int mc_jsonl_next(struct mc_jsonl *lines, struct mc_line *out, struct mc_err *err) MC_CHECKED;

/* A second descriptor of the same file, for reading at offsets; the caller closes it. */
int mc_jsonl_dup(const struct mc_jsonl *lines, int *fd, struct mc_err *err) MC_CHECKED;

void mc_jsonl_at(struct mc_jsonl **lines);
#define MC_AUTOLINES MC_CLEANUP(mc_jsonl_at)
