#include "report/markdown.h"

#include <string.h>

static void put_char(struct mc_buf *out, char c)
{
    if (strchr("\\`*_{}[]<>|#~", c) && c) {
        mc_buf_putc(out, '\\');
    }
    mc_buf_putc(out, (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c);
}

void mc_markdown_put_bytes(struct mc_buf *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        put_char(out, text[i]);
    }
}

void mc_markdown_put(struct mc_buf *out, const char *text)
{
    mc_markdown_put_bytes(out, text, strlen(text));
}

void mc_markdown_quote(struct mc_buf *out, const char *text)
{
    mc_buf_puts(out, "> ");
    for (const char *p = text; *p; p++) {
        if (*p == '\n') {
            mc_buf_puts(out, "  \n> ");
        } else {
            put_char(out, *p);
        }
    }
    mc_buf_puts(out, "\n");
}
