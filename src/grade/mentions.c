#include "grade/mentions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "grade/phrases.h"

/* Mentions that a correction can take back: what was said just before. */
enum { MAX_LOOKBACK = 64 };

/* One value, of the rubric or of the answer. */
union value {
    struct mc_date date;
    struct mc_clock clock;
    struct mc_amount amount;
    int state;
};

struct known {
    const char *text;
    struct mc_words words;
    int typed; /* `value` was read; else it is compared as a phrase */
    int wrong;
    union value value;
};

struct finder {
    const struct mc_slot *slot;
    const struct mc_calendar *calendar;
    const struct mc_said *said;
    struct known *known;
    size_t known_count;
    int units_open;  /* a length of time may be what is asked */
    int asks_report; /* who said it is what is asked */
    int asks_belief; /* who wanted or thought it is */
    struct mc_mentions *out;
};

static size_t read_value(enum mc_match match, const struct mc_words *words, size_t at,
                         const struct mc_calendar *calendar, union value *out)
{
    switch (match) {
    case MC_MATCH_DATE:
        return mc_date_read(words, at, calendar, &out->date);
    case MC_MATCH_TIME:
        return mc_clock_read(words, at, calendar, &out->clock);
    case MC_MATCH_NUMBER:
        return mc_amount_read(words, at, &out->amount);
    case MC_MATCH_YESNO:
        return mc_yesno_read(words, at, &out->state);
    case MC_MATCH_STATUS:
        return mc_status_read(words, at, &out->state);
    case MC_MATCH_ENTITY:
    case MC_MATCH_TEXT:
        break;
    }
    return 0;
}

/* Dates and times of day are no amounts: words from `at` that one takes. */
static size_t read_moment(const struct mc_words *words, size_t at, const struct mc_calendar *calendar)
{
    struct mc_date date;
    struct mc_clock clock;
    size_t length = mc_date_read(words, at, calendar, &date);
    if (length == 1 && words->items[at].kind == MC_WORD_NUMBER) {
        length = 0; /* a year may be an amount */
    }
    if (words->items[at].kind == MC_WORD_MARK) {
        return length;
    }
    size_t clocked = mc_clock_read(words, at, calendar, &clock);
    /* A bare "8" or "eight" is an amount where amounts are looked for. */
    int timed = clocked > 1 || (clocked == 1 && at > 0 && mc_word_is(words, at - 1, "at"));
    return timed && clocked > length ? clocked : length;
}

int mc_rubric_reads(enum mc_match match, const char *text)
{
    static const char fillers[] = " on in at the about around approximately since by during for circa a of it is 's "
                                  "nearly almost over roughly later times ";
    MC_AUTOWORDS struct mc_words words;
    mc_words_read(text, strlen(text), &words);
    if (match == MC_MATCH_ENTITY || match == MC_MATCH_TEXT || match == MC_MATCH_STATUS) {
        return mc_phrase_has_words(&words);
    }
    struct mc_calendar calendar = {.year = 2026, .month = 1, .day = 1, .weekday = 4, .today = 20454, .month_first = 1};
    mc_clauses_mark(&words);
    size_t covered = 0;
    size_t values = 0;
    for (size_t i = 0; i < words.count;) {
        union value value;
        size_t length = match == MC_MATCH_TIME || match == MC_MATCH_YESNO || words.items[i].kind != MC_WORD_MARK ||
                                match == MC_MATCH_NUMBER
                            ? read_value(match, &words, i, &calendar, &value)
                            : 0;
        if (length > 0) {
            if (match == MC_MATCH_NUMBER && value.amount.unit == MC_UNIT_NOUN && value.amount.noun == i + length) {
                length++;
            }
            covered += length;
            values++;
            i += length;
            continue;
        }
        covered += words.items[i].kind == MC_WORD_MARK || mc_word_in(&words, i, fillers);
        i++;
    }
    if (match == MC_MATCH_YESNO) {
        return values > 0;
    }
    return values == 1 && covered == words.count;
}

/* The first value that the rubric's text holds. */
static void read_known(struct finder *f, struct known *k, const char *text, int wrong)
{
    *k = (struct known){.text = text, .wrong = wrong};
    mc_words_read(text, strlen(text), &k->words);
    mc_clauses_mark(&k->words);
    if (f->slot->match == MC_MATCH_ENTITY || f->slot->match == MC_MATCH_TEXT) {
        return;
    }
    if (f->slot->match != MC_MATCH_STATUS && !mc_rubric_reads(f->slot->match, text)) {
        return;
    }
    for (size_t i = 0; i < k->words.count && !k->typed; i++) {
        k->typed = read_value(f->slot->match, &k->words, i, f->calendar, &k->value) > 0;
    }
    /* "Saturday" in a rubric means the coming one, or the last one where the slot is about the past. */
    if (k->typed && f->slot->match == MC_MATCH_DATE && k->value.date.choices == 2) {
        k->value.date.choice[0] = k->value.date.choice[f->slot->kind == MC_SLOT_HISTORICAL];
        k->value.date.choices = 1;
    }
    if (k->typed && f->slot->match == MC_MATCH_NUMBER) {
        k->value.amount.bound = 0;
    }
}

