/*
 * Containers: made from a specification, started, stopped, asked after, removed.
 *
 * The engine's *state* is believed, never a status code alone: Podman answers 500 where Docker answers 409. Starting
 * what runs, stopping what is stopped and removing what is gone are successes.
 *
 * Ownership: a specification borrows everything it points to. mc_container_release() frees what mc_container_inspect()
 * filled in.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/engine.h"
#include "engine/object.h"

/* A new volume is root's on Docker, the first container's user's on Podman, unless it takes over a folder of the image
 * (copy_up): that is how a confined user gets one. */
struct mc_mount {
    const char *volume; /* name */
    const char *path;   /* in the container; without ':' */
    int read_only;
    int copy_up; /* a volume that is empty first gets what the image has under the path, owners and modes too */
};

struct mc_tmpfs {
    const char *path;
    const char *options; /* "rw,nosuid,nodev,size=64m,mode=1777" */
};

struct mc_container_spec {
    const char *name;
    const char *image;             /* an ID ("sha256:...") where the run is pinned */
    const char *const *entrypoint; /* NULL-ended; NULL: the image's own */
    const char *const *cmd;        /* the same */
    const char *const *env;        /* "NAME=value", NULL-ended; added to the image's */
    struct mc_labels labels;
    const char *user; /* "10001:10001"; NULL: the image's own */
    const char *workdir;
    const char *network; /* "none", "default", "host"; NULL: "none" */
    const struct mc_mount *mounts;
    size_t mount_count;
    const struct mc_tmpfs *tmpfs;
    size_t tmpfs_count;
    int64_t memory;    /* bytes, no swap beside it; 0: unlimited */
    int64_t pids;      /* 0: unlimited */
    int64_t nano_cpus; /* 1e-9 CPUs; 0: unlimited */
    int64_t nofile;    /* RLIMIT_NOFILE; 0: 4096 */
    int64_t nproc;     /* RLIMIT_NPROC, which the kernel counts per user, not per container; 0: 4096 */
    int read_only_root;
    int drop_capabilities; /* all of them */
    int no_new_privileges;
    int open_stdin; /* standard input is a pipe that ends with the first attached connection */
};

/* Sets the confinement that hermes and provider containers run in: no network, read-only root, a tmpfs on /tmp where
 * none is listed, no capabilities, no new privileges; and, where they are not set: user 10001:10001, 2 GiB, 512
 * processes. */
void mc_container_spec_confine(struct mc_container_spec *spec);

/* The body of the create call, as the engine gets it and `memcal run --plan` shows it. New reference. */
json_t *mc_container_spec_json(const struct mc_container_spec *spec);

/* Makes a container and gives its ID (the caller frees it). Where the name is taken, or the answer was lost, the
 * container of that name is looked at: one with all of the specification's labels is ours and is taken; any other is
 * MC_EXISTS. */
int mc_container_create(struct mc_engine *engine, const struct mc_container_spec *spec, char **id,
                        struct mc_until until, struct mc_err *err) MC_CHECKED;

/* The ID of the container with this name and these labels (the caller frees it); MC_NOT_FOUND where there is none,
 * MC_EXISTS where one of this name has other labels. For after a create whose answer was lost. */
int mc_container_find(struct mc_engine *engine, const char *name, struct mc_labels labels, char **id,
                      struct mc_until until, struct mc_err *err) MC_CHECKED;

int mc_container_start(struct mc_engine *engine, const char *id, struct mc_until until, struct mc_err *err) MC_CHECKED;

/* SIGTERM, after `grace_s` seconds SIGKILL; returns when it has stopped. `until` must leave more than the grace. */
int mc_container_stop(struct mc_engine *engine, const char *id, int grace_s, struct mc_until until,
                      struct mc_err *err) MC_CHECKED;

/* Sends a signal ("KILL"); a container that does not run is fine. */
int mc_container_kill(struct mc_engine *engine, const char *id, const char *signal, struct mc_until until,
                      struct mc_err *err) MC_CHECKED;

enum mc_container_status {
    MC_CONTAINER_CREATED, /* never started */
    MC_CONTAINER_RUNNING, /* or paused, restarting */
    MC_CONTAINER_EXITED,  /* or dead */
    MC_CONTAINER_REMOVING,
};

enum mc_oom { MC_OOM_NO, MC_OOM_PROBABLE, MC_OOM_YES };

struct mc_container {
    json_t *raw; /* the engine's whole answer; the texts below are borrowed from it */
    const char *id;
    const char *name;  /* without the leading slash */
    const char *image; /* ID */
    const char *state; /* the engine's own word */
    enum mc_container_status status;
    int exit_code;  /* -1 unless it has exited */
    int oom_killed; /* the engine's flag as it stands; see mc_container_oom() */
    int64_t pid;    /* on the engine's host, 0 unless running */
    const char *error;
    const char *started_at; /* by the engine's clock; "" before the first start */
    const char *finished_at;
    const char *user;
    const char *network;
    const json_t *labels; /* never NULL */
    const json_t *mounts; /* never NULL */
};

int mc_container_inspect(struct mc_engine *engine, const char *id, struct mc_container *out, struct mc_until until,
                         struct mc_err *err) MC_CHECKED;
void mc_container_release(struct mc_container *container);
#define MC_AUTOCONTAINER MC_CLEANUP(mc_container_release)

/* Was it memory? YES: the engine says so (on cgroup v1 also where only a child was killed). PROBABLE: it ended by
 * SIGKILL, and `we_killed` says that this was not our doing (Podman on cgroup v1 tells nothing). */
enum mc_oom mc_container_oom(const struct mc_container *container, int we_killed);

/* Waits until it no longer runs, confirms by its state, and fills *out. One that was never started is MC_INPUT. */
int mc_container_wait(struct mc_engine *engine, const char *id, struct mc_container *out, struct mc_until until,
                      struct mc_err *err) MC_CHECKED;

/* Kills and removes it with its anonymous volumes, and returns when it is gone. Where `ours` has labels they are
 * checked first, and a container without them is MC_DENIED. */
int mc_container_remove(struct mc_engine *engine, const char *id, struct mc_labels ours, struct mc_until until,
                        struct mc_err *err) MC_CHECKED;

/* All containers, running or not, with these labels. */
int mc_container_list(struct mc_engine *engine, struct mc_labels labels, struct mc_objects *out, struct mc_until until,
                      struct mc_err *err) MC_CHECKED;

/* The last output that the engine's log driver kept, both streams together, for error messages only (long lines are
 * cut there): at most `lines` lines, at most out->max bytes. */
int mc_container_logs(struct mc_engine *engine, const char *id, int lines, struct mc_buf *out, struct mc_until until,
                      struct mc_err *err) MC_CHECKED;
