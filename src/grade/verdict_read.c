/* A grade back from its object: the inverse of mc_answer_grade_json(). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "grade/verdict.h"

enum { QUOTES_MAX = 100000, BYTES_MAX = MC_ANSWER_MAX };

static const char *const faults[] = {"stale", "invention", "wrong_person", "wrong_occurrence", "duplicate", NULL};

static int read_quote(const struct mc_view *view, struct mc_quote *out, struct mc_err *err)
{
    int64_t start = 0;
    int64_t end = 0;
    const char *text = NULL;
    int rc = mc_view_is_object(view, err);
    rc = rc ? rc : mc_read_int(view, "start", MC_REQUIRED, 0, BYTES_MAX, &start, err);
    rc = rc ? rc : mc_read_int(view, "end", MC_REQUIRED, start, BYTES_MAX, &end, err);
    rc = rc ? rc : mc_read_string(view, "text", MC_REQUIRED, &text, err);
    rc = rc ? rc : mc_read_string(view, "stance", MC_REQUIRED, &out->stance, err);
    if (rc == 0) {
        out->start = (size_t)start;
        out->end = (size_t)end;
        out->text = mc_strdup(text);
    }
    return rc;
}

static int read_quotes(const struct mc_view *slot, struct mc_slot_grade *out, struct mc_err *err)
{
    struct mc_view list;
    int rc = mc_read_array(slot, "quotes", MC_REQUIRED, &list, err);
    size_t count = rc ? 0 : mc_view_count(&list);
    if (count > QUOTES_MAX) {
        return mc_view_fail(&list, err, "%zu quotes", count);
    }
    out->quotes = mc_alloc(count + 1, sizeof *out->quotes);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct mc_view item = mc_view_item(&list, i);
        rc = read_quote(&item, &out->quotes[i], err);
        out->quote_count += rc == 0;
    }
    return rc;
}

static int read_evidence(const struct mc_view *slot, struct mc_slot_grade *out, struct mc_err *err)
{
    struct mc_view list;
    int rc = mc_read_array(slot, "evidence", MC_REQUIRED, &list, err);
    size_t count = rc ? 0 : mc_view_count(&list);
    out->evidence.items = mc_alloc(count + 1, sizeof *out->evidence.items);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct mc_view item = mc_view_item(&list, i);
        const char *text = NULL;
        rc = mc_view_string(&item, &text, err);
        if (rc == 0) {
            out->evidence.items[out->evidence.count++] = mc_strdup(text);
        }
    }
    return rc;
}

static int read_faults(const struct mc_view *slot, struct mc_slot_grade *out, struct mc_err *err)
{
    struct mc_view list;
    int rc = mc_read_array(slot, "faults", MC_REQUIRED, &list, err);
    for (size_t i = 0; rc == 0 && i < mc_view_count(&list); i++) {
        struct mc_view item = mc_view_item(&list, i);
        const char *name = NULL;
        unsigned bit = 0;
        rc = mc_view_string(&item, &name, err);
        for (unsigned k = 0; rc == 0 && faults[k]; k++) {
            bit |= mc_streq(faults[k], name) ? 1U << k : 0;
        }
        if (rc == 0 && bit == 0) {
            rc = mc_view_fail(&item, err, "there is no fault \"%s\"", name);
        }
        out->faults |= bit;
    }
    return rc;
}

static int read_slot(const struct mc_view *view, struct mc_slot_grade *out, struct mc_err *err)
{
    const char *id = NULL;
    const char *explanation = NULL;
    int kind = 0;
    int match = 0;
    int verdict = 0;
    int rc = mc_view_is_object(view, err);
    rc = rc ? rc : mc_read_string(view, "id", MC_REQUIRED, &id, err);
    rc = rc ? rc : mc_read_choice(view, "kind", MC_REQUIRED, mc_slot_kind_names, &kind, err);
    rc = rc ? rc : mc_read_choice(view, "match", MC_REQUIRED, mc_match_names, &match, err);
    rc = rc ? rc : mc_read_bool(view, "required", MC_REQUIRED, &out->required, err);
    rc = rc ? rc : mc_read_choice(view, "verdict", MC_REQUIRED, mc_verdict_names, &verdict, err);
    rc = rc ? rc : mc_read_string(view, "rule", MC_REQUIRED, &out->rule, err);
    rc = rc ? rc : mc_read_string(view, "source", MC_REQUIRED, &out->source, err);
    rc = rc ? rc : mc_read_string(view, "explanation", MC_REQUIRED, &explanation, err);
    rc = rc ? rc : mc_read_bool(view, "undecided", MC_OPTIONAL, &out->undecided, err);
    rc = rc ? rc : read_quotes(view, out, err);
    rc = rc ? rc : read_evidence(view, out, err);
    rc = rc ? rc : read_faults(view, out, err);
    if (rc == 0) {
        out->id = mc_strdup(id);
        out->explanation = mc_strdup(explanation);
        out->kind = (enum mc_slot_kind)kind;
        out->match = (enum mc_match)match;
        out->verdict = (enum mc_verdict)verdict;
    }
    return rc;
}

static int read_slots(const struct mc_view *grade, const char *key, struct mc_slot_grades *out, struct mc_err *err)
{
    struct mc_view list;
    int rc = mc_read_array(grade, key, MC_REQUIRED, &list, err);
    size_t count = rc ? 0 : mc_view_count(&list);
    if (count > MC_RUBRIC_MAX_SLOTS) {
        return mc_view_fail(&list, err, "%zu slots", count);
    }
    out->items = mc_alloc(count + 1, sizeof *out->items);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct mc_view item = mc_view_item(&list, i);
        out->count++; /* what was read of it is released with the rest */
        rc = read_slot(&item, &out->items[i], err);
    }
    return rc;
}

