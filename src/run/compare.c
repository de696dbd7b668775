#include "run/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *corpus_name(const struct mc_stored_run *run)
{
    const char *name = json_string_value(json_object_get(json_object_get(run->manifest, "corpus"), "name"));
    return name ? name : "?";
}

int mc_cell_find(struct mc_store *store, const char *given, struct mc_stored_run *run, char **harness,
                 struct mc_err *err)
{
    const char *first = strchr(given, '/');
    const char *last = strrchr(given, '/');
    if (!first || first == last || first == given || last == first + 1 || !last[1]) {
        mc_fail(err, MC_INPUT, "\"%s\" is no cell", given);
        return mc_hint(err, "write it as RUN/CORPUS/HARNESS, such as last/quickstart/hermes-fts");
    }
    MC_AUTOFREE char *id = mc_strndup(given, (size_t)(first - given));
    MC_AUTOFREE char *corpus = mc_strndup(first + 1, (size_t)(last - first - 1));
    int rc = mc_stored_run_load(store, id, run, err);
    if (rc == 0 && !mc_streq(corpus, corpus_name(run))) {
        mc_fail(err, MC_INPUT, "the run %s is of the corpus \"%s\", not of \"%s\"", run->id, corpus_name(run), corpus);
        rc = mc_hint(err, "write the cell as %s/%s/%s", id, corpus_name(run), last + 1);
        mc_stored_run_release(run);
    }
    if (rc == 0) {
        *harness = mc_strdup(last + 1);
    }
    return rc;
}

int mc_cell_load(struct mc_store *store, const char *given, const struct mc_time *as_of, struct mc_cell *out,
                 struct mc_err *err)
{
    *out = (struct mc_cell){.harness = NULL};
    int rc = mc_cell_find(store, given, &out->run, &out->harness, err);
    rc = rc ? rc : mc_results_metrics(store, &out->run, out->harness, as_of, &out->metrics, err);
    if (rc != 0) {
        mc_cell_release(out);
        return rc;
    }
    out->name = mc_strf("%s/%s/%s", out->run.id, corpus_name(&out->run), out->harness);
    return 0;
}

void mc_cell_release(struct mc_cell *cell)
{
    mc_stored_run_release(&cell->run);
    mc_metrics_free(cell->metrics);
    free(cell->harness);
    free(cell->name);
    *cell = (struct mc_cell){.harness = NULL};
}

static json_t *cell_json(const struct mc_cell *cell, const char *label)
{
    json_t *json = mc_metrics_json(cell->metrics, MC_LEVEL, MC_RESAMPLES, MC_RESAMPLE_SEED);
    json_object_set_new(json, "cell", json_string(cell->name));
    json_object_set_new(json, "name", json_string(label));
    json_object_set_new(json, "corpus", json_string(cell->run.corpus));
    return json;
}

static json_t *comparison_json(const struct mc_cell *a, const struct mc_cell *b, enum mc_metric metric,
                               const char *label_a, const char *label_b)
{
    struct mc_comparison c =
        mc_metrics_compare(a->metrics, b->metrics, metric, MC_ALPHA, MC_PERMUTATIONS, MC_RESAMPLE_SEED);
    MC_AUTOFREE char *text = mc_comparison_text(&c, label_a, label_b, MC_ALPHA);
    return json_pack("{ss sf sf sI sb sb ss}", "metric", mc_metric_name(metric), "difference", c.difference, "p", c.p,
                     "lives", (json_int_t)c.lives, "exact", c.exact, "told", c.told, "text", text);
}

json_t *mc_cells_compare(const struct mc_cell *a, const struct mc_cell *b)
{
    /* Two harnesses of one run go by their own names; else by run and harness. */
    int same_run = mc_streq(a->run.id, b->run.id);
    MC_AUTOFREE char *label_a = same_run ? mc_strdup(a->harness) : mc_strf("%s/%s", a->run.id, a->harness);
    MC_AUTOFREE char *label_b = same_run ? mc_strdup(b->harness) : mc_strf("%s/%s", b->run.id, b->harness);
    json_t *comparisons = json_array();
    for (int m = 0; m < MC_METRIC_COUNT; m++) {
        double ignored;
        if (mc_metrics_mean(a->metrics, (enum mc_metric)m, &ignored) &&
            mc_metrics_mean(b->metrics, (enum mc_metric)m, &ignored)) {
            json_array_append_new(comparisons, comparison_json(a, b, (enum mc_metric)m, label_a, label_b));
        }
    }
    return json_pack("{s[oo] so sb}", "cells", cell_json(a, label_a), cell_json(b, label_b), "comparisons", comparisons,
                     "same_corpus", mc_streq(a->run.corpus, b->run.corpus));
}
