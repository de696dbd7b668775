#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "protocol/codec.h"

static const char *const notice_names[] = {"ready",    "event",     "turn.completed", "turn.failed", "session.ended",
                                           "accepted", "operation", "clock",          "bye",         NULL};
static const char *const event_names[] = {"message", "tool.call", "tool.result", "tool.denied", "context.injected",
                                          "usage",   "log",       "model.call",  "violation",   NULL};
static const char *const failure_names[] = {"deadline", "cancelled", "tool_policy", "error", NULL};
static const char *const state_names[] = {"running", "completed", "failed", NULL};
static const char *const rule_names[] = {"tools_offered", "tool_called", "token", "budget", "calls", NULL};
static const char *const caller_names[] = {"harness", "provider", NULL};
static const char *const wire_names[] = {"wire", NULL};

const char *mc_notice_name(enum mc_notice_type type)
{
    return notice_names[type];
}

const char *mc_event_name(enum mc_event_kind kind)
{
    return event_names[kind];
}

const char *mc_rule_name(enum mc_rule rule)
{
    return rule_names[rule];
}

/* ---- Encoding ---- */

static json_t *list_json(const json_t *list)
{
    return list ? json_incref(mc_codec_borrow(list)) : json_array();
}

static json_t *model_call_json(const struct mc_model_call *call)
{
    json_t *data = json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:s, s:b, s:I, s:s, s:s, s:I, s:I, s:o, s:f, s:f, s:I, s:o, s:o, s:s*}", "call",
        (json_int_t)call->call, "step", call->step, "role", caller_names[call->role], "path", call->path, "model",
        call->model, "upstream", call->upstream, "stream", call->stream, "status", (json_int_t)call->status, "request",
        call->request, "response", call->response, "request_bytes", (json_int_t)call->request_bytes, "response_bytes",
        (json_int_t)call->response_bytes, "usage", mc_usage_json(&call->usage), "first_byte_ms", call->first_byte_ms,
        "duration_ms", call->duration_ms, "tries", (json_int_t)call->tries, "tools_offered",
        list_json(call->tools_offered), "tool_calls", list_json(call->tool_calls), "error", call->error);
    if (data) {
        json_object_set_new(data, "cost_usd", call->cost_usd < 0 ? json_null() : json_real(call->cost_usd));
    }
    return data;
}

static json_t *event_json(const struct mc_event *event)
{
    json_t *data = NULL;
    if (event->kind == MC_EVENT_MODEL_CALL && !event->data) {
        data = model_call_json(&event->model_call);
    } else if (event->kind == MC_EVENT_VIOLATION && !event->data) {
        const struct mc_violation *v = &event->violation;
        data = json_pack("{s:s, s:s, s:I, s:s, s:s}", "layer", "wire", "rule", rule_names[v->rule], "call",
                         (json_int_t)v->call, "step", v->step, "detail", v->detail);
    } else {
        data = json_incref(mc_codec_borrow(event->data));
    }
    return json_pack("{s:s, s:s*, s:o}", "kind", event_names[event->kind], "turn", event->turn, "data", data);
}

static json_t *notice_json(const struct mc_notice *in)
{
    switch (in->type) {
    case MC_READY:
        return json_pack("{s:s, s:s, s:i, s:o, s:o}", "name", in->ready.name, "version", in->ready.version, "protocol",
                         MC_PROTOCOL_VERSION, "tools", list_json(in->ready.tools), "capabilities",
                         in->ready.capabilities ? json_incref(mc_codec_borrow(in->ready.capabilities)) : json_object());
    case MC_EVENT:
        return event_json(&in->event);
    case MC_TURN_COMPLETED:
        return json_pack("{s:s, s:s, s:o}", "turn", in->turn_completed.turn, "answer", in->turn_completed.answer,
                         "usage", mc_usage_json(&in->turn_completed.usage));
    case MC_TURN_FAILED:
        return json_pack("{s:s, s:s, s:s}", "turn", in->turn_failed.turn, "reason",
                         failure_names[in->turn_failed.reason], "message", in->turn_failed.message);
    case MC_SESSION_ENDED:
        return json_pack("{s:s}", "session", in->session);
    case MC_ACCEPTED:
        return json_pack("{s:s*, s:s*, s:s}", "batch", in->accepted.batch, "night", in->accepted.night, "operation",
                         in->accepted.operation);
    case MC_OPERATION:
        return json_pack("{s:s, s:s, s:O*}", "operation", in->operation.operation, "state",
                         state_names[in->operation.state], "detail", mc_codec_borrow(in->operation.detail));
    case MC_CLOCK:
        return json_pack("{s:s, s:s, s:f}", "step", in->clock.step, "scenario_time",
                         mc_time_format(in->clock.scenario_time).text, "offset_s", in->clock.offset_s);
    case MC_BYE:
        return json_object();
    }
    return NULL;
}

