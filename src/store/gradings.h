/*
 * Verdicts in the store: gradings, the grades that each gave, and the revisions of every slot.
 *
 * A grading is one pass over all answers of a run; another one adds rows and takes none away. What is in force for a
 * slot is the last of its revisions: rows are only ever added, and the database itself refuses to change one.
 *
 * Ownership: as in records.h.
 */
#pragma once

#include "store/records.h"

struct mc_grading_record {
    int64_t id;
    const char *run;
    int64_t number;    /* from 1 within the run */
    const char *rules; /* version of the matchers */
    const char *judge; /* NULL: none was asked */
    const char *at;
};
/* Adds the run's next grading at `at`: *id and *number are set. */
int mc_gradings_add(struct mc_store *store, const struct mc_grading_record *grading, int64_t *id, int64_t *number,
                    struct mc_err *err) MC_CHECKED;
/* Oldest first. */
int mc_gradings_list(struct mc_store *store, const char *run,
                     int (*each)(void *payload, const struct mc_grading_record *grading), void *payload,
                     struct mc_err *err) MC_CHECKED;

struct mc_grade_record {
    int64_t grading;
    const char *attempt;
    const char *checkpoint;
    const char *grade; /* digest of the grade's object */
};
int mc_grades_add(struct mc_store *store, const struct mc_grade_record *grade, struct mc_err *err) MC_CHECKED;
/* The grade of one answer: 1 and its digest, or 0. */
int mc_grades_find(struct mc_store *store, int64_t grading, const char *attempt, const char *checkpoint,
                   struct mc_digest *grade, struct mc_err *err) MC_CHECKED;

struct mc_revision_record {
    const char *attempt;
    const char *checkpoint;
    const char *slot;
    int64_t number; /* from 1 within the slot; replaces the one before it */
    const char *verdict;
    const char *source; /* matcher, judge, runner, review */
    const char *rule;   /* of the matcher or judge; NULL for a review */
    const char *reason; /* the grader's explanation, or the reviewer's reason */
    const char *by;     /* NULL: the grader */
    const char *at;
    int64_t grading; /* negative: none, a review */
};
/* MC_EXISTS where that number is taken: someone was faster. */
int mc_revisions_add(struct mc_store *store, const struct mc_revision_record *revision, struct mc_err *err) MC_CHECKED;
/* Of one answer, by slot and number. */
int mc_revisions_list(struct mc_store *store, const char *attempt, const char *checkpoint,
                      int (*each)(void *payload, const struct mc_revision_record *revision), void *payload,
                      struct mc_err *err) MC_CHECKED;

struct mc_score_record {
    const char *run;
    const char *trial;
    const char *checkpoint;
    const char *slot;    /* NULL: of the whole answer */
    const char *source;  /* official, verifier, imported */
    const char *verdict; /* NULL where a score is given */
    double score;        /* NaN where a verdict is given */
    const char *by;
    const char *reason;
    const char *file; /* digest of the file it came in */
    int64_t line;
    const char *at;
};
/* The same line of the same file again adds nothing: 1 added, 0 was there. */
int mc_scores_add(struct mc_store *store, const struct mc_score_record *score, struct mc_err *err) MC_CHECKED;
int mc_scores_list(struct mc_store *store, const char *run,
                   int (*each)(void *payload, const struct mc_score_record *score), void *payload,
                   struct mc_err *err) MC_CHECKED;

/* One call of the judge, with its request and reply as objects. */
struct mc_judge_call_record {
    const char *run;     /* NULL: answers that are not of a run */
    const char *attempt; /* the same */
    const char *checkpoint;
    int64_t vote; /* from 0 */
    const char *model;
    const char *upstream;
    int64_t status;
    const char *request;
    const char *response; /* NULL: none came */
    struct mc_usage usage;
    double cost_usd;
    int64_t duration_ms;
    const char *error;
};
int mc_judge_calls_add(struct mc_store *store, const struct mc_judge_call_record *call, struct mc_err *err) MC_CHECKED;
/* The response to a request that was answered without an error: 1 and its digest, or 0. */
int mc_judge_calls_find(struct mc_store *store, const char *request, const char *upstream, struct mc_digest *response,
                        struct mc_err *err) MC_CHECKED;
int mc_judge_calls_total(struct mc_store *store, const char *run, struct mc_call_totals *out,
                         struct mc_err *err) MC_CHECKED;
