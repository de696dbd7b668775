/*
 * Building memcal's own images over the Engine API.
 *
 * An image is labelled with the digest of all that it was made from (`org.memcal.recipe`): context, files, wheels'
 * lock, and the image that it stands on. One that has the same label already is left as it is.
 *
 * Ownership: everything in the options is borrowed.
 */
#pragma once

#include "engine/image.h"
#include "run/recipe.h"

struct mc_build_options {
    struct mc_engine *engine;
    const struct mc_recipes *recipes;
    const char *files_dir; /* where memcal's own executables are */
    const char *cache_dir; /* for wheels */
    int force;             /* build where nothing changed, too */
    const struct mc_cancel *cancel;
    struct mc_image_progress progress;
    /* Called before and after an image: `state` is "building", "built" or "unchanged". */
    void (*on_image)(void *payload, const char *name, const char *tag, const char *state);
    void *payload;
};

/* Builds one image; those it stands on must be there. */
int mc_build_image(const struct mc_build_options *options, const struct mc_recipe *recipe,
                   struct mc_err *err) MC_CHECKED;

/* Builds the named images and those they stand on, in the order of the recipes; `names` NULL: all. */
int mc_build_images(const struct mc_build_options *options, const char *const *names, struct mc_err *err) MC_CHECKED;
