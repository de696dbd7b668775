#include "sidecar/exchange_own.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

double mc_exchange_elapsed(const struct mc_exchange *x)
{
    return now_ms() - x->began_ms;
}

static int is_call(const struct mc_exchange *x)
{
    return x->route == ROUTE_CHAT || x->route == ROUTE_EMBEDDINGS;
}

/* ---- Beginning and end ---- */

struct mc_exchange *mc_exchange_new(const struct mc_gateway_parts *parts, const struct mc_cancel *cancel,
                                    struct MHD_Connection *connection, const char *method, const char *path)
{
    static const struct {
        const char *method;
        const char *path;
        const char *upstream_path;
        enum route route;
    } routes[] = {{"POST", "/v1/chat/completions", "/chat/completions", ROUTE_CHAT},
                  {"POST", "/v1/embeddings", "/embeddings", ROUTE_EMBEDDINGS},
                  {"GET", "/v1/models", "/models", ROUTE_MODELS}};
    struct mc_exchange *x = mc_alloc(1, sizeof *x);
    x->parts = parts;
    x->cancel = cancel;
    x->connection = connection;
    x->body = MC_BUF_INIT(MC_GATEWAY_BODY_MAX);
    x->held = MC_BUF_OWN;
    x->pass = MC_BUF_OWN;
    x->upstream = "none";
    x->first_byte_ms = -1;
    mc_sse_init(&x->sse);
    mc_watch_init(&x->watch, NULL);
    for (size_t i = 0; i < MC_COUNT(routes); i++) {
        if (mc_streq(routes[i].method, method) && mc_streq(routes[i].path, path)) {
            x->route = routes[i].route;
            x->path = routes[i].upstream_path;
        }
    }
    return x;
}

void mc_exchange_take(struct mc_exchange *x, const char *bytes, size_t length)
{
    if (is_call(x) && !x->too_large && mc_buf_add(&x->body, bytes, length) != 0) {
        x->too_large = 1;
        mc_buf_release(&x->body);
    }
}

void mc_exchange_note(struct mc_exchange *x, const char *text)
{
    if (!x->error) {
        x->error = mc_redact_text(x->parts->redactor, text);
    }
}

int mc_exchange_record(struct mc_exchange *x, const void *bytes, size_t length, struct mc_err *err)
{
    if (!x->recording) {
        x->recording = mc_recording_begin(x->parts->recorder, err);
    }
    return x->recording ? mc_recording_add(x->recording, bytes, length, err) : err->code;
}

void mc_exchange_violation(struct mc_exchange *x, enum mc_rule rule, const char *detail)
{
    struct mc_err err;
    struct mc_violation violation = {.rule = rule, .call = x->call, .step = x->step, .detail = detail};
    struct mc_notice notice = {.type = MC_EVENT, .event = {.kind = MC_EVENT_VIOLATION, .violation = violation}};
    if (mc_speaker_say(x->parts->speaker, &notice, &err) != 0) {
        mc_exchange_note(x, err.text);
    }
}

int mc_exchange_forbidden(struct mc_exchange *x)
{
    if (x->watch.forbidden && !x->reported) {
        x->reported = 1;
        MC_AUTOFREE char *detail = mc_strf("the reply calls the tool \"%s\", which is not allowed", x->watch.forbidden);
        mc_exchange_violation(x, MC_RULE_TOOL_CALLED, detail);
    }
    return x->watch.forbidden && !x->watch.only_report;
}

