#include "corpus/draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/yaml.h"

/* Digits with which a real number usually looks as it was written, and with which it always reads back as the same
 * (IEEE 754 binary64). */
enum { DIGITS_SHORT = 15, DIGITS_EXACT = 17 };

void mc_draft_begin(struct mc_draft *draft)
{
    *draft = (struct mc_draft){.head = json_object(),
                               .observations = MC_BUF_OWN,
                               .turns = MC_BUF_OWN,
                               .checkpoints = MC_BUF_OWN,
                               .rubric = MC_BUF_OWN};
}

void mc_draft_release(struct mc_draft *draft)
{
    json_decref(draft->head);
    draft->head = NULL;
    mc_buf_release(&draft->observations);
    mc_buf_release(&draft->turns);
    mc_buf_release(&draft->checkpoints);
    mc_buf_release(&draft->rubric);
}

static char *dump(const json_t *value, size_t digits)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
    if (!text) {
        abort(); /* no memory, or a tree that memcal built wrongly */
    }
    return text;
}

static void put_json(struct mc_buf *out, const json_t *value)
{
    MC_AUTOFREE char *text = dump(value, DIGITS_SHORT);
    MC_AUTOJSON json_t *again = json_loads(text, JSON_DECODE_ANY, NULL);
    if (!json_equal(value, again)) {
        free(text);
        text = dump(value, DIGITS_EXACT);
    }
    mc_buf_puts(out, text);
}

void mc_draft_line(struct mc_buf *file, const json_t *value)
{
    put_json(file, value);
    mc_buf_putc(file, '\n');
}

void mc_draft_line_text(struct mc_buf *file, const char *text, size_t length)
{
    mc_buf_put(file, text, length);
    mc_buf_putc(file, '\n');
}

/* One character of a text in double quotes: what YAML calls unprintable or takes for a line's end is escaped; the rest
 * stands as it is (YAML 1.1 section 5.1). Returns its bytes. */
static size_t put_character(struct mc_buf *out, const char *text)
{
    static const char *const breaks[][2] = {{"\xe2\x80\xa8", "\\u2028"},
                                            {"\xe2\x80\xa9", "\\u2029"},
                                            {"\xef\xbb\xbf", "\\ufeff"},
                                            {"\xef\xbf\xbe", "\\ufffe"},
                                            {"\xef\xbf\xbf", "\\uffff"}};
    unsigned char c = (unsigned char)text[0];
    unsigned char next = (unsigned char)text[1];
    if (c == '"' || c == '\\') {
        mc_buf_putf(out, "\\%c", c);
        return 1;
    }
    if (c == '\n' || c == '\t') {
        mc_buf_puts(out, c == '\n' ? "\\n" : "\\t");
        return 1;
    }
    if (c < 0x20 || c == 0x7f) {
        mc_buf_putf(out, "\\u%04x", c);
        return 1;
    }
    if (c == 0xc2 && next < 0xa0) {
        mc_buf_putf(out, "\\u%04x", next);
        return 2;
    }
    for (size_t i = 0; i < MC_COUNT(breaks); i++) {
        if (mc_starts_with(text, breaks[i][0])) {
            mc_buf_puts(out, breaks[i][1]);
            return strlen(breaks[i][0]);
        }
    }
    mc_buf_putc(out, (char)c);
    return 1;
}

static void put_text(struct mc_buf *out, const char *text)
{
    mc_buf_putc(out, '"');
    while (*text) {
        text += put_character(out, text);
    }
    mc_buf_putc(out, '"');
}

static void put_indent(struct mc_buf *out, int depth)
{
    for (int i = 0; i < depth; i++) {
        mc_buf_puts(out, "  ");
    }
}

static void put_scalar(struct mc_buf *out, const struct mc_view *view)
{
    struct mc_err ignored; /* no text kept: the value itself is written */
    const char *text = NULL;
    if (json_is_string(view->value)) {
        put_text(out, json_string_value(view->value));
    } else if (view->value && mc_view_scalar(view, &text, &ignored) == 0) {
        mc_buf_puts(out, text);
    } else if (view->value) {
        put_json(out, view->value);
    } else {
        mc_buf_puts(out, "null");
    }
}

static int is_branch(const json_t *value)
{
    return (json_is_object(value) && json_object_size(value) > 0) ||
           (json_is_array(value) && json_array_size(value) > 0);
}

static void put_value(struct mc_buf *out, const struct mc_view *view, int depth, int in_item);

