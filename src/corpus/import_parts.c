#include "corpus/import_parts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/load.h"
#include "corpus/validate.h"

void mc_import_leave(struct mc_import *import, const char *kind, const char *where, const char *what,
                     const char *reason)
{
    json_t *entry = json_object();
    json_object_set_new(entry, "kind", json_string(kind));
    json_object_set_new(entry, "where", json_string(where));
    json_object_set_new(entry, "what", json_string(what));
    json_object_set_new(entry, "reason", json_string(reason));
    json_array_append_new(import->left_out, entry);
}

void mc_import_repair(struct mc_import *import, const char *where, const char *what, const char *how)
{
    json_t *entry = json_object();
    json_object_set_new(entry, "where", json_string(where));
    json_object_set_new(entry, "what", json_string(what));
    json_object_set_new(entry, "how", json_string(how));
    json_array_append_new(import->repaired, entry);
}

int mc_import_head_write(const struct mc_import *import, const struct mc_import_head *head, struct mc_err *err)
{
    MC_AUTOJSON json_t *root = json_object();
    json_object_set_new(root, "name", json_string(head->name));
    json_object_set_new(root, "version", json_string("1"));
    json_object_set_new(root, "description", json_string(head->description));
    json_object_set_new(root, "license", json_string(head->license));
    json_t *channels = json_array();
    for (size_t i = 0; head->channels[i]; i++) {
        json_array_append_new(channels, json_string(head->channels[i]));
    }
    json_object_set_new(root, "channels", channels);
    struct mc_source source = {.name = ""};
    struct mc_view view = mc_view_root(&source, root);
    MC_AUTOBUF struct mc_buf text = MC_BUF_OWN;
    mc_yaml_put(&text, &view);
    MC_AUTOFREE char *path = mc_path_join(import->dir, "corpus.yaml");
    return mc_fs_write(path, mc_buf_text(&text), text.len, 0644, err);
}

int mc_import_begin(struct mc_import *import, const char *source, const char *out, const struct mc_import_head *head,
                    struct mc_err *err)
{
    if (mc_fs_exists(out)) {
        mc_fail(err, MC_EXISTS, "%s exists already", out);
        return mc_hint(err, "name a folder that does not exist yet");
    }
    size_t length = strlen(out);
    while (length > 1 && out[length - 1] == '/') {
        length--;
    }
    *import = (struct mc_import){.source = source,
                                 .out = out,
                                 .dir = mc_strf("%.*s.import", (int)length, out),
                                 .left_out = json_array(),
                                 .repaired = json_array()};
    MC_AUTOFREE char *lives = mc_path_join(import->dir, "lives");
    int rc = mc_fs_remove_tree(import->dir, err);
    if (rc == 0) {
        rc = mc_fs_mkdirs(lives, err);
    }
    if (rc == 0) {
        rc = mc_import_head_write(import, head, err);
    }
    if (rc != 0) {
        mc_import_abandon(import);
    }
    return rc;
}

void mc_import_release(struct mc_import *import)
{
    free(import->dir);
    json_decref(import->left_out);
    json_decref(import->repaired);
    memset(import, 0, sizeof *import);
}

void mc_import_abandon(struct mc_import *import)
{
    struct mc_err ignored; /* the reason for giving up is the one to tell */
    if (mc_fs_remove_tree(import->dir, &ignored) != 0) {
        /* What is left is named like the output with ".import" behind it; the next import removes it. */
    }
    mc_import_release(import);
}

static json_t *make_report(const struct mc_import *import, const char *format)
{
    json_t *report = json_object();
    json_object_set_new(report, "source", json_string(import->source));
    json_object_set_new(report, "format", json_string(format));
    json_object_set_new(report, "lives", json_integer(import->lives));
    json_object_set_new(report, "observations", json_integer(import->observations));
    json_object_set_new(report, "questions", json_integer(import->questions));
    json_object_set_new(report, "carried", json_integer(import->carried));
    json_object_set(report, "left_out", import->left_out);
    json_object_set(report, "repaired", import->repaired);
    return report;
}

int mc_import_end(struct mc_import *import, const char *format, json_t **report, struct mc_err *err)
{
    int rc = 0;
    if (import->lives == 0) {
        rc = mc_fail(err, MC_INPUT, "%s holds nothing that can be imported as %s", import->source, format);
    }
    if (rc == 0) {
        MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
        mc_corpus_validate(import->dir, 1, &problems);
        rc = mc_problems_check(&problems, err);
    }
    if (rc == 0 && rename(import->dir, import->out) != 0) {
        rc = mc_fail_errno(err, errno, "renaming %s to %s", import->dir, import->out);
    }
    if (rc != 0) {
        mc_import_abandon(import);
        return rc;
    }
    *report = make_report(import, format);
    mc_import_release(import);
    return 0;
}

char *mc_import_life_id(const char *prefix, const char *id)
{
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    mc_buf_puts(&out, prefix);
    for (const char *p = id; *p && out.len < MC_CORPUS_ID; p++) {
        int fits = isalnum((unsigned char)*p) || *p == '_' || *p == '-' || *p == '.';
        mc_buf_putc(&out, (char)(fits && (unsigned char)*p < 0x80 ? *p : '-'));
    }
    return mc_buf_take(&out);
}

