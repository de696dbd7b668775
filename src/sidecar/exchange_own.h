/*
 * What the files of an exchange share: its state, and the steps that both whole and streamed replies take.
 *
 * Ownership: as exchange.h says; the fields belong to the exchange.
 */
#pragma once

#include "sidecar/exchange.h"
#include "sidecar/sse.h"
#include "sidecar/wire.h"

enum route { ROUTE_NONE, ROUTE_CHAT, ROUTE_EMBEDDINGS, ROUTE_MODELS };
enum { MC_PIECE = 16384 };

struct mc_exchange {
    const struct mc_gateway_parts *parts;
    const struct mc_cancel *cancel;
    struct MHD_Connection *connection;
    enum route route;
    const char *path; /* as routed, a constant */
    struct mc_buf body;
    int too_large;
    enum mc_role role;

    /* A call, once it has a number. */
    int64_t call;
    char *step;
    int told;     /* its event has been said */
    int reported; /* its violation has been said */
    json_t *json;
    json_t *offered;
    struct mc_recorded request;
    struct mc_until until;
    double began_ms;
    double first_byte_ms; /* below 0: none came */
    int status;
    const char *upstream; /* "none" before one was asked */
    struct mc_answer *answer;
    struct mc_recording *recording; /* of the response */
    struct mc_watch watch;
    char *error;

    /* A stream. */
    struct mc_sse sse;
    struct mc_buf held; /* events that may not pass yet */
    struct mc_buf pass; /* bytes that may */
    size_t passed;      /* of them, how many were handed on */
    int final;          /* [DONE] came: it and what follows wait for the call's event */
    int queued;         /* its status went out */
    int ended;          /* nothing more comes */
    int broken;         /* the connection ends without a proper end */
};

/* Milliseconds since the request was complete. */
double mc_exchange_elapsed(const struct mc_exchange *exchange);

/* The first error is the one that is told. */
void mc_exchange_note(struct mc_exchange *exchange, const char *text);

/* Adds to the recording of the response: what the upstream said, or else what the gateway itself answered. */
int mc_exchange_record(struct mc_exchange *exchange, const void *bytes, size_t length, struct mc_err *err) MC_CHECKED;

void mc_exchange_violation(struct mc_exchange *exchange, enum mc_rule rule, const char *detail);
/* Tells of a forbidden tool call, once. True where the reply must not pass. */
int mc_exchange_forbidden(struct mc_exchange *exchange);

/* Ends the recording and tells of the call: only after this may the last byte pass. */
void mc_exchange_tell(struct mc_exchange *exchange);

/* Answers with an error; tells of the call where there is one. */
enum MHD_Result mc_exchange_fail(struct mc_exchange *exchange, int status, const char *code, const char *message);

/* Passes the answer's stream on as it comes. */
enum MHD_Result mc_exchange_stream(struct mc_exchange *exchange);
