#include "base/redact.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SHORTEST_SECRET = 6 };

/* Backslashes before one character that are still taken for an escape, and more than one byte of a secret can so become
 * ("uXXXX" after them). */
enum { LONGEST_RUN = 8, LONGEST_ESCAPE = 2 * LONGEST_RUN };

/* What the search for a key's shape may look ahead, and back (mc_redact_stream.before): "\\uXXXX". */
enum { LONGEST_SHAPE = 256, BEFORE = 6 };

struct form {
    char *bytes;
    size_t length;
    size_t secret; /* index into names */
};

struct mc_redactor {
    char **names;
    size_t name_count;
    size_t name_cap;
    struct form *forms;
    size_t form_count;
    size_t form_cap;
    size_t longest;
    unsigned char starts[256]; /* 1 for each byte that a secret or a key's shape begins with */
};

/* Shapes of common API keys: a fixed start and at least so many characters of a key's alphabet after it. */
static const struct {
    const char *start;
    size_t least;
} shapes[] = {{"sk-", 20},   {"AIza", 30},        {"AKIA", 16}, {"ghp_", 30}, {"gho_", 30},
              {"xoxb-", 20}, {"github_pat_", 30}, {"hf_", 30},  {"gsk_", 30}, {"xai-", 30}};

void mc_wipe(void *memory, size_t length)
{
    explicit_bzero(memory, length);
}

struct mc_redactor *mc_redactor_new(void)
{
    struct mc_redactor *redactor = mc_alloc(1, sizeof *redactor);
    for (size_t i = 0; i < MC_COUNT(shapes); i++) {
        redactor->starts[(unsigned char)shapes[i].start[0]] = 1;
    }
    return redactor;
}

void mc_redactor_free(struct mc_redactor *redactor)
{
    if (!redactor) {
        return;
    }
    for (size_t i = 0; i < redactor->form_count; i++) {
        mc_wipe(redactor->forms[i].bytes, redactor->forms[i].length);
        free(redactor->forms[i].bytes);
    }
    for (size_t i = 0; i < redactor->name_count; i++) {
        free(redactor->names[i]);
    }
    free(redactor->names);
    free(redactor->forms);
    free(redactor);
}

static void add_form(struct mc_redactor *r, const char *bytes, size_t length)
{
    for (size_t i = 0; i < r->form_count; i++) {
        if (r->forms[i].length == length && memcmp(r->forms[i].bytes, bytes, length) == 0) {
            return;
        }
    }
    r->forms = mc_grow(r->forms, r->form_count, &r->form_cap, sizeof *r->forms);
    r->forms[r->form_count++] = (struct form){mc_strndup(bytes, length), length, r->name_count - 1};
    r->starts[(unsigned char)bytes[0]] = 1;
    r->starts['\\'] = 1;
    r->starts['%'] = 1;
    if (bytes[0] == ' ') {
        r->starts['+'] = 1;
    }
    if (length > r->longest) {
        r->longest = length;
    }
}

/* The characters of base64 that depend on the secret alone where it starts `shift` bytes into a group of three. */
static void add_base64_form(struct mc_redactor *r, const char *value, size_t shift, const char *alphabet)
{
    size_t length = strlen(value) + shift;
    char *padded = mc_alloc(length + 3, 1);
    memcpy(padded + shift, value, length - shift);
    struct mc_buf out = MC_BUF_OWN;
    const unsigned char *p = (const unsigned char *)padded;
    for (size_t bit = 0; bit + 6 <= length * 8; bit += 6) {
        size_t byte = bit / 8;
        unsigned pair = (unsigned)p[byte] << 8 | p[byte + 1];
        if (bit >= shift * 8) {
            mc_buf_putc(&out, alphabet[pair >> (10 - bit % 8) & 63U]);
        }
    }
    if (out.len >= SHORTEST_SECRET) {
        add_form(r, mc_buf_text(&out), out.len);
    }
    mc_wipe(padded, length);
    free(padded);
    mc_wipe(out.data, out.cap);
    mc_buf_release(&out);
}

int mc_redactor_add(struct mc_redactor *redactor, const char *name, const char *value)
{
    static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char url_safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    if (strlen(value) < SHORTEST_SECRET) {
        return 0;
    }
    redactor->names = mc_grow(redactor->names, redactor->name_count, &redactor->name_cap, sizeof *redactor->names);
    redactor->names[redactor->name_count++] = mc_strdup(name);
    add_form(redactor, value, strlen(value));
    for (size_t shift = 0; shift < 3; shift++) {
        add_base64_form(redactor, value, shift, standard);
        add_base64_form(redactor, value, shift, url_safe);
    }
    return 1;
}

