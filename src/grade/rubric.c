#include "grade/rubric.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const mc_mode_names[] = {"fact", "complete-plan", "open-ended", "unanswerable", NULL};
const char *const mc_slot_kind_names[] = {"current", "historical", "abstain", NULL};
const char *const mc_match_names[] = {"date", "time", "status", "yesno", "entity", "number", "text", NULL};

const char *mc_mode_name(enum mc_mode mode)
{
    return mc_mode_names[mode];
}

const char *mc_slot_kind_name(enum mc_slot_kind kind)
{
    return mc_slot_kind_names[kind];
}

const char *mc_match_name(enum mc_match match)
{
    return mc_match_names[match];
}

/* Collects problems: all are reported, the first is kept. */
struct reader {
    mc_problem_fn *problem;
    void *arg;
    struct mc_err first;
    size_t problems;
};

static void report(struct reader *r, const struct mc_err *err)
{
    if (r->problems++ == 0) {
        r->first = *err;
    }
    if (r->problem) {
        r->problem(r->arg, err);
    }
}

/* True where `rc` is a success; else the problem is reported. */
static int fine(struct reader *r, int rc, const struct mc_err *err)
{
    if (rc != 0) {
        report(r, err);
    }
    return rc == 0;
}

static void complain(struct reader *r, const struct mc_view *view, const char *hint, const char *format, ...)
    MC_PRINTF(4, 5);
static void complain(struct reader *r, const struct mc_view *view, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    MC_AUTOFREE char *text = mc_vstrf(format, args);
    va_end(args);
    struct mc_err err;
    mc_view_fail(view, &err, "%s", text);
    mc_hint(&err, "%s", hint);
    report(r, &err);
}

/* A value as written: not empty, not too long, without a control character. */
static char *read_text(struct reader *r, const struct mc_view *view)
{
    const char *text;
    struct mc_err err;
    if (!fine(r, mc_view_scalar(view, &text, &err), &err)) {
        return NULL;
    }
    size_t length = strlen(text);
    if (length == 0 || text[strspn(text, " \t\r\n")] == '\0') {
        complain(r, view, "write the value, or take the line out", "an empty value");
        return NULL;
    }
    if (length > MC_RUBRIC_MAX_VALUE) {
        complain(r, view, "shorten it to what an answer must say", "a value of %zu bytes; %d are allowed", length,
                 MC_RUBRIC_MAX_VALUE);
        return NULL;
    }
    return mc_strdup(text);
}

static void add_text(struct mc_texts *texts, char *text)
{
    texts->items = mc_resize(texts->items, texts->count + 1, sizeof *texts->items);
    texts->items[texts->count++] = text;
}

static int has_text(const struct mc_texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->count; i++) {
        if (strcmp(texts->items[i], text) == 0) {
            return 1;
        }
    }
    return 0;
}

static void read_texts(struct reader *r, const struct mc_view *object, const char *key, struct mc_texts *out)
{
    struct mc_view list;
    struct mc_err err;
    if (!fine(r, mc_read_array(object, key, MC_OPTIONAL, &list, &err), &err) || !list.value) {
        return;
    }
    size_t count = mc_view_count(&list);
    if (count > MC_RUBRIC_MAX_VALUES) {
        complain(r, &list, "keep the values that matter", "%zu values; %d are allowed", count, MC_RUBRIC_MAX_VALUES);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct mc_view item = mc_view_item(&list, i);
        MC_AUTOFREE char *text = read_text(r, &item);
        if (text && has_text(out, text)) {
            complain(r, &item, "take one of them out", "\"%s\" stands here twice", text);
        } else if (text) {
            add_text(out, mc_steal(&text));
        }
    }
}

