#include "grade/decide.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "grade/phrases.h"

struct decision {
    const struct mc_slot *slot;
    const struct mc_hearing *hearing;
    const struct mc_mentions *mentions;
    struct mc_slot_grade *out;
};

static char *quoted_text(const char *source, size_t start, size_t end)
{
    /* Answers come out of JSON, so this is valid UTF-8; anything else is shown as '?'. */
    char *text = mc_strndup(source + start, end - start);
    json_t *probe = json_string(text);
    for (char *p = text; !probe && *p; p++) {
        if ((unsigned char)*p >= 0x80) {
            *p = '?';
        }
    }
    json_decref(probe);
    return text;
}

static void add_quote(struct mc_slot_grade *out, const struct mc_words *words, size_t first, size_t last,
                      const char *stance)
{
    size_t start = words->items[first].start;
    size_t end = words->items[last].end;
    out->quotes = mc_resize(out->quotes, out->quote_count + 1, sizeof *out->quotes);
    out->quotes[out->quote_count++] =
        (struct mc_quote){.start = start, .end = end, .text = quoted_text(words->source, start, end), .stance = stance};
}

static void quote_mention(const struct decision *d, const struct mc_mention *m)
{
    if (m) {
        add_quote(d->out, &d->hearing->said->words, m->first, m->last, mc_stance_name(m->stance));
    }
}

static void settle(const struct decision *d, enum mc_verdict verdict, const char *rule, const char *what,
                   const struct mc_mention *a, const struct mc_mention *b)
{
    d->out->verdict = verdict;
    d->out->rule = rule;
    quote_mention(d, a);
    quote_mention(d, b);
    MC_AUTOBUF struct mc_buf text = MC_BUF_OWN;
    for (size_t i = 0; i < d->out->quote_count; i++) {
        const struct mc_quote *q = &d->out->quotes[i];
        const struct mc_mention *m = i == 0 && a ? a : b;
        mc_buf_putf(&text, "%s\"%s\" (bytes %zu-%zu, %s)", i ? "; " : "", q->text, q->start, q->end, q->stance);
        if (m && m->value) {
            mc_buf_putf(&text, " %s \"%s\"",
                        m->rank == MC_RANK_RIGHT   ? "is the expected"
                        : m->rank == MC_RANK_WRONG ? "goes against"
                                                   : "is not",
                        m->value);
        }
    }
    mc_buf_putf(&text, "%s%s", d->out->quote_count ? ": " : "", what);
    d->out->explanation = mc_buf_take(&text);
}

/* How much a stance commits the speaker; 0 where it does not. */
static int strength(enum mc_stance stance)
{
    switch (stance) {
    case MC_STANCE_ASSERTED:
    case MC_STANCE_IS:
    case MC_STANCE_NOW:
    case MC_STANCE_LIKELY:
        return 3;
    case MC_STANCE_REPORTED:
        return 2;
    case MC_STANCE_WAS:
        return 1;
    default:
        return 0;
    }
}

/* Dates and times of sending, answering and inviting are not the event's. */
static int is_reference(const struct decision *d, const struct mc_mention *m)
{
    const struct mc_words *words = &d->hearing->said->words;
    if (d->slot->match != MC_MATCH_DATE && d->slot->match != MC_MATCH_TIME) {
        return 0;
    }
    size_t begin = mc_clause_first(words, m->first);
    for (size_t i = begin; i < m->first; i++) {
        if (mc_word_in(
                words, i,
                " sent posted texted emailed replied rsvp deadline wrote told said invited since asked reminder reply "
                "messaged mentioned announced confirmed updated noted leave message email ")) {
            return 1;
        }
    }
    return 0;
}

/* "... since Sam's basement flooded", "... so Friday is free": a wrong value in the reason for a right one, or in what
 * follows from it. */
static int is_reason(const struct decision *d, const struct mc_mention *m)
{
    const struct mc_words *words = &d->hearing->said->words;
    size_t begin = mc_clause_first(words, m->first);
    if (!mc_word_in(words, begin, " since because as so now ")) {
        return 0;
    }
    for (size_t i = 0; i < d->mentions->count; i++) {
        const struct mc_mention *other = &d->mentions->items[i];
        if (other->rank == MC_RANK_RIGHT && strength(other->stance) > 0 && other->last < begin) {
            return 1;
        }
    }
    return 0;
}

