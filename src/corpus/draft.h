/*
 * A life that memcal writes: variants and imports.
 *
 * YAML is written so that reading it back gives the same tree and the same scalars as written: text in double quotes
 * with YAML's escapes, numbers and truth values plain, members in their order.
 *
 * Ownership: a draft owns its parts; mc_draft_release() frees them.
 */
#pragma once

#include "base/buf.h"
#include "base/json.h"

struct mc_draft {
    json_t *head;               /* life.yaml; `id` names the folder */
    struct mc_buf observations; /* the files' bytes */
    struct mc_buf turns;
    struct mc_buf checkpoints;
    struct mc_buf rubric;
};

void mc_draft_begin(struct mc_draft *draft);
void mc_draft_release(struct mc_draft *draft);
#define MC_AUTODRAFT MC_CLEANUP(mc_draft_release)

/* Adds one line: a value (its members in their order), or bytes as they stand. */
void mc_draft_line(struct mc_buf *file, const json_t *value);
void mc_draft_line_text(struct mc_buf *file, const char *text, size_t length);

/* Appends `view` as a YAML document; scalars of a YAML source keep the form in which they were written. */
void mc_yaml_put(struct mc_buf *out, const struct mc_view *view);

/* Writes lives/<id> into the corpus at `dir`, whole or not at all. MC_EXISTS where there is such a life. */
int mc_draft_write(const struct mc_draft *draft, const char *dir, struct mc_err *err) MC_CHECKED;
