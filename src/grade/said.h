/*
 * How the words of an answer are said: clauses, and the cues in them that tell an assertion from a negation, a
 * history, someone's belief, a hedge, a condition or a question. The rules are told in docs/grading.md.
 *
 * Ownership: mc_said_read() fills, mc_said_release() frees; the source text is borrowed and must outlive it.
 */
#pragma once

#include "grade/words.h"

/* From what is asserted to what is not. */
enum mc_stance {
    MC_STANCE_ASSERTED,
    MC_STANCE_IS,       /* the same, in the present: "it's" */
    MC_STANCE_NOW,      /* marked as the new state: "now", "moved to" */
    MC_STANCE_LIKELY,   /* lightly hedged: "I think", "probably" */
    MC_STANCE_REPORTED, /* "Priya said" */
    MC_STANCE_WAS,      /* the simple past, which may be a plain fact about the past */
    MC_STANCE_PAST,     /* marked as outdated: "used to be", "moved from" */
    MC_STANCE_HEDGED,   /* "maybe", "might", "not sure" */
    MC_STANCE_CONDITIONAL,
    MC_STANCE_BELIEVED, /* someone's belief or wish: "Priya thought" */
    MC_STANCE_QUESTION,
    MC_STANCE_NEGATED,
    MC_STANCE_SPEAKER,   /* only named as who said it: "Priya said" */
    MC_STANCE_NEAR,      /* only named to say what is near it */
    MC_STANCE_RETRACTED, /* taken back later: "actually, ..." */
};
const char *mc_stance_name(enum mc_stance stance);

enum mc_cue_kind {
    MC_CUE_PLAIN, /* looks like a cue and is none: "don't forget" */
    MC_CUE_NEGATION,
    MC_CUE_NEGATION_OF_CLAUSE, /* "I don't think" */
    MC_CUE_NEGATION_BACK,      /* "Friday is off" */
    MC_CUE_PAST,
    MC_CUE_PAST_BACK,
    MC_CUE_PAST_EITHER, /* forward, or back where nothing follows: "originally" */
    MC_CUE_WAS,
    MC_CUE_IS,
    MC_CUE_HABIT, /* "usually": what holds unless something else does */
    MC_CUE_NOW,
    MC_CUE_NOW_EITHER,
    MC_CUE_CHANGE, /* "moved": then "from" is past and "to" is now */
    MC_CUE_BELIEF,
    MC_CUE_REPORT,
    MC_CUE_NEAR, /* "next to" */
    MC_CUE_HEDGE,
    MC_CUE_LIKELY,
    MC_CUE_CONDITION,
    MC_CUE_CORRECTION, /* "actually" */
    MC_CUE_ABSTENTION,
    MC_CUE_GUESS, /* what follows an abstention is an answer after all */
};

struct mc_cue {
    size_t first; /* words [first, last] */
    size_t last;
    enum mc_cue_kind kind;
};

struct mc_said {
    struct mc_words words;
    struct mc_cue *cues;
    size_t cue_count;
    size_t cue_capacity;
};

void mc_said_read(const char *source, size_t length, struct mc_said *out);
void mc_said_release(struct mc_said *said);

/* How the words [first, last] are said. */
enum mc_stance mc_said_stance(const struct mc_said *said, size_t first, size_t last);

/* The first cue of that kind at or after word `from`, or NULL. */
const struct mc_cue *mc_said_cue(const struct mc_said *said, enum mc_cue_kind kind, size_t from);

/* First and last word of a clause or a sentence that word `i` is in. */
size_t mc_clause_first(const struct mc_words *words, size_t i);
size_t mc_clause_last(const struct mc_words *words, size_t i);
size_t mc_sentence_first(const struct mc_words *words, size_t i);
size_t mc_sentence_last(const struct mc_words *words, size_t i);

/* cues.c: finds every cue, the longest at each word; `clauses` marks sentences and clauses. */
void mc_clauses_mark(struct mc_words *words);
void mc_cues_find(struct mc_said *said);

#define MC_AUTOSAID MC_CLEANUP(mc_said_release)
