#include "engine/network.h"

#include "base/json.h"
#include "base/mem.h"
#include "engine/own.h"

int mc_network_list(struct mc_engine *engine, struct mc_labels labels, struct mc_objects *out, struct mc_until until,
                    struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/networks");
    mc_api_label_filter(&path, labels);
    struct mc_api_call call = {.method = "GET", .path = mc_buf_text(&path), .what = "listing networks"};
    MC_AUTOJSON json_t *list = NULL;
    int rc = mc_api_json(engine, &call, &list, until, err);
    if (rc != 0) {
        return rc;
    }
    *out = MC_OBJECTS_INIT;
    size_t index;
    json_t *item;
    json_array_foreach (list, index, item) {
        if (mc_labels_match(json_object_get(item, "Labels"), labels)) {
            mc_objects_add(out, item, mc_api_text(item, "Id"), mc_api_text(item, "Name"));
        }
    }
    return 0;
}

int mc_network_remove(struct mc_engine *engine, const char *id, struct mc_labels ours, struct mc_until until,
                      struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("removing network %s", id);
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/networks/");
    mc_api_escape(&path, id);
    int rc = 0;
    if (ours.count > 0) {
        struct mc_api_call look = {.method = "GET", .path = mc_buf_text(&path), .what = what};
        MC_AUTOJSON json_t *now = NULL;
        rc = mc_api_json(engine, &look, &now, until, err);
        if (rc == 0) {
            rc = mc_labels_check(json_object_get(now, "Labels"), ours, what, err);
        }
    }
    if (rc == 0) {
        struct mc_api_call call = {.method = "DELETE", .path = mc_buf_text(&path), .what = what};
        rc = mc_api_run(engine, &call, NULL, until, err);
    }
    return rc == MC_NOT_FOUND ? 0 : rc;
}