static const struct mc_mention *strongest(const struct decision *d, enum mc_rank rank)
{
    const struct mc_mention *best = NULL;
    for (size_t i = 0; i < d->mentions->count; i++) {
        const struct mc_mention *m = &d->mentions->items[i];
        if (m->rank != rank || strength(m->stance) == 0 || (rank == MC_RANK_OTHER && is_reference(d, m)) ||
            (rank == MC_RANK_WRONG && is_reason(d, m))) {
            continue;
        }
        if (!best || strength(m->stance) > strength(best->stance)) {
            best = m;
        }
    }
    return best;
}

static const struct mc_mention *with_stance(const struct decision *d, enum mc_rank rank, enum mc_stance stance)
{
    for (size_t i = 0; i < d->mentions->count; i++) {
        const struct mc_mention *m = &d->mentions->items[i];
        if (m->rank == rank && m->stance == stance) {
            return m;
        }
    }
    return NULL;
}

static const struct mc_mention *any_of_rank(const struct decision *d, enum mc_rank rank)
{
    for (size_t i = 0; i < d->mentions->count; i++) {
        if (d->mentions->items[i].rank == rank) {
            return &d->mentions->items[i];
        }
    }
    return NULL;
}

/* "Saturday and Sunday", "8/9pm": another value joined to the right one, so that neither is meant alone. */
static const struct mc_mention *joined_other(const struct decision *d)
{
    const struct mc_words *words = &d->hearing->said->words;
    if (d->slot->match != MC_MATCH_DATE && d->slot->match != MC_MATCH_TIME) {
        return NULL;
    }
    for (size_t i = 1; i < d->mentions->count; i++) {
        const struct mc_mention *a = &d->mentions->items[i - 1];
        const struct mc_mention *b = &d->mentions->items[i];
        int pair = (a->rank == MC_RANK_RIGHT && b->rank == MC_RANK_OTHER) ||
                   (a->rank == MC_RANK_OTHER && b->rank == MC_RANK_RIGHT);
        if (!pair || strength(a->stance) == 0 || strength(b->stance) == 0) {
            continue;
        }
        if (b->first - a->last <= 3 && mc_word_in(words, a->last + 1, " and & / , ") &&
            !(mc_word_is(words, a->last + 1, ",") && b->first - a->last > 2)) {
            return a->rank == MC_RANK_OTHER ? a : b;
        }
    }
    return NULL;
}

/* The same value in two items of one list. */
static int is_listed_twice(const struct decision *d)
{
    const struct mc_words *words = &d->hearing->said->words;
    size_t at = 0;
    size_t item = 0; /* the item that word `at` is in, counted from 1 */
    size_t seen = 0; /* the item of the mention before */
    for (size_t i = 0; i < d->mentions->count; i++) {
        const struct mc_mention *m = &d->mentions->items[i];
        for (; at <= m->first; at++) {
            item += words->items[at].item;
        }
        if (m->rank != MC_RANK_RIGHT || strength(m->stance) == 0 || item == 0) {
            continue;
        }
        if (seen > 0 && seen != item) {
            return 1;
        }
        seen = item;
    }
    return 0;
}

static unsigned wrong_faults(const struct decision *d, const struct mc_mention *m)
{
    unsigned faults = d->slot->kind == MC_SLOT_CURRENT ? MC_FAULT_STALE : 0;
    if (m->other_occurrence) {
        faults |= MC_FAULT_WRONG_OCCURRENCE;
    }
    if (d->slot->match == MC_MATCH_YESNO) {
        faults = 0;
    }
    if (d->slot->match == MC_MATCH_ENTITY && d->slot->expected && m->value) {
        MC_AUTOWORDS struct mc_words right;
        MC_AUTOWORDS struct mc_words wrong;
        mc_words_read(d->slot->expected, strlen(d->slot->expected), &right);
        mc_words_read(m->value, strlen(m->value), &wrong);
        if (mc_phrase_is_person(&right) && mc_phrase_is_person(&wrong)) {
            faults |= MC_FAULT_WRONG_PERSON;
        }
    }
    return faults;
}