static const char *match_hint(enum mc_match match)
{
    switch (match) {
    case MC_MATCH_DATE:
        return "write a date as in 2026-08-08, \"Saturday\" or \"the week before 9 June 2023\"";
    case MC_MATCH_TIME:
        return "write a time as in \"8pm\" or \"20:00\"";
    case MC_MATCH_YESNO:
        return "write \"yes\" or \"no\"";
    case MC_MATCH_NUMBER:
        return "write a number as in 1200, \"$1,200\" or \"three weeks\"";
    case MC_MATCH_STATUS:
    case MC_MATCH_ENTITY:
    case MC_MATCH_TEXT:
        break;
    }
    return "write a word that an answer can hold";
}

static void check_expected(struct reader *r, const struct mc_view *view, struct mc_slot *slot)
{
    struct mc_view expected = mc_view_member(view, "expected");
    if (slot->expected && slot->kind != MC_SLOT_ABSTAIN && !mc_rubric_reads(slot->match, slot->expected)) {
        complain(r, &expected, match_hint(slot->match), "\"%s\" cannot be read as a %s", slot->expected,
                 mc_match_name(slot->match));
    }
    struct mc_view forbidden = mc_view_member(view, "forbidden");
    for (size_t i = 0; i < slot->forbidden.count; i++) {
        const char *text = slot->forbidden.items[i];
        int is_expected = slot->expected && strcasecmp(text, slot->expected) == 0;
        int is_alternative = 0;
        for (size_t k = 0; k < slot->alternatives.count; k++) {
            is_alternative |= strcasecmp(text, slot->alternatives.items[k]) == 0;
        }
        if (slot->kind != MC_SLOT_ABSTAIN && (is_expected || is_alternative)) {
            complain(r, &forbidden, "a value is either right or wrong: take it out of one of them",
                     "\"%s\" is forbidden and %s too", text, is_expected ? "expected" : "an alternative");
        }
    }
}

/* expected, the lists and what must hold between them. */
static void read_values(struct reader *r, const struct mc_view *view, struct mc_slot *slot)
{
    struct mc_view expected = mc_view_member(view, "expected");
    if (expected.value) {
        slot->expected = read_text(r, &expected);
    } else if (slot->kind != MC_SLOT_ABSTAIN) {
        complain(r, view, "add it; only a slot of kind abstain has none", "the slot has no \"expected\"");
    }
    read_texts(r, view, "alternatives", &slot->alternatives);
    read_texts(r, view, "forbidden", &slot->forbidden);
    read_texts(r, view, "supported_by", &slot->supported_by);
    check_expected(r, view, slot);
}

static void read_slot(struct reader *r, const struct mc_view *view, struct mc_slot *slot)
{
    static const char *const keys[] = {"id",        "kind",         "match",    "expected", "alternatives",
                                       "forbidden", "supported_by", "required", NULL};
    *slot = (struct mc_slot){.required = 1, .match = MC_MATCH_TEXT, .line = mc_view_line(view)};
    struct mc_err err;
    if (!fine(r, mc_view_is_object(view, &err), &err)) {
        return;
    }
    fine(r, mc_only_keys(view, keys, &err), &err);
    const char *id = NULL;
    if (fine(r, mc_read_id(view, "id", MC_REQUIRED, &id, &err), &err)) {
        slot->id = mc_strdup(id);
    }
    int kind = MC_SLOT_CURRENT;
    int match = MC_MATCH_TEXT;
    int known = fine(r, mc_read_choice(view, "kind", MC_OPTIONAL, mc_slot_kind_names, &kind, &err), &err);
    slot->kind = (enum mc_slot_kind)kind;
    enum mc_need need = kind == MC_SLOT_ABSTAIN ? MC_OPTIONAL : MC_REQUIRED;
    known &= fine(r, mc_read_choice(view, "match", need, mc_match_names, &match, &err), &err);
    slot->match = (enum mc_match)match;
    fine(r, mc_read_bool(view, "required", MC_OPTIONAL, &slot->required, &err), &err);
    if (known) {
        read_values(r, view, slot);
    }
}

static const struct mc_slot *find_slot(const struct mc_slots *slots, const char *id)
{
    for (size_t i = 0; i < slots->count; i++) {
        if (mc_streq(slots->items[i].id, id)) {
            return &slots->items[i];
        }
    }
    return NULL;
}

