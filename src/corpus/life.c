#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/load.h"

static const char time_mend[] = "write the time as in 2026-08-07T09:00:00-04:00";

static void read_names(struct mc_life *life, struct mc_load *load, const struct mc_view *root)
{
    const char *id = NULL;
    if (mc_load_note(load, mc_read_id(root, "id", MC_REQUIRED, &id, &load->err), "write the folder's name as the id") &&
        !mc_streq(id, life->id)) {
        struct mc_view view = mc_view_member(root, "id");
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, "give the folder and the life the same name",
                       "the id \"%.100s\" is not the folder's name \"%s\"", id, life->id);
    }
    mc_load_text(load, root, "title", MC_REQUIRED, &life->title);
    mc_load_text(load, root, "owner", MC_REQUIRED, &life->owner);
    mc_load_text(load, root, "family", MC_REQUIRED, &life->family);
    mc_load_text(load, root, "bet", MC_OPTIONAL, &life->bet);
    int role = 0;
    mc_load_note(load, mc_read_choice(root, "role", MC_REQUIRED, mc_life_role_names, &role, &load->err),
                 "use development, calibration or held-out");
    life->role = (enum mc_life_role)role;
}

static void read_links(struct mc_life *life, struct mc_load *load, const struct mc_view *root)
{
    const char *text = NULL;
    if (mc_load_note(load, mc_read_id(root, "control_of", MC_OPTIONAL, &text, &load->err),
                     "name the life that this one is the control of") &&
        text) {
        life->control_of = mc_strdup(text);
    }
    text = NULL;
    if (mc_load_note(load, mc_read_id(root, "variant", MC_OPTIONAL, &text, &load->err), "name the kind of variant") &&
        text) {
        life->variant = mc_strdup(text);
    }
    struct mc_view seed = mc_view_member(root, "seed");
    mc_load_note(load, mc_read_int(root, "seed", MC_OPTIONAL, 0, UINT32_MAX, &life->seed, &load->err),
                 "write a whole number from 0 to 4294967295");
    if (life->variant && (!life->control_of || !seed.value)) {
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, root,
                       "name the life that it varies in control_of, and the seed in seed",
                       "a variant needs control_of and seed");
    } else if (!life->variant && seed.value) {
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &seed, "name the kind in variant, or remove the seed",
                       "a seed without a variant");
    }
}

static void read_span(struct mc_life *life, struct mc_load *load, const struct mc_view *root)
{
    mc_load_text(load, root, "timezone", MC_REQUIRED, &life->timezone);
    if (life->timezone[0]) {
        int rc = mc_tz_load(life->timezone, &life->zone, &load->err);
        struct mc_view view = mc_view_member(root, "timezone");
        if (rc != 0) {
            mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, "use an IANA name, as in America/New_York", "%s",
                           load->err.text);
        }
    }
    int starts = mc_load_note(load, mc_read_time(root, "starts", MC_REQUIRED, &life->starts, &load->err), time_mend);
    int ends = mc_load_note(load, mc_read_time(root, "ends", MC_REQUIRED, &life->ends, &load->err), time_mend);
    if (starts) {
        mc_load_zone(load, root, "starts", life->starts, life->zone, MC_SEVERITY_ERROR);
    }
    if (ends) {
        mc_load_zone(load, root, "ends", life->ends, life->zone, MC_SEVERITY_ERROR);
    }
    if (starts && ends && life->starts.ms >= life->ends.ms) {
        struct mc_view view = mc_view_member(root, "ends");
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &view, "let the life end after it starts",
                       "the life ends at or before its start");
    }
}

static void check_boundary(const struct mc_life *life, struct mc_load *load, const struct mc_view *list, size_t index,
                           struct mc_time time, const struct mc_time *before)
{
    struct mc_view item = mc_view_item(list, index);
    if (life->zone && time.offset_min != 0 && time.offset_min != mc_tz_offset(life->zone, time.ms)) {
        struct mc_time right = mc_tz_at(life->zone, time.ms);
        MC_AUTOFREE char *mend =
            mc_strf("write that instant as %s, or correct the time of day", mc_time_format(right).text);
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &item, mend, "%s is not an offset of %s at that time",
                       mc_time_format(time).text, mc_tz_name(life->zone));
    }
    if (time.ms < life->starts.ms || time.ms > life->ends.ms) {
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &item, "move it between starts and ends",
                       "%s lies outside the life", mc_time_format(time).text);
    }
    if (before && time.ms <= before->ms) {
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &item, "list the times in order, each once",
                       "%s is not after the time before it", mc_time_format(time).text);
    }
}

