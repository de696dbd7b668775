#include "run/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "grade/metrics.h"
#include "grade/rubric.h"
#include "grade/verdict.h"
#include "store/objects.h"
#include "store/records.h"

#define GRADER "rules/1"

enum { RESAMPLES = 2000, SEED = 1 };
static const double level = 0.95;

/* What is added up for one harness. */
struct column {
    struct mc_metrics *metrics;
    int64_t *latencies;
    size_t latency_count;
    size_t latency_cap;
    struct mc_call_totals totals; /* over all its final attempts */
    int64_t wall_ms;
    json_t *ended; /* {how: count} over trials */
};

struct making {
    struct mc_store *store;
    const struct mc_plan *plan;
    struct column *columns; /* one for each entrant */
    json_t *trials;
    struct mc_err *err;
    /* The trial in hand. */
    const struct mc_planned_trial *trial;
    struct mc_life *life;
    struct mc_rubric rubric;
    char *base_life;
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

static const struct mc_checkpoint *find_checkpoint(const struct mc_life *life, const char *id)
{
    for (size_t i = 0; i < life->checkpoint_count; i++) {
        if (mc_streq(life->checkpoints[i].id, id)) {
            return &life->checkpoints[i];
        }
    }
    return NULL;
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

static int keep_grade(struct making *making, const struct mc_answer_record *answer, const json_t *grade,
                      struct mc_digest *digest)
{
    MC_AUTOFREE char *text = mc_json_text(grade);
    int rc = mc_object_put(making->store, "grade", text, strlen(text), digest, making->err);
    struct mc_grade_record row = {
        .attempt = answer->attempt, .checkpoint = answer->checkpoint, .grader = GRADER, .grade = digest->hex};
    return rc ? rc : mc_grades_put(making->store, &row, making->err);
}

static json_t *answer_json(const struct mc_answer_record *answer, const struct mc_checkpoint *checkpoint, json_t *grade,
                           const struct mc_digest *digest)
{
    json_t *entry =
        json_pack("{ss ss ss ss? ss? so so so so ss}", "checkpoint", answer->checkpoint, "question",
                  checkpoint->question, "ended", answer->ended, "answer", answer->answer, "reason", answer->reason,
                  "latency_ms", mc_count_json(answer->latency_ms), "model_calls", mc_count_json(answer->calls), "usage",
                  mc_usage_json(&answer->usage), "grade", grade, "grade_object", digest->hex);
    json_object_set_new(entry, "asked_at", json_string(mc_time_format(checkpoint->at).text));
    return entry;
}

static void add_latency(struct column *column, int64_t latency_ms)
{
    column->latencies =
        mc_grow(column->latencies, column->latency_count, &column->latency_cap, sizeof *column->latencies);
    column->latencies[column->latency_count++] = latency_ms;
}

static int grade_one(void *payload, const struct mc_answer_record *answer)
{
    struct making *making = payload;
    const struct mc_checkpoint *checkpoint = find_checkpoint(making->life, answer->checkpoint);
    const struct mc_rubric_checkpoint *rubric = mc_rubric_find(&making->rubric, answer->checkpoint);
    if (!checkpoint || !rubric) {
        return mc_fail(making->err, MC_INPUT, "the life %s has no rubric for the checkpoint %s", making->life->id,
                       answer->checkpoint);
    }
    struct mc_grade_context context = {
        .zone = making->life->zone, .asked_at = checkpoint->at, .question = checkpoint->question};
    MC_AUTOGRADE struct mc_answer_grade grade = {.checkpoint = NULL};
    int rc = mc_grade_answer(rubric, &context, answer->answer, ended_of(answer->ended), &grade, making->err);
    if (rc != 0) {
        return rc;
    }
    struct column *column = &making->columns[making->trial->entrant];
    struct mc_metric_sample sample = {making->base_life, making->life->id, making->trial->repetition, &grade};
    mc_metrics_add(column->metrics, &sample);
    if (answer->latency_ms >= 0) {
        add_latency(column, answer->latency_ms);
    }
    json_t *body = mc_answer_grade_json(&grade);
    struct mc_digest digest;
    rc = keep_grade(making, answer, body, &digest);
    if (rc != 0) {
        json_decref(body);
        return rc;
    }
    json_array_append_new(making->answers, answer_json(answer, checkpoint, body, &digest));
    return 0;
}

static int note_attempt(void *payload, const struct mc_attempt_record *attempt)
{
    struct making *making = payload;
    struct mc_call_totals totals;
    int rc = mc_calls_total(making->store, attempt->id, NULL, &totals, making->err);
    if (rc != 0) {
        return rc;
    }
    json_t *cost = isnan(totals.cost_usd) ? json_null() : json_real(totals.cost_usd);
    json_array_append_new(making->attempts,
                          json_pack("{ss sI ss? ss? so so so so so}", "id", attempt->id, "number",
                                    (json_int_t)attempt->number, "ended", attempt->ended, "reason", attempt->reason,
                                    "wall_ms", mc_count_json(attempt->wall_ms), "engine_calls",
                                    mc_count_json(attempt->engine_calls), "model_calls", json_integer(totals.calls),
                                    "usage", mc_usage_json(&totals.usage), "cost_usd", cost));
    /* Every attempt costs, the ones that did not count too. */
    struct column *column = &making->columns[making->trial->entrant];
    add_totals(&column->totals, &totals);
    free(making->last_attempt);
    making->last_attempt = mc_strdup(attempt->id);
    making->last_wall_ms = attempt->wall_ms;
    return 0;
}

static int open_life(struct making *making)
{
    const struct mc_corpus *corpus = making->plan->corpus;
    int rc = mc_life_load(corpus, making->trial->life, &making->life, making->err);
    rc = rc ? rc : mc_corpus_base(corpus, making->trial->life, &making->base_life, making->err);
    if (rc != 0) {
        return rc;
    }
    MC_AUTODOC struct mc_doc doc;
    memset(&doc, 0, sizeof doc);
    rc = mc_life_rubric(making->life, &doc, making->err);
    if (rc == 0) {
        struct mc_view root = mc_doc_view(&doc);
        rc = mc_rubric_read(&root, NULL, NULL, &making->rubric, making->err);
    }
    return rc;
}

static void close_life(struct making *making)
{
    mc_rubric_release(&making->rubric);
    memset(&making->rubric, 0, sizeof making->rubric);
    mc_life_free(mc_steal(&making->life));
    free(mc_steal(&making->base_life));
    free(mc_steal(&making->last_attempt));
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
    making->trial = &making->plan->trials[record->ordinal - 1];
    making->answers = json_array();
    making->attempts = json_array();
    struct column *column = &making->columns[making->trial->entrant];
    count_ended(column, record->ended);
    int rc = open_life(making);
    rc = rc ? rc : mc_attempts_list(making->store, record->id, note_attempt, making, making->err);
    if (rc == 0 && making->last_attempt) {
        column->wall_ms += making->last_wall_ms > 0 ? making->last_wall_ms : 0;
        rc = mc_answers_list(making->store, making->last_attempt, grade_one, making, making->err);
    }
    json_array_append_new(
        making->trials, json_pack("{ss ss ss sI ss? ss? so so}", "id", record->id, "life", record->life, "harness",
                                  record->harness, "repetition", (json_int_t)record->repetition, "ended", record->ended,
                                  "reason", record->reason, "attempts", making->attempts, "answers", making->answers));
    close_life(making);
    return rc;
}

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

static json_t *harness_json(const struct making *making, size_t index)
{
    struct column *column = &making->columns[index];
    const struct mc_entrant *entrant = &making->plan->runfile.entrants[index];
    MC_AUTOFREE char *source = mc_model_source(entrant->model);
    json_t *cost = isnan(column->totals.cost_usd) ? json_null() : json_real(column->totals.cost_usd);
    return json_pack("{ss ss ss? s{ss ss} so so so sI so so sI}", "name", entrant->harness.name, "via",
                     mc_via_name(entrant->harness.via), "provider", entrant->harness.provider, "model", "name",
                     entrant->model->name, "source", source, "trials", json_incref(column->ended), "results",
                     mc_metrics_json(column->metrics, level, RESAMPLES, SEED), "latency_ms", latency_json(column),
                     "model_calls", (json_int_t)column->totals.calls, "usage", mc_usage_json(&column->totals.usage),
                     "cost_usd", cost, "wall_ms", (json_int_t)column->wall_ms);
}

static json_t *comparisons_json(const struct making *making)
{
    static const double alpha = 0.05;
    json_t *list = json_array();
    for (size_t a = 0; a < making->plan->runfile.entrant_count; a++) {
        for (size_t b = a + 1; b < making->plan->runfile.entrant_count; b++) {
            const char *name_a = making->plan->runfile.entrants[a].harness.name;
            const char *name_b = making->plan->runfile.entrants[b].harness.name;
            if (mc_metrics_lives(making->columns[a].metrics) == 0 ||
                mc_metrics_lives(making->columns[b].metrics) == 0) {
                continue;
            }
            struct mc_comparison comparison = mc_metrics_compare(making->columns[a].metrics, making->columns[b].metrics,
                                                                 MC_METRIC_SUCCESS, alpha, RESAMPLES * 5, SEED);
            MC_AUTOFREE char *text = mc_comparison_text(&comparison, name_a, name_b, alpha);

            json_array_append_new(list, json_pack("{ss ss ss sf sf sI sb ss}", "a", name_a, "b", name_b, "metric",
                                                  mc_metric_name(MC_METRIC_SUCCESS), "difference",
                                                  comparison.difference, "p", comparison.p, "lives",
                                                  (json_int_t)comparison.lives, "told", comparison.told, "text", text));
        }
    }
    return list;
}

struct run_row {
    json_t *json;
};

static int take_run(void *payload, const struct mc_run_record *run)
{
    struct run_row *row = payload;
    row->json = json_pack("{ss ss ss ss ss? so ss ss}", "id", run->id, "name", run->name, "state", run->state,
                          "created", run->created, "ended", run->ended, "exit_code", mc_count_json(run->exit_code),
                          "manifest", run->manifest, "isolation", run->isolation);
    return 0;
}

static json_t *unpinned_json(const struct mc_plan *plan)
{
    json_t *list = json_array();
    const struct mc_found_image *one = &plan->sidecar;
    if (one->reference && !one->pinned) {
        json_array_append_new(list, json_string(one->reference));
    }
    for (size_t i = 0; i < plan->runfile.entrant_count; i++) {
        const struct mc_found_image *both[] = {&plan->harness_images[i], &plan->provider_images[i]};
        for (size_t j = 0; j < MC_COUNT(both); j++) {
            if (both[j]->reference && !both[j]->pinned) {
                json_array_append_new(list, json_string(both[j]->reference));
            }
        }
    }
    return list;
}

static json_t *harnesses_json(const struct making *making)
{
    json_t *list = json_array();
    for (size_t i = 0; i < making->plan->runfile.entrant_count; i++) {
        if (json_object_size(making->columns[i].ended) > 0) {
            json_array_append_new(list, harness_json(making, i));
        }
    }
    return list;
}

int mc_results_make(struct mc_store *store, const struct mc_plan *plan, const char *run, json_t **report,
                    struct mc_err *err)
{
    size_t count = plan->runfile.entrant_count;
    struct making making = {.store = store, .plan = plan, .err = err, .trials = json_array()};
    making.columns = mc_alloc(count, sizeof *making.columns);
    for (size_t i = 0; i < count; i++) {
        making.columns[i].metrics = mc_metrics_new();
        making.columns[i].ended = json_object();
    }
    struct run_row row = {.json = NULL};
    int rc = mc_runs_list(store, run, take_run, &row, err);
    rc = rc ? rc : mc_trials_list(store, run, take_trial, &making, err);
    if (rc == 0) {
        json_t *corpus = json_deep_copy(json_object_get(plan->manifest, "corpus"));
        json_t *engine = json_deep_copy(json_object_get(plan->manifest, "engine"));
        *report = json_pack("{si ss ss so so so so so so so}", "format", 1, "memcal", MEMCAL_VERSION, "grader", GRADER,
                            "run", mc_steal(&row.json), "corpus", corpus, "engine", engine, "harnesses",
                            harnesses_json(&making), "comparisons", comparisons_json(&making), "unpinned_images",
                            unpinned_json(plan), "trials", mc_steal(&making.trials));
    }
    json_decref(row.json);
    json_decref(making.trials);
    for (size_t i = 0; i < count; i++) {
        mc_metrics_free(making.columns[i].metrics);
        json_decref(making.columns[i].ended);
        free(making.columns[i].latencies);
    }
    free(making.columns);
    return rc;
}
