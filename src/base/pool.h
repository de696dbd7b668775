/*
 * A pool: things that are made one by one and freed together.
 *
 * Ownership: everything handed out belongs to the pool and lives until mc_pool_release(). Zero-initialise it.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"

struct mc_pool {
    void **items;
    size_t count;
    size_t cap;
};

void *mc_pool_alloc(struct mc_pool *pool, size_t count, size_t size);
char *mc_pool_strdup(struct mc_pool *pool, const char *text); /* NULL gives NULL */
char *mc_pool_strf(struct mc_pool *pool, const char *format, ...) MC_PRINTF(2, 3);
void mc_pool_release(struct mc_pool *pool);

#define MC_AUTOPOOL MC_CLEANUP(mc_pool_release)
