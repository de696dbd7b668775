/*
 * Networks: counted and removed. memcal makes none of its own (docs/decisions.md).
 *
 * Ownership: lists are the caller's.
 */
#pragma once

#include "engine/engine.h"
#include "engine/object.h"

/* With no labels: all networks. */
int mc_network_list(struct mc_engine *engine, struct mc_labels labels, struct mc_objects *out, struct mc_until until,
                    struct mc_err *err) MC_CHECKED;

/* Removes it; one that is gone is fine. Where `ours` has labels they are checked first (MC_DENIED). */
int mc_network_remove(struct mc_engine *engine, const char *id, struct mc_labels ours, struct mc_until until,
                      struct mc_err *err) MC_CHECKED;
