#include "run/context.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

static int add_dir(struct mc_context *context, const char *name, const char *path, struct mc_err *err)
{
    DIR *dir = opendir(path);
    if (!dir) {
        return mc_fail_errno(err, errno, "reading the folder %s", path);
    }
    int rc = 0;
    const struct dirent *entry;
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        int hidden = entry->d_name[0] == '.' && !mc_streq(entry->d_name, ".keep");
        if (hidden || mc_streq(entry->d_name, "__pycache__")) {
            continue;
        }
        MC_AUTOFREE char *inner_path = mc_path_join(path, entry->d_name);
        MC_AUTOFREE char *inner_name = name[0] ? mc_path_join(name, entry->d_name) : mc_strdup(entry->d_name);
        struct stat info;
        if (lstat(inner_path, &info) == 0 && S_ISLNK(info.st_mode)) {
            /* What it points to may be anywhere, or the folder itself. */
            rc = mc_fail(err, MC_INPUT, "%s is a symbolic link, which a build context cannot hold", inner_path);
        } else {
            rc = mc_context_add(context, inner_name, inner_path, err);
        }
    }
    closedir(dir);
    return rc;
}

int mc_context_add(struct mc_context *context, const char *name, const char *path, struct mc_err *err)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return mc_fail_errno(err, errno, "reading %s", path);
    }
    if (S_ISDIR(info.st_mode)) {
        return add_dir(context, name, path, err);
    }
    if (!S_ISREG(info.st_mode)) {
        return mc_fail(err, MC_INPUT, "%s is neither a file nor a folder", path);
    }
    context->files = mc_grow(context->files, context->count, &context->cap, sizeof *context->files);
    context->files[context->count++] = (struct mc_context_file){mc_strdup(name), mc_strdup(path)};
    return 0;
}

void mc_context_release(struct mc_context *context)
{
    for (size_t i = 0; i < context->count; i++) {
        free(context->files[i].name);
        free(context->files[i].path);
    }
    free(context->files);
    memset(context, 0, sizeof *context);
}

static int by_name(const void *a, const void *b)
{
    const struct mc_context_file *x = a;
    const struct mc_context_file *y = b;
    return strcmp(x->name, y->name);
}

static int sort(struct mc_context *context, struct mc_err *err)
{
    if (context->count > 0) {
        qsort(context->files, context->count, sizeof *context->files, by_name);
    }
    for (size_t i = 1; i < context->count; i++) {
        if (mc_streq(context->files[i - 1].name, context->files[i].name)) {
            return mc_fail(err, MC_INPUT, "the build context has two files %s", context->files[i].name);
        }
    }
    return 0;
}

static int tar_fail(struct archive *tar, const char *name, struct mc_err *err)
{
    return mc_fail(err, MC_IO, "writing the build context, at %s: %s", name, archive_error_string(tar));
}

static int put_file(struct archive *tar, const struct mc_context_file *file, struct mc_err *err)
{
    MC_AUTOCLOSE int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        return mc_fail_errno(err, errno, "reading %s", file->path);
    }
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, file->name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, info.st_mode & S_IXUSR ? 0755 : 0644);
    archive_entry_set_size(entry, info.st_size);
    archive_entry_set_mtime(entry, 0, 0);
    int rc = archive_write_header(tar, entry) == ARCHIVE_OK ? 0 : tar_fail(tar, file->name, err);
    archive_entry_free(entry);
    off_t left = info.st_size;
    while (rc == 0) {
        char bytes[65536];
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return mc_fail_errno(err, errno, "reading %s", file->path);
        }
        left -= n;
        if (left < 0 || (n == 0 && left > 0)) {
            return mc_fail(err, MC_INPUT, "%s changed while it was being read", file->path);
        }
        if (n == 0) {
            return 0;
        }
        if (archive_write_data(tar, bytes, (size_t)n) != n) {
            rc = tar_fail(tar, file->name, err);
        }
    }
    return rc;
}

static int digest_of(int fd, struct mc_digest *digest, struct mc_err *err)
{
    struct mc_sha256 *sha = mc_sha256_begin();
    off_t at = 0;
    for (;;) {
        char bytes[65536];
        ssize_t n = pread(fd, bytes, sizeof bytes, at);
        if (n < 0) {
            mc_sha256_abandon(sha);
            return mc_fail_errno(err, errno, "reading the build context");
        }
        if (n == 0) {
            *digest = mc_sha256_end(sha);
            return 0;
        }
        mc_sha256_add(sha, bytes, (size_t)n);
        at += n;
    }
}

int mc_context_write(struct mc_context *context, int *fd, struct mc_digest *digest, struct mc_err *err)
{
    int rc = sort(context, err);
    if (rc != 0) {
        return rc;
    }
    const char *tmp = getenv("TMPDIR");
    *fd = open(tmp ? tmp : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*fd < 0) {
        return mc_fail_errno(err, errno, "making a temporary file in %s", tmp ? tmp : "/tmp");
    }
    struct archive *tar = archive_write_new();
    archive_write_set_format_pax_restricted(tar);
    rc = archive_write_open_fd(tar, *fd) == ARCHIVE_OK ? 0 : tar_fail(tar, "its start", err);
    for (size_t i = 0; rc == 0 && i < context->count; i++) {
        rc = put_file(tar, &context->files[i], err);
    }
    if (rc == 0 && archive_write_close(tar) != ARCHIVE_OK) {
        rc = tar_fail(tar, "its end", err);
    }
    archive_write_free(tar);
    rc = rc ? rc : digest_of(*fd, digest, err);
    if (rc == 0 && lseek(*fd, 0, SEEK_SET) != 0) {
        rc = mc_fail_errno(err, errno, "reading the build context");
    }
    if (rc != 0) {
        mc_close_at(fd);
    }
    return rc;
}
