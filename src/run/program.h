/*
 * One running program of an attempt: its container, its attached streams, its channel.
 *
 * Ownership: mc_program_create() fills a struct that mc_program_release() frees; it borrows engine and hooks. The
 * container itself belongs to the engine and is removed by whoever planned it.
 */
#pragma once

#include "base/buf.h"
#include "engine/attach.h"
#include "engine/container.h"
#include "protocol/talk.h"

struct mc_program {
    struct mc_engine *engine;
    char *container; /* ID; NULL: not created */
    struct mc_stream *stream;
    struct mc_buf rest; /* of a piece that was larger than the channel had room for */
    enum mc_output rest_of;
    struct mc_channel channel;
    int started;
    int open;   /* the channel may give more */
    int killed; /* by us */
};

/* Creates the container, in which nothing runs yet. What was created is known even where a later call fails. */
int mc_program_create(struct mc_program *program, struct mc_engine *engine, const struct mc_container_spec *spec,
                      enum mc_role role, struct mc_channel_hooks hooks, struct mc_until until,
                      struct mc_err *err) MC_CHECKED;
/* Attaches to it and starts it; the channel is open from then on. What the container's command and mounts need has to
 * be there: Podman sets the process up when it is attached to. */
int mc_program_start(struct mc_program *program, struct mc_until until, struct mc_err *err) MC_CHECKED;
void mc_program_release(struct mc_program *program);
