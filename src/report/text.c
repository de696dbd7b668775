#include "report/text.h"

#include <string.h>

#include "base/utf8.h"

/* Marks of CommonMark, HTML, and what GitHub adds (tables, mathematics, mentions, and links made of bare addresses). */
static int is_mark(const char *text, const char *at)
{
    int scheme = at[0] == ':' && at[1] == '/';
    int web = at[0] == '.' && at - text >= 3 && strncmp(at - 3, "www", 3) == 0;
    return scheme || web || strchr("\\`*_[]<>|#&~$@", at[0]) != NULL;
}

void mc_text_put_part(struct mc_buf *out, const char *text, size_t length, enum mc_text_format format)
{
    size_t left = length;
    for (const char *p = text; left > 0;) {
        size_t step = mc_utf8_char(p, left);
        if (step == 0 || mc_utf8_is_control(p, step)) {
            mc_buf_putc(out, ' ');
        } else {
            if (format == MC_MARKDOWN && is_mark(text, p)) {
                mc_buf_putc(out, '\\');
            }
            mc_buf_put(out, p, step);
        }
        p += step ? step : 1;
        left -= step ? step : 1;
    }
}

void mc_text_put(struct mc_buf *out, const char *text, enum mc_text_format format)
{
    mc_text_put_part(out, text, strlen(text), format);
}

void mc_text_quote(struct mc_buf *out, const char *text)
{
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        size_t length = strcspn(line, "\n");
        mc_buf_puts(out, "> ");
        mc_text_put_part(out, line, length, MC_MARKDOWN);
        mc_buf_puts(out, line[length] ? "  \n" : "\n");
    }
}
