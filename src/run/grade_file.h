/*
 * Grading an answers file against a corpus folder: what `memcal grade --corpus DIR --answers FILE` does.
 *
 * The file is streamed and rubrics are loaded as they are needed, so memory grows with the number of lives and
 * repetitions, not with that of answers. Reading ends at the first line that is wrong.
 *
 * Ownership: options are borrowed; what the callback is given lives until it returns; *summary is a new reference.
 */
#pragma once

#include <jansson.h>

#include "grade/answers.h"
#include "run/judge.h"
#include "run/rubrics.h"

enum { MC_GRADE_FILE_HARNESSES = 1000 };

struct mc_grade_file {
    const struct mc_corpus *corpus;
    const char *answers;    /* path */
    struct mc_asker *asker; /* NULL: no judge is asked */
    const struct mc_cancel *cancel;
    /* Called for each answer in the order of the file. */
    int (*each)(void *payload, const struct mc_answer *answer, const struct mc_answer_grade *grade, struct mc_err *err);
    void *payload;
};

/* Summary: {answers, unjudged, lives, metrics, tally, harnesses: [{name, lives, metrics, tally}]}, the metrics over all
 * answers and for each harness that the file names ("" where it names none). */
int mc_grade_file(const struct mc_grade_file *file, json_t **summary, struct mc_err *err) MC_CHECKED;

/* One graded answer as the command prints it: the grade with life, harness and repetition. New reference. */
json_t *mc_graded_answer_json(const struct mc_answer *answer, const struct mc_answer_grade *grade);
