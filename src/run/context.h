/*
 * The context of an image's build: one tar of a folder and some more files, the same bytes for the same content.
 *
 * Names are sorted; owner, group and time are 0; modes are 0644, or 0755 where the owner may execute.
 *
 * Ownership: the list of a context owns its texts; mc_context_release() frees them. The tar is a temporary file without
 * a name, closed by the caller.
 */
#pragma once

#include <stddef.h>

#include "base/sha256.h"

struct mc_context_file {
    char *name; /* in the tar */
    char *path; /* on this host */
};

struct mc_context {
    struct mc_context_file *files;
    size_t count;
    size_t cap;
};

/* Adds one file, or a folder with all it holds (hidden names and __pycache__ left out) under `name` ("" for the root).
 */
int mc_context_add(struct mc_context *context, const char *name, const char *path, struct mc_err *err) MC_CHECKED;
void mc_context_release(struct mc_context *context);

/* Writes the tar; *fd stands at its start, *digest is of its bytes. */
int mc_context_write(struct mc_context *context, int *fd, struct mc_digest *digest, struct mc_err *err) MC_CHECKED;
