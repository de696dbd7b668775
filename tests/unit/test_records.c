#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "store/gradings.h"
#include "store/objects.h"
#include "support/folder.h"

/* A store with a run of one trial of one attempt, "a1". */
struct fixture {
    char *dir;
    struct mc_store *store;
    struct mc_digest object;
    struct mc_err err;
    int seen;
};

static void ok(struct fixture *f, int rc)
{
    if (rc != 0) {
        fail_msg("%s", f->err.text);
    }
}

static int set_up(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof f);
    f.dir = test_folder();
    ok(&f, mc_store_open(f.dir, &f.store, &f.err));
    ok(&f, mc_object_put(f.store, "manifest", "{}", 2, &f.object, &f.err));
    struct mc_run_record run = {.id = "r1",
                                .name = "run",
                                .manifest = f.object.hex,
                                .corpus = "c",
                                .state = "running",
                                .owner = "o",
                                .isolation = "verified"};
    struct mc_trial_record trial = {
        .id = "t1", .run = "r1", .ordinal = 1, .life = "l", .harness = "h", .repetition = 1};
    struct mc_attempt_record attempt = {.id = "a1", .trial = "t1", .number = 1};
    ok(&f, mc_runs_add(f.store, &run, &f.err));
    ok(&f, mc_trials_add(f.store, &trial, &f.err));
    ok(&f, mc_attempts_add(f.store, &attempt, &f.err));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    mc_store_close(f->store);
    test_folder_remove(f->dir);
    return 0;
}

static void is_time(const char *text)
{
    struct mc_time time;
    struct mc_err err;
    assert_non_null(text);
    assert_int_equal(mc_time_parse(text, &time, &err), 0);
    int64_t age = mc_time_now().ms - time.ms;
    assert_true(age >= 0 && age < 600000);
}

/* ---- Runs ---- */

static int see_open_run(void *payload, const struct mc_run_record *run)
{
    struct fixture *f = payload;
    f->seen++;
    assert_string_equal(run->id, "r1");
    assert_string_equal(run->name, "run");
    assert_string_equal(run->manifest, f->object.hex);
    assert_string_equal(run->corpus, "c");
    assert_string_equal(run->state, "running");
    assert_string_equal(run->owner, "o");
    assert_string_equal(run->isolation, "verified");
    is_time(run->created);
    assert_null(run->ended);
    assert_int_equal(run->exit_code, -1);
    return 0;
}

static int see_ended_run(void *payload, const struct mc_run_record *run)
{
    struct fixture *f = payload;
    f->seen++;
    assert_string_equal(run->state, "finished");
    is_time(run->ended);
    assert_int_equal(run->exit_code, 0);
    return 0;
}

static int see_order(void *payload, const struct mc_run_record *run)
{
    static const char *const wanted[] = {"r2", "r1"}; /* newest first */
    struct fixture *f = payload;
    assert_string_equal(run->id, wanted[f->seen++]);
    return 0;
}

static int stop_at_once(void *payload, const struct mc_run_record *run)
{
    struct fixture *f = payload;
    (void)run;
    f->seen++;
    return MC_CANCELLED;
}

static void runs(void **state)
{
    struct fixture *f = *state;
    ok(f, mc_runs_list(f->store, NULL, see_open_run, f, &f->err));
    ok(f, mc_runs_list(f->store, "r", see_open_run, f, &f->err));
    assert_int_equal(f->seen, 2);
    ok(f, mc_runs_list(f->store, "R", see_open_run, f, &f->err));
    ok(f, mc_runs_list(f->store, "%", see_open_run, f, &f->err));
    assert_int_equal(f->seen, 2);
    ok(f, mc_runs_set_state(f->store, "r1", "interrupted", &f->err));
    ok(f, mc_runs_end(f->store, "r1", "finished", 0, &f->err));
    ok(f, mc_runs_list(f->store, "r1", see_ended_run, f, &f->err));
    assert_int_equal(f->seen, 3);
    struct mc_run_record second = {.id = "r2",
                                   .name = "run",
                                   .manifest = f->object.hex,
                                   .corpus = "c",
                                   .state = "created",
                                   .owner = "o",
                                   .isolation = "not verified"};
    ok(f, mc_runs_add(f->store, &second, &f->err));
    f->seen = 0;
    ok(f, mc_runs_list(f->store, NULL, see_order, f, &f->err));
    assert_int_equal(f->seen, 2);
    assert_int_equal(mc_runs_list(f->store, NULL, stop_at_once, f, &f->err), MC_CANCELLED);
    assert_int_equal(f->seen, 3);
    assert_int_equal(mc_runs_add(f->store, &second, &f->err), MC_EXISTS);
    second.id = "r3";
    second.state = "odd";
    assert_int_equal(mc_runs_add(f->store, &second, &f->err), MC_INTERNAL);
    assert_non_null(strstr(f->err.text, "CHECK constraint failed"));
    second.state = "created";
    second.manifest = "no object";
    assert_int_equal(mc_runs_add(f->store, &second, &f->err), MC_INTERNAL);
    assert_non_null(strstr(f->err.text, "FOREIGN KEY constraint failed"));
}

