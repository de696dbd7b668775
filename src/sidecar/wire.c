#include "sidecar/wire.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { CALLS_MAX = 1024 };

struct mc_open_call {
    int64_t choice;
    int64_t index;
    int settled; /* its name is complete */
    struct mc_buf name;
};

static json_t *loose(const json_t *value)
{
    return (json_t *)value;
}

int mc_wire_has(const json_t *names, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach (loose(names), i, item) {
        if (mc_streq(json_string_value(item), name)) {
            return 1;
        }
    }
    return 0;
}

int mc_wire_same(const json_t *a, const json_t *b)
{
    size_t i;
    json_t *item;
    json_array_foreach (loose(a), i, item) {
        if (!mc_wire_has(b, json_string_value(item))) {
            return 0;
        }
    }
    json_array_foreach (loose(b), i, item) {
        if (!mc_wire_has(a, json_string_value(item))) {
            return 0;
        }
    }
    return 1;
}

static void add_name(json_t *names, const char *name)
{
    if (!mc_wire_has(names, name)) {
        json_array_append_new(names, json_string(name));
    }
}

/* {"function": {"name"}} or {"custom": {"name"}}; NULL where there is none. */
static const char *name_in(const json_t *tool)
{
    const char *name = json_string_value(json_object_get(json_object_get(tool, "function"), "name"));
    return name ? name : json_string_value(json_object_get(json_object_get(tool, "custom"), "name"));
}

json_t *mc_wire_tools_offered(const json_t *request)
{
    static const char *const run_upstream[] = {"web_search_options", "plugins"};
    json_t *names = json_array();
    size_t i;
    json_t *tool;
    json_array_foreach (json_object_get(request, "tools"), i, tool) {
        const char *name = name_in(tool);
        const char *type = json_string_value(json_object_get(tool, "type"));
        add_name(names, name ? name : type ? type : "(unnamed)");
    }
    json_array_foreach (json_object_get(request, "functions"), i, tool) {
        const char *name = json_string_value(json_object_get(tool, "name"));
        add_name(names, name ? name : "(unnamed)");
    }
    for (i = 0; i < MC_COUNT(run_upstream); i++) {
        const json_t *value = json_object_get(request, run_upstream[i]);
        if (value && !json_is_null(value)) {
            add_name(names, run_upstream[i]);
        }
    }
    return names;
}

/* ---- Usage ---- */

static int64_t count_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value) : MC_UNKNOWN;
}

/* `whole` without the part that is counted by itself. */
static int64_t without(int64_t whole, int64_t share)
{
    return whole < 0 || share < 0 ? whole : whole > share ? whole - share : 0;
}

/* https://platform.openai.com/docs/api-reference/chat/object: prompt_tokens includes cached_tokens, completion_tokens
 * includes reasoning_tokens. */
static void read_usage(struct mc_watch *watch, const json_t *body)
{
    const json_t *usage = json_object_get(body, "usage");
    if (!json_is_object(usage)) {
        return;
    }
    int64_t cached = count_in(json_object_get(usage, "prompt_tokens_details"), "cached_tokens");
    int64_t reasoning = count_in(json_object_get(usage, "completion_tokens_details"), "reasoning_tokens");
    watch->usage = (struct mc_usage){.input = without(count_in(usage, "prompt_tokens"), cached),
                                     .cached_input = cached,
                                     .output = without(count_in(usage, "completion_tokens"), reasoning),
                                     .reasoning = reasoning};
}

/* ---- Tool calls ---- */

void mc_watch_init(struct mc_watch *watch, const json_t *allowed)
{
    *watch = (struct mc_watch){.allowed = allowed, .usage = MC_USAGE_UNKNOWN, .tool_calls = json_array()};
}

void mc_watch_release(struct mc_watch *watch)
{
    for (size_t i = 0; i < watch->count; i++) {
        mc_buf_release(&watch->calls[i].name);
    }
    free(watch->calls);
    free(watch->forbidden);
    json_decref(watch->tool_calls);
    memset(watch, 0, sizeof *watch);
}

static void judge(struct mc_watch *watch, const char *name)
{
    json_t *text = json_string(name);
    json_array_append_new(watch->tool_calls, text ? text : json_string("(not UTF-8)"));
    if (watch->allowed && !watch->forbidden && !mc_wire_has(watch->allowed, name)) {
        watch->forbidden = mc_strdup(name[0] ? name : "(unnamed)");
    }
}

