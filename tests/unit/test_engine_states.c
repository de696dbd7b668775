/* Containers and volumes where the status code alone would mislead. */
#include "support/fake_engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/container.h"
#include "engine/exec.h"
#include "engine/network.h"
#include "engine/volume.h"

#define CONTAINER(state)                                                                                       \
    "{\"Id\":\"c0ffee\",\"Name\":\"/one\",\"State\":{\"Status\":\"" state "\",\"ExitCode\":137,\"StartedAt\":" \
    "\"2026-01-01T00:00:00Z\",\"OOMKilled\":false},\"Config\":{\"Labels\":{\"org.memcal.store\":\"s1\"}}}"

static const struct mc_label store_label = {.name = "org.memcal.store", .value = "s1"};
static const struct mc_labels ours = {.items = &store_label, .count = 1};
static const struct mc_labels any = {.items = NULL, .count = 0};

static struct mc_until soon(void)
{
    return mc_within(10000, NULL);
}

struct pair {
    struct fake fake;
    struct mc_engine *engine;
};

static int set_up(void **state)
{
    struct pair *pair = mc_alloc(1, sizeof *pair);
    fake_start(&pair->fake);
    pair->fake.podman = 1;
    pair->engine = fake_open(&pair->fake);
    *state = pair;
    return 0;
}

static int tear_down(void **state)
{
    struct pair *pair = *state;
    mc_engine_close(pair->engine);
    fake_stop(&pair->fake);
    free(pair);
    return 0;
}

static void podman_says_500(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    static const char *const said =
        "{\"cause\":\"bad state\",\"message\":\"container state improper\",\"response\":500}";
    /* start of one that runs */
    fake_say(&pair->fake, "500 Internal Server Error", said);
    fake_say(&pair->fake, "200 OK", CONTAINER("running"));
    assert_int_equal(mc_container_start(pair->engine, "one", soon(), &err), 0);
    /* start that truly failed */
    fake_say(&pair->fake, "500 Internal Server Error", said);
    fake_say(&pair->fake, "200 OK", CONTAINER("created"));
    assert_int_equal(mc_container_start(pair->engine, "one", soon(), &err), MC_ENGINE);
    assert_string_equal(err.text, "starting container one: the engine says: container state improper (HTTP 500)");
    /* kill and stop of one that does not run */
    fake_say(&pair->fake, "500 Internal Server Error", said);
    fake_say(&pair->fake, "200 OK", CONTAINER("exited"));
    assert_int_equal(mc_container_kill(pair->engine, "one", "KILL", soon(), &err), 0);
    fake_say(&pair->fake, "409 Conflict", said);
    fake_say(&pair->fake, "200 OK", CONTAINER("exited"));
    assert_int_equal(mc_container_stop(pair->engine, "one", 0, soon(), &err), 0);
    /* stop that truly failed */
    fake_say(&pair->fake, "500 Internal Server Error", said);
    fake_say(&pair->fake, "200 OK", CONTAINER("running"));
    assert_int_equal(mc_container_stop(pair->engine, "one", 0, soon(), &err), MC_ENGINE);
    /* already so */
    fake_say(&pair->fake, "304 Not Modified", "");
    assert_int_equal(mc_container_start(pair->engine, "one", soon(), &err), 0);
}

static void name_conflict_by_state(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    static const char *const statuses[] = {"500 Internal Server Error", "409 Conflict"};
    for (size_t i = 0; i < 2; i++) {
        struct mc_container_spec spec = {.name = "one", .image = "sha256:1", .labels = ours};
        char *id = NULL;
        fake_say(&pair->fake, statuses[i], "{\"message\":\"the container name is already in use\"}");
        fake_say(&pair->fake, "200 OK", CONTAINER("created"));
        assert_int_equal(mc_container_create(pair->engine, &spec, &id, soon(), &err), 0);
        assert_string_equal(id, "c0ffee");
        free(id);
        id = NULL;
        const struct mc_label other = {.name = "org.memcal.store", .value = "s2"};
        spec.labels = (struct mc_labels){.items = &other, .count = 1};
        fake_say(&pair->fake, statuses[i], "{\"message\":\"the container name is already in use\"}");
        fake_say(&pair->fake, "200 OK", CONTAINER("created"));
        assert_int_equal(mc_container_create(pair->engine, &spec, &id, soon(), &err), MC_EXISTS);
        assert_string_equal(err.text, "creating container one: the name one is taken by a container that is not this "
                                      "one's (c0ffee)");
        assert_string_equal(err.hint, "if nobody needs it, remove it with 'docker rm -f one'");
        /* No container of that name: the first answer stands. */
        fake_say(&pair->fake, statuses[i], "{\"message\":\"disk on fire\"}");
        fake_say(&pair->fake, "404 Not Found", "{\"message\":\"no such container\"}");
        assert_int_equal(mc_container_create(pair->engine, &spec, &id, soon(), &err), MC_ENGINE);
        assert_non_null(strstr(err.text, "creating container one: the engine says: disk on fire"));
        assert_null(id);
    }
}

