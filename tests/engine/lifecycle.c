/* Containers from their making to their end. */
#include "engine_tests.h"

#include <stdlib.h>
#include <string.h>

static void knows_itself(void **state)
{
    struct bench *bench = *state;
    const struct mc_engine_about *about = mc_engine_about(bench->engine);
    assert_true(strlen(about->version) > 0);
    assert_string_equal(about->os, "linux");
    assert_true(strlen(about->arch) > 0);
    assert_true(strlen(about->storage) > 0);
    assert_true(strcmp(about->cgroup, "1") == 0 || strcmp(about->cgroup, "2") == 0);
    assert_true(about->cpus > 0);
    assert_true(about->memory > (int64_t)64 << 20);
    int podman = about->kind == MC_ENGINE_PODMAN;
    assert_string_equal(about->kind_name, podman ? "Podman" : "Docker");
    assert_true(mc_engine_counts(bench->engine).calls >= 3);
}

static void confined_as_asked(void **state)
{
    struct bench *bench = *state;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(4096);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(4096);
    char *id = launch(bench, GUEST("limits"), &stream);
    read_all(stream, &out, &errors);
    assert_string_equal(mc_buf_text(&out), "nofile 4096 nproc 4096 core 0 uid 10001 gid 10001 root read-only\n");
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    ok(mc_container_wait(bench->engine, id, &done, soon(), &fault));
    assert_int_equal(done.exit_code, 0);
    assert_string_equal(done.network, "none");
    assert_string_equal(done.user, "10001:10001");
    assert_string_equal(done.image, bench->image);
    assert_int_equal(mc_labels_match(done.labels, bench->labels), 1);
    const json_t *host = json_object_get(done.raw, "HostConfig");
    assert_int_equal(json_integer_value(json_object_get(host, "Memory")), (int64_t)2 << 30);
    assert_int_equal(json_integer_value(json_object_get(host, "MemorySwap")), (int64_t)2 << 30);
    assert_int_equal(json_integer_value(json_object_get(host, "PidsLimit")), 512);
    assert_true(json_is_true(json_object_get(host, "ReadonlyRootfs")));
    discard(bench, id);
}

static void exit_code_and_times(void **state)
{
    struct bench *bench = *state;
    char *id = launch(bench, GUEST("exit", "7"), NULL);
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    ok(mc_container_wait(bench->engine, id, &done, soon(), &fault));
    assert_int_equal(done.status, MC_CONTAINER_EXITED);
    assert_int_equal(done.exit_code, 7);
    assert_true(done.started_at[0] != '\0');
    assert_true(done.finished_at[0] != '\0');
    assert_int_equal(mc_container_oom(&done, 0), MC_OOM_NO);
    discard(bench, id);
}

static void never_started_is_said(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *name = new_name(bench, "c");
    struct mc_container_spec spec = guest_spec(bench, name, GUEST("exit", "0"));
    char *id = NULL;
    ok(mc_container_create(bench->engine, &spec, &id, soon(), &fault));
    struct mc_err err;
    struct mc_container now;
    assert_int_equal(mc_container_wait(bench->engine, id, &now, soon(), &err), MC_INPUT);
    assert_non_null(strstr(err.text, "it was never started"));
    discard(bench, id);
}

static void out_of_memory_is_noticed(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *name = new_name(bench, "oom");
    struct mc_container_spec spec = guest_spec(bench, name, GUEST("eat"));
    spec.memory = (int64_t)16 << 20;
    char *id = NULL;
    ok(mc_container_create(bench->engine, &spec, &id, soon(), &fault));
    ok(mc_container_start(bench->engine, id, soon(), &fault));
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    ok(mc_container_wait(bench->engine, id, &done, soon(), &fault));
    assert_int_equal(done.exit_code, 137);
    assert_int_equal(mc_container_oom(&done, 0), done.oom_killed ? MC_OOM_YES : MC_OOM_PROBABLE);
    if (mc_engine_about(bench->engine)->kind == MC_ENGINE_DOCKER) {
        assert_true(done.oom_killed);
    }
    discard(bench, id);
}