int mc_notice_encode(const struct mc_notice *notice, struct mc_buf *line, struct mc_err *err)
{
    json_t *frame = notice_json(notice);
    const char *name = notice_names[notice->type];
    if (frame) {
        json_object_set_new(frame, "type", json_string(name));
        json_object_set_new(frame, "seq", json_integer(notice->seq));
        if (notice->has_at) {
            json_object_set_new(frame, "at", json_string(mc_time_format(notice->at).text));
        }
    }
    return mc_codec_write(frame, name, line, err);
}

/* ---- Decoding ---- */

static int read_digest(const struct mc_view *object, const char *key, const char **out, struct mc_err *err)
{
    int rc = mc_read_string(object, key, MC_REQUIRED, out, err);
    if (rc == 0 && !mc_is_digest(*out)) {
        struct mc_view view = mc_view_member(object, key);
        rc = mc_view_fail(&view, err, "must be a SHA-256 in 64 lower-case hexadecimal digits");
    }
    return rc;
}

/* A number of at least 0; -1 where it is null or absent and may be. */
static int read_amount(const struct mc_view *object, const char *key, enum mc_need need, double *out,
                       struct mc_err *err)
{
    *out = -1;
    int rc = mc_read_number(object, key, need, out, err);
    if (rc == 0 && *out < 0 && mc_view_member(object, key).value) {
        struct mc_view view = mc_view_member(object, key);
        rc = mc_view_fail(&view, err, "must not be below 0");
    }
    return rc;
}

static int read_call_sizes(const struct mc_view *data, struct mc_model_call *out, struct mc_err *err)
{
    struct mc_view usage;
    int rc = mc_read_object(data, "usage", MC_REQUIRED, &usage, err);
    if (rc != 0 || (rc = mc_codec_usage(&usage, &out->usage, err)) != 0 ||
        (rc = mc_read_int(data, "request_bytes", MC_REQUIRED, 0, INT64_MAX, &out->request_bytes, err)) != 0 ||
        (rc = mc_read_int(data, "response_bytes", MC_REQUIRED, 0, INT64_MAX, &out->response_bytes, err)) != 0 ||
        (rc = mc_read_int(data, "tries", MC_OPTIONAL, 0, INT64_MAX, &out->tries, err)) != 0 ||
        (rc = read_amount(data, "cost_usd", MC_OPTIONAL, &out->cost_usd, err)) != 0 ||
        (rc = read_amount(data, "first_byte_ms", MC_REQUIRED, &out->first_byte_ms, err)) != 0) {
        return rc;
    }
    return read_amount(data, "duration_ms", MC_REQUIRED, &out->duration_ms, err);
}

static int read_model_call(const struct mc_view *data, struct mc_model_call *out, struct mc_err *err)
{
    int role = 0;
    int rc = mc_read_int(data, "call", MC_REQUIRED, 1, INT64_MAX, &out->call, err);
    if (rc != 0 || (rc = mc_read_id(data, "step", MC_REQUIRED, &out->step, err)) != 0 ||
        (rc = mc_read_choice(data, "role", MC_REQUIRED, caller_names, &role, err)) != 0 ||
        (rc = mc_read_string(data, "path", MC_REQUIRED, &out->path, err)) != 0 ||
        (rc = mc_read_string(data, "model", MC_REQUIRED, &out->model, err)) != 0 ||
        (rc = mc_read_string(data, "upstream", MC_REQUIRED, &out->upstream, err)) != 0 ||
        (rc = mc_read_bool(data, "stream", MC_REQUIRED, &out->stream, err)) != 0 ||
        (rc = mc_read_int(data, "status", MC_REQUIRED, 0, 999, &out->status, err)) != 0 ||
        (rc = read_digest(data, "request", &out->request, err)) != 0 ||
        (rc = read_digest(data, "response", &out->response, err)) != 0 ||
        (rc = mc_codec_array(data, "tools_offered", MC_REQUIRED, JSON_STRING, &out->tools_offered, err)) != 0 ||
        (rc = mc_codec_array(data, "tool_calls", MC_REQUIRED, JSON_STRING, &out->tool_calls, err)) != 0 ||
        (rc = mc_read_string(data, "error", MC_OPTIONAL, &out->error, err)) != 0) {
        return rc;
    }
    out->role = (enum mc_role)role;
    return read_call_sizes(data, out, err);
}

