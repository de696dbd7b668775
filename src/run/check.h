/*
 * Checking a harness or provider manifest by running it: one life of one import, one turn, one night and one probe,
 * with the scripted model, in a store of its own that is thrown away.
 *
 * Ownership: everything in the options is borrowed; the list of checks is a new reference of the caller's.
 */
#pragma once

#include "run/attempt.h"

struct mc_check_options {
    struct mc_engine *engine;
    const char *manifest; /* path */
    int is_provider;      /* checked beside Hermes */
    const struct mc_cancel *cancel;
    struct mc_run_watch watch;
};

/* [{check, expected, seen, passed}]. Fails only where the check itself could not be made. */
int mc_check_manifest(const struct mc_check_options *options, json_t **checks, struct mc_err *err) MC_CHECKED;
