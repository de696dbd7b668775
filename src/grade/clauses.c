/* Sentences and clauses: where one ends and the next begins. */
#include "grade/said.h"

#include <string.h>

/* Words; longer ones are cut, so that looking around in one takes a bounded time. */
enum { MAX_SENTENCE = 200 };

static int is_mark(const struct mc_words *words, size_t i, const char *list)
{
    return i < words->count && words->items[i].kind == MC_WORD_MARK && mc_norm_in(words->items[i].norm, list);
}

static int is_abbreviation(const struct mc_words *words, size_t i)
{
    return mc_word_in(words, i, " mr mrs ms dr st ave rd blvd apt no vs sr jr prof mt ft approx est inc ") &&
           i + 2 < words->count && (words->items[i + 2].upper || words->items[i + 2].kind == MC_WORD_NUMBER);
}

/* A sentence ends after word `i`. */
static int ends_sentence(const struct mc_words *words, size_t i)
{
    const struct mc_word *word = &words->items[i];
    if (i + 1 >= words->count) {
        return 1;
    }
    const struct mc_word *next = word + 1;
    if (next->breaks > 1 || next->item || (next->breaks == 1 && (next->upper || next->kind == MC_WORD_NUMBER))) {
        return 1;
    }
    if (word->stop && next->upper) {
        return 1;
    }
    if (!is_mark(words, i, " . ! ? ")) {
        return 0;
    }
    if (is_mark(words, i + 1, " . ! ? \" ) ' ")) {
        return 0;
    }
    return !next->glued && !(i > 0 && word->norm[0] == '.' && is_abbreviation(words, i - 1));
}

/* "I think", "originally": a clause of these alone belongs to what stands before it. */
static size_t tail_length(const struct mc_words *words, size_t i)
{
    static const char *const tails[] = {
        "i think",
        "i believe",
        "i guess",
        "maybe",
        "perhaps",
        "probably",
        "possibly",
        "originally",
        "previously",
        "formerly",
        "initially",
        "at first",
        "apparently",
        "i 'm not sure",
        "not sure",
        "but maybe",
        "but possibly",
        "but i 'm not sure",
        "but not sure",
        "but i 'm not certain",
        "though i 'm not sure",
        "though i 'm not certain",
        "although i 'm not sure",
        "but i could be wrong",
        "but i might be wrong",
        "but do n't quote me",
        "but that 's a guess",
        "but that 's just a guess",
        "or so i think",
        "if i remember correctly",
        "if i remember right",
        "if i recall correctly",
        "i 'm not sure",
        "anymore",
        "not anymore",
        "right",
        "is n't it",
        "but i 'm not 100 % sure",
        "but i 'm not positive",
        "but i 'm not entirely sure",
        "but i 'm not completely sure",
        "though i 'm not positive",
        "but i ca n't be sure",
        "but unconfirmed",
    };
    for (size_t t = 0; t < MC_COUNT(tails); t++) {
        size_t at = i;
        const char *p = tails[t];
        while (*p && at < words->count) {
            size_t length = strcspn(p, " ");
            const char *norm = words->items[at].norm;
            if (strncmp(norm, p, length) != 0 || norm[length] != '\0') {
                break;
            }
            at++;
            p += length + (p[length] == ' ');
        }
        if (*p == '\0' && (at >= words->count || is_mark(words, at, " . , ; ! ? ) -- - "))) {
            return at - i;
        }
    }
    return 0;
}

/* A short adverbial before a comma belongs to what follows: "Originally, it was Friday". */
static int is_opening(const struct mc_words *words, size_t first, size_t comma)
{
    return comma - first <= 4 &&
           mc_word_in(words, first,
                      " originally previously initially formerly earlier before now currently maybe perhaps probably "
                      "possibly apparently at in last as according until ");
}

/* "and" starts a clause where a verb or a pronoun of its own follows soon. */
static int and_starts(const struct mc_words *words, size_t i)
{
    if (mc_word_in(words, i + 1, " it he she they we i you that this there not now then no never don't do ")) {
        return 1;
    }
    for (size_t k = i + 1; k < words->count && k <= i + 5; k++) {
        if (words->items[k].kind == MC_WORD_MARK || mc_word_is(words, k, "and") || words->items[k].breaks > 1) {
            return 0;
        }
        if (mc_word_in(words, k, " is was are were will has had isnt wasnt used moved ")) {
            return 1;
        }
    }
    return 0;
}

static int starts_clause(const struct mc_words *words, size_t i)
{
    if (mc_word_in(words, i,
                   " however although though while whereas because which since unless if when whenever until ")) {
        /* "until it moved" and "not until 8" stay with their clause. */
        return !mc_word_is(words, i, "until");
    }
    if (mc_word_is(words, i, "now")) {
        return mc_word_is(words, i + 1, "that");
    }
    if (mc_word_is(words, i, "but")) {
        if (i > 0 &&
            mc_word_in(words, i - 1, " anywhere anyone anything nothing everyone everything nobody all any ")) {
            return 0; /* "anywhere but Sam's" */
        }
        return tail_length(words, i) == 0;
    }
    if (mc_word_is(words, i, "and")) {
        return and_starts(words, i);
    }
    if (mc_word_is(words, i, "so")) {
        return mc_word_in(words, i + 1, " it he she they we i you that the ");
    }
    return mc_word_is(words, i, "then") && i > 0 && is_mark(words, i - 1, " , ; ");
}

