#include "protocol/lines.h"

#include <string.h>

void mc_lines_init(struct mc_lines *lines, size_t max)
{
    *lines = (struct mc_lines){.bytes = MC_BUF_OWN, .max = max, .taken = 0, .scanned = 0};
}

void mc_lines_release(struct mc_lines *lines)
{
    mc_buf_release(&lines->bytes);
    lines->taken = 0;
    lines->scanned = 0;
}

static void drop_taken(struct mc_lines *lines)
{
    mc_buf_drop(&lines->bytes, lines->taken);
    lines->taken = 0;
}

void mc_lines_feed(struct mc_lines *lines, const void *bytes, size_t length)
{
    drop_taken(lines);
    mc_buf_put(&lines->bytes, bytes, length);
}

/* The length of the first line that was not given out, its newline included; 0 where there is no newline yet. */
static size_t find_line(struct mc_lines *lines)
{
    const char *start = mc_buf_text(&lines->bytes) + lines->taken;
    size_t left = lines->bytes.len - lines->taken;
    const char *newline = memchr(start + lines->scanned, '\n', left - lines->scanned);
    if (!newline) {
        lines->scanned = left;
        return 0;
    }
    lines->scanned = (size_t)(newline - start);
    return lines->scanned + 1;
}

int mc_lines_ready(struct mc_lines *lines)
{
    return find_line(lines) > 0 || lines->bytes.len - lines->taken >= lines->max;
}

int mc_lines_next(struct mc_lines *lines, struct mc_line *line, struct mc_err *err)
{
    size_t whole = find_line(lines);
    size_t left = lines->bytes.len - lines->taken;
    if (whole == 0 && left < lines->max) {
        return 0;
    }
    char *text = lines->bytes.data + lines->taken;
    if (whole == 0 || whole > lines->max) {
        *line = (struct mc_line){text, whole ? whole - 1 : left};
        return mc_fail(err, MC_PROTOCOL, "a line is longer than the %zu bytes allowed", lines->max);
    }
    text[whole - 1] = '\0';
    *line = (struct mc_line){text, whole - 1};
    lines->taken += whole;
    lines->scanned = 0;
    size_t valid = mc_utf8_valid(line->text, line->length);
    if (valid < line->length) {
        return mc_fail(err, MC_PROTOCOL, "byte %zu of a line is not UTF-8", valid + 1);
    }
    return 1;
}

int mc_lines_end(struct mc_lines *lines, struct mc_line *line, struct mc_err *err)
{
    size_t left = lines->bytes.len - lines->taken;
    if (left == 0) {
        return 0;
    }
    *line = (struct mc_line){lines->bytes.data + lines->taken, left};
    return mc_fail(err, MC_PROTOCOL, "the stream ended within a line: its last %zu bytes have no newline", left);
}
