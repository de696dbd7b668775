#include "engine/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "base/mem.h"
#include "engine/own.h"

#define ARCHIVE_MAX ((size_t)1 << 30)

static la_ssize_t on_write(struct archive *archive, void *payload, const void *bytes, size_t length)
{
    if (mc_buf_add(payload, bytes, length) != 0) {
        archive_set_error(archive, EFBIG, "more than %zu bytes", ((struct mc_buf *)payload)->max);
        return -1;
    }
    return (la_ssize_t)length;
}

static int add_entry(struct archive *archive, const struct mc_archive_entry *from)
{
    size_t length = strlen(from->path);
    int is_dir = length > 0 && from->path[length - 1] == '/';
    mode_t mode = is_dir ? 0755 : 0644;
    if (from->mode != 0) {
        mode = (mode_t)(from->mode & 07777U);
    }
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, from->path);
    archive_entry_set_filetype(entry, is_dir ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, mode);
    archive_entry_set_uid(entry, from->uid);
    archive_entry_set_gid(entry, from->gid);
    archive_entry_set_mtime(entry, 0, 0);
    archive_entry_set_size(entry, (la_int64_t)(is_dir ? 0 : from->length));
    int rc = archive_write_header(archive, entry);
    if (rc == ARCHIVE_OK && !is_dir && from->length > 0) {
        la_ssize_t written = archive_write_data(archive, from->bytes, from->length);
        rc = written == (la_ssize_t)from->length ? ARCHIVE_OK : ARCHIVE_FATAL;
    }
    archive_entry_free(entry);
    return rc;
}

int mc_archive_make(const struct mc_archive_entry *entries, size_t count, struct mc_buf *out, struct mc_err *err)
{
    struct archive *archive = archive_write_new();
    /* Names go through as they stand in this format; pax would convert them by the process's locale. */
    int rc = archive_write_set_format_gnutar(archive);
    if (rc == ARCHIVE_OK) {
        rc = archive_write_set_bytes_in_last_block(archive, 1);
    }
    if (rc == ARCHIVE_OK) {
        rc = archive_write_open(archive, out, NULL, on_write, NULL);
    }
    const char *path = "its start";
    for (size_t i = 0; rc == ARCHIVE_OK && i < count; i++) {
        path = entries[i].path;
        rc = add_entry(archive, &entries[i]);
    }
    if (rc == ARCHIVE_OK) {
        rc = archive_write_close(archive);
    }
    if (rc != ARCHIVE_OK) {
        const char *why = archive_error_string(archive);
        mc_fail(err, MC_LIMIT, "making a tar: %s: %s", path, why ? why : "libarchive failed");
    }
    archive_write_free(archive);
    return rc == ARCHIVE_OK ? 0 : err->code;
}

static char *archive_path(const char *container, const char *path)
{
    struct mc_buf call = MC_BUF_OWN;
    mc_buf_puts(&call, "/containers/");
    mc_api_escape(&call, container);
    mc_buf_puts(&call, "/archive");
    mc_api_query(&call, "path", path);
    return mc_buf_take(&call);
}

int mc_archive_put(struct mc_engine *engine, const char *container, const char *dir,
                   const struct mc_archive_entry *entries, size_t count, struct mc_until until, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf tar = MC_BUF_INIT(ARCHIVE_MAX);
    MC_AUTOFREE char *what = mc_strf("copying files into %s of container %s", dir, container);
    MC_AUTOFREE char *path = archive_path(container, dir);
    int rc = mc_archive_make(entries, count, &tar, err);
    if (rc != 0) {
        return mc_wrap(err, "%s", what);
    }
    /* Podman says yes to a folder that is not there, and keeps nothing. */
    struct mc_api_call look = {.method = "HEAD", .path = path, .what = what};
    rc = mc_api_run(engine, &look, NULL, until, err);
    if (rc == MC_NOT_FOUND) {
        mc_fail(err, MC_NOT_FOUND, "%s: there is no such folder", what);
        err->http = 404;
        return rc;
    }
    if (rc != 0) {
        return rc;
    }
    struct mc_api_call call = {.method = "PUT",
                               .path = path,
                               .what = what,
                               .type = "application/x-tar",
                               .body = mc_buf_text(&tar),
                               .length = tar.len};
    return mc_api_run(engine, &call, NULL, until, err);
}