static void add_known(struct finder *f, const struct mc_texts *texts, int wrong)
{
    for (size_t i = 0; i < texts->count; i++) {
        read_known(f, &f->known[f->known_count++], texts->items[i], wrong);
    }
}

static int equals(const struct finder *f, const struct known *k, const union value *said)
{
    switch (f->slot->match) {
    case MC_MATCH_DATE:
        return mc_date_equal(&k->value.date, &said->date);
    case MC_MATCH_TIME:
        return mc_clock_equal(&k->value.clock, &said->clock);
    case MC_MATCH_NUMBER:
        return mc_amount_equal(&k->words, &k->value.amount, &f->said->words, &said->amount, f->units_open);
    case MC_MATCH_YESNO:
    case MC_MATCH_STATUS:
        return k->value.state == said->state;
    case MC_MATCH_ENTITY:
    case MC_MATCH_TEXT:
        break;
    }
    return 0;
}

static int is_contrary(const struct finder *f, const struct known *k, const union value *said)
{
    if (f->slot->match == MC_MATCH_YESNO) {
        return k->value.state != said->state;
    }
    return f->slot->match == MC_MATCH_STATUS && mc_status_opposite(k->value.state, said->state);
}

static int is_vague(const struct finder *f, const struct known *k, const union value *said)
{
    if (f->slot->match == MC_MATCH_DATE) {
        return mc_date_covers(&said->date, &k->value.date) || mc_date_covers(&k->value.date, &said->date);
    }
    if (f->slot->match == MC_MATCH_TIME) {
        return said->clock.bound;
    }
    return f->slot->match == MC_MATCH_NUMBER && said->amount.bound;
}

static int is_other_occurrence(const struct finder *f, const struct known *k, const union value *said)
{
    if (f->slot->match == MC_MATCH_DATE) {
        return mc_date_other_occurrence(&k->value.date, &said->date);
    }
    return f->slot->match == MC_MATCH_TIME && mc_clock_other_occurrence(&k->value.clock, &said->clock);
}

/* Another amount is about the same thing only where its unit says so. */
static int competes(const struct finder *f, const struct known *k, const union value *said)
{
    if (f->slot->match != MC_MATCH_NUMBER) {
        return 1;
    }
    const struct mc_amount *a = &k->value.amount;
    const struct mc_amount *b = &said->amount;
    if (a->unit == MC_UNIT_NOUN || a->unit == MC_UNIT_NONE) {
        struct mc_amount same = *b;
        same.value = a->value;
        same.count = a->count;
        same.bound = 0;
        return b->unit == MC_UNIT_NONE || (a->unit == MC_UNIT_NOUN && b->unit == MC_UNIT_NOUN &&
                                           mc_amount_equal(&k->words, a, &f->said->words, &same, 1));
    }
    int both_last = (a->unit == MC_UNIT_MINUTES || a->unit == MC_UNIT_MONTHS) &&
                    (b->unit == MC_UNIT_MINUTES || b->unit == MC_UNIT_MONTHS);
    return a->unit == b->unit || both_last;
}

/* An ambiguous value ("8", "Saturday") speaks with its first reading where it could be right and wrong at once. */
static void settle_ambiguous(const struct finder *f, union value *value)
{
    if (f->slot->match == MC_MATCH_DATE && value->date.choices == 2) {
        value->date.choice[0] = value->date.choice[f->slot->kind == MC_SLOT_HISTORICAL];
        value->date.choices = 1;
    }
}

static const struct known *find_known(const struct finder *f, const union value *value, int wrong)
{
    for (size_t i = 0; i < f->known_count; i++) {
        const struct known *k = &f->known[i];
        if (k->typed && k->wrong == wrong && equals(f, k, value)) {
            return k;
        }
    }
    return NULL;
}

