/* Finds cues: the longest match wins at each word. */
#include "grade/cues_table.h"

#include <string.h>

#include "base/mem.h"

/* Words that "@B" and the like in a pattern stand for. */
static const struct {
    char letter;
    const char *list;
} classes[] = {
    {'B', " is are was were be been being 's 're 'm isnt arent wasnt "},
    {'P', " is are 's 're am 'm "},
    {'W', " was were wasnt "},
    {'N', " not n't never "},
    {'D', " do does did dont doesnt didnt "},
    {'H', " has have had 've 's "},
    {'I', " i we "},
    {'T', " it that this they he she there "},
    {'O', " plan time date day place venue location address spot one schedule idea arrangement version price message "
          "email text "
          "note post amount rent cost "},
    {'S', " sure certain positive clear confident "},
    {'C', " change move update switch swap rescheduling relocation "},
};

/* A bit for each class that the word is in. */
static unsigned classes_of(const char *norm)
{
    unsigned mask = 0;
    for (size_t i = 0; i < MC_COUNT(classes); i++) {
        mask |= mc_norm_in(norm, classes[i].list) ? 1U << i : 0;
    }
    return mask;
}

static int fits(const char *part, size_t length, const char *norm, unsigned mask)
{
    if (part[0] != '@') {
        return strncmp(part, norm, length) == 0 && norm[length] == '\0';
    }
    for (size_t i = 0; i < MC_COUNT(classes); i++) {
        if (classes[i].letter == part[1]) {
            return (mask & (1U << i)) != 0;
        }
    }
    return 0;
}

/* Number of words that the pattern takes from word `at`, 0 where it does not fit. */
static size_t pattern_length(const struct mc_words *words, const unsigned *masks, size_t at, const char *pattern)
{
    size_t count = 0;
    for (const char *p = pattern; *p;) {
        size_t length = strcspn(p, " ");
        size_t i = at + count;
        if (i >= words->count || !fits(p, length, words->items[i].norm, masks[i])) {
            return 0;
        }
        if (count > 0 && words->items[i].sentence != words->items[at].sentence) {
            return 0;
        }
        count++;
        p += length + (p[length] == ' ');
    }
    return count;
}

/* Rows of a table by the first byte of their pattern, chained: most words begin few patterns. */
struct index {
    const struct mc_cue_row *table;
    short head[256]; /* row + 1, 0 for none */
    short next[MC_CUE_ROWS_MAX];
};

static void fill_index(struct index *index, const struct mc_cue_row *table)
{
    memset(index->head, 0, sizeof index->head);
    index->table = table;
    for (size_t i = 0; table[i].pattern && i < MC_CUE_ROWS_MAX; i++) {
        unsigned char first = (unsigned char)table[i].pattern[0];
        index->next[i] = index->head[first];
        index->head[first] = (short)(i + 1);
    }
}

static size_t longest(const struct mc_words *words, const unsigned *masks, size_t at, const struct index *index,
                      enum mc_cue_kind *kind)
{
    const unsigned char firsts[] = {(unsigned char)words->items[at].norm[0], '@'};
    size_t best = 0;
    for (size_t f = 0; f < (masks[at] ? 2U : 1U); f++) {
        for (short row = index->head[firsts[f]]; row > 0; row = index->next[row - 1]) {
            size_t length = pattern_length(words, masks, at, index->table[row - 1].pattern);
            if (length > best) {
                best = length;
                *kind = index->table[row - 1].kind;
            }
        }
    }
    return best;
}

static void add_cue(struct mc_said *said, size_t first, size_t length, enum mc_cue_kind kind)
{
    said->cues = mc_grow(said->cues, said->cue_count, &said->cue_capacity, sizeof *said->cues);
    said->cues[said->cue_count++] = (struct mc_cue){first, first + length - 1, kind};
}

void mc_cues_find(struct mc_said *said)
{
    const struct mc_words *words = &said->words;
    MC_AUTOFREE unsigned *masks = mc_alloc(words->count + 1, sizeof *masks);
    for (size_t i = 0; i < words->count; i++) {
        masks[i] = classes_of(words->items[i].norm);
    }
    struct index general;
    struct index unknowing;
    fill_index(&general, mc_cue_rows);
    fill_index(&unknowing, mc_abstention_rows);
    size_t covered = 0; /* words before this belong to a cue already found */
    for (size_t i = 0; i < words->count; i++) {
        enum mc_cue_kind kind = MC_CUE_PLAIN;
        size_t length = longest(words, masks, i, &unknowing, &kind);
        if (length > 0) {
            add_cue(said, i, length, kind);
        }
        if (i < covered) {
            continue;
        }
        length = longest(words, masks, i, &general, &kind);
        if (length > 0) {
            add_cue(said, i, length, kind);
            covered = i + length;
        }
    }
}
