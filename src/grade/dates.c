#include "grade/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What has been read so far of one date. */
struct parser {
    const struct mc_words *words;
    const struct mc_calendar *calendar;
};

static int is(const struct parser *p, size_t i, const char *norm)
{
    return mc_word_is(p->words, i, norm);
}

static int in(const struct parser *p, size_t i, const char *list)
{
    return mc_word_in(p->words, i, list);
}

/* 1 where that word stands at `i`, to step over it. */
static size_t skip(const struct parser *p, size_t i, const char *norm)
{
    return mc_word_is(p->words, i, norm) ? 1 : 0;
}

static size_t skip_any(const struct parser *p, size_t i, const char *list)
{
    return mc_word_in(p->words, i, list) ? 1 : 0;
}

static size_t skip_comma(const struct parser *p, size_t i)
{
    return is(p, i, ",") ? i + 1 : i;
}

static struct mc_date span(int64_t lo, int64_t hi)
{
    return (struct mc_date){.choice = {{lo, hi}, {lo, hi}}, .choices = 1};
}

static struct mc_date day_of(int64_t day)
{
    return span(day, day);
}

static struct mc_date month_of(int year, int month)
{
    int64_t first = mc_days_from_civil(year, month, 1);
    return span(first, first + mc_days_in_month(year, month) - 1);
}

static struct mc_date year_of(int year)
{
    return span(mc_days_from_civil(year, 1, 1), mc_days_from_civil(year, 12, 31));
}

static struct mc_date plus_months(const struct mc_calendar *c, int months)
{
    int at = c->year * 12 + c->month - 1 + months;
    return month_of(at / 12, at % 12 + 1);
}

/* Monday of the week that holds `day`. */
static int64_t week_start(int64_t day)
{
    return day - (mc_weekday_of_days(day) + 6) % 7;
}

static int weekday_at(const struct parser *p, size_t i)
{
    static const char *const names[] = {" sunday sundays ",    " monday mondays ", " tuesday tuesdays tue tues ",
                                        " wednesday wednesdays ", " thursday thursdays thu thur thurs ",
                                        " friday fridays fri ",   " saturday saturdays "};
    static const char *const capital[] = {"sun", "mon", "", "wed", "", "fri", "sat"};
    if (i >= p->words->count || p->words->items[i].kind != MC_WORD_ALPHA || mc_word_joined_before(p->words, i)) {
        return -1;
    }
    if (i > 0 && p->words->items[i - 1].upper &&
        in(p, i - 1, " good black cyber ash palm easter super fat holy maundy ")) {
        return -1; /* "Good Friday" is a day of its own */
    }
    for (int d = 0; d < 7; d++) {
        if (in(p, i, names[d]) || (p->words->items[i].upper && is(p, i, capital[d]) && capital[d][0])) {
            return d;
        }
    }
    return -1;
}

static int is_year(const struct parser *p, size_t i)
{
    if (i >= p->words->count) {
        return 0;
    }
    const struct mc_word *word = &p->words->items[i];
    if (word->kind != MC_WORD_NUMBER || word->end - word->start != 4 || strlen(word->norm) != 4 ||
        mc_word_joined_before(p->words, i) || mc_word_joined_after(p->words, i)) {
        return 0;
    }
    int year = atoi(word->norm);
    return year >= 1900 && year <= 2100 && !(i > 0 && in(p, i - 1, " $ # € £ "));
}

static int year_at(const struct parser *p, size_t i)
{
    return atoi(mc_word_at(p->words, i));
}

static int is_whole_word(const struct parser *p, size_t i)
{
    const char *norm = mc_word_at(p->words, i);
    return i < p->words->count && p->words->items[i].kind == MC_WORD_NUMBER && strlen(norm) <= 2 &&
           norm[strspn(norm, "0123456789")] == '\0';
}

static int ordinal_word(const char *norm)
{
    static const char *const names[] = {"first",      "second",      "third",       "fourth",     "fifth",
                                        "sixth",      "seventh",     "eighth",      "ninth",      "tenth",
                                        "eleventh",   "twelfth",     "thirteenth",  "fourteenth", "fifteenth",
                                        "sixteenth",  "seventeenth", "eighteenth",  "nineteenth", "twentieth"};
    for (int i = 0; i < (int)MC_COUNT(names); i++) {
        if (strcmp(norm, names[i]) == 0) {
            return i + 1;
        }
    }
    return strcmp(norm, "thirtieth") == 0 ? 30 : 0;
}