/* ---- Trials and attempts ---- */

static int see_trial(void *payload, const struct mc_trial_record *trial)
{
    struct fixture *f = payload;
    assert_string_equal(trial->id, "t1");
    assert_string_equal(trial->run, "r1");
    assert_int_equal(trial->ordinal, 1);
    assert_string_equal(trial->life, "l");
    assert_string_equal(trial->harness, "h");
    assert_int_equal(trial->repetition, 1);
    if (f->seen++ == 0) {
        assert_null(trial->ended);
        assert_null(trial->reason);
    } else {
        assert_string_equal(trial->ended, "failed");
        assert_string_equal(trial->reason, "it's \"over\"");
    }
    return 0;
}

static void trials(void **state)
{
    struct fixture *f = *state;
    ok(f, mc_trials_list(f->store, "r1", see_trial, f, &f->err));
    ok(f, mc_trials_end(f->store, "t1", "failed", "it's \"over\"", &f->err));
    ok(f, mc_trials_list(f->store, "r1", see_trial, f, &f->err));
    assert_int_equal(f->seen, 2);
    ok(f, mc_trials_list(f->store, "none", see_trial, f, &f->err));
    assert_int_equal(f->seen, 2);
    assert_int_equal(mc_trials_end(f->store, "t1", "bored", NULL, &f->err), MC_INTERNAL);
    struct mc_trial_record same = {.id = "t2", .run = "r1", .ordinal = 2, .life = "l", .harness = "h", .repetition = 1};
    assert_int_equal(mc_trials_add(f->store, &same, &f->err), MC_EXISTS);
}

static int see_attempt(void *payload, const struct mc_attempt_record *attempt)
{
    struct fixture *f = payload;
    assert_string_equal(attempt->id, "a1");
    assert_string_equal(attempt->trial, "t1");
    assert_int_equal(attempt->number, 1);
    is_time(attempt->started);
    switch (f->seen++) {
    case 0:
        assert_null(attempt->ended_at);
        assert_null(attempt->ended);
        assert_null(attempt->reason);
        assert_int_equal(attempt->wall_ms, -1);
        assert_int_equal(attempt->engine_calls, -1);
        break;
    case 1:
        is_time(attempt->ended_at);
        assert_string_equal(attempt->ended, "completed");
        assert_null(attempt->reason);
        assert_int_equal(attempt->wall_ms, 0);
        assert_int_equal(attempt->engine_calls, 41);
        break;
    default:
        assert_string_equal(attempt->reason, "why");
        assert_int_equal(attempt->wall_ms, -1);
    }
    return 0;
}

static void attempts(void **state)
{
    struct fixture *f = *state;
    ok(f, mc_attempts_list(f->store, "t1", see_attempt, f, &f->err));
    struct mc_attempt_record end = {.id = "a1", .ended = "completed", .wall_ms = 0, .engine_calls = 41};
    ok(f, mc_attempts_end(f->store, &end, &f->err));
    ok(f, mc_attempts_list(f->store, "t1", see_attempt, f, &f->err));
    end.reason = "why";
    end.wall_ms = -1;
    ok(f, mc_attempts_end(f->store, &end, &f->err));
    ok(f, mc_attempts_list(f->store, "t1", see_attempt, f, &f->err));
    assert_int_equal(f->seen, 3);
    struct mc_attempt_record orphan = {.id = "a9", .trial = "t9", .number = 1};
    assert_int_equal(mc_attempts_add(f->store, &orphan, &f->err), MC_INTERNAL);
}

/* ---- Stages and steps ---- */

