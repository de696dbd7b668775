#include "run/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "report/report.h"

/* What is added up for one harness. */
struct column {
    const json_t *entrant; /* of the run manifest */
    const char *name;
    struct mc_metrics *metrics;
    int64_t *latencies;
    size_t latency_count;
    size_t latency_cap;
    struct mc_call_totals totals; /* over all its attempts */
    int64_t wall_ms;
    json_t *ended;  /* {how: count} over trials */
    json_t *scores; /* from elsewhere */
};

struct making {
    struct mc_store *store;
    const struct mc_stored_run *run;
    const struct mc_time *as_of;
    struct mc_grading_in_force grading;
    struct column *columns; /* one for each entrant of the manifest */
    size_t column_count;
    json_t *trials;
    size_t reviewed;   /* slots whose verdict in force is a review's */
    size_t not_graded; /* answers that came after the grading */
    struct mc_err *err;
    /* The trial in hand. */
    const struct mc_trial_record *trial;
    struct column *column;
    json_t *answers;
    json_t *attempts;
    char *last_attempt; /* NULL: there was none */
    int64_t last_wall_ms;
};

static void add_known(int64_t *sum, int64_t part)
{
    *sum = *sum < 0 || part < 0 ? MC_UNKNOWN : *sum + part;
}

static void add_totals(struct mc_call_totals *sum, const struct mc_call_totals *part)
{
    sum->calls += part->calls;
    add_known(&sum->usage.input, part->usage.input);
    add_known(&sum->usage.cached_input, part->usage.cached_input);
    add_known(&sum->usage.output, part->usage.output);
    add_known(&sum->usage.reasoning, part->usage.reasoning);
    sum->cost_usd += part->cost_usd; /* NaN, once it is in, stays */
}

static json_t *cost_json(double cost)
{
    return isnan(cost) ? json_null() : json_real(cost);
}

static struct column *find_column(struct making *making, const char *harness)
{
    for (size_t i = 0; i < making->column_count; i++) {
        if (mc_streq(making->columns[i].name, harness)) {
            return &making->columns[i];
        }
    }
    return NULL;
}

static int begin(struct making *making)
{
    const json_t *entrants = json_object_get(making->run->manifest, "entrants");
    size_t count = json_array_size(entrants);
    making->columns = mc_alloc(count + 1, sizeof *making->columns);
    for (size_t i = 0; i < count; i++) {
        const json_t *entrant = json_array_get(entrants, i);
        const char *name = json_string_value(json_object_get(json_object_get(entrant, "harness"), "name"));
        if (!name) {
            return mc_fail(making->err, MC_INPUT, "the manifest of the run %s names no harness at .entrants[%zu]",
                           making->run->id, i);
        }
        making->columns[making->column_count++] = (struct column){.entrant = entrant,
                                                                  .name = name,
                                                                  .metrics = mc_metrics_new(),
                                                                  .ended = json_object(),
                                                                  .scores = json_array()};
    }
    return mc_grading_find(making->store, making->run->id, making->as_of, &making->grading, making->err);
}

static void release(struct making *making)
{
    for (size_t i = 0; i < making->column_count; i++) {
        mc_metrics_free(making->columns[i].metrics);
        json_decref(making->columns[i].ended);
        json_decref(making->columns[i].scores);
        free(making->columns[i].latencies);
    }
    free(making->columns);
    free(making->last_attempt);
    json_decref(making->trials);
    mc_grading_release(&making->grading);
}

/* ---- answers ---- */

static void add_latency(struct column *column, int64_t latency_ms)
{
    column->latencies =
        mc_grow(column->latencies, column->latency_count, &column->latency_cap, sizeof *column->latencies);
    column->latencies[column->latency_count++] = latency_ms;
}

