#include "base/tz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

struct change {
    int64_t at_s;
    int offset_s;
};

/* The rule after the last change, from the POSIX TZ string at the file's end (RFC 8536, section 3.3). */
struct rule {
    char kind; /* 'M' month-week-day, 'J' day 1..365 without leap days, 'N' day 0..365, 0 none */
    int month;
    int week;
    int day;
    int at_s; /* seconds after local midnight */
};

struct mc_tz {
    char *name;
    struct change *changes;
    size_t count;
    int first_offset_s; /* before the first change */
    int std_offset_s;
    int dst_offset_s;
    struct rule dst_starts; /* kind 0: no daylight saving */
    struct rule dst_ends;
};

struct bytes {
    const unsigned char *at;
    size_t left;
};

static int64_t big_endian(const unsigned char *p, size_t size)
{
    uint64_t value = (p[0] & 0x80U) ? UINT64_MAX : 0;
    for (size_t i = 0; i < size; i++) {
        value = (value << 8) | p[i];
    }
    return (int64_t)value;
}

struct header {
    size_t utc_flags, std_flags, leaps, changes, types, chars;
};

static int read_header(struct bytes *b, struct header *h)
{
    if (b->left < 44 || memcmp(b->at, "TZif", 4) != 0) {
        return 0;
    }
    size_t *fields[] = {&h->utc_flags, &h->std_flags, &h->leaps, &h->changes, &h->types, &h->chars};
    for (size_t i = 0; i < 6; i++) {
        int64_t value = big_endian(b->at + 20 + 4 * i, 4);
        if (value < 0 || value > 100000) {
            return 0;
        }
        *fields[i] = (size_t)value;
    }
    b->at += 44;
    b->left -= 44;
    return 1;
}

static size_t body_size(const struct header *h, size_t time_size)
{
    return h->changes * (time_size + 1) + h->types * 6 + h->chars + h->leaps * (time_size + 4) + h->std_flags +
           h->utc_flags;
}

static int read_body(const struct bytes *b, const struct header *h, struct mc_tz *zone)
{
    const unsigned char *times = b->at;
    const unsigned char *kinds = times + h->changes * 8;
    const unsigned char *types = kinds + h->changes;
    if (h->types == 0) {
        return 0;
    }
    zone->first_offset_s = (int)big_endian(types, 4);
    zone->changes = mc_alloc(h->changes, sizeof *zone->changes);
    for (size_t i = 0; i < h->changes; i++) {
        if (kinds[i] >= h->types) {
            return 0;
        }
        zone->changes[i].at_s = big_endian(times + 8 * i, 8);
        zone->changes[i].offset_s = (int)big_endian(types + (size_t)6 * kinds[i], 4);
    }
    zone->count = h->changes;
    return 1;
}