static int see_stage(void *payload, const struct mc_stage_record *stage)
{
    struct fixture *f = payload;
    is_time(stage->started);
    switch (f->seen++) {
    case 0: /* only begun */
    case 2: /* begun again: nothing of the first time is left */
        assert_string_equal(stage->name, "provision");
        assert_string_equal(stage->status, "started");
        assert_int_equal(stage->wall_ms, -1);
        assert_null(stage->detail);
        break;
    case 1:
        assert_string_equal(stage->status, "failed");
        assert_int_equal(stage->wall_ms, 12);
        assert_string_equal(stage->detail, "no image");
        break;
    default:
        assert_string_equal(stage->name, "collect");
    }
    return 0;
}

static void stages(void **state)
{
    struct fixture *f = *state;
    ok(f, mc_stages_begin(f->store, "a1", "provision", &f->err));
    ok(f, mc_stages_list(f->store, "a1", see_stage, f, &f->err));
    struct mc_stage_record end = {.name = "provision", .status = "failed", .wall_ms = 12, .detail = "no image"};
    ok(f, mc_stages_end(f->store, "a1", &end, &f->err));
    ok(f, mc_stages_list(f->store, "a1", see_stage, f, &f->err));
    ok(f, mc_stages_begin(f->store, "a1", "provision", &f->err));
    ok(f, mc_stages_begin(f->store, "a1", "collect", &f->err));
    ok(f, mc_stages_list(f->store, "a1", see_stage, f, &f->err));
    assert_int_equal(f->seen, 4);
}

static int see_step(void *payload, const struct mc_step_record *step)
{
    struct fixture *f = payload;
    static const char *const kinds[] = {"import", "probe"};
    int first = step->ordinal == 1;
    assert_string_equal(step->kind, kinds[step->ordinal - 1]);
    assert_string_equal(step->scenario_time, first ? "2026-03-02T12:00:00+00:00" : "2026-03-02T13:00:00+00:00");
    assert_string_equal(step->ref, first ? "b1" : "check/desk");
    if (f->seen < 2 || !first) {
        assert_string_equal(step->status, "planned");
        assert_null(step->operation);
        assert_null(step->started);
        assert_int_equal(step->wall_ms, -1);
        assert_null(step->detail);
    } else if (f->seen == 2) {
        assert_string_equal(step->status, "done");
        assert_string_equal(step->operation, "op-1");
        is_time(step->started);
        assert_int_equal(step->wall_ms, 5);
        assert_string_equal(step->detail, "{}");
    } else {
        assert_string_equal(step->status, "started");
        assert_int_equal(step->wall_ms, -1);
        assert_null(step->detail);
    }
    f->seen++;
    return 0;
}

static void steps(void **state)
{
    struct fixture *f = *state;
    const struct mc_step_record plan[] = {
        {.ordinal = 2, .kind = "probe", .ref = "check/desk", .scenario_time = "2026-03-02T13:00:00+00:00"},
        {.ordinal = 1, .kind = "import", .ref = "b1", .scenario_time = "2026-03-02T12:00:00+00:00"}};
    ok(f, mc_steps_plan(f->store, "a1", plan, 2, &f->err));
    ok(f, mc_steps_list(f->store, "a1", see_step, f, &f->err));
    ok(f, mc_steps_begin(f->store, "a1", 1, &f->err));
    ok(f, mc_steps_operation(f->store, "a1", 1, "op-1", &f->err));
    struct mc_step_record end = {.ordinal = 1, .status = "done", .wall_ms = 5, .detail = "{}"};
    ok(f, mc_steps_end(f->store, "a1", &end, &f->err));
    ok(f, mc_steps_list(f->store, "a1", see_step, f, &f->err));
    ok(f, mc_steps_begin(f->store, "a1", 1, &f->err));
    ok(f, mc_steps_list(f->store, "a1", see_step, f, &f->err));
    assert_int_equal(f->seen, 6);
    /* The same plan again: all or nothing. */
    const struct mc_step_record more[] = {{.ordinal = 3, .kind = "turn", .ref = "x", .scenario_time = "t"}, plan[0]};
    assert_int_equal(mc_steps_plan(f->store, "a1", more, 2, &f->err), MC_EXISTS);
    f->seen = 2;
    ok(f, mc_steps_plan(f->store, "a1", NULL, 0, &f->err));
}

static int set_resource(struct fixture *f, struct mc_resource_record resource)
{
    return mc_resources_set(f->store, &resource, 1, &f->err);
}

