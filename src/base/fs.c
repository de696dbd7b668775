#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int mc_fs_read(const char *path, struct mc_buf *out, struct mc_err *err)
{
    mc_buf_clear(out);
    MC_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return mc_fail_errno(err, errno, "opening %s", path);
    }
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return mc_fail_errno(err, errno, "reading %s", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return mc_fail(err, MC_INPUT, "reading %s: it is not a regular file", path);
    }
    for (;;) {
        size_t left = out->max - out->len;
        size_t chunk = left < 65536 ? left : 65536;
        char *room = mc_buf_room(out, chunk ? chunk : 0);
        char over;
        ssize_t n = chunk ? read(fd, room, chunk) : read(fd, &over, 1);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return mc_fail_errno(err, errno, "reading %s", path);
        }
        if (n == 0) {
            return 0;
        }
        if (!chunk) {
            return mc_fail(err, MC_LIMIT, "reading %s: larger than the %zu bytes allowed for it", path, out->max);
        }
        mc_buf_advance(out, (size_t)n);
    }
}

int mc_fs_write_all(int fd, const void *bytes, size_t length, const char *what, struct mc_err *err)
{
    const char *next = bytes;
    while (length > 0) {
        ssize_t n = write(fd, next, length);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return mc_fail_errno(err, errno, "writing %s", what);
        }
        next += n;
        length -= (size_t)n;
    }
    return 0;
}

int mc_fs_sync_dir(const char *path, struct mc_err *err)
{
    MC_AUTOCLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return mc_fail_errno(err, errno, "opening the folder %s", path);
    }
    if (fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP) {
        return mc_fail_errno(err, errno, "flushing the folder %s", path);
    }
    return 0;
}

static int write_temporary(int fd, const char *temporary, const void *bytes, size_t length, mode_t mode,
                           struct mc_err *err)
{
    int rc = mc_fs_write_all(fd, bytes, length, temporary, err);
    if (rc == 0 && fchmod(fd, mode) != 0) {
        rc = mc_fail_errno(err, errno, "setting the mode of %s", temporary);
    }
    if (rc == 0 && fsync(fd) != 0) {
        rc = mc_fail_errno(err, errno, "flushing %s", temporary);
    }
    return rc;
}

int mc_fs_write(const char *path, const void *bytes, size_t length, mode_t mode, struct mc_err *err)
{
    MC_AUTOFREE char *temporary = mc_strf("%s.XXXXXX", path);
    MC_AUTOCLOSE int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        return mc_fail_errno(err, errno, "writing %s", path);
    }
    int rc = write_temporary(fd, temporary, bytes, length, mode, err);
    if (rc == 0 && rename(temporary, path) != 0) {
        rc = mc_fail_errno(err, errno, "renaming %s to %s", temporary, path);
    }
    if (rc != 0) {
        unlink(temporary);
        return rc;
    }
    MC_AUTOFREE char *dir = mc_path_dir(path);
    return mc_fs_sync_dir(dir, err);
}

int mc_fs_mkdirs(const char *path, struct mc_err *err)
{
    if (mkdir(path, 0700) == 0 || (errno == EEXIST && mc_fs_is_dir(path))) {
        return 0;
    }
    if (errno == EEXIST) {
        return mc_fail(err, MC_INPUT, "making the folder %s: something else has that name", path);
    }
    if (errno != ENOENT) {
        return mc_fail_errno(err, errno, "making the folder %s", path);
    }
    MC_AUTOFREE char *parent = mc_path_dir(path);
    int rc = mc_fs_mkdirs(parent, err);
    if (rc != 0) {
        return rc;
    }
    if (mkdir(path, 0700) != 0 && !(errno == EEXIST && mc_fs_is_dir(path))) {
        return mc_fail_errno(err, errno, "making the folder %s", path);
    }
    return 0;
}

int mc_fs_exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

int mc_fs_is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int remove_at(int parent, const char *name, const char *shown, struct mc_err *err);

static int remove_entries(int dir_fd, const char *shown, struct mc_err *err)
{
    DIR *dir = fdopendir(dir_fd);
    if (!dir) {
        close(dir_fd);
        return mc_fail_errno(err, errno, "reading the folder %s", shown);
    }
    int rc = 0;
    const struct dirent *entry;
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        if (mc_streq(entry->d_name, ".") || mc_streq(entry->d_name, "..")) {
            continue;
        }
        MC_AUTOFREE char *inner = mc_path_join(shown, entry->d_name);
        rc = remove_at(dirfd(dir), entry->d_name, inner, err);
    }
    closedir(dir);
    return rc;
}

static int remove_at(int parent, const char *name, const char *shown, struct mc_err *err)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) {
        return 0;
    }
    if (errno != EISDIR && errno != EPERM) {
        return mc_fail_errno(err, errno, "removing %s", shown);
    }
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return mc_fail_errno(err, errno, "removing %s", shown);
    }
    int rc = remove_entries(fd, shown, err);
    if (rc == 0 && unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT) {
        rc = mc_fail_errno(err, errno, "removing the folder %s", shown);
    }
    return rc;
}

int mc_fs_remove_tree(const char *path, struct mc_err *err)
{
    return remove_at(AT_FDCWD, path, path, err);
}

char *mc_path_join(const char *dir, const char *name)
{
    if (name[0] == '/') {
        return mc_strdup(name);
    }
    size_t length = strlen(dir);
    const char *slash = length > 0 && dir[length - 1] == '/' ? "" : "/";
    return mc_strf("%s%s%s", dir, slash, name);
}

char *mc_path_dir(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) {
        return mc_strdup(".");
    }
    return slash == path ? mc_strdup("/") : mc_strndup(path, (size_t)(slash - path));
}

const char *mc_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
