#include "engine/container.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/demux.h"
#include "engine/own.h"

/* How often a state is asked for where nothing tells of its change. */
#define POLL_MS 100

/* "/containers/ID" + rest. The caller frees it. */
static char *path_of(const char *id, const char *rest)
{
    struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/containers/");
    mc_api_escape(&path, id);
    mc_buf_puts(&path, rest);
    return mc_buf_take(&path);
}

/* A call on a container whose answer does not matter beyond its status. */
static int act(struct mc_engine *engine, const char *method, const char *path, const char *what, struct mc_until until,
               struct mc_err *err)
{
    struct mc_api_call call = {.method = method, .path = path, .what = what};
    MC_AUTOBUF struct mc_buf answer = MC_BUF_INIT(MC_API_ANSWER_MAX);
    return mc_api_run(engine, &call, &answer, until, err);
}

/* 1 running, 0 not, -1 where that cannot be told. */
static int running_now(struct mc_engine *engine, const char *id, struct mc_until until)
{
    struct mc_err ignored;
    MC_AUTOCONTAINER struct mc_container now = {.raw = NULL};
    if (mc_container_inspect(engine, id, &now, until, &ignored) != 0) {
        return -1;
    }
    return now.status == MC_CONTAINER_RUNNING;
}

int mc_container_find(struct mc_engine *engine, const char *name, struct mc_labels labels, char **id,
                      struct mc_until until, struct mc_err *err)
{
    MC_AUTOCONTAINER struct mc_container found = {.raw = NULL};
    int rc = mc_container_inspect(engine, name, &found, until, err);
    if (rc != 0) {
        return rc;
    }
    if (strcmp(found.name, name) != 0) {
        return mc_fail(err, MC_NOT_FOUND, "there is no container named %s", name); /* it was an ID's beginning */
    }
    if (!mc_labels_match(found.labels, labels)) {
        mc_fail(err, MC_EXISTS, "the name %s is taken by a container that is not this one's (%.12s)", name, found.id);
        return mc_hint(err, "if nobody needs it, remove it with 'docker rm -f %s'", name);
    }
    *id = mc_strdup(found.id);
    return 0;
}

static int create(struct mc_engine *engine, const struct mc_container_spec *spec, const char *what, char **id,
                  struct mc_until until, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/containers/create");
    mc_api_query(&path, "name", spec->name);
    MC_AUTOJSON json_t *body = mc_container_spec_json(spec);
    MC_AUTOFREE char *text = mc_json_text(body);
    struct mc_api_call call = {
        .method = "POST", .path = mc_buf_text(&path), .what = what, .body = text, .length = strlen(text)};
    MC_AUTOJSON json_t *answer = NULL;
    int rc = mc_api_json(engine, &call, &answer, until, err);
    if (rc != 0) {
        return rc;
    }
    const char *made = mc_api_text(answer, "Id");
    if (made[0] == '\0') {
        return mc_fail(err, MC_PROTOCOL, "%s: the engine's answer names no ID", what);
    }
    *id = mc_strdup(made);
    return 0;
}

int mc_container_create(struct mc_engine *engine, const struct mc_container_spec *spec, char **id,
                        struct mc_until until, struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("creating container %s", spec->name);
    for (size_t i = 0; i < spec->mount_count; i++) {
        const struct mc_mount *mount = &spec->mounts[i];
        /* A volume that is a path would be a folder of the host. */
        if (strpbrk(mount->volume, ":/") || mount->volume[0] == '\0' || strchr(mount->path, ':')) {
            return mc_fail(err, MC_INPUT, "%s: volume \"%s\" on \"%s\": a volume's name has no '/' and neither has ':'",
                           what, mount->volume, mount->path);
        }
    }
    int rc = create(engine, spec, what, id, until, err);
    /* Taken (409, on Podman 500), or made although the answer was lost: only the engine's own list can tell. */
    int unclear = rc == MC_CLOSED || (rc == MC_ENGINE && (err->http == 409 || err->http == 500));
    if (!unclear) {
        return rc;
    }
    struct mc_err other;
    int found = mc_container_find(engine, spec->name, spec->labels, id, until, &other);
    if (found == MC_EXISTS) {
        mc_wrap(&other, "%s", what);
        *err = other;
    }
    return found == 0 || found == MC_EXISTS ? found : rc;
}

int mc_container_start(struct mc_engine *engine, const char *id, struct mc_until until, struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("starting container %s", id);
    MC_AUTOFREE char *path = path_of(id, "/start");
    int rc = act(engine, "POST", path, what, until, err);
    return rc == MC_ENGINE && running_now(engine, id, until) == 1 ? 0 : rc;
}

int mc_container_stop(struct mc_engine *engine, const char *id, int grace_s, struct mc_until until, struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("stopping container %s", id);
    MC_AUTOFREE char *rest = mc_strf("/stop?t=%d", grace_s);
    MC_AUTOFREE char *path = path_of(id, rest);
    int rc = act(engine, "POST", path, what, until, err);
    return rc == MC_ENGINE && running_now(engine, id, until) == 0 ? 0 : rc;
}

