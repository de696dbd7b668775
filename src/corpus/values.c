#include "corpus/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "corpus/words.h"

static void add_value(struct mc_values *values, const struct mc_view *view)
{
    struct mc_err ignored; /* a value of a wrong type is the grader's to report */
    const char *text = NULL;
    if (!view->value || mc_view_scalar(view, &text, &ignored) != 0) {
        return;
    }
    char *folded = mc_words_fold(text);
    if (!folded[0]) {
        free(folded);
        return;
    }
    values->texts = mc_grow(values->texts, values->count, &values->capacity, sizeof *values->texts);
    values->texts[values->count++] = folded;
}

static void add_evidence(struct mc_values *values, const struct mc_view *list)
{
    for (size_t i = 0; i < mc_view_count(list); i++) {
        struct mc_view item = mc_view_item(list, i);
        struct mc_err ignored; /* as above */
        const char *id = NULL;
        int fresh;
        if (mc_view_scalar(&item, &id, &ignored) == 0) {
            mc_ids_add(&values->evidence, (struct mc_id){.text = id}, &fresh);
        }
    }
}

static void read_slots(struct mc_values *values, const struct mc_view *list)
{
    for (size_t i = 0; i < mc_view_count(list); i++) {
        struct mc_view slot = mc_view_item(list, i);
        struct mc_view expected = mc_view_member(&slot, "expected");
        add_value(values, &expected);
        static const char *const lists[] = {"alternatives", "forbidden"};
        for (size_t k = 0; k < MC_COUNT(lists); k++) {
            struct mc_view more = mc_view_member(&slot, lists[k]);
            for (size_t j = 0; j < mc_view_count(&more); j++) {
                struct mc_view item = mc_view_item(&more, j);
                add_value(values, &item);
            }
        }
        struct mc_view evidence = mc_view_member(&slot, "supported_by");
        add_evidence(values, &evidence);
    }
}

void mc_values_read(const struct mc_view *rubric, struct mc_values *out)
{
    memset(out, 0, sizeof *out);
    struct mc_view entries = mc_view_member(rubric, "checkpoints");
    const char *key;
    json_t *value;
    json_object_foreach (mc_view_json(&entries), key, value) {
        struct mc_view entry = mc_view_member(&entries, key);
        static const char *const lists[] = {"slots", "options", "traps"};
        for (size_t k = 0; k < MC_COUNT(lists); k++) {
            struct mc_view list = mc_view_member(&entry, lists[k]);
            read_slots(out, &list);
        }
    }
}

void mc_values_release(struct mc_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        free(values->texts[i]);
    }
    free(values->texts);
    mc_ids_release(&values->evidence);
    memset(values, 0, sizeof *values);
}

static size_t times_in(const char *text, const char *value)
{
    size_t times = 0;
    for (const char *at = mc_words_find(text, value, text); at; at = mc_words_find(text, value, at + 1)) {
        times++;
    }
    return times;
}

int mc_values_in(const struct mc_values *values, const char *text)
{
    for (size_t i = 0; i < values->count; i++) {
        if (mc_words_find(text, values->texts[i], text)) {
            return 1;
        }
    }
    return 0;
}

int mc_values_same(const struct mc_values *values, const char *a, const char *b)
{
    for (size_t i = 0; i < values->count; i++) {
        if (times_in(a, values->texts[i]) != times_in(b, values->texts[i])) {
            return 0;
        }
    }
    return 1;
}
