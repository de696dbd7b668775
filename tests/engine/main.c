/*
 * The engine client against real engines: the same tests on each that MEMCAL_TEST_ENGINES lists (DOCKER_HOST values,
 * separated by spaces). No engine is a failure, not a skip.
 */
#include "engine_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/fs.h"

#define ENGINES_MAX 8

struct mc_until soon(void)
{
    return mc_within(30000, NULL);
}

char *new_name(struct bench *bench, const char *kind)
{
    return mc_strf("memcal-test-%.8s-%s-%d", bench->store, kind, ++bench->serial);
}

struct mc_container_spec guest_spec(struct bench *bench, const char *name, const char *const *argv)
{
    static const char *const no_cmd[] = {NULL};
    struct mc_container_spec spec = {.name = name,
                                     .image = bench->image,
                                     .entrypoint = argv,
                                     .cmd = no_cmd,
                                     .labels = bench->labels,
                                     .open_stdin = 1};
    mc_container_spec_confine(&spec);
    return spec;
}

char *launch(struct bench *bench, const char *const *argv, struct mc_stream **stream)
{
    MC_AUTOFREE char *name = new_name(bench, "c");
    struct mc_container_spec spec = guest_spec(bench, name, argv);
    char *id = NULL;
    ok(mc_container_create(bench->engine, &spec, &id, soon(), &fault));
    if (stream) {
        ok(mc_container_attach(bench->engine, id, soon(), stream, &fault));
    }
    ok(mc_container_start(bench->engine, id, soon(), &fault));
    return id;
}

void read_all(struct mc_stream *stream, struct mc_buf *out, struct mc_buf *errors)
{
    struct mc_piece piece = {.kind = MC_PIECE_NONE};
    while (piece.kind != MC_PIECE_END) {
        ok(mc_stream_next(stream, &piece, soon(), &fault));
        struct mc_buf *into = piece.kind == MC_PIECE_STDERR ? errors : out;
        assert_int_equal(mc_buf_add(into, piece.bytes, piece.length), 0);
    }
}

void discard(struct bench *bench, char *id)
{
    ok(mc_container_remove(bench->engine, id, bench->labels, soon(), &fault));
    free(id);
}

struct memory_source {
    const struct mc_buf *bytes;
    size_t at;
};

static int from_memory(void *payload, void *bytes, size_t room, size_t *got, struct mc_err *err)
{
    (void)err;
    struct memory_source *source = payload;
    size_t left = source->bytes->len - source->at;
    *got = left < room ? left : room;
    memcpy(bytes, source->bytes->data + source->at, *got);
    source->at += *got;
    return 0;
}

int make_guest_image(struct bench *bench, const char *const *changes, char **id, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf program = MC_BUF_INIT((size_t)64 << 20);
    MC_AUTOBUF struct mc_buf tar = MC_BUF_INIT((size_t)64 << 20);
    int rc = mc_fs_read(ENGINE_GUEST, &program, err);
    if (rc != 0) {
        return rc;
    }
    const struct mc_archive_entry entries[] = {
        {.path = "guest", .mode = 0755, .bytes = program.data, .length = program.len},
        {.path = "bin/", .mode = 0755},
        {.path = "bin/timeout", .mode = 0755, .bytes = program.data, .length = program.len},
        {.path = "tmp/", .mode = 01777},
        {.path = "data/", .mode = 01777},
        {.path = "data/seed", .mode = 0640, .uid = 10001, .bytes = "seed", .length = 4},
    };
    rc = mc_archive_make(entries, MC_COUNT(entries), &tar, err);
    if (rc != 0) {
        return rc;
    }
    struct memory_source source = {.bytes = &tar};
    MC_AUTOFREE char *tag = mc_strf("memcal-test:%.8s-%d", bench->store, ++bench->serial);
    return mc_image_import(bench->engine, tag, changes, from_memory, &source, id, mc_within(60000, NULL), err);
}

static int list(struct mc_engine *engine, int kind, struct mc_labels labels, struct mc_objects *out, struct mc_err *err)
{
    switch (kind) {
    case 0:
        return mc_container_list(engine, labels, out, soon(), err);
    case 1:
        return mc_volume_list(engine, labels, out, soon(), err);
    case 2:
        return mc_network_list(engine, labels, out, soon(), err);
    default:
        return mc_image_list(engine, labels, out, soon(), err);
    }
}

static void make_uuid(char text[40])
{
    unsigned char r[16];
    if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r) {
        abort();
    }
    snprintf(text, 40, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", r[0], r[1], r[2], r[3],
             r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]);
}

static int set_up(struct bench *bench, const char *host, struct mc_err *err)
{
    struct mc_find_env env = mc_find_env();
    bench->host = host;
    make_uuid(bench->store);
    bench->label = (struct mc_label){.name = "org.memcal.store", .value = bench->store};
    bench->labels = (struct mc_labels){.items = &bench->label, .count = 1};
    int rc = mc_endpoint_parse(host, &env, &bench->endpoint, err);
    if (rc == 0) {
        rc = mc_engine_open(&bench->endpoint, NULL, soon(), &bench->engine, err);
    }
    for (int kind = 0; rc == 0 && kind < 4; kind++) {
        rc = list(bench->engine, kind, (struct mc_labels){.items = NULL}, &bench->before[kind], err);
    }
    MC_AUTOFREE char *label = mc_strf("LABEL org.memcal.store=%s", bench->store);
    if (rc == 0) {
        rc = make_guest_image(bench, (const char *const[]){label, NULL}, &bench->image, err);
    }
    return rc;
}

