#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "base/tz.h"

static void times_survive_reading_and_writing(void **state)
{
    (void)state;
    static const char *const texts[] = {"2026-08-07T09:00:00-04:00", "1970-01-01T00:00:00+00:00",
                                        "2024-02-29T23:59:59.120+05:30", "1900-01-01T00:00:00-11:00"};
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        struct mc_err err;
        struct mc_time time;
        assert_int_equal(mc_time_parse(texts[i], &time, &err), 0);
        assert_string_equal(mc_time_format(time).text, texts[i]);
    }
}

static void wrong_times_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "2026-08-07",
                                        "2026-08-07T09:00:00",
                                        "2026-02-29T09:00:00Z",
                                        "2026-13-01T09:00:00Z",
                                        "2026-08-07T24:00:00Z",
                                        "2026-08-07T09:00:60Z",
                                        "2026-08-07 09:00:00Z",
                                        "2026-08-07T09:00:00-4:00",
                                        "2026-08-07T09:00:00.Z",
                                        "2026-08-07T09:00:00ZZ",
                                        "0001-08-07T09:00:00Z"};
    for (size_t i = 0; i < MC_COUNT(texts); i++) {
        struct mc_err err;
        struct mc_time time;
        assert_int_equal(mc_time_parse(texts[i], &time, &err), MC_INPUT);
    }
}

/* Expected offsets are from Python's zoneinfo. */
static void zones_follow_daylight_saving(void **state)
{
    (void)state;
    static const struct {
        const char *zone;
        const char *utc;
        int offset;
    } cases[] = {{"America/New_York", "2026-03-08T06:59:59Z", -300}, {"America/New_York", "2026-03-08T07:00:00Z", -240},
                 {"America/New_York", "2026-11-01T05:59:59Z", -240}, {"America/New_York", "2026-11-01T06:00:00Z", -300},
                 {"Europe/Berlin", "2045-07-01T00:00:00Z", 120},     {"Europe/Berlin", "2045-12-01T00:00:00Z", 60},
                 {"Australia/Sydney", "2026-01-15T00:00:00Z", 660},  {"Australia/Sydney", "2026-07-15T00:00:00Z", 600},
                 {"Asia/Kolkata", "2026-07-15T00:00:00Z", 330},      {"UTC", "2026-07-15T00:00:00Z", 0},
                 {"Australia/Sydney", "2050-01-15T00:00:00Z", 660}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err;
        struct mc_time time;
        struct mc_tz *zone;
        assert_int_equal(mc_time_parse(cases[i].utc, &time, &err), 0);
        assert_int_equal(mc_tz_load(cases[i].zone, &zone, &err), 0);
        assert_int_equal(mc_tz_offset(zone, time.ms), cases[i].offset);
        mc_tz_free(zone);
    }
}

static void a_wall_reading_gives_an_instant(void **state)
{
    (void)state;
    static const struct {
        struct mc_civil civil;
        const char *instant;
    } cases[] = {{{2026, 8, 7, 9, 0, 0, 0}, "2026-08-07T09:00:00-04:00"},
                 {{2026, 3, 8, 2, 30, 0, 0}, "2026-03-08T03:30:00-04:00"},   /* skipped */
                 {{2026, 11, 1, 1, 30, 0, 0}, "2026-11-01T01:30:00-04:00"}}; /* repeated: the first */
    struct mc_err err;
    struct mc_tz *zone;
    assert_int_equal(mc_tz_load("America/New_York", &zone, &err), 0);
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        assert_string_equal(mc_time_format(mc_tz_from_civil(zone, &cases[i].civil)).text, cases[i].instant);
    }
    mc_tz_free(zone);
}

static void unknown_zones_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"", "Mars/Olympus", "../../etc/passwd", "/etc/localtime", "zone.tab"};
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        struct mc_err err;
        struct mc_tz *zone = NULL;
        assert_int_not_equal(mc_tz_load(names[i], &zone, &err), 0);
        assert_null(zone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_survive_reading_and_writing), cmocka_unit_test(wrong_times_are_refused),
        cmocka_unit_test(zones_follow_daylight_saving),      cmocka_unit_test(a_wall_reading_gives_an_instant),
        cmocka_unit_test(unknown_zones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