static void read_slots(struct reader *r, const struct mc_view *object, const char *key, struct mc_slots *out)
{
    struct mc_view list;
    struct mc_err err;
    if (!fine(r, mc_read_array(object, key, MC_OPTIONAL, &list, &err), &err) || !list.value) {
        return;
    }
    size_t count = mc_view_count(&list);
    if (count > MC_RUBRIC_MAX_SLOTS) {
        complain(r, &list, "split the checkpoint", "%zu slots; %d are allowed", count, MC_RUBRIC_MAX_SLOTS);
        return;
    }
    out->items = mc_alloc(count + 1, sizeof *out->items);
    for (size_t i = 0; i < count; i++) {
        struct mc_view item = mc_view_item(&list, i);
        struct mc_slot slot;
        read_slot(r, &item, &slot);
        if (slot.id && find_slot(out, slot.id)) {
            complain(r, &item, "give each slot of a checkpoint its own id", "the slot id \"%s\" stands here twice",
                     slot.id);
        }
        out->items[out->count++] = slot;
    }
}

/* The list `required` says which slots count; without it each slot says so itself. */
static void read_required(struct reader *r, const struct mc_view *view, struct mc_rubric_checkpoint *c)
{
    struct mc_view list;
    struct mc_err err;
    if (!fine(r, mc_read_array(view, "required", MC_OPTIONAL, &list, &err), &err) || !list.value) {
        return;
    }
    struct mc_texts ids = {.items = NULL};
    read_texts(r, view, "required", &ids);
    for (size_t i = 0; i < ids.count; i++) {
        const struct mc_slot *slot = find_slot(&c->slots, ids.items[i]);
        struct mc_view item = mc_view_item(&list, i);
        if (!slot) {
            complain(r, &item, "name the id of one of the checkpoint's slots", "no slot is called \"%s\"",
                     ids.items[i]);
        } else if (!slot->required) {
            complain(r, &item, "take it out of the list, or its \"required: false\" away",
                     "the slot \"%s\" says that it is not required", ids.items[i]);
        }
    }
    for (size_t i = 0; i < c->slots.count; i++) {
        struct mc_slot *slot = &c->slots.items[i];
        slot->required = slot->id && has_text(&ids, slot->id);
    }
    for (size_t i = 0; i < ids.count; i++) {
        free(ids.items[i]);
    }
    free(ids.items);
}

static void check_mode(struct reader *r, const struct mc_view *view, const struct mc_rubric_checkpoint *c)
{
    if (c->mode != MC_MODE_OPEN && (c->options.count > 0 || c->traps.count > 0)) {
        complain(r, view, "move them to an open-ended checkpoint", "only mode open-ended has options and traps");
    }
    if (c->slots.count == 0 && (c->mode != MC_MODE_OPEN || (c->options.count == 0 && c->traps.count == 0))) {
        complain(r, view, "add at least one slot", "the checkpoint has nothing to grade");
    }
    for (size_t i = 0; i < c->slots.count; i++) {
        const struct mc_slot *slot = &c->slots.items[i];
        if (c->mode == MC_MODE_UNANSWERABLE && slot->kind != MC_SLOT_ABSTAIN) {
            complain(r, view, "write \"kind: abstain\", or choose another mode",
                     "slot \"%s\" of an unanswerable checkpoint is not of kind abstain", slot->id ? slot->id : "?");
        }
    }
    const struct mc_slots *lists[] = {&c->options, &c->traps};
    for (size_t l = 0; l < MC_COUNT(lists); l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            const struct mc_slot *slot = &lists[l]->items[i];
            if (slot->id && (find_slot(&c->slots, slot->id) || (l == 1 && find_slot(&c->options, slot->id)))) {
                complain(r, view, "give it an id of its own", "\"%s\" is the id of two things here", slot->id);
            }
            if (slot->kind == MC_SLOT_ABSTAIN) {
                complain(r, view, "make it a slot", "\"%s\" is an option or a trap and cannot be of kind abstain",
                         slot->id ? slot->id : "?");
            }
        }
    }
}

