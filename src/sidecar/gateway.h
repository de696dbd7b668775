/*
 * The model gateway: OpenAI's API on a Unix socket, one thread for each connection.
 *
 *     POST /v1/chat/completions    POST /v1/embeddings    GET /v1/models    anything else: 404
 *
 * Every call is checked (token, budget, tools), recorded, passed on to the upstream and told as an event.
 *
 * Ownership: everything in the parts is borrowed and outlives the gateway. mc_gateway_start() allocates,
 * mc_gateway_stop() frees.
 */
#pragma once

#include "protocol/frame.h"
#include "sidecar/ledger.h"
#include "sidecar/recorder.h"
#include "sidecar/speaker.h"
#include "sidecar/upstream.h"

enum {
    MC_GATEWAY_BODY_MAX = 64 << 20,
    MC_GATEWAY_HEADERS_MAX = 100,
    MC_GATEWAY_CONNECTIONS_MAX = 256,
    MC_GATEWAY_IDLE_S = 120,
    MC_GATEWAY_CALL_MS = 1800000,
};

struct mc_gateway_parts {
    const char *socket;
    const struct mc_initialize *initialize;
    const struct mc_redactor *redactor;
    const struct mc_recorder *recorder;
    struct mc_speaker *speaker;
    struct mc_ledger *ledger;
    struct mc_upstream *upstream;
};

struct mc_gateway;

int mc_gateway_start(const struct mc_gateway_parts *parts, struct mc_gateway **out, struct mc_err *err) MC_CHECKED;

/* Takes no new connection, gives calls under way `grace_ms` to end, then breaks them off; all are told and recorded. */
void mc_gateway_stop(struct mc_gateway *gateway, int64_t grace_ms);
