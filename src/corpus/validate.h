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