/* A key with its colon. One longer than YAML allows before a colon is written as "? key" on a line of its own. */
static void put_key(struct mc_buf *out, const char *key, int depth)
{
    enum { LONGEST = 1000 };
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz_";
    if (key[0] && strspn(key, plain) == strlen(key) && strlen(key) <= LONGEST && !mc_streq(key, "null") &&
        !mc_streq(key, "true") && !mc_streq(key, "false")) {
        mc_buf_putf(out, "%s:", key);
        return;
    }
    MC_AUTOBUF struct mc_buf quoted = MC_BUF_OWN;
    put_text(&quoted, key);
    if (quoted.len <= LONGEST) {
        mc_buf_putf(out, "%s:", mc_buf_text(&quoted));
        return;
    }
    mc_buf_putf(out, "? %s\n", mc_buf_text(&quoted));
    put_indent(out, depth);
    mc_buf_putc(out, ':');
}

static void put_members(struct mc_buf *out, const struct mc_view *view, int depth, int in_item)
{
    const char *key;
    json_t *value;
    int first = in_item;
    json_object_foreach (mc_view_json(view), key, value) {
        if (!first) {
            put_indent(out, depth);
        }
        first = 0;
        put_key(out, key, depth);
        struct mc_view member = mc_view_member(view, key);
        put_value(out, &member, depth + 1, 0);
    }
}

static void put_items(struct mc_buf *out, const struct mc_view *view, int depth)
{
    for (size_t i = 0; i < mc_view_count(view); i++) {
        put_indent(out, depth);
        mc_buf_putc(out, '-');
        struct mc_view item = mc_view_item(view, i);
        put_value(out, &item, depth + 1, 1);
    }
}

/* The value after "key:" or "-", up to and with the line's end. */
static void put_value(struct mc_buf *out, const struct mc_view *view, int depth, int in_item)
{
    if (!is_branch(view->value)) {
        mc_buf_putc(out, ' ');
        put_scalar(out, view);
        mc_buf_putc(out, '\n');
    } else if (json_is_object(view->value)) {
        mc_buf_putc(out, in_item ? ' ' : '\n');
        put_members(out, view, depth, in_item);
    } else {
        mc_buf_putc(out, '\n');
        put_items(out, view, depth);
    }
}

void mc_yaml_put(struct mc_buf *out, const struct mc_view *view)
{
    if (json_is_object(view->value) && is_branch(view->value)) {
        put_members(out, view, 0, 0);
    } else if (is_branch(view->value)) {
        put_items(out, view, 0);
    } else {
        put_scalar(out, view);
        mc_buf_putc(out, '\n');
    }
}

static int write_files(const struct mc_draft *draft, const char *dir, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf head = MC_BUF_OWN;
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    struct mc_view root = mc_view_root(&source, draft->head);
    mc_yaml_put(&head, &root);
    const struct {
        const char *name;
        const struct mc_buf *bytes;
    } files[] = {{"life.yaml", &head},
                 {"observations.jsonl", &draft->observations},
                 {"turns.jsonl", &draft->turns},
                 {"checkpoints.jsonl", &draft->checkpoints},
                 {"rubric.yaml", &draft->rubric}};
    int rc = mc_fs_mkdirs(dir, err);
    for (size_t i = 0; rc == 0 && i < MC_COUNT(files); i++) {
        MC_AUTOFREE char *path = mc_path_join(dir, files[i].name);
        rc = mc_fs_write(path, mc_buf_text(files[i].bytes), files[i].bytes->len, 0644, err);
    }
    return rc;
}

int mc_draft_write(const struct mc_draft *draft, const char *dir, struct mc_err *err)
{
    const char *id = json_string_value(json_object_get(draft->head, "id"));
    MC_AUTOFREE char *final = mc_strf("%s/lives/%s", dir, id);
    MC_AUTOFREE char *temporary = mc_strf("%s/lives/.%s.new", dir, id); /* hidden: no part of the corpus */
    if (mc_fs_exists(final)) {
        mc_fail(err, MC_EXISTS, "%s exists already", final);
        return mc_hint(err, "remove it, or write to another corpus");
    }
    int rc = mc_fs_remove_tree(temporary, err);
    if (rc == 0) {
        rc = write_files(draft, temporary, err);
    }
    if (rc == 0 && rename(temporary, final) != 0) {
        rc = mc_fail_errno(err, errno, "renaming %s to %s", temporary, final);
    }
    if (rc != 0) {
        struct mc_err ignored; /* the first error is the one to tell */
        if (mc_fs_remove_tree(temporary, &ignored) != 0) {
            mc_hint(err, "remove %s", temporary);
        }
    }
    return rc;
}
