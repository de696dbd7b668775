/*
 * Named volumes.
 *
 * Ownership: labels and names are borrowed; lists and JSON are the caller's.
 */
#pragma once

#include <jansson.h>

#include "engine/engine.h"
#include "engine/object.h"

/* Makes a volume. Engines answer "created" for a name that is taken and keep the old labels: those are read back, and a
 * volume whose labels are not these is MC_EXISTS. */
int mc_volume_create(struct mc_engine *engine, const char *name, struct mc_labels labels, struct mc_until until,
                     struct mc_err *err) MC_CHECKED;

/* New reference in *out; MC_NOT_FOUND where there is none. */
int mc_volume_inspect(struct mc_engine *engine, const char *name, json_t **out, struct mc_until until,
                      struct mc_err *err) MC_CHECKED;

/* Removes it; one that is gone is fine, one in use is MC_ENGINE. Where `ours` has labels they are checked first, and a
 * volume without them is MC_DENIED. */
int mc_volume_remove(struct mc_engine *engine, const char *name, struct mc_labels ours, struct mc_until until,
                     struct mc_err *err) MC_CHECKED;

int mc_volume_list(struct mc_engine *engine, struct mc_labels labels, struct mc_objects *out, struct mc_until until,
                   struct mc_err *err) MC_CHECKED;
