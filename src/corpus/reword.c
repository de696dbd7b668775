/*
 * Other words for the same: phrases that carry no fact (contractions, fillers, greetings, the last full stop). Names,
 * numbers, times, negation and hedging keep their meaning; the tables hold nothing that has a second one.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "corpus/vary_kinds.h"
#include "corpus/words.h"

/* The left may become the right; the right the left only after a word of `subjects`, since "don't you" and "why isn't"
 * turn round badly. Lower case; the case of the first letter follows the text. */
static const char *const negations[][2] = {
    {"do not", "don't"},       {"does not", "doesn't"},     {"did not", "didn't"},   {"is not", "isn't"},
    {"are not", "aren't"},     {"was not", "wasn't"},       {"were not", "weren't"}, {"have not", "haven't"},
    {"has not", "hasn't"},     {"had not", "hadn't"},       {"cannot", "can't"},     {"could not", "couldn't"},
    {"would not", "wouldn't"}, {"should not", "shouldn't"}, {"will not", "won't"},
};
static const char *const subjects[] = {"i", "you", "we", "they", "he", "she", "it", "that", "this", "there"};

/* Either side may become the other. */
static const char *const pairs[][2] = {
    {"as soon as possible", "as soon as you can"},
    {"by the way", "incidentally"},
    {"maybe", "perhaps"},
    {"want to", "wanna"},
    {"kind of", "sort of"},
    {"right away", "straight away"},
    {"each other", "one another"},
    {"especially", "particularly"},
};

/* Only from the left to the right: the way back has a second meaning ("it's" may be "it has", "to" is rarely "in order
 * to"). */
static const char *const one_way[][2] = {
    {"i'm", "I am"},
    {"you're", "you are"},
    {"we're", "we are"},
    {"they're", "they are"},
    {"i've", "I have"},
    {"we've", "we have"},
    {"you've", "you have"},
    {"they've", "they have"},
    {"i'll", "I will"},
    {"we'll", "we will"},
    {"you'll", "you will"},
    {"they'll", "they will"},
    {"gonna", "going to"},
    {"gotta", "have to"},
    {"tho", "though"},
    {"pls", "please"},
    {"thx", "thanks"},
    {"okay", "OK"},
    {"btw", "by the way"},
    {"asap", "as soon as possible"},
    {"lots of", "a lot of"},
    {"in order to", "to"},
    {"let me know", "tell me"},
    {"to be honest", "honestly"},
    {"at the moment", "right now"},
    {"of course", "naturally"},
};

static const char *const greetings[] = {"hi", "hey", "hello"};

struct reword {
    const char *text;
    size_t at;
    struct mc_buf out;
    struct mc_random *random;
};

/* How many bytes of `text` the phrase covers there, 0 where it does not stand there. A typographic apostrophe counts as
 * a plain one. */
static size_t phrase_length(const char *text, const char *phrase)
{
    static const char apostrophe[] = "\xe2\x80\x99";
    size_t i = 0;
    for (; *phrase; phrase++) {
        if (*phrase == '\'' && mc_starts_with(text + i, apostrophe)) {
            i += sizeof apostrophe - 1;
        } else if (tolower((unsigned char)text[i]) == *phrase) {
            i++;
        } else {
            return 0;
        }
    }
    return i;
}

/* The same at the boundaries of words. "don't" inside "don't-care" or "@want to" is left alone. */
static size_t phrase_at(const struct reword *r, const char *phrase)
{
    size_t length = phrase_length(r->text + r->at, phrase);
    unsigned char before = r->at > 0 ? (unsigned char)r->text[r->at - 1] : ' ';
    unsigned char after = (unsigned char)r->text[r->at + length];
    int open = isspace(before) || before == '(' || before == '"';
    int shut = after == '\0' || isspace(after) || strchr(",.!?;:)\"", after) != NULL;
    return length && open && shut ? length : 0;
}

static void put_like(struct reword *r, const char *phrase, unsigned char first)
{
    if (isupper(first) && islower((unsigned char)phrase[0])) {
        mc_buf_putc(&r->out, (char)toupper((unsigned char)phrase[0]));
        phrase++;
    }
    mc_buf_puts(&r->out, phrase);
}

