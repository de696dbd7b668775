/*
 * The hidden rubric of a life (design.md, section 5): for every checkpoint the slots that an answer is graded by.
 *
 * Reading checks the whole document and reports every problem it finds, one by one, each with file, line, path and a
 * way to mend it; a rubric with any problem is refused as a whole. Scalars are kept as written: `expected: 1.50` is
 * "1.50", `expected: yes` is "yes".
 *
 * Ownership: a rubric owns all that it holds; mc_rubric_release() frees it. Nothing of the document is borrowed.
 */
#pragma once

#include <stddef.h>

#include "base/json.h"

enum mc_mode { MC_MODE_FACT, MC_MODE_PLAN, MC_MODE_OPEN, MC_MODE_UNANSWERABLE };
enum mc_slot_kind { MC_SLOT_CURRENT, MC_SLOT_HISTORICAL, MC_SLOT_ABSTAIN };
enum mc_match {
    MC_MATCH_DATE,
    MC_MATCH_TIME,
    MC_MATCH_STATUS,
    MC_MATCH_YESNO,
    MC_MATCH_ENTITY,
    MC_MATCH_NUMBER,
    MC_MATCH_TEXT,
};

/* The names that the format uses: "complete-plan", "historical", "yesno"; NULL-ended, in the enums' order. */
extern const char *const mc_mode_names[];
extern const char *const mc_slot_kind_names[];
extern const char *const mc_match_names[];
const char *mc_mode_name(enum mc_mode mode);
const char *mc_slot_kind_name(enum mc_slot_kind kind);
const char *mc_match_name(enum mc_match match);

struct mc_texts {
    char **items;
    size_t count;
};

struct mc_slot {
    char *id;
    enum mc_slot_kind kind;
    enum mc_match match;
    char *expected; /* NULL only where kind is abstain */
    struct mc_texts alternatives;
    struct mc_texts forbidden;
    struct mc_texts supported_by; /* source_ids of observations */
    int required;
    int line; /* in the rubric, 0 where unknown */
};

struct mc_slots {
    struct mc_slot *items;
    size_t count;
};

struct mc_rubric_checkpoint {
    char *id;
    enum mc_mode mode;
    struct mc_slots slots;
    struct mc_slots options; /* open-ended: worth suggesting */
    struct mc_slots traps;   /* open-ended: must not be suggested */
    int line;
};

struct mc_rubric {
    struct mc_rubric_checkpoint *checkpoints; /* sorted by id */
    size_t count;
};

enum {
    MC_RUBRIC_MAX_BYTES = 8 << 20, /* of the file; for mc_yaml_load() */
    MC_RUBRIC_MAX_SLOTS = 100,     /* of one list of a checkpoint */
    MC_RUBRIC_MAX_VALUES = 200,    /* of one list of a slot */
    MC_RUBRIC_MAX_VALUE = 2000,    /* bytes of one value */
};

/* Called once for each problem, in the order of the document. */
typedef void mc_problem_fn(void *arg, const struct mc_err *problem);

/* Reads a rubric from the root of its document. 0, or MC_INPUT after all problems were reported (`problem` may be
 * NULL), with the first of them and their number in *err. */
int mc_rubric_read(const struct mc_view *root, mc_problem_fn *problem, void *arg, struct mc_rubric *out,
                   struct mc_err *err) MC_CHECKED;
void mc_rubric_release(struct mc_rubric *rubric);

/* True where a matcher of that kind can read the rubric value `text`: for dates, times, numbers, yes and no all of it
 * must be one value; for the others it must hold a word. */
int mc_rubric_reads(enum mc_match match, const char *text);

/* The checkpoint with that id, or NULL. */
const struct mc_rubric_checkpoint *mc_rubric_find(const struct mc_rubric *rubric, const char *id);

#define MC_AUTORUBRIC MC_CLEANUP(mc_rubric_release)
