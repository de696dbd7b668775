#include "corpus/digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "corpus/listing.h"

enum { CHUNK = 65536 };

struct scan {
    const char *root;
    struct mc_listing *out;
    size_t capacity;
    size_t ignored_capacity;
    struct mc_err *err;
};

void mc_listing_release(struct mc_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++) {
        free(listing->files[i].path);
    }
    for (size_t i = 0; i < listing->ignored_count; i++) {
        free(listing->ignored[i]);
    }
    free(listing->files);
    free(listing->ignored);
    memset(listing, 0, sizeof *listing);
}

int mc_listing_name_fits(const char *name)
{
    for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
        if (*p < 0x20 || *p == 0x7f || *p == '\\') {
            return 0;
        }
    }
    MC_AUTOJSON json_t *text = json_string(name); /* NULL where it is not UTF-8 */
    return text != NULL;
}

static int hash_file(struct scan *scan, int dir, const char *name, const char *shown, struct mc_file *file)
{
    MC_AUTOCLOSE int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return mc_fail_errno(scan->err, errno, "opening %s/%s", scan->root, shown);
    }
    struct mc_sha256 *sha = mc_sha256_begin();
    char chunk[CHUNK];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            int sys = errno;
            mc_sha256_abandon(sha);
            return mc_fail_errno(scan->err, sys, "reading %s/%s", scan->root, shown);
        }
        if (n == 0) {
            file->digest = mc_sha256_end(sha);
            return 0;
        }
        mc_sha256_add(sha, chunk, (size_t)n);
        file->size += (uint64_t)n;
    }
}

static int refuse(const struct scan *scan, const char *shown, const char *what, const char *hint)
{
    mc_fail(scan->err, MC_INPUT, "%s/%s: %s", scan->root, shown, what);
    return mc_hint(scan->err, "%s", hint);
}

static int scan_dir(struct scan *scan, int fd, const char *prefix, int depth);

static int scan_entry(struct scan *scan, int dir, const char *name, const char *shown, int depth)
{
    struct mc_listing *out = scan->out;
    struct stat info;
    if (fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return mc_fail_errno(scan->err, errno, "reading %s/%s", scan->root, shown);
    }
    if (S_ISDIR(info.st_mode)) {
        int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? mc_fail_errno(scan->err, errno, "opening the folder %s/%s", scan->root, shown)
                      : scan_dir(scan, fd, shown, depth + 1);
    }
    if (S_ISLNK(info.st_mode)) {
        return refuse(scan, shown, "a symbolic link cannot be part of a corpus", "put the file itself there");
    }
    if (!S_ISREG(info.st_mode)) {
        return refuse(scan, shown, "only files and folders can be part of a corpus", "remove it");
    }
    if (out->count == MC_LISTING_FILES) {
        return mc_fail(scan->err, MC_LIMIT, "%s: more than %d files", scan->root, MC_LISTING_FILES);
    }
    struct mc_file file = {.size = 0};
    int rc = hash_file(scan, dir, name, shown, &file);
    if (rc == 0) {
        file.path = mc_strdup(shown);
        out->files = mc_grow(out->files, out->count, &scan->capacity, sizeof *out->files);
        out->files[out->count++] = file;
    }
    return rc;
}

static int scan_name(struct scan *scan, int dir, const char *name, const char *prefix, int depth)
{
    if (mc_streq(name, ".") || mc_streq(name, "..")) {
        return 0;
    }
    if (!mc_listing_name_fits(name)) {
        return refuse(scan, prefix, "holds a name that is not UTF-8, or has control characters or a backslash",
                      "rename it");
    }
    MC_AUTOFREE char *shown = prefix[0] ? mc_strf("%s/%s", prefix, name) : mc_strdup(name);
    if (strlen(shown) > MC_LISTING_PATH) {
        return refuse(scan, prefix, "holds a path longer than 1024 bytes", "rename it");
    }
    if (name[0] == '.') {
        struct mc_listing *out = scan->out;
        out->ignored = mc_grow(out->ignored, out->ignored_count, &scan->ignored_capacity, sizeof *out->ignored);
        out->ignored[out->ignored_count++] = mc_steal(&shown);
        return 0;
    }
    return scan_entry(scan, dir, name, shown, depth);
}

/* Closes `fd`. */
static int scan_dir(struct scan *scan, int fd, const char *prefix, int depth)
{
    if (depth > MC_LISTING_DEPTH) {
        close(fd);
        return refuse(scan, prefix, "folders are nested too deep", "a corpus has lives/<id>/ and nothing deeper");
    }
    DIR *dir = fdopendir(fd);
    if (!dir) {
        int sys = errno;
        close(fd);
        return mc_fail_errno(scan->err, sys, "reading the folder %s/%s", scan->root, prefix);
    }
    int rc = 0;
    const struct dirent *entry;
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        rc = scan_name(scan, dirfd(dir), entry->d_name, prefix, depth);
    }
    closedir(dir);
    return rc;
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const struct mc_file *)a)->path, ((const struct mc_file *)b)->path);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void mc_listing_seal(struct mc_listing *listing)
{
    if (listing->count) {
        qsort(listing->files, listing->count, sizeof *listing->files, compare_files);
    }
    if (listing->ignored_count) {
        qsort(listing->ignored, listing->ignored_count, sizeof *listing->ignored, compare_texts);
    }
    MC_AUTOFREE char *text = mc_listing_text(listing);
    listing->digest = mc_sha256_of(text, strlen(text));
}

int mc_listing_scan(const char *dir, struct mc_listing *out, struct mc_err *err)
{
    memset(out, 0, sizeof *out);
    struct scan scan = {.root = dir, .out = out, .err = err};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return mc_fail_errno(err, errno, "opening the folder %s", dir);
    }
    int rc = scan_dir(&scan, fd, "", 0);
    if (rc != 0) {
        mc_listing_release(out);
        return rc;
    }
    mc_listing_seal(out);
    return 0;
}

char *mc_listing_text(const struct mc_listing *listing)
{
    struct mc_buf text = MC_BUF_OWN;
    for (size_t i = 0; i < listing->count; i++) {
        const struct mc_file *file = &listing->files[i];
        mc_buf_putf(&text, "%s\t%" PRIu64 "\t%s\n", file->path, file->size, file->digest.hex);
    }
    return mc_buf_take(&text);
}

/* Compares the next two paths; the end of a listing comes after every path. */
static int compare_next(const struct mc_listing *a, size_t i, const struct mc_listing *b, size_t j)
{
    if (i == a->count || j == b->count) {
        return i == a->count ? 1 : -1;
    }
    return strcmp(a->files[i].path, b->files[j].path);
}

int mc_listing_compare(const struct mc_listing *pinned, const struct mc_listing *now, struct mc_err *err)
{
    size_t differ = 0;
    size_t i = 0;
    size_t j = 0;
    const char *first = NULL;
    const char *how = NULL;
    while (i < pinned->count || j < now->count) {
        int order = compare_next(pinned, i, now, j);
        int same = order == 0 && mc_streq(pinned->files[i].digest.hex, now->files[j].digest.hex);
        if (!same && differ++ == 0) {
            first = order <= 0 ? pinned->files[i].path : now->files[j].path;
            how = order == 0 ? "changed" : order < 0 ? "was removed" : "was added";
        }
        i += order <= 0;
        j += order >= 0;
    }
    if (!differ) {
        return 0;
    }
    mc_fail(err, MC_MISMATCH, "the corpus is no longer the one with digest %s: %s %s (%zu files differ)",
            pinned->digest.hex, first, how, differ);
    return mc_hint(err, "restore the files, or name the new digest %s", now->digest.hex);
}
