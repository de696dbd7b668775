/* Volumes, and files into and out of containers. */
#include "engine_tests.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

static void volumes_and_their_labels(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *name = new_name(bench, "v");
    ok(mc_volume_create(bench->engine, name, bench->labels, soon(), &fault));
    ok(mc_volume_create(bench->engine, name, bench->labels, soon(), &fault)); /* ours still */
    const struct mc_label other = {.name = "org.memcal.store", .value = "someone-else"};
    struct mc_labels others = {.items = &other, .count = 1};
    struct mc_err err;
    assert_int_equal(mc_volume_create(bench->engine, name, others, soon(), &err), MC_EXISTS);
    assert_non_null(strstr(err.text, "was there already and is not this one's"));

    MC_AUTOOBJECTS struct mc_objects list = MC_OBJECTS_INIT;
    ok(mc_volume_list(bench->engine, bench->labels, &list, soon(), &fault));
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].name, name);
    assert_true(list.items[0].created_s > 1700000000);

    assert_int_equal(mc_volume_remove(bench->engine, name, others, soon(), &err), MC_DENIED);
    ok(mc_volume_remove(bench->engine, name, bench->labels, soon(), &fault));
    ok(mc_volume_remove(bench->engine, name, bench->labels, soon(), &fault));
    MC_AUTOJSON json_t *gone = NULL;
    assert_int_equal(mc_volume_inspect(bench->engine, name, &gone, soon(), &err), MC_NOT_FOUND);
}

/* A created container with a volume on /data; the volume's name is kept in *volume. */
static char *with_volume(struct bench *bench, char **volume)
{
    *volume = new_name(bench, "v");
    MC_AUTOFREE char *name = new_name(bench, "c");
    ok(mc_volume_create(bench->engine, *volume, bench->labels, soon(), &fault));
    const struct mc_mount mount = {.volume = *volume, .path = "/data", .read_only = 0};
    struct mc_container_spec spec = guest_spec(bench, name, GUEST("sleep", "60"));
    spec.mounts = &mount;
    spec.mount_count = 1;
    char *id = NULL;
    ok(mc_container_create(bench->engine, &spec, &id, soon(), &fault));
    return id;
}

static int collect(void *payload, const struct mc_archive_file *file, struct mc_err *err)
{
    json_t *seen = payload;
    char bytes[64];
    size_t got = 0;
    if (mc_archive_read(file, bytes, sizeof bytes, &got, err) != 0) {
        return err->code;
    }
    json_object_set_new(
        seen, file->path,
        json_pack("{s:I,s:i,s:s#}", "size", (json_int_t)file->size, "mode", (int)file->mode, "text", bytes, (int)got));
    return 0;
}