size_t mc_redactor_window(const struct mc_redactor *redactor)
{
    size_t longest = (redactor->longest + 1) * LONGEST_ESCAPE;
    return longest > LONGEST_SHAPE ? longest : LONGEST_SHAPE;
}

static size_t backslashes(const char *at, size_t left)
{
    size_t count = 0;
    while (count < left && at[count] == '\\') {
        count++;
    }
    return count;
}

/* The value of `count` hexadecimal digits, -1 where they are not. */
static int32_t hex(const char *at, size_t left, size_t count)
{
    int32_t value = 0;
    for (size_t i = 0; i < count; i++) {
        const char *digit = i < left && at[i] ? strchr("0123456789abcdef", tolower((unsigned char)at[i])) : NULL;
        if (!digit) {
            return -1;
        }
        value = value * 16 + (int32_t)(digit - "0123456789abcdef");
    }
    return value;
}

/* How long the UTF-8 of a code point is; its bytes are in `out`. */
static size_t utf8_of(uint32_t point, char out[4])
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; point >>= 6) {
        out[i] = (char)(0x80U | (point & 0x3fU));
    }
    out[0] = (char)(lead[length] | point);
    return length;
}

/* What follows the backslashes of a JSON escape: n, t, ..., uXXXX, or a pair of the latter. The length of the escape at
 * `at`, 0 where there is none; the text that it means is in `out`. */
static size_t json_escape(const char *at, size_t left, char out[4], size_t *length)
{
    static const char letters[] = "nrtbf";
    static const char meanings[] = "\n\r\t\b\f";
    const char *letter = left > 0 && at[0] ? strchr(letters, at[0]) : NULL;
    if (letter) {
        out[0] = meanings[letter - letters];
        *length = 1;
        return 1;
    }
    int32_t unit = left > 4 && at[0] == 'u' ? hex(at + 1, 4, 4) : -1;
    if (unit < 0) {
        return 0;
    }
    if (unit < 0xd800 || unit > 0xdbff) {
        *length = utf8_of((uint32_t)unit, out);
        return 5;
    }
    size_t gap = backslashes(at + 5, left - 5);
    const char *second = at + 5 + gap;
    size_t rest = left - 5 - gap;
    int32_t low = gap > 0 && rest > 4 && second[0] == 'u' ? hex(second + 1, 4, 4) : -1;
    if (low < 0xdc00 || low > 0xdfff || gap > LONGEST_RUN) {
        return 0;
    }
    *length = utf8_of(0x10000U + (((uint32_t)unit & 0x3ffU) << 10) + ((uint32_t)low & 0x3ffU), out);
    return 5 + gap + 5;
}

/* One step of match(): the next character of the secret as itself, percent-encoded, or as JSON after backslashes.
 * Returns how much of the text it takes, 0 where it is not there, and in *taken how much of the secret. */
static size_t match_one(const char *at, size_t left, size_t run, const char *secret, size_t rest, size_t *taken)
{
    char meant[4];
    size_t length = 0;
    *taken = 1;
    if (left > 2 && at[0] == '%' && hex(at + 1, left - 1, 2) == (unsigned char)secret[0]) {
        return 3;
    }
    if (left > 0 && (at[0] == secret[0] || (at[0] == '+' && secret[0] == ' '))) {
        return 1;
    }
    size_t escape = run > 0 ? json_escape(at, left, meant, &length) : 0;
    *taken = length;
    return escape && length <= rest && memcmp(meant, secret, length) == 0 ? escape : 0;
}

/*
 * The length of the secret at the start of the text, 0 where it is not there. It may be written plainly, with any of
 * its characters percent-encoded, or within JSON to any depth: whatever run of backslashes stands before a character is
 * taken with it, so that what is left of a JSON text is still JSON. A last odd backslash belongs to what follows.
 */
static size_t match(const char *text, size_t left, const char *secret, size_t length)
{
    size_t t = 0;
    size_t s = 0;
    while (s < length) {
        size_t own = backslashes(secret + s, length - s);
        size_t run = backslashes(text + t, left - t);
        if (own > 0 && run == 0 && left - t > 2 && text[t] == '%' && hex(text + t + 1, 2, 2) == '\\') {
            t += 3;
            s++;
            continue;
        }
        if (run < own || run > (own + 1) * LONGEST_RUN) {
            return 0;
        }
        t += run;
        s += own;
        if (s == length) {
            return t - run % 2;
        }
        size_t taken;
        size_t step = match_one(text + t, left - t, run, secret + s, length - s, &taken);
        if (step == 0) {
            return 0;
        }
        t += step;
        s += taken;
    }
    return t;
}

/* False where a text that begins with `c` cannot begin with the secret: most places are done with here. */
static int may_begin(const struct form *form, char c)
{
    return c == form->bytes[0] || c == '\\' || c == '%' || c == '+';
}

