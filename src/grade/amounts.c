#include "grade/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int is(const struct mc_words *w, size_t i, const char *norm)
{
    return mc_word_is(w, i, norm);
}

static int in(const struct mc_words *w, size_t i, const char *list)
{
    return mc_word_in(w, i, list);
}

struct named {
    const char *name;
    double value;
};

static const struct named ones[] = {{"zero", 0},     {"one", 1},        {"two", 2},       {"three", 3},
                                    {"four", 4},     {"five", 5},       {"six", 6},       {"seven", 7},
                                    {"eight", 8},    {"nine", 9},       {"ten", 10},      {"eleven", 11},
                                    {"twelve", 12},  {"thirteen", 13},  {"fourteen", 14}, {"fifteen", 15},
                                    {"sixteen", 16}, {"seventeen", 17}, {"eighteen", 18}, {"nineteen", 19}};
static const struct named tens[] = {{"twenty", 20}, {"thirty", 30},  {"forty", 40},  {"fourty", 40}, {"fifty", 50},
                                    {"sixty", 60},  {"seventy", 70}, {"eighty", 80}, {"ninety", 90}};
static const struct named scales[] = {{"hundred", 100}, {"thousand", 1e3}, {"grand", 1e3},
                                      {"million", 1e6}, {"billion", 1e9},  {"dozen", 12}};

static const struct named *find(const struct named *table, size_t count, const char *norm)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(table[i].name, norm) == 0) {
            return &table[i];
        }
    }
    return NULL;
}
#define FIND(table, norm) find(table, MC_COUNT(table), norm)

/* Below one hundred: "twelve", "forty-two". */
static size_t read_small(const struct mc_words *w, size_t i, double *value)
{
    const struct named *one = FIND(ones, mc_word_at(w, i));
    if (one) {
        *value = one->value;
        return 1;
    }
    const struct named *ten = FIND(tens, mc_word_at(w, i));
    if (!ten) {
        return 0;
    }
    *value = ten->value;
    size_t next = i + 1 + (is(w, i + 1, "-") ? 1 : 0);
    one = FIND(ones, mc_word_at(w, next));
    if (one && one->value >= 1 && one->value <= 9) {
        *value += one->value;
        return next + 1 - i;
    }
    return 1;
}

/* "twelve hundred", "one thousand two hundred and five", "a hundred", "two dozen". */
static size_t read_spelled(const struct mc_words *w, size_t i, double *value)
{
    double total = 0;
    double part = 0;
    size_t at = i;
    int seen = 0;
    for (;;) {
        size_t next = at + (seen && is(w, at, "and") ? 1 : 0);
        double small = 0;
        size_t length = read_small(w, next, &small);
        const struct named *scale = FIND(scales, mc_word_at(w, at));
        if (length > 0 && seen == 1 && part >= 10 && part < 100 && small >= 10 && total == 0 && next == at) {
            part = part * 100 + small; /* "twenty-three fifty" */
            at += length;
        } else if (length > 0 && (!seen || part >= 100 || (part == 0 && total > 0))) {
            part += small;
            at = next + length;
        } else if (scale && seen) {
            part = part > 0 ? part * scale->value : scale->value;
            if (scale->value >= 1e3) {
                total += part;
                part = 0;
            }
            at++;
        } else if (!seen && in(w, at, " a an ") && FIND(scales, mc_word_at(w, at + 1))) {
            part = 1;
            at++;
        } else {
            break;
        }
        seen = 1;
    }
    *value = total + part;
    return at - i;
}

static int is_plain_number(const struct mc_words *w, size_t i)
{
    return i < w->count && w->items[i].kind == MC_WORD_NUMBER && !mc_word_joined_before(w, i) &&
           !(i > 1 && w->items[i].glued && in(w, i - 1, " : / , ") && w->items[i - 1].glued &&
             w->items[i - 2].kind == MC_WORD_NUMBER);
}

/* Digits with what may be glued to them: "1,200", "1.2k", "2 million", "3 1/2". */
static size_t read_digits(const struct mc_words *w, size_t i, double *value)
{
    if (!is_plain_number(w, i)) {
        return 0;
    }
    *value = strtod(w->items[i].norm, NULL);
    if (i > 0 && in(w, i - 1, " - ") && w->items[i].glued && !(i > 1 && w->items[i - 1].glued)) {
        *value = -*value;
    }
    size_t at = i + 1;
    if (at < w->count && w->items[at].glued) {
        double scale = is(w, at, "k") ? 1e3 : in(w, at, " m mm ") ? 1e6 : in(w, at, " b bn ") ? 1e9 : 0;
        if (scale > 0 && !mc_word_joined_after(w, at)) {
            *value *= scale;
            return 2;
        }
        if (w->items[at].kind == MC_WORD_ALPHA && w->items[at].norm[0] != '\'' &&
            !in(w, at, " st nd rd th x min mins h hr hrs s kg km mi lb lbs usd ")) {
            return 0; /* "12A" */
        }
        if (in(w, at, " st nd rd th ") || (in(w, at, " : / ") && at + 1 < w->count && w->items[at + 1].glued &&
                                           w->items[at + 1].kind == MC_WORD_NUMBER)) {
            return 0;
        }
        if (in(w, at, " , . ") && at + 1 < w->count && w->items[at + 1].glued &&
            w->items[at + 1].kind == MC_WORD_NUMBER) {
            return 0; /* "1,2000": no number that anyone writes */
        }
    }
    const struct named *scale = FIND(scales, mc_word_at(w, at));
    if (scale) {
        *value *= scale->value;
        at++;
    }
    return at - i;
}

