/*
 * Everything that docs/corpus.md asks of a corpus, checked in one pass. Memory is proportional to one life.
 *
 * Ownership: the collector is the caller's.
 */
#pragma once

#include "corpus/problems.h"

/* Whatever is wrong, a folder that cannot be read too, goes into *problems. `rubric` 0 leaves the hidden part unread.
 */
void mc_corpus_validate(const char *dir, int rubric, struct mc_problems *problems);

/* Another reader of rubrics (the grader's, which this folder does not know): given the document of each life after it
 * was checked here, it adds what it finds. */
struct mc_rubric_reader {
    void (*read)(void *arg, const struct mc_view *root, const char *file, struct mc_problems *problems);
    void *arg;
};
/* The same with the rubric read by `reader` too. */
void mc_corpus_validate_with(const char *dir, const struct mc_rubric_reader *reader, struct mc_problems *problems);