static size_t count_reviewed(const struct mc_answer_grade *grade)
{
    const struct mc_slot_grades *lists[] = {&grade->slots, &grade->options, &grade->traps};
    size_t count = 0;
    for (size_t l = 0; l < MC_COUNT(lists); l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            count += mc_streq(lists[l]->items[i].source, "review") ? 1 : 0;
        }
    }
    return count;
}

static json_t *answer_json(const struct making *making, const struct mc_answer_record *answer,
                           const struct mc_judged *judged)
{
    MC_AUTOFREE char *id = mc_strf("%s/%s", making->trial->id, answer->checkpoint);
    json_t *grade = judged->object ? mc_judged_json(judged, making->as_of) : json_null();
    json_t *entry = json_pack("{ss ss ss ss? ss? so so so so ss? ss? ss?}", "id", id, "checkpoint", answer->checkpoint,
                              "ended", answer->ended, "answer", answer->answer, "reason", answer->reason, "latency_ms",
                              mc_count_json(answer->latency_ms), "model_calls", mc_count_json(answer->calls), "usage",
                              mc_usage_json(&answer->usage), "grade", grade, "grade_object",
                              judged->object ? judged->digest.hex : NULL, "question", judged->question, "asked_at",
                              judged->asked_at);
    return entry;
}

static int take_answer(void *payload, const struct mc_answer_record *answer)
{
    struct making *making = payload;
    MC_AUTOJUDGED struct mc_judged judged;
    int rc =
        mc_judged_load(making->store, making->grading.id, answer->attempt, answer->checkpoint, &judged, making->err);
    if (rc != 0) {
        return rc;
    }
    if (judged.object) {
        mc_judged_apply(&judged, making->as_of);
        struct mc_metric_sample sample = {judged.base_life, judged.life, making->trial->repetition, &judged.grade};
        mc_metrics_add(making->column->metrics, &sample);
        making->reviewed += count_reviewed(&judged.grade);
    } else {
        making->not_graded++;
    }
    if (answer->latency_ms >= 0) {
        add_latency(making->column, answer->latency_ms);
    }
    json_array_append_new(making->answers, answer_json(making, answer, &judged));
    return 0;
}

/* ---- trials ---- */

static int note_attempt(void *payload, const struct mc_attempt_record *attempt)
{
    struct making *making = payload;
    struct mc_call_totals totals;
    int rc = mc_calls_total(making->store, attempt->id, NULL, &totals, making->err);
    if (rc != 0) {
        return rc;
    }
    json_array_append_new(making->attempts,
                          json_pack("{ss sI ss? ss? so so so so so}", "id", attempt->id, "number",
                                    (json_int_t)attempt->number, "ended", attempt->ended, "reason", attempt->reason,
                                    "wall_ms", mc_count_json(attempt->wall_ms), "engine_calls",
                                    mc_count_json(attempt->engine_calls), "model_calls", json_integer(totals.calls),
                                    "usage", mc_usage_json(&totals.usage), "cost_usd", cost_json(totals.cost_usd)));
    /* Every attempt costs, the ones that did not count too. */
    add_totals(&making->column->totals, &totals);
    free(making->last_attempt);
    making->last_attempt = mc_strdup(attempt->id);
    making->last_wall_ms = attempt->wall_ms;
    return 0;
}

static void count_ended(struct column *column, const char *ended)
{
    const char *name = ended ? ended : "not run";
    json_int_t before = json_integer_value(json_object_get(column->ended, name));
    json_object_set_new(column->ended, name, json_integer(before + 1));
}

