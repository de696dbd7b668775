#include "run/audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "run/keep.h"
#include "run/rubrics.h"

struct auditing {
    struct mc_store *store;
    const struct mc_stored_run *run;
    struct mc_grading_in_force grading;
    struct mc_pool pool; /* the items' texts */
    struct mc_audit_item *items;
    size_t count;
    size_t capacity;
    struct mc_rubrics *rubrics;
};

static void add_items(struct auditing *auditing, const char *answer, const char *family,
                      const struct mc_slot_grades *slots)
{
    for (size_t i = 0; i < slots->count; i++) {
        const struct mc_slot_grade *slot = &slots->items[i];
        auditing->items = mc_grow(auditing->items, auditing->count, &auditing->capacity, sizeof *auditing->items);
        auditing->items[auditing->count++] = (struct mc_audit_item){.answer = answer,
                                                                    .slot = mc_pool_strdup(&auditing->pool, slot->id),
                                                                    .family = family,
                                                                    .kind = mc_slot_kind_name(slot->kind),
                                                                    .verdict = slot->verdict};
    }
}

/* What was never answered for a reason outside the harness has nothing to look at. */
static int collect(void *payload, const struct mc_trial_record *trial, const struct mc_answer_record *answer,
                   struct mc_err *err)
{
    struct auditing *auditing = payload;
    MC_AUTOJUDGED struct mc_judged judged;
    int rc = mc_judged_load(auditing->store, auditing->grading.id, answer->attempt, answer->checkpoint, &judged, err);
    if (rc == 0 && judged.object && mc_ended_counts(judged.grade.ended)) {
        mc_judged_apply(&judged, NULL);
        const char *id = mc_pool_strf(&auditing->pool, "%s/%s", trial->id, answer->checkpoint);
        const char *family = mc_pool_strdup(&auditing->pool, judged.family);
        add_items(auditing, id, family, &judged.grade.slots);
        add_items(auditing, id, family, &judged.grade.options);
        add_items(auditing, id, family, &judged.grade.traps);
    }
    return rc;
}

/* ---- one item in full ---- */

static json_t *observation_json(const struct mc_life *life, const char *id, struct mc_err *err)
{
    for (size_t i = 0; i < life->observation_count; i++) {
        if (mc_streq(life->observations[i].source_id, id)) {
            MC_AUTOJSON json_t *whole = mc_life_observation_json(life, i, err);
            return whole ? json_pack("{ss sO? sO? sO? sO? sO?}", "id", id, "channel", json_object_get(whole, "channel"),
                                     "sender", json_object_get(whole, "sender"), "at",
                                     json_object_get(whole, "written_at"), "subject", json_object_get(whole, "subject"),
                                     "text", json_object_get(whole, "text"))
                         : NULL;
        }
    }
    for (size_t i = 0; i < life->turn_count; i++) {
        if (mc_streq(life->turns[i].id, id)) {
            return json_pack("{ss ss ss ss ss}", "id", id, "channel", "turn", "sender", life->owner, "at",
                             mc_time_format(life->turns[i].at).text, "text", life->turns[i].text);
        }
    }
    mc_fail(err, MC_MISMATCH, "the life %s has no observation or turn \"%s\"", life->id, id);
    return NULL;
}

static int evidence_json(struct auditing *auditing, const char *life, const struct mc_slot_grade *slot, json_t *list,
                         struct mc_err *err)
{
    const struct mc_ruled_life *ruled;
    int rc = mc_rubrics_get(auditing->rubrics, life, &ruled, err);
    for (size_t i = 0; rc == 0 && i < slot->evidence.count; i++) {
        json_t *one = observation_json(ruled->life, slot->evidence.items[i], err);
        rc = one ? 0 : (int)err->code;
        json_array_append_new(list, one);
    }
    return rc;
}

static json_t *quotes_json(const struct mc_slot_grade *slot)
{
    json_t *list = json_array();
    for (size_t i = 0; i < slot->quote_count; i++) {
        const struct mc_quote *quote = &slot->quotes[i];
        json_array_append_new(list, json_pack("{sI sI ss ss}", "start", (json_int_t)quote->start, "end",
                                              (json_int_t)quote->end, "text", quote->text, "stance", quote->stance));
    }
    return list;
}

struct answer_text {
    const char *checkpoint;
    char *text;
};

static int take_text(void *payload, const struct mc_answer_record *answer)
{
    struct answer_text *wanted = payload;
    if (mc_streq(answer->checkpoint, wanted->checkpoint)) {
        free(wanted->text);
        wanted->text = mc_strdup(answer->answer ? answer->answer : "");
    }
    return 0;
}

