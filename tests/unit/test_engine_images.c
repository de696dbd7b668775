/* Images, and the tars that come out of containers. */
#include "support/fake_engine.h"

#include <archive.h>
#include <archive_entry.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/archive.h"
#include "engine/image.h"
#include "engine/own.h"

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

/* From API 1.52 on, empty fields are left out; before, some are null. */
static void absent_is_empty(void **state)
{
    struct pair *pair = *state;
    static const char *const forms[] = {
        "{\"Id\":\"sha256:1\",\"Config\":{\"Env\":null,\"Cmd\":null,\"Labels\":null,\"Volumes\":null},\"RepoTags\":[],"
        "\"RepoDigests\":null,\"RootFS\":{}}",
        "{\"Id\":\"sha256:1\",\"Config\":{}}", "{\"Id\":\"sha256:1\",\"Config\":null}", "{\"Id\":\"sha256:1\"}"};
    for (size_t i = 0; i < MC_COUNT(forms); i++) {
        struct mc_err err;
        MC_AUTOIMAGE struct mc_image image = {.raw = NULL};
        fake_say(&pair->fake, "200 OK", forms[i]);
        assert_int_equal(mc_image_inspect(pair->engine, "a/b:c", &image, soon(), &err), 0);
        const char **lists[] = {image.tags, image.digests, image.layers, image.entrypoint,
                                image.cmd,  image.env,     image.volumes};
        for (size_t j = 0; j < MC_COUNT(lists); j++) {
            assert_non_null(lists[j]);
            assert_null(lists[j][0]);
        }
        assert_string_equal(image.user, "");
        assert_int_equal(json_object_size(image.labels), 0);
    }
    assert_true(fake_was_asked(&pair->fake, "GET /v1.41/images/a/b:c/json "));
}

static void references(void **state)
{
    (void)state;
    static const struct {
        const char *reference;
        const char *repo;
        const char *tag;
    } known[] = {
        {"debian", "debian", "latest"},
        {"debian:13", "debian", "13"},
        {"box:5000/a/b", "box:5000/a/b", "latest"},
        {"box:5000/a/b:1", "box:5000/a/b", "1"},
        {"a@sha256:12", "a", "sha256:12"},
        {"box:5000/a:1@sha256:12", "box:5000/a", "sha256:12"},
    };
    for (size_t i = 0; i < MC_COUNT(known); i++) {
        MC_AUTOFREE char *repo = NULL;
        MC_AUTOFREE char *tag = NULL;
        mc_image_split(known[i].reference, &repo, &tag);
        assert_string_equal(repo, known[i].repo);
        assert_string_equal(tag, known[i].tag);
    }
}

static void on_line(void *payload, const char *id, const char *text, int64_t current, int64_t total)
{
    mc_buf_putf(payload, "%s|%s|%lld/%lld;", id, text, (long long)current, (long long)total);
}

static int no_bytes(void *payload, void *bytes, size_t room, size_t *got, struct mc_err *err)
{
    (void)payload;
    (void)bytes;
    (void)room;
    (void)err;
    *got = 0;
    return 0;
}

static int failing_source(void *payload, void *bytes, size_t room, size_t *got, struct mc_err *err)
{
    (void)payload;
    (void)bytes;
    (void)room;
    *got = 0;
    return mc_fail(err, MC_IO, "the disk is gone");
}

#define STEP1 "{\"stream\":\"Step 1/2 : FROM x\\n\"}\r\n"
#define STEP2 "{\"stream\":\"Step 2/2 : RUN false\\n\"}\r\n"
#define FAILED \
    "{\"errorDetail\":{\"code\":1,\"message\":\"The command returned a non-zero code: 1\"},\"error\":\"old\"}\r\n"

/* An error after a status of 200, its lines cut at every offset. */
static void build_that_fails(void **state)
{
    struct pair *pair = *state;
    static const char bytes[] = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" STEP1 STEP2 FAILED;
    size_t head = strlen("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (size_t split = head; split < sizeof bytes - 1; split++) {
        struct mc_err err;
        char *id = NULL;
        MC_AUTOBUF struct mc_buf lines = MC_BUF_OWN;
        struct mc_image_progress progress = {.on_line = on_line, .payload = &lines};
        struct mc_image_build build = {.tag = "t:1", .context = no_bytes, .progress = &progress};
        fake_clear(&pair->fake);
        fake_add(&pair->fake, (struct fake_answer){.bytes = bytes, .length = sizeof bytes - 1, .split = split});
        assert_int_equal(mc_image_build(pair->engine, &build, &id, soon(), &err), MC_ENGINE);
        assert_string_equal(err.text,
                            "building image t:1: the engine says: The command returned a non-zero code: 1; last "
                            "output: Step 1/2 : FROM x\nStep 2/2 : RUN false");
        assert_null(id);
        assert_string_equal(mc_buf_text(&lines), "|Step 1/2 : FROM x\n|0/0;|Step 2/2 : RUN false\n|0/0;");
    }
}

