#include "run/grading.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/keep.h"
#include "run/verdicts.h"
#include "store/objects.h"

/* An answer that was graded and is not yet in the store's rows. */
struct pending {
    char *trial;
    char *attempt;
    char *checkpoint;
    struct mc_digest digest;
};

struct grading {
    const struct mc_grading_options *options;
    struct mc_asker *asker; /* NULL: no judge is asked */
    struct mc_rubrics *rubrics;
    struct mc_grading_result *result;
    struct pending *pending;
    size_t count;
    size_t capacity;
    int64_t id;
    struct mc_time_text at;
};

json_t *mc_grade_object(const struct mc_ruled *ruled, const struct mc_answer_grade *grade)
{
    return json_pack("{ss ss ss ss ss so}", "life", ruled->life->life->id, "base_life", ruled->life->base, "family",
                     ruled->life->life->family, "question", ruled->asked->question, "asked_at",
                     mc_time_format(ruled->asked->at).text, "grade", mc_answer_grade_json(grade));
}

static enum mc_ended ended_of(const char *name)
{
    for (int i = 0; mc_ended_names[i]; i++) {
        if (mc_streq(mc_ended_names[i], name)) {
            return (enum mc_ended)i;
        }
    }
    return MC_ENDED_INFRASTRUCTURE;
}

static size_t count_unjudged(const struct mc_answer_grade *grade)
{
    const struct mc_slot_grades *lists[] = {&grade->slots, &grade->options};
    size_t count = 0;
    for (size_t l = 0; l < MC_COUNT(lists); l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            const struct mc_slot_grade *slot = &lists[l]->items[i];
            count += slot->verdict == MC_VERDICT_UNGRADED && mc_streq(slot->source, "judge");
        }
    }
    return count;
}

static int grade_answer(struct grading *grading, const struct mc_ruled *ruled, const struct mc_answer_record *answer,
                        struct mc_answer_grade *grade, struct mc_err *err)
{
    struct mc_asker *asker = grading->asker;
    int rc = mc_grade_answer(ruled->rubric, &ruled->context, answer->answer, ended_of(answer->ended), grade, err);
    if (rc == 0 && asker && answer->answer) {
        rc = mc_asker_grade(asker, answer->attempt, ruled->rubric, &ruled->context, answer->answer, grade, err);
        grading->result->unjudged += rc ? 0 : count_unjudged(grade);
    }
    return rc;
}

static int take_answer(void *payload, const struct mc_trial_record *trial, const struct mc_answer_record *answer,
                       struct mc_err *err)
{
    struct grading *grading = payload;
    struct mc_ruled ruled;
    MC_AUTOGRADE struct mc_answer_grade grade = {.checkpoint = NULL};
    int rc = mc_check(mc_within(INT32_MAX, grading->options->cancel), "grading", err);
    rc = rc ? rc : mc_rubrics_find(grading->rubrics, trial->life, answer->checkpoint, &ruled, err);
    rc = rc ? rc : grade_answer(grading, &ruled, answer, &grade, err);
    if (rc != 0) {
        return rc;
    }
    MC_AUTOJSON json_t *object = mc_grade_object(&ruled, &grade);
    MC_AUTOFREE char *text = mc_json_text(object);
    struct mc_digest digest;
    rc = mc_object_put(grading->options->store, "grade", text, strlen(text), &digest, err);
    if (rc == 0) {
        grading->pending = mc_grow(grading->pending, grading->count, &grading->capacity, sizeof *grading->pending);
        grading->pending[grading->count++] = (struct pending){.trial = mc_strdup(trial->id),
                                                              .attempt = mc_strdup(answer->attempt),
                                                              .checkpoint = mc_strdup(answer->checkpoint),
                                                              .digest = digest};
    }
    return rc;
}

/* ---- rows ---- */

static const struct mc_revision *last_of_grader(const struct mc_history *history)
{
    for (size_t i = history ? history->count : 0; i > 0; i--) {
        if (history->items[i - 1].source != MC_SOURCE_REVIEW) {
            return &history->items[i - 1];
        }
    }
    return NULL;
}

