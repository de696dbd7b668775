/*
 * Phrases: names, places and texts, compared word by word.
 *
 * Ownership: phrases borrow the words that they are made from.
 */
#pragma once

#include "grade/words.h"

/* Words that the phrase takes from word `at` of `words`; 0 where it does not stand there. Marks between words, articles
 * before them, "St." for "Street" and digits for number words make no difference; a phrase inside a longer word, name
 * with a hyphen, address or number is not found. */
size_t mc_phrase_at(const struct mc_words *phrase, const struct mc_words *words, size_t at);

/* True where the phrase has any word to look for. */
int mc_phrase_has_words(const struct mc_words *phrase);

/* How many of the phrase's content words stand, in any form, among words [first, last]; *total is how many it has.
 * *from and *to are the outermost of those found. */
size_t mc_phrase_cover(const struct mc_words *phrase, const struct mc_words *words, size_t first, size_t last,
                       size_t *total, size_t *from, size_t *to);

/* Looks like a person's name: one to three capitalised words, no number, no possessive, no word of a place. */
int mc_phrase_is_person(const struct mc_words *phrase);
