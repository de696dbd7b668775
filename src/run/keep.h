/*
 * Corpora in the store: their files are objects, their listing is the digest.
 *
 * Ownership: listings are the caller's (mc_listing_release()).
 */
#pragma once

#include "corpus/corpus.h"
#include "corpus/digest.h"
#include "store/store.h"

/* Copies a corpus into the store, each file checked against the listing. */
int mc_keep_corpus(struct mc_store *store, const struct mc_corpus *corpus, const struct mc_listing *listing,
                   struct mc_err *err) MC_CHECKED;

/* The listing of a corpus in the store, by digest (or the start of one) or by name; where a name has several, the one
 * added last. */
int mc_kept_listing(struct mc_store *store, const char *given, struct mc_listing *out, struct mc_err *err) MC_CHECKED;

/* For mc_listing_export(): the files come from the store's objects. */
struct mc_file_source mc_kept_files(struct mc_store *store);

/* A corpus of the store as files, in a temporary folder of its own. */
struct mc_kept {
    struct mc_corpus *corpus;
    char *dir;
};
/* By its whole digest; also one that is no longer in the store's list, as long as its objects are there. Every file is
 * checked against its digest. */
int mc_kept_open(struct mc_store *store, const char *digest, struct mc_kept *out, struct mc_err *err) MC_CHECKED;
/* Removes the folder. Fails where it cannot be removed; *kept is released in any case. */
int mc_kept_close(struct mc_kept *kept, struct mc_err *err) MC_CHECKED;
