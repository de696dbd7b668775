#include "engine/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/own.h"

const char *mc_api_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

int64_t mc_api_int(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

int mc_api_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

json_t *mc_labels_json(struct mc_labels labels)
{
    json_t *object = json_object();
    for (size_t i = 0; i < labels.count; i++) {
        json_object_set_new(object, labels.items[i].name, json_string(labels.items[i].value));
    }
    return object;
}

int mc_labels_match(const json_t *labels, struct mc_labels wanted)
{
    for (size_t i = 0; i < wanted.count; i++) {
        const char *value = json_string_value(json_object_get(labels, wanted.items[i].name));
        if (!value || strcmp(value, wanted.items[i].value) != 0) {
            return 0;
        }
    }
    return 1;
}

int mc_labels_check(const json_t *labels, struct mc_labels ours, const char *what, struct mc_err *err)
{
    for (size_t i = 0; i < ours.count; i++) {
        struct mc_labels one = {.items = &ours.items[i], .count = 1};
        if (!mc_labels_match(labels, one)) {
            const char *value = json_string_value(json_object_get(labels, ours.items[i].name));
            return mc_fail(err, MC_DENIED, "%s: it is not ours: its label %s is %s, not %s", what, ours.items[i].name,
                           value ? value : "not there", ours.items[i].value);
        }
    }
    return 0;
}

/* Podman lists volumes and networks with their time as text, Docker some as a number. */
static int64_t seconds_of(const json_t *value)
{
    struct mc_err ignored;
    struct mc_time time;
    if (json_is_integer(value)) {
        return json_integer_value(value);
    }
    if (json_is_string(value) && mc_time_parse(json_string_value(value), &time, &ignored) == 0) {
        return time.ms / 1000;
    }
    return 0;
}

void mc_objects_add(struct mc_objects *objects, const json_t *item, const char *id, const char *name)
{
    json_t *labels = json_object_get(item, "Labels");
    const json_t *created = json_object_get(item, "Created");
    struct mc_object object = {
        .id = mc_strdup(id),
        .name = mc_strdup(name[0] == '/' ? name + 1 : name),
        .state = mc_strdup(mc_api_text(item, "State")),
        .created_s = seconds_of(created ? created : json_object_get(item, "CreatedAt")),
        .labels = json_is_object(labels) ? json_deep_copy(labels) : json_object(),
    };
    /* Lists are short and made once: growing by one each time is plain and fast enough. */
    objects->items = mc_resize(objects->items, objects->count + 1, sizeof *objects->items);
    objects->items[objects->count++] = object;
}

const char *mc_object_label(const struct mc_object *object, const char *name)
{
    return json_string_value(json_object_get(object->labels, name));
}

void mc_objects_release(struct mc_objects *objects)
{
    for (size_t i = 0; i < objects->count; i++) {
        free(objects->items[i].id);
        free(objects->items[i].name);
        free(objects->items[i].state);
        json_decref(objects->items[i].labels);
    }
    free(objects->items);
    *objects = MC_OBJECTS_INIT;
}
