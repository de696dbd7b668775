/*
 * The tables of cues. A pattern is words between spaces; "@B", "@N" and the like stand for any word of a class
 * (cues.c).
 *
 * Ownership: static tables, each ended by a NULL pattern.
 */
#pragma once

#include "grade/said.h"

struct mc_cue_row {
    const char *pattern;
    enum mc_cue_kind kind;
};

extern const struct mc_cue_row mc_cue_rows[];
extern const struct mc_cue_row mc_abstention_rows[];

/* More than either table has. */
enum { MC_CUE_ROWS_MAX = 600 };
