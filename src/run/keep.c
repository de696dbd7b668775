#include "run/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/pool.h"
#include "store/objects.h"
#include "store/records.h"

static int keep_file(struct mc_store *store, const char *path, const struct mc_file *file, struct mc_err *err)
{
    MC_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return mc_fail_errno(err, errno, "reading %s", path);
    }
    struct mc_object_writer *writer;
    int rc = mc_object_begin(store, "corpus", &writer, err);
    if (rc != 0) {
        return rc;
    }
    char bytes[65536];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof bytes)) > 0) {
        rc = mc_object_write(writer, bytes, (size_t)n, err);
        if (rc != 0) {
            mc_object_abandon(writer);
            return rc;
        }
    }
    if (n < 0) {
        mc_object_abandon(writer);
        return mc_fail_errno(err, errno, "reading %s", path);
    }
    struct mc_digest digest;
    rc = mc_object_end(writer, &digest, NULL, err);
    if (rc == 0 && !mc_streq(digest.hex, file->digest.hex)) {
        rc = mc_fail(err, MC_MISMATCH, "%s changed while it was being read", path);
    }
    return rc;
}

int mc_keep_corpus(struct mc_store *store, const struct mc_corpus *corpus, const struct mc_listing *listing,
                   struct mc_err *err)
{
    MC_AUTOPOOL struct mc_pool pool = {.items = NULL};
    struct mc_corpus_file *files = mc_pool_alloc(&pool, listing->count, sizeof *files);
    for (size_t i = 0; i < listing->count; i++) {
        const struct mc_file *file = &listing->files[i];
        MC_AUTOFREE char *path = mc_path_join(corpus->dir, file->path);
        int rc = keep_file(store, path, file, err);
        if (rc != 0) {
            return rc;
        }
        files[i] = (struct mc_corpus_file){file->path, (int64_t)file->size, file->digest.hex};
    }
    MC_AUTOFREE char *text = mc_listing_text(listing);
    struct mc_digest digest;
    int rc = mc_object_put(store, "corpus listing", text, strlen(text), &digest, err);
    struct mc_corpus_record record = {.digest = listing->digest.hex,
                                      .name = corpus->name,
                                      .version = corpus->version,
                                      .lives = (int64_t)corpus->life_count};
    return rc ? rc : mc_corpora_add(store, &record, files, listing->count, err);
}

struct choosing {
    const char *given;
    struct mc_digest digest;
    int found;
};

static int choose(void *payload, const struct mc_corpus_record *corpus)
{
    struct choosing *choosing = payload;
    const char *given = mc_starts_with(choosing->given, "sha256:") ? choosing->given + 7 : choosing->given;
    int by_digest = strlen(given) >= 8 && mc_starts_with(corpus->digest, given);
    if (by_digest || mc_streq(corpus->name, given)) {
        memcpy(choosing->digest.hex, corpus->digest, sizeof choosing->digest.hex);
        choosing->found = 1;
    }
    return 0;
}

static int read_listing(struct mc_store *store, const char *digest, struct mc_listing *out, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf text = MC_BUF_INIT((size_t)1 << 30);
    int rc = mc_object_read(store, digest, &text, err);
    return rc ? rc : mc_listing_parse(mc_buf_text(&text), text.len, out, err);
}

int mc_kept_listing(struct mc_store *store, const char *given, struct mc_listing *out, struct mc_err *err)
{
    struct choosing choosing = {.given = given, .found = 0};
    int rc = mc_corpora_list(store, choose, &choosing, err);
    if (rc == 0 && !choosing.found) {
        mc_fail(err, MC_INPUT, "the store %s has no corpus \"%s\"", mc_store_dir(store), given);
        return mc_hint(err, "\"memcal corpus list\" names them; \"memcal corpus add DIR\" adds one");
    }
    return rc ? rc : read_listing(store, choosing.digest.hex, out, err);
}

static int open_kept(void *context, const struct mc_file *file, int *fd, struct mc_err *err)
{
    const struct mc_store *store = context;
    MC_AUTOFREE char *path = mc_object_path(store, file->digest.hex);
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? 0 : mc_fail_errno(err, errno, "reading the object %s", path);
}

struct mc_file_source mc_kept_files(struct mc_store *store)
{
    return (struct mc_file_source){open_kept, store};
}

int mc_kept_open(struct mc_store *store, const char *digest, struct mc_kept *out, struct mc_err *err)
{
    *out = (struct mc_kept){.dir = NULL};
    MC_AUTOLISTING struct mc_listing listing = {.files = NULL};
    int rc = read_listing(store, digest, &listing, err);
    if (rc != 0) {
        return mc_wrap(err, "the corpus %.12s", digest);
    }
    const char *tmp = getenv("TMPDIR");
    MC_AUTOFREE char *dir = mc_strf("%s/memcal-corpus-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir)) {
        return mc_fail_errno(err, errno, "making a temporary folder %s", dir);
    }
    out->dir = mc_steal(&dir);
    rc = mc_listing_export(&listing, mc_kept_files(store), out->dir, err);
    rc = rc ? rc : mc_corpus_open(out->dir, &out->corpus, err);
    struct mc_err second;
    if (rc != 0 && mc_kept_close(out, &second) != 0) {
        return mc_wrap(err, "%s", second.text);
    }
    return rc;
}

int mc_kept_close(struct mc_kept *kept, struct mc_err *err)
{
    int rc = kept->dir ? mc_fs_remove_tree(kept->dir, err) : 0;
    mc_corpus_free(kept->corpus);
    free(kept->dir);
    *kept = (struct mc_kept){.dir = NULL};
    return rc;
}