/* A day of the month at `i`: its words, and whether it is an ordinal. */
static size_t day_number(const struct parser *p, size_t i, int *day, int *ordinal)
{
    *ordinal = 0;
    if (is_whole_word(p, i)) {
        *day = atoi(mc_word_at(p->words, i));
        if (*day < 1 || *day > 31) {
            return 0;
        }
        if (i + 1 < p->words->count && p->words->items[i + 1].glued && in(p, i + 1, " st nd rd th ")) {
            *ordinal = 1;
            return 2;
        }
        return mc_word_joined_after(p->words, i) && !in(p, i + 1, " - ") ? 0 : 1;
    }
    int value = ordinal_word(mc_word_at(p->words, i));
    if (value) {
        *day = value;
        *ordinal = 1;
        return 1;
    }
    if (in(p, i, " twenty thirty ")) {
        size_t next = i + (is(p, i + 1, "-") ? 2 : 1);
        value = ordinal_word(mc_word_at(p->words, next));
        *day = (is(p, i, "twenty") ? 20 : 30) + value;
        *ordinal = 1;
        return value >= 1 && value <= 9 && *day <= 31 ? next + 1 - i : 0;
    }
    return 0;
}

static int month_at(const struct parser *p, size_t i)
{
    static const char *const names[] = {" january jan ",   " february feb ", " march mar ",      " april apr ",
                                        " may ",           " june jun ",     " july jul ",       " august aug ",
                                        " september sep sept ", " october oct ", " november nov ", " december dec "};
    if (i >= p->words->count || p->words->items[i].kind != MC_WORD_ALPHA) {
        return 0;
    }
    for (int m = 0; m < 12; m++) {
        if (!in(p, i, names[m])) {
            continue;
        }
        /* "may", "march" and the like are also other words: they need a capital (or a number beside them). */
        if (in(p, i, " may march mar jan jun dec sep ") && !p->words->items[i].upper) {
            int day;
            int ordinal;
            int beside = is_year(p, i + 1) || day_number(p, i + 1, &day, &ordinal) > 0 ||
                         (i > 0 && (is_whole_word(p, i - 1) || in(p, i - 1, " st nd rd th of in by last next mid early late ")));
            return beside && !(is(p, i, "may") && in(p, i + 1, " be have ")) ? m + 1 : 0;
        }
        if (is(p, i, "may") && in(p, i + 1, " i be have not he she it they we you ")) {
            return 0;
        }
        return m + 1;
    }
    return 0;
}

/* The year in which month and day lie nearest to today. */
static int nearest_year(const struct mc_calendar *c, int month, int day)
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

static int make_day(const struct parser *p, int year, int month, int day, struct mc_date *out)
{
    if (month < 1 || month > 12 || day < 1) {
        return 0;
    }
    int y = year ? year : nearest_year(p->calendar, month, day);
    if (day > mc_days_in_month(y, month)) {
        return 0;
    }
    *out = day_of(mc_days_from_civil(y, month, day));
    return 1;
}

/* Reads an optional ", 2026" or "of 2026" or "this/next/last year"; the end. */
static size_t optional_year(const struct parser *p, size_t i, int *year)
{
    size_t at = skip_comma(p, i);
    at = in(p, at, " of in ") && is_year(p, at + 1) ? at + 1 : at;
    if (is_year(p, at)) {
        *year = year_at(p, at);
        return at + 1;
    }
    if (in(p, at, " this next last ") && is(p, at + 1, "year")) {
        *year = p->calendar->year + (is(p, at, "next") ? 1 : is(p, at, "last") ? -1 : 0);
        return at + 2;
    }
    return i;
}

