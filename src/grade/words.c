#include "grade/words.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ASCII for U+00C0 to U+017F, letter by letter; '_' keeps the code point's own bytes. Two-letter forms apart. */
static const char folded[] = "AAAAAAACEEEEIIIIDNOOOOO_OUUUUYTsaaaaaaaceeeeiiiidnooooo_ouuuuyty"
                             "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLlLlNnNnNnnNnOoOoOoOoRr"
                             "RrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";

struct reader {
    const unsigned char *text;
    size_t length;
    size_t at;
    struct mc_words *out;
    size_t capacity;
    char *pool; /* next free byte */
    int space;  /* white space since the last word */
    int breaks; /* line breaks since the last word */
    int item;   /* a list's bullet since the last word */
};

/* The code point at `at` and its size; an invalid byte is U+FFFD of size 1. */
static uint32_t point_at(const struct reader *r, size_t at, size_t *size)
{
    unsigned char c = r->text[at];
    *size = 1;
    if (c < 0x80) {
        return c;
    }
    size_t want = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    if (c < 0xC2 || c > 0xF4 || at + want > r->length) {
        return 0xFFFD;
    }
    uint32_t point = want == 4 ? c & 0x07U : want == 3 ? c & 0x0FU : c & 0x1FU;
    for (size_t i = 1; i < want; i++) {
        unsigned char next = r->text[at + i];
        if ((next & 0xC0U) != 0x80U) {
            return 0xFFFD;
        }
        point = (point << 6) | (next & 0x3FU);
    }
    *size = want;
    return point;
}

static int is_space_point(uint32_t p)
{
    return p == ' ' || p == '\t' || p == '\r' || p == '\n' || p == '\f' || p == '\v' || p == 0xA0 ||
           (p >= 0x2000 && p <= 0x200A) || p == 0x202F || p == 0x3000;
}

/* Marks that carry nothing: joiners, soft hyphens, combining accents, variation selectors. */
static int is_silent_point(uint32_t p)
{
    return p == 0xAD || (p >= 0x300 && p <= 0x36F) || (p >= 0x200B && p <= 0x200F) || p == 0x2060 || p == 0xFEFF ||
           (p >= 0xFE00 && p <= 0xFE0F);
}

static int is_letter_point(uint32_t p)
{
    if (p < 0x80) {
        return isalpha((int)p) != 0;
    }
    return p >= 0xC0 && p != 0xD7 && p != 0xF7 && !(p >= 0x2000 && p <= 0x2BFF) && !(p >= 0x3000 && p <= 0x303F) &&
           !(p >= 0xFE00 && p <= 0xFE0F) && !(p >= 0xFF00 && p <= 0xFF0F) && p != 0xFFFD && p < 0x1F000 &&
           p != 0xFEFF && !(p >= 0x300 && p <= 0x36F);
}

static int is_apostrophe_point(uint32_t p)
{
    return p == '\'' || p == 0x2019 || p == 0x2018 || p == 0x02BC;
}

static uint32_t look(const struct reader *r, size_t at, size_t *size)
{
    size_t unused;
    return at < r->length ? point_at(r, at, size ? size : &unused) : 0;
}

static void put(struct reader *r, char c)
{
    *r->pool++ = c;
}

static void put_letter(struct reader *r, uint32_t p, size_t size)
{
    if (p < 0x80) {
        put(r, (char)tolower((int)p));
    } else if (p >= 0xC0 && p <= 0x17F && folded[p - 0xC0] != '_') {
        put(r, (char)tolower(folded[p - 0xC0]));
        if (p == 0xC6 || p == 0xE6) {
            put(r, 'e');
        } else if (p == 0xDF) {
            put(r, 's');
        }
    } else {
        for (size_t i = 0; i < size; i++) {
            put(r, (char)r->text[r->at + i]);
        }
    }
}

