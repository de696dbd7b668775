/*
 * What the commands about grades share: stored runs, times, and reports as they stand at one time.
 *
 * Ownership: as the functions say.
 */
#pragma once

#include <jansson.h>

#include "cli/cmd.h"
#include "run/stored.h"

/* The store and a run in it; both are the caller's. */
int mc_cli_open_run(const struct mc_cli *cli, const char *given, struct mc_store **store, struct mc_stored_run *run,
                    struct mc_err *err) MC_CHECKED;

/* --as-of: NULL text gives NULL. */
int mc_cli_as_of(const char *text, struct mc_time *time, const struct mc_time **out, struct mc_err *err) MC_CHECKED;
extern const char mc_cli_as_of_help[];

/* Text on one line for a terminal: control bytes as \xNN. */
void mc_cli_print_line(const char *label, const char *text);
