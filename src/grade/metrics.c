#include "grade/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "grade/units.h"

static const char *const metric_names[] = {"success",    "correct", "missed",     "misrepresented",
                                           "precision",  "recall",  "f1",         "plan",
                                           "abstention", "current", "historical", "options"};

const char *mc_metric_name(enum mc_metric metric)
{
    return metric_names[metric];
}

struct mc_metrics *mc_metrics_new(void)
{
    return mc_alloc(1, sizeof(struct mc_metrics));
}

void mc_metrics_free(struct mc_metrics *metrics)
{
    if (!metrics) {
        return;
    }
    for (size_t i = 0; i < metrics->count; i++) {
        struct mc_life *life = metrics->lives[i];
        for (size_t k = 0; k < life->count; k++) {
            free(life->units[k].life);
        }
        free(life->units);
        free(life->name);
        free(life);
    }
    free(metrics->lives);
    free(metrics);
}

/* Lives stand sorted by name. */
static struct mc_life *find_life(struct mc_metrics *m, const char *name)
{
    size_t low = 0;
    size_t high = m->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(m->lives[middle]->name, name);
        if (order == 0) {
            return m->lives[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    m->lives = mc_grow(m->lives, m->count, &m->capacity, sizeof(struct mc_life *));
    memmove(m->lives + low + 1, m->lives + low, (m->count - low) * sizeof(struct mc_life *));
    m->count++;
    struct mc_life *life = mc_alloc(1, sizeof *life);
    life->name = mc_strdup(name);
    m->lives[low] = life;
    return life;
}

static struct mc_unit_counts *find_unit(struct mc_life *life, const char *name, int64_t repetition)
{
    for (size_t i = 0; i < life->count; i++) {
        if (life->units[i].repetition == repetition && strcmp(life->units[i].life, name) == 0) {
            return &life->units[i];
        }
    }
    life->units = mc_grow(life->units, life->count, &life->capacity, sizeof *life->units);
    struct mc_unit_counts *unit = &life->units[life->count++];
    *unit = (struct mc_unit_counts){.life = mc_strdup(name), .repetition = repetition};
    return unit;
}

static void add_faults(struct mc_tally *t, unsigned faults)
{
    t->stale += (faults & MC_FAULT_STALE) != 0;
    t->inventions += (faults & MC_FAULT_INVENTION) != 0;
    t->wrong_person += (faults & MC_FAULT_WRONG_PERSON) != 0;
    t->wrong_occurrence += (faults & MC_FAULT_WRONG_OCCURRENCE) != 0;
    t->duplicates += (faults & MC_FAULT_DUPLICATE) != 0;
}

static void add_slots(struct mc_metrics *m, struct mc_unit_counts *u, const struct mc_slot_grades *slots)
{
    for (size_t i = 0; i < slots->count; i++) {
        const struct mc_slot_grade *s = &slots->items[i];
        m->tally.slots[s->verdict]++;
        add_faults(&m->tally, s->faults);
        if (s->verdict == MC_VERDICT_UNGRADED) {
            continue;
        }
        u->slots[s->verdict]++;
        double correct = s->verdict == MC_VERDICT_CORRECT;
        if (s->kind == MC_SLOT_CURRENT) {
            u->current++;
            u->current_correct += correct;
        } else if (s->kind == MC_SLOT_HISTORICAL) {
            u->historical++;
            u->historical_correct += correct;
        }
    }
}

/* Whether the answer should have said that it does not know. */
static void add_abstention(struct mc_metrics *m, struct mc_unit_counts *u, const struct mc_answer_grade *g)
{
    int unanswerable = g->mode == MC_MODE_UNANSWERABLE;
    u->abstentions++;
    if (g->ended != MC_ENDED_COMPLETED) {
        return; /* neither abstained nor answered: not right */
    }
    u->abstentions_right += unanswerable ? g->complete : !g->abstained;
    m->tally.refused += !unanswerable && g->abstained;
    m->tally.guessed += unanswerable && !g->abstained;
}

static void add_options(struct mc_metrics *m, struct mc_unit_counts *u, const struct mc_answer_grade *g)
{
    u->options += (double)g->options_total;
    u->options_found += (double)g->options_found;
    for (size_t i = 0; i < g->options.count; i++) {
        add_faults(&m->tally, g->options.items[i].faults);
    }
    for (size_t i = 0; i < g->traps.count; i++) {
        m->tally.traps += g->traps.items[i].verdict == MC_VERDICT_MISREPRESENTED;
        add_faults(&m->tally, g->traps.items[i].faults);
    }
}

void mc_metrics_add(struct mc_metrics *metrics, const struct mc_metric_sample *sample)
{
    const struct mc_answer_grade *g = sample->grade;
    metrics->tally.ended[g->ended]++;
    if (!mc_ended_counts(g->ended)) {
        metrics->tally.slots[MC_VERDICT_UNGRADED] += g->slots.count;
        return;
    }
    struct mc_unit_counts *u = find_unit(find_life(metrics, sample->base_life), sample->life, sample->repetition);
    add_slots(metrics, u, &g->slots);
    if (mc_answer_grade_open(g)) {
        metrics->tally.ungraded++;
        return;
    }
    metrics->tally.answers++;
    metrics->tally.complete += (uint64_t)g->complete;
    u->answers++;
    u->complete += g->complete;
    if (g->mode == MC_MODE_PLAN) {
        u->plans++;
        u->plans_complete += g->complete;
    }
    add_abstention(metrics, u, g);
    add_options(metrics, u, g);
}

const struct mc_tally *mc_metrics_tally(const struct mc_metrics *metrics)
{
    return &metrics->tally;
}

size_t mc_metrics_lives(const struct mc_metrics *metrics)
{
    return metrics->count;
}

static int ratio(double part, double whole, double *out)
{
    if (whole <= 0) {
        return 0;
    }
    *out = part / whole;
    return 1;
}

/* Precision, recall and F1 (van Rijsbergen, Information Retrieval, 1979, ch. 7), with a slot that is answered right as
 * a true positive, one answered wrong (misrepresented) as a false positive, and every slot not right as a false
 * negative: P = c / (c + m), R = c / (c + s + m), F1 = 2c / (2c + s + 2m), for c correct, s missed, m misrepresented.
 */
static int slot_metric(const struct mc_unit_counts *u, enum mc_metric metric, double *out)
{
    double c = u->slots[MC_VERDICT_CORRECT];
    double s = u->slots[MC_VERDICT_MISSED];
    double m = u->slots[MC_VERDICT_MISREPRESENTED];
    switch (metric) {
    case MC_METRIC_CORRECT:
    case MC_METRIC_RECALL:
        return ratio(c, c + s + m, out);
    case MC_METRIC_MISSED:
        return ratio(s, c + s + m, out);
    case MC_METRIC_MISREPRESENTED:
        return ratio(m, c + s + m, out);
    case MC_METRIC_PRECISION:
        return ratio(c, c + m, out);
    default:
        return ratio(2 * c, 2 * c + s + 2 * m, out);
    }
}

/* Shares of one unit; 0 where it has nothing to take one of. Accuracy of abstention as in SQuAD 2.0 (Rajpurkar, Jia and
 * Liang, ACL 2018): the decision to answer, right or wrong, over all questions. */
static int unit_metric(const struct mc_unit_counts *u, enum mc_metric metric, double *out)
{
    switch (metric) {
    case MC_METRIC_SUCCESS:
        return ratio(u->complete, u->answers, out);
    case MC_METRIC_PLAN:
        return ratio(u->plans_complete, u->plans, out);
    case MC_METRIC_ABSTENTION:
        return ratio(u->abstentions_right, u->abstentions, out);
    case MC_METRIC_CURRENT:
        return ratio(u->current_correct, u->current, out);
    case MC_METRIC_HISTORICAL:
        return ratio(u->historical_correct, u->historical, out);
    case MC_METRIC_OPTIONS:
        return ratio(u->options_found, u->options, out);
    default:
        return slot_metric(u, metric, out);
    }
}

/* The mean over the units of one base life: repetitions and variants of a life are no new lives. */
int mc_life_metric(const struct mc_life *life, enum mc_metric metric, double *out)
{
    double sum = 0;
    double count = 0;
    for (size_t i = 0; i < life->count; i++) {
        double value;
        if (unit_metric(&life->units[i], metric, &value)) {
            sum += value;
            count++;
        }
    }
    return ratio(sum, count, out);
}

int mc_metrics_mean(const struct mc_metrics *metrics, enum mc_metric metric, double *out)
{
    double sum = 0;
    double count = 0;
    for (size_t i = 0; i < metrics->count; i++) {
        double value;
        if (mc_life_metric(metrics->lives[i], metric, &value)) {
            sum += value;
            count++;
        }
    }
    return ratio(sum, count, out);
}

static json_t *tally_json(const struct mc_tally *t)
{
    json_t *ended = json_object();
    for (int i = 0; mc_ended_names[i]; i++) {
        json_object_set_new(ended, mc_ended_names[i], json_integer((json_int_t)t->ended[i]));
    }
    json_t *slots = json_object();
    for (int i = 0; mc_verdict_names[i]; i++) {
        json_object_set_new(slots, mc_verdict_names[i], json_integer((json_int_t)t->slots[i]));
    }
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "answers",
                     (json_int_t)t->answers, "complete", (json_int_t)t->complete, "ungraded", (json_int_t)t->ungraded,
                     "ended", ended, "slots", slots, "refused", (json_int_t)t->refused, "guessed",
                     (json_int_t)t->guessed, "stale", (json_int_t)t->stale, "inventions", (json_int_t)t->inventions,
                     "wrong_person", (json_int_t)t->wrong_person, "wrong_occurrence", (json_int_t)t->wrong_occurrence,
                     "duplicates", (json_int_t)t->duplicates, "traps", (json_int_t)t->traps);
}

json_t *mc_metrics_json(const struct mc_metrics *metrics, double level, size_t resamples, uint64_t seed)
{
    json_t *all = json_object();
    for (int i = 0; i < MC_METRIC_COUNT; i++) {
        enum mc_metric metric = (enum mc_metric)i;
        double value;
        if (!mc_metrics_mean(metrics, metric, &value)) {
            continue;
        }
        struct mc_interval interval = mc_metrics_interval(metrics, metric, level, resamples, seed);
        json_t *one = json_pack("{s:f, s:I}", "value", value, "lives", (json_int_t)interval.lives);
        if (interval.told) {
            json_object_set_new(one, "low", json_real(interval.low));
            json_object_set_new(one, "high", json_real(interval.high));
        }
        json_object_set_new(all, metric_names[i], one);
    }
    return json_pack("{s:I, s:o, s:o}", "lives", (json_int_t)metrics->count, "metrics", all, "tally",
                     tally_json(&metrics->tally));
}
