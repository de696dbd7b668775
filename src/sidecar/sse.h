/*
 * Server-sent events, cut out of bytes that come in any pieces (WHATWG HTML, section 9.2.6), kept byte for byte.
 *
 * Ownership: the splitter owns its bytes; an event given out is valid until the next call on the same splitter.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum { MC_SSE_EVENT_MAX = 4 << 20 };

struct mc_sse {
    struct mc_buf bytes;
    size_t taken;   /* bytes at the front that were given out */
    size_t scanned; /* bytes after them that were looked at */
    int line_empty; /* nothing stands in the line at `scanned` */
};

struct mc_sse_event {
    const char *bytes; /* as they came, with the empty line that ends the event */
    size_t length;
};

void mc_sse_init(struct mc_sse *sse);
void mc_sse_release(struct mc_sse *sse);
void mc_sse_feed(struct mc_sse *sse, const void *bytes, size_t length);

/* 1 with the next event, 0 where no whole one is there, MC_LIMIT where one passes MC_SSE_EVENT_MAX. */
int mc_sse_next(struct mc_sse *sse, struct mc_sse_event *out, struct mc_err *err) MC_CHECKED;
/* What is left at the end of the stream, an event without its end; length 0 where nothing is. */
struct mc_sse_event mc_sse_rest(struct mc_sse *sse);

/* The event's data: its "data:" lines joined by newlines, into *out (cleared first). False where it has none. */
int mc_sse_data(const struct mc_sse_event *event, struct mc_buf *out);
