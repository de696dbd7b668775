/* The first stage of an attempt: volumes, containers, and every program ready. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "engine/volume.h"
#include "hermes/turn.h"
#include "provider/operation.h"
#include "run/attempt.h"

enum { ENGINE_CALL_MS = 60000, SIDECAR_START_MS = 30000 };

#define GATEWAY_URL "http://127.0.0.1:8080/v1"

/* 128 random bits in hexadecimal: worth nothing outside this attempt's sidecar. */
static int make_token(char **out, struct mc_err *err)
{
    unsigned char raw[16];
    if (getrandom(raw, sizeof raw, 0) != (ssize_t)sizeof raw) {
        return mc_fail_errno(err, errno, "asking the system for random bytes");
    }
    struct mc_buf text = MC_BUF_OWN;
    for (size_t i = 0; i < sizeof raw; i++) {
        mc_buf_putf(&text, "%02x", raw[i]);
    }
    *out = mc_buf_take(&text);
    return 0;
}

/* All rows first: nothing is asked of the engine that a crash could make us forget. */
static int plan_resources(struct mc_attempt *attempt, struct mc_err *err)
{
    struct mc_resource_record rows[MC_VOLUMES + MC_ROLES];
    size_t count = 0;
    for (int v = 0; v < MC_VOLUMES; v++) {
        if (attempt->sandbox.volumes[v]) {
            rows[count++] = (struct mc_resource_record){.name = attempt->sandbox.volumes[v],
                                                        .attempt = attempt->id,
                                                        .kind = "volume",
                                                        .role = mc_volume_name((enum mc_volume)v)};
        }
    }
    for (int r = 0; r < MC_ROLES; r++) {
        if (attempt->sandbox.containers[r]) {
            rows[count++] = (struct mc_resource_record){.name = attempt->sandbox.containers[r],
                                                        .attempt = attempt->id,
                                                        .kind = "container",
                                                        .role = mc_role_name((enum mc_role)r)};
        }
    }
    return mc_resources_plan(attempt->run->store, rows, count, err);
}

