/*
 * Words of a text, as the extractive script compares them: letters and digits, ASCII in lower case, without stop words,
 * common English endings folded, so that "likes", "liked" and "like" are the same.
 *
 * Ownership: mc_terms_release() frees what mc_terms_of() made.
 */
#pragma once

#include <stddef.h>

struct mc_terms {
    char **items; /* each once, in the order of the text */
    size_t count;
    size_t capacity;
};

void mc_terms_of(const char *text, size_t length, struct mc_terms *out);
void mc_terms_release(struct mc_terms *words);
int mc_terms_have(const struct mc_terms *words, const char *word);