/* 0 where the mention is of no interest to the slot. */
static int rank_value(const struct finder *f, union value *value, struct mc_mention *m)
{
    const struct known *right = find_known(f, value, 0);
    const struct known *wrong = find_known(f, value, 1);
    if (right && wrong) {
        settle_ambiguous(f, value);
        right = find_known(f, value, 0);
        wrong = find_known(f, value, 1);
        if (right && wrong) {
            m->rank = MC_RANK_VAGUE;
            return 1;
        }
    }
    if (right || wrong) {
        m->rank = right ? MC_RANK_RIGHT : MC_RANK_WRONG;
        m->value = right ? right->text : wrong->text;
        return 1;
    }
    int interest = 0;
    m->rank = MC_RANK_OTHER;
    for (size_t i = 0; i < f->known_count; i++) {
        const struct known *k = &f->known[i];
        if (!k->typed || k->wrong) {
            continue;
        }
        if (is_contrary(f, k, value)) {
            m->rank = MC_RANK_WRONG;
            m->value = k->text;
            return 1;
        }
        if (is_vague(f, k, value)) {
            m->rank = MC_RANK_VAGUE;
        }
        m->other_occurrence |= is_other_occurrence(f, k, value);
        interest |= competes(f, k, value);
    }
    return interest && f->slot->match != MC_MATCH_STATUS;
}

static void add_mention(struct mc_mentions *out, struct mc_mention mention)
{
    out->items = mc_grow(out->items, out->count, &out->capacity, sizeof *out->items);
    out->items[out->count++] = mention;
}

/* "not open" where "closed" is expected. */
static void settle_complement(const struct finder *f, const union value *value, struct mc_mention *m)
{
    if (f->slot->match != MC_MATCH_STATUS || m->stance != MC_STANCE_NEGATED) {
        return;
    }
    for (size_t i = 0; i < f->known_count; i++) {
        const struct known *k = &f->known[i];
        if (k->typed && !k->wrong && mc_status_complement(k->value.state, value->state)) {
            m->rank = MC_RANK_RIGHT;
            m->stance = MC_STANCE_ASSERTED;
            m->value = k->text;
            return;
        }
    }
}

/* The longest phrase among the rubric's values at word `at`. */
static size_t read_phrase(const struct finder *f, size_t at, struct mc_mention *m)
{
    size_t best = 0;
    for (size_t i = 0; i < f->known_count; i++) {
        const struct known *k = &f->known[i];
        if (k->typed && f->slot->match != MC_MATCH_STATUS) {
            continue;
        }
        size_t length = mc_phrase_at(&k->words, &f->said->words, at);
        if (length > best) {
            best = length;
            m->rank = k->wrong ? MC_RANK_WRONG : MC_RANK_RIGHT;
            m->value = k->text;
        }
    }
    return best;
}

/* "Priya said", "Sam suggested": named as who says it, not as what is asked for, unless the question asks for that. */
static int is_speaker(const struct finder *f, size_t last)
{
    const struct mc_cue *report = mc_said_cue(f->said, MC_CUE_REPORT, last + 1);
    const struct mc_cue *belief = mc_said_cue(f->said, MC_CUE_BELIEF, last + 1);
    return (report && report->first == last + 1 && !f->asks_report) ||
           (belief && belief->first == last + 1 && !f->asks_belief);
}

/* Whether the question asks who said, or who thought or wanted something. */
static void read_asked(struct finder *f, const char *question)
{
    if (question) {
        MC_AUTOSAID struct mc_said asked;
        mc_said_read(question, strlen(question), &asked);
        f->asks_report = mc_said_cue(&asked, MC_CUE_REPORT, 0) != NULL;
        f->asks_belief = mc_said_cue(&asked, MC_CUE_BELIEF, 0) != NULL;
    }
}

static int asks_for_length(const char *question)
{
    if (!question) {
        return 1;
    }
    MC_AUTOWORDS struct mc_words asked;
    mc_words_read(question, strlen(question), &asked);
    for (size_t i = 0; i < asked.count; i++) {
        if (mc_word_in(&asked, i, " long often minutes hours days weeks months years percent percentage time ")) {
            return 1;
        }
    }
    return 0;
}

static size_t find_at(const struct finder *f, size_t at)
{
    const struct mc_words *words = &f->said->words;
    struct mc_mention phrase = {.first = at};
    size_t phrased = read_phrase(f, at, &phrase);
    union value value;
    struct mc_mention typed = {.first = at};
    size_t length = read_value(f->slot->match, words, at, f->calendar, &value);
    if (f->slot->match == MC_MATCH_NUMBER) {
        size_t moment = read_moment(words, at, f->calendar);
        if (moment > 0 && moment >= length && moment > phrased) {
            return moment;
        }
    }
    if (length > phrased) {
        if (rank_value(f, &value, &typed)) {
            typed.last = at + length - 1;
            typed.stance = mc_said_stance(f->said, typed.first, typed.last);
            settle_complement(f, &value, &typed);
            add_mention(f->out, typed);
        }
        return length;
    }
    if (phrased > 0) {
        phrase.last = at + phrased - 1;
        phrase.stance = mc_said_stance(f->said, phrase.first, phrase.last);
        if (f->slot->match == MC_MATCH_ENTITY && is_speaker(f, phrase.last)) {
            phrase.stance = MC_STANCE_SPEAKER;
        }
        add_mention(f->out, phrase);
        return phrased;
    }
    return 1;
}

