/*
 * Everything that is wrong with a corpus, collected in one pass: each problem with its file, line, path in the
 * document, what is wrong, and how to mend it.
 *
 * Ownership: the collector owns every text; mc_problems_release() frees them. The first MC_PROBLEMS_KEPT are kept, the
 * rest only counted, so that a hostile corpus cannot make the report grow without end.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/json.h"

enum { MC_PROBLEMS_KEPT = 1000 };

enum mc_severity { MC_SEVERITY_ERROR, MC_SEVERITY_WARNING };

struct mc_problem {
    enum mc_severity severity;
    char *file; /* as given to the loader, joined with the path inside the corpus */
    int line;   /* 0 where none applies */
    char *path; /* inside the document, "" where none applies */
    char *text;
    char *mend;
};

struct mc_problems {
    struct mc_problem *items;
    size_t count; /* kept */
    size_t capacity;
    size_t errors; /* found, kept or not */
    size_t warnings;
};

void mc_problems_release(struct mc_problems *problems);
#define MC_AUTOPROBLEMS MC_CLEANUP(mc_problems_release)

/* Where a problem stands. */
struct mc_place {
    const char *file;
    int line;
    const char *path;
};

void mc_problems_add(struct mc_problems *problems, enum mc_severity severity, struct mc_place place, const char *mend,
                     const char *format, ...) MC_PRINTF(5, 6);

/* The same at the place of `view`. */
void mc_problems_at(struct mc_problems *problems, enum mc_severity severity, const struct mc_view *view,
                    const char *mend, const char *format, ...) MC_PRINTF(5, 6);

/* Takes what a reader of base/ reported as an error; `file` serves where the error names no place, `mend` where it has
 * no hint. */
void mc_problems_take(struct mc_problems *problems, const struct mc_err *err, const char *file, const char *mend);

/* True where one of the first `before` problems kept stands at the same place. */
int mc_problems_has(const struct mc_problems *problems, const struct mc_err *err, const char *file, size_t before);

/* 0 where there is no error; else fails with the first one and says how many there are. */
int mc_problems_check(const struct mc_problems *problems, struct mc_err *err) MC_CHECKED;

/* {"errors", "warnings", "left_out", "problems": [{severity, file, line?, path?, text, mend}]}; new reference. */
json_t *mc_problems_json(const struct mc_problems *problems);
