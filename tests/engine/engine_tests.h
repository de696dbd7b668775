/* What the engine tests share: an engine under test, its image, and short ways to make containers of it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/archive.h"
#include "engine/attach.h"
#include "engine/container.h"
#include "engine/exec.h"
#include "engine/image.h"
#include "engine/network.h"
#include "engine/volume.h"

struct bench {
    const char *host; /* DOCKER_HOST value */
    struct mc_endpoint endpoint;
    struct mc_engine *engine;
    struct mc_objects before[4]; /* containers, volumes, networks, images */
    char store[40];              /* UUID: everything made here carries it as org.memcal.store */
    struct mc_label label;
    struct mc_labels labels;
    char *image; /* ID */
    int serial;  /* for names */
    struct bench *others;
    size_t other_count;
};

/* Fails the test with the error's text and hint; the call names its error `fault`. */
#define ok(call)                                                    \
    do {                                                            \
        struct mc_err fault = {.code = MC_OK};                      \
        if ((call) != 0) {                                          \
            fail_msg("%s: %s (%s)", #call, fault.text, fault.hint); \
        }                                                           \
    } while (0)

struct mc_until soon(void); /* 30 s from now */

char *new_name(struct bench *bench, const char *kind);

/* A specification of a confined container that runs `argv` of the guest; what it points to lives as long as `argv`. */
struct mc_container_spec guest_spec(struct bench *bench, const char *name, const char *const *argv);

/* Made, attached (where `stream` is given) and started; the ID is the caller's. */
char *launch(struct bench *bench, const char *const *argv, struct mc_stream **stream);

/* Everything on the stream up to its end, by kind. */
void read_all(struct mc_stream *stream, struct mc_buf *out, struct mc_buf *errors);

/* Removes it by force; the ID is freed. */
void discard(struct bench *bench, char *id);

#define GUEST(...) ((const char *const[]){"/guest", __VA_ARGS__, NULL})

int run_lifecycle_tests(struct bench *bench);
int run_stream_tests(struct bench *bench);
int run_file_tests(struct bench *bench);
int run_image_tests(struct bench *bench);

int make_guest_image(struct bench *bench, const char *const *changes, char **id, struct mc_err *err);
