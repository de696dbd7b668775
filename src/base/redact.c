#include "base/redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SHORTEST_SECRET = 6 };

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
    if (length > r->longest) {
        r->longest = length;
    }
}

static void add_json_form(struct mc_redactor *r, const char *value)
{
    struct mc_buf out = MC_BUF_OWN;
    for (const char *p = value; *p; p++) {
        if (*p == '"' || *p == '\\' || *p == '/') {
            mc_buf_putf(&out, "\\%c", *p);
        } else {
            mc_buf_putc(&out, *p);
        }
    }
    add_form(r, mc_buf_text(&out), out.len);
    /* The same with '/' as most encoders leave it. */
    mc_buf_clear(&out);
    for (const char *p = value; *p; p++) {
        if (*p == '"' || *p == '\\') {
            mc_buf_putc(&out, '\\');
        }
        mc_buf_putc(&out, *p);
    }
    add_form(r, mc_buf_text(&out), out.len);
    mc_wipe(out.data, out.cap);
    mc_buf_release(&out);
}

static void add_url_form(struct mc_redactor *r, const char *value, const char *digits)
{
    struct mc_buf out = MC_BUF_OWN;
    for (const char *p = value; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (isalnum(c) || strchr("-._~", c)) {
            mc_buf_putc(&out, (char)c);
        } else {
            mc_buf_putf(&out, "%%%c%c", digits[c >> 4], digits[c & 15U]);
        }
    }
    add_form(r, mc_buf_text(&out), out.len);
    mc_wipe(out.data, out.cap);
    mc_buf_release(&out);
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
    add_json_form(redactor, value);
    add_url_form(redactor, value, "0123456789ABCDEF");
    add_url_form(redactor, value, "0123456789abcdef");
    for (size_t shift = 0; shift < 3; shift++) {
        add_base64_form(redactor, value, shift, standard);
        add_base64_form(redactor, value, shift, url_safe);
    }
    return 1;
}

size_t mc_redactor_window(const struct mc_redactor *redactor)
{
    enum { LONGEST_SHAPE = 256 };
    return redactor->longest > LONGEST_SHAPE ? redactor->longest : LONGEST_SHAPE;
}

static const struct form *form_at(const struct mc_redactor *r, const char *at, size_t left)
{
    const struct form *best = NULL;
    for (size_t i = 0; i < r->form_count; i++) {
        const struct form *form = &r->forms[i];
        if (form->length <= left && (!best || form->length > best->length) && at[0] == form->bytes[0] &&
            memcmp(at, form->bytes, form->length) == 0) {
            best = form;
        }
    }
    return best;
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
        if (!r->starts[(unsigned char)bytes[i]]) {
            i++;
            continue;
        }
        const struct form *form = form_at(r, bytes + i, length - i);
        int word_starts = i == 0 || !isalnum((unsigned char)bytes[i - 1]);
        size_t shape = form || !word_starts ? 0 : shape_at(bytes + i, length - i);
        if (!form && !shape) {
            i++;
            continue;
        }
        if (!form && !last && i + shape == length && shape < LONGEST_KEY) {
            break;
        }
        mc_buf_put(out, bytes + kept, i - kept);
        mc_buf_putf(out, "[secret:%s]", form ? r->names[form->secret] : "key");
        i += form ? form->length : shape;
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
    if (stop > 0) {
        mc_buf_drop(held, stop - 1);
        stream->before = 1;
    }
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
