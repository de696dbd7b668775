/*
 * Grading one answer: a verdict for every slot, exactly one of correct, missed and misrepresented, with the words that
 * it rests on.
 *
 * Everything here is a pure function of its arguments: the same rubric, context and answer give the same bytes. How a
 * trial ended is an input and never guessed from the answer. The rules are told in docs/grading.md.
 *
 * Ownership: a grade owns its texts (mc_answer_grade_release()); it borrows nothing, so rubric and answer may go.
 */
#pragma once

#include <stddef.h>

#include "base/json.h"
#include "base/tz.h"
#include "grade/rubric.h"

/* How a trial ended (design.md, section 2). */
enum mc_ended {
    MC_ENDED_COMPLETED,
    MC_ENDED_FAILED,
    MC_ENDED_TIMEOUT,
    MC_ENDED_TOOL_POLICY,
    MC_ENDED_PROTOCOL_ERROR,
    MC_ENDED_INFRASTRUCTURE,
    MC_ENDED_BUDGET,
    MC_ENDED_CANCELLED,
};

/* NULL-ended, in the enum's order: for mc_read_choice(). */
extern const char *const mc_ended_names[];
const char *mc_ended_name(enum mc_ended ended);

/* What a harness is answerable for: completed, failed, timeout, tool_policy, protocol_error. The others are missing. */
int mc_ended_counts(enum mc_ended ended);

enum mc_verdict {
    MC_VERDICT_CORRECT,
    MC_VERDICT_MISSED,
    MC_VERDICT_MISREPRESENTED,
    MC_VERDICT_UNGRADED, /* nobody could judge it: never counted as wrong */
};
extern const char *const mc_verdict_names[]; /* NULL-ended, in the enum's order */
const char *mc_verdict_name(enum mc_verdict verdict);

/* Where and when the question was asked. */
struct mc_grade_context {
    const struct mc_tz *zone; /* the life's */
    struct mc_time asked_at;
    const char *question; /* NULL where unknown; lets a yes/no slot see that an answer restates it */
};

/* Words of the answer that a verdict rests on: bytes [start, end) of the answer as given. */
struct mc_quote {
    size_t start;
    size_t end;
    char *text;
    const char *stance; /* how they are said: "asserted", "negated", "past", ...; static */
};

/* What kind of error it was, for the separate counts. */
enum mc_fault {
    MC_FAULT_STALE = 1 << 0,            /* an outdated value asserted as current */
    MC_FAULT_INVENTION = 1 << 1,        /* a value that nothing in the rubric knows */
    MC_FAULT_WRONG_PERSON = 1 << 2,     /* another person's name in place of the right one */
    MC_FAULT_WRONG_OCCURRENCE = 1 << 3, /* the right weekday or hour on another day or half of the day */
    MC_FAULT_DUPLICATE = 1 << 4,        /* the same thing listed twice */
};

struct mc_slot_grade {
    char *id;
    enum mc_slot_kind kind;
    enum mc_match match;
    int required;
    enum mc_verdict verdict;
    const char *rule;   /* name of the rule that fired, static: "asserted", "old-and-new", ... */
    const char *source; /* who gave the verdict, static: "matcher", "judge", "runner" */
    char *explanation;
    struct mc_quote *quotes;
    size_t quote_count;
    struct mc_texts evidence; /* the slot's supported_by */
    unsigned faults;          /* of enum mc_fault */
    int undecided;            /* a text that no matcher can decide: a judge may be asked */
};

struct mc_slot_grades {
    struct mc_slot_grade *items;
    size_t count;
};

struct mc_answer_grade {
    char *checkpoint;
    enum mc_mode mode;
    enum mc_ended ended;
    struct mc_slot_grades slots;
    struct mc_slot_grades options; /* correct: suggested */
    struct mc_slot_grades traps;   /* misrepresented: suggested */
    int abstained;                 /* the answer as a whole says that it does not know */
    int complete;                  /* all required slots correct, nothing misrepresented, no trap suggested; open-ended
                                      with options: one of them at least suggested */
    size_t options_found;
    size_t options_total;
};

/* Longer answers are refused with MC_LIMIT. */
enum { MC_ANSWER_MAX = 1 << 20 };

/* Grades `answer` (NULL or anything where `ended` is not completed: it is not looked at). */
int mc_grade_answer(const struct mc_rubric_checkpoint *checkpoint, const struct mc_grade_context *context,
                    const char *answer, enum mc_ended ended, struct mc_answer_grade *out,
                    struct mc_err *err) MC_CHECKED;
void mc_answer_grade_release(struct mc_answer_grade *grade);

/* Sets the verdict of one slot after the fact (a judge's, a review's) and brings `complete` and the counts up to date.
 * `rule` and `source` are static. */
void mc_answer_grade_settle(struct mc_answer_grade *grade, struct mc_slot_grade *slot, enum mc_verdict verdict,
                            const char *rule, const char *source, const char *explanation);

/* True where any slot that counts for `complete` is ungraded: the answer stays out of the success rate. */
int mc_answer_grade_open(const struct mc_answer_grade *grade);

/* The grade as an object: checkpoint, mode, ended, slots[] {id, kind, match, required, verdict, rule, source,
 * explanation, quotes[], evidence[], faults[], undecided?}, options[], complete, abstained, options_found,
 * options_total, traps[] (ids of those suggested), trap_slots[]. New reference. */
json_t *mc_answer_grade_json(const struct mc_answer_grade *grade);

/* The same back: what mc_answer_grade_json() gave, through a view on it. `rule`, `source` and the quotes' `stance` are
 * borrowed from that tree, which must outlive the grade; everything else is owned. Fails with MC_INPUT and the place.
 */
int mc_answer_grade_read(const struct mc_view *view, struct mc_answer_grade *out, struct mc_err *err) MC_CHECKED;

/* The slot with that id among slots, options and traps, or NULL. */
struct mc_slot_grade *mc_answer_grade_slot(const struct mc_answer_grade *grade, const char *id);

#define MC_AUTOGRADE MC_CLEANUP(mc_answer_grade_release)
