#include "engine/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "engine/own.h"

#define CONFIG_MAX ((size_t)1 << 20)

struct mc_find_env mc_find_env(void)
{
    return (struct mc_find_env){
        .docker_host = getenv("DOCKER_HOST"),
        .docker_context = getenv("DOCKER_CONTEXT"),
        .docker_config = getenv("DOCKER_CONFIG"),
        .docker_tls_verify = getenv("DOCKER_TLS_VERIFY"),
        .docker_cert_path = getenv("DOCKER_CERT_PATH"),
        .home = getenv("HOME"),
        .xdg_runtime_dir = getenv("XDG_RUNTIME_DIR"),
        .root = NULL,
    };
}

/* As docker does, an empty variable counts as unset. */
static int is_set(const char *value)
{
    return value && value[0] != '\0';
}

static void add_try(struct mc_found *found, const char *rule, const char *where, const char *why)
{
    found->tries = mc_resize(found->tries, found->try_count + 1, sizeof *found->tries);
    found->tries[found->try_count++] =
        (struct mc_find_try){.rule = mc_strdup(rule), .where = mc_strdup(where), .why = mc_strdup(why)};
}

static void take(struct mc_found *found, const char *rule)
{
    add_try(found, rule, found->endpoint.host, "taken");
    found->rule = mc_strdup(rule);
}

/* The folder of docker's configuration, NULL where there is no home. */
static char *config_dir(const struct mc_find_env *env)
{
    if (is_set(env->docker_config)) {
        return mc_strdup(env->docker_config);
    }
    return is_set(env->home) ? mc_path_join(env->home, ".docker") : NULL;
}

/* Says whether something accepts connections on a Unix socket: 0, or why not as errno. */
static int knock(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return ENAMETOOLONG;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    MC_AUTOCLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return errno;
    }
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 || errno == EAGAIN) {
        return 0; /* EAGAIN: its queue is full, so someone is there */
    }
    return errno;
}

static const char *why_not(int sys)
{
    switch (sys) {
    case ENOENT:
    case ENOTDIR:
        return "not there";
    case EACCES:
    case EPERM:
        return "permission denied";
    case ECONNREFUSED:
        return "nothing listens there";
    default:
        return strerror(sys);
    }
}

/* Rules 3 to 7: one socket. */
static int try_socket(struct mc_found *found, const char *rule, const char *dir, const char *name)
{
    if (!is_set(dir)) {
        add_try(found, rule, name, "its folder's variable is not set");
        return 0;
    }
    MC_AUTOFREE char *path = mc_path_join(dir, name);
    MC_AUTOFREE char *host = mc_strf("unix://%s", path);
    int sys = knock(path);
    if (sys != 0) {
        add_try(found, rule, host, why_not(sys));
        return 0;
    }
    struct mc_find_env none = {.docker_host = NULL};
    struct mc_err err;
    if (mc_endpoint_parse(host, &none, &found->endpoint, &err) != 0) {
        add_try(found, rule, host, err.text);
        return 0;
    }
    take(found, rule);
    return 1;
}

static int search_sockets(const struct mc_find_env *env, struct mc_found *found)
{
    MC_AUTOFREE char *run = mc_strf("%s/run", env->root ? env->root : "");
    MC_AUTOFREE char *var = mc_strf("%s/var/run", env->root ? env->root : "");
    const struct {
        const char *rule;
        const char *dir;
        const char *name;
    } places[] = {
        {"Docker", var, "docker.sock"},
        {"rootless Docker", env->xdg_runtime_dir, "docker.sock"},
        {"Podman", run, "podman/podman.sock"},
        {"rootless Podman", env->xdg_runtime_dir, "podman/podman.sock"},
        {"Docker Desktop on Linux", env->home, ".docker/desktop/docker.sock"},
        {"Docker Desktop", env->home, ".docker/run/docker.sock"},
        {"Colima", env->home, ".colima/default/docker.sock"},
        {"Colima before 0.4", env->home, ".colima/docker.sock"},
    };
    for (size_t i = 0; i < MC_COUNT(places); i++) {
        if (try_socket(found, places[i].rule, places[i].dir, places[i].name)) {
            return 1;
        }
    }
    return 0;
}

/* The name of the context in use; NULL for none, "default" included. `from` says who named it. */
static int context_name(const struct mc_find_env *env, const char *config, char **name, const char **from,
                        struct mc_err *err)
{
    *name = NULL;
    *from = "DOCKER_CONTEXT";
    if (is_set(env->docker_context)) {
        *name = strcmp(env->docker_context, "default") == 0 ? NULL : mc_strdup(env->docker_context);
        return 0;
    }
    *from = "config.json";
    MC_AUTOFREE char *path = mc_path_join(config, "config.json");
    if (!mc_fs_exists(path)) {
        return 0;
    }
    MC_AUTOJSON json_t *json = mc_json_load(path, CONFIG_MAX, err);
    if (!json) {
        return mc_hint(err, "mend the file, or set DOCKER_HOST");
    }
    const char *current = mc_api_text(json, "currentContext");
    if (current[0] != '\0' && strcmp(current, "default") != 0) {
        *name = mc_strdup(current);
    }
    return 0;
}

