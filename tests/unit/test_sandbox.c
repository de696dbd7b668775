#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "run/sandbox.h"
#include "support/folder.h"

#define MANIFESTS TEST_SOURCE_DIR "/../manifests/harnesses/"
#define SPECS TEST_SOURCE_DIR "/data/specs/"

static const char *const names[] = {"hermes-none", "hermes-fts", "hermes-holographic", "program-tiny"};

/* The sandbox of one harness of the house, with made-up images. */
struct planned {
    struct mc_entrant entrant;
    struct mc_model model;
    struct mc_found_image images[MC_ROLES];
    struct mc_sandbox sandbox;
    json_t *json;
};

static void plan(struct planned *p, const char *name, const char *network)
{
    static const char *const entrypoint[] = {"python3", "-m", "driver", NULL};
    static const char *const cmd[] = {"--serve", NULL};
    static const char *const ids[] = {"sha256:aa", "sha256:bb", "sha256:cc"};
    struct mc_err err;
    memset(p, 0, sizeof *p);
    MC_AUTOFREE char *path = mc_strf(MANIFESTS "%s.yaml", name);
    if (mc_entrant_load(path, &p->entrant, &err) != 0) {
        fail_msg("%s", err.text);
    }
    p->model = (struct mc_model){.key = "default", .name = "extractive", .network = network};
    p->entrant.model = &p->model;
    struct mc_sandbox_images images = {.roles = {NULL}};
    for (int r = 0; r < MC_ROLES; r++) {
        p->images[r].image = (struct mc_image){.id = ids[r],
                                               .entrypoint = (const char **)(uintptr_t)entrypoint,
                                               .cmd = (const char **)(uintptr_t)cmd,
                                               .workdir = r == MC_PROVIDER ? "/srv" : ""};
        images.roles[r] = &p->images[r];
    }
    struct mc_sandbox_names own = {"STORE", "RUN", "RUN-t1", "RUN-t1-a1", "OWNER"};
    mc_sandbox_plan(&p->sandbox, &own, &images, &p->entrant, "America/New_York");
    p->json = mc_sandbox_json(&p->sandbox);
    assert_non_null(p->json);
}

static void release(struct planned *p)
{
    json_decref(p->json);
    mc_sandbox_release(&p->sandbox);
    mc_entrant_release(&p->entrant);
}

/* What the engine gets for each harness of the house. To accept a change: MEMCAL_UPDATE_SPECS=1, and read the diff. */
static void specifications_are_as_agreed(void **state)
{
    (void)state;
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        struct planned p;
        struct mc_err err;
        plan(&p, names[i], "none");
        MC_AUTOFREE char *text = mc_json_pretty(p.json);
        MC_AUTOFREE char *line = mc_strf("%s\n", text);
        MC_AUTOFREE char *path = mc_strf(SPECS "%s.json", names[i]);
        if (getenv("MEMCAL_UPDATE_SPECS")) {
            assert_int_equal(mc_fs_write(path, line, strlen(line), 0644, &err), 0);
        }
        MC_AUTOFREE char *wanted = test_content(path);
        assert_string_equal(line, wanted);
        release(&p);
    }
}

/* ---- The rules of design.md section 4, whatever the files above say ---- */

static const json_t *container(const struct planned *p, const char *role)
{
    return json_object_get(json_object_get(p->json, "containers"), role);
}

static const json_t *host(const struct planned *p, const char *role, const char *key)
{
    return json_object_get(json_object_get(container(p, role), "HostConfig"), key);
}

/* The mount at a path: 0 none, 1 read-only, 2 to write. All are volumes of this attempt, nothing is of the host. */
static int mounted(const struct planned *p, const char *role, const char *path)
{
    int access = 0;
    size_t i;
    json_t *bind;
    json_array_foreach ((json_t *)(uintptr_t)host(p, role, "Binds"), i, bind) {
        MC_AUTOFREE char *text = mc_strdup(json_string_value(bind));
        char *rest = NULL;
        const char *volume = strtok_r(text, ":", &rest);
        const char *target = strtok_r(NULL, ":", &rest);
        const char *options = strtok_r(NULL, ":", &rest);
        assert_null(strtok_r(NULL, ":", &rest));
        assert_true(mc_starts_with(volume, "memcal-RUN-t1-a1-"));
        assert_true(mc_starts_with(target, "/memcal/"));
        assert_true(mc_starts_with(options, "ro") || mc_starts_with(options, "rw"));
        if (mc_streq(target, path)) {
            assert_int_equal(access, 0);
            access = options[1] == 'o' ? 1 : 2;
        }
    }
    return access;
}

