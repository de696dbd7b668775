/* Dates told from today or from another date. */
#include "grade/dates_parts.h"

#include <stdlib.h>
#include <string.h>

static struct mc_date day_of(int64_t day)
{
    return mc_date_span(day, day);
}

static struct mc_date year_of(int year)
{
    return mc_date_span(mc_days_from_civil(year, 1, 1), mc_days_from_civil(year, 12, 31));
}

static struct mc_date plus_months(const struct mc_calendar *c, int months)
{
    int at = c->year * 12 + c->month - 1 + months;
    return mc_date_month(at / 12, at % 12 + 1);
}

/* Monday of the week that holds `day`. */
static int64_t week_start(int64_t day)
{
    return day - (mc_weekday_of_days(day) + 6) % 7;
}

/* today, tomorrow, the day after tomorrow, last night */
static size_t read_near_day(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    static const struct {
        const char *words;
        int offset;
        size_t length;
    } table[] = {{"today", 0, 1}, {"tonight", 0, 1}, {"tomorrow", 1, 1},  {"tmrw", 1, 1},
                 {"tmr", 1, 1},   {"tomorow", 1, 1}, {"yesterday", -1, 1}};
    int64_t today = p->calendar->today;
    size_t the = mc_is(p, i, "the") ? 1 : 0;
    if (mc_is(p, i + the, "day") && mc_is(p, i + the + 1, "after") && mc_is(p, i + the + 2, "tomorrow")) {
        *out = day_of(today + 2);
        return the + 3;
    }
    if (mc_is(p, i + the, "day") && mc_is(p, i + the + 1, "before") && mc_is(p, i + the + 2, "yesterday")) {
        *out = day_of(today - 2);
        return the + 3;
    }
    if (mc_is(p, i, "last") && mc_is(p, i + 1, "night")) {
        *out = day_of(today - 1);
        return 2;
    }
    if (mc_is(p, i, "this") && mc_in(p, i + 1, " morning afternoon evening ")) {
        *out = day_of(today);
        return 2;
    }
    for (size_t k = 0; k < MC_COUNT(table); k++) {
        if (mc_is(p, i, table[k].words)) {
            *out = day_of(today + table[k].offset);
            return 1;
        }
    }
    return 0;
}

/* -1 last, 0 this, 1 next, 2 the one after next; the words taken, 0 where there is none. */
static size_t read_which(const struct mc_date_parser *p, size_t i, int *which)
{
    size_t the = mc_is(p, i, "the") ? 1 : 0;
    if (mc_in(p, i + the, " this coming upcoming ")) {
        *which = 0;
        return the + 1 + (size_t)mc_in(p, i + the + 1, " coming upcoming ") * (size_t)mc_is(p, i + the, "this");
    }
    if (mc_in(p, i + the, " next following ")) {
        *which = 1;
        return the + 1;
    }
    if (mc_in(p, i + the, " last past previous ")) {
        *which = -1;
        return the + 1;
    }
    return 0;
}

static int64_t weekday_of_week(int64_t monday, int weekday)
{
    return monday + (weekday + 6) % 7;
}

static struct mc_date qualified_weekday(const struct mc_calendar *c, int weekday, int which)
{
    int64_t coming = c->today + (weekday - c->weekday + 7) % 7;
    if (which == 0) {
        return day_of(coming);
    }
    if (which < 0) {
        return day_of(coming - 7);
    }
    return day_of(weekday_of_week(week_start(c->today) + 7, weekday));
}

/* "next week", "the week after next", "of next week": the Monday. */
static size_t read_week(const struct mc_date_parser *p, size_t i, int64_t *monday)
{
    size_t at = i + mc_skip_any(p, i, " of in ");
    int which;
    int64_t this_week = week_start(p->calendar->today);
    if (mc_is(p, at, "the") && mc_is(p, at + 1, "week") && mc_is(p, at + 2, "after") && mc_is(p, at + 3, "next")) {
        *monday = this_week + 14;
        return at + 4 - i;
    }
    size_t length = read_which(p, at, &which);
    if (length == 0 || !mc_is(p, at + length, "week")) {
        return 0;
    }
    *monday = this_week + 7 * (int64_t)which;
    return at + length + 1 - i;
}

