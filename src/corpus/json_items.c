#include "corpus/json_items.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { CHUNK = 65536, END = -1, FAILED = -2 };

struct mc_items {
    char *path;
    int fd;
    int line;
    int begun; /* the list's "[" was read */
    int count;
    size_t used;
    size_t filled;
    struct mc_buf item;
    char chunk[CHUNK];
};

static int open_regular(struct mc_items *items, struct mc_err *err)
{
    items->fd = open(items->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (items->fd < 0) {
        return mc_fail_errno(err, errno, "opening %s", items->path);
    }
    struct stat info;
    if (fstat(items->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return mc_fail(err, MC_INPUT, "%s is not a regular file", items->path);
    }
    return 0;
}

int mc_items_open(const char *path, size_t max, struct mc_items **out, struct mc_err *err)
{
    struct mc_items *items = mc_alloc(1, sizeof *items);
    items->path = mc_strdup(path);
    items->line = 1;
    items->item = MC_BUF_INIT(max);
    int rc = open_regular(items, err);
    if (rc != 0) {
        mc_items_close(items);
        return rc;
    }
    *out = items;
    return 0;
}

void mc_items_close(struct mc_items *items)
{
    if (items) {
        if (items->fd >= 0) {
            close(items->fd);
        }
        free(items->path);
        mc_buf_release(&items->item);
        free(items);
    }
}

/* The next byte without taking it; END, or FAILED with *err. */
static int peek(struct mc_items *items, struct mc_err *err)
{
    while (items->used == items->filled) {
        ssize_t n = read(items->fd, items->chunk, sizeof items->chunk);
        if (n < 0 && errno != EINTR) {
            mc_fail_errno(err, errno, "reading %s", items->path);
            return FAILED;
        }
        if (n == 0) {
            return END;
        }
        items->used = 0;
        items->filled = n > 0 ? (size_t)n : 0;
    }
    return (unsigned char)items->chunk[items->used];
}

static void take(struct mc_items *items)
{
    items->line += items->chunk[items->used] == '\n' && items->line < INT_MAX;
    items->used++;
}

/* The next byte that is no white space. */
static int peek_solid(struct mc_items *items, struct mc_err *err)
{
    int c;
    while ((c = peek(items, err)) == ' ' || c == '\t' || c == '\r' || c == '\n') {
        take(items);
    }
    return c;
}

static int fail_here(const struct mc_items *items, struct mc_err *err, enum mc_code code, const char *what)
{
    mc_fail(err, code, "%s", what);
    MC_AUTOFREE char *place = mc_strf("%s:%d", items->path, items->line);
    return mc_wrap_place(err, place);
}

/* Gathers the bytes of one item: up to the comma or bracket of the list itself. Strings are told apart, nesting
 * counted; whether it is valid is the parser's to say. */
static int gather(struct mc_items *items, struct mc_err *err)
{
    size_t depth = 0;
    int quoted = 0;
    int escaped = 0;
    mc_buf_clear(&items->item);
    for (;;) {
        int c = peek(items, err);
        if (c == FAILED) {
            return err->code;
        }
        if (c == END) {
            return fail_here(items, err, MC_INPUT, "the file ends inside the list");
        }
        if (!quoted && depth == 0 && (c == ',' || c == ']')) {
            return 0;
        }
        char byte = (char)c;
        if (mc_buf_add(&items->item, &byte, 1) != 0) {
            return fail_here(items, err, MC_LIMIT, "an item of the list is too large");
        }
        take(items);
        if (quoted) {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        quoted = c == '"';
        depth += c == '{' || c == '[';
        depth -= (c == '}' || c == ']') && depth > 0;
    }
}

/* Moves to the next item: 1 there is one, 0 the list has ended. */
static int advance(struct mc_items *items, struct mc_err *err)
{
    int c = peek_solid(items, err);
    if (!items->begun) {
        if (c != '[') {
            return c == FAILED ? err->code : fail_here(items, err, MC_INPUT, "the file is not a JSON list");
        }
        items->begun = 1;
        take(items);
        c = peek_solid(items, err);
    } else if (c == ',') {
        take(items);
        return 1;
    }
    if (c == FAILED) {
        return err->code;
    }
    if (c == ']') {
        take(items);
        c = peek_solid(items, err);
        if (c == FAILED) {
            return err->code;
        }
        return c == END ? 0 : fail_here(items, err, MC_INPUT, "something follows the end of the list");
    }
    return items->count == 0 && c != END ? 1 : fail_here(items, err, MC_INPUT, "the file ends inside the list");
}

int mc_items_next(struct mc_items *items, json_t **out, int *line, struct mc_err *err)
{
    int rc = advance(items, err);
    if (rc != 1) {
        return rc;
    }
    if (peek_solid(items, err) == FAILED) {
        return err->code;
    }
    *line = items->line;
    rc = gather(items, err);
    if (rc != 0) {
        return rc;
    }
    items->count = 1;
    struct mc_source source = {.name = items->path, .line = *line};
    *out = mc_json_parse(mc_buf_text(&items->item), items->item.len, &source, err);
    return *out ? 1 : err->code;
}