static void note_change(struct grading *grading, const struct pending *pending, const struct mc_slot_grade *slot,
                        const struct mc_revision *before, int in_force)
{
    MC_AUTOFREE char *answer = mc_strf("%s/%s", pending->trial, pending->checkpoint);
    json_array_append_new(grading->result->changes,
                          json_pack("{ss ss ss ss sb ss}", "answer", answer, "slot", slot->id, "from",
                                    mc_verdict_name(before->verdict), "to", mc_verdict_name(slot->verdict), "in_force",
                                    in_force, "explanation", slot->explanation));
}

static int add_revision(struct grading *grading, const struct pending *pending, const struct mc_judged *judged,
                        const struct mc_slot_grade *slot, struct mc_err *err)
{
    const struct mc_history *history = mc_judged_history(judged, slot->id);
    const struct mc_revision *last = history ? mc_history_at(history, NULL) : NULL;
    const struct mc_revision *before = last_of_grader(history);
    int reviewed = last && last->source == MC_SOURCE_REVIEW;
    if (before && before->verdict != slot->verdict) {
        note_change(grading, pending, slot, before, !reviewed);
    }
    int same = before && before->verdict == slot->verdict && mc_streq(mc_source_names[before->source], slot->source);
    if (reviewed || same) {
        return 0;
    }
    struct mc_revision_record revision = {.attempt = pending->attempt,
                                          .checkpoint = pending->checkpoint,
                                          .slot = slot->id,
                                          .number = last ? last->number + 1 : 1,
                                          .verdict = mc_verdict_name(slot->verdict),
                                          .source = slot->source,
                                          .rule = slot->rule,
                                          .reason = slot->explanation ? slot->explanation : "",
                                          .at = grading->at.text,
                                          .grading = grading->id};
    return mc_revisions_add(grading->options->store, &revision, err);
}

static int add_revisions(struct grading *grading, const struct pending *pending, struct mc_err *err)
{
    MC_AUTOJUDGED struct mc_judged judged;
    int rc = mc_judged_load(grading->options->store, grading->id, pending->attempt, pending->checkpoint, &judged, err);
    const struct mc_slot_grades *lists[] = {&judged.grade.slots, &judged.grade.options, &judged.grade.traps};
    for (size_t l = 0; rc == 0 && l < MC_COUNT(lists); l++) {
        for (size_t i = 0; rc == 0 && i < lists[l]->count; i++) {
            rc = add_revision(grading, pending, &judged, &lists[l]->items[i], err);
        }
    }
    return rc;
}

static int write_rows(struct grading *grading, struct mc_err *err)
{
    struct mc_store *store = grading->options->store;
    grading->at = mc_store_now();
    struct mc_grading_record record = {.run = grading->options->run->id,
                                       .rules = MC_GRADER_RULES,
                                       .judge = grading->asker ? mc_asker_name(grading->asker) : NULL,
                                       .at = grading->at.text};
    int rc = mc_gradings_add(store, &record, &grading->id, &grading->result->number, err);
    for (size_t i = 0; rc == 0 && i < grading->count; i++) {
        const struct pending *pending = &grading->pending[i];
        struct mc_grade_record grade = {.grading = grading->id,
                                        .attempt = pending->attempt,
                                        .checkpoint = pending->checkpoint,
                                        .grade = pending->digest.hex};
        rc = mc_grades_add(store, &grade, err);
        rc = rc ? rc : add_revisions(grading, pending, err);
    }
    return rc;
}

static int commit(struct grading *grading, struct mc_err *err)
{
    struct mc_store *store = grading->options->store;
    int rc = mc_store_begin(store, err);
    if (rc != 0) {
        return rc;
    }
    rc = write_rows(grading, err);
    rc = rc ? rc : mc_store_commit(store, err);
    if (rc != 0) {
        mc_store_rollback(store);
    }
    return rc;
}

/* ---- the judge ---- */