/* "Saturday", "this Saturday", "Saturday, August 8", "Saturday the 8th", "Saturday of next week". */
static size_t read_weekday(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    int which = 0;
    size_t at = i + read_which(p, i, &which);
    int qualified = at > i;
    at += mc_skip(p, at, "on");
    int weekday = mc_weekday_at(p, at);
    if (weekday < 0) {
        return 0;
    }
    at++;
    const struct mc_calendar *c = p->calendar;
    *out = qualified_weekday(c, weekday, which);
    if (!qualified) {
        out->choices = 2;
        out->choice[1] = (struct mc_days){out->choice[0].lo - 7, out->choice[0].hi - 7};
    }
    if (mc_is(p, at, "week") && !qualified) {
        *out = day_of(out->choice[0].lo + 7); /* "Friday week" */
        return at + 1 - i;
    }
    int64_t monday;
    size_t week = read_week(p, at, &monday);
    if (week > 0 && !qualified) {
        *out = day_of(weekday_of_week(monday, weekday));
        return at + week - i;
    }
    size_t rest = at + mc_skip_any(p, at, " night morning afternoon evening noon ");
    rest = mc_skip_comma(p, rest) + mc_skip(p, mc_skip_comma(p, rest), "(");
    struct mc_date date;
    size_t length = mc_date_absolute(p, rest, &date);
    if (length == 0 || date.choice[0].lo != date.choice[0].hi) {
        return at - i;
    }
    /* Both must agree; of "Saturday the 8th" the choice that is a Saturday. */
    int fits = 0;
    struct mc_date agreed = date;
    for (int k = 0; k < date.choices; k++) {
        if (mc_weekday_of_days(date.choice[k].lo) == weekday && !fits) {
            fits = 1;
            agreed = day_of(date.choice[k].lo);
        }
    }
    *out = agreed;
    out->conflict = !fits;
    return rest + length - i;
}

/* "this week", "next weekend", "last month", "next year". */
static size_t read_unit(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    int which;
    size_t length = read_which(p, i, &which);
    const struct mc_calendar *c = p->calendar;
    if (length == 0) {
        return 0;
    }
    size_t at = i + length;
    int64_t monday = week_start(c->today) + 7 * (int64_t)which;
    if (mc_is(p, at, "week")) {
        *out = mc_date_span(monday, monday + 6);
    } else if (mc_is(p, at, "weekend")) {
        *out = mc_date_span(monday + 5, monday + 6);
    } else if (mc_is(p, at, "month")) {
        *out = plus_months(c, which);
    } else if (mc_is(p, at, "year")) {
        *out = year_of(c->year + which);
    } else {
        int month = mc_month_at(p, at);
        if (!month) {
            return 0;
        }
        int year = c->year + (which > 0 && month <= c->month) - (which < 0 && month >= c->month);
        *out = mc_date_month(year, month);
    }
    return length + 1;
}

/* A count of units: "3 days", "two weeks", "a few days", "a month". In days, or months where `months` is set. */
static size_t read_distance(const struct mc_date_parser *p, size_t i, int *lo, int *hi, int *months)
{
    size_t at = i + mc_skip_any(p, i, " about around roughly nearly almost just exactly ");
    size_t length = mc_small_number_read(p->words, at, lo);
    *hi = *lo;
    if (length == 0) {
        if (mc_is(p, at, "a") && mc_is(p, at + 1, "few")) {
            *lo = 2;
            *hi = 5;
            length = 2;
        } else if (mc_is(p, at, "several") || mc_is(p, at, "few")) {
            *lo = 2;
            *hi = 5;
            length = 1;
        } else if (mc_in(p, at, " a an the ")) {
            *lo = *hi = 1;
            length = 1;
        } else {
            return 0;
        }
    }
    at += length;
    at += mc_skip(p, at, "of");
    int unit = mc_in(p, at, " day days ") ? 1 : mc_in(p, at, " week weeks ") ? 7 : 0;
    *months = mc_in(p, at, " month months ") ? 1 : mc_in(p, at, " year years ") ? 12 : 0;
    if (!unit && !*months) {
        return 0;
    }
    *lo *= unit ? unit : *months;
    *hi *= unit ? unit : *months;
    return at + 1 - i;
}