static int take_trial(void *payload, const struct mc_trial_record *record)
{
    struct making *making = payload;
    making->trial = record;
    making->column = find_column(making, record->harness);
    if (!making->column) {
        return mc_fail(making->err, MC_INPUT, "the manifest of the run %s has no harness \"%s\", but a trial has",
                       making->run->id, record->harness);
    }
    making->answers = json_array();
    making->attempts = json_array();
    count_ended(making->column, record->ended);
    int rc = mc_attempts_list(making->store, record->id, note_attempt, making, making->err);
    if (rc == 0 && making->last_attempt) {
        making->column->wall_ms += making->last_wall_ms > 0 ? making->last_wall_ms : 0;
        rc = mc_answers_list(making->store, making->last_attempt, take_answer, making, making->err);
    }
    json_array_append_new(
        making->trials, json_pack("{ss ss ss sI ss? ss? so so}", "id", record->id, "life", record->life, "harness",
                                  record->harness, "repetition", (json_int_t)record->repetition, "ended", record->ended,
                                  "reason", record->reason, "attempts", making->attempts, "answers", making->answers));
    free(mc_steal(&making->last_attempt));
    return rc;
}

/* ---- scores from elsewhere ---- */

struct scored {
    struct making *making;
    const struct mc_score_record *score;
};

/* The sum of one source of one scorer for one harness. */
static json_t *score_entry(struct column *column, const struct mc_score_record *score)
{
    size_t i;
    json_t *entry;
    json_array_foreach (column->scores, i, entry) {
        if (mc_streq(json_string_value(json_object_get(entry, "source")), score->source) &&
            mc_streq(json_string_value(json_object_get(entry, "by")), score->by)) {
            return entry;
        }
    }
    entry = json_pack("{ss ss? sI sI s{sI sI sI} sf}", "source", score->source, "by", score->by, "count", (json_int_t)0,
                      "scores", (json_int_t)0, "verdicts", "correct", (json_int_t)0, "missed", (json_int_t)0,
                      "misrepresented", (json_int_t)0, "mean", 0.0);
    json_array_append_new(column->scores, entry);
    return entry;
}

static void count_up(json_t *object, const char *key)
{
    json_object_set_new(object, key, json_integer(json_integer_value(json_object_get(object, key)) + 1));
}

static int match_trial(void *payload, const struct mc_trial_record *trial)
{
    const struct scored *scored = payload;
    const struct mc_score_record *score = scored->score;
    struct column *column = mc_streq(trial->id, score->trial) ? find_column(scored->making, trial->harness) : NULL;
    if (!column) {
        return 0;
    }
    json_t *entry = score_entry(column, score);
    count_up(entry, "count");
    if (score->verdict) {
        count_up(json_object_get(entry, "verdicts"), score->verdict);
    } else {
        double n = (double)json_integer_value(json_object_get(entry, "scores"));
        double mean = json_real_value(json_object_get(entry, "mean"));
        json_object_set_new(entry, "mean", json_real(mean + (score->score - mean) / (n + 1)));
        count_up(entry, "scores");
    }
    return 0;
}

static int take_score(void *payload, const struct mc_score_record *score)
{
    struct making *making = payload;
    struct mc_time at;
    int rc = mc_time_parse(score->at, &at, making->err);
    if (rc != 0 || (making->as_of && at.ms > making->as_of->ms)) {
        return rc;
    }
    struct scored scored = {making, score};
    return mc_trials_list(making->store, making->run->id, match_trial, &scored, making->err);
}

/* ---- harnesses ---- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Nearest-rank percentiles over the probes that were answered or tried; unknown where none was. */
static json_t *latency_json(struct column *column)
{
    size_t n = column->latency_count;
    if (n == 0) {
        return json_pack("{si sn sn sn}", "count", 0, "median", "p95", "max");
    }
    qsort(column->latencies, n, sizeof *column->latencies, by_size);
    size_t median = (n + 1) / 2 - 1;
    size_t p95 = (n * 95 + 99) / 100 - 1;
    return json_pack("{sI sI sI sI}", "count", (json_int_t)n, "median", (json_int_t)column->latencies[median], "p95",
                     (json_int_t)column->latencies[p95], "max", (json_int_t)column->latencies[n - 1]);
}

