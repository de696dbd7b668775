#include "grade/phrases.h"

#include <string.h>

#include "base/mem.h"

static int same(const struct mc_word *a, const struct mc_word *b)
{
    return strcmp(a->canon, b->canon) == 0;
}

/* Marks that make no difference inside a phrase. "&" and "+" count as words. */
static int is_silent(const struct mc_word *word)
{
    return word->kind == MC_WORD_MARK && !mc_norm_in(word->norm, " & + $ % # @ / € £ ? ");
}

static size_t first_word(const struct mc_words *phrase)
{
    size_t i = 0;
    while (i < phrase->count && is_silent(&phrase->items[i])) {
        i++;
    }
    size_t left = 0;
    for (size_t k = i; k < phrase->count; k++) {
        left += !is_silent(&phrase->items[k]);
    }
    return left > 1 && mc_word_in(phrase, i, " the a an ") ? i + 1 : i;
}

int mc_phrase_has_words(const struct mc_words *phrase)
{
    return first_word(phrase) < phrase->count;
}

/* Names that are also everyday words need their capital, where the answer uses capitals at all. */
static int is_everyday_name(const struct mc_words *phrase, size_t i)
{
    return phrase->items[i].upper &&
           mc_word_in(
               phrase, i,
               " will may mark grace hope rose bill jack art joy dawn drew pat sue ray rob faith summer april june "
               "august max olive ivy iris jasmine ginger penny frank gene chase grant miles wade reed dale glen "
               "cliff heath lane page star sky river forest robin jay angel chance nick don skip chip guy carol eve "
               "sunny early target gap subway shell orange apple square slack zoom meet teams ");
}

static int capital_fits(const struct mc_words *phrase, size_t i, const struct mc_words *words, size_t at)
{
    if (!is_everyday_name(phrase, i) || words->lower_only) {
        return 1;
    }
    if (!words->items[at].upper) {
        return 0;
    }
    /* "Will you", "May I" open a question. */
    return !(mc_word_in(words, at, " will may ") && mc_word_in(words, at + 1, " you i it he she they we there "));
}

/* "Sam's sister" is not Sam. */
static int is_someones(const struct mc_words *words, size_t last)
{
    size_t owned = mc_word_is(words, last, "'s") ? last + 1 : last + 2;
    return (owned == last + 1 || mc_word_in(words, last + 1, " 's ' ")) &&
           mc_word_in(
               words, owned,
               " sister brother mom mother dad father wife husband son daughter friend cousin aunt uncle boss partner "
               "girlfriend boyfriend roommate neighbor neighbour kid kids assistant parents family coworker "
               "colleague nephew niece grandma grandpa grandmother grandfather team ex ");
}

size_t mc_phrase_at(const struct mc_words *phrase, const struct mc_words *words, size_t at)
{
    size_t i = first_word(phrase);
    size_t begin = i;
    size_t w = at;
    size_t last = at;
    if (i >= phrase->count || is_silent(&words->items[at]) || mc_word_joined_before(words, at)) {
        return 0;
    }
    while (i < phrase->count) {
        if (is_silent(&phrase->items[i])) {
            i++;
            continue;
        }
        while (w > at && w < words->count && is_silent(&words->items[w]) && w - last <= 2) {
            w++;
        }
        if (w >= words->count || !same(&phrase->items[i], &words->items[w])) {
            return 0;
        }
        if (i == begin && !capital_fits(phrase, i, words, w)) {
            return 0;
        }
        last = w++;
        i++;
    }
    if (mc_word_joined_after(words, last) || is_someones(words, last)) {
        return 0;
    }
    /* A number at either end must not go on: "112 Ash" is one word apart, "Route 6 6" is not written. */
    if (words->items[at].kind == MC_WORD_NUMBER && at > 0 && words->items[at].glued &&
        mc_word_in(words, at - 1, " , . / : $ ") && at > 1 && words->items[at - 2].kind == MC_WORD_NUMBER) {
        return 0;
    }
    return last + 1 - at;
}

static int is_content(const struct mc_word *word)
{
    return word->kind != MC_WORD_MARK && word->norm[0] != '\'' &&
           !mc_norm_in(
               word->norm,
               " a an the and or of in on at to for from with by is are was were be been being has have had do does "
               "did "
               "it its he she they we i you his her their our my your him them me us this that these those there as "
               "so if then than into about also who which what when where how will would can could should may might "
               "because while ");
}

/* Length of the stem: endings of plurals and verbs taken off words of five letters and more. */
static size_t stem_length(const char *norm)
{
    static const char *const endings[] = {"ingly", "edly", "ings", "ies", "ing", "ied", "ion",
                                          "ed",    "es",   "ly",   "s",   "y",   "e"};
    size_t length = strlen(norm);
    for (size_t i = 0; i < MC_COUNT(endings); i++) {
        size_t n = strlen(endings[i]);
        if (length >= n + 3 && strcmp(norm + length - n, endings[i]) == 0) {
            length -= n;
            break;
        }
    }
    if (length > 3 && norm[length - 1] == norm[length - 2] && strchr("bdgmnprt", norm[length - 1])) {
        length--; /* "running" */
    }
    return length;
}

static int same_stem(const struct mc_word *a, const struct mc_word *b)
{
    if (same(a, b)) {
        return 1;
    }
    size_t n = stem_length(a->norm);
    return n == stem_length(b->norm) && n >= 3 && strncmp(a->norm, b->norm, n) == 0;
}

size_t mc_phrase_cover(const struct mc_words *phrase, const struct mc_words *words, size_t first, size_t last,
                       size_t *total, size_t *from, size_t *to)
{
    size_t found = 0;
    *total = 0;
    for (size_t i = 0; i < phrase->count; i++) {
        if (!is_content(&phrase->items[i])) {
            continue;
        }
        (*total)++;
        for (size_t w = first; w <= last && w < words->count; w++) {
            if (words->items[w].kind != MC_WORD_MARK && same_stem(&phrase->items[i], &words->items[w])) {
                *from = found == 0 || w < *from ? w : *from;
                *to = found == 0 || w > *to ? w : *to;
                found++;
                break;
            }
        }
    }
    return found;
}

int mc_phrase_is_person(const struct mc_words *phrase)
{
    size_t names = 0;
    for (size_t i = 0; i < phrase->count; i++) {
        const struct mc_word *word = &phrase->items[i];
        if (word->kind == MC_WORD_NUMBER || word->norm[0] == '\'') {
            return 0;
        }
        if (word->kind == MC_WORD_MARK) {
            continue;
        }
        if (!word->upper ||
            mc_norm_in(word->canon, " st ave rd blvd dr ln ct pl sq park cafe bar grill house hall room club hotel "
                                    "restaurant center theater school church library museum station airport beach "
                                    "garden gym store market lodge inn lake river mountain bay island city north "
                                    "south east west the note ")) {
            return 0;
        }
        names++;
    }
    return names >= 1 && names <= 3;
}