static struct mc_date shifted(const struct mc_calendar *c, int64_t base, int lo, int hi, int months, int sign)
{
    if (!months) {
        int64_t a = base + (int64_t)sign * lo;
        int64_t b = base + (int64_t)sign * hi;
        return a < b ? mc_date_span(a, b) : mc_date_span(b, a);
    }
    struct mc_calendar from = *c;
    mc_civil_from_days(base, &from.year, &from.month, &from.day);
    if (months == 12) {
        int years = sign * lo / 12;
        int other = sign * hi / 12;
        return mc_date_span(mc_days_from_civil(from.year + (years < other ? years : other), 1, 1),
                            mc_days_from_civil(from.year + (years < other ? other : years), 12, 31));
    }
    struct mc_date a = plus_months(&from, sign * lo);
    struct mc_date b = plus_months(&from, sign * hi);
    return mc_date_span(a.choice[0].lo < b.choice[0].lo ? a.choice[0].lo : b.choice[0].lo,
                        a.choice[0].hi > b.choice[0].hi ? a.choice[0].hi : b.choice[0].hi);
}

/* "in three days", "two weeks ago", "10 years ago", "a week from Saturday". */
static size_t read_ago(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    int forward = mc_is(p, i, "in");
    int lo;
    int hi;
    int months;
    size_t length = read_distance(p, i + (size_t)forward, &lo, &hi, &months);
    if (length == 0) {
        return 0;
    }
    size_t at = i + (size_t)forward + length;
    const struct mc_calendar *c = p->calendar;
    if (forward) {
        *out = shifted(c, c->today, lo, hi, months, 1);
        return at - i;
    }
    int last_weekday = mc_is(p, at, "ago") ? mc_weekday_at(p, at + 1) : -1;
    if (last_weekday >= 0 && !months) {
        *out = day_of(qualified_weekday(c, last_weekday, -1).choice[0].lo - lo); /* "a week ago Monday" */
        return at + 2 - i;
    }
    if (mc_is(p, at, "ago")) {
        *out = shifted(c, c->today, lo, hi, months, -1);
        return at + 1 - i;
    }
    if (mc_is(p, at, "from") && mc_in(p, at + 1, " now today tomorrow yesterday ")) {
        int near = mc_is(p, at + 1, "tomorrow") ? 1 : mc_is(p, at + 1, "yesterday") ? -1 : 0;
        *out = shifted(c, c->today + near, lo, hi, months, 1);
        return at + 2 - i;
    }
    if (mc_is(p, at, "from")) {
        int which = 0;
        size_t skip = read_which(p, at + 1, &which);
        int weekday = mc_weekday_at(p, at + 1 + skip);
        if (weekday >= 0) {
            *out = shifted(c, qualified_weekday(c, weekday, skip ? which : 0).choice[0].lo, lo, hi, months, 1);
            return at + 2 + skip - i;
        }
    }
    return 0;
}

