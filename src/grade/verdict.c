#include "grade/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "grade/decide.h"

const char *const mc_ended_names[] = {"completed",      "failed", "timeout",   "tool_policy", "protocol_error",
                                      "infrastructure", "budget", "cancelled", NULL};
const char *const mc_verdict_names[] = {"correct", "missed", "misrepresented", "ungraded", NULL};

const char *mc_ended_name(enum mc_ended ended)
{
    return mc_ended_names[ended];
}

const char *mc_verdict_name(enum mc_verdict verdict)
{
    return mc_verdict_names[verdict];
}

int mc_ended_counts(enum mc_ended ended)
{
    return ended <= MC_ENDED_PROTOCOL_ERROR;
}

/* No answer to look at: missed where the harness is answerable for that, ungraded where it is not. */
static void grade_unanswered(const struct mc_slots *slots, enum mc_ended ended, struct mc_slot_grades *out)
{
    for (size_t i = 0; i < slots->count; i++) {
        struct mc_slot_grade *g = &out->items[out->count++];
        mc_slot_grade_begin(&slots->items[i], g);
        int counts = mc_ended_counts(ended);
        g->verdict = counts ? MC_VERDICT_MISSED : MC_VERDICT_UNGRADED;
        g->rule = mc_ended_name(ended);
        g->source = "runner";
        g->explanation = mc_strf("no answer: the trial ended as %s%s", mc_ended_name(ended),
                                 counts ? "" : ", which is not the harness's doing");
    }
}

static void grade_slots(const struct mc_slots *slots, enum mc_role role, const struct mc_hearing *hearing,
                        struct mc_slot_grades *out, int *asserts)
{
    for (size_t i = 0; i < slots->count; i++) {
        mc_decide_slot(&slots->items[i], role, hearing, &out->items[out->count++], asserts);
    }
}

/* `complete` and the number of options from the verdicts as they stand. */
static void sum_up(struct mc_answer_grade *g)
{
    int complete = g->ended == MC_ENDED_COMPLETED;
    for (size_t i = 0; i < g->slots.count; i++) {
        const struct mc_slot_grade *s = &g->slots.items[i];
        complete &= s->required ? s->verdict == MC_VERDICT_CORRECT : s->verdict != MC_VERDICT_MISREPRESENTED;
    }
    g->options_total = g->options.count;
    g->options_found = 0;
    for (size_t i = 0; i < g->options.count; i++) {
        g->options_found += g->options.items[i].verdict == MC_VERDICT_CORRECT;
        complete &= g->options.items[i].verdict != MC_VERDICT_MISREPRESENTED;
    }
    for (size_t i = 0; i < g->traps.count; i++) {
        complete &= g->traps.items[i].verdict == MC_VERDICT_CORRECT;
    }
    g->complete = complete && (g->options_total == 0 || g->options_found > 0);
}

int mc_grade_answer(const struct mc_rubric_checkpoint *checkpoint, const struct mc_grade_context *context,
                    const char *answer, enum mc_ended ended, struct mc_answer_grade *out, struct mc_err *err)
{
    size_t length = ended == MC_ENDED_COMPLETED && answer ? strlen(answer) : 0;
    if (length > MC_ANSWER_MAX) {
        mc_fail(err, MC_LIMIT, "the answer to %s is %zu bytes long", checkpoint->id, length);
        return mc_hint(err, "answers may have up to %d bytes", MC_ANSWER_MAX);
    }
    *out = (struct mc_answer_grade){.checkpoint = mc_strdup(checkpoint->id), .mode = checkpoint->mode, .ended = ended};
    out->slots.items = mc_alloc(checkpoint->slots.count + 1, sizeof *out->slots.items);
    out->options.items = mc_alloc(checkpoint->options.count + 1, sizeof *out->options.items);
    out->traps.items = mc_alloc(checkpoint->traps.count + 1, sizeof *out->traps.items);
    if (ended != MC_ENDED_COMPLETED) {
        grade_unanswered(&checkpoint->slots, ended, &out->slots);
        grade_unanswered(&checkpoint->options, ended, &out->options);
        grade_unanswered(&checkpoint->traps, ended, &out->traps);
        sum_up(out);
        return 0;
    }
    MC_AUTOSAID struct mc_said said;
    mc_said_read(answer ? answer : "", length, &said);
    struct mc_hearing hearing = mc_hearing_of(&said, context);
    int asserts = 0;
    grade_slots(&checkpoint->slots, MC_ROLE_SLOT, &hearing, &out->slots, &asserts);
    grade_slots(&checkpoint->options, MC_ROLE_OPTION, &hearing, &out->options, &asserts);
    grade_slots(&checkpoint->traps, MC_ROLE_TRAP, &hearing, &out->traps, &asserts);
    int knew = 0; /* an abstain slot judged correct is no assertion */
    for (size_t i = 0; i < out->slots.count; i++) {
        const struct mc_slot_grade *s = &out->slots.items[i];
        knew |= s->kind != MC_SLOT_ABSTAIN && s->verdict == MC_VERDICT_CORRECT;
    }
    out->abstained = hearing.abstains && !asserts && !knew;
    sum_up(out);
    return 0;
}

