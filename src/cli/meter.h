/*
 * Progress of long work: one line that is redrawn on a terminal, plain lines elsewhere, JSON lines with --json.
 *
 * Always on standard error, so that standard output stays what the command was asked for.
 *
 * Ownership: `struct mc_meter` is the command's and borrows what it shows.
 */
#pragma once

#include "cli/cmd.h"
#include "run/attempt.h"

struct mc_meter {
    const struct mc_cli *cli;
    int terminal;
    int drawn; /* a line stands there, to be wiped */
    int64_t began_ms;
    int64_t last_ms; /* of the last line drawn */
};

void mc_meter_begin(struct mc_meter *meter, const struct mc_cli *cli);
/* For `struct mc_run_watch`. */
void mc_meter_of_run(void *payload, const struct mc_progress *progress);
/* A line that stays. */
void mc_meter_line(struct mc_meter *meter, const char *format, ...) MC_PRINTF(2, 3);
/* A line that the next one replaces; elsewhere than on a terminal it is dropped. */
void mc_meter_passing(struct mc_meter *meter, const char *format, ...) MC_PRINTF(2, 3);
void mc_meter_end(struct mc_meter *meter);