static void changes_of_what_is_not_there_are_errors(void **state)
{
    struct fixture *f = *state;
    struct mc_step_record step = {.ordinal = 7, .status = "done"};
    struct mc_stage_record stage = {.name = "none", .status = "done"};
    struct mc_attempt_record attempt = {.id = "none", .ended = "failed"};
    assert_int_equal(mc_steps_begin(f->store, "a1", 7, &f->err), MC_NOT_FOUND);
    MC_AUTOFREE char *text = mc_strf("writing in %s/memcal.db: there is no such step", f->dir);
    assert_string_equal(f->err.text, text);
    assert_int_equal(mc_steps_end(f->store, "a1", &step, &f->err), MC_NOT_FOUND);
    assert_int_equal(mc_steps_operation(f->store, "a1", 7, "o", &f->err), MC_NOT_FOUND);
    assert_int_equal(mc_stages_end(f->store, "a1", &stage, &f->err), MC_NOT_FOUND);
    assert_int_equal(mc_attempts_end(f->store, &attempt, &f->err), MC_NOT_FOUND);
    assert_int_equal(mc_trials_end(f->store, "none", "failed", NULL, &f->err), MC_NOT_FOUND);
    assert_int_equal(mc_runs_end(f->store, "none", "finished", 0, &f->err), MC_NOT_FOUND);
    assert_int_equal(mc_runs_set_state(f->store, "none", "finished", &f->err), MC_NOT_FOUND);
    assert_int_equal(
        set_resource(f, (struct mc_resource_record){.name = "none", .state = "created", .engine_id = "id"}),
        MC_NOT_FOUND);
    assert_int_equal(set_resource(f, (struct mc_resource_record){.name = "none", .facts = "{}"}), MC_NOT_FOUND);
    ok(f, set_resource(f, (struct mc_resource_record){.name = "none", .state = "removed"}));
}

/* ---- Resources ---- */

static int see_resource(void *payload, const struct mc_resource_record *resource)
{
    struct fixture *f = payload;
    int is_volume = f->seen % 2 == 0;
    assert_string_equal(resource->name, is_volume ? "v1" : "c1");
    assert_string_equal(resource->attempt, "a1");
    assert_string_equal(resource->kind, is_volume ? "volume" : "container");
    assert_string_equal(resource->role, is_volume ? "bin" : "harness");
    if (f->seen < 2 || is_volume) {
        assert_string_equal(resource->state, f->seen < 2 ? "planned" : "removed");
        assert_null(resource->engine_id);
        assert_null(resource->facts);
    } else {
        assert_string_equal(resource->state, "created");
        assert_string_equal(resource->engine_id, "abc");
        assert_string_equal(resource->facts, "{\"exit_code\":0}");
    }
    f->seen++;
    return 0;
}

static void resources(void **state)
{
    struct fixture *f = *state;
    const struct mc_resource_record plan[] = {{.name = "v1", .attempt = "a1", .kind = "volume", .role = "bin"},
                                              {.name = "c1", .attempt = "a1", .kind = "container", .role = "harness"}};
    ok(f, mc_resources_plan(f->store, plan, 2, &f->err));
    ok(f, mc_resources_list(f->store, "a1", see_resource, f, &f->err));
    ok(f, set_resource(f, (struct mc_resource_record){.name = "c1", .state = "created", .engine_id = "abc"}));
    ok(f, set_resource(f, (struct mc_resource_record){.name = "c1", .facts = "{\"exit_code\":0}"}));
    ok(f, set_resource(f, (struct mc_resource_record){.name = "v1", .state = "removed"}));
    ok(f, mc_resources_list(f->store, "a1", see_resource, f, &f->err));
    assert_int_equal(f->seen, 4);
    assert_int_equal(mc_resources_plan(f->store, plan, 2, &f->err), MC_EXISTS);
}

/* ---- Answers, grades, calls, artifacts ---- */

