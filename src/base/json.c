#include "base/json.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/yaml.h"

void mc_json_at(json_t **value)
{
    json_decref(*value);
    *value = NULL;
}

/* "file:line", as much of it as is known. */
static char *source_place(const struct mc_source *source, int line)
{
    return line > 0 && source->name[0] ? mc_strf("%s:%d", source->name, line) : mc_strdup(source->name);
}

json_t *mc_json_parse(const void *bytes, size_t length, const struct mc_source *source, struct mc_err *err)
{
    json_error_t error;
    json_t *value = json_loadb(bytes, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!value) {
        int line = source->line > 0 ? source->line : error.line;
        MC_AUTOFREE char *place = source_place(source, line);
        mc_fail(err, MC_INPUT, "not valid JSON at column %d: %s", error.column, error.text);
        mc_wrap_place(err, place);
    }
    return value;
}

json_t *mc_json_load(const char *path, size_t max, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(max);
    if (mc_fs_read(path, &bytes, err) != 0) {
        return NULL;
    }
    struct mc_source source = {.name = path, .line = 0, .marks = NULL};
    return mc_json_parse(mc_buf_text(&bytes), bytes.len, &source, err);
}

static char *dump(const json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    if (!text) {
        abort(); /* only for trees that memcal built wrongly, or no memory */
    }
    return text;
}

char *mc_json_text(const json_t *value)
{
    return dump(value, JSON_COMPACT);
}

char *mc_json_pretty(const json_t *value)
{
    return dump(value, JSON_INDENT(2));
}

struct mc_view mc_view_root(const struct mc_source *source, const json_t *value)
{
    return (struct mc_view){.source = source, .value = value, .parent = NULL, .key = NULL, .index = 0};
}

struct mc_view mc_view_member(const struct mc_view *object, const char *key)
{
    const json_t *value = json_object_get(object->value, key);
    return (struct mc_view){.source = object->source,
                            .value = json_is_null(value) ? NULL : value,
                            .parent = object,
                            .key = key,
                            .index = 0};
}

struct mc_view mc_view_item(const struct mc_view *array, size_t index)
{
    return (struct mc_view){.source = array->source,
                            .value = json_array_get(array->value, index),
                            .parent = array,
                            .key = NULL,
                            .index = index};
}

size_t mc_view_count(const struct mc_view *array)
{
    return array->value ? json_array_size(array->value) : 0;
}

json_t *mc_view_json(const struct mc_view *view)
{
    union {
        const json_t *seen;
        json_t *taken;
    } value = {.seen = view->value};
    return value.taken;
}

static int is_bare_key(const char *key)
{
    return key[0] && strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen(key);
}

static void put_path(struct mc_buf *out, const struct mc_view *view)
{
    if (!view->parent) {
        return;
    }
    put_path(out, view->parent);
    if (!view->key) {
        mc_buf_putf(out, "[%zu]", view->index);
    } else if (is_bare_key(view->key)) {
        mc_buf_putf(out, ".%s", view->key);
    } else {
        mc_buf_putf(out, ".\"%s\"", view->key);
    }
}

char *mc_view_path(const struct mc_view *view)
{
    struct mc_buf path = MC_BUF_OWN;
    put_path(&path, view);
    if (path.len == 0) {
        mc_buf_putc(&path, '.');
    }
    return mc_buf_take(&path);
}

int mc_view_line(const struct mc_view *view)
{
    if (!view->source->marks) {
        return view->source->line;
    }
    for (const struct mc_view *at = view; at && at->parent; at = at->parent) {
        int line = mc_marks_line(view->source->marks, at->parent->value, at->key, at->index);
        if (line > 0) {
            return line;
        }
    }
    return 1;
}

char *mc_view_place(const struct mc_view *view)
{
    MC_AUTOFREE char *where = source_place(view->source, mc_view_line(view));
    MC_AUTOFREE char *path = mc_view_path(view);
    return mc_strf("%s%s%s", where, where[0] ? ": " : "", path);
}

int mc_view_fail(const struct mc_view *view, struct mc_err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mc_vfail(err, MC_INPUT, format, args);
    va_end(args);
    MC_AUTOFREE char *place = mc_view_place(view);
    return mc_wrap_place(err, place);
}