static void create_whose_answer_was_lost(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    struct mc_container_spec spec = {.name = "one", .image = "sha256:1", .labels = ours};
    char *id = NULL;
    static const char cut[] = "HTTP/1.1 201 Created\r\n\r\n";
    fake_add(&pair->fake, (struct fake_answer){.bytes = cut, .length = 12}); /* the engine dies in its status line */
    fake_say(&pair->fake, "200 OK", CONTAINER("created"));
    int rc = mc_container_create(pair->engine, &spec, &id, soon(), &err);
    if (rc != 0) {
        fail_msg("%d %s", rc, err.text);
    }
    assert_string_equal(id, "c0ffee");
    free(id);
}

static void removal_in_progress(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    fake_say(&pair->fake, "409 Conflict", "{\"message\":\"removal of container one is already in progress\"}");
    fake_say(&pair->fake, "200 OK", CONTAINER("removing"));
    fake_say(&pair->fake, "200 OK", CONTAINER("removing"));
    fake_say(&pair->fake, "404 Not Found", "{\"message\":\"no such container\"}");
    assert_int_equal(mc_container_remove(pair->engine, "one", any, soon(), &err), 0);
    assert_true(fake_was_asked(&pair->fake, "DELETE /v1.41/containers/one?force=1&v=1 "));
    fake_say(&pair->fake, "500 Oh", "{\"message\":\"device busy\"}");
    fake_say(&pair->fake, "200 OK", CONTAINER("exited"));
    assert_int_equal(mc_container_remove(pair->engine, "one", any, soon(), &err), MC_ENGINE);
    assert_string_equal(err.text, "removing container one: the engine says: device busy (HTTP 500)");
    fake_say(&pair->fake, "409 Conflict", "{\"message\":\"in progress\"}");
    for (int i = 0; i < 10; i++) {
        fake_say(&pair->fake, "200 OK", CONTAINER("removing"));
    }
    assert_int_equal(mc_container_remove(pair->engine, "one", any, mc_within(400, NULL), &err), MC_TIMEOUT);
}

static void labels_guard_removal(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    const struct mc_label both[] = {store_label, {.name = "org.memcal.run", .value = "r1"}};
    struct mc_labels wanted = {.items = both, .count = 2};
    fake_say(&pair->fake, "200 OK", CONTAINER("exited"));
    assert_int_equal(mc_container_remove(pair->engine, "one", wanted, soon(), &err), MC_DENIED);
    assert_string_equal(err.text,
                        "removing container one: it is not ours: its label org.memcal.run is not there, not r1");
    fake_say(&pair->fake, "200 OK", "{\"Name\":\"v\",\"Labels\":{\"org.memcal.store\":\"s2\"}}");
    assert_int_equal(mc_volume_remove(pair->engine, "v", ours, soon(), &err), MC_DENIED);
    fake_say(&pair->fake, "200 OK", "{\"Id\":\"n\",\"Labels\":null}");
    assert_int_equal(mc_network_remove(pair->engine, "n", ours, soon(), &err), MC_DENIED);
    assert_false(fake_was_asked(&pair->fake, "DELETE"));
}