static int read_violation(const struct mc_view *data, struct mc_violation *out, struct mc_err *err)
{
    int rule = 0;
    int layer = 0;
    int rc = mc_read_choice(data, "rule", MC_REQUIRED, rule_names, &rule, err);
    if (rc != 0 || (rc = mc_read_choice(data, "layer", MC_REQUIRED, wire_names, &layer, err)) != 0 ||
        (rc = mc_read_int(data, "call", MC_REQUIRED, 0, INT64_MAX, &out->call, err)) != 0 ||
        (rc = mc_read_id(data, "step", MC_REQUIRED, &out->step, err)) != 0) {
        return rc;
    }
    out->rule = (enum mc_rule)rule;
    return mc_read_string(data, "detail", MC_REQUIRED, &out->detail, err);
}

/* The texts that each kind of event has; those after '?' may be absent. */
static const char *const event_texts[][5] = {
    [MC_EVENT_MESSAGE] = {"role", "content", "session"},
    [MC_EVENT_TOOL_CALL] = {"id", "name", "arguments"},
    [MC_EVENT_TOOL_RESULT] = {"id", "name", "content"},
    [MC_EVENT_TOOL_DENIED] = {"name", "rule", "layer", "?", "id"},
    [MC_EVENT_CONTEXT_INJECTED] = {"source", "content"},
    [MC_EVENT_LOG] = {"level", "text"},
    [MC_EVENT_VIOLATION] = {NULL},
};

