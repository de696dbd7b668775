/*
 * The scenario clock: one offset from real time in a file that libfaketime reads in every process of a life.
 *
 * The file is replaced by rename, so a reader sees the old or the new offset and never a part (an empty file ends the
 * reader, a missing one silently gives it real time). The clock never goes backwards.
 *
 * Ownership: mc_clock_init() copies the path; mc_clock_release() frees it. For one thread.
 */
#pragma once

#include "base/err.h"
#include "base/time.h"

struct mc_clock {
    char *path;
    int is_set;
    int64_t offset_ms; /* scenario time minus real time */
    int offset_min;    /* east of UTC, as the scenario's times are shown */
};

void mc_clock_init(struct mc_clock *clock, const char *path);
void mc_clock_release(struct mc_clock *clock);

/* Starts the clock where it stood in an earlier life of this process, without writing anything. */
void mc_clock_resume(struct mc_clock *clock, int64_t offset_ms);

/* Sets the clock to `scenario`, or leaves it as it runs where it is later already; the file is on the disk then. */
int mc_clock_set(struct mc_clock *clock, struct mc_time scenario, struct mc_err *err) MC_CHECKED;

/* What it reads now. */
struct mc_time mc_clock_now(const struct mc_clock *clock);
/* The offset as the file has it, in seconds. */
double mc_clock_offset_s(const struct mc_clock *clock);
