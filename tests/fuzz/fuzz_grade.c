/*
 * The matchers. The first byte chooses the kind of slot and of match; then come expected, forbidden, question and
 * answer, parted by 0x1e. Quotes must lie inside the answer, the grade must be written, and grading twice must give the
 * same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "grade/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *next_part(const uint8_t **at, const uint8_t *end)
{
    size_t left = (size_t)(end - *at);
    const uint8_t *mark = left ? memchr(*at, 0x1e, left) : NULL;
    size_t length = mark ? (size_t)(mark - *at) : left;
    char *text = mc_strndup((const char *)*at, length);
    *at += length + (mark != NULL);
    return text;
}

static char *grade(struct mc_slot *slot, const char *question, const char *answer, const struct mc_tz *zone)
{
    struct mc_rubric_checkpoint checkpoint = {.id = "fuzz", .mode = MC_MODE_FACT, .slots = {slot, 1}};
    struct mc_rubric_checkpoint open = {.id = "fuzz", .mode = MC_MODE_OPEN, .options = {slot, 1}, .traps = {slot, 1}};
    struct mc_grade_context context = {
        .zone = zone, .asked_at = {.ms = 1785934800000, .offset_min = -240}, .question = question};
    struct mc_err err;
    struct mc_answer_grade unused;
    if (mc_grade_answer(&open, &context, answer, MC_ENDED_COMPLETED, &unused, &err) != 0) {
        return NULL;
    }
    mc_answer_grade_release(&unused);
    MC_AUTOGRADE struct mc_answer_grade out;
    if (mc_grade_answer(&checkpoint, &context, answer, MC_ENDED_COMPLETED, &out, &err) != 0) {
        abort();
    }
    for (size_t i = 0; i < out.slots.items[0].quote_count; i++) {
        const struct mc_quote *q = &out.slots.items[0].quotes[i];
        if (q->start >= q->end || q->end > strlen(answer)) {
            abort();
        }
    }
    MC_AUTOJSON json_t *json = mc_answer_grade_json(&out);
    if (!json) {
        abort();
    }
    return mc_json_text(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct mc_tz *zone; /* loaded once: the file would be read for every input */
    struct mc_err err;
    if (size < 1 || (!zone && mc_tz_load("America/New_York", &zone, &err) != 0)) {
        return 0;
    }
    const uint8_t *at = data + 1;
    const uint8_t *end = data + size;
    MC_AUTOFREE char *expected = next_part(&at, end);
    MC_AUTOFREE char *forbidden = next_part(&at, end);
    MC_AUTOFREE char *question = next_part(&at, end);
    MC_AUTOFREE char *answer = next_part(&at, end);
    json_t *valid = json_string(expected); /* a rubric's values are */
    if (!valid) {
        return 0;
    }
    json_decref(valid);
    struct mc_slot slot = {.id = "it",
                           .kind = (enum mc_slot_kind)(data[0] / 7 % 3),
                           .match = (enum mc_match)(data[0] % 7),
                           .expected = expected,
                           .required = 1};
    slot.forbidden = (struct mc_texts){&forbidden, forbidden[0] ? 1 : 0};
    (void)mc_rubric_reads(slot.match, expected);
    MC_AUTOFREE char *once = grade(&slot, question, answer, zone);
    MC_AUTOFREE char *again = grade(&slot, question, answer, zone);
    if (!mc_streq(once, again)) {
        abort();
    }
    return 0;
}
