/*
 * IANA time zones, read from the system's TZif files (RFC 8536), without the C library's global TZ.
 *
 * Ownership: mc_tz_load() allocates, mc_tz_free() frees (NULL allowed). A zone is never changed after loading, so
 * threads may share it.
 */
#pragma once

#include "base/err.h"
#include "base/time.h"

struct mc_tz;

/* `name` as in the IANA database ("America/New_York", "UTC"); looked up under $TZDIR or /usr/share/zoneinfo. */
int mc_tz_load(const char *name, struct mc_tz **out, struct mc_err *err) MC_CHECKED;
void mc_tz_free(struct mc_tz *zone);
const char *mc_tz_name(const struct mc_tz *zone);

/* Minutes east of UTC in force at an instant (milliseconds since 1970). */
int mc_tz_offset(const struct mc_tz *zone, int64_t ms);

/* `time` shown with the zone's offset at that instant. */
struct mc_time mc_tz_at(const struct mc_tz *zone, int64_t ms);

/* The instant at which the zone's wall reads `civil`. A reading that a clock change repeats means the first, one that
 * it skips means the same distance after the change (as Python's datetime with fold=0). */
struct mc_time mc_tz_from_civil(const struct mc_tz *zone, const struct mc_civil *civil);
