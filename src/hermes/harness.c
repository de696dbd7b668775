#include "hermes/harness.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"

enum { MANIFEST_MAX = 1 << 20 };

static const char *const via_names[] = {"hermes", "program", NULL};

const char *mc_via_name(enum mc_via via)
{
    return via_names[via];
}

static int read_limits(const struct mc_view *root, struct mc_harness_limits *limits, struct mc_err *err)
{
    *limits = (struct mc_harness_limits){.start_s = 60,
                                         .turn_s = 120,
                                         .stop_s = 10,
                                         .tool_calls = 20,
                                         .context_tokens = 131072,
                                         .memory_mb = 1024,
                                         .pids = 256};
    static const char *const keys[] = {"start_s",        "turn_s",    "stop_s", "tool_calls",
                                       "context_tokens", "memory_mb", "pids",   NULL};
    struct mc_view view;
    int rc = mc_read_object(root, "limits", MC_OPTIONAL, &view, err);
    if (rc != 0 || !view.value) {
        return rc;
    }
    struct {
        const char *key;
        int64_t min, max;
        int64_t *out;
    } fields[] = {{"start_s", 1, 3600, &limits->start_s},
                  {"turn_s", 1, 86400, &limits->turn_s},
                  {"stop_s", 1, 600, &limits->stop_s},
                  {"tool_calls", 1, 1000, &limits->tool_calls},
                  {"context_tokens", 1024, 100000000, &limits->context_tokens},
                  {"memory_mb", 16, 1048576, &limits->memory_mb},
                  {"pids", 4, 100000, &limits->pids}};
    rc = mc_only_keys(&view, keys, err);
    for (size_t i = 0; rc == 0 && i < MC_COUNT(fields); i++) {
        rc = mc_read_int(&view, fields[i].key, MC_OPTIONAL, fields[i].min, fields[i].max, fields[i].out, err);
    }
    return rc;
}

static int check_hermes(const struct mc_harness *harness, const struct mc_view *root, struct mc_err *err)
{
    /* Hermes refuses a smaller window when it starts (MINIMUM_CONTEXT_LENGTH in its agent_init). */
    if (harness->via == MC_VIA_HERMES && harness->limits.context_tokens < 64000) {
        return mc_view_fail(root, err, "Hermes needs limits.context_tokens of 64000 or more, is %lld",
                            (long long)harness->limits.context_tokens);
    }
    return 0;
}

static int read_fields(const struct mc_view *root, struct mc_harness *out, struct mc_err *err)
{
    static const char *const keys[] = {"name",  "via",   "image",  "version", "provider",
                                       "model", "faked", "limits", "config",  NULL};
    int via = 0;
    struct mc_view config;
    int rc = mc_view_is_object(root, err);
    rc = rc ? rc : mc_only_keys(root, keys, err);
    rc = rc ? rc : mc_read_name(root, "name", MC_REQUIRED, &out->name, err);
    rc = rc ? rc : mc_read_choice(root, "via", MC_REQUIRED, via_names, &via, err);
    rc = rc ? rc : mc_read_id(root, "image", MC_REQUIRED, &out->image, err);
    rc = rc ? rc : mc_read_id(root, "version", MC_REQUIRED, &out->version, err);
    rc = rc ? rc : mc_read_id(root, "provider", MC_OPTIONAL, &out->provider, err);
    rc = rc ? rc : mc_read_id(root, "model", MC_OPTIONAL, &out->model, err);
    out->via = (enum mc_via)via;
    out->faked = out->via == MC_VIA_HERMES;
    rc = rc ? rc : mc_read_bool(root, "faked", MC_OPTIONAL, &out->faked, err);
    rc = rc ? rc : read_limits(root, &out->limits, err);
    rc = rc ? rc : mc_read_object(root, "config", MC_OPTIONAL, &config, err);
    if (rc == 0) {
        out->config = config.value;
        rc = check_hermes(out, root, err);
    }
    return rc;
}

int mc_harness_load(const char *path, struct mc_harness *out, struct mc_err *err)
{
    memset(out, 0, sizeof *out);
    out->model = "default";
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(MANIFEST_MAX);
    int rc = mc_fs_read(path, &bytes, err);
    rc = rc ? rc : mc_yaml_parse(mc_buf_text(&bytes), bytes.len, path, &out->doc, err);
    if (rc != 0) {
        mc_wrap(err, "harness manifest");
        return err->hint[0] ? rc : mc_hint(err, "\"memcal harness list\" names those in manifests/harnesses");
    }
    out->path = mc_strdup(path);
    out->digest = mc_sha256_of(mc_buf_text(&bytes), bytes.len);
    struct mc_view root = mc_doc_view(&out->doc);
    rc = read_fields(&root, out, err);
    if (rc != 0) {
        mc_harness_release(out);
    }
    return rc;
}

void mc_harness_release(struct mc_harness *harness)
{
    mc_doc_release(&harness->doc);
    free(harness->path);
    memset(harness, 0, sizeof *harness);
}

json_t *mc_harness_json(const struct mc_harness *harness)
{
    const struct mc_harness_limits *l = &harness->limits;
    json_t *limits =
        json_pack("{sI sI sI sI sI sI sI}", "start_s", (json_int_t)l->start_s, "turn_s", (json_int_t)l->turn_s,
                  "stop_s", (json_int_t)l->stop_s, "tool_calls", (json_int_t)l->tool_calls, "context_tokens",
                  (json_int_t)l->context_tokens, "memory_mb", (json_int_t)l->memory_mb, "pids", (json_int_t)l->pids);
    json_t *config = harness->config ? json_deep_copy(harness->config) : json_object();
    return json_pack("{ss ss ss ss ss? ss sb so so ss}", "name", harness->name, "via", mc_via_name(harness->via),
                     "image", harness->image, "version", harness->version, "provider", harness->provider, "model",
                     harness->model, "faked", harness->faked, "limits", limits, "config", config, "digest",
                     harness->digest.hex);
}
