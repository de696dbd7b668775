/*
 * A growing byte buffer with a mandatory maximum.
 *
 * Every byte that comes from outside passes through one of these, so no peer can make memcal grow without end. The
 * content is always followed by a NUL that `len` does not count.
 *
 * Ownership: the buffer owns `data`. mc_buf_take() hands it to the caller, who frees it; mc_buf_release() frees it and
 * leaves an empty buffer with the same maximum.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"

struct mc_buf {
    char *data; /* NULL while empty and never used */
    size_t len;
    size_t cap;
    size_t max; /* largest `len` allowed */
};

#define MC_BUF_INIT(maximum) ((struct mc_buf){.data = NULL, .len = 0, .cap = 0, .max = (maximum)})
/* For text that memcal itself makes, whose size follows from input that was limited already. */
#define MC_BUF_OWN MC_BUF_INIT((size_t)1 << 40)

void mc_buf_release(struct mc_buf *buf);
void mc_buf_clear(struct mc_buf *buf); /* empty, memory kept */

/* Each returns 0, or MC_LIMIT (and leaves the buffer as it was) where the maximum would be passed. */
int mc_buf_add(struct mc_buf *buf, const void *bytes, size_t length) MC_CHECKED;
int mc_buf_add_text(struct mc_buf *buf, const char *text) MC_CHECKED;

/* For buffers made with MC_BUF_OWN: passing the maximum is a fault of memcal's own and ends the program. */
void mc_buf_put(struct mc_buf *buf, const void *bytes, size_t length);
void mc_buf_puts(struct mc_buf *buf, const char *text);
void mc_buf_putc(struct mc_buf *buf, char c);
void mc_buf_putf(struct mc_buf *buf, const char *format, ...) MC_PRINTF(2, 3);

/* Room for `length` more bytes after the content; written there by the caller, counted by mc_buf_advance(). */
char *mc_buf_room(struct mc_buf *buf, size_t length) MC_CHECKED; /* NULL: the maximum would be passed */
void mc_buf_advance(struct mc_buf *buf, size_t length);

/* Drops `length` bytes from the front. */
void mc_buf_drop(struct mc_buf *buf, size_t length);

/* The content as a NUL-ended string, never NULL, owned by the buffer. */
const char *mc_buf_text(const struct mc_buf *buf);
/* The content, handed over (never NULL); the buffer is empty afterwards. */
char *mc_buf_take(struct mc_buf *buf);

#define MC_AUTOBUF MC_CLEANUP(mc_buf_release)
