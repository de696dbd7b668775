#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/listing.h"

enum { CHUNK = 65536 };

/* A path that stays inside its folder and that a scan would have listed. */
static int path_fits(const char *path)
{
    if (!path[0] || strlen(path) > MC_LISTING_PATH || !mc_listing_name_fits(path)) {
        return 0;
    }
    int depth = 0;
    for (const char *part = path;; part++) {
        if (*part == '/' || *part == '.' || *part == '\0') {
            return 0; /* empty, hidden, "." or ".." */
        }
        part += strcspn(part, "/");
        if (*part == '\0') {
            return depth <= MC_LISTING_DEPTH;
        }
        depth++;
    }
}

/* One line of a listing, its LF replaced by NUL; cut up in place. */
static int parse_line(char *line, struct mc_file *out)
{
    char *size = strchr(line, '\t');
    char *digest = size ? strchr(size + 1, '\t') : NULL;
    if (!digest) {
        return 0;
    }
    *size++ = '\0';
    *digest++ = '\0';
    size_t digits = strspn(size, "0123456789");
    if (digits < 1 || digits > 19 || size[digits] || (digits > 1 && size[0] == '0') || !mc_is_digest(digest) ||
        !path_fits(line)) {
        return 0;
    }
    out->path = mc_strdup(line);
    out->size = strtoull(size, NULL, 10);
    memcpy(out->digest.hex, digest, sizeof out->digest.hex);
    return 1;
}

static int parse_all(char *text, size_t length, struct mc_listing *out)
{
    size_t capacity = 0;
    for (char *line = text; line < text + length;) {
        char *end = memchr(line, '\n', (size_t)(text + length - line));
        struct mc_file file = {.size = 0};
        if (!end || out->count == MC_LISTING_FILES) {
            return 0;
        }
        *end = '\0';
        if (strlen(line) != (size_t)(end - line) || !parse_line(line, &file)) {
            return 0;
        }
        out->files = mc_grow(out->files, out->count, &capacity, sizeof *out->files);
        out->files[out->count++] = file;
        if (out->count > 1 && strcmp(out->files[out->count - 2].path, file.path) >= 0) {
            return 0;
        }
        line = end + 1;
    }
    return 1;
}

int mc_listing_parse(const char *text, size_t length, struct mc_listing *out, struct mc_err *err)
{
    memset(out, 0, sizeof *out);
    MC_AUTOFREE char *copy = mc_strndup(text, length);
    if (!parse_all(copy, length, out)) {
        size_t line = out->count + 1;
        mc_listing_release(out);
        return mc_fail(err, MC_INPUT, "line %zu is not a line of a corpus listing", line);
    }
    mc_listing_seal(out);
    return 0;
}

static int open_in_dir(void *context, const struct mc_file *file, int *fd, struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_path_join(context, file->path);
    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return *fd < 0 ? mc_fail_errno(err, errno, "opening %s", path) : 0;
}

struct mc_file_source mc_files_of_dir(char *dir)
{
    return (struct mc_file_source){.open = open_in_dir, .context = dir};
}

/* Copies from one descriptor to the other and checks what went through. */
static int copy_bytes(const struct mc_file *file, int from, int to, struct mc_err *err)
{
    struct mc_sha256 *sha = mc_sha256_begin();
    char chunk[CHUNK];
    uint64_t size = 0;
    int rc = 0;
    for (;;) {
        ssize_t n = read(from, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            rc = mc_fail_errno(err, errno, "reading %s", file->path);
        }
        if (n <= 0) {
            break;
        }
        mc_sha256_add(sha, chunk, (size_t)n);
        size += (uint64_t)n;
        rc = size > file->size ? 0 : mc_fs_write_all(to, chunk, (size_t)n, file->path, err);
        if (rc != 0 || size > file->size) {
            break;
        }
    }
    struct mc_digest digest = mc_sha256_end(sha);
    if (rc == 0 && (size != file->size || !mc_streq(digest.hex, file->digest.hex))) {
        mc_fail(err, MC_MISMATCH, "%s does not have the digest that the listing gives it", file->path);
        return mc_hint(err, "fetch or add the corpus again");
    }
    return rc;
}

static int export_file(const struct mc_file *file, struct mc_file_source source, const char *dir, struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_path_join(dir, file->path);
    MC_AUTOFREE char *folder = mc_path_dir(path);
    MC_AUTOCLOSE int from = -1;
    int rc = mc_fs_mkdirs(folder, err);
    if (rc == 0) {
        rc = source.open(source.context, file, &from, err);
    }
    if (rc != 0) {
        return rc;
    }
    MC_AUTOCLOSE int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (to < 0) {
        return mc_fail_errno(err, errno, "writing %s", path);
    }
    return copy_bytes(file, from, to, err);
}

int mc_listing_export(const struct mc_listing *listing, struct mc_file_source source, const char *dir,
                      struct mc_err *err)
{
    if (mc_fs_exists(dir) && rmdir(dir) != 0) {
        int sys = errno;
        mc_fail(err, MC_EXISTS, "%s: %s", dir, sys == ENOTDIR ? "is not a folder" : "the folder is not empty");
        return mc_hint(err, "name a folder that does not exist yet");
    }
    int rc = mc_fs_mkdirs(dir, err);
    for (size_t i = 0; rc == 0 && i < listing->count; i++) {
        rc = export_file(&listing->files[i], source, dir, err);
    }
    if (rc != 0) {
        struct mc_err ignored; /* the first error is the one to tell */
        if (mc_fs_remove_tree(dir, &ignored) != 0) {
            return mc_hint(err, "%s could not be removed again: remove it", dir);
        }
    }
    return rc;
}
