#include "base/utf8.h"

#include <string.h>

/* By the syntax of RFC 3629, section 4. */
size_t mc_utf8_char(const char *bytes, size_t left)
{
    const unsigned char *p = (const unsigned char *)bytes;
    if (p[0] < 0x80) {
        return 1;
    }
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || left < length) {
        return 0;
    }
    unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < low || p[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((p[i] & 0xc0U) != 0x80) {
            return 0;
        }
    }
    return length;
}

int mc_utf8_is_control(const char *character, size_t length)
{
    unsigned char first = (unsigned char)character[0];
    if (length == 1) {
        return first < 0x20 || first == 0x7f;
    }
    return length == 2 && first == 0xc2 && (unsigned char)character[1] < 0xa0;
}

size_t mc_utf8_valid(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t step = mc_utf8_char(bytes + i, length - i);
        if (step == 0) {
            return i;
        }
        i += step;
    }
    return length;
}

void mc_utf8_mend(char *text)
{
    size_t left = strlen(text);
    for (char *p = text; left > 0;) {
        size_t step = mc_utf8_char(p, left);
        if (step == 0) {
            *p = '?';
            step = 1;
        }
        p += step;
        left -= step;
    }
}
