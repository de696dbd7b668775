#include "sidecar/script.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "sidecar/upstream.h"

enum { CREATED = 1767225600 }; /* 2026-01-01: a reply must not depend on when it was made */

struct script {
    struct mc_upstream upstream;
    mc_script *decide;
    const json_t *config;
};

void mc_move_release(struct mc_move *move)
{
    free(move->text);
    free(move->tool);
    free(move->arguments);
    *move = (struct mc_move){NULL, NULL, NULL};
}

int mc_message_is(const json_t *message, const char *role)
{
    return mc_streq(json_string_value(json_object_get(message, "role")), role);
}

char *mc_message_text(const json_t *message)
{
    const json_t *content = json_object_get(message, "content");
    if (json_is_string(content)) {
        return mc_strdup(json_string_value(content));
    }
    struct mc_buf text = MC_BUF_OWN;
    size_t i;
    json_t *part;
    json_array_foreach ((json_t *)content, i, part) {
        const char *piece = json_string_value(json_object_get(part, "text"));
        if (piece) {
            mc_buf_putf(&text, "%s%s", text.len ? "\n" : "", piece);
        }
    }
    return mc_buf_take(&text);
}

size_t mc_last_message(const json_t *messages, const char *role)
{
    size_t count = json_array_size(messages);
    for (size_t i = count; i > 0; i--) {
        if (mc_message_is(json_array_get(messages, i - 1), role)) {
            return i - 1;
        }
    }
    return count;
}

/* ---- Replies ---- */

/* Tokens as the scripts count them: one for every four bytes of JSON or text, rounded up. */
static json_int_t tokens_in(size_t bytes)
{
    return (json_int_t)((bytes + 3) / 4);
}

static size_t length_of(const char *text)
{
    return text ? strlen(text) : 0;
}

static size_t json_size(const json_t *value)
{
    if (!value) {
        return 0;
    }
    MC_AUTOFREE char *text = mc_json_text(value);
    return strlen(text);
}

static json_t *usage_of(const json_t *request, const struct mc_move *move)
{
    json_int_t prompt = tokens_in(json_size(json_object_get(request, "messages"))) +
                        tokens_in(json_size(json_object_get(request, "tools")));
    json_int_t completion = tokens_in(length_of(move->text) + length_of(move->tool) + length_of(move->arguments));
    return json_pack("{s:I, s:I, s:I, s:{s:i}, s:{s:i}}", "prompt_tokens", prompt, "completion_tokens", completion,
                     "total_tokens", prompt + completion, "prompt_tokens_details", "cached_tokens", 0,
                     "completion_tokens_details", "reasoning_tokens", 0);
}

struct reply {
    const char *model;
    const struct mc_ask *ask;
    const struct mc_move *move;
};

/* {"id", "object", "created", "model"}, with choices; consumed: `choices`. */
static json_t *envelope(const struct reply *reply, const char *object, json_t *choices)
{
    MC_AUTOFREE char *id = mc_strf("chatcmpl-%.24s", reply->ask->digest.hex);
    return json_pack("{s:s, s:s, s:i, s:s, s:o}", "id", id, "object", object, "created", (int)CREATED, "model",
                     reply->model, "choices", choices);
}

static json_t *tool_call(const struct reply *reply)
{
    MC_AUTOFREE char *id = mc_strf("call_%.24s", reply->ask->digest.hex);
    return json_pack("{s:i, s:s, s:s, s:{s:s, s:s}}", "index", 0, "id", id, "type", "function", "function", "name",
                     reply->move->tool, "arguments", reply->move->arguments);
}

static const char *finish_of(const struct reply *reply)
{
    return reply->move->tool ? "tool_calls" : "stop";
}

static char *whole_reply(const struct reply *reply)
{
    json_t *message = reply->move->tool ? json_pack("{s:s, s:n, s:[o]}", "role", "assistant", "content", "tool_calls",
                                                    tool_call(reply))
                                        : json_pack("{s:s, s:s}", "role", "assistant", "content", reply->move->text);
    MC_AUTOJSON json_t *body =
        envelope(reply, "chat.completion",
                 json_pack("[{s:i, s:o, s:s}]", "index", 0, "message", message, "finish_reason", finish_of(reply)));
    json_object_set_new(body, "usage", usage_of(reply->ask->json, reply->move));
    return mc_json_text(body);
}

