/*
 * The files of a corpus and its digest.
 *
 * The digest is SHA-256 over the canonical listing: for each file, sorted by path bytewise, the bytes
 *
 *     path TAB size-in-decimal TAB sha256-in-lower-case-hex LF
 *
 * and nothing else (docs/corpus.md). The listing's text is itself what the store keeps as an object, so a corpus digest
 * names an object that names every file.
 *
 * Names that begin with "." (.git, .DS_Store) are not part of a corpus: never hashed, never copied, and reported in
 * `ignored`. Symbolic links and special files, names that are not UTF-8 or hold control characters, and folders deeper
 * than MC_LISTING_DEPTH are refused. Modes, times and empty folders do not count.
 *
 * Ownership: a listing owns its texts; mc_listing_release() frees them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/sha256.h"

enum { MC_LISTING_DEPTH = 8, MC_LISTING_PATH = 1024, MC_LISTING_FILES = 1000000 };

struct mc_file {
    char *path; /* relative, parts joined by '/' */
    uint64_t size;
    struct mc_digest digest;
};

struct mc_listing {
    struct mc_file *files; /* sorted by path */
    size_t count;
    char **ignored; /* relative paths */
    size_t ignored_count;
    struct mc_digest digest; /* of the whole corpus */
};

/* Reads and hashes every file under `dir`. */
int mc_listing_scan(const char *dir, struct mc_listing *out, struct mc_err *err) MC_CHECKED;
/* Reads a canonical listing back; anything that mc_listing_text() would not write is refused. */
int mc_listing_parse(const char *text, size_t length, struct mc_listing *out, struct mc_err *err) MC_CHECKED;
void mc_listing_release(struct mc_listing *listing);
#define MC_AUTOLISTING MC_CLEANUP(mc_listing_release)

/* The canonical listing; the caller frees it. */
char *mc_listing_text(const struct mc_listing *listing);

/* 0 where `now` has the same files as `pinned`; else MC_MISMATCH, naming the first file that was changed, added or
 * removed and how many differ. */
int mc_listing_compare(const struct mc_listing *pinned, const struct mc_listing *now, struct mc_err *err) MC_CHECKED;

/* Gives a descriptor open for reading the content of `file`, which the caller closes. */
struct mc_file_source {
    int (*open)(void *context, const struct mc_file *file, int *fd, struct mc_err *err);
    void *context;
};
/* A source that reads the files of a folder (`context` is its path). */
struct mc_file_source mc_files_of_dir(char *dir);

/* Writes every file into the new or empty folder `dir`, checking each digest on the way. A failure leaves nothing. */
int mc_listing_export(const struct mc_listing *listing, struct mc_file_source source, const char *dir,
                      struct mc_err *err) MC_CHECKED;
