#include "engine/head.h"

#include <string.h>
#include <strings.h>

/* Length up to and with the empty line, 0 where it has not come yet. Bare line feeds are taken too (RFC 9112 2.2). */
static size_t head_size(const char *bytes, size_t length)
{
    for (size_t i = 0; i + 1 < length; i++) {
        if (bytes[i] != '\n') {
            continue;
        }
        if (bytes[i + 1] == '\n') {
            return i + 2;
        }
        if (bytes[i + 1] == '\r' && i + 2 < length && bytes[i + 2] == '\n') {
            return i + 3;
        }
    }
    return 0;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* As much of "HTTP/1.x NNN" as has come must fit. */
static int status_line(const char *bytes, size_t length, int *status)
{
    static const char shape[] = "HTTP/1.# ###";
    size_t known = sizeof shape - 1;
    for (size_t i = 0; i < length && i < known; i++) {
        if (shape[i] == '#' ? !is_digit(bytes[i]) : shape[i] != bytes[i]) {
            return -1;
        }
    }
    if (length > known) {
        if (!strchr(" \r\n", bytes[known])) {
            return -1;
        }
        *status = (bytes[9] - '0') * 100 + (bytes[10] - '0') * 10 + (bytes[11] - '0');
    }
    return 0;
}

/* Where `line` is the field `name`: its value without spaces around it. */
static const char *field(const char *line, size_t length, const char *name, size_t *value_length)
{
    size_t n = strlen(name);
    if (length <= n || strncasecmp(line, name, n) != 0 || line[n] != ':') {
        return NULL;
    }
    const char *value = line + n + 1;
    size_t left = length - n - 1;
    while (left > 0 && (*value == ' ' || *value == '\t')) {
        value++;
        left--;
    }
    while (left > 0 && strchr(" \t\r", value[left - 1])) {
        left--;
    }
    *value_length = left;
    return value;
}

static int read_length(const char *value, size_t length, int64_t *out, struct mc_err *err)
{
    int64_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(value[i]) || number > INT64_MAX / 16) {
            length = 0;
            break;
        }
        number = number * 10 + (value[i] - '0');
    }
    if (length == 0) {
        return mc_fail(err, MC_PROTOCOL, "the engine's answer has a Content-Length that is no number");
    }
    *out = number;
    return 0;
}

static int read_fields(const char *bytes, size_t size, struct mc_head *out, struct mc_err *err)
{
    for (size_t at = 0; at < size;) {
        const char *line = bytes + at;
        const char *end = memchr(line, '\n', size - at);
        size_t length = end ? (size_t)(end - line) : size - at;
        size_t n;
        const char *value = field(line, length, "Content-Length", &n);
        if (value) {
            int rc = read_length(value, n, &out->length, err);
            if (rc != 0) {
                return rc;
            }
        }
        value = field(line, length, "Transfer-Encoding", &n);
        if (value) {
            out->chunked = n == strlen("chunked") && strncasecmp(value, "chunked", n) == 0;
        }
        at += length + 1;
    }
    return 0;
}

int mc_head_parse(const char *bytes, size_t length, struct mc_head *out, struct mc_err *err)
{
    *out = (struct mc_head){.status = 0, .length = -1};
    if (status_line(bytes, length, &out->status) != 0) {
        return mc_fail(err, MC_PROTOCOL, "the answer is no HTTP: it comes from no container engine");
    }
    out->size = head_size(bytes, length < MC_HEAD_MAX ? length : MC_HEAD_MAX);
    if (out->size == 0) {
        return length < MC_HEAD_MAX
                   ? 0
                   : mc_fail(err, MC_LIMIT, "the head of the engine's answer is larger than %zu bytes", MC_HEAD_MAX);
    }
    int rc = read_fields(bytes, out->size, out, err);
    return rc != 0 ? rc : 1;
}
