/*
 * Where the engine is.
 *
 * Looked for in this order; the first that is there is taken:
 *   1. DOCKER_HOST: unix://, tcp:// (TLS by DOCKER_TLS_VERIFY and DOCKER_CERT_PATH), http://, https://
 *   2. the docker context that DOCKER_CONTEXT or `currentContext` of config.json names
 *   3. /var/run/docker.sock
 *   4. rootless Docker: $XDG_RUNTIME_DIR/docker.sock
 *   5. Podman: /run/podman/podman.sock, $XDG_RUNTIME_DIR/podman/podman.sock
 *   6. Docker Desktop: ~/.docker/desktop/docker.sock, ~/.docker/run/docker.sock
 *   7. Colima: ~/.colima/default/docker.sock, ~/.colima/docker.sock
 * What the user named (1 and 2) is taken as it stands and never fallen back from: a wrong DOCKER_HOST is an error when
 * the engine is opened, not a silent switch to another engine. The others are taken where something accepts a
 * connection.
 *
 * Source of the order and the paths: docker/cli cli/command/cli.go and cli/context/store; podman-system-service(1).
 *
 * Ownership: the environment is borrowed; mc_found_release() frees all that a `struct mc_found` holds.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* The little of the process's environment that matters; NULL where unset. */
struct mc_find_env {
    const char *docker_host;
    const char *docker_context;
    const char *docker_config; /* folder in place of ~/.docker */
    const char *docker_tls_verify;
    const char *docker_cert_path;
    const char *home;
    const char *xdg_runtime_dir;
    const char *root; /* put before the fixed paths /var/run and /run; NULL or "": none (tests) */
};

struct mc_endpoint {
    char *host;   /* as docker writes it: "unix:///var/run/docker.sock", "tcp://10.0.0.2:2376" */
    char *socket; /* path of the Unix socket, NULL for TCP */
    char *url;    /* "http://localhost", "http://10.0.0.2:2375" or "https://10.0.0.2:2376" */
    int verify;   /* TLS: check the engine's certificate */
    char *ca;     /* TLS files, NULL where none is given */
    char *cert;
    char *key;
};

/* One place that was looked at, and why it was passed over ("taken" for the one that was not). */
struct mc_find_try {
    char *rule;  /* "DOCKER_HOST", "context work", "rootless Docker", ... */
    char *where; /* "unix:///run/podman/podman.sock" */
    char *why;   /* "not there", "permission denied", "nothing listens there", "not set", "taken" */
};

struct mc_found {
    struct mc_endpoint endpoint;
    char *rule; /* of the endpoint taken, NULL where none was */
    struct mc_find_try *tries;
    size_t try_count;
};

/* The process's own environment, borrowed from getenv(). */
struct mc_find_env mc_find_env(void);

/* Fills *out in either case (the tries are what `memcal doctor` shows); release it in either case. MC_NOT_FOUND where
 * there is no engine, MC_DENIED where the only ones may not be used, MC_INPUT where a setting is wrong. */
int mc_find(const struct mc_find_env *env, struct mc_found *out, struct mc_err *err) MC_CHECKED;
void mc_found_release(struct mc_found *found);

/* An endpoint from a DOCKER_HOST value alone, with the environment's TLS settings. ssh:// is refused. */
int mc_endpoint_parse(const char *host, const struct mc_find_env *env, struct mc_endpoint *out,
                      struct mc_err *err) MC_CHECKED;
void mc_endpoint_release(struct mc_endpoint *endpoint);