static struct mc_word *add_word(struct reader *r, enum mc_word_kind kind, size_t start)
{
    struct mc_words *out = r->out;
    out->items = mc_grow(out->items, out->count, &r->capacity, sizeof *out->items);
    struct mc_word *word = &out->items[out->count++];
    *word = (struct mc_word){.start = start, .end = start, .norm = r->pool, .kind = kind};
    word->glued = !r->space && out->count > 1;
    word->breaks = (unsigned char)(r->breaks > 2 ? 2 : r->breaks);
    word->item = r->item != 0;
    r->space = 0;
    r->breaks = 0;
    r->item = 0;
    return word;
}

static void end_word(struct reader *r, struct mc_word *word)
{
    put(r, '\0');
    word->end = r->at;
}

static void read_number(struct reader *r)
{
    struct mc_word *word = add_word(r, MC_WORD_NUMBER, r->at);
    const unsigned char *t = r->text;
    size_t n = r->length;
    while (r->at < n && isdigit(t[r->at])) {
        put(r, (char)t[r->at++]);
        /* A thousands separator: exactly three digits follow. */
        if (r->at + 3 < n && t[r->at] == ',' && isdigit(t[r->at + 1]) && isdigit(t[r->at + 2]) &&
            isdigit(t[r->at + 3]) && (r->at + 4 >= n || !isdigit(t[r->at + 4])) && r->at - word->start <= 11) {
            r->at++;
        }
    }
    if (r->at + 1 < n && t[r->at] == '.' && isdigit(t[r->at + 1])) {
        put(r, '.');
        r->at++;
        while (r->at < n && isdigit(t[r->at])) {
            put(r, (char)t[r->at++]);
        }
    }
    end_word(r, word);
}

/* "p.m.", "U.S.": single letters with dots between. Returns the end, or 0. */
static size_t dotted_end(const struct reader *r, size_t at)
{
    size_t end = 0;
    const unsigned char *t = r->text;
    while (at + 1 < r->length && isalpha(t[at]) && t[at + 1] == '.') {
        at += 2;
        end = at;
        if (at < r->length && isalpha(t[at]) && (at + 1 >= r->length || !isalpha(t[at + 1])) &&
            (at + 1 >= r->length || t[at + 1] != '.')) {
            return at + 1;
        }
    }
    return end;
}

static int read_dotted(struct reader *r)
{
    size_t start = r->at;
    size_t end = dotted_end(r, start);
    if (end < start + 3) {
        return 0;
    }
    struct mc_word *word = add_word(r, MC_WORD_ALPHA, start);
    word->upper = isupper(r->text[start]) != 0;
    word->stop = r->text[end - 1] == '.';
    for (; r->at < end; r->at++) {
        if (r->text[r->at] != '.') {
            put(r, (char)tolower(r->text[r->at]));
        }
    }
    end_word(r, word);
    return 1;
}

static void read_letters(struct reader *r)
{
    size_t size = 1;
    uint32_t p = point_at(r, r->at, &size);
    struct mc_word *word = add_word(r, MC_WORD_ALPHA, r->at);
    word->upper =
        (p < 0x80 && isupper((int)p)) || (p >= 0xC0 && p <= 0x17F && isupper((unsigned char)folded[p - 0xC0]));
    while (r->at < r->length) {
        p = point_at(r, r->at, &size);
        if (is_letter_point(p)) {
            put_letter(r, p, size);
        } else if (!is_silent_point(p)) {
            break;
        }
        r->at += size;
    }
    end_word(r, word);
}

/* Takes "n" off "isn" where "'t" follows: the parts are "is" and "n't". */
static void split_negation(struct reader *r, struct mc_word *word)
{
    size_t length = strlen(word->norm);
    if (length > 1 && tolower(r->text[r->at - 1]) == 'n') {
        r->pool -= 2;
        *r->pool++ = '\0';
        word->end -= 1;
        r->at -= 1;
    }
}

