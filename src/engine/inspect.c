#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/container.h"
#include "engine/own.h"

/* The engines' words: Docker's created, running, paused, restarting, removing, exited, dead; Podman's configured,
 * initialized, stopped, stopping beside them. */
static enum mc_container_status status_of(const char *state)
{
    static const struct {
        const char *state;
        enum mc_container_status status;
    } known[] = {
        {"created", MC_CONTAINER_CREATED},     {"configured", MC_CONTAINER_CREATED},
        {"initialized", MC_CONTAINER_CREATED}, {"exited", MC_CONTAINER_EXITED},
        {"stopped", MC_CONTAINER_EXITED},      {"dead", MC_CONTAINER_EXITED},
        {"removing", MC_CONTAINER_REMOVING},
    };
    for (size_t i = 0; i < MC_COUNT(known); i++) {
        if (strcmp(state, known[i].state) == 0) {
            return known[i].status;
        }
    }
    return MC_CONTAINER_RUNNING;
}

static const char *time_of(const json_t *state, const char *key)
{
    const char *text = mc_api_text(state, key);
    return strncmp(text, "0001-", 5) == 0 ? "" : text;
}

static void read_state(const json_t *state, struct mc_container *out)
{
    out->state = mc_api_text(state, "Status");
    out->status = status_of(out->state);
    out->started_at = time_of(state, "StartedAt");
    out->finished_at = time_of(state, "FinishedAt");
    /* Docker keeps "created" for one whose start failed, Podman may say "exited" without ever having run. */
    if (out->status == MC_CONTAINER_EXITED && out->started_at[0] == '\0') {
        out->status = MC_CONTAINER_CREATED;
    }
    int exited = out->status == MC_CONTAINER_EXITED;
    out->exit_code = exited ? (int)mc_api_int(state, "ExitCode") : -1;
    out->oom_killed = mc_api_true(state, "OOMKilled");
    out->pid = mc_api_int(state, "Pid");
    out->error = mc_api_text(state, "Error");
}

int mc_container_inspect(struct mc_engine *engine, const char *id, struct mc_container *out, struct mc_until until,
                         struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("inspecting container %s", id);
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/containers/");
    mc_api_escape(&path, id);
    mc_buf_puts(&path, "/json");
    struct mc_api_call call = {.method = "GET", .path = mc_buf_text(&path), .what = what};
    MC_AUTOJSON json_t *raw = NULL;
    int rc = mc_api_json(engine, &call, &raw, until, err);
    if (rc != 0) {
        return rc;
    }
    const json_t *state = json_object_get(raw, "State");
    if (!state || mc_api_text(raw, "Id")[0] == '\0' || mc_api_text(state, "Status")[0] == '\0') {
        return mc_fail(err, MC_PROTOCOL, "%s: the engine's answer lacks its ID or its state", what);
    }
    json_t *config = json_object_get(raw, "Config");
    if (!json_is_object(json_object_get(config, "Labels"))) {
        json_object_set_new(config, "Labels", json_object());
    }
    if (!json_is_array(json_object_get(raw, "Mounts"))) {
        json_object_set_new(raw, "Mounts", json_array());
    }
    const char *name = mc_api_text(raw, "Name");
    *out = (struct mc_container){
        .id = mc_api_text(raw, "Id"),
        .name = name[0] == '/' ? name + 1 : name,
        .image = mc_api_text(raw, "Image"),
        .user = mc_api_text(config, "User"),
        .network = mc_api_text(json_object_get(raw, "HostConfig"), "NetworkMode"),
        .labels = json_object_get(config, "Labels"),
        .mounts = json_object_get(raw, "Mounts"),
    };
    read_state(state, out);
    out->raw = mc_steal(&raw);
    return 0;
}

void mc_container_release(struct mc_container *container)
{
    json_decref(container->raw);
    *container = (struct mc_container){.raw = NULL};
}

enum mc_oom mc_container_oom(const struct mc_container *container, int we_killed)
{
    if (container->oom_killed) {
        return MC_OOM_YES;
    }
    return container->exit_code == 128 + 9 && !we_killed ? MC_OOM_PROBABLE : MC_OOM_NO;
}
