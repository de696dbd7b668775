#include "run/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"

enum { RECIPES_MAX_BYTES = 1 << 20 };

static int read_texts(struct mc_recipes *recipes, const struct mc_view *object, const char *key,
                      const char *const **out, struct mc_err *err)
{
    struct mc_view list;
    int rc = mc_read_array(object, key, MC_OPTIONAL, &list, err);
    size_t count = rc == 0 ? mc_view_count(&list) : 0;
    const char **items = mc_pool_alloc(&recipes->pool, count + 1, sizeof *items);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct mc_view item = mc_view_item(&list, i);
        rc = mc_view_string(&item, &items[i], err);
    }
    *out = items;
    return rc;
}

static int read_wheels(struct mc_recipes *recipes, const struct mc_view *root, struct mc_recipe *out,
                       struct mc_err *err)
{
    static const char *const keys[] = {"lock", "python", "platforms", NULL};
    struct mc_view wheels;
    int rc = mc_read_object(root, "wheels", MC_OPTIONAL, &wheels, err);
    if (rc != 0 || !wheels.value) {
        return rc;
    }
    rc = mc_only_keys(&wheels, keys, err);
    rc = rc ? rc : mc_read_id(&wheels, "lock", MC_REQUIRED, &out->wheels.lock, err);
    rc = rc ? rc : mc_read_id(&wheels, "python", MC_REQUIRED, &out->wheels.python, err);
    return rc ? rc : read_texts(recipes, &wheels, "platforms", &out->wheels.platforms, err);
}

static int read_import(struct mc_recipes *recipes, const struct mc_view *root, struct mc_recipe *out,
                       struct mc_err *err)
{
    static const char *const keys[] = {"pull", "command", NULL};
    struct mc_view import;
    int rc = mc_read_object(root, "import", MC_OPTIONAL, &import, err);
    if (rc != 0 || !import.value) {
        return rc;
    }
    rc = mc_only_keys(&import, keys, err);
    rc = rc ? rc : mc_read_id(&import, "pull", MC_REQUIRED, &out->import.pull, err);
    return rc ? rc : read_texts(recipes, &import, "command", &out->import.command, err);
}

static int read_recipe(struct mc_recipes *recipes, const struct mc_view *view, struct mc_recipe *out,
                       struct mc_err *err)
{
    static const char *const keys[] = {"name", "tag", "context", "from", "wheels", "files", "import", NULL};
    int rc = mc_view_is_object(view, err);
    rc = rc ? rc : mc_only_keys(view, keys, err);
    rc = rc ? rc : mc_read_id(view, "name", MC_REQUIRED, &out->name, err);
    rc = rc ? rc : mc_read_id(view, "tag", MC_REQUIRED, &out->tag, err);
    rc = rc ? rc : mc_read_id(view, "context", MC_OPTIONAL, &out->context, err);
    rc = rc ? rc : mc_read_id(view, "from", MC_OPTIONAL, &out->from, err);
    rc = rc ? rc : read_wheels(recipes, view, out, err);
    rc = rc ? rc : read_texts(recipes, view, "files", &out->files, err);
    rc = rc ? rc : read_import(recipes, view, out, err);
    if (rc == 0 && !out->context == !out->import.pull) {
        return mc_view_fail(view, err, "needs either \"context\" or \"import\"");
    }
    return rc;
}

/* What an image stands on comes before it: so the order of the file is an order to build in, and no circle is. */
static int check_order(const struct mc_recipes *before, const struct mc_view *view, const struct mc_recipe *recipe,
                       struct mc_err *err)
{
    if (mc_recipes_find(before, recipe->name) || mc_recipes_find(before, recipe->tag)) {
        return mc_view_fail(view, err, "the name or tag of the image \"%s\" stands here twice", recipe->name);
    }
    if (!recipe->from || mc_streq(recipe->from, "scratch")) {
        return 0;
    }
    const struct mc_recipe *base = mc_recipes_find(before, recipe->from);
    if (!base || !mc_streq(base->tag, recipe->from)) {
        return mc_view_fail(view, err, "\"from\" must be \"scratch\" or the tag of an image before it, is \"%s\"",
                            recipe->from);
    }
    return 0;
}

int mc_recipes_load(const char *dir, struct mc_recipes *out, struct mc_err *err)
{
    memset(out, 0, sizeof *out);
    MC_AUTOFREE char *path = mc_path_join(dir, "images.yaml");
    int rc = mc_yaml_load(path, RECIPES_MAX_BYTES, &out->doc, err);
    if (rc != 0) {
        mc_wrap(err, "image recipes");
        return rc == MC_NOT_FOUND ? mc_hint(err, "say where memcal's images/ folder is with --images DIR") : rc;
    }
    out->dir = mc_strdup(dir);
    struct mc_view root = mc_doc_view(&out->doc);
    struct mc_view list;
    static const char *const keys[] = {"images", NULL};
    rc = mc_view_is_object(&root, err);
    rc = rc ? rc : mc_only_keys(&root, keys, err);
    rc = rc ? rc : mc_read_array(&root, "images", MC_REQUIRED, &list, err);
    if (rc == 0) {
        out->items = mc_alloc(mc_view_count(&list), sizeof *out->items);
        for (size_t i = 0; rc == 0 && i < mc_view_count(&list); i++) {
            struct mc_view item = mc_view_item(&list, i);
            struct mc_recipe *recipe = &out->items[out->count];
            rc = read_recipe(out, &item, recipe, err);
            rc = rc ? rc : check_order(out, &item, recipe, err);
            out->count++;
        }
    }
    if (rc != 0) {
        mc_recipes_release(out);
    }
    return rc;
}

void mc_recipes_release(struct mc_recipes *recipes)
{
    free(recipes->items);
    free(recipes->dir);
    mc_pool_release(&recipes->pool);
    mc_doc_release(&recipes->doc);
    memset(recipes, 0, sizeof *recipes);
}

const struct mc_recipe *mc_recipes_find(const struct mc_recipes *recipes, const char *name)
{
    for (size_t i = 0; i < recipes->count; i++) {
        if (mc_streq(recipes->items[i].name, name) || mc_streq(recipes->items[i].tag, name)) {
            return &recipes->items[i];
        }
    }
    return NULL;
}
