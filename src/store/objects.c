#include "store/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "store/sql.h"
#include "store/store_internal.h"

struct mc_object_writer {
    struct mc_store *store;
    char *kind;
    char *temporary;
    int fd;
    int64_t size;
    struct mc_sha256 *sha;
};

char *mc_object_path(const struct mc_store *store, const char *sha256)
{
    return mc_strf("%s/objects/%.2s/%s", store->dir, sha256, sha256 + 2);
}

int mc_object_begin(struct mc_store *store, const char *kind, struct mc_object_writer **out, struct mc_err *err)
{
    char *temporary = mc_strf("%s/objects/tmp/XXXXXX", store->dir);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        int rc = mc_fail_errno(err, errno, "writing into %s/objects", store->dir);
        free(temporary);
        return rc;
    }
    struct mc_object_writer *writer = mc_alloc(1, sizeof *writer);
    *writer = (struct mc_object_writer){store, mc_strdup(kind), temporary, fd, 0, mc_sha256_begin()};
    *out = writer;
    return 0;
}

int mc_object_write(struct mc_object_writer *writer, const void *bytes, size_t length, struct mc_err *err)
{
    mc_sha256_add(writer->sha, bytes, length);
    writer->size += (int64_t)length;
    return mc_fs_write_all(writer->fd, bytes, length, writer->temporary, err);
}

void mc_object_abandon(struct mc_object_writer *writer)
{
    if (!writer) {
        return;
    }
    mc_close_at(&writer->fd);
    unlink(writer->temporary);
    mc_sha256_abandon(writer->sha);
    free(writer->temporary);
    free(writer->kind);
    free(writer);
}

/* True where the file's bytes have the digest. */
static int is_whole(const char *path, const struct mc_digest *digest)
{
    MC_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct mc_sha256 *sha = mc_sha256_begin();
    char bytes[65536];
    ssize_t n;
    while (fd >= 0 && ((n = read(fd, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR))) {
        mc_sha256_add(sha, bytes, n > 0 ? (size_t)n : 0);
    }
    return mc_streq(mc_sha256_end(sha).hex, digest->hex);
}

/* link() cannot overwrite: an object that is there already stays where it is whole; a damaged one is replaced. */
static int place(struct mc_object_writer *writer, const char *path, const struct mc_digest *digest, struct mc_err *err)
{
    if (link(writer->temporary, path) == 0) {
        return 0;
    }
    if (errno == EEXIST) {
        if (is_whole(path, digest)) {
            utimensat(AT_FDCWD, path, NULL, 0); /* in use again: a sweep leaves young objects */
            return 0;
        }
    } else if (errno != EPERM && errno != ENOTSUP) {
        return mc_fail_errno(err, errno, "storing %s", path);
    }
    if (rename(writer->temporary, path) != 0) {
        return mc_fail_errno(err, errno, "storing %s", path);
    }
    return 0;
}

static int store_file(struct mc_object_writer *writer, const struct mc_digest *digest, struct mc_err *err)
{
    if (fchmod(writer->fd, 0444) != 0 || fsync(writer->fd) != 0) {
        return mc_fail_errno(err, errno, "flushing %s", writer->temporary);
    }
    MC_AUTOFREE char *path = mc_object_path(writer->store, digest->hex);
    MC_AUTOFREE char *folder = mc_path_dir(path);
    int is_new = !mc_fs_is_dir(folder);
    int rc = mc_fs_mkdirs(folder, err);
    if (rc == 0) {
        rc = place(writer, path, digest, err);
    }
    if (rc == 0) {
        rc = mc_fs_sync_dir(folder, err);
    }
    if (rc == 0 && is_new) {
        MC_AUTOFREE char *root = mc_path_dir(folder);
        rc = mc_fs_sync_dir(root, err);
    }
    return rc;
}

/* 1 where the same object is in the store for good: its row is written only once its file is on the disk. */
static int is_stored(const struct mc_object_writer *writer, const struct mc_digest *digest, struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(writer->store, &rows, err, "SELECT 1 FROM objects WHERE sha256 = ?", "s", digest->hex);
    rc = rc ? rc : mc_rows_next(&rows, err);
    if (rc != 1) {
        return rc;
    }
    MC_AUTOFREE char *path = mc_object_path(writer->store, digest->hex);
    /* Read, as the disk may have lost bytes since; and in use again: a sweep leaves young objects. */
    return is_whole(path, digest) && utimensat(AT_FDCWD, path, NULL, 0) == 0;
}

int mc_object_end(struct mc_object_writer *writer, struct mc_digest *out, int64_t *size, struct mc_err *err)
{
    *out = mc_sha256_end(writer->sha);
    writer->sha = NULL;
    int stored = is_stored(writer, out, err);
    int rc = stored < 0 ? stored : stored ? 0 : store_file(writer, out, err);
    if (rc == 0 && !stored) {
        rc = mc_sql_run(writer->store, err,
                        "INSERT INTO objects (sha256, size, kind, added) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                        "siss", out->hex, writer->size, writer->kind, mc_store_now().text);
    }
    if (size) {
        *size = writer->size;
    }
    mc_object_abandon(writer);
    return rc;
}

int mc_object_put(struct mc_store *store, const char *kind, const void *bytes, size_t length, struct mc_digest *out,
                  struct mc_err *err)
{
    struct mc_object_writer *writer = NULL;
    int rc = mc_object_begin(store, kind, &writer, err);
    if (!writer) {
        return rc;
    }
    rc = mc_object_write(writer, bytes, length, err);
    if (rc != 0) {
        mc_object_abandon(writer);
        return rc;
    }
    return mc_object_end(writer, out, NULL, err);
}

int mc_object_read(struct mc_store *store, const char *sha256, struct mc_buf *out, struct mc_err *err)
{
    if (!mc_is_digest(sha256)) {
        return mc_fail(err, MC_INPUT, "\"%s\" is not the digest of an object", sha256);
    }
    MC_AUTOFREE char *path = mc_object_path(store, sha256);
    int rc = mc_fs_read(path, out, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_digest found = mc_sha256_of(mc_buf_text(out), out->len);
    if (!mc_streq(found.hex, sha256)) {
        mc_fail(err, MC_MISMATCH, "the object %s is damaged: its bytes have the digest %s", path, found.hex);
        return mc_hint(err, "restore it from a backup; what refers to it cannot be trusted");
    }
    return 0;
}
