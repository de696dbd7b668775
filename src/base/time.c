#include "base/time.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MS_PER_MINUTE = 60000 };
static const int64_t ms_per_day = 86400000;

/* Howard Hinnant's days_from_civil, "chrono-Compatible Low-Level Date Algorithms". */
int64_t mc_days_from_civil(int year, int month, int day)
{
    int64_t y = month <= 2 ? (int64_t)year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (int64_t)(month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

void mc_civil_from_days(int64_t days, int *year, int *month, int *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted_month = (5 * day_of_year + 2) / 153;
    *day = (int)(day_of_year - (153 * shifted_month + 2) / 5 + 1);
    *month = (int)(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
    *year = (int)(year_of_era + era * 400 + (*month <= 2 ? 1 : 0));
}

int mc_weekday_of_days(int64_t days)
{
    int64_t weekday = (days + 4) % 7;
    return (int)(weekday < 0 ? weekday + 7 : weekday);
}

int mc_days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

struct mc_time mc_time_from_civil(const struct mc_civil *civil, int offset_min)
{
    int64_t ms = mc_days_from_civil(civil->year, civil->month, civil->day) * ms_per_day +
                 ((int64_t)civil->hour * 60 + civil->minute) * MS_PER_MINUTE + (int64_t)civil->second * 1000 +
                 civil->ms;
    return (struct mc_time){.ms = ms - (int64_t)offset_min * MS_PER_MINUTE, .offset_min = offset_min};
}

struct mc_civil mc_time_civil(struct mc_time time)
{
    int64_t local = time.ms + (int64_t)time.offset_min * MS_PER_MINUTE;
    int64_t days = local / ms_per_day;
    int64_t rest = local % ms_per_day;
    if (rest < 0) {
        rest += ms_per_day;
        days--;
    }
    struct mc_civil civil = {.year = 0};
    mc_civil_from_days(days, &civil.year, &civil.month, &civil.day);
    civil.hour = (int)(rest / 3600000);
    civil.minute = (int)(rest / 60000 % 60);
    civil.second = (int)(rest / 1000 % 60);
    civil.ms = (int)(rest % 1000);
    return civil;
}

/* Reads exactly `count` digits at *text and moves past them; -1 where there are fewer. */
static int digits(const char **text, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (!isdigit((unsigned char)**text)) {
            return -1;
        }
        value = value * 10 + (**text - '0');
        (*text)++;
    }
    return value;
}

static int expect(const char **text, char c)
{
    if (**text != c) {
        return 0;
    }
    (*text)++;
    return 1;
}

static int read_date(const char **p, struct mc_civil *civil)
{
    civil->year = digits(p, 4);
    if (civil->year < 1900 || !expect(p, '-')) {
        return 0;
    }
    civil->month = digits(p, 2);
    if (civil->month < 1 || civil->month > 12 || !expect(p, '-')) {
        return 0;
    }
    civil->day = digits(p, 2);
    return civil->day >= 1 && civil->day <= mc_days_in_month(civil->year, civil->month);
}

static int read_fraction(const char **p, struct mc_civil *civil)
{
    if (**p != '.') {
        return 1;
    }
    (*p)++;
    int scale = 100;
    int count = 0;
    for (; isdigit((unsigned char)**p); (*p)++, count++) {
        civil->ms += (**p - '0') * scale;
        scale /= 10;
    }
    return count >= 1 && count <= 9;
}

static int read_clock(const char **p, struct mc_civil *civil)
{
    civil->hour = digits(p, 2);
    if (civil->hour < 0 || civil->hour > 23 || !expect(p, ':')) {
        return 0;
    }
    civil->minute = digits(p, 2);
    if (civil->minute < 0 || civil->minute > 59 || !expect(p, ':')) {
        return 0;
    }
    civil->second = digits(p, 2);
    return civil->second >= 0 && civil->second <= 59 && read_fraction(p, civil);
}

static int read_offset(const char **p, int *offset_min)
{
    if (expect(p, 'Z')) {
        *offset_min = 0;
        return 1;
    }
    int sign = **p == '-' ? -1 : 1;
    if (**p != '+' && **p != '-') {
        return 0;
    }
    (*p)++;
    int hours = digits(p, 2);
    if (hours < 0 || hours > 14 || !expect(p, ':')) {
        return 0;
    }
    int minutes = digits(p, 2);
    *offset_min = sign * (hours * 60 + minutes);
    return minutes >= 0 && minutes <= 59;
}

int mc_time_parse(const char *text, struct mc_time *out, struct mc_err *err)
{
    struct mc_civil civil = {.year = 0};
    const char *p = text;
    int offset_min = 0;
    int fine = read_date(&p, &civil) && expect(&p, 'T') && read_clock(&p, &civil);
    if (fine && *p == '\0') {
        mc_fail(err, MC_INPUT, "\"%.60s\" has no UTC offset", text);
        return mc_hint(err, "write the offset, as in 2026-08-07T09:00:00-04:00");
    }
    if (!fine || !read_offset(&p, &offset_min) || *p != '\0') {
        mc_fail(err, MC_INPUT, "\"%.60s\" is not an ISO 8601 time", text);
        return mc_hint(err, "write it as in 2026-08-07T09:00:00-04:00");
    }
    *out = mc_time_from_civil(&civil, offset_min);
    return 0;
}

struct mc_time_text mc_time_format(struct mc_time time)
{
    struct mc_civil c = mc_time_civil(time);
    struct mc_time_text out;
    char fraction[8] = "";
    if (c.ms) {
        snprintf(fraction, sizeof fraction, ".%03d", c.ms % 1000);
    }
    int offset = abs(time.offset_min);
    snprintf(out.text, sizeof out.text, "%04d-%02d-%02dT%02d:%02d:%02d%s%c%02d:%02d", c.year % 10000, c.month, c.day,
             c.hour, c.minute, c.second, fraction, time.offset_min < 0 ? '-' : '+', offset / 60 % 100, offset % 60);
    return out;
}

struct mc_time mc_time_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (struct mc_time){.ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, .offset_min = 0};
}
