#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/load.h"

static const char time_mend[] = "write the time as in 2026-08-07T09:00:00-04:00";

static void check_order(struct mc_load *load, const struct mc_view *root, struct mc_time earlier,
                        const char *earlier_key, struct mc_time later, const char *later_key)
{
    if (earlier.ms > later.ms) {
        struct mc_view view = mc_view_member(root, later_key);
        MC_AUTOFREE char *mend = mc_strf("let %s be at or after %s", later_key, earlier_key);
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, mend, "%s is before %s (%s)", later_key, earlier_key,
                       mc_time_format(earlier).text);
    }
}

static int is_boundary(const struct mc_life *life, struct mc_time time)
{
    size_t low = 0;
    size_t high = life->collection_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (life->collections[middle].ms == time.ms) {
            return 1;
        }
        if (life->collections[middle].ms < time.ms) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return 0;
}

/* The clocks; true where collected_at can be relied on. */
static int read_clocks(const struct mc_life *life, struct mc_load *load, const struct mc_view *root,
                       struct mc_time *collected)
{
    struct mc_time written;
    struct mc_time arrived;
    int w = mc_load_note(load, mc_read_time(root, "written_at", MC_REQUIRED, &written, &load->err), time_mend);
    int a = mc_load_note(load, mc_read_time(root, "arrived_at", MC_REQUIRED, &arrived, &load->err), time_mend);
    int c = mc_load_note(load, mc_read_time(root, "collected_at", MC_REQUIRED, collected, &load->err), time_mend);
    if (w && a) {
        check_order(load, root, written, "written_at", arrived, "arrived_at");
    }
    if (a && c) {
        check_order(load, root, arrived, "arrived_at", *collected, "collected_at");
    }
    if (w && c && !a) {
        check_order(load, root, written, "written_at", *collected, "collected_at");
    }
    if (!c) {
        return 0;
    }
    mc_load_zone(load, root, "collected_at", *collected, life->zone, MC_SEVERITY_WARNING);
    if (life->collection_count && !is_boundary(life, *collected)) {
        struct mc_view view = mc_view_member(root, "collected_at");
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, "use one of the times under collections in life.yaml",
                       "%s is not a collection boundary of the life", mc_time_format(*collected).text);
    }
    return 1;
}

static void read_to(struct mc_load *load, const struct mc_view *root)
{
    struct mc_view to = mc_view_member(root, "to");
    if (!to.value || json_is_string(to.value)) {
        return;
    }
    if (!json_is_array(to.value)) {
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &to, "write a name, or a list of names",
                       "must be text or a list of text");
        return;
    }
    for (size_t i = 0; i < mc_view_count(&to); i++) {
        struct mc_view item = mc_view_item(&to, i);
        const char *name;
        mc_load_note(load, mc_view_string(&item, &name, &load->err), "write a name");
    }
}

static void read_channel(const struct mc_corpus *corpus, struct mc_load *load, const struct mc_view *root)
{
    const char *channel = NULL;
    if (!mc_load_note(load, mc_read_string(root, "channel", MC_REQUIRED, &channel, &load->err), "name the channel")) {
        return;
    }
    for (size_t i = 0; i < corpus->channel_count; i++) {
        if (mc_streq(corpus->channels[i], channel)) {
            return;
        }
    }
    struct mc_view view = mc_view_member(root, "channel");
    mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, "use one of the channels listed in corpus.yaml, or add it",
                   "the corpus has no channel \"%.60s\"", channel);
}

static void read_content(struct mc_load *load, const struct mc_view *root)
{
    const char *sender = NULL;
    const char *text = NULL;
    const char *subject = NULL;
    const char *thread = NULL;
    int from_owner = 0;
    struct mc_view structured = {.value = NULL};
    if (mc_load_note(load, mc_read_string(root, "sender", MC_REQUIRED, &sender, &load->err), "name the sender") &&
        !sender[0]) {
        struct mc_view view = mc_view_member(root, "sender");
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, "name the sender", "the sender is empty");
    }
    mc_load_note(load, mc_read_string(root, "thread", MC_REQUIRED, &thread, &load->err), "name the thread");
    mc_load_note(load, mc_read_string(root, "subject", MC_OPTIONAL, &subject, &load->err), "write the subject as text");
    mc_load_note(load, mc_read_bool(root, "from_owner", MC_OPTIONAL, &from_owner, &load->err), "write true or false");
    mc_load_note(load, mc_read_object(root, "structured", MC_OPTIONAL, &structured, &load->err),
                 "write an object, or leave it out");
    read_to(load, root);
    if (mc_load_note(load, mc_read_string(root, "text", MC_REQUIRED, &text, &load->err), "write the message's text") &&
        !text[0] && !structured.value && !(subject && subject[0])) {
        struct mc_view view = mc_view_member(root, "text");
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, "write the text, or remove the observation",
                       "the observation is empty: no text, subject or structured data");
    }
}