static void release_slots(struct mc_slot_grades *slots)
{
    for (size_t i = 0; i < slots->count; i++) {
        struct mc_slot_grade *s = &slots->items[i];
        for (size_t k = 0; k < s->quote_count; k++) {
            free(s->quotes[k].text);
        }
        for (size_t k = 0; k < s->evidence.count; k++) {
            free(s->evidence.items[k]);
        }
        free(s->evidence.items);
        free(s->quotes);
        free(s->explanation);
        free(s->id);
    }
    free(slots->items);
}

void mc_answer_grade_release(struct mc_answer_grade *grade)
{
    release_slots(&grade->slots);
    release_slots(&grade->options);
    release_slots(&grade->traps);
    free(grade->checkpoint);
    memset(grade, 0, sizeof *grade);
}

void mc_answer_grade_settle(struct mc_answer_grade *grade, struct mc_slot_grade *slot, enum mc_verdict verdict,
                            const char *rule, const char *source, const char *explanation)
{
    char *text = mc_strdup(explanation);
    free(slot->explanation);
    slot->explanation = text;
    slot->verdict = verdict;
    slot->rule = rule;
    slot->source = source;
    slot->undecided = 0;
    sum_up(grade);
}

int mc_answer_grade_open(const struct mc_answer_grade *grade)
{
    const struct mc_slot_grades *lists[] = {&grade->slots, &grade->options, &grade->traps};
    for (size_t l = 0; l < MC_COUNT(lists); l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            if (lists[l]->items[i].verdict == MC_VERDICT_UNGRADED) {
                return 1;
            }
        }
    }
    return 0;
}

static json_t *faults_json(unsigned faults)
{
    static const char *const names[] = {"stale", "invention", "wrong_person", "wrong_occurrence", "duplicate"};
    json_t *list = json_array();
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        if (faults & (1U << i)) {
            json_array_append_new(list, json_string(names[i]));
        }
    }
    return list;
}

static json_t *slot_json(const struct mc_slot_grade *slot)
{
    json_t *quotes = json_array();
    for (size_t i = 0; i < slot->quote_count; i++) {
        const struct mc_quote *q = &slot->quotes[i];
        json_array_append_new(quotes, json_pack("{s:I, s:I, s:s, s:s}", "start", (json_int_t)q->start, "end",
                                                (json_int_t)q->end, "text", q->text, "stance", q->stance));
    }
    json_t *evidence = json_array();
    for (size_t i = 0; i < slot->evidence.count; i++) {
        json_array_append_new(evidence, json_string(slot->evidence.items[i]));
    }
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:o, s:o, s:o}", "id", slot->id, "kind",
                  mc_slot_kind_name(slot->kind), "match", mc_match_name(slot->match), "required", slot->required,
                  "verdict", mc_verdict_name(slot->verdict), "rule", slot->rule, "source", slot->source, "quotes",
                  quotes, "evidence", evidence, "faults", faults_json(slot->faults));
    json_t *explanation = json_string(slot->explanation ? slot->explanation : "");
    json_object_set_new(object, "explanation", explanation ? explanation : json_string(""));
    if (slot->undecided) {
        json_object_set_new(object, "undecided", json_true());
    }
    return object;
}

static json_t *slots_json(const struct mc_slot_grades *slots)
{
    json_t *list = json_array();
    for (size_t i = 0; i < slots->count; i++) {
        json_array_append_new(list, slot_json(&slots->items[i]));
    }
    return list;
}

json_t *mc_answer_grade_json(const struct mc_answer_grade *grade)
{
    json_t *traps = json_array();
    for (size_t i = 0; i < grade->traps.count; i++) {
        if (grade->traps.items[i].verdict == MC_VERDICT_MISREPRESENTED) {
            json_array_append_new(traps, json_string(grade->traps.items[i].id));
        }
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:I, s:I}", "checkpoint", grade->checkpoint, "mode",
                     mc_mode_name(grade->mode), "ended", mc_ended_name(grade->ended), "slots",
                     slots_json(&grade->slots), "options", slots_json(&grade->options), "traps", traps, "trap_slots",
                     slots_json(&grade->traps), "complete", grade->complete, "abstained", grade->abstained,
                     "options_found", (json_int_t)grade->options_found, "options_total",
                     (json_int_t)grade->options_total);
}