/* The judge's model as the manifest describes it, NULL for none, and how many votes it has. */
static int find_judge(const struct mc_stored_run *run, const char *name, const json_t **model, int *votes,
                      struct mc_err *err)
{
    const json_t *grader = json_object_get(run->manifest, "grader");
    const json_t *wanted = json_object_get(grader, "votes");
    const char *key = name ? name : json_string_value(json_object_get(grader, "judge"));
    *votes = json_is_integer(wanted) ? (int)json_integer_value(wanted) : MC_JUDGE_VOTES;
    *model = NULL;
    if (!key || mc_streq(key, "none")) {
        return 0;
    }
    size_t i;
    const json_t *each;
    struct mc_buf names = MC_BUF_OWN;
    json_array_foreach (json_object_get(run->manifest, "models"), i, each) {
        const char *this_key = json_string_value(json_object_get(each, "key"));
        *model = mc_streq(this_key, key) ? each : *model;
        mc_buf_putf(&names, "%s%s", i ? ", " : "", this_key ? this_key : "?");
    }
    int rc = 0;
    if (!*model) {
        mc_fail(err, MC_INPUT, "the manifest of the run %s has no model \"%s\"", run->id, key);
        rc = mc_hint(err, "it has %s", names.len ? mc_buf_text(&names) : "none");
    }
    mc_buf_release(&names);
    return rc;
}

/* Knows the secrets of the run's models, as far as they are set here, and the shapes of common keys. */
static struct mc_redactor *make_redactor(const struct mc_stored_run *run)
{
    struct mc_redactor *redactor = mc_redactor_new();
    size_t i;
    const json_t *model;
    json_array_foreach (json_object_get(run->manifest, "models"), i, model) {
        const char *name = json_string_value(json_object_get(model, "secret"));
        const char *value = name ? getenv(name) : NULL;
        if (value) {
            mc_redactor_add(redactor, name, value);
        }
    }
    return redactor;
}

static int open_asker(const struct mc_grading_options *options, const struct mc_redactor *redactor,
                      struct mc_asker **out, struct mc_err *err)
{
    struct mc_asker_options asker = {
        .store = options->store, .run = options->run->id, .redactor = redactor, .cancel = options->cancel};
    int rc = find_judge(options->run, options->judge, &asker.model, &asker.votes, err);
    return rc || !asker.model ? rc : mc_asker_open(&asker, out, err);
}

/* ---- the whole ---- */

static int grade_all(struct grading *grading, struct mc_err *err)
{
    const struct mc_grading_options *options = grading->options;
    struct mc_kept kept;
    int rc = mc_kept_open(options->store, options->run->corpus, &kept, err);
    if (rc != 0) {
        return rc;
    }
    grading->rubrics = mc_rubrics_new(kept.corpus);
    rc = mc_stored_answers(options->store, options->run->id, take_answer, grading, err);
    mc_rubrics_free(grading->rubrics);
    struct mc_err second;
    int closed = mc_kept_close(&kept, &second);
    if (rc == 0 && closed != 0) {
        *err = second;
        rc = closed;
    }
    return rc;
}

int mc_grading_make(const struct mc_grading_options *options, struct mc_grading_result *out, struct mc_err *err)
{
    *out = (struct mc_grading_result){.changes = json_array()};
    struct grading grading = {.options = options, .result = out};
    struct mc_redactor *own = options->redactor ? NULL : make_redactor(options->run);
    int rc = open_asker(options, own ? own : options->redactor, &grading.asker, err);
    rc = rc ? rc : grade_all(&grading, err);
    rc = rc ? rc : commit(&grading, err);
    out->answers = grading.count;
    for (size_t i = 0; i < grading.count; i++) {
        free(grading.pending[i].trial);
        free(grading.pending[i].attempt);
        free(grading.pending[i].checkpoint);
    }
    free(grading.pending);
    mc_asker_close(grading.asker);
    mc_redactor_free(own);
    if (rc != 0) {
        mc_grading_result_release(out);
    }
    return rc;
}

void mc_grading_result_release(struct mc_grading_result *result)
{
    json_decref(result->changes);
    *result = (struct mc_grading_result){.changes = NULL};
}