static int see_answer(void *payload, const struct mc_answer_record *answer)
{
    struct fixture *f = payload;
    assert_string_equal(answer->attempt, "a1");
    if (f->seen++ == 0) {
        assert_string_equal(answer->checkpoint, "known");
        assert_string_equal(answer->ended, "completed");
        assert_string_equal(answer->answer, "");
        assert_null(answer->reason);
        assert_int_equal(answer->latency_ms, 0);
        assert_int_equal(answer->calls, 0);
        assert_int_equal(answer->usage.input, 0);
        assert_int_equal(answer->usage.cached_input, 1);
        assert_int_equal(answer->usage.output, 2);
        assert_int_equal(answer->usage.reasoning, INT64_MAX);
    } else {
        assert_string_equal(answer->checkpoint, "unknown");
        assert_string_equal(answer->ended, "infrastructure");
        assert_null(answer->answer);
        assert_string_equal(answer->reason, "why");
        assert_int_equal(answer->latency_ms, MC_UNKNOWN);
        assert_int_equal(answer->calls, MC_UNKNOWN);
        assert_int_equal(answer->usage.input, MC_UNKNOWN);
        assert_int_equal(answer->usage.cached_input, MC_UNKNOWN);
        assert_int_equal(answer->usage.output, MC_UNKNOWN);
        assert_int_equal(answer->usage.reasoning, MC_UNKNOWN);
    }
    return 0;
}

static int see_grading(void *payload, const struct mc_grading_record *grading)
{
    struct fixture *f = payload;
    f->seen++;
    assert_string_equal(grading->run, "r1");
    assert_string_equal(grading->rules, "rules/1");
    if (grading->number == 1) {
        assert_null(grading->judge);
    } else {
        assert_string_equal(grading->judge, "a model");
    }
    assert_string_equal(grading->at, "2026-01-01T00:00:00+00:00");
    return 0;
}

static void answers_and_grades(void **state)
{
    struct fixture *f = *state;
    struct mc_answer_record known = {.attempt = "a1",
                                     .checkpoint = "known",
                                     .ended = "completed",
                                     .answer = "",
                                     .latency_ms = 0,
                                     .calls = 0,
                                     .usage = {0, 1, 2, INT64_MAX}};
    struct mc_answer_record unknown = {.attempt = "a1",
                                       .checkpoint = "unknown",
                                       .ended = "infrastructure",
                                       .reason = "why",
                                       .latency_ms = -1,
                                       .calls = -1,
                                       .usage = MC_USAGE_UNKNOWN};
    ok(f, mc_answers_put(f->store, &known, &f->err));
    ok(f, mc_answers_put(f->store, &unknown, &f->err));
    ok(f, mc_answers_list(f->store, "a1", see_answer, f, &f->err));
    assert_int_equal(f->seen, 2);
    /* An answer is given once. */
    assert_int_equal(mc_answers_put(f->store, &known, &f->err), MC_EXISTS);
    struct mc_grading_record grading = {.run = "r1", .rules = "rules/1", .at = "2026-01-01T00:00:00+00:00"};
    int64_t ids[2];
    int64_t number = 0;
    ok(f, mc_gradings_add(f->store, &grading, &ids[0], &number, &f->err));
    assert_int_equal(number, 1);
    grading.judge = "a model";
    ok(f, mc_gradings_add(f->store, &grading, &ids[1], &number, &f->err));
    assert_int_equal(number, 2);
    f->seen = 0;
    ok(f, mc_gradings_list(f->store, "r1", see_grading, f, &f->err));
    assert_int_equal(f->seen, 2);
    struct mc_grade_record grade = {.grading = ids[0], .attempt = "a1", .checkpoint = "known", .grade = f->object.hex};
    ok(f, mc_grades_add(f->store, &grade, &f->err));
    struct mc_digest found;
    assert_int_equal(mc_grades_find(f->store, ids[0], "a1", "known", &found, &f->err), 1);
    assert_string_equal(found.hex, f->object.hex);
    assert_int_equal(mc_grades_find(f->store, ids[1], "a1", "known", &found, &f->err), 0);
    assert_int_equal(mc_grades_add(f->store, &grade, &f->err), MC_EXISTS);
    grade.checkpoint = "never asked";
    assert_int_equal(mc_grades_add(f->store, &grade, &f->err), MC_INTERNAL);
}

