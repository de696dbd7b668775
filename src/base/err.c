#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Marks a cut text: steps back over a character's continuation bytes and ends in "...". */
static void mark_cut(char *text, size_t size)
{
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)text[end] & 0xC0U) == 0x80U) {
        end--;
    }
    memcpy(text + end, "...", 4);
}

static void fill(char *text, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(text, size, format, args);
    if (length >= 0 && (size_t)length >= size) {
        mark_cut(text, size);
    }
    mc_utf8_mend(text);
}

int mc_vfail(struct mc_err *err, enum mc_code code, const char *format, va_list args)
{
    err->code = code;
    err->sys = 0;
    err->http = 0;
    err->place = 0;
    err->hint[0] = '\0';
    fill(err->text, sizeof err->text, format, args);
    return code;
}

int mc_fail(struct mc_err *err, enum mc_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mc_vfail(err, code, format, args);
    va_end(args);
    return code;
}

static void append(struct mc_err *err, const char *format, ...) MC_PRINTF(2, 3);
static void append(struct mc_err *err, const char *format, ...)
{
    size_t used = strlen(err->text);
    va_list args;
    va_start(args, format);
    fill(err->text + used, sizeof err->text - used, format, args);
    va_end(args);
}

static enum mc_code code_of_errno(int sys)
{
    switch (sys) {
    case ENOENT:
    case ENOTDIR:
        return MC_NOT_FOUND;
    case EEXIST:
        return MC_EXISTS;
    case EACCES:
    case EPERM:
        return MC_DENIED;
    case ETIMEDOUT:
        return MC_TIMEOUT;
    default:
        return MC_IO;
    }
}

int mc_fail_errno(struct mc_err *err, int sys, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mc_vfail(err, code_of_errno(sys), format, args);
    va_end(args);
    err->sys = sys;
    char reason[128];
    size_t room = sizeof err->text - sizeof reason;
    if (strlen(err->text) >= room) {
        mark_cut(err->text, room); /* the reason is worth more than the end of a long name */
    }
    append(err, ": %s", strerror_r(sys, reason, sizeof reason));
    if (sys == ENOSPC) {
        mc_hint(err, "free some space on that disk, then run the same command again");
    }
    return err->code;
}

int mc_wrap(struct mc_err *err, const char *format, ...)
{
    char inner[sizeof err->text];
    memcpy(inner, err->text, sizeof inner);
    va_list args;
    va_start(args, format);
    fill(err->text, sizeof err->text, format, args);
    va_end(args);
    if (strlen(err->text) + 8 < sizeof err->text) {
        append(err, ": %s", inner);
    }
    err->place = 0;
    return err->code;
}

int mc_wrap_place(struct mc_err *err, const char *place)
{
    if (!place[0]) {
        return err->code;
    }
    mc_wrap(err, "%s", place);
    size_t length = strlen(place);
    err->place = length + 2 < sizeof err->text && err->text[length] == ':' ? length : 0;
    return err->code;
}

int mc_hint(struct mc_err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err->hint, sizeof err->hint, format, args);
    va_end(args);
    return err->code;
}

const char *mc_code_name(enum mc_code code)
{
    static const char *const names[] = {"ok",      "internal",  "input",  "not_found", "exists",
                                        "timeout", "cancelled", "io",     "protocol",  "engine",
                                        "limit",   "denied",    "closed", "mismatch",  "budget"};
    size_t index = (size_t)(-(int)code);
    return index < MC_COUNT(names) ? names[index] : "unknown";
}
