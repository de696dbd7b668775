/*
 * The memory-only boundary on the wire: which tools a request offers, which ones a reply calls, and what it used.
 *
 * A reply is watched as a whole or in the chunks of a stream. A chunk of a tool call is held back until the tool's name
 * is complete and known to be allowed, so no byte of a forbidden call ever passes.
 *
 * Formats: OpenAI's Chat Completions (objects chat.completion and chat.completion.chunk) and Embeddings.
 *
 * Ownership: mc_watch_init() borrows the allowed names; mc_watch_release() frees the rest.
 */
#pragma once

#include <jansson.h>

#include "base/usage.h"

/* The names of all that the request offers to the model, each once: functions, and what the upstream itself would run
 * (a tool of another type under that type's name; `web_search_options`, `plugins`). New reference. */
json_t *mc_wire_tools_offered(const json_t *request);

int mc_wire_has(const json_t *names, const char *name);
/* True where each name of either list is in the other. */
int mc_wire_same(const json_t *a, const json_t *b);

enum mc_passage { MC_PASS, MC_HOLD, MC_REFUSE };

struct mc_open_call; /* a tool call whose chunks are coming */

struct mc_watch {
    const json_t *allowed; /* NULL: whatever is called may pass */
    int only_report;       /* a forbidden call is noted, and passes */
    struct mc_usage usage;
    json_t *tool_calls; /* names, in the order of the calls */
    char *forbidden;    /* the first name that is not allowed, NULL: none */
    struct mc_open_call *calls;
    size_t count;
    size_t capacity;
};

void mc_watch_init(struct mc_watch *watch, const json_t *allowed);
void mc_watch_release(struct mc_watch *watch);

/* A whole reply: MC_PASS or MC_REFUSE. */
enum mc_passage mc_watch_body(struct mc_watch *watch, const json_t *body);
/* One chunk: MC_HOLD where a name in it or before it is not complete yet. */
enum mc_passage mc_watch_chunk(struct mc_watch *watch, const json_t *chunk);
/* The end of the stream: what was held passes, or does not. */
enum mc_passage mc_watch_end(struct mc_watch *watch);
