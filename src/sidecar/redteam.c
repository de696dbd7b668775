#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "sidecar/script.h"

/*
 * The redteam script: it calls what it must not call, so that every layer of the boundary can be seen to refuse it.
 *
 * Its roads stand in the run's config: "roads": [{"name", "tool", "arguments"?}]. A user's message that holds a road's
 * name chooses it; otherwise the first is taken. Once the turn has a tool's result, the script says what it got.
 */

static int read_road(const json_t *config, const char *text, struct mc_move *out, const char **name, struct mc_err *err)
{
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    struct mc_view root = mc_view_root(&source, config);
    struct mc_view roads;
    int rc = mc_read_array(&root, "roads", MC_REQUIRED, &roads, err);
    if (rc != 0 || mc_view_count(&roads) == 0) {
        return rc != 0 ? rc : mc_view_fail(&roads, err, "must hold a road");
    }
    size_t chosen = 0;
    for (size_t i = 0; i < mc_view_count(&roads); i++) {
        const char *road = json_string_value(json_object_get(json_array_get(roads.value, i), "name"));
        if (road && strstr(text, road)) {
            chosen = i;
            break;
        }
    }
    struct mc_view road = mc_view_item(&roads, chosen);
    const char *tool = NULL;
    const char *arguments = "{}";
    if ((rc = mc_view_is_object(&road, err)) != 0 ||
        (rc = mc_read_string(&road, "name", MC_REQUIRED, name, err)) != 0 ||
        (rc = mc_read_string(&road, "tool", MC_REQUIRED, &tool, err)) != 0 ||
        (rc = mc_read_string(&road, "arguments", MC_OPTIONAL, &arguments, err)) != 0) {
        return rc;
    }
    out->tool = mc_strdup(tool);
    out->arguments = mc_strdup(arguments);
    return 0;
}

int mc_script_redteam(const json_t *request, const json_t *messages, const json_t *config, struct mc_move *out,
                      struct mc_err *err)
{
    (void)request;
    size_t asked = mc_last_message(messages, "user");
    MC_AUTOFREE char *text = mc_message_text(json_array_get(messages, asked));
    const char *name = NULL;
    int rc = read_road(config, text, out, &name, err);
    size_t result = mc_last_message(messages, "tool");
    if (rc == 0 && result < json_array_size(messages) && (result > asked || asked == json_array_size(messages))) {
        MC_AUTOFREE char *got = mc_message_text(json_array_get(messages, result));
        mc_move_release(out);
        out->text = mc_strf("The road %s gave: %s", name, got);
    }
    return rc != 0 ? mc_wrap(err, "the redteam's config") : 0;
}