static void missed_for_stance(const struct decision *d)
{
    static const struct {
        enum mc_stance stance;
        const char *rule;
        const char *what;
    } reasons[] = {
        {MC_STANCE_HEDGED, "hedged", "offered as a possibility only"},
        {MC_STANCE_CONDITIONAL, "conditional", "said on a condition only"},
        {MC_STANCE_BELIEVED, "believed", "told as someone's belief or wish, not as a fact"},
        {MC_STANCE_QUESTION, "question", "asked, not said"},
        {MC_STANCE_SPEAKER, "speaker", "named only as who said it"},
        {MC_STANCE_NEAR, "near", "named only to say what is near it"},
        {MC_STANCE_RETRACTED, "retracted", "taken back later in the answer"},
        {MC_STANCE_PAST, "past", "told as history"},
        {MC_STANCE_NEGATED, "negated", "negated"},
    };
    for (size_t i = 0; i < MC_COUNT(reasons); i++) {
        const struct mc_mention *m = with_stance(d, MC_RANK_RIGHT, reasons[i].stance);
        if (m) {
            settle(d, MC_VERDICT_MISSED, reasons[i].rule, reasons[i].what, m, NULL);
            return;
        }
    }
    const struct mc_mention *vague = any_of_rank(d, MC_RANK_VAGUE);
    if (vague) {
        settle(d, MC_VERDICT_MISSED, "inexact", "neither says nor excludes what is expected", vague, NULL);
        return;
    }
    const struct mc_hearing *h = d->hearing;
    if (h->abstains) {
        add_quote(d->out, &h->said->words, h->abstention_first, h->abstention_last, "abstains");
        settle(d, MC_VERDICT_MISSED, "refused", "the answer says that it does not know, but the evidence tells", NULL,
               NULL);
        return;
    }
    settle(d, MC_VERDICT_MISSED, "not-said", "the answer does not say it", NULL, NULL);
    d->out->undecided = d->slot->match == MC_MATCH_TEXT && h->said->words.count > 0;
}

/* A negation of the right value, unless it only narrows it ("not Saturday morning"). */
static const struct mc_mention *denial(const struct decision *d)
{
    const struct mc_words *words = &d->hearing->said->words;
    for (size_t i = 0; i < d->mentions->count; i++) {
        const struct mc_mention *m = &d->mentions->items[i];
        if (m->rank == MC_RANK_RIGHT && m->stance == MC_STANCE_NEGATED &&
            !mc_word_in(words, m->last + 1, " morning afternoon evening night 's ")) {
            return m;
        }
    }
    return NULL;
}

static int settle_wrong(const struct decision *d, const struct mc_mention *right, const struct mc_mention *wrong)
{
    if (!wrong || (right && strength(wrong->stance) < strength(right->stance))) {
        return 0;
    }
    settle(d, MC_VERDICT_MISREPRESENTED, right ? "both" : "wrong",
           right ? "both are asserted, so nothing is told" : "a wrong value is asserted", wrong, right);
    d->out->faults |= wrong_faults(d, wrong);
    return 1;
}

static void decide_current(const struct decision *d)
{
    const struct mc_mention *right = strongest(d, MC_RANK_RIGHT);
    if (settle_wrong(d, right, strongest(d, MC_RANK_WRONG))) {
        return;
    }
    const struct mc_mention *denied = denial(d);
    if (right && denied) {
        settle(d, MC_VERDICT_MISREPRESENTED, "contradiction", "asserted and denied", right, denied);
        return;
    }
    const struct mc_mention *other = joined_other(d);
    if (right && other) {
        settle(d, MC_VERDICT_MISREPRESENTED, "several", "several values are asserted together", right, other);
        d->out->faults |= MC_FAULT_INVENTION;
        return;
    }
    if (right) {
        settle(d, MC_VERDICT_CORRECT, "asserted", "the answer asserts it", right, NULL);
        d->out->faults |= is_listed_twice(d) ? MC_FAULT_DUPLICATE : 0;
        return;
    }
    const struct mc_mention *past = with_stance(d, MC_RANK_RIGHT, MC_STANCE_PAST);
    if (denied || past) {
        settle(d, MC_VERDICT_MISREPRESENTED, denied ? "denied" : "called-past",
               denied ? "the answer denies it" : "the answer calls it outdated", denied ? denied : past, NULL);
        return;
    }
    other = d->slot->match == MC_MATCH_TEXT || d->slot->match == MC_MATCH_ENTITY ? NULL : strongest(d, MC_RANK_OTHER);
    if (other && !any_of_rank(d, MC_RANK_RIGHT)) {
        settle(d, MC_VERDICT_MISREPRESENTED, "another", "another value is asserted", other, NULL);
        d->out->faults |= other->other_occurrence ? MC_FAULT_WRONG_OCCURRENCE : MC_FAULT_INVENTION;
        return;
    }
    missed_for_stance(d);
}

