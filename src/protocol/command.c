#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "protocol/codec.h"

static const char *const command_names[] = {"secrets",     "initialize", "turn.start", "turn.cancel",
                                            "session.end", "import",     "maintain",   "operation.status",
                                            "clock.set",   "shutdown",   NULL};
static const char *const role_names[] = {"harness", "provider", "sidecar", NULL};
static const char *const turn_kind_names[] = {"turn", "probe", NULL};
const char *const mc_upstream_kind_names[] = {"openai", "script", "replay", NULL};

const char *mc_command_name(enum mc_command_type type)
{
    return command_names[type];
}

/* ---- Encoding ---- */

static json_t *time_json(struct mc_time time)
{
    return json_string(mc_time_format(time).text);
}

static json_t *provider_json(const struct mc_provider_setup *provider)
{
    if (!provider->name) {
        return NULL;
    }
    json_t *plugin = provider->plugin_name
                         ? json_pack("{s:s, s:s}", "name", provider->plugin_name, "path", provider->plugin_path)
                         : NULL;
    json_t *ports = provider->ports ? json_incref(mc_codec_borrow(provider->ports)) : json_array();
    return json_pack("{s:s, s:o*, s:s*, s:o}", "name", provider->name, "plugin", plugin, "memory_path",
                     provider->memory_path, "ports", ports);
}

static void add_gateway(json_t *frame, const struct mc_gateway_setup *gateway)
{
    json_t *upstream =
        json_pack("{s:s, s:s*, s:s*, s:s*, s:s*}", "kind", mc_upstream_kind_names[gateway->upstream], "name",
                  gateway->script, "base_url", gateway->base_url, "secret", gateway->secret, "model", gateway->model);
    json_t *tokens = json_pack("{s:s*, s:s*}", "harness", gateway->harness_token, "provider", gateway->provider_token);
    json_t *budget = json_object();
    if (gateway->budget_usd >= 0) {
        json_object_set_new(budget, "usd", json_real(gateway->budget_usd));
    }
    if (gateway->budget_tokens >= 0) {
        json_object_set_new(budget, "tokens", json_integer(gateway->budget_tokens));
    }
    json_object_set_new(frame, "upstream", upstream);
    json_object_set_new(frame, "tokens", tokens);
    json_object_set_new(frame, "budget", budget);
    if (gateway->prices) {
        json_object_set(frame, "prices", mc_codec_borrow(gateway->prices));
    }
}

static json_t *initialize_json(const struct mc_initialize *in)
{
    json_t *allow = in->allow ? json_incref(mc_codec_borrow(in->allow)) : json_array();
    json_t *config = in->config ? json_incref(mc_codec_borrow(in->config)) : json_object();
    json_t *frame = json_pack(
        "{s:i, s:s, s:s, s:s, s:s, s:o, s:{s:s, s:s, s:s}, s:{s:o}, s:{s:I, s:I, s:I}, s:o*, s:o}", "protocol",
        MC_PROTOCOL_VERSION, "role", role_names[in->role], "trial", in->trial, "namespace", in->name_space, "timezone",
        in->timezone, "scenario_time", time_json(in->scenario_time), "model", "base_url", in->model.base_url, "token",
        in->model.token, "name", in->model.name, "tools", "allow", allow, "limits", "turn_s",
        (json_int_t)in->limits.turn_s, "tool_calls", (json_int_t)in->limits.tool_calls, "context_tokens",
        (json_int_t)in->limits.context_tokens, "provider", provider_json(&in->provider), "config", config);
    if (frame && in->role == MC_SIDECAR) {
        add_gateway(frame, &in->gateway);
    }
    return frame;
}

static json_t *clock_set_json(const struct mc_clock_set *in)
{
    json_t *limit = in->limit_calls < 0 ? NULL : json_integer(in->limit_calls);
    return json_pack("{s:o, s:s, s:o*}", "scenario_time", time_json(in->scenario_time), "step", in->step, "limit_calls",
                     limit);
}

static json_t *turn_start_json(const struct mc_turn_start *in)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:I, s:s}", "turn", in->turn, "session", in->session, "kind",
                     turn_kind_names[in->kind], "scenario_time", time_json(in->scenario_time), "deadline_ms",
                     (json_int_t)in->deadline_ms, "text", in->text);
}