/* One event of the stream; consumed: `delta`. */
static void put_chunk(struct mc_buf *out, const struct reply *reply, json_t *delta, const char *finish)
{
    json_t *reason = finish ? json_string(finish) : json_null();
    MC_AUTOJSON json_t *chunk =
        envelope(reply, "chat.completion.chunk",
                 json_pack("[{s:i, s:o, s:o}]", "index", 0, "delta", delta, "finish_reason", reason));
    MC_AUTOFREE char *text = mc_json_text(chunk);
    mc_buf_putf(out, "data: %s\n\n", text);
}

static char *streamed_reply(const struct reply *reply)
{
    struct mc_buf out = MC_BUF_OWN;
    put_chunk(&out, reply, json_pack("{s:s, s:s}", "role", "assistant", "content", ""), NULL);
    if (reply->move->tool) {
        put_chunk(&out, reply, json_pack("{s:[o]}", "tool_calls", tool_call(reply)), NULL);
    }
    /* Line by line, as a reader would want to see it grow. */
    for (const char *at = reply->move->text; at && *at;) {
        const char *newline = strchr(at, '\n');
        size_t length = newline ? (size_t)(newline - at) + 1 : strlen(at);
        put_chunk(&out, reply, json_pack("{s:s%}", "content", at, length), NULL);
        at += length;
    }
    put_chunk(&out, reply, json_object(), finish_of(reply));
    if (json_is_true(json_object_get(json_object_get(reply->ask->json, "stream_options"), "include_usage"))) {
        MC_AUTOJSON json_t *chunk = envelope(reply, "chat.completion.chunk", json_array());
        json_object_set_new(chunk, "usage", usage_of(reply->ask->json, reply->move));
        MC_AUTOFREE char *text = mc_json_text(chunk);
        mc_buf_putf(&out, "data: %s\n\n", text);
    }
    mc_buf_puts(&out, "data: [DONE]\n\n");
    return mc_buf_take(&out);
}

static int script_ask(struct mc_upstream *upstream, const struct mc_ask *ask, struct mc_until until,
                      struct mc_answer **out, struct mc_err *err)
{
    const struct script *script = (const struct script *)upstream;
    (void)until;
    if (!mc_streq(ask->path, "/chat/completions")) {
        *out = mc_answer_of_text(404, "application/json",
                                 mc_error_body("no_embeddings", "a scripted model has no embeddings: use an openai "
                                                                "upstream, or a provider that embeds by itself"));
        return 0;
    }
    const json_t *messages = json_object_get(ask->json, "messages");
    if (!json_is_array(messages) || json_array_size(messages) == 0) {
        *out = mc_answer_of_text(400, "application/json", mc_error_body("no_messages", "\"messages\" holds nothing"));
        return 0;
    }
    struct mc_move move = {NULL, NULL, NULL};
    int rc = script->decide(ask->json, messages, script->config, &move, err);
    if (rc != 0) {
        return rc;
    }
    struct reply reply = {.model = upstream->name, .ask = ask, .move = &move};
    *out = ask->stream ? mc_answer_of_text(200, "text/event-stream", streamed_reply(&reply))
                       : mc_answer_of_text(200, "application/json", whole_reply(&reply));
    mc_move_release(&move);
    return 0;
}

static void script_free(struct mc_upstream *upstream)
{
    free(upstream);
}

int mc_upstream_script(const struct mc_upstream_setup *setup, struct mc_upstream **out, struct mc_err *err)
{
    static const struct mc_upstream_ops ops = {.ask = script_ask, .free = script_free};
    static const struct {
        const char *name;
        const char *shown;
        mc_script *decide;
    } scripts[] = {{"extractive", "script/extractive", mc_script_extractive},
                   {"redteam", "script/redteam", mc_script_redteam}};
    for (size_t i = 0; i < MC_COUNT(scripts); i++) {
        if (mc_streq(scripts[i].name, setup->gateway->script)) {
            struct script *script = mc_alloc(1, sizeof *script);
            script->upstream = (struct mc_upstream){&ops, scripts[i].shown};
            script->decide = scripts[i].decide;
            script->config = setup->config;
            *out = &script->upstream;
            return 0;
        }
    }
    return mc_fail(err, MC_INPUT, "upstream.name: there is no script \"%.60s\"; there are extractive and redteam",
                   setup->gateway->script);
}