void mc_exchange_tell(struct mc_exchange *x)
{
    struct mc_err err;
    struct mc_recorded response = {.bytes = 0};
    if (x->told || x->call == 0) {
        return;
    }
    x->told = 1;
    int rc = mc_exchange_record(x, "", 0, &err);
    rc = rc != 0 ? rc : mc_recording_end(mc_steal(&x->recording), &response, &err);
    const char *model = json_string_value(json_object_get(x->json, "model"));
    const struct mc_usage *usage = &x->watch.usage;
    double cost = mc_ledger_cost(x->parts->ledger, model ? model : "", x->parts->initialize->gateway.model, usage);
    double took = mc_exchange_elapsed(x);
    struct mc_model_call call = {.call = x->call,
                                 .step = x->step,
                                 .role = x->role,
                                 .path = x->path,
                                 .model = model ? model : "",
                                 .upstream = x->upstream,
                                 .stream = json_is_true(json_object_get(x->json, "stream")),
                                 .status = x->status,
                                 .request = x->request.digest.hex,
                                 .response = response.digest.hex,
                                 .request_bytes = x->request.bytes,
                                 .response_bytes = response.bytes,
                                 .usage = *usage,
                                 .cost_usd = cost,
                                 .first_byte_ms = x->first_byte_ms < 0 ? took : x->first_byte_ms,
                                 .duration_ms = took,
                                 .tries = x->answer ? x->answer->tries : 0,
                                 .tools_offered = x->offered,
                                 .tool_calls = x->watch.tool_calls,
                                 .error = x->error};
    struct mc_notice notice = {.type = MC_EVENT, .event = {.kind = MC_EVENT_MODEL_CALL, .model_call = call}};
    mc_ledger_spend(x->parts->ledger, usage, cost);
    rc = rc != 0 ? rc : mc_speaker_say(x->parts->speaker, &notice, &err);
    if (rc != 0) {
        mc_speaker_log(x->parts->speaker, "error", "call %lld could not be recorded: %s", (long long)x->call, err.text);
        x->broken = 1; /* what is not recorded must not count as done */
    }
}

void mc_exchange_free(struct mc_exchange *x)
{
    if (!x->told) {
        mc_exchange_note(x, "the client hung up before the end");
        mc_exchange_tell(x);
    }
    mc_answer_free(x->answer);
    mc_recording_abandon(x->recording);
    mc_watch_release(&x->watch);
    mc_sse_release(&x->sse);
    mc_buf_release(&x->body);
    mc_buf_release(&x->held);
    mc_buf_release(&x->pass);
    json_decref(x->json);
    json_decref(x->offered);
    free(x->step);
    free(x->error);
    free(x);
}

/* ---- Answers of the gateway's own ---- */

/* Queues a whole response; `body` is handed over. */
static enum MHD_Result send_whole(struct mc_exchange *x, int status, const char *type, char *body, size_t length)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(length, body, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(body);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (status == 401) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    }
    enum MHD_Result queued = MHD_queue_response(x->connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return queued;
}

enum MHD_Result mc_exchange_fail(struct mc_exchange *x, int status, const char *code, const char *message)
{
    struct mc_err err;
    MC_AUTOFREE char *clean = mc_redact_text(x->parts->redactor, message);
    char *body = mc_error_body(code, clean);
    x->status = status;
    if (x->call) {
        mc_exchange_note(x, message);
        if (!x->recording && mc_exchange_record(x, body, strlen(body), &err) != 0) {
            mc_exchange_note(x, err.text);
        }
        mc_exchange_tell(x);
    }
    return send_whole(x, status, "application/json", body, strlen(body));
}

static enum MHD_Result send_models(struct mc_exchange *x)
{
    MC_AUTOJSON json_t *list =
        json_pack("{s:s, s:[{s:s, s:s, s:i, s:s}]}", "object", "list", "data", "id", x->parts->initialize->model.name,
                  "object", "model", "created", 0, "owned_by", "memcal");
    char *body = list ? mc_json_text(list) : mc_error_body("model", "the model's name is not UTF-8");
    return send_whole(x, 200, "application/json", body, strlen(body));
}

/* ---- Checking a request ---- */

/* Compares without telling by the time it takes where the first difference is. */
static int same_token(const char *given, const char *token)
{
    size_t length = token ? strlen(token) : 0;
    if (length == 0 || strlen(given) != length) {
        return 0;
    }
    unsigned different = 0;
    for (size_t i = 0; i < length; i++) {
        different |= (unsigned)(given[i] ^ token[i]);
    }
    return different == 0;
}

static int check_token(struct mc_exchange *x)
{
    static const char scheme[] = "Bearer ";
    const struct mc_gateway_setup *setup = &x->parts->initialize->gateway;
    const char *header = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Authorization");
    if (!header || strncasecmp(header, scheme, sizeof scheme - 1) != 0) {
        return 0;
    }
    const char *given = header + sizeof scheme - 1;
    int harness = same_token(given, setup->harness_token);
    int provider = same_token(given, setup->provider_token);
    x->role = harness ? MC_HARNESS : MC_PROVIDER;
    return harness || provider;
}