static json_t *command_json(const struct mc_command *command)
{
    switch (command->type) {
    case MC_CMD_SECRETS:
        return json_pack("{s:O}", "values", mc_codec_borrow(command->secrets));
    case MC_CMD_INITIALIZE:
        return initialize_json(&command->initialize);
    case MC_CMD_TURN_START:
        return turn_start_json(&command->turn_start);
    case MC_CMD_TURN_CANCEL:
        return json_pack("{s:s}", "turn", command->turn);
    case MC_CMD_SESSION_END:
        return json_pack("{s:s}", "session", command->session);
    case MC_CMD_IMPORT:
        return json_pack("{s:s, s:o, s:O}", "batch", command->import.batch, "boundary",
                         time_json(command->import.boundary), "observations",
                         mc_codec_borrow(command->import.observations));
    case MC_CMD_MAINTAIN:
        return json_pack("{s:s}", "night", command->night);
    case MC_CMD_OPERATION_STATUS:
        return json_pack("{s:s}", "operation", command->operation);
    case MC_CMD_CLOCK_SET:
        return clock_set_json(&command->clock_set);
    case MC_CMD_SHUTDOWN:
        return json_object();
    }
    return NULL;
}

int mc_command_encode(const struct mc_command *command, struct mc_buf *line, struct mc_err *err)
{
    json_t *frame = command_json(command);
    const char *name = command_names[command->type];
    if (frame) {
        json_object_set_new(frame, "type", json_string(name));
    }
    return mc_codec_write(frame, name, line, err);
}

/* ---- Decoding ---- */

static int read_provider(const struct mc_view *root, struct mc_provider_setup *out, struct mc_err *err)
{
    struct mc_view provider;
    struct mc_view plugin;
    int rc = mc_read_object(root, "provider", MC_OPTIONAL, &provider, err);
    if (rc != 0 || !provider.value) {
        return rc;
    }
    if ((rc = mc_read_id(&provider, "name", MC_REQUIRED, &out->name, err)) != 0 ||
        (rc = mc_read_string(&provider, "memory_path", MC_OPTIONAL, &out->memory_path, err)) != 0 ||
        (rc = mc_codec_array(&provider, "ports", MC_REQUIRED, JSON_INTEGER, &out->ports, err)) != 0 ||
        (rc = mc_read_object(&provider, "plugin", MC_OPTIONAL, &plugin, err)) != 0 || !plugin.value) {
        return rc;
    }
    rc = mc_read_string(&plugin, "name", MC_REQUIRED, &out->plugin_name, err);
    return rc != 0 ? rc : mc_read_string(&plugin, "path", MC_REQUIRED, &out->plugin_path, err);
}

static int read_upstream(const struct mc_view *root, struct mc_gateway_setup *out, struct mc_err *err)
{
    struct mc_view upstream;
    int kind = 0;
    int rc = mc_read_object(root, "upstream", MC_REQUIRED, &upstream, err);
    if (rc != 0 || (rc = mc_read_choice(&upstream, "kind", MC_REQUIRED, mc_upstream_kind_names, &kind, err)) != 0) {
        return rc;
    }
    out->upstream = (enum mc_upstream_kind)kind;
    enum mc_need script = kind == MC_UPSTREAM_SCRIPT ? MC_REQUIRED : MC_OPTIONAL;
    enum mc_need openai = kind == MC_UPSTREAM_OPENAI ? MC_REQUIRED : MC_OPTIONAL;
    if ((rc = mc_read_string(&upstream, "name", script, &out->script, err)) != 0 ||
        (rc = mc_read_string(&upstream, "base_url", openai, &out->base_url, err)) != 0 ||
        (rc = mc_read_string(&upstream, "secret", MC_OPTIONAL, &out->secret, err)) != 0) {
        return rc;
    }
    return mc_read_string(&upstream, "model", MC_OPTIONAL, &out->model, err);
}

