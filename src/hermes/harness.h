/*
 * A harness manifest: the agent under test (manifests/harnesses/NAME.yaml).
 *
 * Ownership: mc_harness_load() fills a struct that mc_harness_release() frees; every text in it is borrowed from its
 * document and lives as long.
 */
#pragma once

#include <stdint.h>

#include "base/sha256.h"
#include "base/yaml.h"

enum mc_via { MC_VIA_HERMES, MC_VIA_PROGRAM };

struct mc_harness_limits {
    int64_t start_s;        /* from the container's start to `ready` */
    int64_t turn_s;         /* a turn or probe, where the checkpoint does not say */
    int64_t stop_s;         /* from `shutdown` to the end of the process */
    int64_t tool_calls;     /* model calls a turn may make */
    int64_t context_tokens; /* the model's window as Hermes is told it */
    int64_t memory_mb;      /* of the container */
    int64_t pids;           /* of the container */
};

struct mc_harness {
    const char *name;
    enum mc_via via;
    const char *image;    /* as written: a tag, or with "@sha256:..." */
    const char *version;  /* what `ready` must say */
    const char *provider; /* NULL: none */
    const char *model;    /* a name under the run's models */
    int faked;            /* its processes are under the scenario clock */
    struct mc_harness_limits limits;
    const json_t *config; /* an object, handed to the driver as it stands */
    struct mc_doc doc;
    char *path;
    struct mc_digest digest; /* of the file's bytes */
};

int mc_harness_load(const char *path, struct mc_harness *out, struct mc_err *err) MC_CHECKED;
void mc_harness_release(struct mc_harness *harness);

/* The manifest as it is understood, defaults filled in. New reference. */
json_t *mc_harness_json(const struct mc_harness *harness);

/* "hermes" or "program". */
const char *mc_via_name(enum mc_via via);