static void our_own_kill_is_no_oom(void **state)
{
    struct bench *bench = *state;
    char *id = launch(bench, GUEST("sleep", "60"), NULL);
    ok(mc_container_kill(bench->engine, id, "KILL", soon(), &fault));
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    ok(mc_container_wait(bench->engine, id, &done, soon(), &fault));
    assert_int_equal(done.exit_code, 137);
    assert_int_equal(mc_container_oom(&done, 1), MC_OOM_NO);
    ok(mc_container_kill(bench->engine, id, "KILL", soon(), &fault)); /* once more is fine */
    discard(bench, id);
}

static void stubborn_process_is_stopped(void **state)
{
    struct bench *bench = *state;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    char *id = launch(bench, GUEST("stubborn"), &stream);
    struct mc_piece piece;
    ok(mc_stream_next(stream, &piece, soon(), &fault)); /* "ready": SIGTERM is ignored from here on */
    int64_t began = mc_monotonic_ms();
    ok(mc_container_stop(bench->engine, id, 1, soon(), &fault));
    int64_t took = mc_monotonic_ms() - began;
    assert_true(took >= 900);
    assert_true(took < 8000);
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    ok(mc_container_inspect(bench->engine, id, &done, soon(), &fault));
    assert_int_equal(done.status, MC_CONTAINER_EXITED);
    assert_int_equal(done.exit_code, 137);
    discard(bench, id);
}

static void twice_is_fine(void **state)
{
    struct bench *bench = *state;
    char *id = launch(bench, GUEST("sleep", "60"), NULL);
    ok(mc_container_start(bench->engine, id, soon(), &fault));
    ok(mc_container_stop(bench->engine, id, 0, soon(), &fault));
    ok(mc_container_stop(bench->engine, id, 0, soon(), &fault));
    ok(mc_container_remove(bench->engine, id, bench->labels, soon(), &fault));
    ok(mc_container_remove(bench->engine, id, bench->labels, soon(), &fault));
    ok(mc_container_remove(bench->engine, id, (struct mc_labels){.items = NULL}, soon(), &fault));
    struct mc_err err;
    struct mc_container now;
    assert_int_equal(mc_container_inspect(bench->engine, id, &now, soon(), &err), MC_NOT_FOUND);
    assert_int_equal(err.http, 404);
    free(id);
}

static void restarts_on_the_same_volumes(void **state)
{
    struct bench *bench = *state;
    char *id = launch(bench, GUEST("exit", "3"), NULL);
    for (int i = 0; i < 2; i++) {
        MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
        ok(mc_container_wait(bench->engine, id, &done, soon(), &fault));
        assert_int_equal(done.exit_code, 3);
        ok(mc_container_start(bench->engine, id, soon(), &fault));
    }
    discard(bench, id);
}

static void name_taken(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *name = new_name(bench, "twin");
    struct mc_container_spec spec = guest_spec(bench, name, GUEST("exit", "0"));
    char *first = NULL;
    MC_AUTOFREE char *second = NULL;
    ok(mc_container_create(bench->engine, &spec, &first, soon(), &fault));
    /* The same labels: it is the one whose answer we may have lost. */
    ok(mc_container_create(bench->engine, &spec, &second, soon(), &fault));
    assert_string_equal(first, second);

    const struct mc_label other[] = {bench->label, {.name = "org.memcal.attempt", .value = "another"}};
    spec.labels = (struct mc_labels){.items = other, .count = 2};
    struct mc_err err;
    char *third = NULL;
    assert_int_equal(mc_container_create(bench->engine, &spec, &third, soon(), &err), MC_EXISTS);
    assert_non_null(strstr(err.text, "is taken by a container that is not this one's"));
    assert_null(third);

    MC_AUTOFREE char *found = NULL;
    ok(mc_container_find(bench->engine, name, bench->labels, &found, soon(), &fault));
    assert_string_equal(found, first);
    assert_int_equal(mc_container_find(bench->engine, "memcal-test-nobody", bench->labels, &third, soon(), &err),
                     MC_NOT_FOUND);
    /* An ID's beginning is no name. */
    MC_AUTOFREE char *beginning = mc_strndup(first, 12);
    assert_int_equal(mc_container_find(bench->engine, beginning, bench->labels, &third, soon(), &err), MC_NOT_FOUND);
    discard(bench, first);
}

