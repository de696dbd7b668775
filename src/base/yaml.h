/*
 * YAML 1.1 documents (libyaml), read as JSON trees with the line of every value.
 *
 * One document a file. Anchors, aliases, tags and duplicate keys are refused: a manifest has no use for them, and
 * aliases can explode. Plain scalars are read by YAML's core schema: true/false, null or ~, whole and decimal numbers;
 * all else, and everything quoted, is text.
 *
 * Ownership: a document owns its tree and its marks; mc_doc_release() frees both. `name` is copied.
 */
#pragma once

#include "base/json.h"

struct mc_doc {
    struct mc_source source;
    json_t *root;
    char *name;
    struct mc_marks *marks;
};

enum { MC_YAML_MAX_DEPTH = 64 };

/* Reads a file of at most `max` bytes. */
int mc_yaml_load(const char *path, size_t max, struct mc_doc *out, struct mc_err *err) MC_CHECKED;
/* Parses `bytes`; `name` is what messages call them. */
int mc_yaml_parse(const void *bytes, size_t length, const char *name, struct mc_doc *out,
                  struct mc_err *err) MC_CHECKED;
void mc_doc_release(struct mc_doc *doc);
struct mc_view mc_doc_view(const struct mc_doc *doc);

/* Where the member `key` (or item `index`, where key is NULL) of `container` stands: its line, 0 where unknown, and a
 * scalar's text as written (NULL for others). */
int mc_marks_line(const struct mc_marks *marks, const json_t *container, const char *key, size_t index);
const char *mc_marks_text(const struct mc_marks *marks, const json_t *container, const char *key, size_t index);

#define MC_AUTODOC MC_CLEANUP(mc_doc_release)