static void build_that_succeeds(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    char *id = NULL;
    const struct mc_label label = {.name = "l", .value = "v"};
    struct mc_image_build build = {
        .tag = "t:1", .context = no_bytes, .labels = {.items = &label, .count = 1}, .network = "none"};
    fake_say(&pair->fake, "200 OK",
             STEP1 "{\"aux\":{\"ID\":\"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}}\n");
    fake_say(&pair->fake, "200 OK",
             "{\"Id\":\"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}");
    assert_int_equal(mc_image_build(pair->engine, &build, &id, soon(), &err), 0);
    assert_string_equal(id, "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    free(id);
    assert_true(fake_was_asked(&pair->fake,
                               "POST /v1.41/build?rm=1&forcerm=1&t=t%3A1&dockerfile=Dockerfile&labels=%7B%22l"
                               "%22%3A%22v%22%7D&networkmode=none "));
    assert_true(fake_was_asked(&pair->fake, "GET /v1.41/images/sha256:0123456789abcdef"));
}

static void source_that_fails(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    char *id = NULL;
    struct mc_image_build build = {.tag = "t:1", .context = failing_source};
    assert_int_equal(mc_image_build(pair->engine, &build, &id, soon(), &err), MC_IO);
    assert_string_equal(err.text, "the disk is gone");
}

static void pulls(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    MC_AUTOBUF struct mc_buf lines = MC_BUF_OWN;
    struct mc_image_progress progress = {.on_line = on_line, .payload = &lines};
    fake_say(&pair->fake, "200 OK",
             "{\"status\":\"Downloading\",\"id\":\"l1\",\"progressDetail\":{\"current\":5,\"total\":9}}\r\n\r\n"
             "{\"status\":\"Done\"}");
    assert_int_equal(mc_image_pull(pair->engine, "debian:13", &progress, soon(), &err), 0);
    assert_string_equal(mc_buf_text(&lines), "l1|Downloading|5/9;|Done|0/0;");
    assert_true(fake_was_asked(&pair->fake, "POST /v1.41/images/create?fromImage=debian&tag=13 "));
    fake_say(&pair->fake, "200 OK", "{\"error\":\"write /var: no space left on device\"}\n");
    assert_int_equal(mc_image_pull(pair->engine, "debian", NULL, soon(), &err), MC_ENGINE);
    assert_string_equal(err.text, "pulling image debian: the engine says: write /var: no space left on device");
    assert_non_null(strstr(err.hint, "free disk space"));
    fake_say(&pair->fake, "200 OK", "{\"status\":\"ok\"}\nnot json\n");
    assert_int_equal(mc_image_pull(pair->engine, "debian", NULL, soon(), &err), MC_PROTOCOL);
    assert_non_null(strstr(err.text, "pulling image debian: a line of the engine's progress is no JSON"));
    fake_say(&pair->fake, "404 Not Found", "{\"message\":\"pull access denied for x\"}");
    assert_int_equal(mc_image_pull(pair->engine, "x", NULL, soon(), &err), MC_NOT_FOUND);
    assert_non_null(strstr(err.hint, "docker pull"));
}

static int collect(void *payload, const struct mc_archive_file *file, struct mc_err *err)
{
    char bytes[32];
    size_t got;
    int rc = mc_archive_read(file, bytes, sizeof bytes, &got, err);
    mc_buf_putf(payload, "%s %o %.*s;", file->path, file->mode, rc == 0 ? (int)got : 0, bytes);
    return rc;
}

/* A tar as a hostile container could make it. */
struct item {
    const char *name;
    unsigned type; /* 0: a file */
    const char *link;
    unsigned mode;
};

static la_ssize_t to_buf(struct archive *archive, void *payload, const void *bytes, size_t length)
{
    (void)archive;
    mc_buf_put(payload, bytes, length);
    return (la_ssize_t)length;
}

static void make_tar(const struct item *items, size_t count, struct mc_buf *out)
{
    struct archive *archive = archive_write_new();
    archive_write_set_format_ustar(archive);
    archive_write_open(archive, out, NULL, to_buf, NULL);
    for (size_t i = 0; i < count; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, items[i].name);
        archive_entry_set_filetype(entry, items[i].type ? items[i].type : (unsigned)AE_IFREG);
        archive_entry_set_perm(entry, (mode_t)(items[i].mode ? items[i].mode : 0644));
        if (items[i].link && items[i].type == AE_IFLNK) {
            archive_entry_set_symlink(entry, items[i].link);
        } else if (items[i].link) {
            archive_entry_set_hardlink(entry, items[i].link);
        }
        int has_bytes = !items[i].type && !items[i].link;
        archive_entry_set_size(entry, has_bytes ? 3 : 0);
        assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
        if (has_bytes) {
            assert_int_equal(archive_write_data(archive, "abc", 3), 3);
        }
        archive_entry_free(entry);
    }
    archive_write_free(archive);
}

