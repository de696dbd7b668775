/*
 * A connection to a container engine: Docker's API, or Podman's compatible one.
 *
 * A `struct mc_engine` is used by one thread at a time (open one per thread); it keeps its connection open between
 * calls. Every call takes a deadline that can be cancelled, and limits what it reads. Every error names the call, the
 * object, and what the engine said; err->http holds the status where the engine answered.
 *
 * A program that uses it over TLS ignores SIGPIPE: OpenSSL writes without the flag that keeps it away.
 *
 * API version: min(engine's newest, MC_API_NEWEST), and nothing below MC_API_OLDEST. Sources: docs/api/version-history
 * of moby, and calls made against the real engines in tests/engine/.
 *
 * Ownership: mc_engine_open() allocates, mc_engine_close() frees; the endpoint is copied. What mc_engine_about()
 * gives is the engine's own.
 */
#pragma once

#include <stdint.h>

#include "base/until.h"
#include "engine/find.h"

#define MC_API_OLDEST "1.41"
#define MC_API_NEWEST "1.44"

struct mc_engine;

enum mc_engine_kind { MC_ENGINE_DOCKER, MC_ENGINE_PODMAN };

/* Texts are "" and numbers 0 where the engine does not say. */
struct mc_engine_about {
    enum mc_engine_kind kind;
    const char *kind_name;  /* "Docker", "Podman" */
    const char *version;    /* "20.10.24" */
    const char *api_spoken; /* "1.41" */
    const char *api_newest; /* the engine's */
    const char *api_oldest; /* the engine's */
    const char *os;         /* "linux" */
    const char *arch;       /* "amd64" */
    const char *kernel;
    const char *system; /* "Debian GNU/Linux 12 (bookworm)" */
    const char *host_name;
    const char *storage;  /* "overlay2" */
    const char *root_dir; /* "/var/lib/docker", on the engine's host */
    const char *cgroup;   /* "1", "2" */
    const char *runtime;  /* default OCI runtime: "runc" */
    int rootless;
    int64_t cpus;
    int64_t memory; /* bytes */
};

/* A call as it was seen when it ended, for tracing and the bench. */
struct mc_engine_seen {
    const char *method;
    const char *path; /* with version and query */
    int status;       /* 0 where there was no answer */
    int64_t ms;       /* from the first byte sent to the last received */
    uint64_t sent;    /* bytes of body */
    uint64_t received;
};

struct mc_engine_watch {
    void (*on_call)(void *payload, const struct mc_engine_seen *seen);
    void *payload;
};

struct mc_engine_counts {
    uint64_t calls;
    uint64_t failed; /* no answer, or a status of 400 and more */
    uint64_t sent;   /* bytes of bodies */
    uint64_t received;
};

/* Pings, agrees on a version, asks what it is. `watch` may be NULL; it is copied. */
int mc_engine_open(const struct mc_endpoint *endpoint, const struct mc_engine_watch *watch, struct mc_until until,
                   struct mc_engine **out, struct mc_err *err) MC_CHECKED;
void mc_engine_close(struct mc_engine *engine); /* NULL is fine */

const struct mc_engine_about *mc_engine_about(const struct mc_engine *engine);
const struct mc_endpoint *mc_engine_endpoint(const struct mc_engine *engine);
struct mc_engine_counts mc_engine_counts(const struct mc_engine *engine);

void mc_engine_close_at(struct mc_engine **engine);
#define MC_AUTOENGINE MC_CLEANUP(mc_engine_close_at)
