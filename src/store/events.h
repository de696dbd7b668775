/*
 * A run's event log: runs/<id>/events.jsonl, one JSON object a line, as events arrive.
 *
 * Each line has `seq` (counts from 1), `at` (real time, UTC), `type` and what the event adds. A line is written whole
 * with one write, and what a full disk took of it is cut off again; mc_events_flush() makes everything so far survive a
 * power cut. A torn last line, which only a crash can leave, is cut off when the log is opened again.
 *
 * Ownership: mc_events_open() allocates, mc_events_close() frees.
 */
#pragma once

#include <jansson.h>

#include "base/redact.h"
#include "store/store.h"

struct mc_events;

/* `redactor` (NULL: none) is borrowed and applied to every line. */
int mc_events_open(struct mc_store *store, const char *run, const struct mc_redactor *redactor, struct mc_events **out,
                   struct mc_err *err) MC_CHECKED;
/* Takes the reference `data` (an object, or NULL) in any case. */
int mc_events_add(struct mc_events *events, const char *type, json_t *data, struct mc_err *err) MC_CHECKED;
int mc_events_flush(struct mc_events *events, struct mc_err *err) MC_CHECKED;
void mc_events_close(struct mc_events *events);
