/*
 * An answer as words: the one reading of text that all matchers share.
 *
 * Every word knows the bytes it came from. Its `norm` is lower case, accents and typographic quotes folded, so that
 * "Café", "cafe" and "CAFÉ" are alike. Contractions are split ("isn't" is "is" "n't", "Jordan's" is "jordan" "'s"),
 * numbers stand apart from glued letters ("8pm" is "8" "pm"), "p.m." is "pm". Markdown's emphasis is skipped.
 *
 * Ownership: mc_words_read() fills, mc_words_release() frees; the source text is borrowed and must outlive the words.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"

enum mc_word_kind {
    MC_WORD_ALPHA,
    MC_WORD_NUMBER, /* digits, thousands separators taken out of `norm`, perhaps decimals */
    MC_WORD_MARK,   /* one punctuation mark; dashes are "-" and "--", an arrow is "->" */
};

/* What may start with a word, and the one spelling for many ("street" and "st", "three" and "3"); vocabulary.c. */
enum { MC_STARTS_DATE = 1, MC_STARTS_CLOCK = 2, MC_STARTS_AMOUNT = 4 };
unsigned char mc_word_starts(enum mc_word_kind kind, const char *norm);
const char *mc_word_canon(const char *norm);

struct mc_word {
    size_t start; /* bytes [start, end) of the source */
    size_t end;
    const char *norm;
    const char *canon; /* the norm, or its one spelling in phrases */
    enum mc_word_kind kind;
    unsigned char glued;  /* no white space before it */
    unsigned char upper;  /* its first letter is a capital */
    unsigned char breaks; /* line breaks before it */
    unsigned char item;   /* first word of an item of a list */
    unsigned char starts; /* of MC_STARTS_* */
    unsigned char stop;   /* an abbreviation's dot that may end a sentence too ("8 p.m.") */
    int sentence;
    int clause;
};

struct mc_words {
    const char *source;
    size_t length;
    struct mc_word *items;
    size_t count;
    char *pool;
    int clauses;
    int lower_only; /* the source has no capital letter */
};

void mc_words_read(const char *source, size_t length, struct mc_words *out);
void mc_words_release(struct mc_words *words);

/* The norm of word `i`, "" past the end. */
const char *mc_word_at(const struct mc_words *words, size_t i);
int mc_word_is(const struct mc_words *words, size_t i, const char *norm);
/* True where `norm` is in `list`, words between single spaces: " on in at ". */
int mc_word_in(const struct mc_words *words, size_t i, const char *list);
int mc_norm_in(const char *norm, const char *list);
/* The whole number that `norm` starts with, 99999 at most; 0 where it starts with no digit. */
int mc_norm_number(const char *norm);
/* True where word `i` is a part of a longer value with its neighbour: "8" before "pm", "Ann" after "Mary-". */
int mc_word_joined_before(const struct mc_words *words, size_t i);
int mc_word_joined_after(const struct mc_words *words, size_t i);

#define MC_AUTOWORDS MC_CLEANUP(mc_words_release)
