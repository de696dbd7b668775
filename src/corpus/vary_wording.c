/* wording: messages, turns and questions in other words. A text keeps its words where any value of the rubric, any
 * number or its length in lines would change. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "corpus/vary_kinds.h"
#include "corpus/words.h"

/* The digits of a text in order: times, dates, amounts. */
static char *digits_of(const char *text)
{
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    int inside = 0;
    for (; *text; text++) {
        int digit = isdigit((unsigned char)*text) != 0;
        if (digit) {
            mc_buf_putc(&out, *text);
        } else if (inside) {
            mc_buf_putc(&out, ' ');
        }
        inside = digit;
    }
    return mc_buf_take(&out);
}

/* The text in other words; NULL where it stays as it is. */
static char *reword_safely(struct mc_variation *v, const char *text)
{
    MC_AUTOFREE char *other = mc_reword(text, &v->random);
    if (mc_streq(other, text)) {
        return NULL;
    }
    MC_AUTOFREE char *before = mc_words_fold(text);
    MC_AUTOFREE char *after = mc_words_fold(other);
    MC_AUTOFREE char *digits_before = digits_of(text);
    MC_AUTOFREE char *digits_after = digits_of(other);
    if (!mc_streq(digits_before, digits_after) || !mc_values_same(&v->values, before, after)) {
        return NULL;
    }
    return mc_steal(&other);
}

static int reword_member(struct mc_variation *v, json_t *value, const char *key)
{
    const char *text = json_string_value(json_object_get(value, key));
    MC_AUTOFREE char *other = text ? reword_safely(v, text) : NULL;
    if (other) {
        json_object_set_new(value, key, json_string(other));
    }
    return other != NULL;
}

static int reword_observations(struct mc_variation *v, size_t *changed, struct mc_err *err)
{
    for (size_t i = 0; i < v->life->observation_count; i++) {
        MC_AUTOJSON json_t *value = mc_life_observation_json(v->life, i, err);
        if (!value) {
            return err->code;
        }
        if (reword_member(v, value, "text")) {
            (*changed)++;
            mc_draft_line(&v->draft.observations, value);
            continue;
        }
        int rc = mc_vary_keep(v, i, err);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* Turns and checkpoints: read again line by line, so that what is not changed stays byte for byte. */
static int reword_lines(struct mc_variation *v, const char *name, const char *key, struct mc_buf *out, size_t *changed,
                        struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_strf("%s/%s", v->life->dir, name);
    MC_AUTOLINES struct mc_jsonl *lines = NULL;
    int rc = mc_jsonl_open(path, MC_CORPUS_LINE, &lines, err);
    struct mc_line line;
    while (rc == 0 && (rc = mc_jsonl_next(lines, &line, err)) == 1) {
        struct mc_source source = {.name = path, .line = line.number, .marks = NULL};
        MC_AUTOJSON json_t *value = mc_json_parse(line.text, line.length, &source, err);
        if (!value) {
            return err->code;
        }
        rc = 0;
        if (reword_member(v, value, key)) {
            (*changed)++;
            mc_draft_line(out, value);
        } else {
            mc_draft_line_text(out, line.text, line.length);
        }
    }
    return rc;
}

int mc_vary_wording(struct mc_variation *v, struct mc_err *err)
{
    size_t changed = 0;
    int rc = reword_observations(v, &changed, err);
    if (rc == 0) {
        rc = reword_lines(v, "turns.jsonl", "text", &v->draft.turns, &changed, err);
    }
    if (rc == 0) {
        rc = reword_lines(v, "checkpoints.jsonl", "question", &v->draft.checkpoints, &changed, err);
    }
    if (rc == 0 && !changed) {
        return mc_vary_refuse(v, err, "no text in it can be reworded without touching what the rubric names");
    }
    return rc == 0 ? mc_vary_copy(v, "rubric.yaml", &v->draft.rubric, err) : rc;
}
