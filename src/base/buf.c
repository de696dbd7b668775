#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

void mc_buf_release(struct mc_buf *buf)
{
    free(buf->data);
    buf->data = NULL;
    buf->len = 0;
    buf->cap = 0;
}

void mc_buf_clear(struct mc_buf *buf)
{
    buf->len = 0;
    if (buf->data) {
        buf->data[0] = '\0';
    }
}

char *mc_buf_room(struct mc_buf *buf, size_t length)
{
    if (length > buf->max || buf->len > buf->max - length) {
        return NULL;
    }
    size_t needed = buf->len + length + 1;
    if (needed > buf->cap) {
        size_t wanted = buf->cap ? buf->cap : 64;
        while (wanted < needed) {
            wanted *= 2;
        }
        buf->data = mc_resize(buf->data, wanted, 1);
        buf->cap = wanted;
        buf->data[buf->len] = '\0';
    }
    return buf->data + buf->len;
}

void mc_buf_advance(struct mc_buf *buf, size_t length)
{
    buf->len += length;
    buf->data[buf->len] = '\0';
}

int mc_buf_add(struct mc_buf *buf, const void *bytes, size_t length)
{
    char *room = mc_buf_room(buf, length);
    if (!room) {
        return MC_LIMIT;
    }
    if (length) {
        memcpy(room, bytes, length);
    }
    mc_buf_advance(buf, length);
    return 0;
}

int mc_buf_add_text(struct mc_buf *buf, const char *text)
{
    return mc_buf_add(buf, text, strlen(text));
}

void mc_buf_put(struct mc_buf *buf, const void *bytes, size_t length)
{
    if (mc_buf_add(buf, bytes, length) != 0) {
        abort();
    }
}

void mc_buf_puts(struct mc_buf *buf, const char *text)
{
    mc_buf_put(buf, text, strlen(text));
}

void mc_buf_putc(struct mc_buf *buf, char c)
{
    mc_buf_put(buf, &c, 1);
}

void mc_buf_putf(struct mc_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    MC_AUTOFREE char *text = mc_vstrf(format, args);
    va_end(args);
    mc_buf_puts(buf, text);
}

void mc_buf_drop(struct mc_buf *buf, size_t length)
{
    if (length == 0) {
        return;
    }
    memmove(buf->data, buf->data + length, buf->len - length);
    buf->len -= length;
    buf->data[buf->len] = '\0';
}

const char *mc_buf_text(const struct mc_buf *buf)
{
    return buf->data ? buf->data : "";
}

char *mc_buf_take(struct mc_buf *buf)
{
    char *data = buf->data ? buf->data : mc_strdup("");
    buf->data = NULL;
    buf->len = 0;
    buf->cap = 0;
    return data;
}
