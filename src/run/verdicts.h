/*
 * Answers of a run as they are judged at one time: the grade of the grading in force, with the revisions in force.
 *
 * A grading gives every slot its first revision, or a further one where its verdict differs from the grader's before.
 * A review adds one too, and stays in force over later gradings: who looked at an answer is not overruled by a rule.
 *
 * Ownership: structs are filled for the caller, who releases them.
 */
#pragma once

#include <jansson.h>

#include "grade/review.h"
#include "grade/verdict.h"
#include "store/gradings.h"

struct mc_grading_in_force {
    int64_t id;
    int64_t number;
    char *rules;
    char *judge; /* NULL: none */
    struct mc_time at;
};

/* The run's last grading, or the last one at `as_of`. MC_NOT_FOUND where there was none yet. */
int mc_grading_find(struct mc_store *store, const char *run, const struct mc_time *as_of,
                    struct mc_grading_in_force *out, struct mc_err *err) MC_CHECKED;
void mc_grading_release(struct mc_grading_in_force *grading);

struct mc_slot_history {
    char *slot;
    struct mc_history history;
};

struct mc_judged {
    json_t *object; /* the grade's object: NULL where this grading has none for the answer */
    struct mc_digest digest;
    const char *life; /* borrowed from the object, like the next four */
    const char *base_life;
    const char *family;
    const char *question;
    const char *asked_at;
    struct mc_answer_grade grade; /* borrows from the object */
    struct mc_slot_history *slots;
    size_t slot_count;
};

/* What the grading with that id gave, with all revisions but none applied. */
int mc_judged_load(struct mc_store *store, int64_t grading, const char *attempt, const char *checkpoint,
                   struct mc_judged *out, struct mc_err *err) MC_CHECKED;
/* Puts the reviews in force at `as_of` (NULL: now) in the place of the grader's verdicts. */
void mc_judged_apply(struct mc_judged *judged, const struct mc_time *as_of);
void mc_judged_release(struct mc_judged *judged);

/* The revisions of one slot; NULL where it has none. */
struct mc_history *mc_judged_history(const struct mc_judged *judged, const char *slot);

/* mc_answer_grade_json() of the verdicts in force; each slot has its `revision`, and those with more than one have all
 * of them in `revisions`. New reference. */
json_t *mc_judged_json(const struct mc_judged *judged, const struct mc_time *as_of);

#define MC_AUTOJUDGED MC_CLEANUP(mc_judged_release)
#define MC_AUTOGRADING MC_CLEANUP(mc_grading_release)
