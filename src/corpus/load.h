/*
 * How a corpus and a life are read: every problem goes into a collector and reading goes on, so that one pass finds
 * them all. corpus.h and validate.h stand on this; it is of no use outside corpus/.
 *
 * Ownership: as in corpus.h.
 */
#pragma once

#include "base/json.h"
#include "corpus/corpus.h"
#include "corpus/lines.h"

/* A file being read. */
struct mc_load {
    struct mc_problems *problems;
    const char *file;
    struct mc_err err; /* what the reader that failed last said */
};

/* Passes a reader's result on: a failure becomes a problem with `mend`; true where it was 0. */
int mc_load_note(struct mc_load *load, int rc, const char *mend);

/* Members that are text, copied; "" or NULL stays where they are absent or wrong. */
void mc_load_text(struct mc_load *load, const struct mc_view *object, const char *key, enum mc_need need, char **out);

/* Reports where `time`'s offset is not the zone's at that instant (UTC is always fine). */
void mc_load_zone(struct mc_load *load, const struct mc_view *object, const char *key, struct mc_time time,
                  const struct mc_tz *zone, enum mc_severity severity);

/* The next line that can be read: 1, or 0 at the end. Lines that cannot are reported and passed. */
int mc_load_line(struct mc_load *load, struct mc_jsonl *lines, struct mc_line *out);

/* Parses a line as a JSON object: a new reference, or NULL (reported). */
json_t *mc_load_object(struct mc_load *load, const struct mc_source *source, const struct mc_line *line);

/* A YAML file of at most `max` bytes; links are refused. */
int mc_load_yaml(const char *path, size_t max, struct mc_doc *out, struct mc_err *err) MC_CHECKED;

/* corpus.yaml and the lives' names. NULL where not even that can be read (a problem says why). */
struct mc_corpus *mc_corpus_read(const char *dir, struct mc_problems *problems);

/* The public part of one life: life.yaml, observations, turns, checkpoints. Never NULL. */
struct mc_life *mc_life_read(const struct mc_corpus *corpus, const char *id, struct mc_problems *problems);

/* life.yaml alone, into the head of *life; and the records. */
void mc_life_read_head(struct mc_life *life, struct mc_problems *problems);
void mc_life_read_observations(struct mc_life *life, const struct mc_corpus *corpus, struct mc_problems *problems);
void mc_life_read_turns(struct mc_life *life, struct mc_problems *problems);
void mc_life_read_checkpoints(struct mc_life *life, struct mc_problems *problems);

/* True for a folder name that can be a life's ID. */
int mc_life_id_fits(const char *id);
