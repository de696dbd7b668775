/*
 * Images: looked at, fetched, made, moved.
 *
 * An ID is the digest of the image's configuration on most engines and of its manifest on others (containerd's
 * store); the layers' diff IDs are the same everywhere. Fields that an engine leaves out are empty.
 *
 * Long answers come as JSON lines in which an error may stand after a status of 200; such an error fails the call.
 *
 * Ownership: mc_image_release() frees what mc_image_inspect() filled in. Callbacks must not call the same engine.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/object.h"

struct mc_image {
    json_t *raw; /* the engine's whole answer; all texts below are borrowed from it */
    const char *id;
    const char **tags;    /* this and the other lists: NULL-ended, never NULL */
    const char **digests; /* "name@sha256:..."; empty for images built here on classic Docker */
    const char **layers;  /* diff IDs */
    const char **entrypoint;
    const char **cmd;
    const char **env;
    const char **volumes; /* paths */
    const char *user;     /* this and the others: "" where absent */
    const char *workdir;
    const char *os;
    const char *arch;
    int64_t size;
    const json_t *labels; /* never NULL */
};

/* By ID or reference; MC_NOT_FOUND where the engine does not have it. */
int mc_image_inspect(struct mc_engine *engine, const char *reference, struct mc_image *out, struct mc_until until,
                     struct mc_err *err) MC_CHECKED;
void mc_image_release(struct mc_image *image);
#define MC_AUTOIMAGE MC_CLEANUP(mc_image_release)

/* Images with these labels; `name` is the first tag. */
int mc_image_list(struct mc_engine *engine, struct mc_labels labels, struct mc_objects *out, struct mc_until until,
                  struct mc_err *err) MC_CHECKED;

/* Called for each line of progress. */
struct mc_image_progress {
    void (*on_line)(void *payload, const char *id, const char *text, int64_t current, int64_t total);
    void *payload;
};

/* Next bytes of what is sent: *got is 0 at the end. Non-zero (with *err) stops. */
typedef int mc_image_source(void *payload, void *bytes, size_t room, size_t *got, struct mc_err *err);

/* "debian", "debian:13", "debian@sha256:..."; no tag means "latest". `progress` may be NULL here and below. */
int mc_image_pull(struct mc_engine *engine, const char *reference, const struct mc_image_progress *progress,
                  struct mc_until until, struct mc_err *err) MC_CHECKED;

/* An image of one layer from a tar of its root, with Dockerfile instructions (`changes`, NULL-ended or NULL: "CMD
 * [...]", "LABEL a=b", ...). Gives the new ID (the caller frees it). */
int mc_image_import(struct mc_engine *engine, const char *tag, const char *const *changes, mc_image_source *source,
                    void *payload, char **id, struct mc_until until, struct mc_err *err) MC_CHECKED;

struct mc_image_build {
    const char *tag;
    const char *dockerfile; /* in the context; NULL: "Dockerfile" */
    struct mc_labels labels;
    struct mc_labels args;    /* build arguments */
    const char *network;      /* of the build's containers; NULL: the engine's default */
    mc_image_source *context; /* a tar */
    void *payload;
    const struct mc_image_progress *progress;
};

/* Gives the new ID (the caller frees it). A step that fails is MC_ENGINE with the engine's message and the last output.
 */
int mc_image_build(struct mc_engine *engine, const struct mc_image_build *build, char **id, struct mc_until until,
                   struct mc_err *err) MC_CHECKED;

/* Gives `reference` another name "repo:tag". */
int mc_image_tag(struct mc_engine *engine, const char *reference, const char *tag, struct mc_until until,
                 struct mc_err *err) MC_CHECKED;

/* Removes a name, and the image with its last name; one that is gone is fine. */
int mc_image_remove(struct mc_engine *engine, const char *reference, int force, struct mc_until until,
                    struct mc_err *err) MC_CHECKED;

/* Writes the images (NULL-ended references) as one tar to a descriptor; reads such a tar from one. */
int mc_image_save(struct mc_engine *engine, const char *const *references, int fd, struct mc_until until,
                  struct mc_err *err) MC_CHECKED;
int mc_image_load(struct mc_engine *engine, int fd, const struct mc_image_progress *progress, struct mc_until until,
                  struct mc_err *err) MC_CHECKED;
