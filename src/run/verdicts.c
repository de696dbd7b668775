#include "run/verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/objects.h"

enum { GRADE_MAX = 64 << 20 };

struct seeking {
    const struct mc_time *as_of;
    struct mc_grading_in_force *out;
    struct mc_err *err;
    char first[40]; /* when the run was first graded */
};

static int take_grading(void *payload, const struct mc_grading_record *grading)
{
    struct seeking *seeking = payload;
    struct mc_time at;
    int rc = mc_time_parse(grading->at, &at, seeking->err);
    if (rc != 0) {
        return rc;
    }
    if (!seeking->first[0]) {
        memcpy(seeking->first, mc_time_format(at).text, sizeof seeking->first);
    }
    if (!seeking->as_of || at.ms <= seeking->as_of->ms) {
        mc_grading_release(seeking->out);
        *seeking->out = (struct mc_grading_in_force){.id = grading->id,
                                                     .number = grading->number,
                                                     .rules = mc_strdup(grading->rules),
                                                     .judge = grading->judge ? mc_strdup(grading->judge) : NULL,
                                                     .at = at};
    }
    return 0;
}

int mc_grading_find(struct mc_store *store, const char *run, const struct mc_time *as_of,
                    struct mc_grading_in_force *out, struct mc_err *err)
{
    *out = (struct mc_grading_in_force){.rules = NULL};
    struct seeking seeking = {.as_of = as_of, .out = out, .err = err};
    int rc = mc_gradings_list(store, run, take_grading, &seeking, err);
    if (rc != 0) {
        mc_grading_release(out);
        return rc;
    }
    if (out->rules) {
        return 0;
    }
    if (seeking.first[0]) {
        mc_fail(err, MC_NOT_FOUND, "the run %s was not graded at %s", run, mc_time_format(*as_of).text);
        return mc_hint(err, "it was first graded at %s", seeking.first);
    }
    mc_fail(err, MC_NOT_FOUND, "the run %s has not been graded", run);
    return mc_hint(err, "grade it with \"memcal grade %s\"", run);
}

void mc_grading_release(struct mc_grading_in_force *grading)
{
    free(grading->rules);
    free(grading->judge);
    *grading = (struct mc_grading_in_force){.rules = NULL};
}

/* ---- histories ---- */

struct reading {
    struct mc_slot_history *slots;
    size_t count;
    size_t capacity;
    struct mc_err *err;
};

static int index_of(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++) {
        if (mc_streq(names[i], name)) {
            return i;
        }
    }
    return -1;
}

static int take_revision(void *payload, const struct mc_revision_record *record)
{
    struct reading *reading = payload;
    if (reading->count == 0 || !mc_streq(reading->slots[reading->count - 1].slot, record->slot)) {
        reading->slots = mc_grow(reading->slots, reading->count, &reading->capacity, sizeof *reading->slots);
        reading->slots[reading->count++] = (struct mc_slot_history){.slot = mc_strdup(record->slot)};
    }
    struct mc_history *history = &reading->slots[reading->count - 1].history;
    int verdict = index_of(mc_verdict_names, record->verdict);
    int source = index_of(mc_source_names, record->source);
    struct mc_time at;
    int rc = mc_time_parse(record->at, &at, reading->err);
    if (rc == 0 && (verdict < 0 || source < 0 || record->number != (int64_t)history->count + 1)) {
        rc = mc_fail(reading->err, MC_MISMATCH, "revision %lld of %s of %s does not follow the one before it",
                     (long long)record->number, record->slot, record->checkpoint);
    }
    if (rc != 0) {
        return rc;
    }
    struct mc_revision revision = {.verdict = (enum mc_verdict)verdict,
                                   .source = (enum mc_source_of_verdict)source,
                                   .reason = record->reason,
                                   .by = record->by,
                                   .at = at};
    return mc_history_add(history, record->number - 1, &revision, reading->err);
}

static int load_histories(struct mc_store *store, const char *attempt, const char *checkpoint, struct mc_judged *out,
                          struct mc_err *err)
{
    struct reading reading = {.err = err};
    int rc = mc_revisions_list(store, attempt, checkpoint, take_revision, &reading, err);
    out->slots = reading.slots;
    out->slot_count = reading.count;
    return rc;
}

static void release_histories(struct mc_slot_history *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(slots[i].slot);
        mc_history_release(&slots[i].history);
    }
    free(slots);
}

/* ---- one answer ---- */

