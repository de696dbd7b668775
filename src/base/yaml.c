#include "base/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/fs.h"
#include "base/mem.h"

struct mark {
    const json_t *container; /* NULL: a free place of the table */
    char *key;               /* NULL for an item of a list */
    size_t index;
    int line;
    char *text;
};

/* Open addressing, at most half full. */
struct mc_marks {
    struct mark *table;
    size_t size;
    size_t count;
};

static size_t hash_place(const json_t *container, const char *key, size_t index)
{
    uint64_t h = 1469598103934665603U ^ (uint64_t)(uintptr_t)container;
    h = (h ^ index) * 1099511628211U;
    for (const char *p = key; p && *p; p++) {
        h = (h ^ (unsigned char)*p) * 1099511628211U;
    }
    return (size_t)(h ^ (h >> 29));
}

static struct mark *find_mark(const struct mc_marks *marks, const json_t *container, const char *key, size_t index)
{
    size_t at = hash_place(container, key, index) % marks->size;
    while (marks->table[at].container) {
        struct mark *mark = &marks->table[at];
        if (mark->container == container && mark->index == index && mc_streq(mark->key, key)) {
            return mark;
        }
        at = (at + 1) % marks->size;
    }
    return &marks->table[at];
}

static void grow_marks(struct mc_marks *marks)
{
    struct mc_marks bigger = {.size = marks->size ? marks->size * 2 : 64, .count = marks->count};
    bigger.table = mc_alloc(bigger.size, sizeof *bigger.table);
    for (size_t i = 0; i < marks->size; i++) {
        const struct mark *old = &marks->table[i];
        if (old->container) {
            *find_mark(&bigger, old->container, old->key, old->index) = *old;
        }
    }
    free(marks->table);
    *marks = bigger;
}

static void add_mark(struct mc_marks *marks, struct mark mark)
{
    if (marks->count * 2 >= marks->size) {
        grow_marks(marks);
    }
    *find_mark(marks, mark.container, mark.key, mark.index) = mark;
    marks->count++;
}

static void free_marks(struct mc_marks *marks)
{
    if (!marks) {
        return;
    }
    for (size_t i = 0; i < marks->size; i++) {
        free(marks->table[i].key);
        free(marks->table[i].text);
    }
    free(marks->table);
    free(marks);
}

int mc_marks_line(const struct mc_marks *marks, const json_t *container, const char *key, size_t index)
{
    return marks->size ? find_mark(marks, container, key, key ? 0 : index)->line : 0;
}

const char *mc_marks_text(const struct mc_marks *marks, const json_t *container, const char *key, size_t index)
{
    return marks->size ? find_mark(marks, container, key, key ? 0 : index)->text : NULL;
}

struct reader {
    yaml_parser_t parser;
    const char *name;
    struct mc_marks *marks;
    struct mc_err *err;
    int depth;
};

static int fail_at(struct reader *r, size_t line, const char *what)
{
    mc_fail(r->err, MC_INPUT, "%s", what);
    MC_AUTOFREE char *place = mc_strf("%s:%zu", r->name, line + 1);
    return mc_wrap_place(r->err, place);
}

static int next_event(struct reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event)) {
        return 0;
    }
    size_t line = r->parser.problem_mark.line;
    MC_AUTOFREE char *what = mc_strf("not valid YAML: %s", r->parser.problem ? r->parser.problem : "unreadable");
    return fail_at(r, line, what);
}

static int is_decimal(const char *text)
{
    const char *p = text + (*text == '-' || *text == '+');
    size_t before = strspn(p, "0123456789");
    if (before == 0 || p[before] != '.') {
        return 0;
    }
    size_t after = strspn(p + before + 1, "0123456789");
    return after > 0 && p[before + 1 + after] == '\0';
}

static int is_whole(const char *text)
{
    const char *p = text + (*text == '-');
    size_t count = strspn(p, "0123456789");
    return count > 0 && p[count] == '\0' && (count == 1 || *p != '0');
}

/* A plain scalar by the core schema; NULL where it is not valid text. */
static json_t *plain_value(const char *text)
{
    if (mc_streq(text, "true") || mc_streq(text, "false")) {
        return json_boolean(text[0] == 't');
    }
    if (mc_streq(text, "null") || mc_streq(text, "~") || text[0] == '\0') {
        return json_null();
    }
    errno = 0;
    if (is_whole(text)) {
        long long value = strtoll(text, NULL, 10);
        return errno ? json_string(text) : json_integer(value);
    }
    if (is_decimal(text)) {
        return json_real(strtod(text, NULL));
    }
    return json_string(text);
}

static int scalar(struct reader *r, const yaml_event_t *event, json_t **out, char **text)
{
    const char *raw = (const char *)event->data.scalar.value;
    size_t line = event->start_mark.line;
    if (event->data.scalar.anchor || event->data.scalar.tag) {
        return fail_at(r, line, "anchors and tags are not allowed");
    }
    if (memchr(raw, '\0', event->data.scalar.length)) {
        return fail_at(r, line, "a NUL character is not allowed");
    }
    int plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    *out = plain ? plain_value(raw) : json_string(raw);
    if (!*out) {
        return fail_at(r, line, "text that is not valid UTF-8");
    }
    *text = mc_strdup(raw);
    return 0;
}

static int value_of(struct reader *r, yaml_event_t *event, json_t **out, char **text);

