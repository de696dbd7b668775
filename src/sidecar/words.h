/*
 * Words of a text, as the extractive script compares them: letters and digits, ASCII in lower case, without stop words,
 * common English endings folded, so that "likes", "liked" and "like" are the same.
 *
 * Ownership: mc_words_release() frees what mc_words_of() made.
 */
#pragma once

#include <stddef.h>

struct mc_words {
    char **items; /* each once, in the order of the text */
    size_t count;
    size_t capacity;
};

void mc_words_of(const char *text, size_t length, struct mc_words *out);
void mc_words_release(struct mc_words *words);
int mc_words_have(const struct mc_words *words, const char *word);
