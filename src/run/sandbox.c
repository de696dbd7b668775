#include "run/sandbox.h"

#include <string.h>

#include "base/mem.h"

enum { GATEWAY_PORT = 8080 };

static const char *const volume_names[] = {"bin",  "clock",  "net",          "out-sidecar",  "out-harness",
                                           "home", "memory", "net-provider", "out-provider", "plugin"};

const char *mc_volume_name(enum mc_volume volume)
{
    return volume_names[volume];
}

struct mc_labels mc_run_labels(struct mc_label *room, const char *store, const char *run)
{
    room[0] = (struct mc_label){"org.memcal.store", store};
    room[1] = (struct mc_label){"org.memcal.run", run};
    return (struct mc_labels){room, 2};
}

struct mc_labels mc_sandbox_labels(const struct mc_sandbox *sandbox)
{
    return (struct mc_labels){sandbox->labels, sandbox->label_count};
}

/* A NULL-ended list of texts that grows in the sandbox's pool. */
struct list {
    struct mc_pool *pool;
    const char **items;
    size_t count;
    size_t room;
};

static void add(struct list *list, const char *text)
{
    if (list->count + 1 >= list->room) {
        list->room = list->room ? list->room * 2 : 32;
        const char **bigger = mc_pool_alloc(list->pool, list->room, sizeof *bigger);
        if (list->count) {
            memcpy(bigger, list->items, list->count * sizeof *bigger);
        }
        list->items = bigger;
    }
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

struct mounts {
    struct mc_mount items[MC_VOLUMES];
    size_t count;
};

enum access { READ, WRITE, FILL }; /* FILL: and take over what the image has there */

static void mount(struct mounts *mounts, const struct mc_sandbox *sandbox, enum mc_volume volume, const char *path,
                  enum access access)
{
    if (sandbox->volumes[volume]) {
        mounts->items[mounts->count++] =
            (struct mc_mount){sandbox->volumes[volume], path, access == READ, access == FILL};
    }
}

static void finish(struct mc_sandbox *sandbox, struct mc_container_spec *spec, enum mc_role role,
                   const struct mounts *mounts)
{
    struct mc_mount *items = mc_pool_alloc(&sandbox->pool, mounts->count, sizeof *items);
    memcpy(items, mounts->items, mounts->count * sizeof *items);
    spec->mounts = items;
    spec->mount_count = mounts->count;
    struct mc_label *labels = mc_pool_alloc(&sandbox->pool, sandbox->label_count + 1, sizeof *labels);
    memcpy(labels, sandbox->labels, sandbox->label_count * sizeof *labels);
    labels[sandbox->label_count] = (struct mc_label){"org.memcal.role", mc_role_name(role)};
    spec->labels = (struct mc_labels){labels, sandbox->label_count + 1};
    spec->name = sandbox->containers[role];
    spec->open_stdin = 1;
    mc_container_spec_confine(spec);
}

/* libfaketime's settings and why each is there: docs/decisions.md, "The scenario clock". */
static void add_clock(struct list *env)
{
    static const char *const settings[] = {"LD_PRELOAD=/usr/local/lib/memcal/libfaketimeMT.so.1",
                                           "FAKETIME_TIMESTAMP_FILE=/memcal/clock/now",
                                           "FAKETIME_NO_CACHE=1",
                                           "FAKETIME_DONT_FAKE_MONOTONIC=1",
                                           "FAKETIME_FORCE_MONOTONIC_FIX=0",
                                           "FAKETIME_DISABLE_SHM=1",
                                           "NO_FAKE_STAT=1"};
    for (size_t i = 0; i < MC_COUNT(settings); i++) {
        add(env, settings[i]);
    }
}

/* memcal-enter before the image's own command. */
static void put_enter_before(struct mc_sandbox *sandbox, struct mc_container_spec *spec, const struct mc_image *image,
                             const char *const *forwards)
{
    struct list entry = {.pool = &sandbox->pool};
    add(&entry, "/memcal/bin/memcal-enter");
    add(&entry, "--report");
    add(&entry, MC_ENTER_REPORT);
    for (size_t i = 0; forwards && forwards[i]; i++) {
        add(&entry, forwards[i]);
    }
    add(&entry, "--");
    for (size_t i = 0; image->entrypoint[i]; i++) {
        add(&entry, mc_pool_strdup(&sandbox->pool, image->entrypoint[i]));
    }
    struct list cmd = {.pool = &sandbox->pool};
    for (size_t i = 0; image->cmd[i]; i++) {
        add(&cmd, mc_pool_strdup(&sandbox->pool, image->cmd[i]));
    }
    spec->entrypoint = entry.items;
    spec->cmd = cmd.items;
    spec->image = mc_pool_strdup(&sandbox->pool, image->id);
    spec->workdir = image->workdir[0] ? mc_pool_strdup(&sandbox->pool, image->workdir) : NULL;
}

static const char **program_env(struct mc_sandbox *sandbox, int faked, const char *timezone)
{
    struct list env = {.pool = &sandbox->pool};
    add(&env, mc_pool_strf(&sandbox->pool, "TZ=%s", timezone));
    if (faked) {
        add_clock(&env);
    }
    return env.items;
}

static void plan_sidecar(struct mc_sandbox *sandbox, const struct mc_image *image)
{
    static const char *const entrypoint[] = {"/usr/local/bin/memcal", NULL};
    static const char *const cmd[] = {"sidecar", NULL};
    struct mc_container_spec *spec = &sandbox->specs[MC_SIDECAR];
    spec->image = mc_pool_strdup(&sandbox->pool, image->id);
    spec->entrypoint = entrypoint;
    spec->cmd = cmd;
    spec->memory = (int64_t)256 << 20;
    struct mounts mounts = {.count = 0};
    mount(&mounts, sandbox, MC_VOLUME_BIN, "/memcal/bin", FILL);
    mount(&mounts, sandbox, MC_VOLUME_CLOCK, "/memcal/clock", FILL);
    mount(&mounts, sandbox, MC_VOLUME_NET, "/memcal/net", FILL);
    mount(&mounts, sandbox, MC_VOLUME_OUT_SIDECAR, "/memcal/out", FILL);
    /* The others' volumes are mounted here only to be made theirs: a fresh volume takes owner and mode from the first
     * image that it is mounted in, and any other image may not have the folder at all. */
    mount(&mounts, sandbox, MC_VOLUME_OUT_HARNESS, "/memcal/fresh/out-harness", FILL);
    mount(&mounts, sandbox, MC_VOLUME_HOME, "/memcal/fresh/home", FILL);
    mount(&mounts, sandbox, MC_VOLUME_MEMORY, "/memcal/fresh/memory", FILL);
    mount(&mounts, sandbox, MC_VOLUME_NET_PROVIDER, "/memcal/fresh/net-provider", FILL);
    mount(&mounts, sandbox, MC_VOLUME_OUT_PROVIDER, "/memcal/fresh/out-provider", FILL);
    finish(sandbox, spec, MC_SIDECAR, &mounts);
    /* The only one that may have a network, where its upstream needs one; set last, as being confined takes it away. */
    spec->network = sandbox->entrant->model ? sandbox->entrant->model->network : "none";
}

static void plan_provider(struct mc_sandbox *sandbox, const struct mc_image *image, const char *timezone)
{
    const struct mc_provider *provider = &sandbox->entrant->provider;
    struct mc_container_spec *spec = &sandbox->specs[MC_PROVIDER];
    struct list forwards = {.pool = &sandbox->pool};
    add(&forwards, "--listen-tcp");
    add(&forwards, mc_pool_strf(&sandbox->pool, "%d=/memcal/net/model.sock", GATEWAY_PORT));
    for (size_t i = 0; i < provider->port_count; i++) {
        long long port = (long long)provider->ports[i];
        add(&forwards, "--listen-unix");
        add(&forwards, mc_pool_strf(&sandbox->pool, "/memcal/net-provider/%lld.sock=%lld", port, port));
    }
    put_enter_before(sandbox, spec, image, forwards.items);
    spec->env = program_env(sandbox, mc_provider_is_faked(provider), timezone);
    spec->memory = provider->limits.memory_mb << 20;
    spec->pids = provider->limits.pids;
    struct mounts mounts = {.count = 0};
    mount(&mounts, sandbox, MC_VOLUME_BIN, "/memcal/bin", READ);
    mount(&mounts, sandbox, MC_VOLUME_CLOCK, "/memcal/clock", READ);
    mount(&mounts, sandbox, MC_VOLUME_NET, "/memcal/net", READ);
    mount(&mounts, sandbox, MC_VOLUME_MEMORY, "/memcal/memory", WRITE);
    mount(&mounts, sandbox, MC_VOLUME_NET_PROVIDER, "/memcal/net-provider", WRITE);
    mount(&mounts, sandbox, MC_VOLUME_OUT_PROVIDER, "/memcal/out", WRITE);
    /* Fresh and empty: the engine copies the image's folder into it. */
    mount(&mounts, sandbox, MC_VOLUME_PLUGIN, provider->plugin_from, FILL);
    finish(sandbox, spec, MC_PROVIDER, &mounts);
}

static void plan_harness(struct mc_sandbox *sandbox, const struct mc_image *image, const char *timezone)
{
    const struct mc_entrant *entrant = sandbox->entrant;
    struct mc_container_spec *spec = &sandbox->specs[MC_HARNESS];
    struct list forwards = {.pool = &sandbox->pool};
    add(&forwards, "--listen-tcp");
    add(&forwards, mc_pool_strf(&sandbox->pool, "%d=/memcal/net/model.sock", GATEWAY_PORT));
    for (size_t i = 0; entrant->has_provider && i < entrant->provider.port_count; i++) {
        long long port = (long long)entrant->provider.ports[i];
        add(&forwards, "--listen-tcp");
        add(&forwards, mc_pool_strf(&sandbox->pool, "%lld=/memcal/net-provider/%lld.sock", port, port));
    }
    put_enter_before(sandbox, spec, image, forwards.items);
    spec->env = program_env(sandbox, entrant->harness.faked, timezone);
    spec->memory = entrant->harness.limits.memory_mb << 20;
    spec->pids = entrant->harness.limits.pids;
    struct mounts mounts = {.count = 0};
    mount(&mounts, sandbox, MC_VOLUME_BIN, "/memcal/bin", READ);
    mount(&mounts, sandbox, MC_VOLUME_CLOCK, "/memcal/clock", READ);
    mount(&mounts, sandbox, MC_VOLUME_NET, "/memcal/net", READ);
    mount(&mounts, sandbox, MC_VOLUME_OUT_HARNESS, "/memcal/out", WRITE);
    mount(&mounts, sandbox, MC_VOLUME_HOME, "/memcal/home", WRITE);
    mount(&mounts, sandbox, MC_VOLUME_NET_PROVIDER, "/memcal/net-provider", READ);
    mount(&mounts, sandbox, MC_VOLUME_PLUGIN, "/memcal/plugin", READ);
    if (entrant->has_provider && entrant->provider.shared_memory) {
        mount(&mounts, sandbox, MC_VOLUME_MEMORY, "/memcal/memory", WRITE);
    }
    finish(sandbox, spec, MC_HARNESS, &mounts);
}

static int is_needed(const struct mc_entrant *entrant, enum mc_volume volume)
{
    switch (volume) {
    case MC_VOLUME_MEMORY:
    case MC_VOLUME_NET_PROVIDER:
    case MC_VOLUME_OUT_PROVIDER:
        return entrant->has_provider;
    case MC_VOLUME_PLUGIN:
        return entrant->has_provider && entrant->provider.plugin_from;
    default:
        return 1;
    }
}

static void plan_labels(struct mc_sandbox *sandbox, const struct mc_sandbox_names *names)
{
    const struct mc_label labels[] = {{"org.memcal.store", names->store},
                                      {"org.memcal.run", names->run},
                                      {"org.memcal.trial", names->trial},
                                      {"org.memcal.attempt", names->attempt},
                                      {"org.memcal.owner", names->owner}};
    struct mc_label *copy = mc_pool_alloc(&sandbox->pool, MC_COUNT(labels), sizeof *copy);
    for (size_t i = 0; i < MC_COUNT(labels); i++) {
        copy[i] = (struct mc_label){labels[i].name, mc_pool_strdup(&sandbox->pool, labels[i].value)};
    }
    sandbox->labels = copy;
    sandbox->label_count = MC_COUNT(labels);
}

void mc_sandbox_plan(struct mc_sandbox *sandbox, const struct mc_sandbox_names *names,
                     const struct mc_sandbox_images *images, const struct mc_entrant *entrant, const char *timezone)
{
    memset(sandbox, 0, sizeof *sandbox);
    sandbox->entrant = entrant;
    plan_labels(sandbox, names);
    for (int v = 0; v < MC_VOLUMES; v++) {
        if (is_needed(entrant, (enum mc_volume)v)) {
            sandbox->volumes[v] = mc_pool_strf(&sandbox->pool, "memcal-%s-%s", names->attempt, volume_names[v]);
        }
    }
    for (int r = 0; r < MC_ROLES; r++) {
        if (r != MC_PROVIDER || entrant->has_provider) {
            sandbox->containers[r] =
                mc_pool_strf(&sandbox->pool, "memcal-%s-%s", names->attempt, mc_role_name((enum mc_role)r));
        }
    }
    plan_sidecar(sandbox, &images->roles[MC_SIDECAR]->image);
    if (entrant->has_provider) {
        plan_provider(sandbox, &images->roles[MC_PROVIDER]->image, timezone);
    }
    plan_harness(sandbox, &images->roles[MC_HARNESS]->image, timezone);
}

void mc_sandbox_release(struct mc_sandbox *sandbox)
{
    mc_pool_release(&sandbox->pool);
    memset(sandbox, 0, sizeof *sandbox);
}

json_t *mc_sandbox_json(const struct mc_sandbox *sandbox)
{
    json_t *volumes = json_array();
    for (int v = 0; v < MC_VOLUMES; v++) {
        if (sandbox->volumes[v]) {
            json_array_append_new(volumes, json_string(sandbox->volumes[v]));
        }
    }
    json_t *containers = json_object();
    for (int r = 0; r < MC_ROLES; r++) {
        if (sandbox->containers[r]) {
            json_t *spec = mc_container_spec_json(&sandbox->specs[r]);
            json_object_set_new(spec, "Name", json_string(sandbox->containers[r]));
            json_object_set_new(containers, mc_role_name((enum mc_role)r), spec);
        }
    }
    return json_pack("{so so}", "volumes", volumes, "containers", containers);
}
