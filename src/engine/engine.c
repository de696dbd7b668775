#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/own.h"

/* "1.41" as 1041, 0 where it is not such a number. */
static long version_number(const char *text)
{
    char *end;
    long major = strtol(text, &end, 10);
    if (end == text || *end != '.' || major < 0 || major > 1000) {
        return 0;
    }
    const char *rest = end + 1;
    long minor = strtol(rest, &end, 10);
    if (end == rest || *end != '\0' || minor < 0 || minor > 999) {
        return 0;
    }
    return major * 1000 + minor;
}

static char *header(const struct mc_engine *engine, const char *name)
{
    struct curl_header *found;
    if (curl_easy_header(engine->easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK) {
        return NULL;
    }
    return mc_strdup(found->value);
}

/* Which engine is it, and which versions does it speak? The ping answers both in headers, without a version in its
 * path. */
static int ping(struct mc_engine *engine, struct mc_until until, struct mc_err *err)
{
    struct mc_api_call call = {.method = "GET", .path = "/_ping", .what = "asking for the engine", .unversioned = 1};
    int rc = mc_api_begin(engine, &call, until, err);
    if (rc != 0) {
        return rc;
    }
    engine->newest = header(engine, "Api-Version");
    MC_AUTOFREE char *podman = header(engine, "Libpod-Api-Version");
    mc_api_end(engine);
    if (!engine->newest || version_number(engine->newest) == 0) {
        mc_fail(err, MC_PROTOCOL,
                "asking for the engine: what answers at %s names no API version: it is no container engine",
                engine->endpoint.host);
        return mc_hint(err, "check DOCKER_HOST or the docker context");
    }
    engine->about.kind = podman ? MC_ENGINE_PODMAN : MC_ENGINE_DOCKER;
    engine->about.kind_name = podman ? "Podman" : "Docker";
    engine->about.api_newest = engine->newest;
    return 0;
}

static int agree(struct mc_engine *engine, struct mc_err *err)
{
    if (version_number(engine->newest) < version_number(MC_API_OLDEST)) {
        mc_fail(err, MC_ENGINE, "%s at %s speaks API %s at most; memcal needs %s", engine->about.kind_name,
                engine->endpoint.host, engine->newest, MC_API_OLDEST);
        return mc_hint(err, "upgrade to Docker 20.10 or Podman 4.3, or later");
    }
    int newer = version_number(engine->newest) > version_number(MC_API_NEWEST);
    engine->spoken = mc_strdup(newer ? MC_API_NEWEST : engine->newest);
    engine->about.api_spoken = engine->spoken;
    return 0;
}

static int ask_version(struct mc_engine *engine, struct mc_until until, struct mc_err *err)
{
    struct mc_api_call call = {.method = "GET", .path = "/version", .what = "asking for the engine's version"};
    int rc = mc_api_json(engine, &call, &engine->version, until, err);
    if (rc != 0 && err->http == 400) {
        char said[sizeof err->text];
        memcpy(said, err->text, sizeof said);
        mc_fail(err, MC_ENGINE, "%s at %s does not speak API %s, the newest that memcal knows (%s)",
                engine->about.kind_name, engine->endpoint.host, engine->spoken, said);
        return mc_hint(err, "upgrade memcal, or let the engine speak it (DOCKER_MIN_API_VERSION)");
    }
    if (rc != 0) {
        return rc;
    }
    const json_t *v = engine->version;
    struct mc_engine_about *about = &engine->about;
    about->version = mc_api_text(v, "Version");
    about->api_oldest = mc_api_text(v, "MinAPIVersion");
    about->os = mc_api_text(v, "Os");
    about->arch = mc_api_text(v, "Arch");
    about->kernel = mc_api_text(v, "KernelVersion");
    if (about->api_oldest[0] != '\0' && version_number(about->api_oldest) > version_number(engine->spoken)) {
        mc_fail(err, MC_ENGINE, "%s at %s needs API %s or newer; the newest that memcal knows is %s", about->kind_name,
                engine->endpoint.host, about->api_oldest, MC_API_NEWEST);
        return mc_hint(err, "upgrade memcal");
    }
    return 0;
}

static int ask_info(struct mc_engine *engine, struct mc_until until, struct mc_err *err)
{
    struct mc_api_call call = {.method = "GET", .path = "/info", .what = "asking about the engine's host"};
    int rc = mc_api_json(engine, &call, &engine->info, until, err);
    if (rc != 0) {
        return rc;
    }
    const json_t *i = engine->info;
    struct mc_engine_about *about = &engine->about;
    about->system = mc_api_text(i, "OperatingSystem");
    about->host_name = mc_api_text(i, "Name");
    about->storage = mc_api_text(i, "Driver");
    about->root_dir = mc_api_text(i, "DockerRootDir");
    about->cgroup = mc_api_text(i, "CgroupVersion");
    about->runtime = mc_api_text(i, "DefaultRuntime");
    about->cpus = mc_api_int(i, "NCPU");
    about->memory = mc_api_int(i, "MemTotal");
    size_t index;
    json_t *option;
    json_array_foreach (json_object_get(i, "SecurityOptions"), index, option) {
        const char *text = json_string_value(option);
        about->rootless |= text && strcmp(text, "name=rootless") == 0;
    }
    return 0;
}

static char *copy(const char *text)
{
    return text ? mc_strdup(text) : NULL;
}

static int start(struct mc_engine *engine, struct mc_err *err)
{
    /* Counted by libcurl, and safe beside other threads. */
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return mc_fail(err, MC_INTERNAL, "libcurl does not start");
    }
    engine->multi = curl_multi_init();
    engine->easy = curl_easy_init();
    if (!engine->multi || !engine->easy) {
        return mc_fail(err, MC_INTERNAL, "libcurl gives no handle");
    }
    return 0;
}