static void every_container_is_confined(void **state)
{
    (void)state;
    static const char *const roles[] = {"harness", "provider", "sidecar"};
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        struct planned p;
        plan(&p, names[i], "default");
        for (size_t r = 0; r < MC_COUNT(roles); r++) {
            const json_t *c = container(&p, roles[r]);
            if (!c) {
                assert_string_equal(roles[r], "provider");
                assert_false(p.entrant.has_provider);
                continue;
            }
            int trusted = mc_streq(roles[r], "sidecar");
            assert_string_equal(json_string_value(host(&p, roles[r], "NetworkMode")), trusted ? "default" : "none");
            assert_true(json_is_true(host(&p, roles[r], "ReadonlyRootfs")));
            assert_string_equal(json_string_value(json_array_get(host(&p, roles[r], "CapDrop"), 0)), "ALL");
            assert_null(host(&p, roles[r], "CapAdd"));
            assert_false(json_is_true(host(&p, roles[r], "Privileged")));
            MC_AUTOFREE char *security = mc_json_text(host(&p, roles[r], "SecurityOpt"));
            assert_non_null(strstr(security, "no-new-privileges"));
            assert_true(json_integer_value(host(&p, roles[r], "PidsLimit")) > 0);
            assert_true(json_integer_value(host(&p, roles[r], "Memory")) > 0);
            assert_non_null(json_object_get(host(&p, roles[r], "Tmpfs"), "/tmp"));
            assert_true(json_array_size(host(&p, roles[r], "Ulimits")) > 0);
            assert_string_equal(json_string_value(json_object_get(c, "User")), "10001:10001");
            assert_true(json_is_true(json_object_get(c, "OpenStdin")));
            assert_true(json_is_true(json_object_get(c, "StdinOnce")));
            assert_false(json_is_true(json_object_get(c, "Tty")));
            assert_null(host(&p, roles[r], "Devices"));
            assert_null(host(&p, roles[r], "Mounts"));
            assert_int_equal(mounted(&p, roles[r], "/var/run/docker.sock"), 0);
            const json_t *labels = json_object_get(c, "Labels");
            static const char *const wanted[] = {"store", "run", "trial", "attempt", "role", "owner"};
            for (size_t l = 0; l < MC_COUNT(wanted); l++) {
                MC_AUTOFREE char *label = mc_strf("org.memcal.%s", wanted[l]);
                assert_non_null(json_object_get(labels, label));
            }
            /* No key is ever in an environment: no variable but the clock's and the zone. */
            size_t e;
            json_t *variable;
            json_array_foreach (json_object_get(c, "Env"), e, variable) {
                const char *text = json_string_value(variable);
                assert_true(mc_starts_with(text, "TZ=") || mc_starts_with(text, "LD_PRELOAD=") ||
                            mc_starts_with(text, "FAKETIME_") || mc_starts_with(text, "NO_FAKE_STAT="));
            }
        }
        release(&p);
    }
}

static void volumes_are_mounted_as_agreed(void **state)
{
    (void)state;
    struct planned p;
    plan(&p, "hermes-fts", "none");
    static const struct {
        const char *role, *path;
        int access;
    } cases[] = {
        {"harness", "/memcal/home", 2},   {"harness", "/memcal/clock", 1},  {"harness", "/memcal/net", 1},
        {"harness", "/memcal/bin", 1},    {"harness", "/memcal/out", 2},    {"harness", "/memcal/net-provider", 1},
        {"harness", "/memcal/plugin", 1}, {"harness", "/memcal/memory", 0}, {"provider", "/memcal/memory", 2},
        {"provider", "/memcal/clock", 1}, {"provider", "/memcal/net", 1},   {"provider", "/memcal/net-provider", 2},
        {"provider", "/memcal/out", 2},   {"provider", "/memcal/bin", 1},   {"provider", "/memcal/plugin", 2},
        {"provider", "/memcal/home", 0},  {"sidecar", "/memcal/clock", 2},  {"sidecar", "/memcal/net", 2},
        {"sidecar", "/memcal/out", 2},    {"sidecar", "/memcal/bin", 2}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        assert_int_equal(mounted(&p, cases[i].role, cases[i].path), cases[i].access);
    }
    /* Each has an `out` of its own. */
    assert_string_not_equal(p.sandbox.volumes[MC_VOLUME_OUT_HARNESS], p.sandbox.volumes[MC_VOLUME_OUT_PROVIDER]);
    release(&p);
    plan(&p, "hermes-holographic", "none");
    assert_int_equal(mounted(&p, "harness", "/memcal/memory"), 2); /* its plugin runs inside Hermes */
    assert_int_equal(mounted(&p, "harness", "/memcal/plugin"), 0); /* and is bundled with it */
    release(&p);
    plan(&p, "hermes-none", "none");
    assert_null(container(&p, "provider"));
    assert_null(p.sandbox.volumes[MC_VOLUME_MEMORY]);
    assert_string_equal(json_string_value(host(&p, "sidecar", "NetworkMode")), "none");
    release(&p);
}

static void the_clock_is_faked_where_the_manifest_says_so(void **state)
{
    (void)state;
    struct planned p;
    plan(&p, "hermes-none", "none");
    MC_AUTOFREE char *faked = mc_json_text(json_object_get(container(&p, "harness"), "Env"));
    assert_non_null(strstr(faked, "FAKETIME_TIMESTAMP_FILE=/memcal/clock/now"));
    assert_non_null(strstr(faked, "libfaketimeMT.so.1"));
    assert_non_null(strstr(faked, "TZ=America/New_York"));
    release(&p);
    plan(&p, "program-tiny", "none");
    MC_AUTOFREE char *real = mc_json_text(json_object_get(container(&p, "harness"), "Env"));
    assert_string_equal(real, "[\"TZ=America/New_York\"]");
    release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specifications_are_as_agreed),
        cmocka_unit_test(every_container_is_confined),
        cmocka_unit_test(volumes_are_mounted_as_agreed),
        cmocka_unit_test(the_clock_is_faked_where_the_manifest_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
