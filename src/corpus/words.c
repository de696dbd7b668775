#include "corpus/words.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

static const struct {
    const char *from;
    const char *to;
} plain_forms[] = {
    {"\xe2\x80\x98", "'"}, {"\xe2\x80\x99", "'"},   {"\xe2\x80\x9c", "\""}, {"\xe2\x80\x9d", "\""},
    {"\xe2\x80\x93", "-"}, {"\xe2\x80\x94", "-"},   {"\xe2\x80\x91", "-"},  {"\xc2\xa0", " "},
    {"\xe2\x80\xaf", " "}, {"\xe2\x80\xa6", "..."},
};

int mc_words_byte(unsigned char c)
{
    return c >= 0x80 || isalnum(c);
}

/* The plain form at *text, which is moved past it; NULL where there is none. */
static const char *plain_form(const char **text)
{
    if ((unsigned char)**text < 0x80) {
        return NULL;
    }
    for (size_t i = 0; i < MC_COUNT(plain_forms); i++) {
        if (mc_starts_with(*text, plain_forms[i].from)) {
            *text += strlen(plain_forms[i].from);
            return plain_forms[i].to;
        }
    }
    return NULL;
}

static void put_folded(struct mc_buf *out, char c)
{
    if (!isspace((unsigned char)c)) {
        mc_buf_putc(out, (char)tolower((unsigned char)c));
    } else if (out->len > 0 && out->data[out->len - 1] != ' ') {
        mc_buf_putc(out, ' ');
    }
}

char *mc_words_fold(const char *text)
{
    static const char ends[] = " .,;:!?";
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    while (*text) {
        const char *plain = plain_form(&text);
        if (!plain) {
            put_folded(&out, *text++);
            continue;
        }
        for (; *plain; plain++) {
            put_folded(&out, *plain);
        }
    }
    const char *folded = mc_buf_text(&out);
    size_t start = strspn(folded, ends);
    size_t end = out.len;
    while (end > start && strchr(ends, folded[end - 1])) {
        end--;
    }
    return mc_strndup(folded + start, end - start);
}

const char *mc_words_find(const char *text, const char *value, const char *from)
{
    size_t length = strlen(value);
    if (length == 0) {
        return NULL;
    }
    for (const char *at = strstr(from, value); at; at = strstr(at + 1, value)) {
        int open = at == text || !mc_words_byte((unsigned char)at[-1]) || !mc_words_byte((unsigned char)value[0]);
        int shut = !mc_words_byte((unsigned char)at[length]) || !mc_words_byte((unsigned char)value[length - 1]);
        if (open && shut) {
            return at;
        }
    }
    return NULL;
}