static int make_volumes(struct mc_attempt *attempt, struct mc_err *err)
{
    const struct mc_run *run = attempt->run;
    struct mc_label labels[16];
    struct mc_labels common = mc_sandbox_labels(&attempt->sandbox);
    memcpy(labels, common.items, common.count * sizeof *labels);
    for (int v = 0; v < MC_VOLUMES; v++) {
        const char *name = attempt->sandbox.volumes[v];
        if (!name) {
            continue;
        }
        labels[common.count] = (struct mc_label){"org.memcal.role", mc_volume_name((enum mc_volume)v)};
        struct mc_labels all = {labels, common.count + 1};
        int rc = mc_volume_create(run->engine, name, all, mc_within(ENGINE_CALL_MS, run->cancel), err);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* In one commit, since each waits for the disk. A crash before it loses nothing: what is planned is looked for by its
 * name, whether or not it came to be. */
static int note_created(struct mc_attempt *attempt, struct mc_err *err)
{
    struct mc_resource_record made[MC_VOLUMES + MC_ROLES];
    size_t count = 0;
    for (int v = 0; v < MC_VOLUMES; v++) {
        const char *name = attempt->sandbox.volumes[v];
        if (name) {
            made[count++] = (struct mc_resource_record){.name = name, .state = "created", .engine_id = name};
        }
    }
    for (int r = 0; r < MC_ROLES; r++) {
        const char *name = attempt->sandbox.containers[r];
        if (name) {
            made[count++] = (struct mc_resource_record){
                .name = name, .state = "created", .engine_id = attempt->programs[r].container};
        }
    }
    return mc_resources_set(attempt->run->store, made, count, err);
}

/* The engine is asked what it made, not believed: the image and the network of what will run are what was pinned. */
static int check_container(struct mc_attempt *attempt, enum mc_role role, struct mc_err *err)
{
    const struct mc_run *run = attempt->run;
    const struct mc_container_spec *spec = &attempt->sandbox.specs[role];
    struct mc_container found;
    int rc = mc_container_inspect(run->engine, attempt->programs[role].container, &found,
                                  mc_within(ENGINE_CALL_MS, run->cancel), err);
    if (rc != 0) {
        return rc;
    }
    if (!mc_streq(found.image, spec->image)) {
        rc = mc_fail(err, MC_MISMATCH, "the %s runs the image %s, the run pins %s", mc_role_name(role), found.image,
                     spec->image);
    } else if (mc_streq(spec->network, "none") && !mc_streq(found.network, "none")) {
        rc = mc_fail(err, MC_MISMATCH, "the engine gave the %s the network \"%s\" where none was asked for",
                     mc_role_name(role), found.network);
    }
    mc_container_release(&found);
    return rc;
}

/* The container is there, and is what was asked for; nothing runs in it yet. */
static int create(struct mc_attempt *attempt, enum mc_role role, struct mc_err *err)
{
    const struct mc_run *run = attempt->run;
    struct mc_stderr *errors = &attempt->errors[role];
    errors->line = MC_BUF_OWN;
    errors->redactor = run->redactor;
    int rc = mc_object_begin(run->store, "stderr", &errors->writer, err);
    rc = rc ? rc
            : mc_program_create(&attempt->programs[role], run->engine, &attempt->sandbox.specs[role], role,
                                mc_attempt_hooks(attempt, role), mc_within(ENGINE_CALL_MS, run->cancel), err);
    return rc ? rc : check_container(attempt, role, err);
}

static int start(struct mc_attempt *attempt, enum mc_role role, struct mc_err *err)
{
    return mc_program_start(&attempt->programs[role], mc_within(ENGINE_CALL_MS, attempt->run->cancel), err);
}

static struct mc_initialize hello_of(const struct mc_attempt *attempt, enum mc_role role)
{
    const struct mc_harness_limits *limits = &attempt->entrant->harness.limits;
    struct mc_initialize hello = {
        .role = role,
        .trial = attempt->trial_id,
        .name_space = attempt->id,
        .timezone = attempt->life->timezone,
        .scenario_time = attempt->life->starts,
        .allow = attempt->allow,
        .limits = {.turn_s = limits->turn_s,
                   .tool_calls = limits->tool_calls,
                   .context_tokens = limits->context_tokens},
    };
    hello.model.base_url = GATEWAY_URL;
    hello.model.token = role == MC_PROVIDER ? attempt->provider_token : attempt->harness_token;
    hello.model.name = attempt->entrant->model->name;
    return hello;
}

static json_t *prices_of(const struct mc_model *model)
{
    return model->prices ? json_pack("{sO}", model->name, model->prices) : NULL;
}

static int greet_sidecar(struct mc_attempt *attempt, struct mc_err *err)
{
    const struct mc_run *run = attempt->run;
    const struct mc_model *model = attempt->entrant->model;
    struct mc_talk talk = mc_attempt_talk(attempt, MC_SIDECAR);
    struct mc_until until = mc_within(SIDECAR_START_MS, run->cancel);
    struct mc_command secrets = {.type = MC_CMD_SECRETS, .secrets = run->secrets};
    MC_AUTOJSON json_t *prices = prices_of(model);
    MC_AUTOJSON json_t *no_config = json_object();
    struct mc_command command = {.type = MC_CMD_INITIALIZE, .initialize = hello_of(attempt, MC_SIDECAR)};
    command.initialize.config = no_config;
    command.initialize.gateway = (struct mc_gateway_setup){
        .upstream = model->kind,
        .script = model->script,
        .base_url = model->base_url,
        .secret = model->secret,
        .model = model->name,
        .harness_token = attempt->harness_token,
        .provider_token = attempt->entrant->has_provider ? attempt->provider_token : NULL,
        .budget_usd = run->plan->runfile.budget_usd,
        .budget_tokens = run->plan->runfile.budget_tokens,
        .prices = prices,
    };
    int rc = mc_talk_send(&talk, &secrets, until, err);
    /* The clock runs from here on: what other programs say of the time is compared with this. */
    attempt->clock = attempt->life->starts;
    attempt->clock_read_ms = mc_monotonic_ms();
    return rc ? rc : mc_talk_send(&talk, &command, until, err);
}

static int await_sidecar(struct mc_attempt *attempt, struct mc_err *err)
{
    struct mc_talk talk = mc_attempt_talk(attempt, MC_SIDECAR);
    struct mc_notice ready;
    int rc = mc_talk_ready(&talk, &ready, mc_within(SIDECAR_START_MS, attempt->run->cancel), err);
    if (rc == 0) {
        mc_notice_release(&ready);
    }
    return rc;
}

static int greet_provider(struct mc_attempt *attempt, struct mc_err *err)
{
    const struct mc_provider *provider = &attempt->entrant->provider;
    struct mc_talk talk = mc_attempt_talk(attempt, MC_PROVIDER);
    struct mc_until until = mc_within(provider->limits.start_s * 1000, attempt->run->cancel);
    MC_AUTOJSON json_t *config = provider->config ? json_deep_copy(provider->config) : json_object();
    struct mc_command command = {.type = MC_CMD_INITIALIZE, .initialize = hello_of(attempt, MC_PROVIDER)};
    command.initialize.provider = (struct mc_provider_setup){.name = provider->name, .memory_path = "/memcal/memory"};
    command.initialize.config = config;
    struct mc_notice ready;
    int rc = mc_talk_hello(&talk, &command, &ready, until, err);
    if (rc == 0) {
        rc = mc_provider_check_ready(provider, &ready.ready, err);
        mc_notice_release(&ready);
    }
    return rc;
}

static int greet_harness(struct mc_attempt *attempt, struct mc_err *err)
{
    const struct mc_entrant *entrant = attempt->entrant;
    const struct mc_provider *provider = &entrant->provider;
    struct mc_talk talk = mc_attempt_talk(attempt, MC_HARNESS);
    struct mc_until until = mc_within(entrant->harness.limits.start_s * 1000, attempt->run->cancel);
    MC_AUTOJSON json_t *config = entrant->harness.config ? json_deep_copy(entrant->harness.config) : json_object();
    MC_AUTOJSON json_t *ports = json_array();
    for (size_t i = 0; entrant->has_provider && i < provider->port_count; i++) {
        json_array_append_new(ports, json_integer(provider->ports[i]));
    }
    struct mc_command command = {.type = MC_CMD_INITIALIZE, .initialize = hello_of(attempt, MC_HARNESS)};
    if (entrant->has_provider) {
        command.initialize.provider =
            (struct mc_provider_setup){.name = provider->name,
                                       .plugin_name = provider->plugin_name,
                                       .plugin_path = provider->plugin_from ? "/memcal/plugin" : NULL,
                                       .memory_path = provider->shared_memory ? "/memcal/memory" : NULL,
                                       .ports = ports};
    }
    command.initialize.config = config;
    struct mc_notice ready;
    int rc = mc_talk_hello(&talk, &command, &ready, until, err);
    if (rc == 0) {
        rc = mc_harness_check_ready(&entrant->harness, &ready.ready, attempt->allow, err);
        mc_notice_release(&ready);
    }
    return rc;
}

int mc_attempt_provision(struct mc_attempt *attempt, struct mc_err *err)
{
    int has_provider = attempt->entrant->has_provider;
    int rc = make_token(&attempt->harness_token, err);
    rc = rc ? rc : make_token(&attempt->provider_token, err);
    rc = rc ? rc : plan_resources(attempt, err);
    rc = rc ? rc : make_volumes(attempt, err);
    rc = rc ? rc : create(attempt, MC_SIDECAR, err);
    rc = rc ? rc : start(attempt, MC_SIDECAR, err);
    rc = rc ? rc : greet_sidecar(attempt, err);
    /* The others' containers are made while the sidecar comes up, and started once it has made clock and sockets. */
    rc = rc || !has_provider ? rc : create(attempt, MC_PROVIDER, err);
    rc = rc ? rc : create(attempt, MC_HARNESS, err);
    rc = rc ? rc : await_sidecar(attempt, err);
    /* Both are started before either is waited for: Hermes takes seconds to be ready, and so may a provider. */
    rc = rc || !has_provider ? rc : start(attempt, MC_PROVIDER, err);
    rc = rc ? rc : start(attempt, MC_HARNESS, err);
    rc = rc ? rc : note_created(attempt, err);
    rc = rc || !has_provider ? rc : greet_provider(attempt, err);
    return rc ? rc : greet_harness(attempt, err);
}