static json_t *harness_json(struct column *column)
{
    const json_t *harness = json_object_get(column->entrant, "harness");
    const json_t *model = json_object_get(column->entrant, "model");
    json_t *scores = json_array_size(column->scores) ? json_incref(column->scores) : NULL;
    return json_pack("{ss sO? sO? s{sO? sO?} so so so sI so so sI so*}", "name", column->name, "via",
                     json_object_get(harness, "via"), "provider", json_object_get(harness, "provider"), "model", "name",
                     json_object_get(model, "name"), "source", json_object_get(model, "source"), "trials",
                     json_incref(column->ended), "results",
                     mc_metrics_json(column->metrics, MC_LEVEL, MC_RESAMPLES, MC_RESAMPLE_SEED), "latency_ms",
                     latency_json(column), "model_calls", (json_int_t)column->totals.calls, "usage",
                     mc_usage_json(&column->totals.usage), "cost_usd", cost_json(column->totals.cost_usd), "wall_ms",
                     (json_int_t)column->wall_ms, "outside_scores", scores);
}

static json_t *harnesses_json(const struct making *making)
{
    json_t *list = json_array();
    for (size_t i = 0; i < making->column_count; i++) {
        if (json_object_size(making->columns[i].ended) > 0) {
            json_array_append_new(list, harness_json(&making->columns[i]));
        }
    }
    return list;
}

static json_t *comparisons_json(const struct making *making)
{
    json_t *list = json_array();
    for (size_t a = 0; a < making->column_count; a++) {
        for (size_t b = a + 1; b < making->column_count; b++) {
            const struct column *x = &making->columns[a];
            const struct column *y = &making->columns[b];
            if (mc_metrics_lives(x->metrics) == 0 || mc_metrics_lives(y->metrics) == 0) {
                continue;
            }
            struct mc_comparison comparison = mc_metrics_compare(x->metrics, y->metrics, MC_METRIC_SUCCESS, MC_ALPHA,
                                                                 MC_PERMUTATIONS, MC_RESAMPLE_SEED);
            MC_AUTOFREE char *text = mc_comparison_text(&comparison, x->name, y->name, MC_ALPHA);
            json_array_append_new(list, json_pack("{ss ss ss sf sf sI sb ss}", "a", x->name, "b", y->name, "metric",
                                                  mc_metric_name(MC_METRIC_SUCCESS), "difference",
                                                  comparison.difference, "p", comparison.p, "lives",
                                                  (json_int_t)comparison.lives, "told", comparison.told, "text", text));
        }
    }
    return list;
}

/* ---- the whole ---- */

static void add_unpinned(json_t *list, const json_t *image)
{
    const char *reference = json_string_value(json_object_get(image, "reference"));
    if (reference && !json_is_true(json_object_get(image, "pinned"))) {
        json_array_append_new(list, json_string(reference));
    }
}

static json_t *unpinned_json(const struct making *making)
{
    json_t *list = json_array();
    add_unpinned(list, json_object_get(making->run->manifest, "sidecar_image"));
    for (size_t i = 0; i < making->column_count; i++) {
        add_unpinned(list, json_object_get(making->columns[i].entrant, "harness_image"));
        add_unpinned(list, json_object_get(making->columns[i].entrant, "provider_image"));
    }
    return list;
}

static json_t *run_json(const struct mc_stored_run *run)
{
    return json_pack("{ss ss ss ss ss? so ss ss}", "id", run->id, "name", run->name, "state", run->state, "created",
                     run->created, "ended", run->ended, "exit_code", mc_count_json(run->exit_code), "manifest",
                     run->manifest_digest, "isolation", run->isolation);
}

static json_t *grading_json(const struct making *making)
{
    return json_pack("{sI ss ss? ss ss? sI sI}", "number", (json_int_t)making->grading.number, "rules",
                     making->grading.rules, "judge", making->grading.judge, "at",
                     mc_time_format(making->grading.at).text, "as_of",
                     making->as_of ? mc_time_format(*making->as_of).text : NULL, "reviewed",
                     (json_int_t)making->reviewed, "not_graded", (json_int_t)making->not_graded);
}

