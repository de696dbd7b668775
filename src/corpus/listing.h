/*
 * What the two halves of digest.h share: reading folders (digest.c) and reading listings back (export.c).
 *
 * Ownership: as in digest.h.
 */
#pragma once

#include "base/json.h"
#include "corpus/digest.h"

/* True where a file's name can be part of a corpus. */
int mc_listing_name_fits(const char *name);

/* Sorts the listing and computes its digest. */
void mc_listing_seal(struct mc_listing *listing);
