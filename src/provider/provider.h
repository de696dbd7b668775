/*
 * A provider manifest: the memory system beside Hermes (manifests/providers/NAME.yaml).
 *
 * Ownership: mc_provider_load() fills a struct that mc_provider_release() frees; every text in it is borrowed from its
 * document and lives as long.
 */
#pragma once

#include <stdint.h>

#include "base/sha256.h"
#include "base/yaml.h"

struct mc_provider_limits {
    int64_t start_s;  /* from the container's start to `ready` */
    int64_t import_s; /* one import, until its operation is completed */
    int64_t night_s;  /* one night, likewise */
    int64_t stop_s;   /* from `shutdown` to the end of the process */
    int64_t memory_mb;
    int64_t pids;
};

struct mc_provider {
    const char *name;
    const char *image;       /* as written */
    const char *version;     /* what `ready` must say; NULL: not pinned */
    const char *plugin_name; /* NULL: no plugin of its own, the one bundled with Hermes */
    const char *plugin_from; /* folder in the provider's image */
    const char **tools;      /* names offered to the model, NULL-ended, sorted */
    int64_t *ports;          /* TCP ports that Hermes reaches at 127.0.0.1 */
    size_t port_count;
    int shared_memory;       /* the memory volume is mounted into Hermes too */
    const char *maintenance; /* what a night does: native or none */
    const char **faked;      /* its processes under the scenario clock: NULL-ended; "all" */
    const char **egress;     /* hosts that a cloud provider needs, NULL-ended */
    const json_t *config;    /* handed to the adapter as it stands */
    struct mc_provider_limits limits;
    struct mc_doc doc;
    char *path;
    struct mc_digest digest;
};

int mc_provider_load(const char *path, struct mc_provider *out, struct mc_err *err) MC_CHECKED;
void mc_provider_release(struct mc_provider *provider);

/* The manifest as it is understood, defaults filled in. New reference. */
json_t *mc_provider_json(const struct mc_provider *provider);

/* True where the provider's own processes are under the scenario clock. */
int mc_provider_is_faked(const struct mc_provider *provider);
