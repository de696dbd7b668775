/*
 * One HTTP request to the gateway, from its first byte to the event that tells of it.
 *
 * Ownership: mc_exchange_new() allocates; mc_exchange_free() frees, and tells of a call that was broken off. Belongs to
 * the thread of its connection.
 */
#pragma once

#include <microhttpd.h>

#include "sidecar/gateway.h"

struct mc_exchange;

/* `cancel` ends what is under way. */
struct mc_exchange *mc_exchange_new(const struct mc_gateway_parts *parts, const struct mc_cancel *cancel,
                                    struct MHD_Connection *connection, const char *method, const char *path);
void mc_exchange_free(struct mc_exchange *exchange);

/* Bytes of the request's body. */
void mc_exchange_take(struct mc_exchange *exchange, const char *bytes, size_t length);

/* The request is complete: answers it. */
enum MHD_Result mc_exchange_answer(struct mc_exchange *exchange);
