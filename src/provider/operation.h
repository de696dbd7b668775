/*
 * Driving a provider: imports and nights, each an operation that is done when the provider says that it is completed.
 *
 * `batch` and `night` are idempotency keys: the same one again gives the same operation and does no second work.
 *
 * Ownership: mc_operation_outcome_release() frees what an outcome holds; everything else is borrowed.
 */
#pragma once

#include "protocol/talk.h"
#include "provider/provider.h"

struct mc_operation_outcome {
    char *operation; /* the provider's ID, NULL where it was never accepted */
    int completed;
    char *detail; /* JSON of what the provider said last, NULL where it said nothing */
};

/* Called once the provider has accepted, before the wait: the place to write its ID down. */
typedef int mc_accepted_fn(void *payload, const char *operation, struct mc_err *err);

/* Checks what `ready` says against the manifest. */
int mc_provider_check_ready(const struct mc_provider *provider, const struct mc_ready *ready,
                            struct mc_err *err) MC_CHECKED;

/* Both wait until the operation is completed or failed (in *out), or fail: MC_TIMEOUT where it does neither in time. */
int mc_provider_import(const struct mc_talk *talk, const struct mc_import *import, mc_accepted_fn *accepted,
                       void *payload, struct mc_operation_outcome *out, struct mc_until until,
                       struct mc_err *err) MC_CHECKED;
int mc_provider_maintain(const struct mc_talk *talk, const char *night, mc_accepted_fn *accepted, void *payload,
                         struct mc_operation_outcome *out, struct mc_until until, struct mc_err *err) MC_CHECKED;
void mc_operation_outcome_release(struct mc_operation_outcome *outcome);