/* The longest match at a place; *end is its length. */
static const struct form *form_at(const struct mc_redactor *r, const char *at, size_t left, size_t *end)
{
    const struct form *best = NULL;
    *end = 0;
    for (size_t i = 0; i < r->form_count; i++) {
        const struct form *form = &r->forms[i];
        if (!may_begin(form, at[0])) {
            continue;
        }
        size_t length = match(at, left, form->bytes, form->length);
        if (length == 0 && form->length <= left && memcmp(at, form->bytes, form->length) == 0) {
            length = form->length; /* it has what looks like an escape itself */
        }
        if (length > *end) {
            best = form;
            *end = length;
        }
    }
    return best;
}

/* True where a word may begin: after anything but a letter or digit, those of an escape aside. */
static int word_starts(const char *bytes, size_t i)
{
    if (i == 0 || !isalnum((unsigned char)bytes[i - 1])) {
        return 1;
    }
    return (i > 1 && bytes[i - 2] == '\\') || (i > 2 && bytes[i - 3] == '%') ||
           (i > 5 && bytes[i - 6] == '\\' && bytes[i - 5] == 'u');
}

static size_t shape_at(const char *at, size_t left)
{
    for (size_t i = 0; i < MC_COUNT(shapes); i++) {
        size_t start = strlen(shapes[i].start);
        if (left < start || memcmp(at, shapes[i].start, start) != 0) {
            continue;
        }
        size_t end = start;
        while (end < left && (isalnum((unsigned char)at[end]) || at[end] == '-' || at[end] == '_')) {
            end++;
        }
        if (end - start >= shapes[i].least) {
            return end;
        }
    }
    return 0;
}

/* Redacts bytes[start..limit) into *out. A secret that begins before `limit` may end after it; a key's shape that runs
 * to the end of the bytes is left for later unless they are the `last`. Returns where it stopped. */
static size_t redact_part(const struct mc_redactor *r, const char *bytes, size_t length, size_t start, size_t limit,
                          int last, struct mc_buf *out)
{
    enum { LONGEST_KEY = 65536 };
    size_t kept = start;
    size_t i = start;
    while (i < limit) {
        size_t end = 0;
        if (!r->starts[(unsigned char)bytes[i]]) {
            i++;
            continue;
        }
        const struct form *form = form_at(r, bytes + i, length - i, &end);
        if (!form) {
            end = word_starts(bytes, i) ? shape_at(bytes + i, length - i) : 0;
        }
        if (!end) {
            /* Backslashes go in pairs: a match never begins at the second one. */
            i += bytes[i] == '\\' && i + 1 < length && bytes[i + 1] == '\\' ? 2 : 1;
            continue;
        }
        if (!form && !last && i + end == length && end < LONGEST_KEY) {
            break;
        }
        mc_buf_put(out, bytes + kept, i - kept);
        mc_buf_putf(out, "[secret:%s]", form ? r->names[form->secret] : "key");
        i += end;
        kept = i;
    }
    mc_buf_put(out, bytes + kept, i - kept);
    return i;
}

void mc_redact_bytes(const struct mc_redactor *redactor, const char *bytes, size_t length, struct mc_buf *out)
{
    redact_part(redactor, bytes, length, 0, length, 1, out);
}

void mc_redact_stream_init(struct mc_redact_stream *stream, const struct mc_redactor *redactor)
{
    *stream = (struct mc_redact_stream){.redactor = redactor, .held = MC_BUF_OWN, .before = 0};
}

void mc_redact_stream_add(struct mc_redact_stream *stream, const void *bytes, size_t length, struct mc_buf *out)
{
    struct mc_buf *held = &stream->held;
    size_t window = mc_redactor_window(stream->redactor);
    mc_buf_put(held, bytes, length);
    if (held->len <= window + stream->before) {
        return;
    }
    size_t stop = redact_part(stream->redactor, held->data, held->len, stream->before, held->len - window, 0, out);
    stream->before = stop < BEFORE ? stop : BEFORE;
    mc_buf_drop(held, stop - stream->before);
}

void mc_redact_stream_end(struct mc_redact_stream *stream, struct mc_buf *out)
{
    struct mc_buf *held = &stream->held;
    if (held->data) {
        redact_part(stream->redactor, held->data, held->len, stream->before, held->len, 1, out);
        mc_wipe(held->data, held->cap);
    }
    mc_buf_release(held);
}

char *mc_redact_text(const struct mc_redactor *redactor, const char *text)
{
    struct mc_buf out = MC_BUF_OWN;
    mc_redact_bytes(redactor, text, strlen(text), &out);
    return mc_buf_take(&out);
}
