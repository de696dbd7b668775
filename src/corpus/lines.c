#include "corpus/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

enum { CHUNK = 65536 };

struct mc_jsonl {
    char *path;
    int fd;
    int number;      /* of the line read last */
    int ended;       /* the file's end was reached */
    uint64_t offset; /* in the file, of the first byte in `chunk` not yet used */
    size_t used;
    size_t filled;
    struct mc_buf line;
    char chunk[CHUNK];
};

static int open_regular(struct mc_jsonl *lines, struct mc_err *err)
{
    lines->fd = open(lines->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (lines->fd < 0 && errno == ELOOP) {
        mc_fail(err, MC_INPUT, "%s is a symbolic link", lines->path);
        return mc_hint(err, "put the file itself there");
    }
    if (lines->fd < 0) {
        return mc_fail_errno(err, errno, "opening %s", lines->path);
    }
    struct stat info;
    if (fstat(lines->fd, &info) != 0) {
        return mc_fail_errno(err, errno, "reading %s", lines->path);
    }
    return S_ISREG(info.st_mode) ? 0 : mc_fail(err, MC_INPUT, "%s is not a regular file", lines->path);
}

int mc_jsonl_open(const char *path, size_t max, struct mc_jsonl **out, struct mc_err *err)
{
    struct mc_jsonl *lines = mc_alloc(1, sizeof *lines);
    lines->path = mc_strdup(path);
    lines->line = MC_BUF_INIT(max + 1); /* and a carriage return */
    int rc = open_regular(lines, err);
    if (rc != 0) {
        mc_jsonl_close(lines);
        return rc;
    }
    *out = lines;
    return 0;
}

void mc_jsonl_close(struct mc_jsonl *lines)
{
    if (lines) {
        if (lines->fd >= 0) {
            close(lines->fd);
        }
        free(lines->path);
        mc_buf_release(&lines->line);
        free(lines);
    }
}

void mc_jsonl_at(struct mc_jsonl **lines)
{
    mc_jsonl_close(*lines);
    *lines = NULL;
}

int mc_jsonl_dup(const struct mc_jsonl *lines, int *fd, struct mc_err *err)
{
    int copy = fcntl(lines->fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) {
        return mc_fail_errno(err, errno, "opening %s", lines->path);
    }
    *fd = copy;
    return 0;
}

static int fill(struct mc_jsonl *lines, struct mc_err *err)
{
    ssize_t n;
    do {
        n = read(lines->fd, lines->chunk, sizeof lines->chunk);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return mc_fail_errno(err, errno, "reading %s", lines->path);
    }
    lines->used = 0;
    lines->filled = (size_t)n;
    lines->ended = n == 0;
    return 0;
}

/* Gathers bytes up to the next LF or the end; what passes the maximum is dropped and *over set. */
static int gather(struct mc_jsonl *lines, int *over, int *found, struct mc_err *err)
{
    mc_buf_clear(&lines->line);
    *over = 0;
    *found = 0;
    for (;;) {
        if (lines->used == lines->filled) {
            int rc = fill(lines, err);
            if (rc != 0 || lines->ended) {
                return rc;
            }
        }
        *found = 1;
        const char *from = lines->chunk + lines->used;
        size_t left = lines->filled - lines->used;
        const char *end = memchr(from, '\n', left);
        size_t length = end ? (size_t)(end - from) : left;
        *over |= mc_buf_add(&lines->line, from, length) != 0;
        size_t taken = length + (end != NULL);
        lines->used += taken;
        lines->offset += taken;
        if (end) {
            return 0;
        }
    }
}

static int refuse(const struct mc_jsonl *lines, struct mc_err *err, enum mc_code code, const char *hint,
                  const char *format, ...) MC_PRINTF(5, 6);
static int refuse(const struct mc_jsonl *lines, struct mc_err *err, enum mc_code code, const char *hint,
                  const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mc_vfail(err, code, format, args);
    va_end(args);
    MC_AUTOFREE char *place = mc_strf("%s:%d", lines->path, lines->number);
    mc_wrap_place(err, place);
    return mc_hint(err, "%s", hint);
}

static int check_line(const struct mc_jsonl *lines, int over, const char *text, size_t length, struct mc_err *err)
{
    size_t max = lines->line.max - 1;
    if (over || length > max) {
        return refuse(lines, err, MC_LIMIT, "shorten the record, or split it", "the line is longer than %zu bytes",
                      max);
    }
    if (lines->number == 1 && mc_starts_with(text, "\xef\xbb\xbf")) {
        return refuse(lines, err, MC_INPUT, "save the file as UTF-8 without a byte order mark",
                      "the file starts with a byte order mark");
    }
    if (memchr(text, '\0', length)) {
        return refuse(lines, err, MC_INPUT, "save the file as UTF-8 text", "the line holds a NUL byte");
    }
    if (strspn(text, " \t\r") == length) {
        return refuse(lines, err, MC_INPUT, "remove the line", "the line is empty");
    }
    return 0;
}

int mc_jsonl_next(struct mc_jsonl *lines, struct mc_line *out, struct mc_err *err)
{
    uint64_t start = lines->offset;
    int over;
    int found;
    int rc = gather(lines, &over, &found, err);
    if (rc != 0 || !found) {
        return rc;
    }
    if (lines->number == INT_MAX) {
        return mc_fail(err, MC_IO, "reading %s: too many lines", lines->path);
    }
    lines->number++;
    const char *text = mc_buf_text(&lines->line);
    size_t length = lines->line.len;
    if (length > 0 && text[length - 1] == '\r') {
        lines->line.data[--length] = '\0';
    }
    rc = check_line(lines, over, text, length, err);
    if (rc != 0) {
        return rc;
    }
    *out = (struct mc_line){.text = text, .length = length, .number = lines->number, .offset = start};
    return 1;
}