/* The memory-only boundary: the harness offers exactly the allowed tools. A call that neither offers a tool nor streams
 * is one of the harness's own (a summary) and cannot call anything. Returns what is wrong; the caller frees it. */
static char *check_offered(const struct mc_exchange *x)
{
    const json_t *allow = x->parts->initialize->allow;
    int is_own = json_array_size(x->offered) == 0 && !json_is_true(json_object_get(x->json, "stream"));
    if (x->role != MC_HARNESS || x->route != ROUTE_CHAT || is_own || mc_wire_same(x->offered, allow)) {
        return NULL;
    }
    MC_AUTOFREE char *offered = mc_json_text(x->offered);
    MC_AUTOFREE char *allowed = mc_json_text(allow);
    return mc_strf("the request offers the tools %s, allowed are exactly %s", offered, allowed);
}

static int parse_request(struct mc_exchange *x, struct mc_err *err)
{
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    x->json = mc_json_parse(mc_buf_text(&x->body), x->body.len, &source, err);
    if (!x->json) {
        return err->code;
    }
    struct mc_view root = mc_view_root(&source, x->json);
    int stream = 0;
    const char *model = NULL;
    int rc = mc_view_is_object(&root, err);
    rc = rc != 0 ? rc : mc_read_bool(&root, "stream", MC_OPTIONAL, &stream, err);
    return rc != 0 ? rc : mc_read_string(&root, "model", MC_OPTIONAL, &model, err);
}

/* ---- Passing a whole reply on ---- */

static int read_whole(struct mc_exchange *x, struct mc_buf *body, struct mc_err *err)
{
    for (;;) {
        char *room = mc_buf_room(body, MC_PIECE);
        size_t length = 0;
        if (!room) {
            return mc_fail(err, MC_LIMIT, "the upstream's reply is longer than %d bytes", MC_GATEWAY_BODY_MAX);
        }
        int rc = mc_answer_read(x->answer, room, MC_PIECE, &length, x->until, err);
        if (rc != 0 || length == 0) {
            return rc;
        }
        x->first_byte_ms = x->first_byte_ms < 0 ? mc_exchange_elapsed(x) : x->first_byte_ms;
        mc_buf_advance(body, length);
        rc = mc_exchange_record(x, room, length, err);
        if (rc != 0) {
            return rc;
        }
    }
}

static enum MHD_Result upstream_failed(struct mc_exchange *x, const struct mc_err *err)
{
    int status = err->code == MC_TIMEOUT ? 504 : err->code == MC_CANCELLED ? 503 : 502;
    return mc_exchange_fail(x, status, "upstream", err->text);
}

static enum MHD_Result pass_whole(struct mc_exchange *x)
{
    struct mc_err err;
    MC_AUTOBUF struct mc_buf body = MC_BUF_INIT(MC_GATEWAY_BODY_MAX);
    if (read_whole(x, &body, &err) != 0) {
        return upstream_failed(x, &err);
    }
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    MC_AUTOJSON json_t *json = mc_json_parse(mc_buf_text(&body), body.len, &source, &err);
    if (!json && x->status < 400) {
        mc_wrap(&err, "the upstream's reply");
        return upstream_failed(x, &err);
    }
    if (json) {
        mc_watch_body(&x->watch, json);
    }
    if (mc_exchange_forbidden(x)) {
        return mc_exchange_fail(x, 403, "tool_called", "the reply calls a tool that is not allowed");
    }
    if (x->status >= 400) { /* an upstream may repeat the key that it does not like */
        MC_AUTOBUF struct mc_buf clean = MC_BUF_OWN;
        mc_redact_bytes(x->parts->redactor, mc_buf_text(&body), body.len, &clean);
        mc_buf_release(&body);
        body = clean;
        clean = MC_BUF_OWN;
        MC_AUTOFREE char *text = mc_strf("the upstream answered %d", x->status);
        mc_exchange_note(x, text);
    }
    mc_exchange_tell(x);
    size_t length = body.len;
    return x->broken ? MHD_NO : send_whole(x, x->status, x->answer->content_type, mc_buf_take(&body), length);
}

