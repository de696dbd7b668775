/*
 * Gradings, revisions, reviews, scores and the judge's calls in the store, and what results are made of them, on a run
 * that no engine made.
 */
#include <sqlite3.h>

#include "corpus_help.h"
#include "run/compare.h"
#include "run/grading.h"
#include "run/results.h"
#include "run/review.h"
#include "run/scores.h"
#include "run/stored.h"
#include "run/verdicts.h"
#include "store/gradings.h"
#include "store/objects.h"
#include "support/stored_run.h"

static const char answers_text[] =
    "{\"life\":\"choir-move\",\"checkpoint\":\"before/where\",\"answer\":\"The Larch Street "
    "chapel.\",\"harness\":\"a\"}\n"
    "{\"life\":\"choir-move\",\"checkpoint\":\"after/scarf\",\"answer\":\"Where you drove home.\",\"harness\":\"a\"}\n"
    "{\"life\":\"choir-move\",\"checkpoint\":\"before/where\",\"ended\":\"failed\",\"harness\":\"b\"}\n";

struct scene {
    char *folder;
    struct mc_store *store;
    struct mc_stored_run run;
};

static void begin(struct scene *scene)
{
    struct mc_err err;
    *scene = (struct scene){.folder = new_folder()};
    put(scene->folder, "answers.jsonl", answers_text, strlen(answers_text));
    MC_AUTOFREE char *answers = mc_path_join(scene->folder, "answers.jsonl");
    MC_AUTOFREE char *store = mc_path_join(scene->folder, "store");
    struct stored_run wish = {.id = "r1", .corpus = SMALL, .answers = answers};
    assert_int_equal(mc_store_open(store, &scene->store, &err), 0);
    assert_int_equal(stored_run_make(scene->store, &wish, &err), 0);
    assert_int_equal(mc_stored_run_load(scene->store, "r1", &scene->run, &err), 0);
}

static void end(struct scene *scene)
{
    mc_stored_run_release(&scene->run);
    mc_store_close(scene->store);
    remove_folder(scene->folder);
}

static int64_t grade(struct scene *scene)
{
    struct mc_err err;
    struct mc_grading_options options = {.store = scene->store, .run = &scene->run};
    struct mc_grading_result result;
    assert_int_equal(mc_grading_make(&options, &result, &err), 0);
    assert_int_equal(result.answers, 3);
    assert_int_equal(json_array_size(result.changes), 0);
    int64_t number = result.number;
    mc_grading_result_release(&result);
    return number;
}

static void judged(struct scene *scene, const char *attempt, const char *checkpoint, struct mc_judged *out)
{
    struct mc_err err;
    MC_AUTOGRADING struct mc_grading_in_force grading;
    assert_int_equal(mc_grading_find(scene->store, "r1", NULL, &grading, &err), 0);
    assert_int_equal(mc_judged_load(scene->store, grading.id, attempt, checkpoint, out, &err), 0);
    assert_non_null(out->object);
}

static void gradings_add_up_and_change_nothing(void **state)
{
    (void)state;
    struct scene scene;
    struct mc_err err;
    begin(&scene);
    MC_AUTOGRADING struct mc_grading_in_force none;
    assert_int_equal(mc_grading_find(scene.store, "r1", NULL, &none, &err), MC_NOT_FOUND);
    assert_string_equal(err.text, "the run r1 has not been graded");
    assert_int_equal(grade(&scene), 1);
    assert_int_equal(grade(&scene), 2);
    MC_AUTOJUDGED struct mc_judged one;
    judged(&scene, "r1-t1-a1", "after/scarf", &one);
    assert_int_equal(one.slot_count, 1);
    assert_string_equal(one.slots[0].slot, "where");
    assert_int_equal(one.slots[0].history.count, 1);
    assert_int_equal(one.slots[0].history.items[0].source, MC_SOURCE_MATCHER);
    assert_int_equal(one.slots[0].history.items[0].verdict, MC_VERDICT_MISSED);
    assert_string_equal(one.base_life, "choir-move");
    assert_string_equal(one.family, "choir");
    assert_string_equal(one.question, "Do you know where my scarf is?");
    assert_string_equal(one.asked_at, "2026-11-02T09:05:00-05:00");
    end(&scene);
}

