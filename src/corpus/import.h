/*
 * Corpora from elsewhere, turned into ours: LoCoMo, LongMemEval, and anyone's own messages.
 *
 * Each import writes a new corpus folder and gives a report that accounts for every record of the source: what was
 * carried over, what was repaired and how, what was left out and why. Imported text keeps its source's IDs.
 *
 * Report: {"source", "format", "lives", "observations", "questions", "carried", "left_out": [{"where", "what",
 * "reason"}], "repaired": [...]}; questions = carried + those left out.
 *
 * Ownership: paths are borrowed; *report is a new reference, set on success only.
 */
#pragma once

#include <jansson.h>

#include "base/attr.h"
#include "base/err.h"

/* `path`: one conversation or a list of them as JSON, a folder, or a ZIP of such files. */
int mc_import_locomo(const char *path, const char *out_dir, json_t **report, struct mc_err *err) MC_CHECKED;

/* `path`: longmemeval_*.json. One life a question. */
int mc_import_longmemeval(const char *path, const char *out_dir, json_t **report, struct mc_err *err) MC_CHECKED;

/* Anyone's messages, one JSON object a line (docs/corpus.md), as one life without checkpoints' answers. */
struct mc_import_jsonl {
    const char *path;
    const char *life;     /* its ID */
    const char *owner;    /* the person whose life it is */
    const char *timezone; /* IANA name */
};
int mc_import_jsonl(const struct mc_import_jsonl *source, const char *out_dir, json_t **report,
                    struct mc_err *err) MC_CHECKED;