static void read_boundaries(struct mc_life *life, struct mc_load *load, const struct mc_view *root, const char *key,
                            struct mc_time **times, size_t *count)
{
    struct mc_view list = {.value = NULL};
    enum mc_need need = mc_streq(key, "collections") ? MC_REQUIRED : MC_OPTIONAL;
    if (!mc_load_note(load, mc_read_array(root, key, need, &list, &load->err), "list the times") || !list.value) {
        return;
    }
    size_t items = mc_view_count(&list);
    if (items > MC_LIFE_BOUNDARIES) {
        mc_problems_at(load->problems, MC_SEVERITY_ERROR, &list, "split the life", "more than %d times",
                       MC_LIFE_BOUNDARIES);
        return;
    }
    struct mc_time *all = mc_alloc(items, sizeof *all);
    const struct mc_time *before = NULL;
    for (size_t i = 0; i < items; i++) {
        struct mc_view item = mc_view_item(&list, i);
        struct mc_time time;
        if (mc_load_note(load, mc_view_time(&item, &time, &load->err), time_mend)) {
            check_boundary(life, load, &list, i, time, before);
            all[*count] = time;
            before = &all[(*count)++];
        }
    }
    *times = all;
}

static int compare_times(const void *a, const void *b)
{
    int64_t left = ((const struct mc_time *)a)->ms;
    int64_t right = ((const struct mc_time *)b)->ms;
    return (left > right) - (left < right);
}

void mc_life_read_head(struct mc_life *life, struct mc_problems *problems)
{
    char **texts[] = {&life->title, &life->owner, &life->family, &life->bet, &life->timezone};
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        *texts[i] = mc_strdup("");
    }
    MC_AUTOFREE char *path = mc_path_join(life->dir, "life.yaml");
    struct mc_load load = {.problems = problems, .file = path};
    MC_AUTODOC struct mc_doc doc;
    if (!mc_load_note(&load, mc_load_yaml(path, MC_CORPUS_YAML, &doc, &load.err), "every life has a life.yaml")) {
        return;
    }
    static const char *const keys[] = {"id",      "title",  "owner",       "timezone", "starts",
                                       "ends",    "family", "bet",         "role",     "control_of",
                                       "variant", "seed",   "collections", "nights",   NULL};
    struct mc_view root = mc_doc_view(&doc);
    if (!mc_load_note(&load, mc_view_is_object(&root, &load.err), "write it as name: value lines")) {
        return;
    }
    mc_load_note(&load, mc_only_keys(&root, keys, &load.err), "remove the key");
    read_names(life, &load, &root);
    read_links(life, &load, &root);
    read_span(life, &load, &root);
    read_boundaries(life, &load, &root, "collections", &life->collections, &life->collection_count);
    read_boundaries(life, &load, &root, "nights", &life->nights, &life->night_count);
    /* Out of order is an error reported above; searching below still needs order. */
    if (life->collection_count) {
        qsort(life->collections, life->collection_count, sizeof *life->collections, compare_times);
    }
}

struct mc_life *mc_life_read(const struct mc_corpus *corpus, const char *id, struct mc_problems *problems)
{
    struct mc_life *life = mc_alloc(1, sizeof *life);
    MC_AUTOFREE char *lives = mc_path_join(corpus->dir, "lives");
    life->dir = mc_path_join(lives, id);
    life->id = mc_strdup(id);
    life->observations_fd = -1;
    mc_life_read_head(life, problems);
    mc_life_read_observations(life, corpus, problems);
    mc_life_read_turns(life, problems);
    mc_life_read_checkpoints(life, problems);
    return life;
}

void mc_life_free(struct mc_life *life)
{
    if (!life) {
        return;
    }
    for (size_t i = 0; i < life->turn_count; i++) {
        free(life->turns[i].id);
        free(life->turns[i].session);
        free(life->turns[i].text);
    }
    for (size_t i = 0; i < life->checkpoint_count; i++) {
        free(life->checkpoints[i].id);
        free(life->checkpoints[i].session);
        free(life->checkpoints[i].question);
    }
    void *owned[] = {life->dir,    life->id,    life->title,       life->owner,       life->timezone,
                     life->family, life->bet,   life->control_of,  life->variant,     life->collections,
                     life->nights, life->turns, life->checkpoints, life->observations};
    for (size_t i = 0; i < MC_COUNT(owned); i++) {
        free(owned[i]);
    }
    mc_tz_free(life->zone);
    mc_ids_release(&life->evidence);
    if (life->observations_fd >= 0) {
        close(life->observations_fd);
    }
    free(life);
}

void mc_life_at(struct mc_life **life)
{
    mc_life_free(*life);
    *life = NULL;
}

int mc_life_rubric(const struct mc_life *life, struct mc_doc *out, struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_path_join(life->dir, "rubric.yaml");
    return mc_load_yaml(path, MC_CORPUS_RUBRIC, out, err);
}