static void decoy_is_left_alone(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *name = new_name(bench, "c");
    MC_AUTOFREE char *decoy_name = mc_strf("%s-decoy", name);
    const struct mc_label other_label = {.name = "org.memcal.store", .value = "someone-else"};
    struct mc_container_spec spec = guest_spec(bench, name, GUEST("exit", "0"));
    char *ours = NULL;
    char *decoy = NULL;
    ok(mc_container_create(bench->engine, &spec, &ours, soon(), &fault));
    spec.name = decoy_name;
    spec.labels = (struct mc_labels){.items = &other_label, .count = 1};
    ok(mc_container_create(bench->engine, &spec, &decoy, soon(), &fault));

    MC_AUTOOBJECTS struct mc_objects list = MC_OBJECTS_INIT;
    ok(mc_container_list(bench->engine, bench->labels, &list, soon(), &fault));
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].id, ours);
    assert_string_equal(list.items[0].name, name);
    assert_string_equal(list.items[0].state, "created");
    assert_true(list.items[0].created_s > 1700000000);
    assert_string_equal(mc_object_label(&list.items[0], "org.memcal.store"), bench->store);

    struct mc_err err;
    assert_int_equal(mc_container_remove(bench->engine, decoy, bench->labels, soon(), &err), MC_DENIED);
    assert_non_null(strstr(err.text, "it is not ours: its label org.memcal.store is someone-else"));
    MC_AUTOCONTAINER struct mc_container still = {.raw = NULL};
    ok(mc_container_inspect(bench->engine, decoy, &still, soon(), &fault));
    ok(mc_container_remove(bench->engine, decoy, spec.labels, soon(), &fault));
    free(decoy);
    discard(bench, ours);
}

static void missing_image_is_said(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *name = new_name(bench, "c");
    struct mc_container_spec spec = guest_spec(bench, name, GUEST("exit", "0"));
    spec.image = "sha256:00000000000000000000000000000000000000000000000000000000000000ff";
    struct mc_err err;
    char *id = NULL;
    assert_int_equal(mc_container_create(bench->engine, &spec, &id, soon(), &err), MC_NOT_FOUND);
    assert_non_null(strstr(err.text, "creating container memcal-test-"));
    assert_non_null(strstr(err.hint, "memcal image build"));
}

static void missing_program_is_said(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *name = new_name(bench, "c");
    struct mc_container_spec spec = guest_spec(bench, name, (const char *const[]){"/nothing-here", NULL});
    char *id = NULL;
    ok(mc_container_create(bench->engine, &spec, &id, soon(), &fault));
    struct mc_err err;
    assert_true(mc_container_start(bench->engine, id, soon(), &err) != 0);
    assert_non_null(strstr(err.text, "nothing-here"));
    discard(bench, id);
}

static void wait_ends_at_its_deadline(void **state)
{
    struct bench *bench = *state;
    char *id = launch(bench, GUEST("sleep", "60"), NULL);
    struct mc_err err;
    struct mc_container now;
    int64_t began = mc_monotonic_ms();
    assert_int_equal(mc_container_wait(bench->engine, id, &now, mc_within(500, NULL), &err), MC_TIMEOUT);
    assert_true(mc_monotonic_ms() - began < 2000);
    struct mc_cancel cancel;
    ok(mc_cancel_init(&cancel, &fault));
    mc_cancel_raise(&cancel);
    assert_int_equal(mc_container_wait(bench->engine, id, &now, mc_within(5000, &cancel), &err), MC_CANCELLED);
    mc_cancel_release(&cancel);
    discard(bench, id);
}