static void keep_observation(struct mc_life *life, struct mc_load *load, const struct mc_view *root,
                             const struct mc_line *line, struct mc_time collected, size_t *capacity)
{
    static const char mend[] = "give every observation an ID of its own";
    const char *id = NULL;
    if (!mc_load_note(load, mc_read_id(root, "source_id", MC_REQUIRED, &id, &load->err), mend)) {
        return;
    }
    int fresh;
    struct mc_id wanted = {.text = id, .line = line->number, .kind = MC_EVIDENCE_OBSERVATION, .at = collected.ms};
    const struct mc_id *known = mc_ids_add(&life->evidence, wanted, &fresh);
    if (!fresh) {
        struct mc_view view = mc_view_member(root, "source_id");
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, mend, "the source_id \"%s\" was used on line %d", id,
                       known->line);
        return;
    }
    life->observations = mc_grow(life->observations, life->observation_count, capacity, sizeof *life->observations);
    life->observations[life->observation_count++] =
        (struct mc_observation){.source_id = known->text,
                                .collected_at = collected,
                                .offset = line->offset,
                                .length = (uint32_t)line->length,
                                .line = line->number,
                                .check = mc_fnv(MC_FNV_START, line->text, line->length)};
}

static void read_observation(struct mc_life *life, const struct mc_corpus *corpus, struct mc_load *load,
                             const struct mc_line *line, size_t *capacity)
{
    struct mc_source source = {.name = load->file, .line = line->number, .marks = NULL};
    MC_AUTOJSON json_t *value = mc_load_object(load, &source, line);
    if (!value) {
        return;
    }
    struct mc_view root = mc_view_root(&source, value);
    static const char *const keys[] = {"source_id", "channel",    "written_at", "arrived_at", "collected_at",
                                       "sender",    "thread",     "text",       "from_owner", "subject",
                                       "to",        "structured", NULL};
    mc_load_note(load, mc_only_keys(&root, keys, &load->err), "put what is not text under \"structured\"");
    read_channel(corpus, load, &root);
    read_content(load, &root);
    struct mc_time collected = {.ms = 0};
    if (read_clocks(life, load, &root, &collected)) {
        keep_observation(life, load, &root, line, collected, capacity);
    }
}

static int compare_delivery(const void *a, const void *b)
{
    const struct mc_observation *left = a;
    const struct mc_observation *right = b;
    if (left->collected_at.ms != right->collected_at.ms) {
        return left->collected_at.ms < right->collected_at.ms ? -1 : 1;
    }
    return strcmp(left->source_id, right->source_id);
}

void mc_life_read_observations(struct mc_life *life, const struct mc_corpus *corpus, struct mc_problems *problems)
{
    MC_AUTOFREE char *path = mc_path_join(life->dir, "observations.jsonl");
    struct mc_load load = {.problems = problems, .file = path};
    MC_AUTOLINES struct mc_jsonl *lines = NULL;
    if (!mc_load_note(&load, mc_jsonl_open(path, MC_CORPUS_LINE, &lines, &load.err),
                      "every life has an observations.jsonl")) {
        return;
    }
    size_t capacity = 0;
    struct mc_line line;
    while (mc_load_line(&load, lines, &line)) {
        if (life->observation_count == MC_LIFE_OBSERVATIONS) {
            struct mc_place place = {.file = path, .line = line.number};
            mc_problems_add(problems, MC_SEVERITY_ERROR, place, "split the life",
                            "more than %d observations in one life", MC_LIFE_OBSERVATIONS);
            break;
        }
        read_observation(life, corpus, &load, &line, &capacity);
    }
    if (life->observation_count) {
        qsort(life->observations, life->observation_count, sizeof *life->observations, compare_delivery);
    }
    mc_load_note(&load, mc_jsonl_dup(lines, &life->observations_fd, &load.err), "run the command again");
}

char *mc_life_observation(const struct mc_life *life, size_t index, struct mc_err *err)
{
    const struct mc_observation *entry = &life->observations[index];
    MC_AUTOFREE char *text = mc_alloc((size_t)entry->length + 1, 1);
    size_t got = 0;
    while (got < entry->length) {
        ssize_t n = pread(life->observations_fd, text + got, entry->length - got, (off_t)(entry->offset + got));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            mc_fail_errno(err, errno, "reading %s/observations.jsonl:%d", life->dir, entry->line);
            return NULL;
        }
        if (n == 0) {
            break;
        }
        got += (size_t)n;
    }
    if (got < entry->length || mc_fnv(MC_FNV_START, text, got) != entry->check) {
        mc_fail(err, MC_MISMATCH, "%s/observations.jsonl:%d changed while it was in use", life->dir, entry->line);
        mc_hint(err, "leave the corpus alone while a run reads it, or run the copy in the store");
        return NULL;
    }
    return mc_steal(&text);
}

json_t *mc_life_observation_json(const struct mc_life *life, size_t index, struct mc_err *err)
{
    MC_AUTOFREE char *text = mc_life_observation(life, index, err);
    if (!text) {
        return NULL;
    }
    MC_AUTOFREE char *path = mc_path_join(life->dir, "observations.jsonl");
    struct mc_source source = {.name = path, .line = life->observations[index].line, .marks = NULL};
    return mc_json_parse(text, life->observations[index].length, &source, err);
}