static size_t read_idiom(const struct mc_words *w, size_t i, double *value)
{
    static const struct {
        const char *words[3];
        double value;
    } table[] = {{{"half", "a", "dozen"}, 6},
                 {{"a", "couple"}, 2},
                 {{"a", "pair"}, 2},
                 {{"once"}, 1},
                 {{"twice"}, 2},
                 {{"thrice"}, 3},
                 {{"a", "dozen"}, 12},
                 {{"both"}, 2},
                 {{"none"}, 0}};
    for (size_t k = 0; k < MC_COUNT(table); k++) {
        size_t n = 0;
        while (n < 3 && table[k].words[n] && is(w, i + n, table[k].words[n])) {
            n++;
        }
        if (n > 0 && (n == 3 || !table[k].words[n])) {
            *value = table[k].value;
            return n + (is(w, i + n, "of") ? 1 : 0);
        }
    }
    return 0;
}

static int unit_of(const char *norm, enum mc_unit *unit, double *scale)
{
    static const struct {
        const char *names;
        enum mc_unit unit;
        double scale;
    } units[] = {{" minute minutes min mins ", MC_UNIT_MINUTES, 1},
                 {" second seconds sec secs ", MC_UNIT_MINUTES, 1.0 / 60},
                 {" hour hours hr hrs h ", MC_UNIT_MINUTES, 60},
                 {" day days ", MC_UNIT_MINUTES, 1440},
                 {" week weeks ", MC_UNIT_MINUTES, 10080},
                 {" fortnight fortnights ", MC_UNIT_MINUTES, 20160},
                 {" month months ", MC_UNIT_MONTHS, 1},
                 {" year years yr yrs ", MC_UNIT_MONTHS, 12},
                 {" decade decades ", MC_UNIT_MONTHS, 120},
                 {" percent % pct ", MC_UNIT_PERCENT, 1},
                 {" dollars dollar bucks usd euros euro eur pounds quid gbp ", MC_UNIT_MONEY, 1}};
    for (size_t i = 0; i < MC_COUNT(units); i++) {
        if (mc_norm_in(norm, units[i].names)) {
            *unit = units[i].unit;
            *scale = units[i].scale;
            return 1;
        }
    }
    return 0;
}

static char currency_of(const char *norm)
{
    if (mc_norm_in(norm, " $ dollars dollar bucks usd ")) {
        return '$';
    }
    if (mc_norm_in(norm, " € euros euro eur ")) {
        return 'E';
    }
    return mc_norm_in(norm, " £ pounds quid gbp ") ? 'L' : '\0';
}

/* Words that follow a number without being what is counted. */
static int is_function_word(const char *norm)
{
    return mc_norm_in(
        norm, " a an the and or but of in on at to for from with by is are was were be been has have had not n't "
              "now so if as than then that this these those there it its he she they we i you his her their our "
              "my your total altogether overall instead only just each per because since when while until "
              "before after ago last next first back again too also times which who 's 're ");
}

static size_t read_unit(const struct mc_words *w, size_t i, struct mc_amount *out)
{
    double scale = 1;
    size_t at = i + (is(w, i, "-") && i < w->count && w->items[i].glued ? 1 : 0);
    if (unit_of(mc_word_at(w, at), &out->unit, &scale)) {
        out->value *= scale;
        if (out->unit == MC_UNIT_MONEY) {
            out->currency = currency_of(mc_word_at(w, at));
        }
        size_t end = at + 1;
        if (in(w, end, " and ") && in(w, end + 1, " a ") && is(w, end + 2, "half")) {
            out->value += scale / 2; /* "an hour and a half" */
            end += 3;
        }
        return end - i;
    }
    if (at < w->count && w->items[at].kind == MC_WORD_ALPHA && w->items[at].norm[0] != '\'' &&
        !is_function_word(w->items[at].norm)) {
        out->unit = MC_UNIT_NOUN;
        out->noun = at;
    }
    return 0;
}

static int is_bound(const struct mc_words *w, size_t i)
{
    if (i == 0) {
        return 0;
    }
    if (in(w, i - 1, " over under above below ")) {
        return 1;
    }
    if (i >= 2 && is(w, i - 1, "than") && in(w, i - 2, " more less fewer greater other higher lower ")) {
        return 1;
    }
    return i >= 2 && in(w, i - 1, " least most to ") && in(w, i - 2, " at up ");
}

