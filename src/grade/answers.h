/*
 * Answers files (design.md, section 5): JSON lines, one answer each, from anyone.
 *
 * The file is streamed: memory does not grow with the number of answers. A line that is wrong is reported with its
 * number; reading goes on only where the caller says so.
 *
 * Ownership: the strings of an answer are borrowed and live during the callback only.
 */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "base/until.h"
#include "grade/verdict.h"

struct mc_answer {
    const char *life;
    const char *checkpoint;
    const char *answer; /* "" where the trial did not complete and none was given */
    enum mc_ended ended;
    const char *harness; /* "" where none is named */
    int64_t repetition;  /* from 1; 1 where none is named */
    int line;
};

enum { MC_ANSWERS_MAX_LINE = 4 << 20 };

/* Takes one answer; a result other than 0 ends the reading with it. */
typedef int mc_answer_fn(void *arg, const struct mc_answer *answer, struct mc_err *err);

/* Takes one bad line; 0 goes on with the next, anything else ends the reading with it. NULL in place of it ends the
 * reading at the first bad line. */
typedef int mc_bad_answer_fn(void *arg, const struct mc_err *problem);

int mc_answers_read(const char *path, struct mc_until until, mc_answer_fn *each, mc_bad_answer_fn *bad, void *arg,
                    struct mc_err *err) MC_CHECKED;

/* One line of such a file; for tests and other sources. `line` is its number. */
int mc_answer_parse(const void *bytes, size_t length, const char *name, int line, mc_answer_fn *each, void *arg,
                    struct mc_err *err) MC_CHECKED;
