/*
 * What containers, volumes and networks have in common: labels, and lists picked by labels.
 *
 * Ownership: labels given are borrowed. mc_objects_release() frees a list and everything in it.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct mc_label {
    const char *name;
    const char *value;
};

/* A set of labels; as a filter: all of them must be there with these values. */
struct mc_labels {
    const struct mc_label *items;
    size_t count;
};

struct mc_object {
    char *id;          /* a volume's is its name */
    char *name;        /* without Docker's leading slash */
    char *state;       /* containers: "running", "exited", ...; else "" */
    int64_t created_s; /* seconds since 1970 by the engine's clock, 0 where it does not say */
    json_t *labels;    /* an object, never NULL */
};

struct mc_objects {
    struct mc_object *items;
    size_t count;
};

#define MC_OBJECTS_INIT ((struct mc_objects){.items = NULL, .count = 0})

void mc_objects_release(struct mc_objects *objects);
#define MC_AUTOOBJECTS MC_CLEANUP(mc_objects_release)

/* The value of a label, NULL where the object has none of this name. */
const char *mc_object_label(const struct mc_object *object, const char *name);

/* True where `labels`, a JSON object from the engine (NULL: none), has every one of `wanted` with its value. */
int mc_labels_match(const json_t *labels, struct mc_labels wanted);
