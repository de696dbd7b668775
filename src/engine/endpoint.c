#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/fs.h"
#include "base/mem.h"
#include "engine/find.h"

/* Longest path that a Unix socket's address holds, its NUL aside. */
#define SOCKET_PATH_MAX (sizeof((struct sockaddr_un){0}.sun_path) - 1)

static int is_set(const char *value)
{
    return value && value[0] != '\0';
}

static int parse_unix(const char *host, struct mc_endpoint *out, struct mc_err *err)
{
    const char *path = host + strlen("unix://");
    if (path[0] != '/') {
        mc_fail(err, MC_INPUT, "\"%s\": a socket's path is absolute", host);
        return mc_hint(err, "write it with three slashes, as unix:///var/run/docker.sock");
    }
    if (strlen(path) > SOCKET_PATH_MAX) {
        mc_fail(err, MC_INPUT, "\"%s\": a socket's path has at most %zu bytes", host, SOCKET_PATH_MAX);
        return mc_hint(err, "make a shorter symbolic link to it");
    }
    out->host = mc_strdup(host);
    out->socket = mc_strdup(path);
    out->url = mc_strdup("http://localhost");
    return 0;
}

static int parse_ssh(const char *host, struct mc_err *err)
{
    const char *target = host + strlen("ssh://");
    mc_fail(err, MC_INPUT, "\"%s\": memcal does not speak SSH itself", host);
    return mc_hint(err,
                   "let ssh carry the socket: 'ssh -nNT -L /tmp/docker-remote.sock:/var/run/docker.sock %s' in another "
                   "terminal, then set DOCKER_HOST=unix:///tmp/docker-remote.sock",
                   target[0] != '\0' ? target : "user@host");
}

/* As docker's client does: DOCKER_CERT_PATH or DOCKER_TLS_VERIFY turns TLS on, the latter also the check. */
static void tls_from(const struct mc_find_env *env, struct mc_endpoint *out)
{
    out->verify = is_set(env->docker_tls_verify);
    MC_AUTOFREE char *dir = NULL;
    if (is_set(env->docker_cert_path)) {
        dir = mc_strdup(env->docker_cert_path);
    } else if (is_set(env->docker_config)) {
        dir = mc_strdup(env->docker_config);
    } else if (is_set(env->home)) {
        dir = mc_path_join(env->home, ".docker");
    }
    if (dir) {
        out->ca = mc_path_join(dir, "ca.pem");
        out->cert = mc_path_join(dir, "cert.pem");
        out->key = mc_path_join(dir, "key.pem");
    }
}

static int parse_tcp(const char *host, const char *rest, int tls, const struct mc_find_env *env,
                     struct mc_endpoint *out, struct mc_err *err)
{
    size_t length = strlen(rest);
    if (length > 0 && rest[length - 1] == '/') {
        length--;
    }
    MC_AUTOFREE char *address = mc_strndup(rest, length);
    if (address[0] == '\0' || strpbrk(address, "/?#@ \t\r\n")) {
        mc_fail(err, MC_INPUT, "\"%s\": not a host and a port", host);
        return mc_hint(err, "write it as tcp://host:2375, or tcp://host:2376 with TLS");
    }
    const char *after = strrchr(address, ']');
    int has_port = strchr(after ? after : address, ':') != NULL;
    int asked = is_set(env->docker_tls_verify) || is_set(env->docker_cert_path);
    if (tls || asked) {
        tls_from(env, out);
    }
    const char *port = has_port ? "" : ((tls || asked) ? ":2376" : ":2375");
    out->host = mc_strdup(host);
    out->url = mc_strf("%s://%s%s", (tls || asked) ? "https" : "http", address, port);
    return 0;
}

int mc_endpoint_parse(const char *host, const struct mc_find_env *env, struct mc_endpoint *out, struct mc_err *err)
{
    *out = (struct mc_endpoint){.host = NULL};
    if (mc_starts_with(host, "unix://")) {
        return parse_unix(host, out, err);
    }
    if (mc_starts_with(host, "tcp://")) {
        return parse_tcp(host, host + strlen("tcp://"), 0, env, out, err);
    }
    if (mc_starts_with(host, "http://")) {
        return parse_tcp(host, host + strlen("http://"), 0, env, out, err);
    }
    if (mc_starts_with(host, "https://")) {
        return parse_tcp(host, host + strlen("https://"), 1, env, out, err);
    }
    if (mc_starts_with(host, "ssh://")) {
        return parse_ssh(host, err);
    }
    mc_fail(err, MC_INPUT, "\"%s\": not an address of an engine", host);
    return mc_hint(err, "it begins with unix:// or tcp://");
}

void mc_endpoint_release(struct mc_endpoint *endpoint)
{
    free(endpoint->host);
    free(endpoint->socket);
    free(endpoint->url);
    free(endpoint->ca);
    free(endpoint->cert);
    free(endpoint->key);
    *endpoint = (struct mc_endpoint){.host = NULL};
}
