/*
 * Bytes that come in any pieces, cut into lines of UTF-8 with a limit.
 *
 * Feed what was read (at most MC_LINES_CHUNK bytes at once), then take lines until none is left, then feed again: so
 * the memory held never passes the limit and one chunk.
 *
 * Ownership: the splitter owns its bytes; a line given out is valid until the next call on the same splitter.
 */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"

enum { MC_LINES_CHUNK = 65536 };

struct mc_lines {
    struct mc_buf bytes;
    size_t max;     /* longest line allowed, its newline included */
    size_t taken;   /* bytes at the front that were given out */
    size_t scanned; /* bytes known to hold no newline beyond `taken` */
};

/* A line as it came, without its newline. Set by mc_lines_next() also where it fails, so that it can be kept. */
struct mc_line {
    const char *text; /* followed by a NUL that is not part of it */
    size_t length;
};

void mc_lines_init(struct mc_lines *lines, size_t max);
void mc_lines_release(struct mc_lines *lines);

void mc_lines_feed(struct mc_lines *lines, const void *bytes, size_t length);

/* 1 with the next line, 0 where no whole line is there yet, or MC_PROTOCOL: not UTF-8, longer than allowed, or more
 * bytes without a newline than a line may have. After the last two the splitter gives nothing but that error. */
int mc_lines_next(struct mc_lines *lines, struct mc_line *line, struct mc_err *err) MC_CHECKED;

/* True where mc_lines_next() would not answer 0. */
int mc_lines_ready(struct mc_lines *lines);

/* To be called once at the end of the stream: 0, or MC_PROTOCOL with what is left without a newline in *line. */
int mc_lines_end(struct mc_lines *lines, struct mc_line *line, struct mc_err *err) MC_CHECKED;