static void a_grade_reads_back_as_it_was(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    grade(&scene);
    MC_AUTOJUDGED struct mc_judged one;
    judged(&scene, "r1-t1-a1", "before/where", &one);
    MC_AUTOJSON json_t *again = mc_answer_grade_json(&one.grade);
    assert_true(json_equal(again, json_object_get(one.object, "grade")));
    assert_int_equal(one.grade.slots.items[0].quote_count, 1);
    assert_null(mc_answer_grade_slot(&one.grade, "nothing"));
    end(&scene);
}

static void what_is_no_grade_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *message;
    } cases[] = {
        {"[]", ".: must be an object"},
        {"{\"checkpoint\":\"c\"}", "\"mode\" is missing"},
        {"{\"checkpoint\":\"c\",\"mode\":\"fact\",\"ended\":\"completed\",\"complete\":true,\"abstained\":false,"
         "\"options_found\":0,\"options_total\":0,\"slots\":[{\"id\":\"s\",\"kind\":\"now\"}],\"options\":[],"
         "\"trap_slots\":[]}",
         ".slots[0].kind"},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err;
        struct mc_source source = {.name = "grade"};
        MC_AUTOJSON json_t *json = mc_json_parse(cases[i].json, strlen(cases[i].json), &source, &err);
        assert_non_null(json);
        struct mc_view view = mc_view_root(&source, json);
        struct mc_answer_grade grade_out;
        assert_int_equal(mc_answer_grade_read(&view, &grade_out, &err), MC_INPUT);
        if (!strstr(err.text, cases[i].message)) {
            fail_msg("%s", err.text);
        }
    }
}

static void verdicts_are_never_changed(void **state)
{
    (void)state;
    struct scene scene;
    struct mc_err err;
    begin(&scene);
    grade(&scene);
    struct mc_revision_record again = {.attempt = "r1-t1-a1",
                                       .checkpoint = "after/scarf",
                                       .slot = "where",
                                       .number = 1,
                                       .verdict = "correct",
                                       .source = "review",
                                       .reason = "no",
                                       .by = "x",
                                       .at = "2026-01-01T00:00:00Z",
                                       .grading = -1};
    assert_int_equal(mc_revisions_add(scene.store, &again, &err), MC_EXISTS);
    assert_string_equal(err.text, "the verdict on where of after/scarf has a revision 1 already");
    MC_AUTOFREE char *path = mc_strf("%s/memcal.db", mc_store_dir(scene.store));
    sqlite3 *db = NULL;
    char *text = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE revisions SET verdict = 'correct'", NULL, NULL, &text),
                     SQLITE_CONSTRAINT);
    assert_string_equal(text, "a verdict is never changed");
    sqlite3_free(text);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM revisions", NULL, NULL, &text), SQLITE_CONSTRAINT);
    assert_string_equal(text, "a verdict is never removed");
    sqlite3_free(text);
    sqlite3_close(db);
    end(&scene);
}