/* A context's TLS files, each where it is there. */
static void context_tls(const char *config, const char *id, const json_t *docker, struct mc_endpoint *endpoint)
{
    MC_AUTOFREE char *dir = mc_strf("%s/contexts/tls/%s/docker", config, id);
    if (!mc_fs_is_dir(dir)) {
        return;
    }
    const struct {
        const char *name;
        char **into;
    } files[] = {{"ca.pem", &endpoint->ca}, {"cert.pem", &endpoint->cert}, {"key.pem", &endpoint->key}};
    for (size_t i = 0; i < MC_COUNT(files); i++) {
        char *path = mc_path_join(dir, files[i].name);
        if (mc_fs_exists(path)) {
            *files[i].into = path;
        } else {
            free(path);
        }
    }
    if (!endpoint->socket && mc_starts_with(endpoint->url, "http://")) {
        char *url = mc_strf("https://%s", endpoint->url + strlen("http://"));
        free(endpoint->url);
        endpoint->url = url;
    }
    endpoint->verify = !mc_api_true(docker, "SkipTLSVerify");
}

/* Rule 2. 1: taken; 0: no context is named; negative: it is named and wrong. */
static int try_context(const struct mc_find_env *env, struct mc_found *found, struct mc_err *err)
{
    MC_AUTOFREE char *config = config_dir(env);
    if (!config) {
        add_try(found, "docker context", "config.json", "neither DOCKER_CONFIG nor HOME is set");
        return 0;
    }
    MC_AUTOFREE char *name = NULL;
    const char *from;
    int rc = context_name(env, config, &name, &from, err);
    if (rc != 0) {
        add_try(found, "docker context", "config.json", err->text);
        return rc;
    }
    if (!name) {
        add_try(found, "docker context", config, "the default one");
        return 0;
    }
    MC_AUTOFREE char *rule = mc_strf("context %s", name);
    struct mc_digest id = mc_sha256_of(name, strlen(name));
    MC_AUTOFREE char *meta = mc_strf("%s/contexts/meta/%s/meta.json", config, id.hex);
    MC_AUTOJSON json_t *json = mc_json_load(meta, CONFIG_MAX, err);
    if (!json) {
        rc = mc_wrap(err, "docker context \"%s\" (named by %s)", name, from);
        mc_hint(err, "'docker context ls' lists those that there are; 'docker context use default' goes back");
        add_try(found, rule, meta, err->text);
        return rc;
    }
    const json_t *docker = json_object_get(json_object_get(json, "Endpoints"), "docker");
    struct mc_find_env none = {.docker_host = NULL};
    rc = mc_endpoint_parse(mc_api_text(docker, "Host"), &none, &found->endpoint, err);
    if (rc != 0) {
        rc = mc_wrap(err, "docker context \"%s\" (named by %s)", name, from);
        add_try(found, rule, mc_api_text(docker, "Host"), err->text);
        return rc;
    }
    context_tls(config, id.hex, docker, &found->endpoint);
    take(found, rule);
    return 1;
}

int mc_find(const struct mc_find_env *env, struct mc_found *out, struct mc_err *err)
{
    *out = (struct mc_found){.rule = NULL};
    if (is_set(env->docker_host)) {
        int rc = mc_endpoint_parse(env->docker_host, env, &out->endpoint, err);
        if (rc != 0) {
            add_try(out, "DOCKER_HOST", env->docker_host, err->text);
            return mc_wrap(err, "DOCKER_HOST");
        }
        take(out, "DOCKER_HOST");
        return 0;
    }
    add_try(out, "DOCKER_HOST", "", "not set");
    int rc = try_context(env, out, err);
    if (rc != 0) {
        return rc > 0 ? 0 : rc;
    }
    if (search_sockets(env, out)) {
        return 0;
    }
    for (size_t i = 0; i < out->try_count; i++) {
        if (strcmp(out->tries[i].why, why_not(EACCES)) == 0) {
            return mc_api_no_socket(err, "looking for a container engine", out->tries[i].where, EACCES);
        }
    }
    mc_fail(err, MC_NOT_FOUND, "no container engine was found");
    return mc_hint(err, "install and start Docker ('sudo systemctl start docker') or Podman ('systemctl --user start "
                        "podman.socket'), or set DOCKER_HOST; 'memcal doctor' shows what was tried");
}

void mc_found_release(struct mc_found *found)
{
    mc_endpoint_release(&found->endpoint);
    free(found->rule);
    for (size_t i = 0; i < found->try_count; i++) {
        free(found->tries[i].rule);
        free(found->tries[i].where);
        free(found->tries[i].why);
    }
    free(found->tries);
    *found = (struct mc_found){.rule = NULL};
}
