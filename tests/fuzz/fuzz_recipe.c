/* Image recipes: what is read is in an order to build in. */
#include <stdint.h>

#include "run/recipe.h"

#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mc_err err;
    struct mc_recipes recipes;
    fuzz_put("images.yaml", data, size);
    if (mc_recipes_load(fuzz_folder(), &recipes, &err) != 0) {
        return 0;
    }
    for (size_t i = 0; i < recipes.count; i++) {
        const struct mc_recipe *recipe = &recipes.items[i];
        if (mc_recipes_find(&recipes, recipe->name) != recipe || mc_recipes_find(&recipes, recipe->tag) != recipe) {
            abort();
        }
        if (recipe->from && !mc_streq(recipe->from, "scratch") && mc_recipes_find(&recipes, recipe->from) >= recipe) {
            abort();
        }
    }
    mc_recipes_release(&recipes);
    return 0;
}
