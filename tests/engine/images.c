/* Images: what they are, built, named, and moved from engine to engine. */
#include "engine_tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void imported_image_is_described(void **state)
{
    struct bench *bench = *state;
    MC_AUTOIMAGE struct mc_image image = {.raw = NULL};
    ok(mc_image_inspect(bench->engine, bench->image, &image, soon(), &fault));
    assert_string_equal(image.id, bench->image);
    assert_true(mc_starts_with(image.id, "sha256:"));
    assert_non_null(image.layers[0]);
    assert_null(image.layers[1]);
    assert_null(image.entrypoint[0]);
    assert_null(image.volumes[0]);
    assert_string_equal(image.user, "");
    assert_string_equal(image.os, "linux");
    assert_string_equal(image.arch, mc_engine_about(bench->engine)->arch);
    assert_true(image.size > 0);
    assert_int_equal(mc_labels_match(image.labels, bench->labels), 1);

    MC_AUTOOBJECTS struct mc_objects list = MC_OBJECTS_INIT;
    ok(mc_image_list(bench->engine, bench->labels, &list, soon(), &fault));
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].id, bench->image);
}

static void missing_image_is_not_found(void **state)
{
    struct bench *bench = *state;
    struct mc_err err;
    struct mc_image image;
    assert_int_equal(mc_image_inspect(bench->engine, "memcal-nothing:1", &image, soon(), &err), MC_NOT_FOUND);
    assert_int_equal(err.http, 404);
    ok(mc_image_remove(bench->engine, "memcal-nothing:1", 0, soon(), &fault));
}

struct tar {
    struct mc_buf bytes;
    size_t at;
};

static int from_tar(void *payload, void *bytes, size_t room, size_t *got, struct mc_err *err)
{
    (void)err;
    struct tar *tar = payload;
    size_t left = tar->bytes.len - tar->at;
    *got = left < room ? left : room;
    memcpy(bytes, tar->bytes.data + tar->at, *got);
    tar->at += *got;
    return 0;
}

static void count_lines(void *payload, const char *id, const char *text, int64_t current, int64_t total)
{
    (void)id;
    (void)current;
    (void)total;
    assert_true(text[0] != '\0');
    ++*(int *)payload;
}

static int build(struct bench *bench, const char *dockerfile, const char *tag, char **id, void *lines,
                 struct mc_err *err)
{
    struct tar tar = {.bytes = MC_BUF_OWN};
    const struct mc_archive_entry entry = {.path = "Containerfile", .bytes = dockerfile, .length = strlen(dockerfile)};
    int rc = mc_archive_make(&entry, 1, &tar.bytes, err);
    struct mc_label arg = {.name = "WHO", .value = "a b&c=\"d\""};
    struct mc_image_progress progress = {.on_line = count_lines, .payload = lines};
    struct mc_image_build build = {.tag = tag,
                                   .dockerfile = "Containerfile",
                                   .labels = bench->labels,
                                   .args = {.items = &arg, .count = 1},
                                   .network = "none",
                                   .context = from_tar,
                                   .payload = &tar,
                                   .progress = &progress};
    rc = rc != 0 ? rc : mc_image_build(bench->engine, &build, id, mc_within(60000, NULL), err);
    mc_buf_release(&tar.bytes);
    return rc;
}

static void built_image(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *tag = mc_strf("memcal-test:%.8s-built", bench->store);
    MC_AUTOFREE char *file = mc_strf("FROM %s\nARG WHO\nENV WHO=$WHO\nUSER 7:8\nWORKDIR /data\nENTRYPOINT "
                                     "[\"/guest\"]\nCMD [\"exit\", \"5\"]\n",
                                     bench->image);
    MC_AUTOFREE char *id = NULL;
    int lines = 0;
    ok(build(bench, file, tag, &id, &lines, &fault));
    assert_true(lines >= 6);
    MC_AUTOIMAGE struct mc_image image = {.raw = NULL};
    ok(mc_image_inspect(bench->engine, tag, &image, soon(), &fault));
    assert_string_equal(image.id, id);
    assert_string_equal(image.user, "7:8");
    assert_string_equal(image.workdir, "/data");
    assert_string_equal(image.entrypoint[0], "/guest");
    assert_string_equal(image.cmd[1], "5");
    assert_int_equal(mc_labels_match(image.labels, bench->labels), 1);
    int found = 0;
    for (size_t i = 0; image.env[i]; i++) {
        found |= strcmp(image.env[i], "WHO=a b&c=\"d\"") == 0;
    }
    assert_true(found);

    MC_AUTOFREE char *name = mc_strf("memcal-test:%.8s-named", bench->store);
    ok(mc_image_tag(bench->engine, id, name, soon(), &fault));
    MC_AUTOIMAGE struct mc_image same = {.raw = NULL};
    ok(mc_image_inspect(bench->engine, name, &same, soon(), &fault));
    assert_string_equal(same.id, id);
    ok(mc_image_remove(bench->engine, name, 0, soon(), &fault));
    ok(mc_image_remove(bench->engine, id, 1, soon(), &fault));
    struct mc_err err;
    struct mc_image gone;
    assert_int_equal(mc_image_inspect(bench->engine, id, &gone, soon(), &err), MC_NOT_FOUND);
}

