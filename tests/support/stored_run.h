/*
 * A run in a store without an engine: trials, attempts and answers as a real run would have left them, from an answers
 * file.
 *
 * Ownership: everything is borrowed.
 */
#pragma once

#include "base/err.h"
#include "store/store.h"

struct stored_run {
    const char *id;
    const char *corpus;  /* folder */
    const char *answers; /* file: life, harness and repetition make the trial, in the order in which they come */
    const char *judge;   /* base URL of the model "judge", NULL: there is none */
    const char *secret;  /* its secret's name, or NULL */
};

int stored_run_make(struct mc_store *store, const struct stored_run *run, struct mc_err *err) MC_CHECKED;