static size_t read_part_of_month(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    size_t the = mc_is(p, i, "the") ? 1 : 0;
    size_t at = i + the;
    int part = mc_in(p, at, " early beginning start ") ? 1
               : mc_in(p, at, " mid middle ")          ? 2
               : mc_in(p, at, " late end ")            ? 3
                                                       : 0;
    if (!part) {
        return 0;
    }
    at++;
    at += mc_skip(p, at, "-");
    at += mc_skip(p, at, "of");
    at += mc_skip(p, at, "the");
    int month = mc_month_at(p, at);
    int year = 0;
    if (!month && mc_is_year_at(p, at)) {
        year = mc_norm_number(mc_word_at(p->words, at));
        int first = part == 1 ? 1 : part == 2 ? 5 : 9;
        *out = mc_date_span(mc_days_from_civil(year, first, 1), mc_date_month(year, first + 3).choice[0].hi);
        return at + 1 - i;
    }
    if (!month) {
        return 0;
    }
    size_t end = mc_optional_year(p, at + 1, &year);
    year = year ? year : mc_nearest_year(p->calendar, month, 15);
    int64_t first = mc_days_from_civil(year, month, 1);
    int days = mc_days_in_month(year, month);
    *out = part == 1   ? mc_date_span(first, first + 9)
           : part == 2 ? mc_date_span(first + 10, first + 19)
                       : mc_date_span(first + 20, first + days - 1);
    return end - i;
}

/* "the second week of November 2023", "first weekend of August", "last Friday in July 2023". */
static size_t read_nth(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    size_t at = i + mc_skip(p, i, "the");
    int last = mc_in(p, at, " last final ");
    int nth = last ? 0 : mc_ordinal_of(mc_word_at(p->words, at));
    size_t length = 1;
    int day;
    int ordinal;
    if (!last && !nth) {
        length = mc_day_number_at(p, at, &day, &ordinal);
        nth = length > 0 && ordinal ? day : 0;
    }
    if (!last && (nth < 1 || nth > 5)) {
        return 0;
    }
    at += length;
    int weekday = mc_weekday_at(p, at);
    int week = mc_in(p, at, " week ");
    int weekend = mc_in(p, at, " weekend ");
    if ((!week && !weekend && weekday < 0) || !mc_in(p, at + 1, " of in ")) {
        return 0;
    }
    at += 2;
    int month = mc_month_at(p, at);
    int year = 0;
    if (!month) {
        return 0;
    }
    size_t end = mc_optional_year(p, at + 1, &year);
    year = year ? year : mc_nearest_year(p->calendar, month, 15);
    int64_t first = mc_days_from_civil(year, month, 1);
    int days = mc_days_in_month(year, month);
    if (week) {
        int64_t lo = last ? first + days - 7 : first + 7 * (int64_t)(nth - 1);
        *out = mc_date_span(lo, lo + 6);
        return end - i;
    }
    int want = weekend ? 6 : weekday;
    int64_t hit = first + (want - mc_weekday_of_days(first) + 7) % 7 + 7 * (int64_t)(last ? 3 : nth - 1);
    if (last && hit + 7 < first + days) {
        hit += 7;
    }
    *out = mc_date_span(hit, hit + weekend);
    return end - i;
}