/* A tar that comes from an engine: libarchive pulls, and so do we. */
struct incoming {
    struct mc_engine *engine;
    struct mc_until until;
    struct mc_err err;
    int failed;
    struct archive *archive;
    const char *what;
    const char *base; /* last part of the path that was asked for */
    struct mc_archive_limits limits;
    int prefixed; /* names begin with `base` */
    uint64_t files;
    uint64_t bytes;
};

static la_ssize_t on_read(struct archive *archive, void *payload, const void **bytes)
{
    struct incoming *in = payload;
    const char *piece = NULL;
    size_t length = 0;
    if (mc_api_pull(in->engine, &piece, &length, in->until, &in->err) != 0) {
        in->failed = 1;
        archive_set_error(archive, EIO, "%s", in->err.text);
        return -1;
    }
    *bytes = piece;
    return (la_ssize_t)length;
}

static int tar_fault(struct incoming *in, struct mc_err *err)
{
    if (in->failed) {
        *err = in->err;
        return err->code;
    }
    const char *why = archive_error_string(in->archive);
    return mc_fail(err, MC_PROTOCOL, "%s: the tar is broken: %s", in->what, why ? why : "it ends too early");
}

int mc_archive_read(const struct mc_archive_file *file, void *bytes, size_t room, size_t *got, struct mc_err *err)
{
    struct incoming *in = file->source;
    la_ssize_t n = archive_read_data(in->archive, bytes, room);
    if (n < 0) {
        return tar_fault(in, err);
    }
    *got = (size_t)n;
    return 0;
}

/* True where a name climbs, or has an empty part. */
static int leads_out(const char *name)
{
    for (const char *part = name; *part != '\0';) {
        size_t n = strcspn(part, "/");
        if (n == 0 || (n == 2 && strncmp(part, "..", 2) == 0)) {
            return 1;
        }
        part += n + (part[n] == '/');
    }
    return 0;
}

/*
 * Docker names what is in /tmp `tmp/...`, Podman too, except at a volume's root, where it is `/...`. All become
 * relative to what was asked for, itself "": the first entry tells which it is. NULL: a name that climbs.
 */
static const char *normal_name(struct incoming *in, const char *name)
{
    name += strspn(name, "/");
    while (name[0] == '.' && (name[1] == '/' || name[1] == '\0')) {
        name += 1 + (name[1] == '/');
    }
    if (leads_out(name)) {
        return NULL;
    }
    size_t length = strlen(in->base);
    int under = length > 0 && strncmp(name, in->base, length) == 0 && (name[length] == '/' || name[length] == '\0');
    if (in->files == 1) {
        in->prefixed = under;
    }
    if (in->prefixed && under) {
        name += length + (name[length] == '/');
    }
    return name;
}

/* Is this entry one to pass on (1), to pass over (0), or a reason to stop? */
static int check_entry(struct incoming *in, struct archive_entry *entry, struct mc_archive_file *file,
                       struct mc_err *err)
{
    const char *name = archive_entry_pathname(entry);
    in->files++;
    const char *normal = name ? normal_name(in, name) : NULL;
    if (!normal) {
        return mc_fail(err, MC_DENIED, "%s: an entry's name leads out of the folder: %s", in->what,
                       name ? name : "(not text)");
    }
    if (in->files > in->limits.files) {
        return mc_fail(err, MC_LIMIT, "%s: more than %llu files", in->what, (unsigned long long)in->limits.files);
    }
    unsigned type = (unsigned)archive_entry_filetype(entry);
    if (type == AE_IFDIR) {
        return 0;
    }
    if (type != AE_IFREG || archive_entry_hardlink(entry)) {
        return mc_fail(err, MC_DENIED, "%s: %s is neither a file nor a folder", in->what, name);
    }
    la_int64_t size = archive_entry_size(entry);
    if (size < 0 || (uint64_t)size > in->limits.bytes - in->bytes) {
        return mc_fail(err, MC_LIMIT, "%s: more than %llu bytes", in->what, (unsigned long long)in->limits.bytes);
    }
    in->bytes += (uint64_t)size;
    *file = (struct mc_archive_file){.path = normal[0] != '\0' ? normal : in->base,
                                     .size = (uint64_t)size,
                                     .mode = (unsigned)archive_entry_perm(entry) & 07777U,
                                     .source = in};
    return 1;
}