/* A text all of whose content words stand in one sentence says it, in other words. */
static void find_covered(const struct finder *f)
{
    const struct mc_words *words = &f->said->words;
    for (size_t first = 0; first < words->count;) {
        size_t last = mc_sentence_last(words, first);
        for (size_t i = 0; i < f->known_count; i++) {
            const struct known *k = &f->known[i];
            size_t total;
            size_t from = first;
            size_t to = first;
            size_t found = mc_phrase_cover(&k->words, words, first, last, &total, &from, &to);
            if (!k->wrong && total > 0 && found == total) {
                struct mc_mention m = {.first = from, .last = to, .rank = MC_RANK_RIGHT, .value = k->text};
                m.stance = mc_said_stance(f->said, from, to);
                add_mention(f->out, m);
                break;
            }
        }
        first = last + 1;
    }
}

static int is_denied(const struct mc_said *said, size_t first, size_t last)
{
    static const enum mc_cue_kind kinds[] = {MC_CUE_NEGATION, MC_CUE_NEGATION_OF_CLAUSE, MC_CUE_NEGATION_BACK,
                                             MC_CUE_PAST, MC_CUE_PAST_BACK};
    for (size_t i = 0; i < MC_COUNT(kinds); i++) {
        const struct mc_cue *cue = mc_said_cue(said, kinds[i], first);
        if (cue && cue->last <= last) {
            return 1;
        }
    }
    /* "isn't coming", "doesn't need" may look like something else to the table. */
    for (size_t i = first; i <= last; i++) {
        if (mc_word_in(&said->words, i, " n't not never ") && !mc_word_in(&said->words, i + 1, " only just ")) {
            return 1;
        }
    }
    return 0;
}

/* "I don't know if ..." */
static int abstains_before(const struct mc_said *said, size_t last)
{
    const struct mc_cue *cue = mc_said_cue(said, MC_CUE_ABSTENTION, mc_sentence_first(&said->words, last));
    return cue && cue->last <= last;
}

/* An answer that restates a question's words without yes or no: "Priya is coming" is a yes. */
static void find_restated(const struct finder *f, const char *question)
{
    MC_AUTOWORDS struct mc_words asked;
    const struct mc_words *words = &f->said->words;
    mc_words_read(question, strlen(question), &asked);
    for (size_t first = 0; first < words->count;) {
        size_t last = mc_clause_last(words, first);
        size_t total;
        size_t from = first;
        size_t to = first;
        size_t found = mc_phrase_cover(&asked, words, first, last, &total, &from, &to);
        if (found >= 1 && found * 2 >= total) {
            struct mc_mention m = {.first = first, .last = last};
            union value value = {.state = !is_denied(f->said, first, last)};
            m.stance = mc_said_stance(f->said, to, to);
            if (m.stance == MC_STANCE_NEGATED || m.stance == MC_STANCE_PAST) {
                m.stance = MC_STANCE_ASSERTED;
            }
            if (abstains_before(f->said, last)) {
                m.stance = MC_STANCE_HEDGED;
            }
            if (rank_value(f, &value, &m)) {
                add_mention(f->out, m);
                return;
            }
        }
        first = last + 1;
    }
}

/* "Actually, ...": what was said before in other words is taken back. */
static void retract(const struct mc_said *said, struct mc_mentions *mentions)
{
    for (size_t i = 1; i < mentions->count; i++) {
        const struct mc_mention *later = &mentions->items[i];
        size_t begin = mc_sentence_first(&said->words, later->first);
        const struct mc_cue *cue = mc_said_cue(said, MC_CUE_CORRECTION, begin);
        if (!cue || cue->last >= later->first || later->stance > MC_STANCE_WAS) {
            continue;
        }
        for (size_t k = i > MAX_LOOKBACK ? i - MAX_LOOKBACK : 0; k < i; k++) {
            struct mc_mention *earlier = &mentions->items[k];
            if (earlier->last < cue->first && earlier->rank != later->rank) {
                earlier->stance = MC_STANCE_RETRACTED;
            }
        }
    }
}

