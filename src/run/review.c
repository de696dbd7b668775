#include "run/review.h"

#include <string.h>

#include "base/mem.h"

static int check_slot(const struct mc_judged *judged, const struct mc_answer_id *id, const char *slot,
                      struct mc_err *err)
{
    if (!judged->object) {
        mc_fail(err, MC_INPUT, "the answer %s has not been graded", id->id);
        return mc_hint(err, "grade the run first, with \"memcal grade\"");
    }
    if (mc_answer_grade_slot(&judged->grade, slot)) {
        return 0;
    }
    struct mc_buf names = MC_BUF_OWN;
    const struct mc_slot_grades *lists[] = {&judged->grade.slots, &judged->grade.options, &judged->grade.traps};
    for (size_t l = 0; l < MC_COUNT(lists); l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            mc_buf_putf(&names, "%s%s", names.len ? ", " : "", lists[l]->items[i].id);
        }
    }
    mc_fail(err, MC_INPUT, "the answer %s has no slot \"%s\"", id->id, slot);
    mc_hint(err, "it has %s", mc_buf_text(&names));
    mc_buf_release(&names);
    return err->code;
}

/* Within the transaction: what is in force is read and replaced with nothing between. */
static int add(struct mc_store *store, const struct mc_review *review, const struct mc_answer_id *id,
               struct mc_judged *judged, json_t **out, struct mc_err *err)
{
    struct mc_history none = {.items = NULL};
    struct mc_history *history = mc_judged_history(judged, review->slot);
    history = history ? history : &none;
    const struct mc_revision *last = mc_history_at(history, NULL);
    enum mc_verdict from = last ? last->verdict : MC_VERDICT_UNGRADED;
    struct mc_time_text now = mc_store_now();
    struct mc_revision revision = {
        .verdict = review->verdict, .source = MC_SOURCE_REVIEW, .reason = review->reason, .by = review->by};
    int rc = mc_time_parse(now.text, &revision.at, err);
    int64_t expect = review->expect >= 0 ? review->expect : last ? last->number : 0;
    rc = rc ? rc : mc_history_add(history, expect, &revision, err);
    if (rc != 0) {
        return mc_wrap(err, "%s %s", id->id, review->slot);
    }
    const struct mc_revision *added = mc_history_at(history, NULL);
    struct mc_revision_record row = {.attempt = id->attempt,
                                     .checkpoint = id->checkpoint,
                                     .slot = review->slot,
                                     .number = added->number,
                                     .verdict = mc_verdict_name(added->verdict),
                                     .source = "review",
                                     .reason = added->reason,
                                     .by = added->by,
                                     .at = now.text,
                                     .grading = -1};
    rc = mc_revisions_add(store, &row, err);
    if (rc == 0) {
        *out =
            json_pack("{ss ss sI sI ss ss ss ss ss}", "answer", id->id, "slot", review->slot, "revision",
                      (json_int_t)added->number, "replaces", (json_int_t)added->replaces, "from", mc_verdict_name(from),
                      "to", mc_verdict_name(added->verdict), "by", added->by, "reason", added->reason, "at", now.text);
    }
    return rc;
}

static int add_in_transaction(struct mc_store *store, const struct mc_stored_run *run, const struct mc_review *review,
                              const struct mc_answer_id *id, json_t **out, struct mc_err *err)
{
    MC_AUTOGRADING struct mc_grading_in_force grading = {.rules = NULL};
    MC_AUTOJUDGED struct mc_judged judged = {.object = NULL};
    int rc = mc_grading_find(store, run->id, NULL, &grading, err);
    rc = rc ? rc : mc_judged_load(store, grading.id, id->attempt, id->checkpoint, &judged, err);
    rc = rc ? rc : check_slot(&judged, id, review->slot, err);
    return rc ? rc : add(store, review, id, &judged, out, err);
}

int mc_review_add(struct mc_store *store, const struct mc_stored_run *run, const struct mc_review *review, json_t **out,
                  struct mc_err *err)
{
    MC_AUTOANSWERID struct mc_answer_id id = {.id = NULL};
    MC_AUTOJSON json_t *added = NULL;
    int rc = mc_answer_id_find(store, run->id, review->answer, &id, err);
    rc = rc ? rc : mc_store_begin(store, err);
    if (rc != 0) {
        return rc;
    }
    rc = add_in_transaction(store, run, review, &id, &added, err);
    rc = rc ? rc : mc_store_commit(store, err);
    if (rc != 0) {
        mc_store_rollback(store);
        return rc;
    }
    *out = mc_steal(&added);
    return 0;
}
