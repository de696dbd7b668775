#include "grade/dates_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct mc_date mc_date_span(int64_t lo, int64_t hi)
{
    return (struct mc_date){.choice = {{lo, hi}, {lo, hi}}, .choices = 1};
}

static struct mc_date day_of(int64_t day)
{
    return mc_date_span(day, day);
}

struct mc_date mc_date_month(int year, int month)
{
    int64_t first = mc_days_from_civil(year, month, 1);
    return mc_date_span(first, first + mc_days_in_month(year, month) - 1);
}

int mc_weekday_at(const struct mc_date_parser *p, size_t i)
{
    static const char *const names[] = {" sunday sundays ",
                                        " monday mondays ",
                                        " tuesday tuesdays tue tues ",
                                        " wednesday wednesdays ",
                                        " thursday thursdays thu thur thurs ",
                                        " friday fridays fri ",
                                        " saturday saturdays "};
    static const char *const capital[] = {"sun", "mon", "", "wed", "", "fri", "sat"};
    if (i >= p->words->count || p->words->items[i].kind != MC_WORD_ALPHA || mc_word_joined_before(p->words, i)) {
        return -1;
    }
    if (i > 0 && p->words->items[i - 1].upper &&
        mc_in(p, i - 1, " good black cyber ash palm easter super fat holy maundy ")) {
        return -1; /* "Good Friday" is a day of its own */
    }
    for (int d = 0; d < 7; d++) {
        if (mc_in(p, i, names[d]) || (p->words->items[i].upper && mc_is(p, i, capital[d]) && capital[d][0])) {
            return d;
        }
    }
    return -1;
}

int mc_is_year_at(const struct mc_date_parser *p, size_t i)
{
    if (i >= p->words->count) {
        return 0;
    }
    const struct mc_word *word = &p->words->items[i];
    if (word->kind != MC_WORD_NUMBER || word->end - word->start != 4 || strlen(word->norm) != 4 ||
        mc_word_joined_before(p->words, i) || mc_word_joined_after(p->words, i)) {
        return 0;
    }
    int year = mc_norm_number(word->norm);
    return year >= 1900 && year <= 2100 && !(i > 0 && mc_in(p, i - 1, " $ # € £ "));
}

static int year_at(const struct mc_date_parser *p, size_t i)
{
    return mc_norm_number(mc_word_at(p->words, i));
}

static int is_whole_word(const struct mc_date_parser *p, size_t i)
{
    const char *norm = mc_word_at(p->words, i);
    return i < p->words->count && p->words->items[i].kind == MC_WORD_NUMBER && strlen(norm) <= 2 &&
           norm[strspn(norm, "0123456789")] == '\0';
}

int mc_ordinal_of(const char *norm)
{
    static const char *const names[] = {"first",     "second",      "third",      "fourth",     "fifth",
                                        "sixth",     "seventh",     "eighth",     "ninth",      "tenth",
                                        "eleventh",  "twelfth",     "thirteenth", "fourteenth", "fifteenth",
                                        "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"};
    for (int i = 0; i < (int)MC_COUNT(names); i++) {
        if (strcmp(norm, names[i]) == 0) {
            return i + 1;
        }
    }
    return strcmp(norm, "thirtieth") == 0 ? 30 : 0;
}

/* A day of the month at `i`: its words, and whether it is an ordinal. */
size_t mc_day_number_at(const struct mc_date_parser *p, size_t i, int *day, int *ordinal)
{
    *ordinal = 0;
    if (is_whole_word(p, i)) {
        *day = mc_norm_number(mc_word_at(p->words, i));
        if (*day < 1 || *day > 31) {
            return 0;
        }
        if (i + 1 < p->words->count && p->words->items[i + 1].glued && mc_in(p, i + 1, " st nd rd th ")) {
            *ordinal = 1;
            return 2;
        }
        return mc_word_joined_after(p->words, i) && !mc_in(p, i + 1, " - ") ? 0 : 1;
    }
    int value = mc_ordinal_of(mc_word_at(p->words, i));
    if (value) {
        *day = value;
        *ordinal = 1;
        return 1;
    }
    if (mc_in(p, i, " twenty thirty ")) {
        size_t next = i + (mc_is(p, i + 1, "-") ? 2 : 1);
        value = mc_ordinal_of(mc_word_at(p->words, next));
        *day = (mc_is(p, i, "twenty") ? 20 : 30) + value;
        *ordinal = 1;
        return value >= 1 && value <= 9 && *day <= 31 ? next + 1 - i : 0;
    }
    return 0;
}