static void settle(struct mc_watch *watch, struct mc_open_call *call)
{
    if (!call->settled) {
        call->settled = 1;
        judge(watch, mc_buf_text(&call->name));
    }
}

static struct mc_open_call *find_call(struct mc_watch *watch, int64_t choice, int64_t index)
{
    for (size_t i = 0; i < watch->count; i++) {
        if (watch->calls[i].choice == choice && watch->calls[i].index == index) {
            return &watch->calls[i];
        }
    }
    return NULL;
}

/* A call begins where its first chunk comes: those before it in the same choice are complete. */
static struct mc_open_call *begin_call(struct mc_watch *watch, int64_t choice, int64_t index)
{
    for (size_t i = 0; i < watch->count; i++) {
        if (watch->calls[i].choice == choice) {
            settle(watch, &watch->calls[i]);
        }
    }
    watch->calls = mc_grow(watch->calls, watch->count, &watch->capacity, sizeof *watch->calls);
    struct mc_open_call *call = &watch->calls[watch->count++];
    *call = (struct mc_open_call){.choice = choice, .index = index, .settled = 0, .name = MC_BUF_OWN};
    return call;
}

/* A piece of a name. Some servers repeat the whole name in every chunk; anything else that comes after the arguments
 * have begun makes another name of it. */
static void add_piece(struct mc_watch *watch, struct mc_open_call *call, const char *piece)
{
    if (!piece || !piece[0] || mc_streq(piece, mc_buf_text(&call->name))) {
        return;
    }
    mc_buf_puts(&call->name, piece);
    if (call->settled) {
        judge(watch, mc_buf_text(&call->name));
    }
}

static void take_delta_call(struct mc_watch *watch, int64_t choice, int64_t index, const json_t *tool)
{
    struct mc_open_call *call = find_call(watch, choice, index);
    if (!call && watch->count >= CALLS_MAX) {
        judge(watch, "(too many calls)");
        return;
    }
    call = call ? call : begin_call(watch, choice, index);
    const json_t *function = json_object_get(tool, "function");
    const char *arguments = json_string_value(json_object_get(function, "arguments"));
    const char *input = json_string_value(json_object_get(json_object_get(tool, "custom"), "input"));
    add_piece(watch, call, name_in(tool));
    if ((arguments && arguments[0]) || (input && input[0])) {
        settle(watch, call);
    }
}

/* The calls of a delta or message; `function_call` is the older form and is kept under index -1. */
static void take_calls(struct mc_watch *watch, int64_t choice, const json_t *message)
{
    size_t i;
    json_t *tool;
    json_array_foreach (json_object_get(message, "tool_calls"), i, tool) {
        const json_t *index = json_object_get(tool, "index");
        take_delta_call(watch, choice, json_is_integer(index) ? json_integer_value(index) : (int64_t)i, tool);
    }
    const json_t *function = json_object_get(message, "function_call");
    if (json_is_object(function)) {
        json_t *wrapped = json_pack("{s:O}", "function", loose(function));
        take_delta_call(watch, choice, -1, wrapped);
        json_decref(wrapped);
    }
}

static enum mc_passage verdict(const struct mc_watch *watch)
{
    if (watch->forbidden && !watch->only_report) {
        return MC_REFUSE;
    }
    for (size_t i = 0; i < watch->count; i++) {
        if (!watch->calls[i].settled) {
            return MC_HOLD;
        }
    }
    return MC_PASS;
}

enum mc_passage mc_watch_chunk(struct mc_watch *watch, const json_t *chunk)
{
    size_t i;
    json_t *choice;
    read_usage(watch, chunk);
    json_array_foreach (json_object_get(chunk, "choices"), i, choice) {
        const json_t *index = json_object_get(choice, "index");
        int64_t number = json_is_integer(index) ? json_integer_value(index) : (int64_t)i;
        take_calls(watch, number, json_object_get(choice, "delta"));
        take_calls(watch, number, json_object_get(choice, "message"));
        for (size_t c = 0; json_is_string(json_object_get(choice, "finish_reason")) && c < watch->count; c++) {
            if (watch->calls[c].choice == number) {
                settle(watch, &watch->calls[c]);
            }
        }
    }
    return verdict(watch);
}

enum mc_passage mc_watch_end(struct mc_watch *watch)
{
    for (size_t i = 0; i < watch->count; i++) {
        settle(watch, &watch->calls[i]);
    }
    return verdict(watch);
}

enum mc_passage mc_watch_body(struct mc_watch *watch, const json_t *body)
{
    mc_watch_chunk(watch, body);
    return mc_watch_end(watch);
}