static int was_there(const struct mc_objects *before, const char *id)
{
    for (size_t i = 0; i < before->count; i++) {
        if (strcmp(before->items[i].id, id) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Nothing of ours, and nothing unlabelled, may be left; what other people of the engine do meanwhile is theirs. */
static int count_left(struct bench *bench)
{
    static const char *const kinds[] = {"container", "volume", "network", "image"};
    int left = 0;
    for (int kind = 0; kind < 4; kind++) {
        struct mc_err err;
        MC_AUTOOBJECTS struct mc_objects now = MC_OBJECTS_INIT;
        if (list(bench->engine, kind, (struct mc_labels){.items = NULL}, &now, &err) != 0) {
            fprintf(stderr, "%s: %s\n", bench->host, err.text);
            return 1;
        }
        for (size_t i = 0; i < now.count; i++) {
            const char *store = mc_object_label(&now.items[i], "org.memcal.store");
            int nobodys = json_object_size(now.items[i].labels) == 0;
            int ours = nobodys || (store && strcmp(store, bench->store) == 0);
            if (ours && !was_there(&bench->before[kind], now.items[i].id)) {
                fprintf(stderr, "%s: left behind: %s %s %s\n", bench->host, kinds[kind], now.items[i].id,
                        now.items[i].name);
                left++;
            }
        }
    }
    return left;
}

/* A test that failed leaves its containers: they go too, so that the next run starts clean, but count as failure. */
static void sweep(struct bench *bench)
{
    struct mc_err err;
    for (int kind = 0; kind < 4; kind++) {
        MC_AUTOOBJECTS struct mc_objects ours = MC_OBJECTS_INIT;
        if (list(bench->engine, kind, bench->labels, &ours, &err) != 0) {
            continue;
        }
        for (size_t i = 0; i < ours.count; i++) {
            int rc = kind == 0   ? mc_container_remove(bench->engine, ours.items[i].id, bench->labels, soon(), &err)
                     : kind == 1 ? mc_volume_remove(bench->engine, ours.items[i].id, bench->labels, soon(), &err)
                     : kind == 2 ? mc_network_remove(bench->engine, ours.items[i].id, bench->labels, soon(), &err)
                                 : mc_image_remove(bench->engine, ours.items[i].id, 1, soon(), &err);
            if (rc != 0) {
                fprintf(stderr, "%s: %s\n", bench->host, err.text);
            }
        }
    }
}

static int tear_down(struct bench *bench)
{
    struct mc_err err;
    int failed = 0;
    if (bench->image && mc_image_remove(bench->engine, bench->image, 1, soon(), &err) != 0) {
        fprintf(stderr, "%s: %s\n", bench->host, err.text);
        failed = 1;
    }
    if (bench->engine) {
        failed |= count_left(bench) != 0;
        sweep(bench);
    }
    for (int kind = 0; kind < 4; kind++) {
        mc_objects_release(&bench->before[kind]);
    }
    mc_engine_close(bench->engine);
    mc_endpoint_release(&bench->endpoint);
    free(bench->image);
    return failed;
}

int main(void)
{
    const char *listed = getenv("MEMCAL_TEST_ENGINES");
    if (!listed || listed[0] == '\0') {
        fprintf(stderr, "set MEMCAL_TEST_ENGINES to the DOCKER_HOST values to test against, such as\n"
                        "\"unix:///var/run/docker.sock unix:///tmp/podman.sock\" (see scripts/podman-service.sh)\n");
        return 1;
    }
    MC_AUTOFREE char *hosts = mc_strdup(listed);
    struct bench benches[ENGINES_MAX] = {{.host = NULL}};
    size_t count = 0;
    int failed = 0;
    char *rest = NULL;
    for (char *host = strtok_r(hosts, " ,", &rest); host && count < ENGINES_MAX; host = strtok_r(NULL, " ,", &rest)) {
        struct mc_err err;
        if (set_up(&benches[count++], host, &err) != 0) {
            fprintf(stderr, "%s: %s\n%s\n", host, err.text, err.hint);
            failed = 1;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!benches[i].image) {
            continue; /* said above, and counted as failed */
        }
        const struct mc_engine_about *about = mc_engine_about(benches[i].engine);
        printf("=== %s: %s %s, API %s, cgroup v%s, %s\n", benches[i].host, about->kind_name, about->version,
               about->api_spoken, about->cgroup, about->storage);
        benches[i].others = benches;
        benches[i].other_count = count;
        failed |= run_lifecycle_tests(&benches[i]) != 0;
        failed |= run_stream_tests(&benches[i]) != 0;
        failed |= run_file_tests(&benches[i]) != 0;
        failed |= run_image_tests(&benches[i]) != 0;
    }
    for (size_t i = 0; i < count; i++) {
        failed |= tear_down(&benches[i]);
    }
    return failed || count == 0;
}