static const char *type_name(const json_t *value)
{
    if (!value) {
        return "null"; /* a member that is null counts as absent */
    }
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "text";
    case JSON_INTEGER:
        return "a whole number";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    default:
        return "null";
    }
}

/* Finds the member: 1 present, 0 absent and optional, else an error. */
static int find(const struct mc_view *object, const char *key, enum mc_need need, struct mc_view *out,
                struct mc_err *err)
{
    *out = mc_view_member(object, key);
    if (out->value) {
        return 1;
    }
    if (need == MC_OPTIONAL) {
        return 0;
    }
    return mc_view_fail(object, err, "\"%s\" is missing", key);
}

static int wrong_type(const struct mc_view *view, const char *wanted, struct mc_err *err)
{
    return mc_view_fail(view, err, "must be %s, is %s", wanted, type_name(view->value));
}

int mc_view_string(const struct mc_view *view, const char **out, struct mc_err *err)
{
    if (!json_is_string(view->value)) {
        return wrong_type(view, "text", err);
    }
    *out = json_string_value(view->value);
    return 0;
}

int mc_view_scalar(const struct mc_view *view, const char **out, struct mc_err *err)
{
    if (json_is_string(view->value)) {
        *out = json_string_value(view->value);
        return 0;
    }
    const char *text = view->source->marks && view->parent
                           ? mc_marks_text(view->source->marks, view->parent->value, view->key, view->index)
                           : NULL;
    if (!text) {
        return wrong_type(view, "text", err);
    }
    *out = text;
    return 0;
}

int mc_view_time(const struct mc_view *view, struct mc_time *out, struct mc_err *err)
{
    const char *text = "";
    int rc = mc_view_string(view, &text, err);
    if (rc == 0 && (rc = mc_time_parse(text, out, err)) != 0) {
        MC_AUTOFREE char *place = mc_view_place(view);
        mc_wrap_place(err, place);
    }
    return rc;
}

int mc_view_is_object(const struct mc_view *view, struct mc_err *err)
{
    return json_is_object(view->value) ? 0 : wrong_type(view, "an object", err);
}

int mc_read_string(const struct mc_view *object, const char *key, enum mc_need need, const char **out,
                   struct mc_err *err)
{
    struct mc_view view;
    int found = find(object, key, need, &view, err);
    return found == 1 ? mc_view_string(&view, out, err) : found;
}

int mc_view_id(const struct mc_view *view, const char **out, struct mc_err *err)
{
    const char *text = "";
    int rc = mc_view_string(view, &text, err);
    if (rc != 0) {
        return rc;
    }
    size_t length = strlen(text);
    if (length < 1 || length > 200) {
        return mc_view_fail(view, err, "must have 1 to 200 characters, has %zu", length);
    }
    for (const char *p = text; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f) {
            return mc_view_fail(view, err, "must not hold control characters");
        }
    }
    *out = text;
    return 0;
}

int mc_is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strspn(text, letters);
    return length >= 1 && length <= 100 && !text[length] && !strchr("._-", text[0]);
}

int mc_view_name(const struct mc_view *view, const char **out, struct mc_err *err)
{
    const char *text = "";
    int rc = mc_view_string(view, &text, err);
    if (rc != 0) {
        return rc;
    }
    if (!mc_is_name(text)) {
        return mc_view_fail(view, err,
                            "must be 1 to 100 letters, digits, \".\", \"_\" or \"-\", the first a letter or"
                            " digit");
    }
    *out = text;
    return 0;
}

int mc_read_id(const struct mc_view *object, const char *key, enum mc_need need, const char **out, struct mc_err *err)
{
    struct mc_view view;
    int found = find(object, key, need, &view, err);
    return found == 1 ? mc_view_id(&view, out, err) : found;
}

int mc_read_name(const struct mc_view *object, const char *key, enum mc_need need, const char **out, struct mc_err *err)
{
    struct mc_view view;
    int found = find(object, key, need, &view, err);
    return found == 1 ? mc_view_name(&view, out, err) : found;
}

