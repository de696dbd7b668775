/*
 * What a run is going to be, pinned before anything starts: the corpus by its files, harnesses and providers by their
 * manifests, images by their IDs on this engine, and the trials in order. Its JSON is the run manifest.
 *
 * Ownership: mc_plan_make() fills a struct that mc_plan_release() frees (also after a failure). The engine is borrowed.
 */
#pragma once

#include "corpus/corpus.h"
#include "corpus/digest.h"
#include "engine/engine.h"
#include "run/runfile.h"
#include "run/sandbox.h"
#include "store/store.h"

struct mc_plan_options {
    const char *runfile;
    const char *const *lives; /* NULL-ended: only these; NULL: all */
    const char *const *harnesses;
    int64_t repetitions; /* 0: as the run file says */
    double budget_usd;   /* negative: as the run file says */
    int require_pinned;
    int skip_preflight;
};

struct mc_planned_trial {
    const char *life; /* ID */
    size_t entrant;   /* index */
    int64_t repetition;
};

struct mc_plan {
    struct mc_runfile runfile;
    struct mc_corpus *corpus;
    struct mc_listing listing;
    struct mc_found_image sidecar;
    struct mc_found_image *harness_images; /* one for each entrant */
    struct mc_found_image *provider_images;
    struct mc_planned_trial *trials; /* repetition by repetition, life by life, harness by harness */
    size_t trial_count;
    int verified; /* preflight is part of it */
    json_t *manifest;
    struct mc_digest digest; /* of the manifest's canonical bytes */
};

int mc_plan_make(struct mc_plan *plan, const struct mc_plan_options *options, struct mc_engine *engine,
                 struct mc_until until, struct mc_err *err) MC_CHECKED;
void mc_plan_release(struct mc_plan *plan);

/* The images of an entrant's containers. */
struct mc_sandbox_images mc_plan_images(const struct mc_plan *plan, size_t entrant);

/* The manifest and, for each entrant, the container specifications with RUN in place of the run's ID. New reference in
 * *out. */
int mc_plan_json(const struct mc_plan *plan, const char *store, json_t **out, struct mc_err *err) MC_CHECKED;

/* The run file's models as the manifest describes them: [{key, name, source, base_url, secret, network, prices}]. New
 * reference. */
json_t *mc_models_json(const struct mc_runfile *runfile);

/* Finds an image on the engine by reference (a tag, an ID, or "name@sha256:..."). */
int mc_found_image_load(struct mc_found_image *found, struct mc_engine *engine, const char *reference,
                        struct mc_until until, struct mc_err *err) MC_CHECKED;
void mc_found_image_release(struct mc_found_image *found);
