/*
 * Reading documents from outside (JSON and YAML), with messages that name file, line and path.
 *
 * A document is a jansson tree plus a `struct mc_source` that knows where its values stand. A `struct mc_view` is one
 * value seen at its place. Views lie on the stack and point to the view that they were reached from, so a path such as
 * `.checkpoints."poker-move/where".slots[0].match` is put together only when an error needs it.
 *
 * Ownership: trees belong to whoever parsed them (json_decref, or MC_AUTOJSON); views, and every string read
 * through one, are borrowed and live as long as the tree. A view must not outlive its parent view.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"

struct mc_marks; /* lines of a YAML document's values (yaml.h) */

struct mc_source {
    const char *name; /* file name as shown; "" for a peer's message */
    int line;         /* the line of the whole value (JSON lines), 0 where marks know better or none apply */
    const struct mc_marks *marks; /* NULL for JSON */
};

struct mc_view {
    const struct mc_source *source;
    const json_t *value;
    const struct mc_view *parent; /* NULL at the root */
    const char *key;              /* where the parent is an object */
    size_t index;                 /* where the parent is an array */
};

enum mc_need { MC_REQUIRED, MC_OPTIONAL };

/* Parses one JSON value that fills all of `bytes` (white space aside). Duplicate keys, NaN, invalid UTF-8 and NUL in
 * strings are refused. New reference, or NULL with *err. */
json_t *mc_json_parse(const void *bytes, size_t length, const struct mc_source *source, struct mc_err *err) MC_CHECKED;

/* Reads and parses a JSON file of at most `max` bytes. */
json_t *mc_json_load(const char *path, size_t max, struct mc_err *err) MC_CHECKED;

/* Compact JSON with the keys sorted: the same value gives the same bytes. The caller frees it. */
char *mc_json_text(const json_t *value);
/* The same, indented by two. */
char *mc_json_pretty(const json_t *value);

struct mc_view mc_view_root(const struct mc_source *source, const json_t *value);
/* The member `key`; `value` is NULL where it is absent (null counts as absent). */
struct mc_view mc_view_member(const struct mc_view *object, const char *key);
struct mc_view mc_view_item(const struct mc_view *array, size_t index);
size_t mc_view_count(const struct mc_view *array);
/* The value for those of jansson's functions that do not take const (iterating, taking a reference); not to be changed.
 */
json_t *mc_view_json(const struct mc_view *view);

/* The place of `view` as "file:line: path"; parts that are not known are left out. The caller frees it. */
char *mc_view_place(const struct mc_view *view);
int mc_view_line(const struct mc_view *view);
/* The path alone, "." for the root. The caller frees it. */
char *mc_view_path(const struct mc_view *view);

/* Fails with MC_INPUT and the place before the text. */
int mc_view_fail(const struct mc_view *view, struct mc_err *err, const char *format, ...) MC_PRINTF(3, 4);

/*
 * Readers: member `key` of `object`, checked for type, into *out. An absent optional member leaves *out as it was.
 * All fail with MC_INPUT and the member's place.
 */
int mc_read_string(const struct mc_view *object, const char *key, enum mc_need need, const char **out,
                   struct mc_err *err) MC_CHECKED;
/* A string of 1 to 200 bytes without control characters. */
int mc_read_id(const struct mc_view *object, const char *key, enum mc_need need, const char **out,
               struct mc_err *err) MC_CHECKED;
/* The same of 1 to 100 letters, digits, '.', '_' and '-', the first a letter or digit: what may stand in a path, a
 * label or a table. */
int mc_read_name(const struct mc_view *object, const char *key, enum mc_need need, const char **out,
                 struct mc_err *err) MC_CHECKED;
int mc_read_int(const struct mc_view *object, const char *key, enum mc_need need, int64_t min, int64_t max,
                int64_t *out, struct mc_err *err) MC_CHECKED;
/* An integer or a real number. */
int mc_read_number(const struct mc_view *object, const char *key, enum mc_need need, double *out,
                   struct mc_err *err) MC_CHECKED;
int mc_read_bool(const struct mc_view *object, const char *key, enum mc_need need, int *out,
                 struct mc_err *err) MC_CHECKED;
int mc_read_time(const struct mc_view *object, const char *key, enum mc_need need, struct mc_time *out,
                 struct mc_err *err) MC_CHECKED;
/* A view of an object or array; out->value is NULL where an optional one is absent. */
int mc_read_object(const struct mc_view *object, const char *key, enum mc_need need, struct mc_view *out,
                   struct mc_err *err) MC_CHECKED;
int mc_read_array(const struct mc_view *object, const char *key, enum mc_need need, struct mc_view *out,
                  struct mc_err *err) MC_CHECKED;
/* One of `names` (NULL-ended) as its index. */
int mc_read_choice(const struct mc_view *object, const char *key, enum mc_need need, const char *const *names, int *out,
                   struct mc_err *err) MC_CHECKED;

/* The value itself as a string: an array's item, say. */
int mc_view_string(const struct mc_view *view, const char **out, struct mc_err *err) MC_CHECKED;
/* As mc_read_id() and mc_read_name() check it. */
int mc_view_id(const struct mc_view *view, const char **out, struct mc_err *err) MC_CHECKED;
int mc_view_name(const struct mc_view *view, const char **out, struct mc_err *err) MC_CHECKED;
int mc_is_name(const char *text);
int mc_view_time(const struct mc_view *view, struct mc_time *out, struct mc_err *err) MC_CHECKED;
/* A scalar as it was written: `expected: 1.50` gives "1.50", `expected: yes` gives "yes". */
int mc_view_scalar(const struct mc_view *view, const char **out, struct mc_err *err) MC_CHECKED;
int mc_view_is_object(const struct mc_view *view, struct mc_err *err) MC_CHECKED;

/* Fails on the first member of `object` that is not in `keys` (NULL-ended), and names the nearest one that is. */
int mc_only_keys(const struct mc_view *object, const char *const *keys, struct mc_err *err) MC_CHECKED;

void mc_json_at(json_t **value);
#define MC_AUTOJSON MC_CLEANUP(mc_json_at)