/* "Friday or Saturday" commits to neither. */
static void unsettle_choices(const struct mc_said *said, struct mc_mentions *mentions)
{
    for (size_t i = 1; i < mentions->count; i++) {
        struct mc_mention *a = &mentions->items[i - 1];
        struct mc_mention *b = &mentions->items[i];
        size_t gap = b->first - a->last - 1;
        int has_or = 0;
        for (size_t k = a->last + 1; k < b->first && gap <= 5; k++) {
            has_or |= mc_word_is(&said->words, k, "or");
        }
        if (has_or && a->rank != b->rank &&
            said->words.items[a->last].sentence == said->words.items[b->first].sentence) {
            a->stance = a->stance < MC_STANCE_HEDGED ? MC_STANCE_HEDGED : a->stance;
            b->stance = b->stance < MC_STANCE_HEDGED ? MC_STANCE_HEDGED : b->stance;
        }
    }
}

static int is_choice_word(const struct mc_words *words, size_t i)
{
    return i < words->count && (words->items[i].upper || words->items[i].kind == MC_WORD_NUMBER);
}

static int ends_mention(const struct mc_mentions *mentions, size_t before, size_t word, enum mc_rank rank)
{
    return before > 0 && mentions->items[before - 1].last == word && mentions->items[before - 1].rank == rank;
}

/* "California or Florida" commits to neither, even where the rubric knows only one of them. */
static void unsettle_strangers(const struct mc_said *said, struct mc_mentions *mentions)
{
    const struct mc_words *words = &said->words;
    for (size_t i = 0; i < mentions->count; i++) {
        struct mc_mention *m = &mentions->items[i];
        int after = mc_word_is(words, m->last + 1, "or") && is_choice_word(words, m->last + 2) &&
                    !(i + 1 < mentions->count && mentions->items[i + 1].first == m->last + 2);
        int before = m->first >= 2 && mc_word_is(words, m->first - 1, "or") && is_choice_word(words, m->first - 2) &&
                     !ends_mention(mentions, i, m->first - 2, m->rank);
        if ((after || before) && m->stance < MC_STANCE_HEDGED) {
            m->stance = MC_STANCE_HEDGED;
        }
    }
}

void mc_mentions_find(const struct mc_slot *slot, const struct mc_calendar *calendar, const struct mc_said *said,
                      const char *question, struct mc_mentions *out)
{
    *out = (struct mc_mentions){.items = NULL};
    struct finder f = {.slot = slot, .calendar = calendar, .said = said, .out = out};
    f.known = mc_alloc(1 + slot->alternatives.count + slot->forbidden.count, sizeof *f.known);
    if (slot->expected) {
        read_known(&f, &f.known[f.known_count++], slot->expected, 0);
    }
    read_asked(&f, question);
    f.units_open = asks_for_length(question);
    add_known(&f, &slot->alternatives, 0);
    add_known(&f, &slot->forbidden, 1);
    for (size_t at = 0; at < said->words.count;) {
        at += find_at(&f, at);
    }
    if (slot->match == MC_MATCH_TEXT && out->count == 0) {
        find_covered(&f);
    }
    if (slot->match == MC_MATCH_YESNO && out->count == 0 && question) {
        find_restated(&f, question);
    }
    unsettle_choices(said, out);
    unsettle_strangers(said, out);
    retract(said, out);
    for (size_t i = 0; i < f.known_count; i++) {
        mc_words_release(&f.known[i].words);
    }
    free(f.known);
}

void mc_mentions_release(struct mc_mentions *mentions)
{
    free(mentions->items);
    *mentions = (struct mc_mentions){.items = NULL};
}

int mc_value_said(enum mc_match match, const struct mc_calendar *calendar, const struct mc_said *said,
                  struct mc_mention *out)
{
    for (size_t at = 0; at < said->words.count; at++) {
        union value value;
        size_t length = read_value(match, &said->words, at, calendar, &value);
        if (length == 0) {
            continue;
        }
        if (match == MC_MATCH_NUMBER && read_moment(&said->words, at, calendar) > 0) {
            at += read_moment(&said->words, at, calendar) - 1;
            continue;
        }
        enum mc_stance stance = mc_said_stance(said, at, at + length - 1);
        if (stance <= MC_STANCE_HEDGED && stance != MC_STANCE_PAST) {
            *out = (struct mc_mention){.first = at, .last = at + length - 1, .rank = MC_RANK_OTHER, .stance = stance};
            return 1;
        }
        at += length - 1;
    }
    return 0;
}