static size_t read_value(const struct mc_words *w, size_t i, double *value)
{
    size_t length = read_idiom(w, i, value);
    if (length == 0) {
        length = read_digits(w, i, value);
    }
    if (length == 0 && i < w->count && !mc_word_joined_before(w, i)) {
        length = read_spelled(w, i, value);
    }
    if (length == 0) {
        return 0;
    }
    size_t at = i + length;
    if (is(w, at, "and") && is(w, at + 1, "a") && is(w, at + 2, "half")) {
        *value += 0.5;
        return length + 3;
    }
    return length;
}

size_t mc_amount_read(const struct mc_words *words, size_t at, struct mc_amount *out)
{
    *out = (struct mc_amount){.unit = MC_UNIT_NONE};
    if (!(words->items[at].starts & MC_STARTS_AMOUNT)) {
        return 0;
    }
    size_t i = at;
    if (in(words, at, " $ € £ ")) {
        out->currency = currency_of(mc_word_at(words, at));
        out->unit = MC_UNIT_MONEY;
        i++;
        if (i >= words->count || words->items[i].kind != MC_WORD_NUMBER) {
            return 0;
        }
    } else if (in(words, at, " a an half ") && !FIND(scales, mc_word_at(words, at + 1))) {
        /* "an hour", "half an hour", "a week" */
        size_t unit_at = at + (is(words, at, "half") ? 2 : 1);
        double scale;
        enum mc_unit unit;
        if (unit_of(mc_word_at(words, unit_at), &unit, &scale) && unit != MC_UNIT_MONEY && unit != MC_UNIT_PERCENT &&
            (!is(words, at, "half") || in(words, at + 1, " a an "))) {
            out->value = is(words, at, "half") ? 0.5 : 1;
            out->count = out->value;
            return unit_at - at + read_unit(words, unit_at, out);
        }
    }
    size_t length = read_value(words, i, &out->value);
    if (length == 0) {
        return 0;
    }
    i += length;
    out->count = out->value;
    if (out->unit == MC_UNIT_MONEY) {
        i += in(words, i, " usd dollars ") ? 1 : 0;
    } else {
        i += read_unit(words, i, out);
    }
    out->bound = is_bound(words, at);
    struct mc_amount upto;
    if (at > 0 && is(words, at - 1, "between") && is(words, i, "and") && i + 1 < words->count &&
        mc_amount_read(words, i + 1, &upto) > 0) {
        i += 1 + mc_amount_read(words, i + 1, &upto);
        out->bound = 1;
    }
    return i - at;
}

/* "dogs" and "dog", "pies" and "pie" are one noun. */
static int same_noun(const char *a, const char *b)
{
    size_t n = strlen(a);
    size_t m = strlen(b);
    size_t shorter = n < m ? n : m;
    if (strncmp(a, b, shorter) != 0) {
        return 0;
    }
    const char *rest = n > m ? a + shorter : b + shorter;
    return mc_norm_in(rest, " s es ") || *rest == '\0';
}

int mc_amount_equal(const struct mc_words *expected_words, const struct mc_amount *expected,
                    const struct mc_words *said_words, const struct mc_amount *said, int units_open)
{
    if (said->bound && !expected->bound) {
        return 0;
    }
    double want = said->unit == MC_UNIT_NONE ? expected->count : expected->value;
    if (fabs(want - said->value) > 1e-9 * (1 + fabs(want))) {
        return 0;
    }
    int a = (int)expected->unit;
    int b = (int)said->unit;
    if (a == MC_UNIT_NOUN && b == MC_UNIT_NOUN) {
        /* "3 big dogs", but not "six people wanted four tickets". */
        for (size_t i = said->noun; i < said->noun + 3 && i < said_words->count; i++) {
            if (said_words->items[i].kind != MC_WORD_ALPHA || (said_words->items[i].starts & MC_STARTS_AMOUNT)) {
                return 0;
            }
            if (same_noun(mc_word_at(expected_words, expected->noun), mc_word_at(said_words, i))) {
                return 1;
            }
        }
        return 0;
    }
    if (a == MC_UNIT_MONEY && b == MC_UNIT_MONEY) {
        return !expected->currency || !said->currency || expected->currency == said->currency;
    }
    if (a == b || b == MC_UNIT_NONE) {
        return 1;
    }
    return a == MC_UNIT_NONE && (units_open || b == MC_UNIT_MONEY || b == MC_UNIT_NOUN);
}

size_t mc_small_number_read(const struct mc_words *words, size_t at, int *out)
{
    double value;
    size_t length = is_plain_number(words, at) ? read_digits(words, at, &value) : 0;
    if (length == 0 && at < words->count) {
        length = is(words, at, "a") && is(words, at + 1, "couple") ? read_idiom(words, at, &value)
                                                                   : read_spelled(words, at, &value);
    }
    if (length == 0 || value < 1 || value > 9999 || value != floor(value)) {
        return 0;
    }
    *out = (int)value;
    return length;
}
