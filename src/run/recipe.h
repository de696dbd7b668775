/*
 * The recipes of memcal's own images (images/images.yaml, which documents the format).
 *
 * Ownership: mc_recipes_load() fills a struct that mc_recipes_release() frees; texts are borrowed from its document.
 */
#pragma once

#include "base/pool.h"
#include "base/yaml.h"

struct mc_recipe {
    const char *name;
    const char *tag;
    const char *context; /* folder beside images.yaml; NULL for an import */
    const char *from;    /* tag of the image it stands on; "scratch" or NULL: none */
    struct {
        const char *lock; /* in the context; NULL: no wheels */
        const char *python;
        const char *const *platforms; /* NULL-ended */
    } wheels;
    const char *const *files; /* made by memcal's own build, NULL-ended */
    struct {
        const char *pull;           /* reference with a digest; NULL: this recipe is no import */
        const char *const *command; /* prints a tar, NULL-ended */
    } import;
};

struct mc_recipes {
    struct mc_recipe *items;
    size_t count;
    char *dir; /* the folder that holds images.yaml */
    struct mc_doc doc;
    struct mc_pool pool;
};

int mc_recipes_load(const char *dir, struct mc_recipes *out, struct mc_err *err) MC_CHECKED;
void mc_recipes_release(struct mc_recipes *recipes);
const struct mc_recipe *mc_recipes_find(const struct mc_recipes *recipes, const char *name);