static void read_checkpoint(struct reader *r, const struct mc_view *view, struct mc_rubric_checkpoint *c)
{
    static const char *const keys[] = {"mode", "required", "slots", "options", "traps", NULL};
    *c = (struct mc_rubric_checkpoint){.id = mc_strdup(view->key), .line = mc_view_line(view)};
    struct mc_err err;
    if (!fine(r, mc_view_is_object(view, &err), &err)) {
        return;
    }
    size_t before = r->problems;
    fine(r, mc_only_keys(view, keys, &err), &err);
    int mode = MC_MODE_FACT;
    fine(r, mc_read_choice(view, "mode", MC_REQUIRED, mc_mode_names, &mode, &err), &err);
    c->mode = (enum mc_mode)mode;
    read_slots(r, view, "slots", &c->slots);
    read_slots(r, view, "options", &c->options);
    read_slots(r, view, "traps", &c->traps);
    read_required(r, view, c);
    if (r->problems == before) {
        check_mode(r, view, c);
    }
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct mc_rubric_checkpoint *)a)->id, ((const struct mc_rubric_checkpoint *)b)->id);
}

int mc_rubric_read(const struct mc_view *root, mc_problem_fn *problem, void *arg, struct mc_rubric *out,
                   struct mc_err *err)
{
    static const char *const keys[] = {"checkpoints", NULL};
    struct reader r = {.problem = problem, .arg = arg};
    struct mc_view all = {.value = NULL};
    *out = (struct mc_rubric){.count = 0};
    struct mc_err first;
    if (fine(&r, mc_view_is_object(root, &first), &first)) {
        fine(&r, mc_only_keys(root, keys, &first), &first);
        fine(&r, mc_read_object(root, "checkpoints", MC_REQUIRED, &all, &first), &first);
    }
    if (all.value) {
        out->checkpoints = mc_alloc(json_object_size(all.value) + 1, sizeof *out->checkpoints);
        const char *key;
        json_t *value;
        json_object_foreach ((json_t *)all.value, key, value) {
            struct mc_view view = mc_view_member(&all, key);
            if (view.value) {
                read_checkpoint(&r, &view, &out->checkpoints[out->count++]);
            } else {
                complain(&r, &all, "write its slots, or take it out", "the checkpoint \"%s\" is empty", key);
            }
        }
        if (out->count > 0) {
            qsort(out->checkpoints, out->count, sizeof *out->checkpoints, by_id);
        }
    }
    if (r.problems == 0) {
        return 0;
    }
    mc_rubric_release(out);
    *err = r.first;
    if (r.problems > 1) {
        mc_wrap(err, "%zu problems in the rubric; the first", r.problems);
    }
    return MC_INPUT;
}

static void release_texts(struct mc_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->items[i]);
    }
    free(texts->items);
}

static void release_slots(struct mc_slots *slots)
{
    for (size_t i = 0; i < slots->count; i++) {
        struct mc_slot *slot = &slots->items[i];
        release_texts(&slot->alternatives);
        release_texts(&slot->forbidden);
        release_texts(&slot->supported_by);
        free(slot->expected);
        free(slot->id);
    }
    free(slots->items);
}

void mc_rubric_release(struct mc_rubric *rubric)
{
    for (size_t i = 0; i < rubric->count; i++) {
        struct mc_rubric_checkpoint *c = &rubric->checkpoints[i];
        release_slots(&c->slots);
        release_slots(&c->options);
        release_slots(&c->traps);
        free(c->id);
    }
    free(rubric->checkpoints);
    *rubric = (struct mc_rubric){.count = 0};
}

const struct mc_rubric_checkpoint *mc_rubric_find(const struct mc_rubric *rubric, const char *id)
{
    size_t low = 0;
    size_t high = rubric->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(rubric->checkpoints[middle].id, id);
        if (order == 0) {
            return &rubric->checkpoints[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}
