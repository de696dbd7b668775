#include "grade/said.h"

#include <stdlib.h>
#include <string.h>

void mc_said_read(const char *source, size_t length, struct mc_said *out)
{
    memset(out, 0, sizeof *out);
    mc_words_read(source, length, &out->words);
    mc_clauses_mark(&out->words);
    mc_cues_find(out);
}

void mc_said_release(struct mc_said *said)
{
    mc_words_release(&said->words);
    free(said->cues);
    memset(said, 0, sizeof *said);
}

const char *mc_stance_name(enum mc_stance stance)
{
    static const char *const names[] = {"asserted", "asserted", "current", "likely",      "reported",
                                        "was",      "past",     "hedged",  "conditional", "believed",
                                        "question", "negated",  "speaker", "near",        "retracted"};
    return names[stance];
}

/* The cues stand in the order of their first words. */
static size_t first_cue(const struct mc_said *said, size_t from)
{
    size_t low = 0;
    size_t high = said->cue_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (said->cues[middle].first < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct mc_cue *mc_said_cue(const struct mc_said *said, enum mc_cue_kind kind, size_t from)
{
    for (size_t i = first_cue(said, from); i < said->cue_count; i++) {
        if (said->cues[i].kind == kind) {
            return &said->cues[i];
        }
    }
    return NULL;
}

/* What the cues of one clause say about one mention. */
struct reading {
    const struct mc_said *said;
    size_t first, last; /* the mention */
    size_t from, to;    /* its clause */
    const struct mc_cue *negation, *time, *belief, *report, *hedge, *likely, *condition, *change;
    int past_back, now_back, negation_back, was_negated_change, condition_back, no_longer, replaced_by, habit, near;
};

/* A new subject after the cue ends its reach: "not at Sam's it's at Jordan's". */
static int fresh_subject(const struct mc_words *words, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (mc_word_in(words, i, " it this that they we he she ") &&
            mc_word_in(words, i + 1, " is 's are 're will 'll was ")) {
            return 1;
        }
    }
    return 0;
}

static size_t words_between(const struct mc_words *words, size_t from, size_t to)
{
    size_t count = 0;
    int brackets = 0; /* what stands in them is passed over */
    for (size_t i = from; i < to; i++) {
        brackets += mc_word_is(words, i, "(") - (brackets > 0 && mc_word_is(words, i, ")"));
        count += brackets == 0 && words->items[i].kind != MC_WORD_MARK && words->items[i].norm[0] != '\'';
    }
    return count;
}

static int anything_after(const struct mc_words *words, size_t from, size_t to)
{
    return from <= to && words_between(words, from, to + 1) > 0;
}

static void read_forward(struct reading *r, const struct mc_cue *cue)
{
    const struct mc_words *words = &r->said->words;
    switch (cue->kind) {
    case MC_CUE_NEGATION:
        if (!fresh_subject(words, cue->last + 1, r->first)) {
            r->negation = cue;
        }
        break;
    case MC_CUE_NEGATION_OF_CLAUSE:
        r->negation = cue;
        break;
    case MC_CUE_NEGATION_BACK:
        r->no_longer |= mc_word_is(words, cue->last, "longer");
        if (mc_word_in(words, cue->last, " it the where when who ")) {
            r->negation = cue; /* "isn't the 8th", "isn't where" */
        }
        break;
    case MC_CUE_PAST:
    case MC_CUE_PAST_EITHER:
    case MC_CUE_NOW:
    case MC_CUE_NOW_EITHER:
        r->time = cue;
        break;
    case MC_CUE_PAST_BACK:
        if (mc_word_in(words, cue->last, " by with ")) {
            r->replaced_by = 1; /* "Sam's was replaced by Jordan's" */
        }
        break;
    case MC_CUE_WAS:
    case MC_CUE_IS:
        /* "originally it's" stays past; "was" and "is" speak only where nothing stronger does. */
        if (!r->time || r->time->kind == MC_CUE_WAS || r->time->kind == MC_CUE_IS ||
            (cue->kind == MC_CUE_WAS && r->time->kind != MC_CUE_PAST && r->time->kind != MC_CUE_PAST_EITHER)) {
            r->time = cue;
        }
        break;
    case MC_CUE_CHANGE:
        r->change = cue;
        r->was_negated_change = r->negation != NULL;
        break;
    case MC_CUE_BELIEF:
        r->belief = cue;
        break;
    case MC_CUE_REPORT:
        r->report = cue;
        break;
    case MC_CUE_HEDGE:
        r->hedge = cue;
        break;
    case MC_CUE_LIKELY:
        r->likely = cue;
        break;
    case MC_CUE_CONDITION:
        r->condition = cue;
        break;
    case MC_CUE_HABIT:
        r->habit = 1;
        break;
    case MC_CUE_NEAR:
        r->near = words_between(words, cue->last + 1, r->first) <= 1;
        break;
    default:
        break;
    }
}

static void read_back(struct reading *r, const struct mc_cue *cue)
{
    const struct mc_words *words = &r->said->words;
    switch (cue->kind) {
    case MC_CUE_NEGATION_BACK:
        r->negation_back |= words_between(words, r->last + 1, cue->first) <= 2;
        break;
    case MC_CUE_PAST_BACK:
        r->past_back = 1;
        break;
    case MC_CUE_PAST:
        /* "Sam used to host" */
        r->past_back |=
            mc_word_in(words, cue->first, " used was were had ") && words_between(words, r->last + 1, cue->first) <= 1;
        break;
    case MC_CUE_CONDITION:
        /* "Saturday would be the rain date" */
        r->condition_back |= words_between(words, r->last + 1, cue->first) == 0;
        break;
    case MC_CUE_PAST_EITHER:
        /* "an hour earlier" is a distance, not a history. */
        r->past_back |= !anything_after(words, cue->last + 1, r->to) &&
                        !mc_word_in(words, cue->first - 1, " hour hours minutes day days week weeks ");
        break;
    case MC_CUE_NOW_EITHER:
        r->now_back |= !anything_after(words, cue->last + 1, r->to);
        break;
    case MC_CUE_HEDGE:
        r->hedge = cue;
        break;
    case MC_CUE_LIKELY:
        r->likely = cue;
        break;
    case MC_CUE_HABIT:
        r->habit |= !anything_after(words, cue->last + 1, r->to);
        break;
    case MC_CUE_REPORT:
        if (!anything_after(words, cue->last + 1, r->to)) {
            r->report = cue;
        }
        break;
    default:
        break;
    }
}

/* "moved (from) A to B": 1 where the mention is A, 2 where it is B, 0 elsewhere. */
static int side_of_change(const struct reading *r)
{
    const struct mc_words *words = &r->said->words;
    const char *verb = mc_word_at(words, r->change->first);
    int trades = mc_norm_in(verb, " swapped swap swaps traded exchanged replaced ");
    int plain =
        trades || mc_norm_in(verb, " moved moving move moves changed changes changing change switched switching "
                                   "shifted rescheduled relocated ");
    const char *links = trades ? " for with " : " to until -> ";
    int has_from = 0;
    int has_link = 0;
    for (size_t i = r->change->first + 1; i < r->first; i++) {
        /* "to Saturday from Friday": the nearer of the two decides. */
        if (mc_word_is(words, i, "from")) {
            has_from = 1;
            has_link = 0;
        } else if (mc_word_in(words, i, links) ||
                   (!trades && mc_word_is(words, i, "for") && i == r->change->last + 1)) {
            has_link = 1 + has_from;
        }
    }
    if (has_link) {
        return plain || has_link == 2 || mc_word_in(words, r->change->last, " pushed bumped updated postponed delayed ")
                   ? 2
                   : 0;
    }
    if (has_from) {
        return 1;
    }
    for (size_t i = r->last + 1; plain && i <= r->to; i++) {
        if (mc_word_in(words, i, links)) {
            return 1;
        }
    }
    return 0;
}

static int has_arrow_after(const struct reading *r)
{
    return mc_word_is(&r->said->words, r->last + 1, "->");
}

/* "in Tom's place": somebody else's now. */
static int is_replaced(const struct reading *r)
{
    const struct mc_words *words = &r->said->words;
    return r->first > 0 && mc_word_is(words, r->first - 1, "in") && mc_word_is(words, r->last + 1, "'s") &&
           mc_word_in(words, r->last + 2, " place stead ");
}

static int is_question(const struct mc_said *said, size_t last)
{
    const struct mc_words *words = &said->words;
    size_t end = mc_sentence_last(words, last);
    while (end > last && words->items[end].kind == MC_WORD_MARK && words->items[end].norm[0] != '?') {
        end--;
    }
    if (words->items[end].norm[0] != '?') {
        return 0;
    }
    size_t begin = mc_sentence_first(words, last);
    return words->items[end].clause == words->items[last].clause ||
           mc_word_in(words, begin,
                      " is are was were do does did will would can could should has have what when where who which how "
                      "why any ");
}

/* The clause after opens with "if": "cancelled if it rains", but not "at 8 if you're free". */
static int precedes_condition(const struct mc_said *said, size_t to)
{
    const struct mc_words *words = &said->words;
    size_t next = to + 1;
    if (next >= words->count || words->items[next].sentence != words->items[to].sentence ||
        !mc_word_is(words, next, "if")) {
        return 0;
    }
    size_t last = mc_clause_last(words, next);
    for (size_t i = next; i <= last; i++) {
        if (mc_word_in(words, i, " you i anyone needed possible ")) {
            return 0;
        }
    }
    return 1;
}

/* The clause before opens with "if" and does not only speak to the user ("if you're free"). */
static int follows_condition(const struct mc_said *said, size_t from)
{
    const struct mc_words *words = &said->words;
    if (from == 0 || words->items[from - 1].sentence != words->items[from].sentence) {
        return 0;
    }
    size_t first = mc_clause_first(words, from - 1);
    if (!mc_word_in(words, first, " if assuming ") &&
        !(mc_word_is(words, first, "in") && mc_word_is(words, first + 1, "case"))) {
        return 0;
    }
    if (mc_word_in(words, from, " but however though ")) {
        return 0;
    }
    for (size_t i = first; i < from; i++) {
        if (mc_word_in(words, i, " you i remember mistaken ")) {
            return 0;
        }
    }
    return 1;
}

/* "Don't bring ice" where the mention is "bring ice": what seemed no negation is one of the mention itself. */
static int negates_into(const struct mc_words *words, const struct mc_cue *cue, size_t first)
{
    if (cue->kind != MC_CUE_PLAIN || cue->first >= first || cue->last < first) {
        return 0;
    }
    for (size_t i = cue->first; i < first; i++) {
        if (mc_word_in(words, i, " not n't never ")) {
            return 1;
        }
    }
    return 0;
}

static struct reading read_clause(const struct mc_said *said, size_t first, size_t last)
{
    struct reading r = {.said = said, .first = first, .last = last};
    r.from = mc_clause_first(&said->words, first);
    r.to = mc_clause_last(&said->words, last);
    for (size_t i = first_cue(said, r.from); i < said->cue_count; i++) {
        const struct mc_cue *cue = &said->cues[i];
        if (cue->first > r.to) {
            break;
        }
        if (negates_into(&said->words, cue, first)) {
            r.negation = cue;
        } else if (cue->last < first) {
            read_forward(&r, cue);
        } else if (cue->first > last && cue->first <= r.to) {
            read_back(&r, cue);
        }
    }
    return r;
}

static enum mc_stance time_stance(const struct reading *r)
{
    if (r->change) {
        int side = side_of_change(r);
        if (side != 0 && r->was_negated_change) {
            return side == 1 ? MC_STANCE_ASSERTED : MC_STANCE_NEGATED;
        }
        if (side != 0) {
            return side == 1 ? MC_STANCE_PAST : MC_STANCE_NOW;
        }
    }
    if (r->replaced_by) {
        return MC_STANCE_NOW;
    }
    if (r->past_back || r->no_longer || has_arrow_after(r) || is_replaced(r)) {
        return MC_STANCE_PAST;
    }
    if (r->now_back) {
        return MC_STANCE_NOW;
    }
    switch (r->time ? r->time->kind : MC_CUE_PLAIN) {
    case MC_CUE_PAST:
    case MC_CUE_PAST_EITHER:
        return MC_STANCE_PAST;
    case MC_CUE_NOW:
    case MC_CUE_NOW_EITHER:
        return MC_STANCE_NOW;
    case MC_CUE_WAS:
        return MC_STANCE_WAS;
    case MC_CUE_IS:
        return MC_STANCE_IS;
    default:
        return MC_STANCE_ASSERTED;
    }
}

static int is_benign_condition(const struct reading *r)
{
    const struct mc_words *words = &r->said->words;
    if (!mc_word_is(words, r->condition->first, "if")) {
        return 0;
    }
    return mc_word_in(words, r->condition->last + 1, " i ") || mc_word_is(words, r->condition->last + 1, "not");
}

enum mc_stance mc_said_stance(const struct mc_said *said, size_t first, size_t last)
{
    struct reading r = read_clause(said, first, last);
    if (is_question(said, last)) {
        return MC_STANCE_QUESTION;
    }
    enum mc_stance time = time_stance(&r);
    if (r.change && time == MC_STANCE_NEGATED) {
        return time;
    }
    int changed = r.change && side_of_change(&r) != 0;
    int adjacent_no = first > 0 && mc_word_is(&said->words, first - 1, "no");
    if (((r.negation && !changed) || adjacent_no) && !r.past_back) {
        return MC_STANCE_NEGATED;
    }
    if (r.negation_back && !(r.time && r.time->kind == MC_CUE_PAST)) {
        return MC_STANCE_NEGATED;
    }
    if (r.near) {
        return MC_STANCE_NEAR;
    }
    if (r.belief && !r.likely) {
        return MC_STANCE_BELIEVED;
    }
    if ((r.condition && !is_benign_condition(&r)) || r.condition_back || follows_condition(said, r.from) ||
        precedes_condition(said, r.to)) {
        return MC_STANCE_CONDITIONAL;
    }
    if (r.hedge) {
        return MC_STANCE_HEDGED;
    }
    if (time == MC_STANCE_PAST || time == MC_STANCE_NOW) {
        return time;
    }
    if (r.habit) {
        return MC_STANCE_WAS;
    }
    if (r.report) {
        return MC_STANCE_REPORTED;
    }
    if (r.likely && time != MC_STANCE_WAS) {
        return MC_STANCE_LIKELY;
    }
    return time;
}
