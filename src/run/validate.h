/*
 * A corpus checked as a whole, in one pass: its files by corpus/, and every rubric also by the grader that will read
 * it.
 *
 * Ownership: the collector is the caller's.
 */
#pragma once

#include "corpus/problems.h"

void mc_validate(const char *dir, struct mc_problems *problems);
