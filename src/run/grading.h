/*
 * Grading a run from what the store has: every answer of the last attempts against the rubric of the corpus that the
 * run was made with. Touches no container; a judge may be asked.
 *
 * A grading is in the store as a whole or not at all. The same rules, rubric and answers give the same grades; only
 * what differs from the grading before becomes a revision.
 *
 * Ownership: options are borrowed; a result is the caller's (mc_grading_result_release()).
 */
#pragma once

#include "run/judge.h"
#include "run/rubrics.h"
#include "run/stored.h"

/* The version of the matchers: changes with every change of theirs that can change a verdict. */
#define MC_GRADER_RULES "rules/1"

struct mc_grading_options {
    struct mc_store *store;
    const struct mc_stored_run *run;
    const char *judge;                  /* a name among the run's models, "none"; NULL: as the run's manifest says */
    const struct mc_redactor *redactor; /* NULL: one that knows the secrets of the run's models, where they are set */
    const struct mc_cancel *cancel;
};

struct mc_grading_result {
    int64_t number;
    size_t answers;
    size_t unjudged; /* slots that the judge was asked about and did not decide */
    /* [{answer, slot, from, to, in_force}]: what the grader now says otherwise than before; in_force is false where a
     * review keeps its verdict. */
    json_t *changes;
};

int mc_grading_make(const struct mc_grading_options *options, struct mc_grading_result *out,
                    struct mc_err *err) MC_CHECKED;
void mc_grading_result_release(struct mc_grading_result *result);

/* The grade's object: {asked_at, base_life, family, grade, life, question}. New reference. */
json_t *mc_grade_object(const struct mc_ruled *ruled, const struct mc_answer_grade *grade);
