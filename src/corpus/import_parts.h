/*
 * What the imports share: the new corpus, a life put together from dated sessions, slots made from answers, the report.
 *
 * Sources give one time for a session of many messages. Message k of a session is dated k times MC_IMPORT_STEP_MS after
 * the session's; a collection boundary follows the last one, and a night an hour later where the next session leaves
 * room.
 *
 * Ownership: an import owns its report and texts until mc_import_release(); a life until mc_import_life_release().
 */
#pragma once

#include "corpus/corpus.h"
#include "corpus/draft.h"
#include "corpus/import.h"

enum { MC_IMPORT_STEP_MS = 30000, MC_IMPORT_DEADLINE_S = 120, MC_IMPORT_VALUE = 2000 };

struct mc_import {
    const char *source;
    const char *out;
    char *dir; /* being written; renamed to `out` at the end */
    json_t *left_out;
    json_t *repaired;
    int64_t lives;
    int64_t observations;
    int64_t questions;
    int64_t carried;
};

/* What corpus.yaml says. */
struct mc_import_head {
    const char *name;
    const char *description;
    const char *license;
    const char *const *channels; /* NULL-ended */
};

/* Refuses an `out` that exists; makes the new folder. */
int mc_import_begin(struct mc_import *import, const char *source, const char *out, const struct mc_import_head *head,
                    struct mc_err *err) MC_CHECKED;
/* Writes corpus.yaml; again where the head is known only at the end. */
int mc_import_head_write(const struct mc_import *import, const struct mc_import_head *head,
                         struct mc_err *err) MC_CHECKED;
/* Validates what was written, moves it into place and makes the report. On failure nothing is left. */
int mc_import_end(struct mc_import *import, const char *format, json_t **report, struct mc_err *err) MC_CHECKED;
/* Gives up: removes what was written. */
void mc_import_abandon(struct mc_import *import);
void mc_import_release(struct mc_import *import);

/* `kind`: question, evidence, session, message, file. */
void mc_import_leave(struct mc_import *import, const char *kind, const char *where, const char *what,
                     const char *reason);
void mc_import_repair(struct mc_import *import, const char *where, const char *what, const char *how);

struct mc_import_life {
    struct mc_import *import;
    struct mc_draft draft;
    json_t *rubric;    /* the entries under "checkpoints" */
    struct mc_ids ids; /* source_ids given */
    struct mc_tz *zone;
    int64_t *boundaries; /* in the order added */
    size_t boundary_count;
    size_t boundary_capacity;
    int64_t first; /* earliest message */
    int64_t asked; /* latest checkpoint */
    size_t questions;
};

struct mc_import_message {
    const char *id; /* the source's; made unique where it is not */
    const char *channel;
    const char *sender;
    const char *thread;
    const char *text;
    const char *subject; /* NULL: none */
    json_t *to;          /* borrowed, NULL: none */
    json_t *structured;  /* borrowed, NULL: none */
    int from_owner;
    int64_t at;
    int64_t collected;
};

/* `identity` gets title, owner, family and bet. The zone is UTC where `timezone` is NULL. */
struct mc_import_identity {
    const char *id;
    const char *title;
    const char *owner;
    const char *family;
    const char *timezone;
};
int mc_import_life_begin(struct mc_import_life *life, struct mc_import *import,
                         const struct mc_import_identity *identity, struct mc_err *err) MC_CHECKED;
void mc_import_life_release(struct mc_import_life *life);

/* Declares a boundary at which messages are collected; the same time again is fine. */
void mc_import_boundary(struct mc_import_life *life, int64_t at);
/* The ID under which it stands now. */
const char *mc_import_message(struct mc_import_life *life, const struct mc_import_message *message);
/* The latest boundary so far, or `otherwise` where there is none. */
int64_t mc_import_last(const struct mc_import_life *life, int64_t otherwise);

struct mc_import_question {
    const char *id;
    const char *where; /* for the report */
    const char *text;
    const char *answer; /* NULL: there is none, abstaining is right */
    const char *trap;   /* NULL; what a confused answer would say */
    json_t *evidence;   /* borrowed list of source_ids */
    int64_t at;
};
/* Adds the checkpoint and its rubric entry, or lists why not. */
void mc_import_question(struct mc_import_life *life, const struct mc_import_question *question);

int mc_import_life_write(struct mc_import_life *life, struct mc_err *err) MC_CHECKED;

/* import_answer.c: the matcher that fits an answer: "yesno", "date", "time", "number", "entity", else "text". */
const char *mc_import_match(const char *question, const char *answer);

/* Reads at *text a number of one to `longest` digits, or the given letters (in any case), and moves past them and the
 * white space behind; 0 where they do not stand there. */
int mc_scan_number(const char **text, int longest, int *out);
int mc_scan_letters(const char **text, const char *letters);
/* The instant of a date and time of day in UTC, where they exist. */
int mc_scan_instant(const struct mc_civil *civil, int64_t *ms);

/* A folder name made from the source's ID. */
char *mc_import_life_id(const char *prefix, const char *id);

/* import_files.c: calls `take` with each JSON file of a file, folder or ZIP, in the order of their names. */
struct mc_import_files {
    int (*take)(void *context, const char *name, const char *bytes, size_t length, struct mc_err *err);
    void *context;
    struct mc_import *import; /* told about files that are passed over */
};
int mc_import_files(const char *path, const struct mc_import_files *files, struct mc_err *err) MC_CHECKED;