/* A comma that goes on with the same statement: inside a date ("Friday, August 7") or before where and when ("Friday,
 * at Sam's"). */
static int goes_on(const struct mc_words *words, size_t comma)
{
    static const char days[] = " sunday monday tuesday wednesday thursday friday saturday sun mon tue wed thu fri sat ";
    static const char months[] =
        " january february march april may june july august september october november december "
        "jan feb mar apr jun jul aug sep sept oct nov dec ";
    size_t next = comma + 1;
    if (comma == 0 || next >= words->count) {
        return 0;
    }
    if (mc_word_in(words, next, " at on in around starting ")) {
        return 1;
    }
    int number = words->items[next].kind == MC_WORD_NUMBER;
    if (mc_word_in(words, comma - 1, days)) {
        return number || mc_word_in(words, next, months) || mc_word_is(words, next, "the");
    }
    return number && strlen(words->items[next].norm) == 4 &&
           (words->items[comma - 1].kind == MC_WORD_NUMBER || mc_word_in(words, comma - 1, " st nd rd th ") ||
            mc_word_in(words, comma - 1, months));
}

/* "Sam's place (12 Ash Street) is out": brackets that only name again. The closing one's place, or 0. */
static size_t naming_brackets(const struct mc_words *words, size_t open)
{
    for (size_t i = open + 1; i < words->count && i <= open + 10; i++) {
        if (mc_word_is(words, i, ")")) {
            return i > open + 1 ? i : 0;
        }
        if (mc_word_in(
                words, i,
                " is was are were be been will had has not n't it it's used now moved formerly originally previously "
                "initially instead not no if or maybe probably old new ( ? ! ; ")) {
            return 0;
        }
    }
    return 0;
}

static int closes_naming(const struct mc_words *words, size_t close)
{
    for (size_t i = close; i > 0 && i + 10 > close; i--) {
        if (mc_word_is(words, i - 1, "(")) {
            return naming_brackets(words, i - 1) == close;
        }
    }
    return 0;
}

/* Commas mostly, and other marks always, end the clause. */
static int ends_clause(const struct mc_words *words, size_t first, size_t i)
{
    if ((is_mark(words, i, " ( ") && naming_brackets(words, i)) ||
        (is_mark(words, i, " ) ") && closes_naming(words, i))) {
        return 0;
    }
    if (is_mark(words, i, " ; -- ( ) ")) {
        return tail_length(words, i + 1) == 0;
    }
    if (is_mark(words, i, " : ")) {
        return !words->items[i].glued || i + 1 >= words->count || !words->items[i + 1].glued;
    }
    if (is_mark(words, i, " - ")) {
        return i + 1 < words->count && !words->items[i].glued && !words->items[i + 1].glued &&
               tail_length(words, i + 1) == 0;
    }
    if (!is_mark(words, i, " , ")) {
        return 0;
    }
    return !is_opening(words, first, i) && !goes_on(words, i) && tail_length(words, i + 1) == 0;
}

void mc_clauses_mark(struct mc_words *words)
{
    int sentence = 0;
    int clause = 0;
    size_t first = 0;
    size_t begin = 0;
    for (size_t i = 0; i < words->count; i++) {
        if (i > first && starts_clause(words, i)) {
            clause++;
            first = i;
        }
        words->items[i].sentence = sentence;
        words->items[i].clause = clause;
        if (ends_sentence(words, i) || i - begin >= MAX_SENTENCE) {
            sentence++;
            clause++;
            first = i + 1;
            begin = i + 1;
        } else if (ends_clause(words, first, i)) {
            clause++;
            first = i + 1;
        }
    }
    words->clauses = clause + 1;
}

size_t mc_clause_first(const struct mc_words *words, size_t i)
{
    while (i > 0 && words->items[i - 1].clause == words->items[i].clause) {
        i--;
    }
    return i;
}

size_t mc_clause_last(const struct mc_words *words, size_t i)
{
    while (i + 1 < words->count && words->items[i + 1].clause == words->items[i].clause) {
        i++;
    }
    return i;
}

size_t mc_sentence_first(const struct mc_words *words, size_t i)
{
    while (i > 0 && words->items[i - 1].sentence == words->items[i].sentence) {
        i--;
    }
    return i;
}

size_t mc_sentence_last(const struct mc_words *words, size_t i)
{
    while (i + 1 < words->count && words->items[i + 1].sentence == words->items[i].sentence) {
        i++;
    }
    return i;
}