static int read_gateway(const struct mc_view *root, struct mc_gateway_setup *out, struct mc_err *err)
{
    struct mc_view tokens;
    struct mc_view budget;
    out->budget_usd = -1;
    out->budget_tokens = MC_UNKNOWN;
    int rc = read_upstream(root, out, err);
    if (rc != 0 || (rc = mc_read_object(root, "tokens", MC_REQUIRED, &tokens, err)) != 0 ||
        (rc = mc_read_string(&tokens, "harness", MC_OPTIONAL, &out->harness_token, err)) != 0 ||
        (rc = mc_read_string(&tokens, "provider", MC_OPTIONAL, &out->provider_token, err)) != 0 ||
        (rc = mc_read_object(root, "budget", MC_REQUIRED, &budget, err)) != 0 ||
        (rc = mc_read_number(&budget, "usd", MC_OPTIONAL, &out->budget_usd, err)) != 0 ||
        (rc = mc_codec_count(&budget, "tokens", &out->budget_tokens, err)) != 0) {
        return rc;
    }
    return mc_codec_object(root, "prices", MC_OPTIONAL, &out->prices, err);
}

static int read_model(const struct mc_view *root, struct mc_initialize *out, struct mc_err *err)
{
    struct mc_view model;
    int rc = mc_read_object(root, "model", MC_REQUIRED, &model, err);
    if (rc != 0 || (rc = mc_read_string(&model, "base_url", MC_REQUIRED, &out->model.base_url, err)) != 0 ||
        (rc = mc_read_string(&model, "token", MC_REQUIRED, &out->model.token, err)) != 0) {
        return rc;
    }
    return mc_read_string(&model, "name", MC_REQUIRED, &out->model.name, err);
}

static int read_limits(const struct mc_view *root, struct mc_initialize *out, struct mc_err *err)
{
    struct mc_view limits;
    int rc = mc_read_object(root, "limits", MC_REQUIRED, &limits, err);
    if (rc != 0 || (rc = mc_read_int(&limits, "turn_s", MC_REQUIRED, 1, INT64_MAX, &out->limits.turn_s, err)) != 0 ||
        (rc = mc_read_int(&limits, "tool_calls", MC_REQUIRED, 0, INT64_MAX, &out->limits.tool_calls, err)) != 0) {
        return rc;
    }
    return mc_read_int(&limits, "context_tokens", MC_REQUIRED, 1, INT64_MAX, &out->limits.context_tokens, err);
}

static int read_initialize(const struct mc_view *root, struct mc_initialize *out, struct mc_err *err)
{
    struct mc_view tools;
    int64_t version = 0;
    int role = 0;
    int rc = mc_read_int(root, "protocol", MC_REQUIRED, MC_PROTOCOL_VERSION, MC_PROTOCOL_VERSION, &version, err);
    if (rc != 0 || (rc = mc_read_choice(root, "role", MC_REQUIRED, role_names, &role, err)) != 0 ||
        (rc = mc_read_id(root, "trial", MC_REQUIRED, &out->trial, err)) != 0 ||
        (rc = mc_read_id(root, "namespace", MC_REQUIRED, &out->name_space, err)) != 0 ||
        (rc = mc_read_string(root, "timezone", MC_REQUIRED, &out->timezone, err)) != 0 ||
        (rc = mc_read_time(root, "scenario_time", MC_REQUIRED, &out->scenario_time, err)) != 0 ||
        (rc = read_model(root, out, err)) != 0 || (rc = mc_read_object(root, "tools", MC_REQUIRED, &tools, err)) != 0 ||
        (rc = mc_codec_array(&tools, "allow", MC_REQUIRED, JSON_STRING, &out->allow, err)) != 0 ||
        (rc = read_limits(root, out, err)) != 0 || (rc = read_provider(root, &out->provider, err)) != 0 ||
        (rc = mc_codec_object(root, "config", MC_REQUIRED, &out->config, err)) != 0) {
        return rc;
    }
    out->role = (enum mc_role)role;
    return out->role == MC_SIDECAR ? read_gateway(root, &out->gateway, err) : 0;
}