/* A slot about the past: "it used to be Friday" says it, and the present value may stand beside it. */
static void decide_historical(const struct decision *d)
{
    const struct mc_mention *right = with_stance(d, MC_RANK_RIGHT, MC_STANCE_PAST);
    right = right ? right : with_stance(d, MC_RANK_RIGHT, MC_STANCE_WAS);
    int as_past = right != NULL;
    for (size_t i = 0; i < d->mentions->count && !right; i++) {
        const struct mc_mention *m = &d->mentions->items[i];
        right = m->rank == MC_RANK_RIGHT && strength(m->stance) > 0 && m->stance != MC_STANCE_NOW ? m : NULL;
    }
    for (size_t i = 0; i < d->mentions->count; i++) {
        const struct mc_mention *m = &d->mentions->items[i];
        int as_history = m->stance == MC_STANCE_PAST || m->stance == MC_STANCE_WAS;
        int plain = strength(m->stance) > 0 && m->stance != MC_STANCE_NOW && !(m->stance == MC_STANCE_IS && right);
        int current = !right && (m->stance == MC_STANCE_NOW || m->stance == MC_STANCE_IS);
        if (m->rank == MC_RANK_WRONG && (as_history || (plain && !as_past) || current)) {
            settle(d, MC_VERDICT_MISREPRESENTED, right ? "both" : "wrong",
                   "a value that did not hold then is given for it", m, right);
            return;
        }
    }
    if (right) {
        settle(d, MC_VERDICT_CORRECT, "history", "the answer tells it", right, NULL);
        return;
    }
    const struct mc_mention *now = with_stance(d, MC_RANK_RIGHT, MC_STANCE_NOW);
    const struct mc_mention *denied = denial(d);
    if (now || denied) {
        settle(d, MC_VERDICT_MISREPRESENTED, now ? "as-current" : "denied",
               now ? "the old value is told as the current one" : "the answer denies it", now ? now : denied, NULL);
        d->out->faults |= now ? MC_FAULT_STALE : 0;
        return;
    }
    const struct mc_mention *other =
        d->slot->match == MC_MATCH_TEXT || d->slot->match == MC_MATCH_ENTITY ? NULL : strongest(d, MC_RANK_OTHER);
    if (other && !any_of_rank(d, MC_RANK_RIGHT)) {
        settle(d, MC_VERDICT_MISREPRESENTED, "another", "another value is given", other, NULL);
        d->out->faults |= other->other_occurrence ? MC_FAULT_WRONG_OCCURRENCE : MC_FAULT_INVENTION;
        return;
    }
    missed_for_stance(d);
}

/* Nothing in the evidence tells: right is to say so and to offer nothing. */
static void decide_abstain(const struct decision *d, int *asserts)
{
    const struct mc_hearing *h = d->hearing;
    struct mc_mention guess = {.first = 0};
    const struct mc_mention *wrong = strongest(d, MC_RANK_WRONG);
    if (!wrong) {
        wrong = strongest(d, MC_RANK_RIGHT); /* an expected value given here names what must not be made up */
    }
    if (!wrong) {
        wrong = with_stance(d, MC_RANK_WRONG, MC_STANCE_HEDGED);
    }
    int closed = d->slot->match != MC_MATCH_TEXT && d->slot->match != MC_MATCH_ENTITY;
    if (!wrong && closed && mc_value_said(d->slot->match, &h->calendar, h->said, &guess) && !is_reference(d, &guess)) {
        wrong = &guess;
    }
    if (wrong) {
        settle(d, MC_VERDICT_MISREPRESENTED, "invented", "nothing in the evidence tells this", wrong, NULL);
        d->out->faults |= MC_FAULT_INVENTION;
        *asserts = 1;
        return;
    }
    if (h->abstains) {
        add_quote(d->out, &h->said->words, h->abstention_first, h->abstention_last, "abstains");
    }
    if (h->abstains && !h->guesses) {
        settle(d, MC_VERDICT_CORRECT, "abstained", "the answer says that it does not know, and nothing tells it", NULL,
               NULL);
        return;
    }
    if (h->abstains) {
        settle(d, MC_VERDICT_MISREPRESENTED, "guessed", "the answer guesses after saying that it does not know", NULL,
               NULL);
        d->out->faults |= MC_FAULT_INVENTION;
        *asserts = 1;
        return;
    }
    settle(d, MC_VERDICT_MISSED, "did-not-abstain", "the answer does not say that it cannot be known", NULL, NULL);
    d->out->undecided = !closed && h->said->words.count > 0;
}

/* Suggestions may be hedged, conditional or asked: "you could", "how about". */
static const struct mc_mention *suggestion(const struct decision *d, enum mc_rank rank)
{
    for (size_t i = 0; i < d->mentions->count; i++) {
        const struct mc_mention *m = &d->mentions->items[i];
        if (m->rank == rank && m->stance != MC_STANCE_NEGATED && m->stance != MC_STANCE_PAST &&
            m->stance != MC_STANCE_RETRACTED && m->stance != MC_STANCE_SPEAKER && m->stance != MC_STANCE_NEAR &&
            m->stance != MC_STANCE_BELIEVED) {
            return m;
        }
    }
    return NULL;
}

