#include "engine/volume.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/own.h"

static char *path_of(const char *name)
{
    struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/volumes/");
    mc_api_escape(&path, name);
    return mc_buf_take(&path);
}

int mc_volume_inspect(struct mc_engine *engine, const char *name, json_t **out, struct mc_until until,
                      struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("inspecting volume %s", name);
    MC_AUTOFREE char *path = path_of(name);
    struct mc_api_call call = {.method = "GET", .path = path, .what = what};
    return mc_api_json(engine, &call, out, until, err);
}

int mc_volume_create(struct mc_engine *engine, const char *name, struct mc_labels labels, struct mc_until until,
                     struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("creating volume %s", name);
    MC_AUTOJSON json_t *body =
        json_pack("{s:s,s:s,s:o}", "Name", name, "Driver", "local", "Labels", mc_labels_json(labels));
    MC_AUTOFREE char *text = mc_json_text(body);
    struct mc_api_call call = {
        .method = "POST", .path = "/volumes/create", .what = what, .body = text, .length = strlen(text)};
    MC_AUTOJSON json_t *made = NULL;
    int rc = mc_api_json(engine, &call, &made, until, err);
    if (rc != 0) {
        return rc;
    }
    MC_AUTOJSON json_t *now = NULL;
    rc = mc_volume_inspect(engine, name, &now, until, err);
    if (rc != 0) {
        return rc;
    }
    if (!mc_labels_match(json_object_get(now, "Labels"), labels)) {
        mc_fail(err, MC_EXISTS, "%s: a volume of this name was there already and is not this one's", what);
        return mc_hint(err, "if nobody needs it, remove it with 'docker volume rm %s'", name);
    }
    return 0;
}

int mc_volume_remove(struct mc_engine *engine, const char *name, struct mc_labels ours, struct mc_until until,
                     struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("removing volume %s", name);
    if (ours.count > 0) {
        MC_AUTOJSON json_t *now = NULL;
        int rc = mc_volume_inspect(engine, name, &now, until, err);
        if (rc == 0) {
            rc = mc_labels_check(json_object_get(now, "Labels"), ours, what, err);
        }
        if (rc != 0) {
            return rc == MC_NOT_FOUND ? 0 : rc;
        }
    }
    MC_AUTOFREE char *path = path_of(name);
    struct mc_api_call call = {.method = "DELETE", .path = path, .what = what};
    int rc = mc_api_run(engine, &call, NULL, until, err);
    return rc == MC_NOT_FOUND ? 0 : rc;
}

int mc_volume_list(struct mc_engine *engine, struct mc_labels labels, struct mc_objects *out, struct mc_until until,
                   struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/volumes");
    mc_api_label_filter(&path, labels);
    struct mc_api_call call = {.method = "GET", .path = mc_buf_text(&path), .what = "listing volumes"};
    MC_AUTOJSON json_t *answer = NULL;
    int rc = mc_api_json(engine, &call, &answer, until, err);
    if (rc != 0) {
        return rc;
    }
    *out = MC_OBJECTS_INIT;
    size_t index;
    json_t *item;
    json_array_foreach (json_object_get(answer, "Volumes"), index, item) {
        if (mc_labels_match(json_object_get(item, "Labels"), labels)) {
            mc_objects_add(out, item, mc_api_text(item, "Name"), mc_api_text(item, "Name"));
        }
    }
    return 0;
}
