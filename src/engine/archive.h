/*
 * Files into a container and out of it, as tar streams (by libarchive); and tar files of our own making.
 *
 * What comes out of a container is hostile: entries that are absolute, climb with "..", or are neither file nor
 * folder are refused, and count and size are limited. Owners are left out on purpose: engines give them differently.
 *
 * Ownership: entries given are borrowed; buffers are the caller's. A `struct mc_archive_file` is valid only during its
 * callback.
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "engine/engine.h"

struct mc_archive_entry {
    const char *path; /* relative; a folder's ends in '/' */
    unsigned mode;    /* 07777 bits; 0: 0644, folders 0755 */
    int64_t uid;
    int64_t gid;
    const void *bytes;
    size_t length;
};

/* A tar (GNU, in the order given, times 0: the same entries give the same bytes) into `out`. */
int mc_archive_make(const struct mc_archive_entry *entries, size_t count, struct mc_buf *out,
                    struct mc_err *err) MC_CHECKED;

/* Unpacks entries under the folder `dir`, which must exist (MC_NOT_FOUND), of a container, running or not. Reading back
 * is the only proof that an engine kept everything. */
int mc_archive_put(struct mc_engine *engine, const char *container, const char *dir,
                   const struct mc_archive_entry *entries, size_t count, struct mc_until until,
                   struct mc_err *err) MC_CHECKED;

struct mc_archive_limits {
    uint64_t files; /* files and folders */
    uint64_t bytes; /* of all files together */
};

struct mc_archive_file {
    const char *path; /* relative to what was asked for; a single file: its own name */
    uint64_t size;
    unsigned mode; /* 07777 bits */
    void *source;  /* for mc_archive_read() */
};

/* Next bytes of the file's content; *got is 0 at its end. What is not read is skipped. */
int mc_archive_read(const struct mc_archive_file *file, void *bytes, size_t room, size_t *got,
                    struct mc_err *err) MC_CHECKED;

/* Called for each regular file in the engine's order. Non-zero (with *err) stops. No call to the same engine here. */
typedef int mc_archive_fn(void *payload, const struct mc_archive_file *file, struct mc_err *err);

/* Every regular file of `path` (a file, or a folder with all it holds) of a container. Links, devices and the like are
 * MC_DENIED; MC_NOT_FOUND where `path` is missing. */
int mc_archive_get(struct mc_engine *engine, const char *container, const char *path, struct mc_archive_limits limits,
                   mc_archive_fn *on_file, void *payload, struct mc_until until, struct mc_err *err) MC_CHECKED;

/* One regular file of at most out->max bytes. */
int mc_archive_get_file(struct mc_engine *engine, const char *container, const char *path, struct mc_buf *out,
                        struct mc_until until, struct mc_err *err) MC_CHECKED;
