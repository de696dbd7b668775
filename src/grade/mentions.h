/*
 * What an answer says about one slot: every mention of a value of the slot's kind, what it is to the rubric, and how it
 * is said.
 *
 * Ownership: mc_mentions_find() fills, mc_mentions_release() frees; the answer is borrowed.
 */
#pragma once

#include "grade/rubric.h"
#include "grade/said.h"
#include "grade/values.h"

enum mc_rank {
    MC_RANK_RIGHT, /* expected or an alternative */
    MC_RANK_WRONG, /* forbidden, or its plain contrary */
    MC_RANK_OTHER, /* a value of the kind that the rubric does not name */
    MC_RANK_VAGUE, /* does not say enough: "in August", "after 8", an "8" that could be either */
};

struct mc_mention {
    size_t first; /* words [first, last] */
    size_t last;
    enum mc_rank rank;
    enum mc_stance stance;
    const char *value; /* the rubric's text that it was compared with; NULL for other */
    int other_occurrence;
};

struct mc_mentions {
    struct mc_mention *items;
    size_t count;
    size_t capacity;
};

void mc_mentions_find(const struct mc_slot *slot, const struct mc_calendar *calendar, const struct mc_said *said,
                      const char *question, struct mc_mentions *out);
void mc_mentions_release(struct mc_mentions *mentions);

/* The first value of the kind in the answer that is put forward at all (for slots where nothing can be known), or NULL.
 */
int mc_value_said(enum mc_match match, const struct mc_calendar *calendar, const struct mc_said *said,
                  struct mc_mention *out);

#define MC_AUTOMENTIONS MC_CLEANUP(mc_mentions_release)
