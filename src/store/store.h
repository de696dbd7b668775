/*
 * The store: one folder with everything that memcal knows.
 *
 *     memcal.db               SQLite (WAL, STRICT): what happened, in rows
 *     objects/ab/cdef...      artifacts by SHA-256
 *     runs/<id>/events.jsonl  what happened, as it arrived
 *     lock                    shared by every open store, exclusive for whoever checkpoints or sweeps
 *
 * Ownership: mc_store_open() allocates, mc_store_close() frees. A store is used by one thread at a time; other
 * processes may have the same folder open.
 */
#pragma once

#include "base/err.h"
#include "base/sha256.h"
#include "base/time.h"

struct mc_store;

/* Opens `dir`, making it where it does not exist. A schema newer than this program's is refused. */
int mc_store_open(const char *dir, struct mc_store **out, struct mc_err *err) MC_CHECKED;
void mc_store_close(struct mc_store *store);

const char *mc_store_dir(const struct mc_store *store);
/* The store's own UUID: what its containers and volumes are labelled with. */
const char *mc_store_uuid(const struct mc_store *store);

/* `<store>/runs/<id>`, made where it does not exist; the caller frees it. */
int mc_store_run_dir(struct mc_store *store, const char *run, char **out, struct mc_err *err) MC_CHECKED;

/* Transactions: BEGIN IMMEDIATE, so that a writer waits for its turn instead of failing late. */
int mc_store_begin(struct mc_store *store, struct mc_err *err) MC_CHECKED;
int mc_store_commit(struct mc_store *store, struct mc_err *err) MC_CHECKED;
void mc_store_rollback(struct mc_store *store);

/* The real time now as the store writes it: ISO 8601 in UTC. */
struct mc_time_text mc_store_now(void);