static void failing_step_is_said(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *tag = mc_strf("memcal-test:%.8s-broken", bench->store);
    MC_AUTOFREE char *file = mc_strf("FROM %s\nCOPY not-there /x\n", bench->image);
    MC_AUTOFREE char *id = NULL;
    int lines = 0;
    struct mc_err err = {.code = MC_OK};
    assert_true(build(bench, file, tag, &id, &lines, &err) != 0);
    assert_non_null(strstr(err.text, "building image memcal-test:"));
    assert_non_null(strstr(err.text, "not-there"));
    assert_null(id);
}

static void anonymous_volumes_go_too(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *label = mc_strf("LABEL org.memcal.store=%s", bench->store);
    MC_AUTOFREE char *image = NULL;
    ok(make_guest_image(bench, (const char *const[]){label, "VOLUME /data", NULL}, &image, &fault));
    MC_AUTOIMAGE struct mc_image about = {.raw = NULL};
    ok(mc_image_inspect(bench->engine, image, &about, soon(), &fault));
    assert_string_equal(about.volumes[0], "/data");
    MC_AUTOFREE char *name = new_name(bench, "c");
    struct mc_container_spec spec = guest_spec(bench, name, GUEST("exit", "0"));
    spec.image = image;
    char *id = NULL;
    ok(mc_container_create(bench->engine, &spec, &id, soon(), &fault));
    ok(mc_container_start(bench->engine, id, soon(), &fault));
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    ok(mc_container_wait(bench->engine, id, &done, soon(), &fault));
    assert_int_equal(json_array_size(done.mounts), 1);
    const char *volume = json_string_value(json_object_get(json_array_get(done.mounts, 0), "Name"));
    discard(bench, id);
    struct mc_err err;
    MC_AUTOJSON json_t *gone = NULL;
    assert_int_equal(mc_volume_inspect(bench->engine, volume, &gone, soon(), &err), MC_NOT_FOUND);
    ok(mc_image_remove(bench->engine, image, 1, soon(), &fault));
}

/* From this engine to every one listed, itself included: the same ID everywhere. */
static void moved_image_keeps_its_id(void **state)
{
    struct bench *bench = *state;
    MC_AUTOFREE char *label = mc_strf("LABEL org.memcal.store=%s", bench->store);
    char path[] = "/tmp/memcal-test-image-XXXXXX";
    MC_AUTOCLOSE int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    MC_AUTOFREE char *image = NULL;
    ok(make_guest_image(bench, (const char *const[]){label, "ENV MOVED=1", NULL}, &image, &fault));
    ok(mc_image_save(bench->engine, (const char *const[]){image, NULL}, fd, mc_within(60000, NULL), &fault));
    ok(mc_image_remove(bench->engine, image, 1, soon(), &fault));
    for (size_t i = 0; i < bench->other_count; i++) {
        struct bench *other = &bench->others[i];
        if (!other->image) {
            continue; /* this one could not be opened, which failed the run already */
        }
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        ok(mc_image_load(other->engine, fd, NULL, mc_within(60000, NULL), &fault));
        MC_AUTOIMAGE struct mc_image moved = {.raw = NULL};
        ok(mc_image_inspect(other->engine, image, &moved, soon(), &fault));
        assert_string_equal(moved.id, image);
        assert_string_equal(moved.env[0] ? moved.env[0] : "", "MOVED=1");
        ok(mc_image_remove(other->engine, image, 1, soon(), &fault));
    }
}

static void broken_tar_is_refused(void **state)
{
    struct bench *bench = *state;
    char path[] = "/tmp/memcal-test-image-XXXXXX";
    MC_AUTOCLOSE int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(write(fd, "this is no tar", 14), 14);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    struct mc_err err;
    assert_int_equal(mc_image_load(bench->engine, fd, NULL, soon(), &err), MC_ENGINE);
    assert_non_null(strstr(err.text, "loading an image: the engine says: "));
}

int run_image_tests(struct bench *bench)
{
#define TEST(f) cmocka_unit_test_prestate(f, bench)
    const struct CMUnitTest tests[] = {
        TEST(imported_image_is_described), TEST(missing_image_is_not_found), TEST(built_image),
        TEST(failing_step_is_said),        TEST(anonymous_volumes_go_too),   TEST(moved_image_keeps_its_id),
        TEST(broken_tar_is_refused),
    };
#undef TEST
    return cmocka_run_group_tests_name("images", tests, NULL, NULL);
}