/* ---- A call ---- */

static enum MHD_Result ask(struct mc_exchange *x)
{
    struct mc_err err;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct mc_ask question = {.path = x->path,
                              .body = mc_buf_text(&x->body),
                              .length = x->body.len,
                              .json = x->json,
                              .stream = json_is_true(json_object_get(x->json, "stream")),
                              .digest = x->request.digest,
                              .client_fd = info ? info->connect_fd : -1,
                              .call = x->call};
    x->upstream = x->parts->upstream->name;
    x->until = mc_within(MC_GATEWAY_CALL_MS, x->cancel);
    if (x->role == MC_HARNESS) {
        /* What was offered is the allowed set, or nothing. */
        x->watch.allowed = x->offered;
        x->watch.only_report = mc_streq(x->upstream, "script/redteam") &&
                               json_is_true(json_object_get(x->parts->initialize->config, "pass_forbidden"));
    }
    if (mc_upstream_ask(x->parts->upstream, &question, x->until, &x->answer, &err) != 0) {
        return upstream_failed(x, &err);
    }
    x->status = x->answer->status;
    int streams = x->status < 400 && mc_starts_with(x->answer->content_type, "text/event-stream");
    return streams ? mc_exchange_stream(x) : pass_whole(x);
}

static enum MHD_Result answer_call(struct mc_exchange *x)
{
    struct mc_err err;
    struct mc_admission admission = mc_ledger_admit(x->parts->ledger);
    MC_AUTOFREE char *refusal = admission.detail;
    free(x->step);
    x->step = admission.step;
    x->call = admission.call;
    if (mc_record(x->parts->recorder, mc_buf_text(&x->body), x->body.len, &x->request, &err) != 0) {
        x->call = 0; /* what cannot be recorded is not done */
        return mc_exchange_fail(x, 500, "not_recorded", err.text);
    }
    if (x->too_large) {
        return mc_exchange_fail(x, 413, "too_large", "the request is longer than 64 MiB");
    }
    if (parse_request(x, &err) != 0) {
        return mc_exchange_fail(x, 400, "bad_request", err.text);
    }
    x->offered = mc_wire_tools_offered(x->json);
    if (admission.refused) {
        mc_exchange_violation(x, admission.rule, refusal);
        return mc_exchange_fail(x, 402, mc_rule_name(admission.rule), refusal);
    }
    MC_AUTOFREE char *wrong = check_offered(x);
    if (wrong) {
        mc_exchange_violation(x, MC_RULE_TOOLS_OFFERED, wrong);
        return mc_exchange_fail(x, 403, "tools_offered", wrong);
    }
    return ask(x);
}

static enum MHD_Result count_header(void *payload, enum MHD_ValueKind kind, const char *key, const char *value)
{
    (void)payload;
    (void)kind;
    (void)key;
    (void)value;
    return MHD_YES;
}

enum MHD_Result mc_exchange_answer(struct mc_exchange *x)
{
    if (x->began_ms > 0) {
        return MHD_NO; /* a second time for one request: never */
    }
    x->began_ms = now_ms();
    /* While it is answered the connection may be quiet for as long as the model thinks. */
    MHD_set_connection_option(x->connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)(MC_GATEWAY_CALL_MS / 1000 + 60));
    if (MHD_get_connection_values(x->connection, MHD_HEADER_KIND, count_header, NULL) > MC_GATEWAY_HEADERS_MAX) {
        return mc_exchange_fail(x, 431, "too_many_headers", "the request has more than 100 headers");
    }
    if (x->route == ROUTE_NONE) {
        return mc_exchange_fail(x, 404, "not_found",
                                "the gateway has /v1/chat/completions, /v1/embeddings and /v1/models");
    }
    x->step = mc_ledger_now(x->parts->ledger);
    if (!check_token(x)) {
        mc_exchange_violation(x, MC_RULE_TOKEN, "a request came without the token of this attempt");
        return mc_exchange_fail(x, 401, "token", "the token is missing or not one of this attempt");
    }
    return x->route == ROUTE_MODELS ? send_models(x) : answer_call(x);
}
