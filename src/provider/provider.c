#include "provider/provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"

enum { MANIFEST_MAX = 1 << 20, LIST_MAX = 1000, PORTS_MAX = 64 };

static int read_limits(const struct mc_view *root, struct mc_provider_limits *limits, struct mc_err *err)
{
    *limits = (struct mc_provider_limits){
        .start_s = 60, .import_s = 300, .night_s = 600, .stop_s = 10, .memory_mb = 1024, .pids = 256};
    static const char *const keys[] = {"start_s", "import_s", "night_s", "stop_s", "memory_mb", "pids", NULL};
    struct mc_view view;
    int rc = mc_read_object(root, "limits", MC_OPTIONAL, &view, err);
    if (rc != 0 || !view.value) {
        return rc;
    }
    struct {
        const char *key;
        int64_t min, max;
        int64_t *out;
    } fields[] = {{"start_s", 1, 3600, &limits->start_s},         {"import_s", 1, 86400, &limits->import_s},
                  {"night_s", 1, 86400, &limits->night_s},        {"stop_s", 1, 600, &limits->stop_s},
                  {"memory_mb", 16, 1048576, &limits->memory_mb}, {"pids", 4, 100000, &limits->pids}};
    rc = mc_only_keys(&view, keys, err);
    for (size_t i = 0; rc == 0 && i < MC_COUNT(fields); i++) {
        rc = mc_read_int(&view, fields[i].key, MC_OPTIONAL, fields[i].min, fields[i].max, fields[i].out, err);
    }
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A list of texts as a sorted, NULL-ended array (of borrowed texts); absent: empty. */
static int read_names(const struct mc_view *root, const char *key, const char ***out, struct mc_err *err)
{
    struct mc_view list;
    int rc = mc_read_array(root, key, MC_OPTIONAL, &list, err);
    if (rc != 0) {
        return rc;
    }
    size_t count = mc_view_count(&list);
    if (count > LIST_MAX) {
        return mc_view_fail(&list, err, "has %zu items, at most %d are allowed", count, LIST_MAX);
    }
    *out = mc_alloc(count + 1, sizeof **out);
    for (size_t i = 0; i < count; i++) {
        struct mc_view item = mc_view_item(&list, i);
        rc = mc_view_id(&item, &(*out)[i], err);
        if (rc != 0) {
            return rc;
        }
    }
    qsort(*out, count, sizeof **out, by_name);
    for (size_t i = 1; i < count; i++) {
        if (mc_streq((*out)[i - 1], (*out)[i])) {
            return mc_view_fail(&list, err, "\"%s\" stands here twice", (*out)[i]);
        }
    }
    return 0;
}

static int read_ports(const struct mc_view *root, struct mc_provider *out, struct mc_err *err)
{
    struct mc_view list;
    int rc = mc_read_array(root, "expose", MC_OPTIONAL, &list, err);
    if (rc != 0) {
        return rc;
    }
    size_t count = mc_view_count(&list);
    if (count > PORTS_MAX) {
        return mc_view_fail(&list, err, "has %zu items, at most %d are allowed", count, PORTS_MAX);
    }
    out->ports = mc_alloc(count, sizeof *out->ports);
    for (size_t i = 0; i < count; i++) {
        struct mc_view item = mc_view_item(&list, i);
        json_int_t port = json_is_integer(item.value) ? json_integer_value(item.value) : 0;
        /* 8080 is the model gateway. */
        if (port < 1 || port > 65535 || port == 8080) {
            return mc_view_fail(&item, err, "must be a port from 1 to 65535 other than 8080");
        }
        for (size_t j = 0; j < i; j++) {
            if (out->ports[j] == port) {
                return mc_view_fail(&list, err, "%lld stands here twice", (long long)port);
            }
        }
        out->ports[out->port_count++] = port;
    }
    return 0;
}

static int read_plugin(const struct mc_view *root, struct mc_provider *out, struct mc_err *err)
{
    static const char *const keys[] = {"name", "from", NULL};
    struct mc_view plugin;
    int rc = mc_read_object(root, "plugin", MC_OPTIONAL, &plugin, err);
    if (rc != 0 || !plugin.value) {
        return rc;
    }
    rc = mc_only_keys(&plugin, keys, err);
    rc = rc ? rc : mc_read_id(&plugin, "name", MC_REQUIRED, &out->plugin_name, err);
    rc = rc ? rc : mc_read_id(&plugin, "from", MC_OPTIONAL, &out->plugin_from, err);
    /* The engine writes mounts as VOLUME:PATH:OPTIONS. */
    const char *from = out->plugin_from;
    if (rc == 0 && from && (from[0] != '/' || !from[1] || strchr(from, ':'))) {
        return mc_view_fail(&plugin, err, "\"from\" must be an absolute path in the provider's image, without \":\"");
    }
    return rc;
}

static int read_fields(const struct mc_view *root, struct mc_provider *out, struct mc_err *err)
{
    static const char *const keys[] = {"name",        "image", "version", "plugin", "tools",  "expose", "memory_volume",
                                       "maintenance", "faked", "egress",  "config", "limits", NULL};
    static const char *const volumes[] = {"private", "shared", NULL};
    static const char *const kinds[] = {"native", "none", NULL};
    int kind = 0;
    struct mc_view config;
    int rc = mc_view_is_object(root, err);
    rc = rc ? rc : mc_only_keys(root, keys, err);
    rc = rc ? rc : mc_read_name(root, "name", MC_REQUIRED, &out->name, err);
    rc = rc ? rc : mc_read_id(root, "image", MC_REQUIRED, &out->image, err);
    rc = rc ? rc : mc_read_id(root, "version", MC_OPTIONAL, &out->version, err);
    rc = rc ? rc : read_plugin(root, out, err);
    rc = rc ? rc : read_names(root, "tools", &out->tools, err);
    rc = rc ? rc : read_ports(root, out, err);
    rc = rc ? rc : mc_read_choice(root, "memory_volume", MC_OPTIONAL, volumes, &out->shared_memory, err);
    rc = rc ? rc : mc_read_choice(root, "maintenance", MC_OPTIONAL, kinds, &kind, err);
    rc = rc ? rc : read_names(root, "faked", &out->faked, err);
    rc = rc ? rc : read_names(root, "egress", &out->egress, err);
    rc = rc ? rc : mc_read_object(root, "config", MC_OPTIONAL, &config, err);
    rc = rc ? rc : read_limits(root, &out->limits, err);
    if (rc == 0) {
        out->maintenance = kinds[kind];
        out->config = config.value;
        if (out->egress[0]) {
            mc_view_fail(root, err, "egress to \"%s\": this version reaches no host but the model", out->egress[0]);
            rc = mc_hint(err, "use a provider that works without a network of its own");
        }
    }
    return rc;
}

int mc_provider_load(const char *path, struct mc_provider *out, struct mc_err *err)
{
    memset(out, 0, sizeof *out);
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(MANIFEST_MAX);
    int rc = mc_fs_read(path, &bytes, err);
    rc = rc ? rc : mc_yaml_parse(mc_buf_text(&bytes), bytes.len, path, &out->doc, err);
    if (rc != 0) {
        mc_wrap(err, "provider manifest");
        return err->hint[0] ? rc : mc_hint(err, "\"memcal provider list\" names those in manifests/providers");
    }
    out->path = mc_strdup(path);
    out->digest = mc_sha256_of(mc_buf_text(&bytes), bytes.len);
    struct mc_view root = mc_doc_view(&out->doc);
    rc = read_fields(&root, out, err);
    if (rc != 0) {
        mc_provider_release(out);
    }
    return rc;
}

void mc_provider_release(struct mc_provider *provider)
{
    mc_doc_release(&provider->doc);
    free(provider->tools);
    free(provider->ports);
    free(provider->faked);
    free(provider->egress);
    free(provider->path);
    memset(provider, 0, sizeof *provider);
}

int mc_provider_is_faked(const struct mc_provider *provider)
{
    return provider->faked[0] != NULL;
}

static json_t *names_json(const char *const *names)
{
    json_t *list = json_array();
    for (size_t i = 0; names[i]; i++) {
        json_array_append_new(list, json_string(names[i]));
    }
    return list;
}

json_t *mc_provider_json(const struct mc_provider *provider)
{
    const struct mc_provider_limits *l = &provider->limits;
    json_t *limits =
        json_pack("{sI sI sI sI sI sI}", "start_s", (json_int_t)l->start_s, "import_s", (json_int_t)l->import_s,
                  "night_s", (json_int_t)l->night_s, "stop_s", (json_int_t)l->stop_s, "memory_mb",
                  (json_int_t)l->memory_mb, "pids", (json_int_t)l->pids);
    json_t *ports = json_array();
    for (size_t i = 0; i < provider->port_count; i++) {
        json_array_append_new(ports, json_integer(provider->ports[i]));
    }
    json_t *plugin = provider->plugin_name
                         ? json_pack("{ss ss?}", "name", provider->plugin_name, "from", provider->plugin_from)
                         : json_null();
    json_t *config = provider->config ? json_deep_copy(provider->config) : json_object();
    return json_pack("{ss ss ss? so so so ss ss so so so so ss}", "name", provider->name, "image", provider->image,
                     "version", provider->version, "plugin", plugin, "tools", names_json(provider->tools), "expose",
                     ports, "memory_volume", provider->shared_memory ? "shared" : "private", "maintenance",
                     provider->maintenance, "faked", names_json(provider->faked), "egress",
                     names_json(provider->egress), "config", config, "limits", limits, "digest", provider->digest.hex);
}