static int get(struct pair *pair, const struct item *items, size_t count, const char *path, struct mc_buf *seen,
               struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf answer = MC_BUF_OWN;
    MC_AUTOBUF struct mc_buf tar = MC_BUF_OWN;
    make_tar(items, count, &tar);
    mc_buf_putf(&answer, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", tar.len);
    mc_buf_put(&answer, tar.data, tar.len);
    fake_clear(&pair->fake);
    fake_add(&pair->fake, (struct fake_answer){.bytes = answer.data, .length = answer.len, .split = answer.len - 5000});
    struct mc_archive_limits limits = {.files = 5, .bytes = 10};
    return mc_archive_get(pair->engine, "x", path, limits, collect, seen, soon(), err);
}

static void names_are_made_alike(void **state)
{
    struct pair *pair = *state;
    static const struct item named[] = {
        {.name = "out/", .type = AE_IFDIR}, {.name = "out/a", .mode = 0640}, {.name = "out/out/b"}};
    static const struct item dots[] = {
        {.name = "./", .type = AE_IFDIR}, {.name = "./a", .mode = 0640}, {.name = "./out/b"}};
    static const struct item volume[] = {
        {.name = "/", .type = AE_IFDIR}, {.name = "/a", .mode = 0640}, {.name = "/out/b"}};
    const struct item *forms[] = {named, dots, volume};
    static const char *const paths[] = {"/memcal/out", "/memcal/out/", "/memcal/out/.", "/memcal/out/./"};
    for (size_t i = 0; i < MC_COUNT(forms) * MC_COUNT(paths); i++) {
        struct mc_err err;
        MC_AUTOBUF struct mc_buf seen = MC_BUF_OWN;
        assert_int_equal(get(pair, forms[i / 4], 3, paths[i % 4], &seen, &err), 0);
        assert_string_equal(mc_buf_text(&seen), "a 640 abc;out/b 644 abc;");
        assert_true(fake_was_asked(&pair->fake, "/archive?path=%2Fmemcal%2Fout "));
    }
    static const struct item file[] = {{.name = "out"}};
    struct mc_err err;
    MC_AUTOBUF struct mc_buf seen = MC_BUF_OWN;
    assert_int_equal(get(pair, file, 1, "/memcal/out", &seen, &err), 0);
    assert_string_equal(mc_buf_text(&seen), "out 644 abc;");
}

static void hostile_tars(void **state)
{
    struct pair *pair = *state;
    static const struct {
        struct item items[6];
        size_t count;
        enum mc_code code;
        const char *text;
    } known[] = {
        {{{.name = "out/../../etc/passwd"}},
         1,
         MC_DENIED,
         "copying /m/out out of container x: an entry's name leads out of the folder: out/../../etc/passwd"},
        {{{.name = "/../etc/passwd"}},
         1,
         MC_DENIED,
         "copying /m/out out of container x: an entry's name leads out of the folder: /../etc/passwd"},
        {{{.name = ".."}},
         1,
         MC_DENIED,
         "copying /m/out out of container x: an entry's name leads out of the folder: .."},
        {{{.name = "out//etc"}},
         1,
         MC_DENIED,
         "copying /m/out out of container x: an entry's name leads out of the folder: out//etc"},
        {{{.name = "out/l", .type = AE_IFLNK, .link = "/etc"}},
         1,
         MC_DENIED,
         "copying /m/out out of container x: out/l is neither a file nor a folder"},
        {{{.name = "out/a"}, {.name = "out/h", .link = "out/a"}},
         2,
         MC_DENIED,
         "copying /m/out out of container x: out/h is neither a file nor a folder"},
        {{{.name = "out/f", .type = AE_IFIFO}},
         1,
         MC_DENIED,
         "copying /m/out out of container x: out/f is neither a file nor a folder"},
        {{{.name = "out/1"}, {.name = "out/2"}, {.name = "out/3"}, {.name = "out/4"}},
         4,
         MC_LIMIT,
         "copying /m/out out of container x: more than 10 bytes"},
        {{{.name = "a/", .type = AE_IFDIR},
          {.name = "b/", .type = AE_IFDIR},
          {.name = "c/", .type = AE_IFDIR},
          {.name = "d/", .type = AE_IFDIR},
          {.name = "e/", .type = AE_IFDIR},
          {.name = "f/", .type = AE_IFDIR}},
         6,
         MC_LIMIT,
         "copying /m/out out of container x: more than 5 files"},
    };
    for (size_t i = 0; i < MC_COUNT(known); i++) {
        struct mc_err err = {.text = "no error"};
        MC_AUTOBUF struct mc_buf seen = MC_BUF_OWN;
        int rc = get(pair, known[i].items, known[i].count, "/m/out", &seen, &err);
        assert_string_equal(err.text, known[i].text);
        assert_int_equal(rc, known[i].code);
    }
    struct mc_err err;
    MC_AUTOBUF struct mc_buf seen = MC_BUF_OWN;
    struct mc_archive_limits limits = {.files = 5, .bytes = 10};
    fake_clear(&pair->fake);
    fake_say(&pair->fake, "200 OK", "this is not a tar, and long enough to be looked at twice");
    assert_int_equal(mc_archive_get(pair->engine, "x", "/m", limits, collect, &seen, soon(), &err), MC_PROTOCOL);
    assert_non_null(strstr(err.text, "copying /m out of container x: the tar is broken: "));
}

/* Docker refuses early, and reads no further, while the upload still goes on. */
static void put_into_nothing(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    size_t size = (size_t)8 << 20;
    MC_AUTOFREE char *bytes = mc_alloc(1, size);
    const struct mc_archive_entry entry = {.path = "a", .bytes = bytes, .length = size};
    fake_say(&pair->fake, "404 Not Found", "");
    assert_int_equal(mc_archive_put(pair->engine, "x", "/none", &entry, 1, soon(), &err), MC_NOT_FOUND);
    assert_string_equal(err.text, "copying files into /none of container x: there is no such folder");
    fake_clear(&pair->fake);
    static const char head_ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    static const char early[] =
        "HTTP/1.1 500 Oh\r\nContent-Length: 37\r\n\r\n{\"message\":\"no space left on device\"}";
    fake_add(&pair->fake, (struct fake_answer){.bytes = head_ok, .length = sizeof head_ok - 1});
    fake_add(&pair->fake, (struct fake_answer){.bytes = early, .length = sizeof early - 1, .drop_body = 1, .hold = 1});
    assert_int_equal(mc_archive_put(pair->engine, "x", "/full", &entry, 1, soon(), &err), MC_ENGINE);
    assert_non_null(strstr(err.text, "no space left on device"));
}

static void tars_of_ours_are_repeatable(void **state)
{
    (void)state;
    struct mc_err err;
    const struct mc_archive_entry entries[] = {{.path = "d/"},
                                               {.path = "d/\xc3\xa9", .uid = 1, .gid = 2, .bytes = "x", .length = 1}};
    MC_AUTOBUF struct mc_buf one = MC_BUF_INIT(100000);
    MC_AUTOBUF struct mc_buf two = MC_BUF_INIT(100000);
    assert_int_equal(mc_archive_make(entries, 2, &one, &err), 0);
    assert_int_equal(mc_archive_make(entries, 2, &two, &err), 0);
    assert_int_equal(one.len, two.len);
    assert_memory_equal(one.data, two.data, one.len);
    MC_AUTOBUF struct mc_buf small = MC_BUF_INIT(100);
    assert_int_equal(mc_archive_make(entries, 2, &small, &err), MC_LIMIT);
    assert_non_null(strstr(err.text, "making a tar: "));
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(absent_is_empty),      cmocka_unit_test(references),
        TEST(build_that_fails),     TEST(build_that_succeeds),
        TEST(source_that_fails),    TEST(pulls),
        TEST(names_are_made_alike), TEST(hostile_tars),
        TEST(put_into_nothing),     cmocka_unit_test(tars_of_ours_are_repeatable),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