int mc_month_at(const struct mc_date_parser *p, size_t i)
{
    static const char *const names[] = {
        " january jan ", " february feb ", " march mar ",          " april apr ",   " may ",          " june jun ",
        " july jul ",    " august aug ",   " september sep sept ", " october oct ", " november nov ", " december dec "};
    if (i >= p->words->count || p->words->items[i].kind != MC_WORD_ALPHA) {
        return 0;
    }
    for (int m = 0; m < 12; m++) {
        if (!mc_in(p, i, names[m])) {
            continue;
        }
        /* "may", "march" and the like are also other words: they need a capital (or a number beside them). */
        if (mc_in(p, i, " may march mar jan jun dec sep ") && !p->words->items[i].upper) {
            int day;
            int ordinal;
            int beside = mc_is_year_at(p, i + 1) || mc_day_number_at(p, i + 1, &day, &ordinal) > 0 ||
                         (i > 0 && (is_whole_word(p, i - 1) ||
                                    mc_in(p, i - 1, " st nd rd th of in by last next mid early late ")));
            return beside && !(mc_is(p, i, "may") && mc_in(p, i + 1, " be have ")) ? m + 1 : 0;
        }
        if (mc_is(p, i, "may") && mc_in(p, i + 1, " i be have not he she it they we you ")) {
            return 0;
        }
        return m + 1;
    }
    return 0;
}

/* The year in which month and day lie nearest to today. */
int mc_nearest_year(const struct mc_calendar *c, int month, int day)
{
    int best = c->year;
    int64_t best_distance = INT64_MAX;
    for (int year = c->year - 1; year <= c->year + 1; year++) {
        if (day > mc_days_in_month(year, month)) {
            continue;
        }
        int64_t distance = llabs(mc_days_from_civil(year, month, day) - c->today);
        if (distance < best_distance) {
            best = year;
            best_distance = distance;
        }
    }
    return best;
}

static int make_day(const struct mc_date_parser *p, int year, int month, int day, struct mc_date *out)
{
    if (month < 1 || month > 12 || day < 1) {
        return 0;
    }
    int y = year ? year : mc_nearest_year(p->calendar, month, day);
    if (day > mc_days_in_month(y, month)) {
        return 0;
    }
    *out = day_of(mc_days_from_civil(y, month, day));
    return 1;
}

/* Reads an optional ", 2026" or "of 2026" or "this/next/last year"; the end. */
size_t mc_optional_year(const struct mc_date_parser *p, size_t i, int *year)
{
    size_t at = mc_skip_comma(p, i);
    at = mc_in(p, at, " of in ") && mc_is_year_at(p, at + 1) ? at + 1 : at;
    if (mc_is_year_at(p, at)) {
        *year = year_at(p, at);
        return at + 1;
    }
    if (mc_in(p, at, " this next last ") && mc_is(p, at + 1, "year")) {
        *year = p->calendar->year + (mc_is(p, at, "next") ? 1 : mc_is(p, at, "last") ? -1 : 0);
        return at + 2;
    }
    return i;
}

static size_t read_iso(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    const struct mc_words *w = p->words;
    if (!(i < w->count && w->items[i].kind == MC_WORD_NUMBER && strlen(w->items[i].norm) == 4 && i + 4 < w->count &&
          mc_in(p, i + 1, " - / ") && is_whole_word(p, i + 2) && mc_in(p, i + 3, " - / ") && is_whole_word(p, i + 4))) {
        return 0;
    }
    for (size_t k = i + 1; k <= i + 4; k++) {
        if (!w->items[k].glued) {
            return 0;
        }
    }
    if (mc_norm_number(w->items[i].norm) < 1900) {
        return 0;
    }
    return make_day(p, mc_norm_number(w->items[i].norm), mc_norm_number(w->items[i + 2].norm),
                    mc_norm_number(w->items[i + 4].norm), out)
               ? 5
               : 0;
}