static int read_event_data(const struct mc_view *data, struct mc_event *out, struct mc_err *err)
{
    if (out->kind == MC_EVENT_MODEL_CALL) {
        return read_model_call(data, &out->model_call, err);
    }
    if (out->kind == MC_EVENT_VIOLATION) {
        return read_violation(data, &out->violation, err);
    }
    if (out->kind == MC_EVENT_USAGE) {
        struct mc_usage usage;
        int64_t calls = 0;
        int rc = mc_codec_usage(data, &usage, err);
        return rc != 0 ? rc : mc_codec_count(data, "calls", &calls, err);
    }
    enum mc_need need = MC_REQUIRED;
    for (size_t i = 0; i < MC_COUNT(event_texts[0]) && event_texts[out->kind][i]; i++) {
        const char *key = event_texts[out->kind][i];
        const char *text = NULL;
        if (key[0] == '?') {
            need = MC_OPTIONAL;
            continue;
        }
        int rc = mc_read_string(data, key, need, &text, err);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int read_event(const struct mc_view *root, struct mc_event *out, enum mc_role from, struct mc_err *err)
{
    struct mc_view data;
    int kind = 0;
    int rc = mc_read_choice(root, "kind", MC_REQUIRED, event_names, &kind, err);
    if (rc != 0 || (rc = mc_read_id(root, "turn", MC_OPTIONAL, &out->turn, err)) != 0 ||
        (rc = mc_read_object(root, "data", MC_REQUIRED, &data, err)) != 0) {
        return rc;
    }
    if (kind >= MC_EVENT_MODEL_CALL && from != MC_SIDECAR) {
        return mc_fail(err, MC_PROTOCOL, "only the sidecar may send an event %s, this is the %s", event_names[kind],
                       mc_role_name(from));
    }
    out->kind = (enum mc_event_kind)kind;
    out->data = data.value;
    return read_event_data(&data, out, err);
}

static int read_ready(const struct mc_view *root, struct mc_ready *out, struct mc_err *err)
{
    int64_t version = 0;
    int rc = mc_read_string(root, "name", MC_REQUIRED, &out->name, err);
    if (rc != 0 || (rc = mc_read_string(root, "version", MC_REQUIRED, &out->version, err)) != 0 ||
        (rc = mc_read_int(root, "protocol", MC_REQUIRED, MC_PROTOCOL_VERSION, MC_PROTOCOL_VERSION, &version, err)) !=
            0 ||
        (rc = mc_codec_array(root, "tools", MC_REQUIRED, JSON_STRING, &out->tools, err)) != 0) {
        return rc;
    }
    return mc_codec_object(root, "capabilities", MC_REQUIRED, &out->capabilities, err);
}

static int read_turn_completed(const struct mc_view *root, struct mc_turn_completed *out, struct mc_err *err)
{
    struct mc_view usage;
    out->usage = MC_USAGE_UNKNOWN;
    int rc = mc_read_id(root, "turn", MC_REQUIRED, &out->turn, err);
    if (rc != 0 || (rc = mc_read_string(root, "answer", MC_REQUIRED, &out->answer, err)) != 0 ||
        (rc = mc_read_object(root, "usage", MC_OPTIONAL, &usage, err)) != 0 || !usage.value) {
        return rc;
    }
    return mc_codec_usage(&usage, &out->usage, err);
}

static int read_turn_failed(const struct mc_view *root, struct mc_turn_failed *out, struct mc_err *err)
{
    int reason = 0;
    int rc = mc_read_id(root, "turn", MC_REQUIRED, &out->turn, err);
    if (rc != 0 || (rc = mc_read_choice(root, "reason", MC_REQUIRED, failure_names, &reason, err)) != 0) {
        return rc;
    }
    out->reason = (enum mc_turn_failure)reason;
    return mc_read_string(root, "message", MC_REQUIRED, &out->message, err);
}

static int read_accepted(const struct mc_view *root, struct mc_accepted *out, struct mc_err *err)
{
    int rc = mc_read_id(root, "batch", MC_OPTIONAL, &out->batch, err);
    if (rc != 0 || (rc = mc_read_id(root, "night", MC_OPTIONAL, &out->night, err)) != 0 ||
        (rc = mc_read_id(root, "operation", MC_REQUIRED, &out->operation, err)) != 0) {
        return rc;
    }
    if (!out->batch == !out->night) {
        return mc_view_fail(root, err, "must have either \"batch\" or \"night\"");
    }
    return 0;
}

static int read_operation(const struct mc_view *root, struct mc_operation *out, struct mc_err *err)
{
    int state = 0;
    int rc = mc_read_id(root, "operation", MC_REQUIRED, &out->operation, err);
    if (rc != 0 || (rc = mc_read_choice(root, "state", MC_REQUIRED, state_names, &state, err)) != 0) {
        return rc;
    }
    out->state = (enum mc_operation_state)state;
    out->detail = mc_view_member(root, "detail").value;
    return 0;
}

static int read_clock(const struct mc_view *root, struct mc_clock_reading *out, struct mc_err *err)
{
    int rc = mc_read_id(root, "step", MC_REQUIRED, &out->step, err);
    if (rc != 0 || (rc = mc_read_time(root, "scenario_time", MC_REQUIRED, &out->scenario_time, err)) != 0) {
        return rc;
    }
    return mc_read_number(root, "offset_s", MC_REQUIRED, &out->offset_s, err);
}

/* Which programs may send a frame: the sidecar's own come from it alone, and it takes part in no turn. */
static int check_sender(enum mc_notice_type type, enum mc_role from, struct mc_err *err)
{
    int anyone = type == MC_READY || type == MC_EVENT || type == MC_BYE;
    if (anyone || (type == MC_CLOCK) == (from == MC_SIDECAR)) {
        return 0;
    }
    return mc_fail(err, MC_PROTOCOL, "the %s may not send it", mc_role_name(from));
}

static int read_body(const struct mc_view *root, enum mc_role from, struct mc_notice *out, struct mc_err *err)
{
    int rc = check_sender(out->type, from, err);
    if (rc != 0) {
        return rc;
    }
    switch (out->type) {
    case MC_READY:
        return read_ready(root, &out->ready, err);
    case MC_EVENT:
        return read_event(root, &out->event, from, err);
    case MC_TURN_COMPLETED:
        return read_turn_completed(root, &out->turn_completed, err);
    case MC_TURN_FAILED:
        return read_turn_failed(root, &out->turn_failed, err);
    case MC_SESSION_ENDED:
        return mc_read_id(root, "session", MC_REQUIRED, &out->session, err);
    case MC_ACCEPTED:
        return read_accepted(root, &out->accepted, err);
    case MC_OPERATION:
        return read_operation(root, &out->operation, err);
    case MC_CLOCK:
        return read_clock(root, &out->clock, err);
    case MC_BYE:
        return 0;
    }
    return mc_fail(err, MC_INTERNAL, "a notice of no known type");
}

int mc_notice_decode(const char *line, size_t length, enum mc_role from, struct mc_notice *out, struct mc_err *err)
{
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    int type = 0;
    memset(out, 0, sizeof *out);
    json_t *json = mc_codec_parse(line, length, &source, notice_names, &type, err);
    if (!json) {
        return err->code;
    }
    struct mc_view root = mc_view_root(&source, json);
    out->type = (enum mc_notice_type)type;
    out->has_at = mc_view_member(&root, "at").value != NULL;
    if (mc_read_int(&root, "seq", MC_REQUIRED, 1, INT64_MAX, &out->seq, err) != 0 ||
        mc_read_time(&root, "at", MC_OPTIONAL, &out->at, err) != 0 || read_body(&root, from, out, err) != 0) {
        json_decref(json);
        memset(out, 0, sizeof *out);
        mc_wrap(err, "frame %s", notice_names[type]);
        return err->code = MC_PROTOCOL;
    }
    out->json = json;
    return 0;
}

void mc_notice_release(struct mc_notice *notice)
{
    json_decref(notice->json);
    memset(notice, 0, sizeof *notice);
}