static int read_object(struct mc_judged *judged, struct mc_store *store, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(GRADE_MAX);
    int rc = mc_object_read(store, judged->digest.hex, &bytes, err);
    if (rc != 0) {
        return rc;
    }
    MC_AUTOFREE char *name = mc_strf("object %s", judged->digest.hex);
    struct mc_source source = {.name = name};
    judged->object = mc_json_parse(mc_buf_text(&bytes), bytes.len, &source, err);
    if (!judged->object) {
        return err->code;
    }
    struct mc_view root = mc_view_root(&source, judged->object);
    struct mc_view grade = {.value = NULL};
    rc = mc_view_is_object(&root, err);
    rc = rc ? rc : mc_read_string(&root, "life", MC_REQUIRED, &judged->life, err);
    rc = rc ? rc : mc_read_string(&root, "base_life", MC_REQUIRED, &judged->base_life, err);
    rc = rc ? rc : mc_read_string(&root, "family", MC_REQUIRED, &judged->family, err);
    rc = rc ? rc : mc_read_string(&root, "question", MC_REQUIRED, &judged->question, err);
    rc = rc ? rc : mc_read_string(&root, "asked_at", MC_REQUIRED, &judged->asked_at, err);
    rc = rc ? rc : mc_read_object(&root, "grade", MC_REQUIRED, &grade, err);
    return rc ? rc : mc_answer_grade_read(&grade, &judged->grade, err);
}

/* What a review says takes the place of the grader's verdict, and of what the grader held against it. */
void mc_judged_apply(struct mc_judged *judged, const struct mc_time *as_of)
{
    for (size_t i = 0; i < judged->slot_count; i++) {
        const struct mc_revision *last = mc_history_at(&judged->slots[i].history, as_of);
        struct mc_slot_grade *slot = mc_answer_grade_slot(&judged->grade, judged->slots[i].slot);
        if (!last || !slot || last->source != MC_SOURCE_REVIEW) {
            continue;
        }
        if (last->verdict != MC_VERDICT_MISREPRESENTED) {
            slot->faults &= MC_FAULT_DUPLICATE;
        }
        mc_answer_grade_settle(&judged->grade, slot, last->verdict, "reviewed", "review", last->reason);
    }
}

int mc_judged_load(struct mc_store *store, int64_t grading, const char *attempt, const char *checkpoint,
                   struct mc_judged *out, struct mc_err *err)
{
    *out = (struct mc_judged){.object = NULL};
    int rc = mc_grades_find(store, grading, attempt, checkpoint, &out->digest, err);
    if (rc <= 0) {
        return rc;
    }
    rc = read_object(out, store, err);
    rc = rc ? rc : load_histories(store, attempt, checkpoint, out, err);
    if (rc != 0) {
        mc_judged_release(out);
        return mc_wrap(err, "the verdicts on %s of %s", checkpoint, attempt);
    }
    return 0;
}

void mc_judged_release(struct mc_judged *judged)
{
    mc_answer_grade_release(&judged->grade);
    release_histories(judged->slots, judged->slot_count);
    json_decref(judged->object);
    *judged = (struct mc_judged){.object = NULL};
}

struct mc_history *mc_judged_history(const struct mc_judged *judged, const char *slot)
{
    for (size_t i = 0; i < judged->slot_count; i++) {
        if (mc_streq(judged->slots[i].slot, slot)) {
            return &judged->slots[i].history;
        }
    }
    return NULL;
}

static json_t *revision_json(const struct mc_revision *revision)
{
    return json_pack("{sI sI ss ss ss ss? ss}", "number", (json_int_t)revision->number, "replaces",
                     (json_int_t)revision->replaces, "verdict", mc_verdict_name(revision->verdict), "source",
                     mc_source_names[revision->source], "reason", revision->reason, "by",
                     revision->by[0] ? revision->by : NULL, "at", mc_time_format(revision->at).text);
}

static void add_revisions(json_t *slot, const struct mc_judged *judged, const struct mc_time *as_of)
{
    const struct mc_history *history = mc_judged_history(judged, json_string_value(json_object_get(slot, "id")));
    const struct mc_revision *last = history ? mc_history_at(history, as_of) : NULL;
    if (!last) {
        return;
    }
    json_object_set_new(slot, "revision", json_integer((json_int_t)last->number));
    if (last->number > 1) {
        json_t *list = json_array();
        for (size_t i = 0; i < (size_t)last->number; i++) {
            json_array_append_new(list, revision_json(&history->items[i]));
        }
        json_object_set_new(slot, "revisions", list);
    }
}

json_t *mc_judged_json(const struct mc_judged *judged, const struct mc_time *as_of)
{
    static const char *const lists[] = {"slots", "options", "trap_slots"};
    json_t *grade = mc_answer_grade_json(&judged->grade);
    for (size_t l = 0; l < MC_COUNT(lists); l++) {
        size_t i;
        json_t *slot;
        json_array_foreach (json_object_get(grade, lists[l]), i, slot) {
            add_revisions(slot, judged, as_of);
        }
    }
    return grade;
}