static size_t read_slashed(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    const struct mc_words *w = p->words;
    if (!is_whole_word(p, i) || !mc_is(p, i + 1, "/") || !is_whole_word(p, i + 2) || !w->items[i + 1].glued ||
        !w->items[i + 2].glued || mc_word_joined_before(w, i) || (i > 0 && mc_is(p, i - 1, "/"))) {
        return 0;
    }
    int a = mc_norm_number(w->items[i].norm);
    int b = mc_norm_number(w->items[i + 2].norm);
    int year = 0;
    size_t length = 3;
    if (mc_is(p, i + 3, "/") && i + 4 < w->count && w->items[i + 4].kind == MC_WORD_NUMBER && w->items[i + 3].glued) {
        year = mc_norm_number(w->items[i + 4].norm);
        year += year < 100 ? 2000 : 0;
        length = 5;
        if (year < 1900 || year > 2100) {
            return 0;
        }
    } else if (mc_word_joined_after(w, i + 2)) {
        return 0;
    }
    int month_first = b > 12 || (a <= 12 && p->calendar->month_first);
    return make_day(p, year, month_first ? a : b, month_first ? b : a, out) ? length : 0;
}

/* "August 8(th)", "Aug. 8, 2026", "August 8-9", "August 2026", "August". */
static size_t read_month_first(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    int month = mc_month_at(p, i);
    if (!month) {
        return 0;
    }
    size_t at = i + 1;
    at += mc_skip(p, at, ".") && at + 1 < p->words->count && p->words->items[at].glued &&
          p->words->items[at + 1].kind == MC_WORD_NUMBER;
    at += mc_skip(p, at, "the");
    int day = 0;
    int ordinal;
    int year = 0;
    size_t length = mc_is_year_at(p, at) ? 0 : mc_day_number_at(p, at, &day, &ordinal);
    if (length > 0 && mc_in(p, at + length, " : am pm o'clock ")) {
        length = 0; /* a time of day */
    }
    if (length == 0) {
        size_t end = mc_optional_year(p, i + 1, &year);
        *out = mc_date_month(year ? year : mc_nearest_year(p->calendar, month, 15), month);
        return end - i;
    }
    size_t end = at + length;
    int last = 0;
    if (mc_in(p, end, " - ") && (length = mc_day_number_at(p, end + 1, &last, &ordinal)) > 0) {
        end += 1 + length;
    }
    end = mc_optional_year(p, end, &year);
    if (!make_day(p, year, month, day, out)) {
        return 0;
    }
    if (last > day) {
        out->choice[0].hi += last - day;
    }
    return end - i;
}

/* "8 August 2026", "the 8th of August", "12August, 2022". */
static size_t read_day_first(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    size_t at = i + mc_skip(p, i, "the");
    int day;
    int ordinal;
    int glued_month = is_whole_word(p, at) && at + 1 < p->words->count && p->words->items[at + 1].glued &&
                      mc_month_at(p, at + 1) != 0;
    size_t length = glued_month ? 1 : mc_day_number_at(p, at, &day, &ordinal);
    if (length == 0 || mc_word_joined_before(p->words, at)) {
        return 0;
    }
    if (glued_month) {
        day = mc_norm_number(mc_word_at(p->words, at));
    }
    at += length;
    at += mc_skip(p, at, "of");
    int month = mc_month_at(p, at);
    if (!month) {
        return 0;
    }
    int year = 0;
    size_t end = mc_optional_year(p, at + 1 + (mc_is(p, at + 1, ".") && mc_is_year_at(p, at + 2)), &year);
    return make_day(p, year, month, day, out) ? end - i : 0;
}

/* A noun after an ordinal makes it something else: "the 12th floor". */
static int noun_follows(const struct mc_date_parser *p, size_t i)
{
    if (i >= p->words->count || p->words->items[i].kind == MC_WORD_MARK) {
        return mc_is(p, i, "-") && p->words->items[i].glued;
    }
    if (p->words->items[i].kind == MC_WORD_NUMBER) {
        return 0;
    }
    return !mc_in(
        p, i,
        " at on in is was are were will would for and or but not from to by with until of as because since so if when "
        "instead it its he she they we i you that this works sounds should now then around about starting after "
        "before between rather which 's has had won't n't may might can could than too also still unless though "
        "morning afternoon evening night noon midday at though , ");
}

