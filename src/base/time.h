/*
 * Times: instants with the offset that they were written with, and ISO 8601.
 *
 * Ownership: values only; texts go into a struct of fixed size, which an ISO 8601 time never exceeds.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"

struct mc_time {
    int64_t ms;     /* milliseconds since 1970-01-01T00:00:00Z */
    int offset_min; /* minutes east of UTC that it is shown with */
};

struct mc_time_text {
    char text[40];
};

/* A civil date and time of day, as read on a wall. */
struct mc_civil {
    int year;
    int month;  /* 1..12 */
    int day;    /* 1..31 */
    int hour;   /* 0..23 */
    int minute; /* 0..59 */
    int second; /* 0..59 */
    int ms;     /* 0..999 */
};

/* "2026-08-07T09:00:00-04:00", "...Z", seconds' fractions of one to nine digits (cut to milliseconds). Years 1900 to
 * 9999. A time without an offset is refused. (ISO 8601-1:2019, the profile of RFC 3339 section 5.6.) */
int mc_time_parse(const char *text, struct mc_time *out, struct mc_err *err) MC_CHECKED;

/* "2026-08-07T09:00:00-04:00", with ".123" only where the milliseconds are not zero. */
struct mc_time_text mc_time_format(struct mc_time time);

/* The real time now, in UTC. */
struct mc_time mc_time_now(void);

/* Days since 1970-01-01 of a date in the proleptic Gregorian calendar, and back. */
int64_t mc_days_from_civil(int year, int month, int day);
void mc_civil_from_days(int64_t days, int *year, int *month, int *day);
/* 0 Sunday ... 6 Saturday. */
int mc_weekday_of_days(int64_t days);
int mc_days_in_month(int year, int month);

/* The wall-clock reading of `time` at its own offset. */
struct mc_civil mc_time_civil(struct mc_time time);
/* The instant at which a wall at `offset_min` reads `civil`. */
struct mc_time mc_time_from_civil(const struct mc_civil *civil, int offset_min);
