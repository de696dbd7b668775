/*
 * Values in text: dates, times of day, amounts, yes or no, states. Each reader looks at one word and says how many
 * words a value takes from there (0: none starts there) and what it is.
 *
 * Ownership: values own nothing.
 */
#pragma once

#include <stdint.h>

#include "grade/verdict.h"
#include "grade/words.h"

/* The day that relative words count from. */
struct mc_calendar {
    int64_t today; /* days since 1970 in the life's zone */
    int weekday;   /* 0 Sunday */
    int year, month, day;
    int month_first; /* "8/7" is August 7 */
    int zone_offset; /* minutes east of UTC at that time, for "8pm Pacific" */
    const struct mc_tz *zone;
};
struct mc_calendar mc_calendar_at(const struct mc_tz *zone, struct mc_time asked_at);

/* Days [lo, hi]; "Saturday" may be the coming one (first) or the last one. */
struct mc_days {
    int64_t lo, hi;
};
struct mc_date {
    struct mc_days choice[2];
    int choices;
    int conflict; /* "Saturday, August 9" where that is a Sunday: never equal to anything */
};
size_t mc_date_read(const struct mc_words *words, size_t at, const struct mc_calendar *calendar, struct mc_date *out);
int mc_date_equal(const struct mc_date *a, const struct mc_date *b);
/* One says the other less exactly: "in August" for the 8th. */
int mc_date_covers(const struct mc_date *wide, const struct mc_date *narrow);
/* The right weekday, day of the month or date, but another occurrence of it. */
int mc_date_other_occurrence(const struct mc_date *a, const struct mc_date *b);

/* Minutes after midnight; "8" may be either half of the day. */
struct mc_clock {
    int choice[2];
    int choices;
    int until;    /* end of a range in minutes, -1 where none */
    int bound;    /* "after 8", "no later than 8": not a time */
    int next_day; /* midnight */
};
size_t mc_clock_read(const struct mc_words *words, size_t at, const struct mc_calendar *calendar, struct mc_clock *out);
int mc_clock_equal(const struct mc_clock *a, const struct mc_clock *b);
int mc_clock_other_occurrence(const struct mc_clock *a, const struct mc_clock *b);

enum mc_unit { MC_UNIT_NONE, MC_UNIT_MONEY, MC_UNIT_PERCENT, MC_UNIT_MINUTES, MC_UNIT_MONTHS, MC_UNIT_NOUN };
struct mc_amount {
    double value; /* in the unit's base: minutes, months */
    double count; /* as said, before the unit */
    enum mc_unit unit;
    char currency; /* '$', 'E', 'L', 0 */
    size_t noun;   /* the word counted, where unit is MC_UNIT_NOUN */
    int bound;     /* "at least 40" */
};
size_t mc_amount_read(const struct mc_words *words, size_t at, struct mc_amount *out);
/* `expected` and `said` stand in their own words. `units_open`: the question may ask for a length of time, so an
 * expected "two" can be "two weeks". */
int mc_amount_equal(const struct mc_words *expected_words, const struct mc_amount *expected,
                    const struct mc_words *said_words, const struct mc_amount *said, int units_open);
/* A whole number in words or digits at `at`: 1 to 9999. Words taken, 0 where none. */
size_t mc_small_number_read(const struct mc_words *words, size_t at, int *out);

/* "moved", "bumped" shortly before word `at`: then "from A to B" is a change and no range. */
int mc_change_before(const struct mc_words *words, size_t at);

/* 1 yes, 0 no. */
size_t mc_yesno_read(const struct mc_words *words, size_t at, int *out);

/* Groups of words for the same state; -1 for none. `opposite` groups contradict each other. */
size_t mc_status_read(const struct mc_words *words, size_t at, int *out);
int mc_status_opposite(int a, int b);
/* Of which one must hold: not open is closed. */
int mc_status_complement(int a, int b);
