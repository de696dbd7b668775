/*
 * Anyone's own messages, one JSON object a line (docs/corpus.md): {"at", "sender", "text"} and, where known, "id",
 * "channel", "thread", "subject", "to", "from_owner". Messages of a day are collected at 20:00 of the life's zone,
 * later ones the next day; a night follows an hour later. There are no questions: they are the user's to write.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "corpus/import_parts.h"
#include "corpus/lines.h"
#include "corpus/load.h"

enum { COLLECT_HOUR = 20 };

static const char *const line_keys[] = {"id",     "at",      "sender", "text",       "channel",
                                        "thread", "subject", "to",     "from_owner", NULL};

struct jsonl {
    struct mc_import *import;
    struct mc_import_life life;
    const char *owner;
    json_t *channels; /* seen */
};

/* The first 20:00 at or after `at`. */
static int64_t collection_after(const struct jsonl *j, int64_t at)
{
    struct mc_civil civil = mc_time_civil(mc_tz_at(j->life.zone, at));
    civil.hour = COLLECT_HOUR;
    civil.minute = 0;
    civil.second = 0;
    civil.ms = 0;
    int64_t days = mc_days_from_civil(civil.year, civil.month, civil.day);
    int64_t boundary = mc_tz_from_civil(j->life.zone, &civil).ms;
    if (boundary < at) {
        mc_civil_from_days(days + 1, &civil.year, &civil.month, &civil.day);
        boundary = mc_tz_from_civil(j->life.zone, &civil).ms;
    }
    return boundary;
}

static int is_channel(const char *name)
{
    for (size_t i = 0; mc_channel_names[i]; i++) {
        if (mc_streq(mc_channel_names[i], name)) {
            return 1;
        }
    }
    return 0;
}

/* Checks one line and adds its message; the reason is in *err where it cannot be carried over. */
static int take_message(struct jsonl *j, const struct mc_view *root, int number, struct mc_err *err)
{
    struct mc_time at;
    const char *sender = NULL;
    const char *text = NULL;
    MC_AUTOFREE char *numbered = mc_strf("line-%d", number);
    const char *id = numbered;
    const char *channel = "imessage";
    const char *thread = NULL;
    const char *subject = NULL;
    int from_owner = -1;
    if (mc_only_keys(root, line_keys, err) != 0 || mc_read_time(root, "at", MC_REQUIRED, &at, err) != 0 ||
        mc_read_id(root, "sender", MC_REQUIRED, &sender, err) != 0 ||
        mc_read_string(root, "text", MC_REQUIRED, &text, err) != 0 ||
        mc_read_id(root, "id", MC_OPTIONAL, &id, err) != 0 ||
        mc_read_string(root, "channel", MC_OPTIONAL, &channel, err) != 0 ||
        mc_read_string(root, "thread", MC_OPTIONAL, &thread, err) != 0 ||
        mc_read_string(root, "subject", MC_OPTIONAL, &subject, err) != 0 ||
        mc_read_bool(root, "from_owner", MC_OPTIONAL, &from_owner, err) != 0) {
        return err->code;
    }
    if (!is_channel(channel)) {
        return mc_view_fail(root, err, "unknown channel \"%.60s\"", channel);
    }
    if (!text[0] && !(subject && subject[0])) {
        return mc_view_fail(root, err, "the message is empty");
    }
    int64_t boundary = collection_after(j, at.ms);
    mc_import_boundary(&j->life, boundary);
    struct mc_view to = mc_view_member(root, "to");
    struct mc_import_message message = {.id = id,
                                        .channel = channel,
                                        .sender = sender,
                                        .thread = thread ? thread : sender,
                                        .text = text,
                                        .subject = subject,
                                        .to = mc_view_json(&to),
                                        .from_owner = from_owner < 0 ? mc_streq(sender, j->owner) : from_owner,
                                        .at = at.ms,
                                        .collected = boundary};
    if (!mc_streq(mc_import_message(&j->life, &message), id)) {
        MC_AUTOFREE char *where = mc_strf("line %d", number);
        mc_import_repair(j->import, where, id, "the ID stands twice in the source: this one got a number behind it");
    }
    json_object_set_new(j->channels, channel, json_true());
    return 0;
}

static int take_lines(struct jsonl *j, struct mc_jsonl *lines, struct mc_err *err)
{
    for (;;) {
        struct mc_line line = {.number = 0};
        int rc = mc_jsonl_next(lines, &line, err);
        if (rc == 0 || (rc < 0 && rc != MC_INPUT && rc != MC_LIMIT)) {
            return rc;
        }
        struct mc_source source = {.name = "", .line = 0};
        MC_AUTOJSON json_t *value = rc == 1 ? mc_json_parse(line.text, line.length, &source, err) : NULL;
        struct mc_view root = mc_view_root(&source, value);
        if (!value || mc_view_is_object(&root, err) != 0 || take_message(j, &root, line.number, err) != 0) {
            MC_AUTOFREE char *where = rc == 1 ? mc_strf("line %d", line.number) : mc_strdup("a line");
            mc_import_leave(j->import, "message", where, "message", err->text);
        }
    }
}

/* corpus.yaml lists the channels that were used. */
static int write_channels(const struct jsonl *j, const struct mc_import_jsonl *source, struct mc_err *err)
{
    const char *channels[8] = {NULL};
    size_t count = 0;
    for (size_t i = 0; mc_channel_names[i]; i++) {
        if (json_object_get(j->channels, mc_channel_names[i])) {
            channels[count++] = mc_channel_names[i];
        }
    }
    struct mc_import_head head = {.name = source->life,
                                  .description = "Messages of one's own, imported.",
                                  .license = "private",
                                  .channels = channels};
    return mc_import_head_write(j->import, &head, err);
}

static int run(struct jsonl *j, const struct mc_import_jsonl *source, struct mc_jsonl *lines, struct mc_err *err)
{
    struct mc_import_identity identity = {.id = source->life,
                                          .title = source->life,
                                          .owner = source->owner,
                                          .family = source->life,
                                          .timezone = source->timezone};
    int rc = mc_import_life_begin(&j->life, j->import, &identity, err);
    if (rc == 0) {
        rc = take_lines(j, lines, err);
    }
    if (rc == 0 && j->life.boundary_count) {
        rc = mc_import_life_write(&j->life, err);
    }
    if (rc == 0) {
        rc = write_channels(j, source, err);
    }
    mc_import_life_release(&j->life);
    return rc;
}

int mc_import_jsonl(const struct mc_import_jsonl *source, const char *out_dir, json_t **report, struct mc_err *err)
{
    if (!mc_life_id_fits(source->life)) {
        mc_fail(err, MC_INPUT, "\"%.100s\" cannot be the ID of a life", source->life);
        return mc_hint(err, "use 1 to 100 letters, digits, '.', '_' and '-'");
    }
    MC_AUTOLINES struct mc_jsonl *lines = NULL;
    int rc = mc_jsonl_open(source->path, MC_CORPUS_LINE, &lines, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_import_head head = {.name = source->life, .description = "", .license = "", .channels = mc_channel_names};
    struct mc_import import;
    rc = mc_import_begin(&import, source->path, out_dir, &head, err);
    if (rc != 0) {
        return rc;
    }
    struct jsonl j = {.import = &import, .owner = source->owner, .channels = json_object()};
    rc = run(&j, source, lines, err);
    json_decref(j.channels);
    if (rc != 0) {
        mc_import_abandon(&import);
        return rc;
    }
    return mc_import_end(&import, "jsonl", report, err);
}
