/*
 * The rubric as far as corpus/ reads it: links to checkpoints and evidence, and values that must stand nowhere else.
 * Its schema proper is the grader's.
 *
 * Ownership: everything is borrowed but the leak list, which mc_leaks_release() frees.
 */
#pragma once

#include "corpus/load.h"

/* One slot's values, seen leniently. */
struct mc_rubric_slot {
    struct mc_view view;
    const char *match; /* "" where absent */
    const char *kind;
    int is_trap;
};

/* A public text that holds a value which, unless the life's evidence holds it too, only the rubric should hold. */
struct mc_leak {
    char *value; /* folded */
    char *shown; /* as the rubric has it */
    char *file;
    char *path;
    char *where; /* "the question of checkpoint x" */
    int line;
    int excused; /* evidence holds it */
    enum mc_severity severity;
};

/* A public text that every life's values are looked for in. */
struct mc_public_text {
    char *file;
    char *where;
    char *folded;
};

struct mc_public {
    struct mc_public_text *items;
    size_t count;
    size_t capacity;
};

/* The search for leaks in one life. */
struct mc_leaks {
    const struct mc_life *life;
    const struct mc_public *texts;
    struct mc_problems *problems;
    char **questions; /* folded, as the life's checkpoints */
    char **turns;     /* folded, as the life's turns */
    struct mc_leak *items;
    size_t count;
    size_t capacity;
};

void mc_public_add(struct mc_public *texts, const char *file, const char *where, const char *text);
void mc_public_release(struct mc_public *texts);

/* Checks the rubric of `life`: links, contradictions, and leaks into its own public files and into `texts`; `reader`
 * may be NULL. */
struct mc_rubric_reader;
void mc_rubric_check(const struct mc_life *life, const struct mc_public *texts, const struct mc_rubric_reader *reader,
                     struct mc_problems *problems);

/* leaks.c: looks for one slot's values in every public text; a question that contains its own answer is reported at
 * once, other finds become suspects. `checkpoint` is an index. */
void mc_leaks_begin(struct mc_leaks *leaks, const struct mc_life *life, const struct mc_public *texts,
                    struct mc_problems *problems);
void mc_leaks_of_slot(struct mc_leaks *leaks, size_t checkpoint, const struct mc_rubric_slot *slot);
/* Excuses the suspects that evidence holds, reports the rest, and forgets them all. */
void mc_leaks_settle(struct mc_leaks *leaks);
void mc_leaks_release(struct mc_leaks *leaks);

/* True where `question` contains the answer `value` and does not offer it as a choice. */
int mc_question_gives_away(const char *question, const char *value);
