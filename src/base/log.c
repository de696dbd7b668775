#include "base/log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

void mc_print_safe(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t step = mc_utf8_char(text + i, length - i);
        int safe = step > 0 && !mc_utf8_is_control(text + i, step);
        step = step ? step : 1;
        for (size_t j = i; j < i + step; j++) {
            fprintf(stream, safe ? "%c" : "\\x%02x", (unsigned char)text[j]);
        }
        i += step;
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
