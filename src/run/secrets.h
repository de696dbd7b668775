/*
 * The secrets that a run file names, read from the environment.
 *
 * Ownership: the values are the caller's; mc_secrets_release() wipes them.
 */
#pragma once

#include "base/json.h"
#include "base/redact.h"

struct mc_secrets {
    json_t *values; /* {NAME: value} */
    struct mc_redactor *redactor;
};

/* `names` is NULL-ended. A secret that is not set, or too short to be found again in what is recorded, is an error. */
int mc_secrets_read(struct mc_secrets *secrets, const char *const *names, struct mc_err *err) MC_CHECKED;
void mc_secrets_release(struct mc_secrets *secrets);