static void files_in_and_out(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *volume = NULL;
    char *id = with_volume(bench, &volume);
    const struct mc_archive_entry entries[] = {
        {.path = "in/", .mode = 0755, .uid = 10001, .gid = 10001},
        {.path = "in/a.txt", .mode = 0640, .uid = 10001, .gid = 10001, .bytes = "alpha", .length = 5},
        {.path = "in/deep/", .uid = 10001},
        {.path = "in/deep/b \xc3\xa9.txt", .bytes = "beta", .length = 4},
        {.path = "in/empty", .bytes = "", .length = 0},
    };
    ok(mc_archive_put(bench->engine, id, "/data", entries, MC_COUNT(entries), soon(), &fault));

    static const char *const paths[] = {"/data/in", "/data/in/", "/data/in/."};
    for (size_t i = 0; i < MC_COUNT(paths); i++) {
        MC_AUTOJSON json_t *seen = json_object();
        struct mc_archive_limits limits = {.files = 10, .bytes = 100};
        ok(mc_archive_get(bench->engine, id, paths[i], limits, collect, seen, soon(), &fault));
        MC_AUTOFREE char *text = mc_json_text(seen);
        assert_string_equal(text, "{\"a.txt\":{\"mode\":416,\"size\":5,\"text\":\"alpha\"},"
                                  "\"deep/b \xc3\xa9.txt\":{\"mode\":420,\"size\":4,\"text\":\"beta\"},"
                                  "\"empty\":{\"mode\":420,\"size\":0,\"text\":\"\"}}");
    }
    MC_AUTOBUF struct mc_buf one = MC_BUF_INIT(5);
    ok(mc_archive_get_file(bench->engine, id, "/data/in/a.txt", &one, soon(), &fault));
    assert_string_equal(mc_buf_text(&one), "alpha");

    struct mc_err err;
    MC_AUTOBUF struct mc_buf small = MC_BUF_INIT(4);
    assert_int_equal(mc_archive_get_file(bench->engine, id, "/data/in/a.txt", &small, soon(), &err), MC_LIMIT);
    assert_int_equal(mc_archive_get_file(bench->engine, id, "/data/in", &one, soon(), &err), MC_LIMIT);
    assert_int_equal(mc_archive_get_file(bench->engine, id, "/data/none", &one, soon(), &err), MC_NOT_FOUND);
    struct mc_archive_limits few = {.files = 3, .bytes = 100};
    MC_AUTOJSON json_t *seen = json_object();
    assert_int_equal(mc_archive_get(bench->engine, id, "/data/in", few, collect, seen, soon(), &err), MC_LIMIT);
    assert_non_null(strstr(err.text, "more than 3 files"));
    struct mc_archive_limits short_ = {.files = 10, .bytes = 8};
    assert_int_equal(mc_archive_get(bench->engine, id, "/data/in", short_, collect, seen, soon(), &err), MC_LIMIT);
    assert_non_null(strstr(err.text, "more than 8 bytes"));
    /* The engine is as good as before after each of these. */
    ok(mc_archive_get_file(bench->engine, id, "/data/in/a.txt", &one, soon(), &fault));
    discard(bench, id);
    ok(mc_volume_remove(bench->engine, volume, bench->labels, soon(), &fault));
}

static void missing_folder_is_said(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *volume = NULL;
    char *id = with_volume(bench, &volume);
    const struct mc_archive_entry entry = {.path = "a", .bytes = "x", .length = 1};
    struct mc_err err;
    assert_int_equal(mc_archive_put(bench->engine, id, "/data/none", &entry, 1, soon(), &err), MC_NOT_FOUND);
    assert_non_null(strstr(err.text, "there is no such folder"));
    discard(bench, id);
    ok(mc_volume_remove(bench->engine, volume, bench->labels, soon(), &fault));
}

static void large_file_streams(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *volume = NULL;
    char *id = with_volume(bench, &volume);
    size_t size = (size_t)24 << 20;
    MC_AUTOFREE char *bytes = mc_alloc(1, size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)(i * 2654435761U >> 24);
    }
    const struct mc_archive_entry entry = {.path = "big", .bytes = bytes, .length = size};
    ok(mc_archive_put(bench->engine, id, "/data", &entry, 1, soon(), &fault));
    MC_AUTOBUF struct mc_buf back = MC_BUF_INIT(size);
    ok(mc_archive_get_file(bench->engine, id, "/data/big", &back, soon(), &fault));
    assert_int_equal(back.len, size);
    assert_memory_equal(back.data, bytes, size);
    discard(bench, id);
    ok(mc_volume_remove(bench->engine, volume, bench->labels, soon(), &fault));
}

