#include "protocol/codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int mc_codec_write(json_t *frame, const char *name, struct mc_buf *line, struct mc_err *err)
{
    MC_AUTOJSON json_t *owned = frame;
    if (!owned) {
        return mc_fail(err, MC_INPUT, "encoding a frame %s: a text in it is missing or not UTF-8", name);
    }
    MC_AUTOFREE char *text = mc_json_text(owned);
    size_t length = strlen(text);
    if (length + 1 > MC_FRAME_MAX) {
        return mc_fail(err, MC_LIMIT, "a frame %s would have %zu bytes; %zu are allowed", name, length + 1,
                       MC_FRAME_MAX);
    }
    text[length] = '\n';
    if (mc_buf_add(line, text, length + 1) != 0) {
        return mc_fail(err, MC_LIMIT, "no room for a frame %s of %zu bytes", name, length + 1);
    }
    return 0;
}

json_t *mc_codec_parse(const char *line, size_t length, const struct mc_source *source, const char *const *names,
                       int *type, struct mc_err *err)
{
    if (length >= MC_FRAME_MAX) {
        mc_fail(err, MC_PROTOCOL, "a frame of %zu bytes is longer than the %zu allowed", length + 1, MC_FRAME_MAX);
        return NULL;
    }
    json_t *json = mc_json_parse(line, length, source, err);
    struct mc_view root = mc_view_root(source, json);
    if (!json || mc_view_is_object(&root, err) != 0 ||
        mc_read_choice(&root, "type", MC_REQUIRED, names, type, err) != 0) {
        json_decref(json);
        err->code = MC_PROTOCOL;
        return NULL;
    }
    return json;
}

json_t *mc_codec_borrow(const json_t *value)
{
    return (json_t *)value;
}

static const char *items_of(json_type type)
{
    return type == JSON_STRING ? "text" : type == JSON_INTEGER ? "a whole number" : "an object";
}

int mc_codec_array(const struct mc_view *object, const char *key, enum mc_need need, json_type type, const json_t **out,
                   struct mc_err *err)
{
    struct mc_view array;
    int rc = mc_read_array(object, key, need, &array, err);
    if (rc != 0 || !array.value) {
        return rc;
    }
    for (size_t i = 0; i < mc_view_count(&array); i++) {
        struct mc_view item = mc_view_item(&array, i);
        if (json_typeof(item.value) != type) {
            return mc_view_fail(&item, err, "must be %s", items_of(type));
        }
    }
    *out = array.value;
    return 0;
}

int mc_codec_object(const struct mc_view *object, const char *key, enum mc_need need, const json_t **out,
                    struct mc_err *err)
{
    struct mc_view view;
    int rc = mc_read_object(object, key, need, &view, err);
    if (rc == 0 && view.value) {
        *out = view.value;
    }
    return rc;
}

int mc_codec_count(const struct mc_view *object, const char *key, int64_t *out, struct mc_err *err)
{
    *out = MC_UNKNOWN;
    return mc_read_int(object, key, MC_OPTIONAL, 0, INT64_MAX, out, err);
}

int mc_codec_usage(const struct mc_view *object, struct mc_usage *out, struct mc_err *err)
{
    int rc = mc_codec_count(object, "input", &out->input, err);
    rc = rc != 0 ? rc : mc_codec_count(object, "cached_input", &out->cached_input, err);
    rc = rc != 0 ? rc : mc_codec_count(object, "output", &out->output, err);
    return rc != 0 ? rc : mc_codec_count(object, "reasoning", &out->reasoning, err);
}

const char *mc_role_name(enum mc_role role)
{
    static const char *const names[] = {"harness", "provider", "sidecar"};
    return names[role];
}