static void a_review_is_the_next_revision(void **state)
{
    (void)state;
    struct scene scene;
    struct mc_err err;
    begin(&scene);
    grade(&scene);
    struct mc_review review = {.answer = "t1/after/scarf",
                               .slot = "where",
                               .verdict = MC_VERDICT_CORRECT,
                               .reason = "it is the car",
                               .by = "ana",
                               .expect = 1};
    MC_AUTOJSON json_t *added = NULL;
    assert_int_equal(mc_review_add(scene.store, &scene.run, &review, &added, &err), 0);
    assert_int_equal(json_integer_value(json_object_get(added, "revision")), 2);
    assert_string_equal(json_string_value(json_object_get(added, "answer")), "r1-t1/after/scarf");
    json_t *refused = NULL;
    assert_int_equal(mc_review_add(scene.store, &scene.run, &review, &refused, &err), MC_MISMATCH);
    assert_null(refused);
    MC_AUTOJUDGED struct mc_judged one;
    judged(&scene, "r1-t1-a1", "after/scarf", &one);
    assert_int_equal(one.grade.slots.items[0].verdict, MC_VERDICT_MISSED);
    mc_judged_apply(&one, NULL);
    assert_int_equal(one.grade.slots.items[0].verdict, MC_VERDICT_CORRECT);
    assert_string_equal(one.grade.slots.items[0].source, "review");
    assert_true(one.grade.complete);
    /* As of the moment of the first revision the review is not there yet. */
    MC_AUTOJUDGED struct mc_judged before;
    judged(&scene, "r1-t1-a1", "after/scarf", &before);
    struct mc_time then = before.slots[0].history.items[0].at;
    mc_judged_apply(&before, &then);
    assert_int_equal(before.grade.slots.items[0].verdict,
                     before.slots[0].history.items[1].at.ms == then.ms ? MC_VERDICT_CORRECT : MC_VERDICT_MISSED);
    grade(&scene);
    MC_AUTOJUDGED struct mc_judged after;
    judged(&scene, "r1-t1-a1", "after/scarf", &after);
    assert_int_equal(after.slots[0].history.count, 2);
    end(&scene);
}

static void answer_ids(void **state)
{
    (void)state;
    struct scene scene;
    struct mc_err err;
    begin(&scene);
    static const char *const names[] = {"r1-t2/before/where", "t2/before/where", "t2-a1/before/where",
                                        "r1-t2-a1/before/where"};
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        MC_AUTOANSWERID struct mc_answer_id id;
        assert_int_equal(mc_answer_id_find(scene.store, "r1", names[i], &id, &err), 0);
        assert_string_equal(id.id, "r1-t2/before/where");
        assert_string_equal(id.attempt, "r1-t2-a1");
        assert_string_equal(id.harness, "b");
        assert_int_equal(id.repetition, 1);
    }
    struct mc_answer_id id;
    assert_int_equal(mc_answer_id_find(scene.store, "r1", "t3/before/where", &id, &err), MC_INPUT);
    assert_string_equal(err.text, "the run r1 has no attempt of a trial \"t3\"");
    assert_int_equal(mc_answer_id_find(scene.store, "r1", "t2/", &id, &err), MC_INPUT);
    assert_string_equal(err.text, "\"t2/\" is no answer's ID");
    end(&scene);
}

static void results_come_from_the_store(void **state)
{
    (void)state;
    struct scene scene;
    struct mc_err err;
    begin(&scene);
    grade(&scene);
    MC_AUTOJSON json_t *report = NULL;
    MC_AUTOFREE char *path = NULL;
    assert_int_equal(mc_results_write(scene.store, &scene.run, &report, &path, &err), 0);
    assert_true(mc_fs_exists(path));
    const json_t *harnesses = json_object_get(report, "harnesses");
    assert_int_equal(json_array_size(harnesses), 2);
    const json_t *tally = json_object_get(json_object_get(json_array_get(harnesses, 0), "results"), "tally");
    assert_int_equal(json_integer_value(json_object_get(tally, "answers")), 2);
    assert_int_equal(json_integer_value(json_object_get(tally, "complete")), 1);
    assert_true(json_is_null(json_object_get(report, "judge")));
    struct mc_metrics *metrics = NULL;
    assert_int_equal(mc_results_metrics(scene.store, &scene.run, "c", NULL, &metrics, &err), MC_INPUT);
    assert_string_equal(err.text, "the run r1 has no harness \"c\"");
    struct mc_cell cell;
    assert_int_equal(mc_cell_load(scene.store, "r1/small/a", NULL, &cell, &err), 0);
    assert_string_equal(cell.name, "r1/small/a");
    mc_cell_release(&cell);
    end(&scene);
}