static const char *skip_name(const char *p)
{
    if (*p == '<') {
        const char *end = strchr(p, '>');
        return end ? end + 1 : p + strlen(p);
    }
    while ((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z')) {
        p++;
    }
    return p;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static int posix_time(const char **p)
{
    int sign = **p == '-' ? -1 : 1;
    if (**p == '-' || **p == '+') {
        (*p)++;
    }
    int seconds = 0;
    int unit = 3600;
    for (;;) {
        char *end;
        seconds += (int)strtol(*p, &end, 10) * unit;
        *p = end;
        unit /= 60;
        if (**p != ':' || unit == 0) {
            return sign * seconds;
        }
        (*p)++;
    }
}

static int posix_rule(const char **p, struct rule *rule)
{
    if (**p != ',') {
        return 0;
    }
    (*p)++;
    char *end;
    rule->kind = **p == 'M' || **p == 'J' ? **p : 'N';
    rule->month = (int)strtol(*p + (rule->kind != 'N'), &end, 10);
    rule->day = rule->month;
    if (rule->kind == 'M') {
        rule->week = *end == '.' ? (int)strtol(end + 1, &end, 10) : 0;
        rule->day = *end == '.' ? (int)strtol(end + 1, &end, 10) : 0;
        if (rule->month < 1 || rule->month > 12 || rule->week < 1 || rule->week > 5 || rule->day < 0 || rule->day > 6) {
            return 0;
        }
    }
    *p = end;
    rule->at_s = 7200;
    if (**p == '/') {
        (*p)++;
        rule->at_s = posix_time(p);
    }
    return 1;
}

static int read_footer(const char *text, struct mc_tz *zone)
{
    const char *p = skip_name(text);
    zone->std_offset_s = -posix_time(&p);
    zone->dst_starts.kind = 0;
    if (*p == '\0') {
        return 1;
    }
    p = skip_name(p);
    zone->dst_offset_s = zone->std_offset_s + 3600;
    if (*p != ',') {
        zone->dst_offset_s = -posix_time(&p);
    }
    return posix_rule(&p, &zone->dst_starts) && posix_rule(&p, &zone->dst_ends) && *p == '\0';
}

static int read_zone(const struct mc_buf *file, struct mc_tz *zone)
{
    struct bytes b = {.at = (const unsigned char *)mc_buf_text(file), .left = file->len};
    struct header h;
    if (!read_header(&b, &h) || body_size(&h, 4) > b.left) {
        return 0;
    }
    /* The first block has 32-bit times; version 2 and later repeat everything with 64 bits. */
    b.at += body_size(&h, 4);
    b.left -= body_size(&h, 4);
    if (!read_header(&b, &h) || body_size(&h, 8) > b.left || !read_body(&b, &h, zone)) {
        return 0;
    }
    const unsigned char *footer = b.at + body_size(&h, 8);
    size_t left = b.left - body_size(&h, 8);
    if (left < 2 || footer[0] != '\n' || footer[left - 1] != '\n') {
        return 0;
    }
    MC_AUTOFREE char *text = mc_strndup((const char *)footer + 1, left - 2);
    if (text[0] == '\0') {
        zone->std_offset_s = zone->count ? zone->changes[zone->count - 1].offset_s : zone->first_offset_s;
        return 1;
    }
    return read_footer(text, zone);
}

static int is_zone_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";
    return name[0] && name[0] != '/' && strlen(name) < 100 && name[strspn(name, allowed)] == '\0';
}

int mc_tz_load(const char *name, struct mc_tz **out, struct mc_err *err)
{
    if (!is_zone_name(name)) {
        mc_fail(err, MC_INPUT, "\"%.100s\" is not the name of a time zone", name);
        return mc_hint(err, "use an IANA name such as America/New_York");
    }
    const char *dir = getenv("TZDIR");
    MC_AUTOFREE char *path = mc_path_join(dir ? dir : "/usr/share/zoneinfo", name);
    MC_AUTOBUF struct mc_buf file = MC_BUF_INIT(1 << 20);
    int rc = mc_fs_read(path, &file, err);
    if (rc != 0) {
        mc_wrap(err, "unknown time zone \"%s\"", name);
        return mc_hint(err, "use an IANA name such as America/New_York, and install tzdata");
    }
    struct mc_tz *zone = mc_alloc(1, sizeof *zone);
    zone->name = mc_strdup(name);
    if (!read_zone(&file, zone)) {
        mc_tz_free(zone);
        return mc_fail(err, MC_INPUT, "%s is not a time zone file of version 2 or later", path);
    }
    *out = zone;
    return 0;
}

void mc_tz_free(struct mc_tz *zone)
{
    if (zone) {
        free(zone->name);
        free(zone->changes);
        free(zone);
    }
}

const char *mc_tz_name(const struct mc_tz *zone)
{
    return zone->name;
}

/* Seconds since 1970 of the rule's moment in `year`, on a wall at `offset_s`. */
static int64_t rule_moment(const struct rule *rule, int year, int offset_s)
{
    int64_t days = mc_days_from_civil(year, 1, 1);
    if (rule->kind == 'M') {
        int64_t first = mc_days_from_civil(year, rule->month, 1);
        int day = 1 + (rule->day - mc_weekday_of_days(first) + 7) % 7 + (rule->week - 1) * 7;
        while (day > mc_days_in_month(year, rule->month)) {
            day -= 7;
        }
        days = first + day - 1;
    } else if (rule->kind == 'J') {
        int leap = mc_days_in_month(year, 2) == 29;
        days += rule->day - 1 + (leap && rule->day >= 60);
    } else {
        days += rule->day;
    }
    return days * 86400 + rule->at_s - offset_s;
}

static int rule_offset(const struct mc_tz *zone, int64_t at_s)
{
    if (!zone->dst_starts.kind) {
        return zone->std_offset_s;
    }
    struct mc_time local = {.ms = at_s * 1000, .offset_min = zone->std_offset_s / 60};
    int year = mc_time_civil(local).year;
    int64_t starts = rule_moment(&zone->dst_starts, year, zone->std_offset_s);
    int64_t ends = rule_moment(&zone->dst_ends, year, zone->dst_offset_s);
    int in_dst = starts < ends ? at_s >= starts && at_s < ends : at_s >= starts || at_s < ends;
    return in_dst ? zone->dst_offset_s : zone->std_offset_s;
}

static int offset_seconds(const struct mc_tz *zone, int64_t at_s)
{
    if (zone->count == 0 || at_s >= zone->changes[zone->count - 1].at_s) {
        return rule_offset(zone, at_s);
    }
    if (at_s < zone->changes[0].at_s) {
        return zone->first_offset_s;
    }
    size_t low = 0;
    size_t high = zone->count - 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (zone->changes[middle].at_s <= at_s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return zone->changes[low].offset_s;
}

static int64_t floor_seconds(int64_t ms)
{
    return ms >= 0 ? ms / 1000 : -((-ms + 999) / 1000);
}

int mc_tz_offset(const struct mc_tz *zone, int64_t ms)
{
    int seconds = offset_seconds(zone, floor_seconds(ms));
    return (seconds >= 0 ? seconds + 30 : seconds - 30) / 60;
}

struct mc_time mc_tz_at(const struct mc_tz *zone, int64_t ms)
{
    return (struct mc_time){.ms = ms, .offset_min = mc_tz_offset(zone, ms)};
}

struct mc_time mc_tz_from_civil(const struct mc_tz *zone, const struct mc_civil *civil)
{
    struct mc_time as_utc = mc_time_from_civil(civil, 0);
    /* The offsets in force a day before and a day after bracket any change near that reading. */
    int before = mc_tz_offset(zone, as_utc.ms - 86400000);
    int after = mc_tz_offset(zone, as_utc.ms + 86400000);
    int64_t with_before = as_utc.ms - (int64_t)before * 60000;
    int64_t with_after = as_utc.ms - (int64_t)after * 60000;
    int before_holds = mc_tz_offset(zone, with_before) == before;
    int after_holds = mc_tz_offset(zone, with_after) == after;
    int64_t ms = before_holds || !after_holds ? with_before : with_after;
    return mc_tz_at(zone, ms);
}
