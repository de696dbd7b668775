#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "corpus/import_parts.h"

/* What a source may hold. */
enum { FILES = 10000, FILE_BYTES = 64 << 20 };
static const uint64_t total_bytes = (uint64_t)512 << 20;

struct file {
    char *name;
    struct mc_buf bytes;
};

static int is_json(const char *name)
{
    size_t length = strlen(name);
    const char *base = mc_path_base(name);
    return length > 5 && mc_streq(name + length - 5, ".json") && base[0] != '.' && !mc_starts_with(name, "__MACOSX/");
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

static void release(struct file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(files[i].name);
        mc_buf_release(&files[i].bytes);
    }
    free(files);
}

static int read_folder_names(const char *path, const struct mc_import_files *to, struct file **files, size_t *count,
                             struct mc_err *err)
{
    DIR *dir = opendir(path);
    if (!dir) {
        return mc_fail(err, MC_IO, "opening the folder %s failed", path);
    }
    size_t capacity = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL && *count < FILES) {
        if (is_json(entry->d_name)) {
            *files = mc_grow(*files, *count, &capacity, sizeof **files);
            (*files)[(*count)++] =
                (struct file){.name = mc_path_join(path, entry->d_name), .bytes = MC_BUF_INIT(FILE_BYTES)};
        } else if (entry->d_name[0] != '.') {
            mc_import_leave(to->import, "file", entry->d_name, "file", "its name does not end in .json");
        }
    }
    closedir(dir);
    return *count < FILES ? 0 : mc_fail(err, MC_LIMIT, "%s holds more than %d files", path, FILES);
}

/* Files are read one after the other, so that only one is in memory. */
static int import_folder(const char *path, const struct mc_import_files *to, struct mc_err *err)
{
    struct file *files = NULL;
    size_t count = 0;
    int rc = read_folder_names(path, to, &files, &count, err);
    if (count) {
        qsort(files, count, sizeof *files, compare_files);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = mc_fs_read(files[i].name, &files[i].bytes, err);
        if (rc == 0) {
            rc = to->take(to->context, files[i].name, mc_buf_text(&files[i].bytes), files[i].bytes.len, err);
        }
        mc_buf_release(&files[i].bytes);
    }
    release(files, count);
    return rc;
}

static int archive_failed(struct archive *archive, const char *path, struct mc_err *err)
{
    const char *why = archive_error_string(archive);
    return mc_fail(err, MC_INPUT, "%s is not a readable ZIP file: %s", path, why ? why : "unknown reason");
}

static int read_entry(struct archive *archive, const char *path, const char *name, struct file *file,
                      struct mc_err *err)
{
    *file = (struct file){.name = NULL, .bytes = MC_BUF_INIT(FILE_BYTES)};
    char chunk[65536];
    la_ssize_t n;
    while ((n = archive_read_data(archive, chunk, sizeof chunk)) > 0) {
        if (mc_buf_add(&file->bytes, chunk, (size_t)n) != 0) {
            mc_buf_release(&file->bytes);
            return mc_fail(err, MC_LIMIT, "%s: %s is larger than %d bytes", path, name, FILE_BYTES);
        }
    }
    if (n < 0) {
        mc_buf_release(&file->bytes);
        return archive_failed(archive, path, err);
    }
    file->name = mc_strf("%s:%s", path, name);
    return 0;
}

static int read_archive(struct archive *archive, const char *path, const struct mc_import_files *to,
                        struct file **files, size_t *count, struct mc_err *err)
{
    size_t capacity = 0;
    uint64_t total = 0;
    size_t seen = 0;
    for (;;) {
        struct archive_entry *entry;
        int status = archive_read_next_header(archive, &entry);
        if (status == ARCHIVE_EOF) {
            return 0;
        }
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
            return archive_failed(archive, path, err);
        }
        if (++seen > FILES) {
            return mc_fail(err, MC_LIMIT, "%s holds more than %d files", path, FILES);
        }
        const char *name = archive_entry_pathname(entry);
        if (!name || archive_entry_filetype(entry) != AE_IFREG || !is_json(name)) {
            if (archive_entry_filetype(entry) != AE_IFDIR) {
                mc_import_leave(to->import, "file", name ? name : "(no name)", "file",
                                "its name does not end in .json");
            }
            continue;
        }
        struct file file;
        int rc = read_entry(archive, path, name, &file, err);
        if (rc != 0) {
            return rc;
        }
        total += file.bytes.len;
        *files = mc_grow(*files, *count, &capacity, sizeof **files);
        (*files)[(*count)++] = file;
        if (total > total_bytes) {
            return mc_fail(err, MC_LIMIT, "%s unpacks to more than 512 MiB", path);
        }
    }
}

static int import_archive(const char *path, const struct mc_import_files *to, struct mc_err *err)
{
    struct archive *archive = archive_read_new();
    struct file *files = NULL;
    size_t count = 0;
    int rc = 0;
    if (!archive) {
        abort(); /* no memory */
    }
    archive_read_support_format_zip(archive);
    if (archive_read_open_filename(archive, path, 65536) != ARCHIVE_OK) {
        rc = archive_failed(archive, path, err);
    }
    if (rc == 0) {
        rc = read_archive(archive, path, to, &files, &count, err);
    }
    archive_read_free(archive);
    if (count) {
        qsort(files, count, sizeof *files, compare_files);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = to->take(to->context, files[i].name, mc_buf_text(&files[i].bytes), files[i].bytes.len, err);
        mc_buf_release(&files[i].bytes);
    }
    release(files, count);
    return rc;
}

int mc_import_files(const char *path, const struct mc_import_files *files, struct mc_err *err)
{
    if (mc_fs_is_dir(path)) {
        return import_folder(path, files, err);
    }
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(FILE_BYTES);
    int rc = mc_fs_read(path, &bytes, err);
    if (rc != 0) {
        return rc;
    }
    if (bytes.len >= 4 && memcmp(mc_buf_text(&bytes), "PK\x03\x04", 4) == 0) {
        mc_buf_release(&bytes);
        return import_archive(path, files, err);
    }
    return files->take(files->context, path, mc_buf_text(&bytes), bytes.len, err);
}