/* "the week before 9 June 2023", "a few days after May 24", "Friday before 13 March", "the day before". */
static size_t read_beside(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    size_t at = i + mc_skip(p, i, "the");
    int lo = 1;
    int hi = 1;
    int months = 0;
    int weekday = mc_weekday_at(p, at);
    int weekend = mc_is(p, at, "weekend");
    int week = mc_is(p, at, "week");
    size_t length = 1;
    if (weekday < 0 && !weekend && !week) {
        length = at > i && mc_in(p, at, " day month year ") ? read_distance(p, i, &lo, &hi, &months) - 1
                                                            : read_distance(p, at, &lo, &hi, &months);
    }
    if (length == 0 || length > 6 || !mc_in(p, at + length, " before after of following prior ")) {
        return 0;
    }
    size_t word = at + length;
    int before = mc_in(p, word, " before prior ");
    size_t from = word + 1 + mc_skip(p, word + 1, "to");
    struct mc_date anchor;
    size_t taken = mc_date_absolute(p, from, &anchor);
    if (taken == 0) {
        taken = read_weekday(p, from, &anchor);
    }
    if (taken == 0 || (mc_is(p, word, "of") && !week && !weekend)) {
        return 0;
    }
    int64_t day = before ? anchor.choice[0].lo : anchor.choice[0].hi;
    int sign = before ? -1 : 1;
    if (weekday >= 0) {
        int64_t away =
            before ? (mc_weekday_of_days(day) - weekday + 6) % 7 + 1 : (weekday - mc_weekday_of_days(day) + 6) % 7 + 1;
        *out = day_of(day + sign * away);
    } else if (mc_is(p, word, "of")) {
        *out = weekend ? mc_date_span(week_start(day) + 5, week_start(day) + 6)
                       : mc_date_span(anchor.choice[0].lo, anchor.choice[0].lo + 6);
    } else if (weekend) {
        int64_t saturday = before ? day - (mc_weekday_of_days(day) + 1) % 7 : day + (6 - mc_weekday_of_days(day));
        saturday -= before && saturday >= day ? 7 : 0;
        *out = mc_date_span(saturday, saturday + 1);
    } else if (week) {
        *out = before ? mc_date_span(day - 7, day - 1) : mc_date_span(day + 1, day + 7);
    } else {
        *out = shifted(p->calendar, day, lo, hi, months, sign);
    }
    return from + taken - i;
}

static size_t read_season(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    int first = mc_is(p, i, "spring")          ? 3
                : mc_is(p, i, "summer")        ? 6
                : mc_in(p, i, " fall autumn ") ? 9
                : mc_is(p, i, "winter")        ? 12
                                               : 0;
    int year = 0;
    size_t end = first ? mc_optional_year(p, i + 1, &year) : i;
    if (!first || !year) {
        return 0;
    }
    int64_t lo = mc_days_from_civil(year, first, 1);
    *out = first == 12 ? mc_date_span(lo, mc_days_from_civil(year + 1, 3, 1) - 1)
                       : mc_date_span(lo, mc_date_month(year, first + 2).choice[0].hi);
    return end - i;
}

static size_t read_year(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    if (!mc_is_year_at(p, i)) {
        return 0;
    }
    *out = year_of(mc_norm_number(mc_word_at(p->words, i)));
    return 1;
}

/* "between 26 March and 20 April 2023", "from Friday to Sunday". */
static size_t read_between(const struct mc_date_parser *p, size_t i, struct mc_date *out)
{
    if (!mc_in(p, i, " between from ") || (mc_is(p, i, "from") && mc_change_before(p->words, i))) {
        return 0;
    }
    struct mc_date a;
    struct mc_date b;
    size_t first = mc_date_absolute(p, i + 1, &a);
    if (first == 0 || !mc_in(p, i + 1 + first, " and to - until through ")) {
        return 0;
    }
    size_t second = mc_date_absolute(p, i + 2 + first, &b);
    if (second == 0) {
        return 0;
    }
    /* The year at the end goes for both. */
    int year;
    int month;
    int day;
    mc_civil_from_days(a.choice[0].lo, &year, &month, &day);
    int end_year;
    int end_month;
    int end_day;
    mc_civil_from_days(b.choice[0].hi, &end_year, &end_month, &end_day);
    if (day <= mc_days_in_month(end_year, month)) {
        int64_t lo = mc_days_from_civil(end_year, month, day);
        *out = mc_date_span(lo <= b.choice[0].hi ? lo : a.choice[0].lo, b.choice[0].hi);
    } else {
        *out = mc_date_span(a.choice[0].lo, b.choice[0].hi);
    }
    return 2 + first + second;
}

mc_date_reader *const mc_date_relative[] = {read_near_day,      read_weekday, read_unit,   read_ago,
                                            read_part_of_month, read_nth,     read_beside, read_season,
                                            read_between,       read_year,    NULL};