int mc_engine_open(const struct mc_endpoint *endpoint, const struct mc_engine_watch *watch, struct mc_until until,
                   struct mc_engine **out, struct mc_err *err)
{
    MC_AUTOENGINE struct mc_engine *engine = mc_alloc(1, sizeof *engine);
    engine->endpoint = (struct mc_endpoint){.host = copy(endpoint->host),
                                            .socket = copy(endpoint->socket),
                                            .url = copy(endpoint->url),
                                            .verify = endpoint->verify,
                                            .ca = copy(endpoint->ca),
                                            .cert = copy(endpoint->cert),
                                            .key = copy(endpoint->key)};
    if (watch) {
        engine->watch = *watch;
    }
    int rc = start(engine, err);
    if (rc == 0) {
        rc = ping(engine, until, err);
    }
    if (rc == 0) {
        rc = agree(engine, err);
    }
    if (rc == 0) {
        rc = ask_version(engine, until, err);
    }
    if (rc == 0) {
        rc = ask_info(engine, until, err);
    }
    if (rc != 0) {
        return rc;
    }
    *out = mc_steal(&engine);
    return 0;
}

void mc_engine_close(struct mc_engine *engine)
{
    if (!engine) {
        return;
    }
    curl_easy_cleanup(engine->easy);
    curl_multi_cleanup(engine->multi);
    curl_global_cleanup();
    json_decref(engine->version);
    json_decref(engine->info);
    free(engine->spoken);
    free(engine->newest);
    mc_endpoint_release(&engine->endpoint);
    free(engine);
}

void mc_engine_close_at(struct mc_engine **engine)
{
    mc_engine_close(*engine);
    *engine = NULL;
}

const struct mc_engine_about *mc_engine_about(const struct mc_engine *engine)
{
    return &engine->about;
}

const struct mc_endpoint *mc_engine_endpoint(const struct mc_engine *engine)
{
    return &engine->endpoint;
}

struct mc_engine_counts mc_engine_counts(const struct mc_engine *engine)
{
    return engine->counts;
}