static int sequence(struct reader *r, json_t **out)
{
    json_t *list = json_array();
    *out = list;
    for (;;) {
        yaml_event_t event;
        int rc = next_event(r, &event);
        if (rc != 0) {
            return rc;
        }
        int end = event.type == YAML_SEQUENCE_END_EVENT;
        json_t *item = NULL;
        char *text = NULL;
        int line = (int)event.start_mark.line + 1;
        rc = end ? 0 : value_of(r, &event, &item, &text);
        yaml_event_delete(&event);
        if (item) {
            add_mark(r->marks, (struct mark){list, NULL, json_array_size(list), line, text});
            json_array_append_new(list, item);
        }
        if (end || rc != 0) {
            return rc;
        }
    }
}

/* One member after its key's event; the key is copied before the value is read. */
static int member(struct reader *r, json_t *object, yaml_event_t *key_event)
{
    size_t key_line = key_event->start_mark.line;
    if (key_event->type != YAML_SCALAR_EVENT) {
        return fail_at(r, key_line, "a key must be text");
    }
    if (key_event->data.scalar.anchor || key_event->data.scalar.tag) {
        return fail_at(r, key_line, "anchors and tags are not allowed");
    }
    if (memchr(key_event->data.scalar.value, '\0', key_event->data.scalar.length)) {
        return fail_at(r, key_line, "a NUL character is not allowed");
    }
    MC_AUTOFREE char *key = mc_strdup((const char *)key_event->data.scalar.value);
    if (json_object_get(object, key)) {
        MC_AUTOFREE char *what = mc_strf("the key \"%.100s\" stands here a second time", key);
        return fail_at(r, key_line, what);
    }
    yaml_event_t event;
    int rc = next_event(r, &event);
    if (rc != 0) {
        return rc;
    }
    json_t *value = NULL;
    char *text = NULL;
    rc = value_of(r, &event, &value, &text);
    yaml_event_delete(&event);
    if (value && json_object_set_new(object, key, value) != 0) {
        free(text);
        return rc != 0 ? rc : fail_at(r, key_line, "a key that is not valid UTF-8");
    }
    if (value) {
        add_mark(r->marks, (struct mark){object, mc_steal(&key), 0, (int)key_line + 1, text});
    }
    return rc;
}

static int mapping(struct reader *r, json_t **out)
{
    *out = json_object();
    for (;;) {
        yaml_event_t event;
        int rc = next_event(r, &event);
        if (rc != 0) {
            return rc;
        }
        int end = event.type == YAML_MAPPING_END_EVENT;
        rc = end ? 0 : member(r, *out, &event);
        yaml_event_delete(&event);
        if (end || rc != 0) {
            return rc;
        }
    }
}

/* Reads the value that `event` starts. On failure *out may hold a part, which the caller frees. */
static int value_of(struct reader *r, yaml_event_t *event, json_t **out, char **text)
{
    size_t line = event->start_mark.line;
    if (event->type == YAML_SCALAR_EVENT) {
        return scalar(r, event, out, text);
    }
    if (event->type == YAML_ALIAS_EVENT) {
        return fail_at(r, line, "aliases are not allowed");
    }
    int is_map = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *anchor = is_map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    const yaml_char_t *tag = is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    if (anchor || tag) {
        return fail_at(r, line, "anchors and tags are not allowed");
    }
    if (r->depth >= MC_YAML_MAX_DEPTH) {
        return fail_at(r, line, "nested deeper than 64 levels");
    }
    r->depth++;
    int rc = is_map ? mapping(r, out) : sequence(r, out);
    r->depth--;
    return rc;
}

static int read_document(struct reader *r, json_t **root)
{
    int seen = 0;
    for (;;) {
        yaml_event_t event;
        int rc = next_event(r, &event);
        if (rc != 0) {
            return rc;
        }
        yaml_event_type_t type = event.type;
        size_t line = event.start_mark.line;
        if (type == YAML_DOCUMENT_START_EVENT && seen++) {
            rc = fail_at(r, line, "a second document in one file");
        } else if (type == YAML_SCALAR_EVENT || type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT ||
                   type == YAML_ALIAS_EVENT) {
            MC_AUTOFREE char *text = NULL;
            rc = value_of(r, &event, root, &text);
        }
        yaml_event_delete(&event);
        if (rc != 0 || type == YAML_STREAM_END_EVENT) {
            return rc;
        }
    }
}

int mc_yaml_parse(const void *bytes, size_t length, const char *name, struct mc_doc *out, struct mc_err *err)
{
    memset(out, 0, sizeof *out);
    struct reader r = {.name = name, .err = err, .depth = 0};
    r.marks = mc_alloc(1, sizeof *r.marks);
    if (!yaml_parser_initialize(&r.parser)) {
        abort(); /* no memory */
    }
    yaml_parser_set_input_string(&r.parser, bytes, length);
    json_t *root = NULL;
    int rc = read_document(&r, &root);
    yaml_parser_delete(&r.parser);
    if (rc == 0 && !root) {
        rc = mc_fail(err, MC_INPUT, "%s: the file is empty", name);
    }
    if (rc != 0) {
        json_decref(root);
        free_marks(r.marks);
        return rc;
    }
    out->root = root;
    out->marks = r.marks;
    out->name = mc_strdup(name);
    out->source = (struct mc_source){.name = out->name, .line = 0, .marks = out->marks};
    return 0;
}

int mc_yaml_load(const char *path, size_t max, struct mc_doc *out, struct mc_err *err)
{
    memset(out, 0, sizeof *out);
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(max);
    int rc = mc_fs_read(path, &bytes, err);
    return rc == 0 ? mc_yaml_parse(mc_buf_text(&bytes), bytes.len, path, out, err) : rc;
}

void mc_doc_release(struct mc_doc *doc)
{
    json_decref(doc->root);
    free_marks(doc->marks);
    free(doc->name);
    memset(doc, 0, sizeof *doc);
}

struct mc_view mc_doc_view(const struct mc_doc *doc)
{
    return mc_view_root(&doc->source, doc->root);
}