int mc_container_kill(struct mc_engine *engine, const char *id, const char *signal, struct mc_until until,
                      struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("sending %s to container %s", signal, id);
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    MC_AUTOFREE char *start = path_of(id, "/kill");
    mc_buf_puts(&path, start);
    mc_api_query(&path, "signal", signal);
    int rc = act(engine, "POST", mc_buf_text(&path), what, until, err);
    return rc == MC_ENGINE && running_now(engine, id, until) == 0 ? 0 : rc;
}

int mc_container_wait(struct mc_engine *engine, const char *id, struct mc_container *out, struct mc_until until,
                      struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("waiting for container %s", id);
    MC_AUTOFREE char *path = path_of(id, "/wait?condition=not-running");
    for (;;) {
        /* Engines have answered too early and lost wake-ups: the call only saves asking often. */
        int rc = act(engine, "POST", path, what, mc_sooner(until, 30000), err);
        if (rc != 0 && !(rc == MC_TIMEOUT && mc_left_ms(until) > 0)) {
            return rc;
        }
        MC_AUTOCONTAINER struct mc_container now = {.raw = NULL};
        rc = mc_container_inspect(engine, id, &now, until, err);
        if (rc != 0) {
            return rc;
        }
        if (now.status == MC_CONTAINER_CREATED) {
            return mc_fail(err, MC_INPUT, "%s: it was never started", what);
        }
        if (now.status == MC_CONTAINER_EXITED) {
            *out = now;
            now = (struct mc_container){.raw = NULL};
            return 0;
        }
        rc = mc_pause(until, POLL_MS, what, err);
        if (rc != 0) {
            return rc;
        }
    }
}

static int check_ours(struct mc_engine *engine, const char *id, struct mc_labels ours, const char *what,
                      struct mc_until until, struct mc_err *err)
{
    if (ours.count == 0) {
        return 0;
    }
    MC_AUTOCONTAINER struct mc_container now = {.raw = NULL};
    int rc = mc_container_inspect(engine, id, &now, until, err);
    return rc != 0 ? rc : mc_labels_check(now.labels, ours, what, err);
}

/* Podman may answer while the removal of another caller goes on. True while it is, or is about to be, removed. */
static int is_going(struct mc_engine *engine, const char *id, struct mc_until until, int *gone)
{
    struct mc_err reason;
    MC_AUTOCONTAINER struct mc_container now = {.raw = NULL};
    int rc = mc_container_inspect(engine, id, &now, until, &reason);
    *gone = rc == MC_NOT_FOUND;
    return *gone || (rc == 0 && now.status == MC_CONTAINER_REMOVING);
}

int mc_container_remove(struct mc_engine *engine, const char *id, struct mc_labels ours, struct mc_until until,
                        struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("removing container %s", id);
    int rc = check_ours(engine, id, ours, what, until, err);
    if (rc != 0) {
        return rc == MC_NOT_FOUND ? 0 : rc;
    }
    MC_AUTOFREE char *path = path_of(id, "?force=1&v=1");
    rc = act(engine, "DELETE", path, what, until, err);
    if (rc == 0 || rc == MC_NOT_FOUND) {
        return 0;
    }
    int refused = rc;
    int gone = 0;
    while (refused == MC_ENGINE && is_going(engine, id, until, &gone)) {
        if (gone) {
            return 0;
        }
        rc = mc_pause(until, POLL_MS, what, err);
        if (rc != 0) {
            return rc;
        }
    }
    return refused;
}

int mc_container_list(struct mc_engine *engine, struct mc_labels labels, struct mc_objects *out, struct mc_until until,
                      struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/containers/json?all=1");
    mc_api_label_filter(&path, labels);
    struct mc_api_call call = {.method = "GET", .path = mc_buf_text(&path), .what = "listing containers"};
    MC_AUTOJSON json_t *list = NULL;
    int rc = mc_api_json(engine, &call, &list, until, err);
    if (rc != 0) {
        return rc;
    }
    *out = MC_OBJECTS_INIT;
    size_t index;
    json_t *item;
    json_array_foreach (list, index, item) {
        const char *name = json_string_value(json_array_get(json_object_get(item, "Names"), 0));
        if (mc_labels_match(json_object_get(item, "Labels"), labels)) {
            mc_objects_add(out, item, mc_api_text(item, "Id"), name ? name : "");
        }
    }
    return 0;
}

int mc_container_logs(struct mc_engine *engine, const char *id, int lines, struct mc_buf *out, struct mc_until until,
                      struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("reading the output of container %s", id);
    MC_AUTOFREE char *rest = mc_strf("/logs?stdout=1&stderr=1&tail=%d", lines);
    MC_AUTOFREE char *path = path_of(id, rest);
    struct mc_api_call call = {.method = "GET", .path = path, .what = what};
    MC_AUTOBUF struct mc_buf framed = MC_BUF_INIT(MC_API_ANSWER_MAX);
    int rc = mc_api_run(engine, &call, &framed, until, err);
    struct mc_demux demux = MC_DEMUX_INIT;
    const char *bytes = mc_buf_text(&framed);
    size_t length = framed.len;
    while (rc == 0 && length > 0) {
        struct mc_piece piece;
        rc = mc_demux_next(&demux, &bytes, &length, &piece, err);
        if (rc == 0 && mc_buf_add(out, piece.bytes, piece.length) != 0) {
            break; /* as much as there is room for */
        }
    }
    return rc;
}