int mc_answer_grade_read(const struct mc_view *view, struct mc_answer_grade *out, struct mc_err *err)
{
    *out = (struct mc_answer_grade){.checkpoint = NULL};
    const char *checkpoint = NULL;
    int mode = 0;
    int ended = 0;
    int64_t found = 0;
    int64_t total = 0;
    int rc = mc_view_is_object(view, err);
    rc = rc ? rc : mc_read_string(view, "checkpoint", MC_REQUIRED, &checkpoint, err);
    rc = rc ? rc : mc_read_choice(view, "mode", MC_REQUIRED, mc_mode_names, &mode, err);
    rc = rc ? rc : mc_read_choice(view, "ended", MC_REQUIRED, mc_ended_names, &ended, err);
    rc = rc ? rc : mc_read_bool(view, "complete", MC_REQUIRED, &out->complete, err);
    rc = rc ? rc : mc_read_bool(view, "abstained", MC_REQUIRED, &out->abstained, err);
    rc = rc ? rc : mc_read_int(view, "options_found", MC_REQUIRED, 0, MC_RUBRIC_MAX_SLOTS, &found, err);
    rc = rc ? rc : mc_read_int(view, "options_total", MC_REQUIRED, 0, MC_RUBRIC_MAX_SLOTS, &total, err);
    rc = rc ? rc : read_slots(view, "slots", &out->slots, err);
    rc = rc ? rc : read_slots(view, "options", &out->options, err);
    rc = rc ? rc : read_slots(view, "trap_slots", &out->traps, err);
    if (rc != 0) {
        mc_answer_grade_release(out);
        return rc;
    }
    out->checkpoint = mc_strdup(checkpoint);
    out->mode = (enum mc_mode)mode;
    out->ended = (enum mc_ended)ended;
    out->options_found = (size_t)found;
    out->options_total = (size_t)total;
    return 0;
}

struct mc_slot_grade *mc_answer_grade_slot(const struct mc_answer_grade *grade, const char *id)
{
    const struct mc_slot_grades *lists[] = {&grade->slots, &grade->options, &grade->traps};
    for (size_t l = 0; l < MC_COUNT(lists); l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            if (mc_streq(lists[l]->items[i].id, id)) {
                return &lists[l]->items[i];
            }
        }
    }
    return NULL;
}