static void volume_outlives_its_containers(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *volume = NULL;
    char *first = with_volume(bench, &volume);
    const struct mc_archive_entry entry = {.path = "kept", .bytes = "yes", .length = 3};
    ok(mc_archive_put(bench->engine, first, "/data", &entry, 1, soon(), &fault));
    struct mc_err err;
    assert_int_equal(mc_volume_remove(bench->engine, volume, bench->labels, soon(), &err), MC_ENGINE); /* in use */
    discard(bench, first);
    MC_AUTOFREE char *name = new_name(bench, "c");
    const struct mc_mount mount = {.volume = volume, .path = "/data", .read_only = 1};
    struct mc_container_spec spec = guest_spec(bench, name, GUEST("exit", "0"));
    spec.mounts = &mount;
    spec.mount_count = 1;
    char *second = NULL;
    ok(mc_container_create(bench->engine, &spec, &second, soon(), &fault));
    MC_AUTOBUF struct mc_buf back = MC_BUF_INIT(10);
    ok(mc_archive_get_file(bench->engine, second, "/data/kept", &back, soon(), &fault));
    assert_string_equal(mc_buf_text(&back), "yes");
    MC_AUTOCONTAINER struct mc_container now = {.raw = NULL};
    ok(mc_container_inspect(bench->engine, second, &now, soon(), &fault));
    assert_int_equal(json_array_size(now.mounts), 1);
    assert_true(json_is_false(json_object_get(json_array_get(now.mounts, 0), "RW")));
    discard(bench, second);
    ok(mc_volume_remove(bench->engine, volume, bench->labels, soon(), &fault));
}

/* Writes a file on a new volume mounted as `mount` says, as the container's user; the exit code. What the volume then
 * holds is in *seen as JSON text. The volume goes too. */
static int write_on_volume(struct bench *bench, struct mc_mount mount, char **seen)
{
    MC_AUTOFREE char *volume = new_name(bench, "v");
    MC_AUTOFREE char *name = new_name(bench, "c");
    MC_AUTOFREE char *file = mc_path_join(mount.path, "new");
    ok(mc_volume_create(bench->engine, volume, bench->labels, soon(), &fault));
    mount.volume = volume;
    struct mc_container_spec spec = guest_spec(bench, name, GUEST("write", file));
    spec.mounts = &mount;
    spec.mount_count = 1;
    char *id = NULL;
    ok(mc_container_create(bench->engine, &spec, &id, soon(), &fault));
    ok(mc_container_start(bench->engine, id, soon(), &fault));
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    ok(mc_container_wait(bench->engine, id, &done, soon(), &fault));
    MC_AUTOJSON json_t *files = json_object();
    struct mc_archive_limits limits = {.files = 10, .bytes = 100};
    ok(mc_archive_get(bench->engine, id, mount.path, limits, collect, files, soon(), &fault));
    *seen = mc_json_text(files);
    discard(bench, id);
    ok(mc_volume_remove(bench->engine, volume, bench->labels, soon(), &fault));
    return done.exit_code;
}

#define WRITTEN "\"new\":{\"mode\":420,\"size\":7,\"text\":\"written\"}"

/* A new volume is root's on Docker, the user's on Podman; one that takes over a folder of the image has its owner on
 * both, and nothing is copied into it unless that was asked for. */
static void volumes_owner(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *plain = NULL;
    int podman = mc_engine_about(bench->engine)->kind == MC_ENGINE_PODMAN;
    assert_int_equal(write_on_volume(bench, (struct mc_mount){.path = "/vol"}, &plain), podman ? 0 : 1);
    assert_string_equal(plain, podman ? "{" WRITTEN "}" : "{}");
    MC_AUTOFREE char *empty = NULL;
    assert_int_equal(write_on_volume(bench, (struct mc_mount){.path = "/data"}, &empty), podman ? 0 : 1);
    assert_string_equal(empty, podman ? "{" WRITTEN "}" : "{}");
    MC_AUTOFREE char *copied = NULL;
    assert_int_equal(write_on_volume(bench, (struct mc_mount){.path = "/data", .copy_up = 1}, &copied), 0);
    assert_string_equal(copied, "{" WRITTEN ",\"seed\":{\"mode\":416,\"size\":4,\"text\":\"seed\"}}");
}

int run_file_tests(struct bench *bench)
{
#define TEST(f) cmocka_unit_test_prestate(f, bench)
    const struct CMUnitTest tests[] = {
        TEST(volumes_and_their_labels),       TEST(files_in_and_out),
        TEST(missing_folder_is_said),         TEST(large_file_streams),
        TEST(volume_outlives_its_containers), TEST(volumes_owner),
    };
#undef TEST
    return cmocka_run_group_tests_name("volumes and files", tests, NULL, NULL);
}