/* A list that the engine filtered wrongly is filtered again. */
static void lists_are_checked(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    MC_AUTOOBJECTS struct mc_objects list = MC_OBJECTS_INIT;
    fake_say(
        &pair->fake, "200 OK",
        "[{\"Id\":\"1\",\"Names\":[\"/a\"],\"State\":\"exited\",\"Created\":5,\"Labels\":{\"org.memcal.store\":\"s1\","
        "\"x\":\"y\"}},{\"Id\":\"2\",\"Names\":[],\"Labels\":{\"org.memcal.store\":\"s2\"}},{\"Id\":\"3\"}]");
    assert_int_equal(mc_container_list(pair->engine, ours, &list, soon(), &err), 0);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].id, "1");
    assert_string_equal(list.items[0].name, "a");
    assert_int_equal(list.items[0].created_s, 5);
    assert_string_equal(mc_object_label(&list.items[0], "x"), "y");
    assert_null(mc_object_label(&list.items[0], "z"));
    assert_true(fake_was_asked(&pair->fake,
                               "GET /v1.41/containers/json?all=1&filters=%7B%22label%22%3A%5B%22org.memcal."
                               "store%3Ds1%22%5D%7D "));
    mc_objects_release(&list);
    fake_say(&pair->fake, "200 OK",
             "{\"Volumes\":[{\"Name\":\"v\",\"CreatedAt\":\"1970-01-01T00:01:00Z\",\"Labels\":{\"org.memcal.store\":"
             "\"s1\"}},{\"Name\":\"w\",\"Labels\":null}],\"Warnings\":null}");
    assert_int_equal(mc_volume_list(pair->engine, ours, &list, soon(), &err), 0);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].created_s, 60);
    mc_objects_release(&list);
    fake_say(&pair->fake, "200 OK", "{\"Volumes\":null}");
    assert_int_equal(mc_volume_list(pair->engine, ours, &list, soon(), &err), 0);
    assert_int_equal(list.count, 0);
    fake_say(&pair->fake, "200 OK", "[{\"Id\":\"n\",\"Name\":\"bridge\",\"Labels\":{}}]");
    assert_int_equal(mc_network_list(pair->engine, any, &list, soon(), &err), 0);
    assert_int_equal(list.count, 1);
}

static void wait_believes_the_state(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    /* An answer that comes too early, then one that is right. */
    fake_say(&pair->fake, "200 OK", "{\"StatusCode\":0}");
    fake_say(&pair->fake, "200 OK", CONTAINER("running"));
    fake_say(&pair->fake, "200 OK", "{\"StatusCode\":0}");
    fake_say(&pair->fake, "200 OK", CONTAINER("exited"));
    assert_int_equal(mc_container_wait(pair->engine, "one", &done, soon(), &err), 0);
    assert_int_equal(done.exit_code, 137);
    assert_int_equal(mc_container_oom(&done, 0), MC_OOM_PROBABLE);
    assert_int_equal(mc_container_oom(&done, 1), MC_OOM_NO);
    done.oom_killed = 1;
    assert_int_equal(mc_container_oom(&done, 1), MC_OOM_YES);
    fake_say(&pair->fake, "200 OK", "{\"StatusCode\":0}");
    fake_say(&pair->fake, "200 OK", CONTAINER("configured"));
    struct mc_container never;
    assert_int_equal(mc_container_wait(pair->engine, "one", &never, soon(), &err), MC_INPUT);
    assert_string_equal(err.text, "waiting for container one: it was never started");
}

/* An engine that answers "created" for a volume that somebody else made. */
static void volume_of_someone_else(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    fake_say(&pair->fake, "201 Created", "{\"Name\":\"v\",\"Labels\":{\"org.memcal.store\":\"s1\"}}");
    fake_say(&pair->fake, "200 OK", "{\"Name\":\"v\",\"Labels\":{\"org.memcal.store\":\"s2\"}}");
    assert_int_equal(mc_volume_create(pair->engine, "v", ours, soon(), &err), MC_EXISTS);
    assert_string_equal(err.text, "creating volume v: a volume of this name was there already and is not this one's");
    assert_string_equal(err.hint, "if nobody needs it, remove it with 'docker volume rm v'");
}