/* What follows an apostrophe inside a word: "'s", "n't", "'clock". */
static void read_suffix(struct reader *r)
{
    size_t size = 1;
    if (!is_apostrophe_point(look(r, r->at, &size)) || !is_letter_point(look(r, r->at + size, NULL))) {
        return;
    }
    struct mc_word *word = &r->out->items[r->out->count - 1];
    int is_not = tolower((int)look(r, r->at + size, NULL)) == 't' && !is_letter_point(look(r, r->at + size + 1, NULL));
    if (is_not) {
        split_negation(r, word);
    }
    if (mc_streq(word->norm, "o")) {
        r->pool -= 1; /* "o'clock" stays one word */
    } else {
        word = add_word(r, MC_WORD_ALPHA, r->at);
        if (is_not && r->text[r->at] != '\'' && tolower(r->text[r->at]) == 'n') {
            put(r, 'n');
            r->at += 1;
        }
    }
    put(r, '\'');
    (void)look(r, r->at, &size);
    r->at += size;
    while (r->at < r->length) {
        uint32_t p = point_at(r, r->at, &size);
        if (!is_letter_point(p)) {
            break;
        }
        put_letter(r, p, size);
        r->at += size;
    }
    end_word(r, word);
}

static void read_mark(struct reader *r, uint32_t p, size_t size)
{
    struct mc_word *word = add_word(r, MC_WORD_MARK, r->at);
    const unsigned char *t = r->text + r->at;
    size_t left = r->length - r->at;
    if (p == 0x2192 || p == 0x27A1 || (p == '-' && left > 1 && t[1] == '>') || (p == '=' && left > 1 && t[1] == '>')) {
        put(r, '-');
        put(r, '>');
        size = p < 0x80 ? 2 : size;
    } else if (p == 0x2014 || (p == '-' && left > 1 && t[1] == '-')) {
        put(r, '-');
        put(r, '-');
        size = p < 0x80 ? 2 : size;
    } else if (p == 0x2013 || p == 0x2010 || p == 0x2011 || p == 0x2212) {
        put(r, '-');
    } else if (is_apostrophe_point(p)) {
        put(r, '\'');
    } else if (p == 0x201C || p == 0x201D || p == 0xAB || p == 0xBB) {
        put(r, '"');
    } else {
        for (size_t i = 0; i < size; i++) {
            put(r, (char)t[i]);
        }
    }
    r->at += size;
    end_word(r, word);
}

/* A bullet ("-", "*", "•", "2.", "3)") at the start of a line that goes on. */
static int skip_bullet(struct reader *r)
{
    if (r->out->count > 0 && r->breaks == 0) {
        return 0;
    }
    size_t size = 1;
    uint32_t p = look(r, r->at, &size);
    size_t end = r->at + size;
    if (isdigit((int)(p < 0x80 ? p : 0))) {
        while (end < r->length && isdigit(r->text[end])) {
            end++;
        }
        if (end - r->at > 2 || end >= r->length || (r->text[end] != '.' && r->text[end] != ')')) {
            return 0;
        }
        end++;
    } else if (p != '-' && p != '*' && p != 0x2022 && p != 0x2013 && p != '+') {
        return 0;
    }
    if (end >= r->length || r->text[end] != ' ') {
        return 0;
    }
    size_t rest = end;
    while (rest < r->length && r->text[rest] == ' ') {
        rest++;
    }
    if (rest >= r->length || r->text[rest] == '\n' || r->text[rest] == '\r') {
        return 0;
    }
    r->at = end;
    r->item = 1;
    r->space = 1;
    return 1;
}

static int is_emphasis(const struct reader *r, uint32_t p)
{
    if (p == '*' || p == '`') {
        return 1;
    }
    if (p == '#') {
        return !isdigit((int)(look(r, r->at + 1, NULL) & 0x7FU));
    }
    if (p != '_') {
        return 0;
    }
    int before = r->at > 0 && isalnum(r->text[r->at - 1]);
    int after = r->at + 1 < r->length && isalnum(r->text[r->at + 1]);
    return !(before && after);
}

