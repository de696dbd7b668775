/*
 * A set of IDs with where each was seen and when it became known: for uniqueness, and for links to them.
 *
 * Ownership: the set owns copies of the IDs, which stay where they are until mc_ids_release().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mc_id {
    const char *text; /* NULL: a free place of the table */
    int line;
    int kind;   /* the owner's own */
    int64_t at; /* milliseconds since 1970 at which it is known */
};

struct mc_ids {
    struct mc_id *table;
    size_t size;
    size_t count;
    uint64_t seed; /* random, so that no file can choose names that collide */
    struct mc_ids_chunk *chunks;
};

/* Adds a copy of `id`; returns the entry. `*fresh` is 0 where its text was there before (the entry is left as it was).
 */
const struct mc_id *mc_ids_add(struct mc_ids *ids, struct mc_id id, int *fresh);
/* NULL where there is none. */
const struct mc_id *mc_ids_find(const struct mc_ids *ids, const char *text);
void mc_ids_release(struct mc_ids *ids);

/* FNV-1a, 64 bits, from the state `seed` (Fowler, Noll and Vo; draft-eastlake-fnv). */
uint64_t mc_fnv(uint64_t seed, const void *bytes, size_t length);
#define MC_FNV_START UINT64_C(14695981039346656037)
