/*
 * The steps of a life in the order in which a run executes them: by time; at the same instant import, night, turn,
 * probe (design.md section 8); among equals, in file order.
 *
 * Every declared collection boundary gives one import step, also where nothing was collected (count 0).
 *
 * Ownership: a schedule owns its array; it borrows nothing, its numbers index the life that it was made from.
 */
#pragma once

#include "corpus/corpus.h"

enum mc_step_kind { MC_STEP_IMPORT, MC_STEP_NIGHT, MC_STEP_TURN, MC_STEP_PROBE };

struct mc_step {
    enum mc_step_kind kind;
    struct mc_time at;
    size_t index; /* in the life's collections, nights, turns or checkpoints */
    size_t first; /* import: its observations in the life's index */
    size_t count;
};

struct mc_schedule {
    struct mc_step *steps;
    size_t count;
};

void mc_life_schedule(const struct mc_life *life, struct mc_schedule *out);
void mc_schedule_release(struct mc_schedule *schedule);
#define MC_AUTOSCHEDULE MC_CLEANUP(mc_schedule_release)

/* "import", "night", "turn", "probe". */
const char *mc_step_name(enum mc_step_kind kind);
