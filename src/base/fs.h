/*
 * Files: read whole with a limit, written so that a crash leaves the old or the new content and never a part.
 *
 * Ownership: paths given are borrowed; texts and buffers returned are the caller's.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Reads a regular file of at most out->max bytes into *out (which is cleared first). */
int mc_fs_read(const char *path, struct mc_buf *out, struct mc_err *err) MC_CHECKED;

/* Writes by temporary name in the same folder, fsync, rename, fsync of the folder. */
int mc_fs_write(const char *path, const void *bytes, size_t length, mode_t mode, struct mc_err *err) MC_CHECKED;

/* Makes a folder and its parents (mode 0700 where memcal makes them); an existing folder is fine. */
int mc_fs_mkdirs(const char *path, struct mc_err *err) MC_CHECKED;

/* fsync of a folder, so that names in it survive a crash; file systems that cannot are let pass. */
int mc_fs_sync_dir(const char *path, struct mc_err *err) MC_CHECKED;

/* Writes all bytes to a descriptor, going on after short writes and EINTR. `what` names it in the error. */
int mc_fs_write_all(int fd, const void *bytes, size_t length, const char *what, struct mc_err *err) MC_CHECKED;

int mc_fs_exists(const char *path);
int mc_fs_is_dir(const char *path);

/* Removes a file or a folder with all that it holds; never follows links; a missing path is fine. */
int mc_fs_remove_tree(const char *path, struct mc_err *err) MC_CHECKED;

/* "dir/name" from both, or `name` alone where it is absolute. */
char *mc_path_join(const char *dir, const char *name);
/* The folder that holds `path` ("." where it names none). */
char *mc_path_dir(const char *path);
/* What follows the last '/', borrowed from `path`. */
const char *mc_path_base(const char *path);
