/*
 * The containers and volumes of one attempt: what they are called, how they are confined, and how they come and go.
 *
 *     sidecar   trusted; the only one that may have a network; holds the model gateway and the clock
 *     provider  the memory system, where the harness has one
 *     harness   the agent under test
 *
 * Everything is named after the attempt and carries labels, so that it can be found again by anyone who knows the
 * store.
 *
 * Ownership: mc_sandbox_plan() fills a struct that owns every text it points to; mc_sandbox_release() frees them. It
 * borrows the entrant and the images for as long.
 */
#pragma once

#include "base/pool.h"
#include "engine/container.h"
#include "engine/image.h"
#include "protocol/frame.h"
#include "run/runfile.h"

enum { MC_ROLES = MC_SIDECAR + 1 };

/* Where memcal-enter says how a program's command ended. */
#define MC_ENTER_REPORT "/memcal/out/ended.txt"

enum mc_volume {
    MC_VOLUME_BIN,
    MC_VOLUME_CLOCK,
    MC_VOLUME_NET,
    MC_VOLUME_OUT_SIDECAR,
    MC_VOLUME_OUT_HARNESS,
    MC_VOLUME_HOME,
    MC_VOLUME_MEMORY,
    MC_VOLUME_NET_PROVIDER,
    MC_VOLUME_OUT_PROVIDER,
    MC_VOLUME_PLUGIN,
    MC_VOLUMES
};

/* An image as it was found on the engine: what a container is made from, and what the run manifest pins. */
struct mc_found_image {
    char *reference; /* as the manifest has it */
    struct mc_image image;
    int pinned; /* the reference has a digest */
};

struct mc_sandbox_names {
    const char *store; /* the store's UUID */
    const char *run;
    const char *trial;
    const char *attempt;
    const char *owner;
};

struct mc_sandbox {
    struct mc_pool pool;
    const struct mc_entrant *entrant;
    const char *volumes[MC_VOLUMES]; /* names; NULL: not part of this attempt */
    const char *containers[MC_ROLES];
    struct mc_container_spec specs[MC_ROLES];
    const struct mc_label *labels; /* without the role's */
    size_t label_count;
};

struct mc_sandbox_images {
    const struct mc_found_image *roles[MC_ROLES]; /* the provider's NULL where there is none */
};

void mc_sandbox_plan(struct mc_sandbox *sandbox, const struct mc_sandbox_names *names,
                     const struct mc_sandbox_images *images, const struct mc_entrant *entrant, const char *timezone);
void mc_sandbox_release(struct mc_sandbox *sandbox);

/* The specifications as the engine gets them, for `run --plan`. New reference. */
json_t *mc_sandbox_json(const struct mc_sandbox *sandbox);

/* The labels of everything of this attempt; of one run of a store; borrowed by the caller's array of at least 2. */
struct mc_labels mc_sandbox_labels(const struct mc_sandbox *sandbox);
struct mc_labels mc_run_labels(struct mc_label *room, const char *store, const char *run);

const char *mc_volume_name(enum mc_volume volume);