static size_t read_iso(const struct parser *p, size_t i, struct mc_date *out)
{
    const struct mc_words *w = p->words;
    if (!(i < w->count && w->items[i].kind == MC_WORD_NUMBER && strlen(w->items[i].norm) == 4 && i + 4 < w->count &&
          in(p, i + 1, " - / ") && is_whole_word(p, i + 2) && in(p, i + 3, " - / ") && is_whole_word(p, i + 4))) {
        return 0;
    }
    for (size_t k = i + 1; k <= i + 4; k++) {
        if (!w->items[k].glued) {
            return 0;
        }
    }
    if (atoi(w->items[i].norm) < 1900) {
        return 0;
    }
    return make_day(p, atoi(w->items[i].norm), atoi(w->items[i + 2].norm), atoi(w->items[i + 4].norm), out) ? 5 : 0;
}

static size_t read_slashed(const struct parser *p, size_t i, struct mc_date *out)
{
    const struct mc_words *w = p->words;
    if (!is_whole_word(p, i) || !is(p, i + 1, "/") || !is_whole_word(p, i + 2) || !w->items[i + 1].glued ||
        !w->items[i + 2].glued || mc_word_joined_before(w, i) || (i > 0 && is(p, i - 1, "/"))) {
        return 0;
    }
    int a = atoi(w->items[i].norm);
    int b = atoi(w->items[i + 2].norm);
    int year = 0;
    size_t length = 3;
    if (is(p, i + 3, "/") && i + 4 < w->count && w->items[i + 4].kind == MC_WORD_NUMBER && w->items[i + 3].glued) {
        year = atoi(w->items[i + 4].norm);
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
static size_t read_month_first(const struct parser *p, size_t i, struct mc_date *out)
{
    int month = month_at(p, i);
    if (!month) {
        return 0;
    }
    size_t at = i + 1;
    at += skip(p, at, ".") && at + 1 < p->words->count && p->words->items[at].glued &&
          p->words->items[at + 1].kind == MC_WORD_NUMBER;
    at += skip(p, at, "the");
    int day = 0;
    int ordinal;
    int year = 0;
    size_t length = is_year(p, at) ? 0 : day_number(p, at, &day, &ordinal);
    if (length > 0 && in(p, at + length, " : am pm o'clock ")) {
        length = 0; /* a time of day */
    }
    if (length == 0) {
        size_t end = optional_year(p, i + 1, &year);
        *out = month_of(year ? year : nearest_year(p->calendar, month, 15), month);
        return end - i;
    }
    size_t end = at + length;
    int last = 0;
    if (in(p, end, " - ") && (length = day_number(p, end + 1, &last, &ordinal)) > 0) {
        end += 1 + length;
    }
    end = optional_year(p, end, &year);
    if (!make_day(p, year, month, day, out)) {
        return 0;
    }
    if (last > day) {
        out->choice[0].hi += last - day;
    }
    return end - i;
}

/* "8 August 2026", "the 8th of August", "12August, 2022". */
static size_t read_day_first(const struct parser *p, size_t i, struct mc_date *out)
{
    size_t at = i + skip(p, i, "the");
    int day;
    int ordinal;
    int glued_month = is_whole_word(p, at) && at + 1 < p->words->count && p->words->items[at + 1].glued &&
                      month_at(p, at + 1) != 0;
    size_t length = glued_month ? 1 : day_number(p, at, &day, &ordinal);
    if (length == 0 || mc_word_joined_before(p->words, at)) {
        return 0;
    }
    if (glued_month) {
        day = atoi(mc_word_at(p->words, at));
    }
    at += length;
    at += skip(p, at, "of");
    int month = month_at(p, at);
    if (!month) {
        return 0;
    }
    int year = 0;
    size_t end = optional_year(p, at + 1 + (is(p, at + 1, ".") && is_year(p, at + 2)), &year);
    return make_day(p, year, month, day, out) ? end - i : 0;
}

/* A noun after an ordinal makes it something else: "the 12th floor". */
static int noun_follows(const struct parser *p, size_t i)
{
    if (i >= p->words->count || p->words->items[i].kind == MC_WORD_MARK) {
        return is(p, i, "-") && p->words->items[i].glued;
    }
    if (p->words->items[i].kind == MC_WORD_NUMBER) {
        return 0;
    }
    return !in(p, i,
               " at on in is was are were will would for and or but not from to by with until of as because since so if when "
               "instead it its he she they we i you that this works sounds should now then around about starting after "
               "before between rather which 's has had won't n't may might can could than too also still unless though "
               "morning afternoon evening night noon midday at though , ");
}

/* "the 12th", "on the twelfth": this month's or the nearest other. The coming one is the first choice. */
static size_t read_bare_day(const struct parser *p, size_t i, struct mc_date *out)
{
    size_t at = i + skip(p, i, "the");
    int day;
    int ordinal;
    size_t length = day_number(p, at, &day, &ordinal);
    if (length == 0 || !ordinal || mc_word_joined_before(p->words, at) || noun_follows(p, at + length)) {
        return 0;
    }
    if (at == i && ordinal_word(mc_word_at(p->words, at))) {
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

static size_t read_absolute(const struct parser *p, size_t i, struct mc_date *out)
{
    static size_t (*const readers[])(const struct parser *, size_t, struct mc_date *) = {
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

/* today, tomorrow, the day after tomorrow, last night */
static size_t read_near_day(const struct parser *p, size_t i, struct mc_date *out)
{
    static const struct {
        const char *words;
        int offset;
        size_t length;
    } table[] = {{"today", 0, 1}, {"tonight", 0, 1}, {"tomorrow", 1, 1}, {"tmrw", 1, 1}, {"tmr", 1, 1},
                 {"tomorow", 1, 1}, {"yesterday", -1, 1}};
    int64_t today = p->calendar->today;
    size_t the = is(p, i, "the") ? 1 : 0;
    if (is(p, i + the, "day") && is(p, i + the + 1, "after") && is(p, i + the + 2, "tomorrow")) {
        *out = day_of(today + 2);
        return the + 3;
    }
    if (is(p, i + the, "day") && is(p, i + the + 1, "before") && is(p, i + the + 2, "yesterday")) {
        *out = day_of(today - 2);
        return the + 3;
    }
    if (is(p, i, "last") && is(p, i + 1, "night")) {
        *out = day_of(today - 1);
        return 2;
    }
    if (is(p, i, "this") && in(p, i + 1, " morning afternoon evening ")) {
        *out = day_of(today);
        return 2;
    }
    for (size_t k = 0; k < MC_COUNT(table); k++) {
        if (is(p, i, table[k].words)) {
            *out = day_of(today + table[k].offset);
            return 1;
        }
    }
    return 0;
}

/* -1 last, 0 this, 1 next, 2 the one after next; the words taken, 0 where there is none. */
static size_t read_which(const struct parser *p, size_t i, int *which)
{
    size_t the = is(p, i, "the") ? 1 : 0;
    if (in(p, i + the, " this coming upcoming ")) {
        *which = 0;
        return the + 1 + (size_t)in(p, i + the + 1, " coming upcoming ") * (size_t)is(p, i + the, "this");
    }
    if (in(p, i + the, " next following ")) {
        *which = 1;
        return the + 1;
    }
    if (in(p, i + the, " last past previous ")) {
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
static size_t read_week(const struct parser *p, size_t i, int64_t *monday)
{
    size_t at = i + skip_any(p, i, " of in ");
    int which;
    int64_t this_week = week_start(p->calendar->today);
    if (is(p, at, "the") && is(p, at + 1, "week") && is(p, at + 2, "after") && is(p, at + 3, "next")) {
        *monday = this_week + 14;
        return at + 4 - i;
    }
    size_t length = read_which(p, at, &which);
    if (length == 0 || !is(p, at + length, "week")) {
        return 0;
    }
    *monday = this_week + 7 * (int64_t)which;
    return at + length + 1 - i;
}

/* "Saturday", "this Saturday", "Saturday, August 8", "Saturday the 8th", "Saturday of next week". */
static size_t read_weekday(const struct parser *p, size_t i, struct mc_date *out)
{
    int which = 0;
    size_t at = i + read_which(p, i, &which);
    int qualified = at > i;
    at += skip(p, at, "on");
    int weekday = weekday_at(p, at);
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
    if (is(p, at, "week") && !qualified) {
        *out = day_of(out->choice[0].lo + 7); /* "Friday week" */
        return at + 1 - i;
    }
    int64_t monday;
    size_t week = read_week(p, at, &monday);
    if (week > 0 && !qualified) {
        *out = day_of(weekday_of_week(monday, weekday));
        return at + week - i;
    }
    size_t rest = at + skip_any(p, at, " night morning afternoon evening noon ");
    rest = skip_comma(p, rest) + skip(p, skip_comma(p, rest), "(");
    struct mc_date date;
    size_t length = read_absolute(p, rest, &date);
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
static size_t read_unit(const struct parser *p, size_t i, struct mc_date *out)
{
    int which;
    size_t length = read_which(p, i, &which);
    const struct mc_calendar *c = p->calendar;
    if (length == 0) {
        return 0;
    }
    size_t at = i + length;
    int64_t monday = week_start(c->today) + 7 * (int64_t)which;
    if (is(p, at, "week")) {
        *out = span(monday, monday + 6);
    } else if (is(p, at, "weekend")) {
        *out = span(monday + 5, monday + 6);
    } else if (is(p, at, "month")) {
        *out = plus_months(c, which);
    } else if (is(p, at, "year")) {
        *out = year_of(c->year + which);
    } else {
        int month = month_at(p, at);
        if (!month) {
            return 0;
        }
        int year = c->year + (which > 0 && month <= c->month) - (which < 0 && month >= c->month);
        *out = month_of(year, month);
    }
    return length + 1;
}

/* A count of units: "3 days", "two weeks", "a few days", "a month". In days, or months where `months` is set. */
static size_t read_distance(const struct parser *p, size_t i, int *lo, int *hi, int *months)
{
    size_t at = i + skip_any(p, i, " about around roughly nearly almost just exactly ");
    size_t length = mc_small_number_read(p->words, at, lo);
    *hi = *lo;
    if (length == 0) {
        if (is(p, at, "a") && is(p, at + 1, "few")) {
            *lo = 2;
            *hi = 5;
            length = 2;
        } else if (is(p, at, "several") || is(p, at, "few")) {
            *lo = 2;
            *hi = 5;
            length = 1;
        } else if (in(p, at, " a an the ")) {
            *lo = *hi = 1;
            length = 1;
        } else {
            return 0;
        }
    }
    at += length;
    at += skip(p, at, "of");
    int unit = in(p, at, " day days ") ? 1 : in(p, at, " week weeks ") ? 7 : 0;
    *months = in(p, at, " month months ") ? 1 : in(p, at, " year years ") ? 12 : 0;
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
        return a < b ? span(a, b) : span(b, a);
    }
    struct mc_calendar from = *c;
    mc_civil_from_days(base, &from.year, &from.month, &from.day);
    if (months == 12) {
        int years = sign * lo / 12;
        int other = sign * hi / 12;
        return span(mc_days_from_civil(from.year + (years < other ? years : other), 1, 1),
                    mc_days_from_civil(from.year + (years < other ? other : years), 12, 31));
    }
    struct mc_date a = plus_months(&from, sign * lo);
    struct mc_date b = plus_months(&from, sign * hi);
    return span(a.choice[0].lo < b.choice[0].lo ? a.choice[0].lo : b.choice[0].lo,
                a.choice[0].hi > b.choice[0].hi ? a.choice[0].hi : b.choice[0].hi);
}

/* "in three days", "two weeks ago", "10 years ago", "a week from Saturday". */
static size_t read_ago(const struct parser *p, size_t i, struct mc_date *out)
{
    int forward = is(p, i, "in");
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
    int last_weekday = is(p, at, "ago") ? weekday_at(p, at + 1) : -1;
    if (last_weekday >= 0 && !months) {
        *out = day_of(qualified_weekday(c, last_weekday, -1).choice[0].lo - lo); /* "a week ago Monday" */
        return at + 2 - i;
    }
    if (is(p, at, "ago")) {
        *out = shifted(c, c->today, lo, hi, months, -1);
        return at + 1 - i;
    }
    if (is(p, at, "from") && in(p, at + 1, " now today tomorrow yesterday ")) {
        int near = is(p, at + 1, "tomorrow") ? 1 : is(p, at + 1, "yesterday") ? -1 : 0;
        *out = shifted(c, c->today + near, lo, hi, months, 1);
        return at + 2 - i;
    }
    if (is(p, at, "from")) {
        int which = 0;
        size_t skip = read_which(p, at + 1, &which);
        int weekday = weekday_at(p, at + 1 + skip);
        if (weekday >= 0) {
            *out = shifted(c, qualified_weekday(c, weekday, skip ? which : 0).choice[0].lo, lo, hi, months, 1);
            return at + 2 + skip - i;
        }
    }
    return 0;
}

static size_t read_part_of_month(const struct parser *p, size_t i, struct mc_date *out)
{
    size_t the = is(p, i, "the") ? 1 : 0;
    size_t at = i + the;
    int part = in(p, at, " early beginning start ") ? 1 : in(p, at, " mid middle ") ? 2 : in(p, at, " late end ") ? 3 : 0;
    if (!part) {
        return 0;
    }
    at++;
    at += skip(p, at, "-");
    at += skip(p, at, "of");
    at += skip(p, at, "the");
    int month = month_at(p, at);
    int year = 0;
    if (!month && is_year(p, at)) {
        year = year_at(p, at);
        int first = part == 1 ? 1 : part == 2 ? 5 : 9;
        *out = span(mc_days_from_civil(year, first, 1), month_of(year, first + 3).choice[0].hi);
        return at + 1 - i;
    }
    if (!month) {
        return 0;
    }
    size_t end = optional_year(p, at + 1, &year);
    year = year ? year : nearest_year(p->calendar, month, 15);
    int64_t first = mc_days_from_civil(year, month, 1);
    int days = mc_days_in_month(year, month);
    *out = part == 1 ? span(first, first + 9) : part == 2 ? span(first + 10, first + 19) : span(first + 20, first + days - 1);
    return end - i;
}

/* "the second week of November 2023", "first weekend of August", "last Friday in July 2023". */
static size_t read_nth(const struct parser *p, size_t i, struct mc_date *out)
{
    size_t at = i + skip(p, i, "the");
    int last = in(p, at, " last final ");
    int nth = last ? 0 : ordinal_word(mc_word_at(p->words, at));
    size_t length = 1;
    int day;
    int ordinal;
    if (!last && !nth) {
        length = day_number(p, at, &day, &ordinal);
        nth = length > 0 && ordinal ? day : 0;
    }
    if (!last && (nth < 1 || nth > 5)) {
        return 0;
    }
    at += length;
    int weekday = weekday_at(p, at);
    int week = in(p, at, " week ");
    int weekend = in(p, at, " weekend ");
    if ((!week && !weekend && weekday < 0) || !in(p, at + 1, " of in ")) {
        return 0;
    }
    at += 2;
    int month = month_at(p, at);
    int year = 0;
    if (!month) {
        return 0;
    }
    size_t end = optional_year(p, at + 1, &year);
    year = year ? year : nearest_year(p->calendar, month, 15);
    int64_t first = mc_days_from_civil(year, month, 1);
    int days = mc_days_in_month(year, month);
    if (week) {
        int64_t lo = last ? first + days - 7 : first + 7 * (int64_t)(nth - 1);
        *out = span(lo, lo + 6);
        return end - i;
    }
    int want = weekend ? 6 : weekday;
    int64_t hit = first + (want - mc_weekday_of_days(first) + 7) % 7 + 7 * (int64_t)(last ? 3 : nth - 1);
    if (last && hit + 7 < first + days) {
        hit += 7;
    }
    *out = span(hit, hit + weekend);
    return end - i;
}

/* "the week before 9 June 2023", "a few days after May 24", "Friday before 13 March", "the day before". */
static size_t read_beside(const struct parser *p, size_t i, struct mc_date *out)
{
    size_t at = i + skip(p, i, "the");
    int lo = 1;
    int hi = 1;
    int months = 0;
    int weekday = weekday_at(p, at);
    int weekend = is(p, at, "weekend");
    int week = is(p, at, "week");
    size_t length = 1;
    if (weekday < 0 && !weekend && !week) {
        length = at > i && in(p, at, " day month year ") ? read_distance(p, i, &lo, &hi, &months) - 1
                                                          : read_distance(p, at, &lo, &hi, &months);
    }
    if (length == 0 || length > 6 || !in(p, at + length, " before after of following prior ")) {
        return 0;
    }
    size_t word = at + length;
    int before = in(p, word, " before prior ");
    size_t from = word + 1 + skip(p, word + 1, "to");
    struct mc_date anchor;
    size_t taken = read_absolute(p, from, &anchor);
    if (taken == 0) {
        taken = read_weekday(p, from, &anchor);
    }
    if (taken == 0 || (is(p, word, "of") && !week && !weekend)) {
        return 0;
    }
    int64_t day = before ? anchor.choice[0].lo : anchor.choice[0].hi;
    int sign = before ? -1 : 1;
    if (weekday >= 0) {
        int64_t away = before ? (mc_weekday_of_days(day) - weekday + 6) % 7 + 1 : (weekday - mc_weekday_of_days(day) + 6) % 7 + 1;
        *out = day_of(day + sign * away);
    } else if (is(p, word, "of")) {
        *out = weekend ? span(week_start(day) + 5, week_start(day) + 6) : span(anchor.choice[0].lo, anchor.choice[0].lo + 6);
    } else if (weekend) {
        int64_t saturday = before ? day - (mc_weekday_of_days(day) + 1) % 7 : day + (6 - mc_weekday_of_days(day));
        saturday -= before && saturday >= day ? 7 : 0;
        *out = span(saturday, saturday + 1);
    } else if (week) {
        *out = before ? span(day - 7, day - 1) : span(day + 1, day + 7);
    } else {
        *out = shifted(p->calendar, day, lo, hi, months, sign);
    }
    return from + taken - i;
}

static size_t read_season(const struct parser *p, size_t i, struct mc_date *out)
{
    int first = is(p, i, "spring") ? 3 : is(p, i, "summer") ? 6 : in(p, i, " fall autumn ") ? 9 : is(p, i, "winter") ? 12 : 0;
    int year = 0;
    size_t end = first ? optional_year(p, i + 1, &year) : i;
    if (!first || !year) {
        return 0;
    }
    int64_t lo = mc_days_from_civil(year, first, 1);
    *out = first == 12 ? span(lo, mc_days_from_civil(year + 1, 3, 1) - 1)
                       : span(lo, month_of(year, first + 2).choice[0].hi);
    return end - i;
}

static size_t read_year(const struct parser *p, size_t i, struct mc_date *out)
{
    if (!is_year(p, i)) {
        return 0;
    }
    *out = year_of(year_at(p, i));
    return 1;
}

/* "between 26 March and 20 April 2023", "from Friday to Sunday". */
static size_t read_between(const struct parser *p, size_t i, struct mc_date *out)
{
    if (!in(p, i, " between from ") || (is(p, i, "from") && mc_change_before(p->words, i))) {
        return 0;
    }
    struct mc_date a;
    struct mc_date b;
    size_t first = read_absolute(p, i + 1, &a);
    if (first == 0 || !in(p, i + 1 + first, " and to - until through ")) {
        return 0;
    }
    size_t second = read_absolute(p, i + 2 + first, &b);
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
        *out = span(lo <= b.choice[0].hi ? lo : a.choice[0].lo, b.choice[0].hi);
    } else {
        *out = span(a.choice[0].lo, b.choice[0].hi);
    }
    return 2 + first + second;
}

size_t mc_date_read(const struct mc_words *words, size_t at, const struct mc_calendar *calendar, struct mc_date *out)
{
    static size_t (*const readers[])(const struct parser *, size_t, struct mc_date *) = {
        read_absolute, read_near_day, read_weekday, read_unit,   read_ago,  read_part_of_month,
        read_nth,      read_beside,   read_season,  read_between, read_year};
    if (!(words->items[at].starts & MC_STARTS_DATE)) {
        return 0;
    }
    struct parser p = {.words = words, .calendar = calendar};
    size_t best = 0;
    for (size_t k = 0; k < MC_COUNT(readers); k++) {
        struct mc_date date;
        size_t length = readers[k](&p, at, &date);
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
    struct mc_calendar c = {.year = civil.year, .month = civil.month, .day = civil.day, .zone = zone,
                            .zone_offset = local.offset_min};
    c.today = mc_days_from_civil(civil.year, civil.month, civil.day);
    c.weekday = mc_weekday_of_days(c.today);
    c.month_first = mc_starts_with(name, "America/") || mc_starts_with(name, "US/") ||
                    mc_streq(name, "Pacific/Honolulu") || mc_streq(name, "UTC");
    return c;
}