/* "I do not." at a clause's end cannot be contracted, nor "want to" before nothing. */
static int is_open_ended(const struct reword *r, size_t length)
{
    return r->text[r->at + length] == ' ' && isalpha((unsigned char)r->text[r->at + length + 1]);
}

/* Shouted text is left as it is: its capitals would be lost. */
static int is_shouted(const char *text, size_t length)
{
    return length >= 2 && isupper((unsigned char)text[0]) && isupper((unsigned char)text[1]);
}

/* True where the word before is one of `subjects`. */
static int follows_subject(const struct reword *r)
{
    size_t end = r->at > 0 ? r->at - 1 : 0;
    size_t start = end;
    while (start > 0 && isalpha((unsigned char)r->text[start - 1])) {
        start--;
    }
    for (size_t i = 0; i < MC_COUNT(subjects); i++) {
        if (strlen(subjects[i]) == end - start && phrase_length(r->text + start, subjects[i])) {
            return 1;
        }
    }
    return 0;
}

/* Puts `to` for `from` where it stands here and chance wants it. */
static int replace_one(struct reword *r, const char *from, const char *to, int open_ended)
{
    size_t length = phrase_at(r, from);
    if (!length || is_shouted(r->text + r->at, length) || (open_ended && !is_open_ended(r, length)) ||
        mc_random_below(r->random, 4) == 0) {
        return 0;
    }
    put_like(r, to, (unsigned char)r->text[r->at]);
    r->at += length;
    return 1;
}

static int replace_phrase(struct reword *r)
{
    for (size_t i = 0; i < MC_COUNT(negations); i++) {
        if (replace_one(r, negations[i][0], negations[i][1], 1) ||
            (follows_subject(r) && replace_one(r, negations[i][1], negations[i][0], 1))) {
            return 1;
        }
    }
    for (size_t i = 0; i < MC_COUNT(pairs); i++) {
        if (replace_one(r, pairs[i][0], pairs[i][1], 1) || replace_one(r, pairs[i][1], pairs[i][0], 1)) {
            return 1;
        }
    }
    for (size_t i = 0; i < MC_COUNT(one_way); i++) {
        if (replace_one(r, one_way[i][0], one_way[i][1], 0)) {
            return 1;
        }
    }
    return 0;
}

static void replace_greeting(struct reword *r)
{
    for (size_t i = 0; i < MC_COUNT(greetings); i++) {
        size_t length = phrase_at(r, greetings[i]);
        if (length) {
            put_like(r, greetings[mc_random_below(r->random, MC_COUNT(greetings))], (unsigned char)r->text[0]);
            r->at = length;
            return;
        }
    }
}

/* A last full stop after a word in small letters comes or goes; "p.m.", "etc." and links are left alone. */
static void change_end(struct mc_buf *out, struct mc_random *random)
{
    if (out->len < 3 || mc_random_below(random, 2) == 0) {
        return;
    }
    size_t stop = out->data[out->len - 1] == '.';
    size_t end = out->len - stop;
    size_t start = end;
    while (start > 0 && !isspace((unsigned char)out->data[start - 1])) {
        start--;
    }
    if (end - start < 4) {
        return; /* "etc", "St", "Ave" */
    }
    for (size_t i = start; i < end; i++) {
        if (!islower((unsigned char)out->data[i])) {
            return;
        }
    }
    if (stop) {
        out->data[--out->len] = '\0';
    } else {
        mc_buf_putc(out, '.');
    }
}

char *mc_reword(const char *text, struct mc_random *random)
{
    struct reword r = {.text = text, .out = MC_BUF_OWN, .random = random};
    replace_greeting(&r);
    while (r.text[r.at]) {
        if (mc_starts_with(r.text + r.at, "http://") || mc_starts_with(r.text + r.at, "https://")) {
            size_t length = strcspn(r.text + r.at, " \t\r\n");
            mc_buf_put(&r.out, r.text + r.at, length);
            r.at += length;
        } else if (!replace_phrase(&r)) {
            mc_buf_putc(&r.out, r.text[r.at++]);
        }
    }
    change_end(&r.out, random);
    return mc_buf_take(&r.out);
}
