#include <string.h>

#include "base/mem.h"
#include "engine/container.h"
#include "engine/own.h"

#define DEFAULT_LIMIT 4096

static const struct mc_tmpfs tmp = {.path = "/tmp", .options = "rw,nosuid,nodev,size=256m,mode=1777"};

void mc_container_spec_confine(struct mc_container_spec *spec)
{
    spec->network = "none";
    spec->read_only_root = 1;
    spec->drop_capabilities = 1;
    spec->no_new_privileges = 1;
    if (spec->tmpfs_count == 0) {
        spec->tmpfs = &tmp;
        spec->tmpfs_count = 1;
    }
    if (!spec->user) {
        spec->user = "10001:10001";
    }
    if (spec->memory == 0) {
        spec->memory = (int64_t)2 << 30;
    }
    if (spec->pids == 0) {
        spec->pids = 512;
    }
}

static json_t *strings(const char *const *texts)
{
    json_t *array = json_array();
    for (size_t i = 0; texts[i]; i++) {
        json_array_append_new(array, json_string(texts[i]));
    }
    return array;
}

static void set_strings(json_t *object, const char *key, const char *const *texts)
{
    if (texts) {
        json_object_set_new(object, key, strings(texts));
    }
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text) {
        json_object_set_new(object, key, json_string(text));
    }
}

static void set_number(json_t *object, const char *key, int64_t number)
{
    if (number != 0) {
        json_object_set_new(object, key, json_integer(number));
    }
}

static json_t *ulimit(const char *name, int64_t limit)
{
    return json_pack("{s:s,s:I,s:I}", "Name", name, "Soft", (json_int_t)limit, "Hard", (json_int_t)limit);
}

/* All three by name: what an engine takes from its own surroundings otherwise may be more than it is allowed to give.
 */
static json_t *ulimits(const struct mc_container_spec *spec)
{
    json_t *array = json_array();
    json_array_append_new(array, ulimit("nofile", spec->nofile ? spec->nofile : DEFAULT_LIMIT));
    json_array_append_new(array, ulimit("nproc", spec->nproc ? spec->nproc : DEFAULT_LIMIT));
    json_array_append_new(array, ulimit("core", 0));
    return array;
}

/* As "binds", since Podman's API drops the NoCopy of Docker's "mounts". */
static json_t *binds(const struct mc_container_spec *spec)
{
    json_t *array = json_array();
    for (size_t i = 0; i < spec->mount_count; i++) {
        const struct mc_mount *mount = &spec->mounts[i];
        MC_AUTOFREE char *text = mc_strf("%s:%s:%s%s", mount->volume, mount->path, mount->read_only ? "ro" : "rw",
                                         mount->copy_up ? "" : ",nocopy");
        json_array_append_new(array, json_string(text));
    }
    return array;
}

static json_t *host_config(const struct mc_container_spec *spec)
{
    json_t *host = json_object();
    json_object_set_new(host, "NetworkMode", json_string(spec->network ? spec->network : "none"));
    json_object_set_new(host, "Binds", binds(spec));
    json_t *tmpfs = json_object();
    for (size_t i = 0; i < spec->tmpfs_count; i++) {
        json_object_set_new(tmpfs, spec->tmpfs[i].path, json_string(spec->tmpfs[i].options));
    }
    json_object_set_new(host, "Tmpfs", tmpfs);
    set_number(host, "Memory", spec->memory);
    set_number(host, "MemorySwap", spec->memory); /* the sum of both: no swap */
    set_number(host, "PidsLimit", spec->pids);
    set_number(host, "NanoCpus", spec->nano_cpus);
    json_object_set_new(host, "Ulimits", ulimits(spec));
    json_object_set_new(host, "ReadonlyRootfs", json_boolean(spec->read_only_root));
    if (spec->drop_capabilities) {
        json_object_set_new(host, "CapDrop", json_pack("[s]", "ALL"));
    }
    if (spec->no_new_privileges) {
        json_object_set_new(host, "SecurityOpt", json_pack("[s]", "no-new-privileges"));
    }
    json_object_set_new(host, "Privileged", json_false());
    json_object_set_new(host, "Init", json_false());       /* `memcal enter` is process 1 */
    json_object_set_new(host, "AutoRemove", json_false()); /* its state is read after its end */
    json_object_set_new(host, "RestartPolicy", json_pack("{s:s}", "Name", "no"));
    return host;
}

json_t *mc_container_spec_json(const struct mc_container_spec *spec)
{
    json_t *body = json_object();
    json_object_set_new(body, "Image", json_string(spec->image));
    set_strings(body, "Entrypoint", spec->entrypoint);
    set_strings(body, "Cmd", spec->cmd);
    set_strings(body, "Env", spec->env);
    json_object_set_new(body, "Labels", mc_labels_json(spec->labels));
    set_text(body, "User", spec->user);
    set_text(body, "WorkingDir", spec->workdir);
    json_object_set_new(body, "Tty", json_false());
    json_object_set_new(body, "OpenStdin", json_boolean(spec->open_stdin));
    json_object_set_new(body, "StdinOnce", json_boolean(spec->open_stdin));
    json_object_set_new(body, "AttachStdin", json_boolean(spec->open_stdin));
    json_object_set_new(body, "AttachStdout", json_true());
    json_object_set_new(body, "AttachStderr", json_true());
    json_object_set_new(body, "HostConfig", host_config(spec));
    return body;
}