/* "the 12th", "on the twelfth": this month's or the nearest other. The coming one is the first choice. */
static size_t read_bare_day(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    size_t at = i + mc_skip(p, i, "the");
    int day;
    int ordinal;
    size_t length = mc_day_number_at(p, at, &day, &ordinal);
    if (length == 0 || !ordinal || mc_word_joined_before(p->words, at) || noun_follows(p, at + length)) {
        return 0;
    }
    if (at == i && mc_ordinal_of(mc_word_at(p->words, at))) {
        return 0; /* "first" alone is an order, not a day */
    }
    const struct mc_calendar *c = p->calendar;
    int64_t coming = INT64_MAX;
    int64_t gone = INT64_MIN;
    for (int m = -2; m <= 2; m++) {
        int index = c->year * 12 + c->month - 1 + m;
        if (day > mc_days_in_month(index / 12, index % 12 + 1)) {
            continue;
        }
        int64_t candidate = mc_days_from_civil(index / 12, index % 12 + 1, day);
        if (candidate >= c->today && candidate < coming) {
            coming = candidate;
        }
        if (candidate < c->today && candidate > gone) {
            gone = candidate;
        }
    }
    *out = (struct mc_date){.choice = {{coming, coming}, {gone, gone}}, .choices = 2};
    return at + length - i;
}

size_t mc_date_absolute(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    static size_t (*const readers[])(const struct mc_date_parser *, size_t, struct mc_date *) = {
        read_iso, read_slashed, read_month_first, read_day_first, read_bare_day};
    size_t best = 0;
    for (size_t k = 0; k < MC_COUNT(readers); k++) {
        struct mc_date date;
        size_t length = readers[k](p, i, &date);
        if (length > best) {
            best = length;
            *out = date;
        }
    }
    return best;
}

size_t mc_date_read(const struct mc_words *words, size_t at, const struct mc_calendar *calendar, struct mc_date *out)
{
    if (!(words->items[at].starts & MC_STARTS_DATE)) {
        return 0;
    }
    struct mc_date_parser p = {.words = words, .calendar = calendar};
    size_t best = mc_date_absolute(&p, at, out);
    for (size_t k = 0; mc_date_relative[k]; k++) {
        struct mc_date date;
        size_t length = mc_date_relative[k](&p, at, &date);
        if (length > best) {
            best = length;
            *out = date;
        }
    }
    return best;
}

static int same_days(struct mc_days a, struct mc_days b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

int mc_date_equal(const struct mc_date *a, const struct mc_date *b)
{
    if (a->conflict || b->conflict) {
        return 0;
    }
    for (int i = 0; i < a->choices; i++) {
        for (int k = 0; k < b->choices; k++) {
            if (same_days(a->choice[i], b->choice[k])) {
                return 1;
            }
        }
    }
    return 0;
}

int mc_date_covers(const struct mc_date *wide, const struct mc_date *narrow)
{
    const struct mc_days *w = &wide->choice[0];
    const struct mc_days *n = &narrow->choice[0];
    return !wide->conflict && w->lo <= n->lo && w->hi >= n->hi && !same_days(*w, *n);
}

int mc_date_other_occurrence(const struct mc_date *a, const struct mc_date *b)
{
    if (a->conflict || b->conflict || a->choice[0].lo != a->choice[0].hi || b->choice[0].lo != b->choice[0].hi) {
        return 0;
    }
    int64_t x = a->choice[0].lo;
    int64_t y = b->choice[0].lo;
    int xy;
    int xm;
    int xd;
    int yy;
    int ym;
    int yd;
    mc_civil_from_days(x, &xy, &xm, &xd);
    mc_civil_from_days(y, &yy, &ym, &yd);
    return x != y && (mc_weekday_of_days(x) == mc_weekday_of_days(y) || xd == yd);
}

struct mc_calendar mc_calendar_at(const struct mc_tz *zone, struct mc_time asked_at)
{
    struct mc_time local = mc_tz_at(zone, asked_at.ms);
    struct mc_civil civil = mc_time_civil(local);
    const char *name = mc_tz_name(zone);
    struct mc_calendar c = {
        .year = civil.year, .month = civil.month, .day = civil.day, .zone = zone, .zone_offset = local.offset_min};
    c.today = mc_days_from_civil(civil.year, civil.month, civil.day);
    c.weekday = mc_weekday_of_days(c.today);
    c.month_first = mc_starts_with(name, "America/") || mc_starts_with(name, "US/") ||
                    mc_streq(name, "Pacific/Honolulu") || mc_streq(name, "UTC");
    return c;
}