static int read_turn_start(const struct mc_view *root, struct mc_turn_start *out, struct mc_err *err)
{
    int kind = 0;
    int rc = mc_read_id(root, "turn", MC_REQUIRED, &out->turn, err);
    if (rc != 0 || (rc = mc_read_id(root, "session", MC_REQUIRED, &out->session, err)) != 0 ||
        (rc = mc_read_choice(root, "kind", MC_REQUIRED, turn_kind_names, &kind, err)) != 0 ||
        (rc = mc_read_time(root, "scenario_time", MC_REQUIRED, &out->scenario_time, err)) != 0 ||
        (rc = mc_read_int(root, "deadline_ms", MC_REQUIRED, 1, INT64_MAX, &out->deadline_ms, err)) != 0) {
        return rc;
    }
    out->kind = (enum mc_turn_kind)kind;
    return mc_read_string(root, "text", MC_REQUIRED, &out->text, err);
}

static int read_secrets(const struct mc_view *root, const json_t **out, struct mc_err *err)
{
    struct mc_view values;
    int rc = mc_read_object(root, "values", MC_REQUIRED, &values, err);
    if (rc != 0) {
        return rc;
    }
    const char *name;
    json_t *value;
    json_object_foreach (mc_codec_borrow(values.value), name, value) {
        struct mc_view view = mc_view_member(&values, name);
        if (!json_is_string(value)) {
            return mc_view_fail(&view, err, "must be text");
        }
    }
    *out = values.value;
    return 0;
}

static int read_clock_set(const struct mc_view *root, struct mc_clock_set *out, struct mc_err *err)
{
    int rc = mc_read_time(root, "scenario_time", MC_REQUIRED, &out->scenario_time, err);
    if (rc != 0 || (rc = mc_read_id(root, "step", MC_REQUIRED, &out->step, err)) != 0) {
        return rc;
    }
    return mc_codec_count(root, "limit_calls", &out->limit_calls, err);
}

static int read_import(const struct mc_view *root, struct mc_import *out, struct mc_err *err)
{
    int rc = mc_read_id(root, "batch", MC_REQUIRED, &out->batch, err);
    if (rc != 0 || (rc = mc_read_time(root, "boundary", MC_REQUIRED, &out->boundary, err)) != 0) {
        return rc;
    }
    return mc_codec_array(root, "observations", MC_REQUIRED, JSON_OBJECT, &out->observations, err);
}

static int read_command(const struct mc_view *root, struct mc_command *out, struct mc_err *err)
{
    switch (out->type) {
    case MC_CMD_SECRETS:
        return read_secrets(root, &out->secrets, err);
    case MC_CMD_INITIALIZE:
        return read_initialize(root, &out->initialize, err);
    case MC_CMD_TURN_START:
        return read_turn_start(root, &out->turn_start, err);
    case MC_CMD_TURN_CANCEL:
        return mc_read_id(root, "turn", MC_REQUIRED, &out->turn, err);
    case MC_CMD_SESSION_END:
        return mc_read_id(root, "session", MC_REQUIRED, &out->session, err);
    case MC_CMD_IMPORT:
        return read_import(root, &out->import, err);
    case MC_CMD_MAINTAIN:
        return mc_read_id(root, "night", MC_REQUIRED, &out->night, err);
    case MC_CMD_OPERATION_STATUS:
        return mc_read_id(root, "operation", MC_REQUIRED, &out->operation, err);
    case MC_CMD_CLOCK_SET:
        return read_clock_set(root, &out->clock_set, err);
    case MC_CMD_SHUTDOWN:
        return 0;
    }
    return mc_fail(err, MC_INTERNAL, "a command of no known type");
}

int mc_command_decode(const char *line, size_t length, struct mc_command *out, struct mc_err *err)
{
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    int type = 0;
    memset(out, 0, sizeof *out);
    json_t *json = mc_codec_parse(line, length, &source, command_names, &type, err);
    if (!json) {
        return err->code;
    }
    out->type = (enum mc_command_type)type;
    struct mc_view root = mc_view_root(&source, json);
    if (read_command(&root, out, err) != 0) {
        json_decref(json);
        memset(out, 0, sizeof *out);
        mc_wrap(err, "frame %s", command_names[type]);
        return err->code = MC_PROTOCOL;
    }
    out->json = json;
    return 0;
}

void mc_command_release(struct mc_command *command)
{
    json_decref(command->json);
    memset(command, 0, sizeof *command);
}