/* A word of a shell's command line: in single quotes, those within it taken out of them. */
static char *shell_word(const char *text)
{
    struct mc_buf out = MC_BUF_OWN;
    mc_buf_putc(&out, '\'');
    for (const char *p = text; *p; p++) {
        if (*p == '\'') {
            mc_buf_puts(&out, "'\\''");
        } else {
            mc_buf_putc(&out, *p);
        }
    }
    mc_buf_putc(&out, '\'');
    return mc_buf_take(&out);
}

static json_t *item_json(const struct auditing *auditing, const struct mc_answer_id *id, const struct mc_judged *judged,
                         const struct mc_slot_grade *slot, const char *text)
{
    const struct mc_history *history = mc_judged_history(judged, slot->id);
    const struct mc_revision *last = history ? mc_history_at(history, NULL) : NULL;
    json_int_t revision = last ? (json_int_t)last->number : 0;
    MC_AUTOFREE char *answer_word = shell_word(id->id);
    MC_AUTOFREE char *slot_word = shell_word(slot->id);
    MC_AUTOFREE char *command =
        mc_strf("memcal review %s --answer %s --slot %s --verdict VERDICT --reason 'WHY' --by NAME --expect %lld",
                auditing->run->id, answer_word, slot_word, (long long)revision);
    return json_pack("{ss ss ss ss sI ss ss ss sb ss ss ss ss ss ss ss ss sI so ss}", "answer", id->id, "slot",
                     slot->id, "life", id->life, "harness", id->harness, "repetition", (json_int_t)id->repetition,
                     "family", judged->family, "kind", mc_slot_kind_name(slot->kind), "match",
                     mc_match_name(slot->match), "required", slot->required, "ended",
                     mc_ended_name(judged->grade.ended), "question", judged->question, "asked_at", judged->asked_at,
                     "text", text, "verdict", mc_verdict_name(slot->verdict), "rule", slot->rule, "source",
                     slot->source, "explanation", slot->explanation ? slot->explanation : "", "revision", revision,
                     "quotes", quotes_json(slot), "command", command);
}

static int add_item(struct auditing *auditing, const struct mc_audit_item *item, json_t *list, struct mc_err *err)
{
    MC_AUTOANSWERID struct mc_answer_id id = {.id = NULL};
    MC_AUTOJUDGED struct mc_judged judged = {.object = NULL};
    int rc = mc_answer_id_find(auditing->store, auditing->run->id, item->answer, &id, err);
    rc = rc ? rc : mc_judged_load(auditing->store, auditing->grading.id, id.attempt, id.checkpoint, &judged, err);
    struct answer_text answer = {.checkpoint = id.checkpoint};
    rc = rc ? rc : mc_answers_list(auditing->store, id.attempt, take_text, &answer, err);
    MC_AUTOFREE char *text = answer.text;
    if (rc != 0) {
        return rc;
    }
    mc_judged_apply(&judged, NULL);
    const struct mc_slot_grade *slot = mc_answer_grade_slot(&judged.grade, item->slot);
    json_t *evidence = json_array();
    json_t *json = item_json(auditing, &id, &judged, slot, text ? text : "");
    json_object_set_new(json, "evidence", evidence);
    json_array_append_new(list, json);
    return evidence_json(auditing, id.life, slot, evidence, err);
}

static int draw(struct auditing *auditing, const struct mc_audit *audit, json_t *list, struct mc_err *err)
{
    MC_AUTOFREE size_t *drawn = NULL;
    size_t count = mc_audit_sample(auditing->items, auditing->count, audit->sample, audit->seed, &drawn);
    struct mc_kept kept;
    int rc = mc_kept_open(auditing->store, auditing->run->corpus, &kept, err);
    if (rc != 0) {
        return rc;
    }
    auditing->rubrics = mc_rubrics_new(kept.corpus);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = add_item(auditing, &auditing->items[drawn[i]], list, err);
    }
    mc_rubrics_free(auditing->rubrics);
    struct mc_err second;
    int closed = mc_kept_close(&kept, &second);
    if (rc == 0 && closed != 0) {
        *err = second;
        rc = closed;
    }
    return rc;
}

int mc_audit_make(struct mc_store *store, const struct mc_stored_run *run, const struct mc_audit *audit, json_t **out,
                  struct mc_err *err)
{
    struct auditing auditing = {.store = store, .run = run};
    MC_AUTOJSON json_t *list = json_array();
    int rc = mc_grading_find(store, run->id, NULL, &auditing.grading, err);
    rc = rc ? rc : mc_stored_answers(store, run->id, collect, &auditing, err);
    rc = rc ? rc : draw(&auditing, audit, list, err);
    if (rc == 0) {
        *out = json_pack("{ss sI sI sI sO}", "run", run->id, "grading", (json_int_t)auditing.grading.number, "seed",
                         (json_int_t)audit->seed, "of", (json_int_t)auditing.count, "items", list);
    }
    mc_grading_release(&auditing.grading);
    mc_pool_release(&auditing.pool);
    free(auditing.items);
    return rc;
}