static void plan_of_a_confined_container(void **state)
{
    (void)state;
    const struct mc_mount mounts[] = {{.volume = "home", .path = "/home/agent"},
                                      {.volume = "clock", .path = "/memcal/clock", .read_only = 1},
                                      {.volume = "bin", .path = "/memcal/bin", .read_only = 1, .copy_up = 1}};
    struct mc_container_spec spec = {.name = "one",
                                     .image = "sha256:1",
                                     .entrypoint = (const char *const[]){"/memcal/bin/enter", NULL},
                                     .cmd = (const char *const[]){NULL},
                                     .env = (const char *const[]){"TZ=Europe/Berlin", NULL},
                                     .labels = ours,
                                     .mounts = mounts,
                                     .mount_count = 3,
                                     .open_stdin = 1};
    mc_container_spec_confine(&spec);
    MC_AUTOJSON json_t *json = mc_container_spec_json(&spec);
    MC_AUTOFREE char *text = mc_json_text(json);
    assert_string_equal(
        text,
        "{\"AttachStderr\":true,\"AttachStdin\":true,\"AttachStdout\":true,\"Cmd\":[],\"Entrypoint\":[\"/memcal/bin/"
        "enter\"],\"Env\":[\"TZ=Europe/Berlin\"],\"HostConfig\":{\"AutoRemove\":false,\"Binds\":[\"home:/home/agent:rw,"
        "nocopy\",\"clock:/memcal/clock:ro,nocopy\",\"bin:/memcal/bin:ro\"],\"CapDrop\":[\"ALL\"],\"Init\":"
        "false,\"Memory\":2147483648,\"MemorySwap\":2147483648,"
        "\"NetworkMode\":\"none\",\"PidsLimit\":512,\"Privileged\":false,\"ReadonlyRootfs\":true,\"RestartPolicy\":{"
        "\"Name\":\"no\"},\"SecurityOpt\":[\"no-new-privileges\"],\"Tmpfs\":{\"/tmp\":\"rw,nosuid,nodev,size=256m,mode="
        "1777\"},\"Ulimits\":[{\"Hard\":4096,\"Name\":\"nofile\",\"Soft\":4096},{\"Hard\":4096,\"Name\":\"nproc\","
        "\"Soft\":4096},{\"Hard\":0,\"Name\":\"core\",\"Soft\":0}]},\"Image\":\"sha256:1\",\"Labels\":{\"org.memcal."
        "store\":\"s1\"},\"OpenStdin\":true,\"StdinOnce\":true,\"Tty\":false,\"User\":\"10001:10001\"}");
}

/* The text of a bind could be made to name a folder of the host. */
static void mounts_are_volumes(void **state)
{
    struct pair *pair = *state;
    static const struct mc_mount wrong[] = {{.volume = "/etc", .path = "/x"},
                                            {.volume = "", .path = "/x"},
                                            {.volume = "v:/etc", .path = "/x"},
                                            {.volume = "v", .path = "/x:/y"}};
    for (size_t i = 0; i < MC_COUNT(wrong); i++) {
        struct mc_err err;
        char *id = NULL;
        struct mc_container_spec spec = {
            .name = "one", .image = "i", .labels = ours, .mounts = &wrong[i], .mount_count = 1};
        assert_int_equal(mc_container_create(pair->engine, &spec, &id, soon(), &err), MC_INPUT);
        assert_non_null(strstr(err.text, "a volume's name has no '/' and neither has ':'"));
    }
    assert_false(fake_was_asked(&pair->fake, "/containers/create"));
}

static void confine_keeps_what_is_set(void **state)
{
    (void)state;
    const struct mc_tmpfs tmpfs = {.path = "/run", .options = "rw"};
    struct mc_container_spec spec = {.name = "one",
                                     .image = "i",
                                     .user = "7:7",
                                     .memory = 5,
                                     .pids = 6,
                                     .tmpfs = &tmpfs,
                                     .tmpfs_count = 1,
                                     .network = "host"};
    mc_container_spec_confine(&spec);
    assert_string_equal(spec.network, "none"); /* except this: no container of a life has one */
    assert_string_equal(spec.user, "7:7");
    assert_int_equal(spec.memory, 5);
    assert_int_equal(spec.pids, 6);
    assert_ptr_equal(spec.tmpfs, &tmpfs);
    /* Without it nothing is assumed but the absence of a network. */
    struct mc_container_spec plain = {.name = "p", .image = "i"};
    MC_AUTOJSON json_t *json = mc_container_spec_json(&plain);
    const json_t *host = json_object_get(json, "HostConfig");
    assert_string_equal(json_string_value(json_object_get(host, "NetworkMode")), "none");
    assert_null(json_object_get(json, "Cmd"));
    assert_null(json_object_get(json, "User"));
    assert_null(json_object_get(host, "Memory"));
    assert_null(json_object_get(host, "CapDrop"));
    assert_true(json_is_false(json_object_get(json, "OpenStdin")));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(podman_says_500),
        TEST(name_conflict_by_state),
        TEST(create_whose_answer_was_lost),
        TEST(removal_in_progress),
        TEST(labels_guard_removal),
        TEST(lists_are_checked),
        TEST(wait_believes_the_state),
        TEST(volume_of_someone_else),
        TEST(mounts_are_volumes),
        cmocka_unit_test(plan_of_a_confined_container),
        cmocka_unit_test(confine_keeps_what_is_set),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
