/*
 * A run file (manifests/runs/NAME.yaml), with the harness and provider manifests that it names.
 *
 * Ownership: mc_runfile_load() fills a struct that mc_runfile_release() frees; texts are borrowed from the documents.
 */
#pragma once

#include <stdint.h>

#include "base/sha256.h"
#include "base/yaml.h"
#include "hermes/harness.h"
#include "protocol/frame.h"
#include "provider/provider.h"

struct mc_model {
    const char *key;  /* the name that harness manifests use: "default" */
    const char *name; /* what the upstream calls it */
    enum mc_upstream_kind kind;
    const char *script;   /* extractive, redteam */
    const char *base_url; /* openai */
    const char *secret;   /* name of the secret that holds the key; NULL: none */
    const char *network;  /* of the sidecar: none, default, host */
    const json_t *prices; /* USD per million tokens by class, NULL: unknown */
};

/* A harness with the provider that it names, side by side. */
struct mc_entrant {
    struct mc_harness harness;
    struct mc_provider provider;
    int has_provider;
    const struct mc_model *model;
};

struct mc_runfile {
    const char *name;
    char *corpus; /* path */
    struct mc_entrant *entrants;
    size_t entrant_count;
    struct mc_model *models;
    size_t model_count;
    int64_t repetitions;
    int64_t jobs;
    const char **secrets; /* names, NULL-ended */
    int64_t infrastructure_retries;
    double budget_usd;     /* negative: none */
    int64_t budget_tokens; /* negative: none */
    int64_t budget_wall_s; /* negative: none */
    const char *sidecar;   /* image */
    const char *judge;     /* key of a model; NULL: none */
    int64_t votes;         /* of the judge on each claim */
    struct mc_doc doc;
    char *path;
    struct mc_digest digest;
};

int mc_runfile_load(const char *path, struct mc_runfile *out, struct mc_err *err) MC_CHECKED;
void mc_runfile_release(struct mc_runfile *runfile);

/* "script/extractive", "openai", "replay": what reports call the model's source. The caller frees it. */
char *mc_model_source(const struct mc_model *model);

/* Harness and provider manifests stand in folders beside the run file's: <dir>/../harnesses/NAME.yaml. A name with a
 * '/' is a path from `from`'s folder. The caller frees it. */
char *mc_manifest_path(const char *from, const char *folder, const char *name);

/* A harness manifest and the provider manifest that it names. */
int mc_entrant_load(const char *path, struct mc_entrant *out, struct mc_err *err) MC_CHECKED;
void mc_entrant_release(struct mc_entrant *entrant);
