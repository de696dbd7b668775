/*
 * Everything that docs/corpus.md asks of a corpus, checked in one pass. Memory is proportional to one life.
 *
 * Ownership: the collector is the caller's.
 */
#pragma once

#include "corpus/problems.h"

/* Fails only where the folder cannot be read at all or the run is cancelled; what is wrong with the corpus is in
 * *problems. `rubric` 0 leaves the hidden part unread. */
int mc_corpus_validate(const char *dir, int rubric, struct mc_problems *problems, struct mc_err *err) MC_CHECKED;
