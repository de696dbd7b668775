/* Images fetched, built, and moved: calls that take long and tell of it in JSON lines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "engine/image.h"
#include "engine/own.h"
#include "engine/progress.h"

/* Runs a call and reads its progress to the end. */
static int run(struct mc_engine *engine, const struct mc_api_call *call, const struct mc_image_progress *watch,
               char **id, struct mc_until until, struct mc_err *err)
{
    struct mc_progress progress;
    mc_progress_init(&progress, call->what, watch);
    int rc = mc_api_begin(engine, call, until, err);
    if (rc == 0) {
        const char *bytes;
        size_t length;
        while ((rc = mc_api_pull(engine, &bytes, &length, until, err)) == 0 && length > 0 &&
               (rc = mc_progress_feed(&progress, bytes, length, err)) == 0) {
        }
        if (rc == 0) {
            rc = mc_progress_end(&progress, err);
        }
        mc_api_end(engine);
    }
    if (rc == 0 && id) {
        *id = mc_steal(&progress.id);
    }
    mc_progress_release(&progress);
    return rc;
}

/* The ID that a line gave, or else the one that the new name leads to. */
static int settle_id(struct mc_engine *engine, const char *tag, char **id, struct mc_until until, struct mc_err *err)
{
    MC_AUTOIMAGE struct mc_image image = {.raw = NULL};
    int rc = mc_image_inspect(engine, *id ? *id : tag, &image, until, err);
    free(*id);
    *id = rc == 0 ? mc_strdup(image.id) : NULL;
    return rc;
}

int mc_image_pull(struct mc_engine *engine, const char *reference, const struct mc_image_progress *progress,
                  struct mc_until until, struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("pulling image %s", reference);
    MC_AUTOFREE char *repo = NULL;
    MC_AUTOFREE char *tag = NULL;
    mc_image_split(reference, &repo, &tag);
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/images/create");
    mc_api_query(&path, "fromImage", repo);
    mc_api_query(&path, "tag", tag);
    struct mc_api_call call = {.method = "POST", .path = mc_buf_text(&path), .what = what};
    return run(engine, &call, progress, NULL, until, err);
}

int mc_image_import(struct mc_engine *engine, const char *tag, const char *const *changes, mc_image_source *source,
                    void *payload, char **id, struct mc_until until, struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("importing image %s", tag);
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/images/create?fromSrc=-");
    for (size_t i = 0; changes && changes[i]; i++) {
        mc_api_query(&path, "changes", changes[i]);
    }
    struct mc_api_call call = {.method = "POST",
                               .path = mc_buf_text(&path),
                               .what = what,
                               .type = "application/x-tar",
                               .source = source,
                               .payload = payload};
    MC_AUTOFREE char *made = NULL;
    int rc = run(engine, &call, NULL, &made, until, err);
    if (rc != 0) {
        return rc;
    }
    if (!made) {
        return mc_fail(err, MC_PROTOCOL, "%s: the engine names no ID for it", what);
    }
    /* Named in a step of its own: Podman's import makes every tag "latest". */
    rc = mc_image_tag(engine, made, tag, until, err);
    if (rc == 0) {
        *id = mc_steal(&made);
    }
    return rc;
}

static void query_json(struct mc_buf *path, const char *key, struct mc_labels pairs)
{
    if (pairs.count > 0) {
        MC_AUTOJSON json_t *object = mc_labels_json(pairs);
        MC_AUTOFREE char *text = mc_json_text(object);
        mc_api_query(path, key, text);
    }
}

int mc_image_build(struct mc_engine *engine, const struct mc_image_build *build, char **id, struct mc_until until,
                   struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("building image %s", build->tag);
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/build?rm=1&forcerm=1");
    mc_api_query(&path, "t", build->tag);
    mc_api_query(&path, "dockerfile", build->dockerfile ? build->dockerfile : "Dockerfile");
    query_json(&path, "labels", build->labels);
    query_json(&path, "buildargs", build->args);
    if (build->network) {
        mc_api_query(&path, "networkmode", build->network);
    }
    struct mc_api_call call = {.method = "POST",
                               .path = mc_buf_text(&path),
                               .what = what,
                               .type = "application/x-tar",
                               .source = build->context,
                               .payload = build->payload};
    *id = NULL;
    int rc = run(engine, &call, build->progress, id, until, err);
    return rc == 0 ? settle_id(engine, build->tag, id, until, err) : rc;
}

int mc_image_save(struct mc_engine *engine, const char *const *references, int fd, struct mc_until until,
                  struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/images/get");
    for (size_t i = 0; references[i]; i++) {
        mc_api_query(&path, "names", references[i]);
    }
    MC_AUTOFREE char *what = mc_strf("saving image %s", references[0] ? references[0] : "(none)");
    struct mc_api_call call = {.method = "GET", .path = mc_buf_text(&path), .what = what};
    int rc = mc_api_begin(engine, &call, until, err);
    if (rc != 0) {
        return rc;
    }
    const char *bytes;
    size_t length;
    while ((rc = mc_api_pull(engine, &bytes, &length, until, err)) == 0 && length > 0 &&
           (rc = mc_fs_write_all(fd, bytes, length, what, err)) == 0) {
    }
    mc_api_end(engine);
    return rc;
}

static int from_fd(void *payload, void *bytes, size_t room, size_t *got, struct mc_err *err)
{
    ssize_t n;
    do {
        n = read(*(const int *)payload, bytes, room);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return mc_fail_errno(err, errno, "loading an image: reading its file");
    }
    *got = (size_t)n;
    return 0;
}

int mc_image_load(struct mc_engine *engine, int fd, const struct mc_image_progress *progress, struct mc_until until,
                  struct mc_err *err)
{
    struct mc_api_call call = {.method = "POST",
                               .path = "/images/load?quiet=1",
                               .what = "loading an image",
                               .type = "application/x-tar",
                               .source = from_fd,
                               .payload = &fd};
    return run(engine, &call, progress, NULL, until, err);
}