int mc_import_life_begin(struct mc_import_life *life, struct mc_import *import,
                         const struct mc_import_identity *identity, struct mc_err *err)
{
    memset(life, 0, sizeof *life);
    const char *timezone = identity->timezone ? identity->timezone : "UTC";
    int rc = mc_tz_load(timezone, &life->zone, err);
    if (rc != 0) {
        return rc;
    }
    life->import = import;
    life->first = INT64_MAX;
    life->asked = INT64_MIN;
    life->rubric = json_object();
    mc_draft_begin(&life->draft);
    json_t *head = life->draft.head;
    json_object_set_new(head, "id", json_string(identity->id));
    json_object_set_new(head, "title", json_string(identity->title));
    json_object_set_new(head, "owner", json_string(identity->owner));
    json_object_set_new(head, "timezone", json_string(timezone));
    json_object_set_new(head, "family", json_string(identity->family));
    json_object_set_new(head, "role", json_string("development"));
    return 0;
}

void mc_import_life_release(struct mc_import_life *life)
{
    mc_draft_release(&life->draft);
    json_decref(life->rubric);
    mc_ids_release(&life->ids);
    mc_tz_free(life->zone);
    free(life->boundaries);
    memset(life, 0, sizeof *life);
}

static json_t *time_json(const struct mc_import_life *life, int64_t ms)
{
    return json_string(mc_time_format(mc_tz_at(life->zone, ms)).text);
}

void mc_import_boundary(struct mc_import_life *life, int64_t at)
{
    life->boundaries =
        mc_grow(life->boundaries, life->boundary_count, &life->boundary_capacity, sizeof *life->boundaries);
    life->boundaries[life->boundary_count++] = at;
}

int64_t mc_import_last(const struct mc_import_life *life, int64_t otherwise)
{
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < life->boundary_count; i++) {
        last = life->boundaries[i] > last ? life->boundaries[i] : last;
    }
    return last == INT64_MIN ? otherwise : last;
}

static const char *unique_id(struct mc_import_life *life, const char *wanted)
{
    int fresh;
    const struct mc_id *id = mc_ids_add(&life->ids, (struct mc_id){.text = wanted}, &fresh);
    for (int n = 2; !fresh; n++) {
        MC_AUTOFREE char *other = mc_strf("%s#%d", wanted, n);
        id = mc_ids_add(&life->ids, (struct mc_id){.text = other}, &fresh);
    }
    return id->text;
}

const char *mc_import_message(struct mc_import_life *life, const struct mc_import_message *message)
{
    const char *id = unique_id(life, message->id);
    MC_AUTOJSON json_t *line = json_object();
    json_object_set_new(line, "source_id", json_string(id));
    json_object_set_new(line, "channel", json_string(message->channel));
    json_object_set_new(line, "written_at", time_json(life, message->at));
    json_object_set_new(line, "arrived_at", time_json(life, message->at));
    json_object_set_new(line, "collected_at", time_json(life, message->collected));
    json_object_set_new(line, "sender", json_string(message->sender));
    if (message->from_owner) {
        json_object_set_new(line, "from_owner", json_true());
    }
    json_object_set_new(line, "thread", json_string(message->thread));
    if (message->subject) {
        json_object_set_new(line, "subject", json_string(message->subject));
    }
    if (message->to) {
        json_object_set(line, "to", message->to);
    }
    json_object_set_new(line, "text", json_string(message->text));
    if (message->structured) {
        json_object_set(line, "structured", message->structured);
    }
    mc_draft_line(&life->draft.observations, line);
    life->first = message->at < life->first ? message->at : life->first;
    life->import->observations++;
    return id;
}

static int compare_ms(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Collections and nights from the boundaries; a night needs an hour after one and room before the next. */
static void put_times(struct mc_import_life *life)
{
    static const int64_t hour = 3600000;
    json_t *collections = json_array();
    json_t *nights = json_array();
    if (life->boundary_count) {
        qsort(life->boundaries, life->boundary_count, sizeof *life->boundaries, compare_ms);
    }
    for (size_t i = 0; i < life->boundary_count; i++) {
        int64_t at = life->boundaries[i];
        if (i + 1 < life->boundary_count && life->boundaries[i + 1] == at) {
            continue;
        }
        json_array_append_new(collections, time_json(life, at));
        if (i + 1 == life->boundary_count || life->boundaries[i + 1] > at + hour) {
            json_array_append_new(nights, time_json(life, at + hour));
        }
    }
    int64_t last = mc_import_last(life, life->first) + 2 * hour;
    int64_t ends = life->asked > last ? life->asked : last;
    json_object_set_new(life->draft.head, "starts", time_json(life, life->first));
    json_object_set_new(life->draft.head, "ends", time_json(life, ends + hour));
    json_object_set_new(life->draft.head, "collections", collections);
    json_object_set_new(life->draft.head, "nights", nights);
}

int mc_import_life_write(struct mc_import_life *life, struct mc_err *err)
{
    put_times(life);
    MC_AUTOJSON json_t *rubric = json_object();
    json_object_set(rubric, "checkpoints", life->rubric);
    struct mc_source source = {.name = ""};
    struct mc_view view = mc_view_root(&source, rubric);
    mc_yaml_put(&life->draft.rubric, &view);
    int rc = mc_draft_write(&life->draft, life->import->dir, err);
    life->import->lives += rc == 0;
    return rc;
}