static int walk(struct incoming *in, mc_archive_fn *on_file, void *payload, struct mc_err *err)
{
    for (;;) {
        struct archive_entry *entry;
        int got = archive_read_next_header(in->archive, &entry);
        if (got == ARCHIVE_EOF) {
            return 0;
        }
        if (got != ARCHIVE_OK && got != ARCHIVE_WARN) {
            return tar_fault(in, err);
        }
        struct mc_archive_file file = {.path = NULL};
        int rc = check_entry(in, entry, &file, err);
        if (rc > 0) {
            rc = on_file(payload, &file, err);
        }
        if (rc != 0) {
            return rc;
        }
    }
}

int mc_archive_get(struct mc_engine *engine, const char *container, const char *path, struct mc_archive_limits limits,
                   mc_archive_fn *on_file, void *payload, struct mc_until until, struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("copying %s out of container %s", path, container);
    /* Without "/" or "/." at its end, after which engines name entries in further ways. */
    MC_AUTOFREE char *trimmed = mc_strdup(path);
    size_t length = strlen(trimmed);
    while (length > 1 && (trimmed[length - 1] == '/' || strcmp(trimmed + length - 2, "/.") == 0)) {
        trimmed[--length] = '\0';
    }
    MC_AUTOFREE char *call_path = archive_path(container, trimmed);
    const char *slash = strrchr(trimmed, '/');
    struct mc_api_call call = {.method = "GET", .path = call_path, .what = what};
    int rc = mc_api_begin(engine, &call, until, err);
    if (rc != 0) {
        return rc;
    }
    struct incoming in = {.engine = engine,
                          .until = until,
                          .archive = archive_read_new(),
                          .what = what,
                          .base = slash ? slash + 1 : trimmed,
                          .limits = limits};
    /* libarchive converts pax names to the locale's character set: the thread's is UTF-8 for so long. */
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    if (archive_read_support_format_tar(in.archive) != ARCHIVE_OK ||
        archive_read_open(in.archive, &in, NULL, on_read, NULL) != ARCHIVE_OK) {
        rc = tar_fault(&in, err);
    }
    if (rc == 0) {
        rc = walk(&in, on_file, payload, err);
    }
    archive_read_free(in.archive);
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    mc_api_end(engine);
    return rc;
}

struct single {
    struct mc_buf *out;
    const char *what;
    int found;
};

static int on_single(void *payload, const struct mc_archive_file *file, struct mc_err *err)
{
    struct single *single = payload;
    if (single->found || file->size > single->out->max) {
        return mc_fail(err, single->found ? MC_INPUT : MC_LIMIT, "%s: %s", single->what,
                       single->found ? "it is a folder" : "the file is too large");
    }
    single->found = 1;
    char *room = mc_buf_room(single->out, file->size);
    if (!room) {
        return mc_fail(err, MC_LIMIT, "%s: the file is too large", single->what);
    }
    size_t done = 0;
    size_t got = 1;
    while (done < file->size && got > 0) {
        int rc = mc_archive_read(file, room + done, file->size - done, &got, err);
        if (rc != 0) {
            return rc;
        }
        done += got;
    }
    mc_buf_advance(single->out, done);
    return 0;
}

int mc_archive_get_file(struct mc_engine *engine, const char *container, const char *path, struct mc_buf *out,
                        struct mc_until until, struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("copying %s out of container %s", path, container);
    struct single single = {.out = out, .what = what};
    struct mc_archive_limits limits = {.files = 2, .bytes = out->max};
    mc_buf_clear(out);
    int rc = mc_archive_get(engine, container, path, limits, on_single, &single, until, err);
    if (rc == 0 && !single.found) {
        return mc_fail(err, MC_INPUT, "%s: it is a folder", what);
    }
    return rc;
}
