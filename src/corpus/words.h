/*
 * Text made comparable: how values of a rubric are looked for in public text.
 *
 * Folding makes ASCII letters small, typographic quotes and dashes plain, and runs of white space one space, and drops
 * white space and . , ; : ! ? at both ends. Nothing else is folded: "é" is not "É".
 *
 * Ownership: texts returned are the caller's.
 */
#pragma once

#include <stddef.h>

char *mc_words_fold(const char *text);

/* Where folded `value` stands in folded `text` as whole words, at or after `from`; NULL where it does not. */
const char *mc_words_find(const char *text, const char *value, const char *from);

/* True where a byte belongs to a word: letters, digits, and everything outside ASCII. */
int mc_words_byte(unsigned char c);
