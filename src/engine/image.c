#include "engine/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/own.h"

static char *path_of(const char *reference, const char *rest)
{
    struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/images/");
    mc_api_escape_reference(&path, reference);
    mc_buf_puts(&path, rest);
    return mc_buf_take(&path);
}

/* The strings of an array, or the keys of an object, borrowed from it. */
static const char **strings_of(json_t *value)
{
    size_t count = json_is_object(value) ? json_object_size(value) : json_array_size(value);
    const char **texts = mc_alloc(count + 1, sizeof *texts);
    size_t n = 0;
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        json_object_foreach (value, key, member) {
            texts[n++] = key;
        }
        return texts;
    }
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(value, i));
        if (text) {
            texts[n++] = text;
        }
    }
    return texts;
}

int mc_image_inspect(struct mc_engine *engine, const char *reference, struct mc_image *out, struct mc_until until,
                     struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("looking at image %s", reference);
    MC_AUTOFREE char *path = path_of(reference, "/json");
    struct mc_api_call call = {.method = "GET", .path = path, .what = what};
    MC_AUTOJSON json_t *raw = NULL;
    int rc = mc_api_json(engine, &call, &raw, until, err);
    if (rc != 0) {
        return rc;
    }
    if (mc_api_text(raw, "Id")[0] == '\0') {
        return mc_fail(err, MC_PROTOCOL, "%s: the engine's answer names no ID", what);
    }
    json_t *config = json_object_get(raw, "Config");
    if (!json_is_object(config)) {
        config = json_object();
        json_object_set_new(raw, "Config", config);
    }
    if (!json_is_object(json_object_get(config, "Labels"))) {
        json_object_set_new(config, "Labels", json_object());
    }
    *out = (struct mc_image){
        .id = mc_api_text(raw, "Id"),
        .tags = strings_of(json_object_get(raw, "RepoTags")),
        .digests = strings_of(json_object_get(raw, "RepoDigests")),
        .layers = strings_of(json_object_get(json_object_get(raw, "RootFS"), "Layers")),
        .entrypoint = strings_of(json_object_get(config, "Entrypoint")),
        .cmd = strings_of(json_object_get(config, "Cmd")),
        .env = strings_of(json_object_get(config, "Env")),
        .volumes = strings_of(json_object_get(config, "Volumes")),
        .user = mc_api_text(config, "User"),
        .workdir = mc_api_text(config, "WorkingDir"),
        .os = mc_api_text(raw, "Os"),
        .arch = mc_api_text(raw, "Architecture"),
        .size = mc_api_int(raw, "Size"),
        .labels = json_object_get(config, "Labels"),
    };
    out->raw = mc_steal(&raw);
    return 0;
}

void mc_image_release(struct mc_image *image)
{
    const char **lists[] = {image->tags, image->digests, image->layers, image->entrypoint,
                            image->cmd,  image->env,     image->volumes};
    for (size_t i = 0; i < MC_COUNT(lists); i++) {
        free(lists[i]);
    }
    json_decref(image->raw);
    *image = (struct mc_image){.raw = NULL};
}

int mc_image_list(struct mc_engine *engine, struct mc_labels labels, struct mc_objects *out, struct mc_until until,
                  struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/images/json");
    mc_api_label_filter(&path, labels);
    struct mc_api_call call = {.method = "GET", .path = mc_buf_text(&path), .what = "listing images"};
    MC_AUTOJSON json_t *list = NULL;
    int rc = mc_api_json(engine, &call, &list, until, err);
    if (rc != 0) {
        return rc;
    }
    *out = MC_OBJECTS_INIT;
    size_t index;
    json_t *item;
    json_array_foreach (list, index, item) {
        const char *name = json_string_value(json_array_get(json_object_get(item, "RepoTags"), 0));
        if (mc_labels_match(json_object_get(item, "Labels"), labels)) {
            mc_objects_add(out, item, mc_api_text(item, "Id"), name ? name : "");
        }
    }
    return 0;
}

void mc_image_split(const char *reference, char **repo, char **tag)
{
    const char *at = strchr(reference, '@');
    const char *slash = strrchr(reference, '/');
    const char *colon = strchr(slash ? slash : reference, ':');
    const char *cut = at ? at : colon;
    const char *repo_end = colon && (!at || colon < at) ? colon : at;
    *repo = repo_end ? mc_strndup(reference, (size_t)(repo_end - reference)) : mc_strdup(reference);
    *tag = mc_strdup(cut ? cut + 1 : "latest");
}

int mc_image_tag(struct mc_engine *engine, const char *reference, const char *tag, struct mc_until until,
                 struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("naming image %s %s", reference, tag);
    MC_AUTOFREE char *repo = NULL;
    MC_AUTOFREE char *name = NULL;
    mc_image_split(tag, &repo, &name);
    MC_AUTOFREE char *start = path_of(reference, "/tag");
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, start);
    mc_api_query(&path, "repo", repo);
    mc_api_query(&path, "tag", name);
    struct mc_api_call call = {.method = "POST", .path = mc_buf_text(&path), .what = what};
    return mc_api_run(engine, &call, NULL, until, err);
}

int mc_image_remove(struct mc_engine *engine, const char *reference, int force, struct mc_until until,
                    struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("removing image %s", reference);
    MC_AUTOFREE char *path = path_of(reference, force ? "?force=1" : "");
    struct mc_api_call call = {.method = "DELETE", .path = path, .what = what};
    int rc = mc_api_run(engine, &call, NULL, until, err);
    return rc == MC_NOT_FOUND ? 0 : rc;
}
