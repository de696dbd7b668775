/*
 * A corpus on disk and its lives (format: design.md section 5, docs/corpus.md).
 *
 * Opening a corpus reads corpus.yaml and the names of its lives; loading a life reads that life only, so memory is
 * proportional to one life. The text of observations stays in the file: a life holds an index in delivery order
 * (about 60 bytes and the ID each), and an observation's bytes are read, word for word, when asked for. rubric.yaml is
 * opened by mc_life_rubric() and by nothing else here.
 *
 * Ownership: corpora and lives own everything reachable from them; mc_corpus_free() and mc_life_free() release it. A
 * life borrows nothing from its corpus.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/time.h"
#include "base/tz.h"
#include "base/yaml.h"
#include "corpus/ids.h"
#include "corpus/problems.h"

/* Limits; what passes one is refused with a message that names it. */
enum {
    MC_CORPUS_LIVES = 100000,
    MC_LIFE_OBSERVATIONS = 2000000,
    MC_LIFE_TURNS = 10000,
    MC_LIFE_CHECKPOINTS = 10000,
    MC_LIFE_BOUNDARIES = 100000,    /* collections, and nights */
    MC_CORPUS_LINE = 1 << 20,       /* bytes of one JSON line: fits a protocol frame in any encoding */
    MC_CORPUS_YAML = 1 << 20,       /* bytes of corpus.yaml and life.yaml */
    MC_CORPUS_RUBRIC = 8 << 20,     /* bytes of rubric.yaml */
    MC_CORPUS_ID = 100,             /* bytes of a life's ID */
    MC_CHECKPOINT_DEADLINE = 86400, /* seconds */
};

struct mc_corpus {
    char *dir;
    char *name;
    char *version;
    char *description;
    char *license;
    char **channels;
    size_t channel_count;
    char **lives; /* IDs, sorted bytewise */
    size_t life_count;
};

enum mc_life_role { MC_LIFE_DEVELOPMENT, MC_LIFE_CALIBRATION, MC_LIFE_HELD_OUT };

/* One entry of a life's index of observations. */
struct mc_observation {
    const char *source_id;
    struct mc_time collected_at;
    uint64_t offset; /* in observations.jsonl */
    uint32_t length; /* bytes, without the line's end */
    int line;
    uint64_t check; /* of the bytes, to notice a file that changes while it is in use */
};

/* What a life's evidence IDs belong to. */
enum mc_evidence { MC_EVIDENCE_OBSERVATION, MC_EVIDENCE_TURN };

struct mc_life_turn {
    char *id;
    struct mc_time at;
    char *session;
    char *text;
    int line;
};

struct mc_checkpoint {
    char *id;
    struct mc_time at;
    char *session;
    char *question;
    int deadline_s;
    int line;
};

struct mc_life {
    char *dir;
    char *id;
    char *title;
    char *owner;
    char *timezone; /* IANA name */
    struct mc_tz *zone;
    struct mc_time starts;
    struct mc_time ends;
    char *family;
    char *bet; /* what the life tests, "" where not said */
    enum mc_life_role role;
    char *control_of;            /* NULL: a base life */
    char *variant;               /* kind of variation of control_of, NULL: none */
    int64_t seed;                /* of the variation */
    struct mc_time *collections; /* ascending */
    size_t collection_count;
    struct mc_time *nights; /* ascending */
    size_t night_count;
    struct mc_observation *observations; /* by collected_at, then source_id: delivery order */
    size_t observation_count;
    struct mc_life_turn *turns; /* file order */
    size_t turn_count;
    struct mc_checkpoint *checkpoints; /* file order */
    size_t checkpoint_count;
    int observations_fd;
    struct mc_ids evidence; /* source_ids and turns' IDs, with when each is known */
};

int mc_corpus_open(const char *dir, struct mc_corpus **out, struct mc_err *err) MC_CHECKED;
void mc_corpus_free(struct mc_corpus *corpus);

/* The public part of one life, whole and checked (what mc_corpus_validate() finds wrong with it fails here too, links
 * to other lives and the rubric aside). */
int mc_life_load(const struct mc_corpus *corpus, const char *id, struct mc_life **out, struct mc_err *err) MC_CHECKED;
void mc_life_free(struct mc_life *life);

/* The life at the root of `control_of` links: what controls and variants are averaged within. *base is the caller's. */
int mc_corpus_base(const struct mc_corpus *corpus, const char *id, char **base, struct mc_err *err) MC_CHECKED;

/* The line of observation `index` exactly as the file has it; the caller frees it. */
char *mc_life_observation(const struct mc_life *life, size_t index, struct mc_err *err) MC_CHECKED;
/* The same as a tree; new reference. */
json_t *mc_life_observation_json(const struct mc_life *life, size_t index, struct mc_err *err) MC_CHECKED;

/* The hidden part. For the grader only. */
int mc_life_rubric(const struct mc_life *life, struct mc_doc *out, struct mc_err *err) MC_CHECKED;

void mc_corpus_at(struct mc_corpus **corpus);
void mc_life_at(struct mc_life **life);
#define MC_AUTOCORPUS MC_CLEANUP(mc_corpus_at)
#define MC_AUTOLIFE MC_CLEANUP(mc_life_at)

/* The roles' and channels' names, NULL-ended, in the order of their enums (channels: of the format). */
extern const char *const mc_life_role_names[];
extern const char *const mc_channel_names[];
