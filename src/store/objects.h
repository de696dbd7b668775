/*
 * Artifacts by content: objects/ab/cdef..., where abcdef... is the SHA-256 of the bytes.
 *
 * An object is written under objects/tmp, flushed, linked to its name, and its folder flushed; only then does its row
 * exist, so a row never points to nothing and a file without a row is garbage. The same content is kept once. Reading
 * checks the digest.
 *
 * Ownership: bytes given are borrowed; buffers filled are the caller's.
 */
#pragma once

#include "base/buf.h"
#include "store/store.h"

/* `kind` says what it is for people ("manifest", "model.request"); the first one given stays. */
int mc_object_put(struct mc_store *store, const char *kind, const void *bytes, size_t length, struct mc_digest *out,
                  struct mc_err *err) MC_CHECKED;

/* For content that comes in pieces. Abandoning or failing leaves nothing behind. */
struct mc_object_writer;
int mc_object_begin(struct mc_store *store, const char *kind, struct mc_object_writer **out,
                    struct mc_err *err) MC_CHECKED;
int mc_object_write(struct mc_object_writer *writer, const void *bytes, size_t length, struct mc_err *err) MC_CHECKED;
/* Frees the writer in any case. `size` may be NULL. */
int mc_object_end(struct mc_object_writer *writer, struct mc_digest *out, int64_t *size, struct mc_err *err) MC_CHECKED;
void mc_object_abandon(struct mc_object_writer *writer);

/* Reads an object of at most out->max bytes and checks its digest (MC_MISMATCH where it is damaged). */
int mc_object_read(struct mc_store *store, const char *sha256, struct mc_buf *out, struct mc_err *err) MC_CHECKED;

/* The file that holds it; the caller frees it. */
char *mc_object_path(const struct mc_store *store, const char *sha256);