static void programs_run_inside(void **state)
{
    struct bench *bench = *state;
    char *id = launch(bench, GUEST("sleep", "60"), NULL);
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(4096);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(4096);
    struct mc_exec_result result;
    struct mc_exec exec = {.argv = GUEST("both"), .kill_after_s = 20};
    ok(mc_exec_run(bench->engine, id, &exec, &out, &errors, &result, soon(), &fault));
    assert_int_equal(result.exit_code, 0);
    assert_string_equal(mc_buf_text(&out), "out\n");
    assert_string_equal(mc_buf_text(&errors), "err\n");

    exec.argv = GUEST("exit", "9");
    ok(mc_exec_run(bench->engine, id, &exec, NULL, NULL, &result, soon(), &fault));
    assert_int_equal(result.exit_code, 9);
    assert_false(result.killed);

    exec.argv = GUEST("line", "100000");
    mc_buf_clear(&out);
    ok(mc_exec_run(bench->engine, id, &exec, &out, NULL, &result, soon(), &fault));
    assert_int_equal(out.len, 4096);
    assert_int_equal(result.dropped, 100003 - 4096);

    /* It does not outlive its deadline inside. */
    exec = (struct mc_exec){.argv = GUEST("sleep", "50"), .kill_after_s = 1};
    ok(mc_exec_run(bench->engine, id, &exec, NULL, NULL, &result, soon(), &fault));
    assert_int_equal(result.exit_code, 137);
    assert_true(result.killed);

    /* Where there is no `timeout`, it runs without. */
    exec = (struct mc_exec){
        .argv = GUEST("exit", "8"), .env = (const char *const[]){"PATH=/nowhere", NULL}, .kill_after_s = 5};
    ok(mc_exec_run(bench->engine, id, &exec, NULL, NULL, &result, soon(), &fault));
    assert_int_equal(result.exit_code, 8);

    exec = (struct mc_exec){.argv = (const char *const[]){"/nothing-here", NULL}, .kill_after_s = 0};
    ok(mc_exec_run(bench->engine, id, &exec, NULL, NULL, &result, soon(), &fault));
    assert_true(result.exit_code == 126 || result.exit_code == 127);
    discard(bench, id);
}

static void last_words(void **state)
{
    struct bench *bench = *state;
    char *id = launch(bench, GUEST("both"), NULL);
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    ok(mc_container_wait(bench->engine, id, &done, soon(), &fault));
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(4096);
    ok(mc_container_logs(bench->engine, id, 10, &out, soon(), &fault));
    assert_non_null(strstr(mc_buf_text(&out), "out\n"));
    assert_non_null(strstr(mc_buf_text(&out), "err\n"));
    discard(bench, id);
}

int run_lifecycle_tests(struct bench *bench)
{
#define TEST(f) cmocka_unit_test_prestate(f, bench)
    const struct CMUnitTest tests[] = {
        TEST(knows_itself),
        TEST(confined_as_asked),
        TEST(exit_code_and_times),
        TEST(never_started_is_said),
        TEST(out_of_memory_is_noticed),
        TEST(our_own_kill_is_no_oom),
        TEST(stubborn_process_is_stopped),
        TEST(twice_is_fine),
        TEST(restarts_on_the_same_volumes),
        TEST(name_taken),
        TEST(decoy_is_left_alone),
        TEST(missing_image_is_said),
        TEST(missing_program_is_said),
        TEST(wait_ends_at_its_deadline),
        TEST(programs_run_inside),
        TEST(last_words),
    };
#undef TEST
    return cmocka_run_group_tests_name("life of a container", tests, NULL, NULL);
}