static void a_sum_with_an_unknown_part_is_unknown(void **state)
{
    struct fixture *f = *state;
    struct mc_call_totals totals;
    /* No calls: all is known, and zero. */
    ok(f, mc_calls_total(f->store, "a1", NULL, &totals, &f->err));
    assert_int_equal(totals.calls, 0);
    assert_int_equal(totals.usage.input, 0);
    assert_true(totals.cost_usd == 0);
    struct mc_call_record call = {.attempt = "a1",
                                  .call = 1,
                                  .step = "s1",
                                  .role = "harness",
                                  .path = "/v1/chat/completions",
                                  .upstream = "openai",
                                  .status = 200,
                                  .usage = {10, 0, 5, 1},
                                  .cost_usd = 0.25,
                                  .first_byte_ms = -1,
                                  .duration_ms = 3};
    ok(f, mc_calls_put(f->store, &call, &f->err));
    ok(f, mc_calls_put(f->store, &call, &f->err)); /* told again after a resume */
    call.call = 2;
    call.step = "s2";
    call.usage = (struct mc_usage){7, MC_UNKNOWN, 1, 0};
    call.cost_usd = (double)NAN;
    ok(f, mc_calls_put(f->store, &call, &f->err));
    ok(f, mc_calls_total(f->store, "a1", NULL, &totals, &f->err));
    assert_int_equal(totals.calls, 2);
    assert_int_equal(totals.usage.input, 17);
    assert_int_equal(totals.usage.cached_input, MC_UNKNOWN);
    assert_int_equal(totals.usage.output, 6);
    assert_int_equal(totals.usage.reasoning, 1);
    assert_true(isnan(totals.cost_usd));
    ok(f, mc_calls_total(f->store, "a1", "s1", &totals, &f->err));
    assert_int_equal(totals.calls, 1);
    assert_int_equal(totals.usage.cached_input, 0);
    assert_true(totals.cost_usd == 0.25);
}

static int see_artifact(void *payload, const struct mc_artifact_record *artifact)
{
    struct fixture *f = payload;
    f->seen++;
    assert_string_equal(artifact->attempt, "a1");
    assert_string_equal(artifact->name, "harness/stderr.txt");
    assert_string_equal(artifact->sha256, f->object.hex);
    assert_int_equal(artifact->size, 2);
    return 0;
}

static void artifacts(void **state)
{
    struct fixture *f = *state;
    struct mc_artifact_record artifact = {"a1", "harness/stderr.txt", f->object.hex, 2};
    ok(f, mc_artifacts_put(f->store, &artifact, &f->err));
    ok(f, mc_artifacts_put(f->store, &artifact, &f->err));
    ok(f, mc_artifacts_list(f->store, "a1", see_artifact, f, &f->err));
    assert_int_equal(f->seen, 1);
    artifact.sha256 = "no object";
    assert_int_equal(mc_artifacts_put(f->store, &artifact, &f->err), MC_INTERNAL);
}

/* ---- Corpora ---- */

static int see_corpus(void *payload, const struct mc_corpus_record *corpus)
{
    struct fixture *f = payload;
    f->seen++;
    assert_string_equal(corpus->digest, "d1");
    assert_string_equal(corpus->name, "pilot");
    assert_string_equal(corpus->version, "0.1");
    assert_int_equal(corpus->lives, 3);
    is_time(corpus->added);
    return 0;
}

static int see_file(void *payload, const struct mc_corpus_file *file)
{
    static const char *const paths[] = {"corpus.yaml", "lives/a/life.yaml"};
    struct fixture *f = payload;
    assert_string_equal(file->path, paths[f->seen++]);
    assert_int_equal(file->size, 2);
    assert_string_equal(file->sha256, f->object.hex);
    return 0;
}

static void corpora(void **state)
{
    struct fixture *f = *state;
    struct mc_corpus_record corpus = {.digest = "d1", .name = "pilot", .version = "0.1", .lives = 3};
    struct mc_corpus_file files[] = {{"lives/a/life.yaml", 2, f->object.hex}, {"corpus.yaml", 2, f->object.hex}};
    ok(f, mc_corpora_add(f->store, &corpus, files, 2, &f->err));
    ok(f, mc_corpora_add(f->store, &corpus, files, 2, &f->err));
    ok(f, mc_corpora_list(f->store, see_corpus, f, &f->err));
    assert_int_equal(f->seen, 1);
    f->seen = 0;
    ok(f, mc_corpora_files(f->store, "d1", see_file, f, &f->err));
    assert_int_equal(f->seen, 2);
    assert_int_equal(mc_corpora_remove(f->store, "d1", &f->err), 1);
    assert_int_equal(mc_corpora_remove(f->store, "d1", &f->err), 0);
    ok(f, mc_corpora_files(f->store, "d1", see_file, f, &f->err));
    assert_int_equal(f->seen, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(runs),
        TEST(trials),
        TEST(attempts),
        TEST(stages),
        TEST(steps),
        TEST(changes_of_what_is_not_there_are_errors),
        TEST(resources),
        TEST(answers_and_grades),
        TEST(a_sum_with_an_unknown_part_is_unknown),
        TEST(artifacts),
        TEST(corpora),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