int mc_read_int(const struct mc_view *object, const char *key, enum mc_need need, int64_t min, int64_t max,
                int64_t *out, struct mc_err *err)
{
    struct mc_view view;
    int found = find(object, key, need, &view, err);
    if (found != 1) {
        return found;
    }
    if (!json_is_integer(view.value)) {
        return wrong_type(&view, "a whole number", err);
    }
    json_int_t value = json_integer_value(view.value);
    if (value < min || value > max) {
        return mc_view_fail(&view, err, "must be %lld to %lld, is %lld", (long long)min, (long long)max,
                            (long long)value);
    }
    *out = value;
    return 0;
}

int mc_read_number(const struct mc_view *object, const char *key, enum mc_need need, double *out, struct mc_err *err)
{
    struct mc_view view;
    int found = find(object, key, need, &view, err);
    if (found != 1) {
        return found;
    }
    if (!json_is_number(view.value)) {
        return wrong_type(&view, "a number", err);
    }
    *out = json_number_value(view.value);
    return 0;
}

int mc_read_bool(const struct mc_view *object, const char *key, enum mc_need need, int *out, struct mc_err *err)
{
    struct mc_view view;
    int found = find(object, key, need, &view, err);
    if (found != 1) {
        return found;
    }
    if (!json_is_boolean(view.value)) {
        return wrong_type(&view, "true or false", err);
    }
    *out = json_is_true(view.value);
    return 0;
}

int mc_read_time(const struct mc_view *object, const char *key, enum mc_need need, struct mc_time *out,
                 struct mc_err *err)
{
    struct mc_view view;
    int found = find(object, key, need, &view, err);
    return found == 1 ? mc_view_time(&view, out, err) : found;
}

int mc_read_object(const struct mc_view *object, const char *key, enum mc_need need, struct mc_view *out,
                   struct mc_err *err)
{
    int found = find(object, key, need, out, err);
    return found == 1 ? mc_view_is_object(out, err) : found;
}

int mc_read_array(const struct mc_view *object, const char *key, enum mc_need need, struct mc_view *out,
                  struct mc_err *err)
{
    int found = find(object, key, need, out, err);
    if (found != 1) {
        return found;
    }
    return json_is_array(out->value) ? 0 : wrong_type(out, "a list", err);
}

int mc_read_choice(const struct mc_view *object, const char *key, enum mc_need need, const char *const *names, int *out,
                   struct mc_err *err)
{
    struct mc_view view;
    int found = find(object, key, need, &view, err);
    if (found != 1) {
        return found;
    }
    const char *text = "";
    int rc = mc_view_string(&view, &text, err);
    if (rc != 0) {
        return rc;
    }
    MC_AUTOBUF struct mc_buf known = MC_BUF_OWN;
    for (int i = 0; names[i]; i++) {
        if (mc_streq(names[i], text)) {
            *out = i;
            return 0;
        }
        mc_buf_putf(&known, "%s%s", i ? ", " : "", names[i]);
    }
    return mc_view_fail(&view, err, "must be one of %s, is \"%.60s\"", mc_buf_text(&known), text);
}

/* Levenshtein's distance, cut off at names longer than any key of ours. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    size_t la = strlen(a);
    size_t lb = strlen(b);
    if (la > LONGEST || lb > LONGEST) {
        return LONGEST;
    }
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= lb; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            size_t shortest = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < shortest ? change : shortest;
        }
    }
    return row[lb];
}

int mc_only_keys(const struct mc_view *object, const char *const *keys, struct mc_err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach (mc_view_json(object), key, value) {
        const char *nearest = NULL;
        size_t best = (strlen(key) + 1) / 2 + 1; /* a name of which more is wrong than right is another name */
        best = best < 4 ? best : 4;
        int known = 0;
        for (size_t i = 0; keys[i] && !known; i++) {
            known = mc_streq(keys[i], key);
            size_t d = distance(keys[i], key);
            if (d < best && d * 2 <= strlen(key)) {
                best = d;
                nearest = keys[i];
            }
        }
        if (!known) {
            struct mc_view view = mc_view_member(object, key);
            int rc = mc_view_fail(&view, err, "unknown key");
            return nearest ? mc_hint(err, "did you mean \"%s\"?", nearest) : rc;
        }
    }
    return 0;
}