static void judge_calls_are_summed_and_found(void **state)
{
    (void)state;
    struct scene scene;
    struct mc_err err;
    begin(&scene);
    struct mc_digest request;
    struct mc_digest response;
    assert_int_equal(mc_object_put(scene.store, "judge.request", "q", 1, &request, &err), 0);
    assert_int_equal(mc_object_put(scene.store, "judge.response", "a", 1, &response, &err), 0);
    struct mc_judge_call_record call = {.run = "r1",
                                        .checkpoint = "c",
                                        .model = "m",
                                        .upstream = "http://one",
                                        .status = 500,
                                        .request = request.hex,
                                        .response = response.hex,
                                        .usage = {10, 0, 5, 0},
                                        .cost_usd = 0.5,
                                        .error = "the server answered 500"};
    struct mc_digest found;
    assert_int_equal(mc_judge_calls_add(scene.store, &call, &err), 0);
    assert_int_equal(mc_judge_calls_find(scene.store, request.hex, "http://one", &found, &err), 0);
    call.error = NULL;
    assert_int_equal(mc_judge_calls_add(scene.store, &call, &err), 0);
    assert_int_equal(mc_judge_calls_find(scene.store, request.hex, "http://one", &found, &err), 1);
    assert_string_equal(found.hex, response.hex);
    assert_int_equal(mc_judge_calls_find(scene.store, request.hex, "http://two", &found, &err), 0);
    struct mc_call_totals totals;
    assert_int_equal(mc_judge_calls_total(scene.store, "r1", &totals, &err), 0);
    assert_int_equal(totals.calls, 2);
    assert_int_equal(totals.usage.input, 20);
    assert_true(totals.cost_usd == 1.0);
    call.usage = MC_USAGE_UNKNOWN;
    assert_int_equal(mc_judge_calls_add(scene.store, &call, &err), 0);
    assert_int_equal(mc_judge_calls_total(scene.store, "r1", &totals, &err), 0);
    assert_int_equal(totals.usage.input, MC_UNKNOWN);
    end(&scene);
}

static void a_bad_file_of_scores_leaves_nothing(void **state)
{
    (void)state;
    struct scene scene;
    struct mc_err err;
    begin(&scene);
    grade(&scene);
    static const char text[] = "{\"trial\":\"r1-t1\",\"checkpoint\":\"after/scarf\",\"score\":1}\n"
                               "{\"trial\":\"r1-t1\",\"checkpoint\":\"after/scarf\",\"score\":-1}\n";
    put(scene.folder, "scores.jsonl", text, strlen(text));
    MC_AUTOFREE char *path = mc_path_join(scene.folder, "scores.jsonl");
    struct mc_scores_result result;
    assert_int_equal(mc_scores_import(scene.store, &scene.run, path, "official", &result, &err), MC_INPUT);
    assert_non_null(strstr(err.text, "scores.jsonl:2: .score: the score -1 is not between 0 and 1"));
    put(scene.folder, "scores.jsonl", text, strcspn(text, "\n"));
    assert_int_equal(mc_scores_import(scene.store, &scene.run, path, "official", &result, &err), 0);
    assert_int_equal(result.added, 1);
    assert_int_equal(result.known, 0);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradings_add_up_and_change_nothing), cmocka_unit_test(a_grade_reads_back_as_it_was),
        cmocka_unit_test(what_is_no_grade_is_refused),        cmocka_unit_test(verdicts_are_never_changed),
        cmocka_unit_test(a_review_is_the_next_revision),      cmocka_unit_test(answer_ids),
        cmocka_unit_test(results_come_from_the_store),        cmocka_unit_test(judge_calls_are_summed_and_found),
        cmocka_unit_test(a_bad_file_of_scores_leaves_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
