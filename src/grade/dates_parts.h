/*
 * Parts of dates, shared by dates.c (calendar dates and what all share) and dates_relative.c ("next Saturday", "two
 * weeks ago", "the week before 9 June").
 *
 * Ownership: a parser borrows words and calendar.
 */
#pragma once

#include "grade/values.h"

struct mc_date_parser {
    const struct mc_words *words;
    const struct mc_calendar *calendar;
};

/* Every reader says how many words it takes from `i`, 0 for none. */
typedef size_t mc_date_reader(const struct mc_date_parser *p, size_t i, struct mc_date *out);

/* 2026-08-08, 8/8, August 8, the 8th of August, the 8th, August 2026 */
mc_date_reader mc_date_absolute;
/* NULL-ended: everything told from today or from another date. */
extern mc_date_reader *const mc_date_relative[];

/* 0 Sunday ... 6, -1 for none; 1 to 12, 0 for none. */
int mc_weekday_at(const struct mc_date_parser *p, size_t i);
int mc_month_at(const struct mc_date_parser *p, size_t i);
int mc_is_year_at(const struct mc_date_parser *p, size_t i);
/* The number of "first" to "twentieth" and "thirtieth", 0 for others. */
int mc_ordinal_of(const char *norm);
/* A day of the month at `i`, and whether it is an ordinal ("8th", "twenty-first"). */
size_t mc_day_number_at(const struct mc_date_parser *p, size_t i, int *day, int *ordinal);
/* Where a year may follow (", 2026", "of 2026", "next year"): its end, or `i`. */
size_t mc_optional_year(const struct mc_date_parser *p, size_t i, int *year);
/* The year in which month and day lie nearest to today. */
int mc_nearest_year(const struct mc_calendar *calendar, int month, int day);

struct mc_date mc_date_span(int64_t lo, int64_t hi);
struct mc_date mc_date_month(int year, int month);

static inline int mc_is(const struct mc_date_parser *p, size_t i, const char *norm)
{
    return mc_word_is(p->words, i, norm);
}

static inline int mc_in(const struct mc_date_parser *p, size_t i, const char *list)
{
    return mc_word_in(p->words, i, list);
}

/* 1 where that word stands at `i`, to step over it. */
static inline size_t mc_skip(const struct mc_date_parser *p, size_t i, const char *norm)
{
    return mc_word_is(p->words, i, norm) ? 1 : 0;
}

static inline size_t mc_skip_any(const struct mc_date_parser *p, size_t i, const char *list)
{
    return mc_word_in(p->words, i, list) ? 1 : 0;
}

static inline size_t mc_skip_comma(const struct mc_date_parser *p, size_t i)
{
    return mc_word_is(p->words, i, ",") ? i + 1 : i;
}
