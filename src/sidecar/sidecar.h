/*
 * The trusted container of a life: it owns the scenario clock, and it is the only way to a model.
 *
 * It speaks the protocol on its standard input and output (docs/protocol.md, "The sidecar's own frames") and serves an
 * OpenAI-compatible API on a Unix socket, and on nothing else. Everything that it records passes the redactor.
 *
 * Ownership: paths and descriptors are borrowed.
 */
#pragma once

#include "base/err.h"

struct mc_sidecar_paths {
    const char *out;        /* folder of the journal (frames.jsonl) and of recorded bodies (objects/) */
    const char *clock;      /* libfaketime's offset file */
    const char *socket;     /* the gateway's listening socket */
    const char *enter_from; /* the static program that goes before every container's command */
    const char *enter_to;   /* where the containers find it */
    const char *replay;     /* for the replay upstream: an `out` folder of an earlier attempt */
};

/* Where they are in the container. */
extern const struct mc_sidecar_paths mc_sidecar_default_paths;

/* Runs until `shutdown`, or until `in_fd` ends: then what is in hand is finished and journalled. Ignores SIGPIPE for
 * the process, and makes `out_fd` non-blocking. */
int mc_sidecar_main(const struct mc_sidecar_paths *paths, int in_fd, int out_fd, struct mc_err *err) MC_CHECKED;