static void decide_suggestion(const struct decision *d, enum mc_role role)
{
    const struct mc_mention *right = suggestion(d, MC_RANK_RIGHT);
    const struct mc_mention *wrong = suggestion(d, MC_RANK_WRONG);
    if (role == MC_ROLE_TRAP) {
        if (right) {
            settle(d, MC_VERDICT_MISREPRESENTED, "trap", "must not be suggested", right, NULL);
            d->out->faults |= MC_FAULT_STALE;
        } else {
            settle(d, MC_VERDICT_CORRECT, "not-suggested", "the answer does not suggest it", NULL, NULL);
        }
        return;
    }
    if (wrong) {
        settle(d, MC_VERDICT_MISREPRESENTED, right ? "both" : "wrong", "a wrong value is suggested", wrong, right);
        d->out->faults |= wrong_faults(d, wrong);
    } else if (right) {
        settle(d, MC_VERDICT_CORRECT, "suggested", "the answer suggests it", right, NULL);
        d->out->faults |= is_listed_twice(d) ? MC_FAULT_DUPLICATE : 0;
    } else {
        missed_for_stance(d);
    }
}

static void copy_texts(const struct mc_texts *from, struct mc_texts *to)
{
    to->items = mc_alloc(from->count + 1, sizeof *to->items);
    to->count = from->count;
    for (size_t i = 0; i < from->count; i++) {
        to->items[i] = mc_strdup(from->items[i]);
    }
}

void mc_slot_grade_begin(const struct mc_slot *slot, struct mc_slot_grade *out)
{
    *out = (struct mc_slot_grade){.id = mc_strdup(slot->id),
                                  .kind = slot->kind,
                                  .match = slot->match,
                                  .required = slot->required,
                                  .source = "matcher",
                                  .rule = ""};
    copy_texts(&slot->supported_by, &out->evidence);
}

void mc_decide_slot(const struct mc_slot *slot, enum mc_role role, const struct mc_hearing *hearing,
                    struct mc_slot_grade *out, int *asserts)
{
    mc_slot_grade_begin(slot, out);
    MC_AUTOMENTIONS struct mc_mentions mentions;
    mc_mentions_find(slot, &hearing->calendar, hearing->said, hearing->question, &mentions);
    struct decision d = {.slot = slot, .hearing = hearing, .mentions = &mentions, .out = out};
    if (role != MC_ROLE_SLOT) {
        decide_suggestion(&d, role);
    } else if (slot->kind == MC_SLOT_ABSTAIN) {
        decide_abstain(&d, asserts);
        return;
    } else if (slot->kind == MC_SLOT_HISTORICAL) {
        decide_historical(&d);
    } else {
        decide_current(&d);
    }
    *asserts |= role != MC_ROLE_TRAP &&
                (strongest(&d, MC_RANK_RIGHT) || strongest(&d, MC_RANK_WRONG) || out->verdict != MC_VERDICT_MISSED);
}

/* After "I don't know", these words offer an answer all the same. */
static int guesses_after(const struct mc_said *said, size_t from)
{
    const struct mc_words *words = &said->words;
    for (const struct mc_cue *cue = mc_said_cue(said, MC_CUE_GUESS, from); cue;
         cue = mc_said_cue(said, MC_CUE_GUESS, cue->first + 1)) {
        /* "maybe ask Priya", "I think you should check" sends elsewhere. */
        int elsewhere = 0;
        for (size_t i = cue->last + 1; i <= cue->last + 4 && i < words->count; i++) {
            elsewhere |=
                mc_word_in(words, i, " ask check try see look confirm contact message text call not you tell know ");
        }
        if (!elsewhere) {
            return 1;
        }
    }
    return 0;
}

struct mc_hearing mc_hearing_of(const struct mc_said *said, const struct mc_grade_context *context)
{
    struct mc_hearing h = {.said = said, .question = context->question};
    h.calendar = mc_calendar_at(context->zone, context->asked_at);
    const struct mc_cue *cue = mc_said_cue(said, MC_CUE_ABSTENTION, 0);
    if (cue) {
        h.abstains = 1;
        h.abstention_first = cue->first;
        h.abstention_last = cue->last;
    }
    h.guesses = h.abstains && guesses_after(said, 0);
    return h;
}
