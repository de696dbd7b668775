#include "run/grade_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/results.h"

struct column {
    char *name;
    struct mc_metrics *metrics;
};

struct grading {
    const struct mc_grade_file *file;
    struct mc_rubrics *rubrics;
    struct mc_metrics *all;
    struct column *columns;
    size_t count;
    size_t capacity;
    json_int_t answers;
    json_int_t unjudged;
};

static int column_of(struct grading *grading, const char *harness, struct column **out, struct mc_err *err)
{
    for (size_t i = 0; i < grading->count; i++) {
        if (mc_streq(grading->columns[i].name, harness)) {
            *out = &grading->columns[i];
            return 0;
        }
    }
    if (grading->count == MC_GRADE_FILE_HARNESSES) {
        mc_fail(err, MC_LIMIT, "more than %d harnesses", MC_GRADE_FILE_HARNESSES);
        return mc_hint(err, "grade them in several files");
    }
    grading->columns = mc_grow(grading->columns, grading->count, &grading->capacity, sizeof *grading->columns);
    *out = &grading->columns[grading->count++];
    **out = (struct column){.name = mc_strdup(harness), .metrics = mc_metrics_new()};
    return 0;
}

/* What the line names must be in the corpus. */
static int find(struct grading *grading, const struct mc_answer *answer, struct mc_ruled *out, struct mc_err *err)
{
    const struct mc_ruled_life *life;
    const char *path = ".life";
    int rc = mc_rubrics_get(grading->rubrics, answer->life, &life, err);
    if (rc == 0) {
        path = ".checkpoint";
        rc = mc_rubrics_find(grading->rubrics, answer->life, answer->checkpoint, out, err);
    }
    if (rc != 0) {
        MC_AUTOFREE char *place = mc_strf("%s:%d: %s", grading->file->answers, answer->line, path);
        mc_wrap_place(err, place);
    }
    return rc;
}

static json_int_t count_unjudged(const struct mc_answer_grade *grade)
{
    json_int_t count = 0;
    for (size_t i = 0; i < grade->slots.count; i++) {
        const struct mc_slot_grade *slot = &grade->slots.items[i];
        count += slot->verdict == MC_VERDICT_UNGRADED && mc_streq(slot->source, "judge");
    }
    return count;
}

static int take(void *arg, const struct mc_answer *answer, struct mc_err *err)
{
    struct grading *grading = arg;
    const struct mc_grade_file *file = grading->file;
    MC_AUTOGRADE struct mc_answer_grade grade = {.checkpoint = NULL};
    struct mc_ruled ruled = {.life = NULL};
    struct column *column = NULL;
    int rc = find(grading, answer, &ruled, err);
    rc = rc ? rc : mc_grade_answer(ruled.rubric, &ruled.context, answer->answer, answer->ended, &grade, err);
    if (rc == 0 && file->asker && answer->ended == MC_ENDED_COMPLETED) {
        rc = mc_asker_grade(file->asker, NULL, ruled.rubric, &ruled.context, answer->answer, &grade, err);
    }
    rc = rc ? rc : column_of(grading, answer->harness, &column, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_metric_sample sample = {ruled.life->base, answer->life, answer->repetition, &grade};
    mc_metrics_add(grading->all, &sample);
    mc_metrics_add(column->metrics, &sample);
    grading->answers++;
    grading->unjudged += count_unjudged(&grade);
    return file->each ? file->each(file->payload, answer, &grade, err) : 0;
}

static json_t *metrics_json(const struct mc_metrics *metrics)
{
    return mc_metrics_json(metrics, MC_LEVEL, MC_RESAMPLES, MC_RESAMPLE_SEED);
}

static json_t *summary_json(const struct grading *grading)
{
    json_t *harnesses = json_array();
    for (size_t i = 0; i < grading->count; i++) {
        json_t *one = metrics_json(grading->columns[i].metrics);
        json_object_set_new(one, "name", json_string(grading->columns[i].name));
        json_array_append_new(harnesses, one);
    }
    json_t *summary = metrics_json(grading->all);
    json_object_set_new(summary, "answers", json_integer(grading->answers));
    json_object_set_new(summary, "unjudged", json_integer(grading->unjudged));
    json_object_set_new(summary, "harnesses", harnesses);
    return summary;
}

int mc_grade_file(const struct mc_grade_file *file, json_t **summary, struct mc_err *err)
{
    struct grading grading = {.file = file, .rubrics = mc_rubrics_new(file->corpus), .all = mc_metrics_new()};
    int rc = mc_answers_read(file->answers, mc_within(INT32_MAX, file->cancel), take, NULL, &grading, err);
    if (rc == 0) {
        *summary = summary_json(&grading);
    }
    for (size_t i = 0; i < grading.count; i++) {
        free(grading.columns[i].name);
        mc_metrics_free(grading.columns[i].metrics);
    }
    free(grading.columns);
    mc_metrics_free(grading.all);
    mc_rubrics_free(grading.rubrics);
    return rc;
}

json_t *mc_graded_answer_json(const struct mc_answer *answer, const struct mc_answer_grade *grade)
{
    json_t *json = mc_answer_grade_json(grade);
    json_object_set_new(json, "life", json_string(answer->life));
    json_object_set_new(json, "harness", answer->harness[0] ? json_string(answer->harness) : json_null());
    json_object_set_new(json, "repetition", json_integer((json_int_t)answer->repetition));
    return json;
}
