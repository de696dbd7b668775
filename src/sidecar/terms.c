#include "sidecar/terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80;
}

static int is_stop_word(const char *word)
{
    static const char *const stops[] = {
        "a",     "about", "after", "all",  "also",  "am",     "an",   "and",  "any",   "are",  "as",   "at",   "be",
        "been",  "but",   "by",    "can",  "could", "did",    "do",   "does", "doing", "for",  "from", "had",  "has",
        "have",  "he",    "her",   "hers", "him",   "his",    "how",  "i",    "if",    "in",   "into", "is",   "it",
        "its",   "just",  "know",  "me",   "my",    "no",     "not",  "of",   "on",    "or",   "our",  "out",  "please",
        "re",    "s",     "say",   "said", "she",   "should", "so",   "t",    "tell",  "than", "that", "the",  "their",
        "them",  "then",  "there", "they", "this",  "to",     "up",   "us",   "was",   "we",   "were", "what", "when",
        "where", "which", "who",   "whom", "whose", "why",    "will", "with", "would", "you",  "your"};
    for (size_t i = 0; i < MC_COUNT(stops); i++) {
        if (strcmp(stops[i], word) == 0) {
            return 1;
        }
    }
    return 0;
}

static int ends_with(const char *word, size_t length, const char *ending)
{
    size_t size = strlen(ending);
    return length >= size + 3 && strcmp(word + length - size, ending) == 0;
}

/* Cuts one common ending off; three letters at least are left. A last "e" goes too, so that "move" meets "moving". */
static void fold(char *word)
{
    static const char *const endings[] = {"ies", "ing", "ed", "es", "s"};
    size_t length = strlen(word);
    for (size_t i = 0; i < MC_COUNT(endings); i++) {
        if (ends_with(word, length, endings[i]) && !(endings[i][0] == 's' && word[length - 2] == 's')) {
            length -= strlen(endings[i]);
            word[length] = '\0';
            if (i == 0) {
                word[length++] = 'y';
                word[length] = '\0';
            }
            break;
        }
    }
    if (length > 3 && word[length - 1] == 'e') {
        word[--length] = '\0';
    }
    if (length > 3 && word[length - 1] == word[length - 2] && word[length - 1] != 's' && word[length - 1] != 'l') {
        word[length - 1] = '\0'; /* "planned" is "plan" */
    }
}

int mc_terms_have(const struct mc_terms *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->items[i], word) == 0) {
            return 1;
        }
    }
    return 0;
}

void mc_terms_of(const char *text, size_t length, struct mc_terms *out)
{
    *out = (struct mc_terms){NULL, 0, 0};
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && is_letter((unsigned char)text[end])) {
            end++;
        }
        if (end == at) {
            at++;
            continue;
        }
        char *word = mc_strndup(text + at, end - at);
        for (char *p = word; *p; p++) {
            *p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
        }
        int stop = is_stop_word(word);
        fold(word);
        if (stop || mc_terms_have(out, word)) {
            free(word);
        } else {
            out->items = mc_grow(out->items, out->count, &out->capacity, sizeof *out->items);
            out->items[out->count++] = word;
        }
        at = end;
    }
}

void mc_terms_release(struct mc_terms *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->items[i]);
    }
    free(words->items);
    *words = (struct mc_terms){NULL, 0, 0};
}
