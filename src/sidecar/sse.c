#include "sidecar/sse.h"

#include <string.h>

void mc_sse_init(struct mc_sse *sse)
{
    *sse = (struct mc_sse){.bytes = MC_BUF_OWN, .taken = 0, .scanned = 0, .line_empty = 1};
}

void mc_sse_release(struct mc_sse *sse)
{
    mc_buf_release(&sse->bytes);
}

void mc_sse_feed(struct mc_sse *sse, const void *bytes, size_t length)
{
    mc_buf_drop(&sse->bytes, sse->taken);
    sse->taken = 0;
    mc_buf_put(&sse->bytes, bytes, length);
}

/* A line ends with CR LF, LF or CR. The length of the line end at `p`, which stands at one; -1 where a CR is the last
 * byte that came, so that nobody knows yet. */
static int line_end(const char *p, size_t left)
{
    if (*p == '\n') {
        return 1;
    }
    return left < 2 ? -1 : p[1] == '\n' ? 2 : 1;
}

/* How many bytes stand before the first CR or LF. */
static size_t text_length(const char *p, size_t left)
{
    const char *lf = memchr(p, '\n', left);
    size_t length = lf ? (size_t)(lf - p) : left;
    const char *cr = memchr(p, '\r', length);
    return cr ? (size_t)(cr - p) : length;
}

int mc_sse_next(struct mc_sse *sse, struct mc_sse_event *out, struct mc_err *err)
{
    const char *start = mc_buf_text(&sse->bytes) + sse->taken;
    size_t left = sse->bytes.len - sse->taken;
    while (sse->scanned < left) {
        size_t text = text_length(start + sse->scanned, left - sse->scanned);
        sse->scanned += text;
        sse->line_empty = sse->line_empty && text == 0;
        int end = sse->scanned < left ? line_end(start + sse->scanned, left - sse->scanned) : -1;
        if (end < 0) {
            break;
        }
        int complete = sse->line_empty;
        sse->line_empty = 1;
        sse->scanned += (size_t)end;
        if (complete) {
            *out = (struct mc_sse_event){start, sse->scanned};
            sse->taken += sse->scanned;
            sse->scanned = 0;
            return 1;
        }
    }
    if (left > MC_SSE_EVENT_MAX) {
        return mc_fail(err, MC_LIMIT, "an event of the stream is longer than %d bytes", MC_SSE_EVENT_MAX);
    }
    return 0;
}

struct mc_sse_event mc_sse_rest(struct mc_sse *sse)
{
    struct mc_sse_event rest = {mc_buf_text(&sse->bytes) + sse->taken, sse->bytes.len - sse->taken};
    sse->taken = sse->bytes.len;
    sse->scanned = 0;
    return rest;
}

int mc_sse_data(const struct mc_sse_event *event, struct mc_buf *out)
{
    static const char field[] = "data:";
    size_t name = sizeof field - 1;
    int found = 0;
    mc_buf_clear(out);
    for (size_t at = 0; at < event->length;) {
        const char *line = event->bytes + at;
        size_t left = event->length - at;
        size_t length = text_length(line, left);
        if (length >= name && memcmp(line, field, name) == 0) {
            size_t skip = name + (length > name && line[name] == ' ');
            if (found) {
                mc_buf_putc(out, '\n');
            }
            mc_buf_put(out, line + skip, length - skip);
            found = 1;
        }
        at += length + 1; /* of CR LF the LF is an empty line, which has no data */
    }
    return found;
}