static void read_next(struct reader *r)
{
    size_t size = 1;
    uint32_t p = point_at(r, r->at, &size);
    if (is_space_point(p)) {
        r->space = 1;
        r->breaks += p == '\n';
        r->at += size;
    } else if (skip_bullet(r)) {
        return;
    } else if (is_silent_point(p) || is_emphasis(r, p)) {
        r->at += size;
    } else if (p < 0x80 && isdigit((int)p)) {
        read_number(r);
    } else if (is_letter_point(p)) {
        if (!read_dotted(r)) {
            read_letters(r);
            read_suffix(r);
        }
    } else {
        read_mark(r, p, size);
    }
}

void mc_words_read(const char *source, size_t length, struct mc_words *out)
{
    *out = (struct mc_words){.source = source, .length = length, .lower_only = 1};
    /* No letter's folded form is longer than itself, and each word adds one NUL. */
    out->pool = mc_alloc(2 * length + 4, 1);
    struct reader r = {.text = (const unsigned char *)source, .length = length, .out = out, .pool = out->pool};
    while (r.at < length) {
        read_next(&r);
    }
    for (size_t i = 0; i < out->count; i++) {
        out->lower_only &= !out->items[i].upper;
        out->items[i].canon = mc_word_canon(out->items[i].norm);
        out->items[i].starts = mc_word_starts(out->items[i].kind, out->items[i].norm);
    }
}

void mc_words_release(struct mc_words *words)
{
    free(words->items);
    free(words->pool);
    memset(words, 0, sizeof *words);
}

const char *mc_word_at(const struct mc_words *words, size_t i)
{
    return i < words->count ? words->items[i].norm : "";
}

int mc_word_is(const struct mc_words *words, size_t i, const char *norm)
{
    return i < words->count && strcmp(words->items[i].norm, norm) == 0;
}

int mc_norm_in(const char *norm, const char *list)
{
    if (norm[0] == '\0') {
        return 0;
    }
    for (const char *p = list; *p;) {
        while (*p == ' ') {
            p++;
        }
        const char *n = norm;
        while (*n && *n == *p) {
            n++;
            p++;
        }
        if (*n == '\0' && (*p == ' ' || *p == '\0')) {
            return n != norm;
        }
        while (*p && *p != ' ') {
            p++;
        }
    }
    return 0;
}

int mc_norm_number(const char *norm)
{
    int value = 0;
    for (; isdigit((unsigned char)*norm) && value < 10000; norm++) {
        value = value * 10 + (*norm - '0');
    }
    return value;
}

int mc_word_in(const struct mc_words *words, size_t i, const char *list)
{
    return i < words->count && mc_norm_in(words->items[i].norm, list);
}

static int is_value_word(const struct mc_word *word)
{
    return word->kind != MC_WORD_MARK;
}

int mc_word_joined_before(const struct mc_words *words, size_t i)
{
    if (i == 0 || i >= words->count || !words->items[i].glued) {
        return 0;
    }
    const struct mc_word *before = &words->items[i - 1];
    if (is_value_word(before)) {
        return words->items[i].norm[0] != '\'';
    }
    /* "Mary-Ann", "a_b", "x@y", "1.5": a mark glued on both sides, but "(8pm", "/" between choices and dashes of time
     * do not join. */
    return i >= 2 && before->glued && is_value_word(&words->items[i - 2]) && mc_norm_in(before->norm, "- _ @ .");
}

int mc_word_joined_after(const struct mc_words *words, size_t i)
{
    if (i + 1 >= words->count || !words->items[i + 1].glued) {
        return 0;
    }
    const struct mc_word *after = &words->items[i + 1];
    if (is_value_word(after)) {
        return after->norm[0] != '\'' && strcmp(after->norm, "n't") != 0;
    }
    return i + 2 < words->count && words->items[i + 2].glued && is_value_word(&words->items[i + 2]) &&
           mc_norm_in(after->norm, "- _ @ .");
}