/* What the judge's calls used, over all gradings; NULL where it was never asked. */
static int judge_json(const struct making *making, json_t **out)
{
    struct mc_call_totals totals;
    int rc = mc_judge_calls_total(making->store, making->run->id, &totals, making->err);
    *out = rc == 0 && totals.calls > 0 ? json_pack("{sI so so}", "calls", (json_int_t)totals.calls, "usage",
                                                   mc_usage_json(&totals.usage), "cost_usd", cost_json(totals.cost_usd))
                                       : json_null();
    return rc;
}

int mc_results_make(struct mc_store *store, const struct mc_stored_run *run, const struct mc_time *as_of,
                    json_t **report, struct mc_err *err)
{
    struct making making = {.store = store, .run = run, .as_of = as_of, .trials = json_array(), .err = err};
    json_t *judge = NULL;
    int rc = begin(&making);
    rc = rc ? rc : mc_trials_list(store, run->id, take_trial, &making, err);
    rc = rc ? rc : mc_scores_list(store, run->id, take_score, &making, err);
    rc = rc ? rc : judge_json(&making, &judge);
    if (rc == 0) {
        *report = json_pack("{si ss ss so so so sO? sO? so so so so}", "format", 1, "memcal", MEMCAL_VERSION, "grader",
                            making.grading.rules, "grading", grading_json(&making), "judge", judge, "run",
                            run_json(run), "corpus", json_object_get(run->manifest, "corpus"), "engine",
                            json_object_get(run->manifest, "engine"), "harnesses", harnesses_json(&making),
                            "comparisons", comparisons_json(&making), "unpinned_images", unpinned_json(&making),
                            "trials", mc_steal(&making.trials));
    }
    release(&making);
    return rc;
}

int mc_results_write(struct mc_store *store, const struct mc_stored_run *run, json_t **report, char **path,
                     struct mc_err *err)
{
    MC_AUTOFREE char *dir = NULL;
    MC_AUTOJSON json_t *made = NULL;
    int rc = mc_store_run_dir(store, run->id, &dir, err);
    rc = rc ? rc : mc_results_make(store, run, NULL, &made, err);
    if (rc != 0) {
        return rc;
    }
    MC_AUTOFREE char *json_path = mc_path_join(dir, "report.json");
    MC_AUTOFREE char *markdown_path = mc_path_join(dir, "report.md");
    MC_AUTOFREE char *json_text = mc_json_pretty(made);
    MC_AUTOBUF struct mc_buf markdown = MC_BUF_OWN;
    mc_report_markdown(made, &markdown);
    rc = mc_fs_write(json_path, json_text, strlen(json_text), 0644, err);
    rc = rc ? rc : mc_fs_write(markdown_path, mc_buf_text(&markdown), markdown.len, 0644, err);
    if (rc == 0 && report) {
        *report = mc_steal(&made);
    }
    if (rc == 0 && path) {
        *path = mc_steal(&markdown_path);
    }
    return rc;
}

int mc_results_metrics(struct mc_store *store, const struct mc_stored_run *run, const char *harness,
                       const struct mc_time *as_of, struct mc_metrics **out, struct mc_err *err)
{
    struct making making = {.store = store, .run = run, .as_of = as_of, .trials = json_array(), .err = err};
    int rc = begin(&making);
    rc = rc ? rc : mc_trials_list(store, run->id, take_trial, &making, err);
    struct column *column = rc ? NULL : find_column(&making, harness);
    if (rc == 0 && !column) {
        mc_fail(err, MC_INPUT, "the run %s has no harness \"%s\"", run->id, harness);
        rc = mc_hint(err, "\"memcal show %s\" lists them", run->id);
    }
    if (column) {
        *out = mc_steal(&column->metrics);
    }
    release(&making);
    return rc;
}
