#include "corpus/ids.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

enum { CHUNK = 65536 };

struct mc_ids_chunk {
    struct mc_ids_chunk *next;
    size_t used;
    size_t size;
    char bytes[];
};

uint64_t mc_fnv(uint64_t seed, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    uint64_t hash = seed;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ p[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static struct mc_id *find_place(const struct mc_ids *ids, const char *text)
{
    uint64_t hash = mc_fnv(ids->seed, text, strlen(text));
    size_t at = (size_t)(hash ^ (hash >> 32)) & (ids->size - 1);
    while (ids->table[at].text && strcmp(ids->table[at].text, text) != 0) {
        at = (at + 1) & (ids->size - 1);
    }
    return &ids->table[at];
}

/* Doubles the table, which is kept at most two thirds full; its size is a power of two. */
static void grow(struct mc_ids *ids)
{
    if (!ids->table && getrandom(&ids->seed, sizeof ids->seed, GRND_NONBLOCK) < 0) {
        ids->seed = (uint64_t)(uintptr_t)ids;
    }
    struct mc_ids bigger = *ids;
    bigger.size = ids->size ? ids->size * 2 : 64;
    bigger.table = mc_alloc(bigger.size, sizeof *bigger.table);
    for (size_t i = 0; i < ids->size; i++) {
        if (ids->table[i].text) {
            *find_place(&bigger, ids->table[i].text) = ids->table[i];
        }
    }
    free(ids->table);
    *ids = bigger;
}

static const char *keep(struct mc_ids *ids, const char *text)
{
    size_t length = strlen(text) + 1;
    struct mc_ids_chunk *chunk = ids->chunks;
    if (!chunk || chunk->size - chunk->used < length) {
        size_t size = length > CHUNK ? length : CHUNK;
        chunk = mc_alloc(1, sizeof *chunk + size);
        chunk->size = size;
        chunk->next = ids->chunks;
        ids->chunks = chunk;
    }
    char *copy = chunk->bytes + chunk->used;
    memcpy(copy, text, length);
    chunk->used += length;
    return copy;
}

const struct mc_id *mc_ids_add(struct mc_ids *ids, struct mc_id id, int *fresh)
{
    if (ids->count * 3 >= ids->size * 2) {
        grow(ids);
    }
    struct mc_id *place = find_place(ids, id.text);
    *fresh = place->text == NULL;
    if (*fresh) {
        *place = id;
        place->text = keep(ids, id.text);
        ids->count++;
    }
    return place;
}

const struct mc_id *mc_ids_find(const struct mc_ids *ids, const char *text)
{
    if (!ids->size) {
        return NULL;
    }
    const struct mc_id *place = find_place(ids, text);
    return place->text ? place : NULL;
}

void mc_ids_release(struct mc_ids *ids)
{
    while (ids->chunks) {
        struct mc_ids_chunk *next = ids->chunks->next;
        free(ids->chunks);
        ids->chunks = next;
    }
    free(ids->table);
    memset(ids, 0, sizeof *ids);
}
