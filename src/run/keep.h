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
