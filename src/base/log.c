#include "base/log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void mc_print_safe(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7f) {
            fprintf(stream, "\\x%02x", c);
        } else {
            fputc(c, stream);
        }
    }
}

void mc_log(const struct mc_log *log, enum mc_log_level level, const char *format, ...)
{
    if (!log || level > log->level) {
        return;
    }
    va_list args;
    va_start(args, format);
    char *text = mc_vstrf(format, args);
    va_end(args);
    if (log->redactor) {
        char *clean = mc_redact_text(log->redactor, text);
        free(text);
        text = clean;
    }
    fputs("memcal: ", log->stream);
    mc_print_safe(log->stream, text, strlen(text));
    fputc('\n', log->stream);
    free(text);
}
