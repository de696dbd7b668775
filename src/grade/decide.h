/*
 * One slot's verdict from what the answer says about it.
 *
 * Ownership: mc_decide_slot() fills *out, which mc_answer_grade_release() frees as a part of its grade.
 */
#pragma once

#include "grade/mentions.h"
#include "grade/verdict.h"

/* What all slots of one answer share. */
struct mc_hearing {
    const struct mc_said *said;
    struct mc_calendar calendar;
    const char *question;
    int abstains;                             /* the answer says somewhere that it does not know */
    int guesses;                              /* and offers something all the same */
    size_t abstention_first, abstention_last; /* words */
};

struct mc_hearing mc_hearing_of(const struct mc_said *said, const struct mc_grade_context *context);

enum mc_role { MC_ROLE_SLOT, MC_ROLE_OPTION, MC_ROLE_TRAP };

/* *asserts is set where the answer commits itself to any value of the slot. */
void mc_decide_slot(const struct mc_slot *slot, enum mc_role role, const struct mc_hearing *hearing,
                    struct mc_slot_grade *out, int *asserts);

/* Copies of a slot's id, kind, match, required and evidence. */
void mc_slot_grade_begin(const struct mc_slot *slot, struct mc_slot_grade *out);
