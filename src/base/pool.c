#include "base/pool.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"

static void *keep(struct mc_pool *pool, void *item)
{
    pool->items = mc_grow(pool->items, pool->count, &pool->cap, sizeof *pool->items);
    pool->items[pool->count++] = item;
    return item;
}

void *mc_pool_alloc(struct mc_pool *pool, size_t count, size_t size)
{
    return keep(pool, mc_alloc(count, size));
}

char *mc_pool_strdup(struct mc_pool *pool, const char *text)
{
    return text ? keep(pool, mc_strdup(text)) : NULL;
}

char *mc_pool_strf(struct mc_pool *pool, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = mc_vstrf(format, args);
    va_end(args);
    return keep(pool, text);
}

void mc_pool_release(struct mc_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        free(pool->items[i]);
    }
    free(pool->items);
    *pool = (struct mc_pool){.items = NULL, .count = 0, .cap = 0};
}
