#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sidecar/exchange_own.h"

/*
 * A streamed reply: each event is looked at before it passes, and passes as it came. An event of a tool call waits
 * until the tool's name is known; the last event waits until the call has been told.
 */

enum { TAIL_MS = 2000 }; /* how long the end of the connection may take after the reply's own end */

/* Lets what waits pass, after the call has been told. */
static void end_stream(struct mc_exchange *x)
{
    mc_exchange_tell(x);
    if (!x->broken) {
        mc_buf_put(&x->pass, mc_buf_text(&x->held), x->held.len);
    }
    mc_buf_clear(&x->held);
    x->ended = 1;
}

/* Ends the stream with an error in the form that OpenAI's clients know; what was held never passes. */
static void break_stream(struct mc_exchange *x, const char *code, const char *message)
{
    mc_exchange_note(x, message);
    mc_buf_clear(&x->held);
    if (!x->queued) {
        x->status = x->watch.forbidden ? 403 : 502;
    }
    mc_exchange_tell(x);
    MC_AUTOFREE char *clean = mc_redact_text(x->parts->redactor, message);
    MC_AUTOFREE char *body = mc_error_body(code, clean);
    mc_buf_putf(&x->pass, "data: %s\n\n", body);
    x->ended = 1;
    x->broken = 1;
}

/* True where a forbidden call was met: the stream is broken then. */
static int refuse_stream(struct mc_exchange *x)
{
    int forbidden = mc_exchange_forbidden(x);
    if (forbidden) {
        break_stream(x, "tool_called", "the reply calls a tool that is not allowed");
    }
    return forbidden;
}

/* An event that holds an error may repeat the key: its secrets are taken out. */
static void hold(struct mc_exchange *x, const struct mc_sse_event *event, int is_error)
{
    if (is_error) {
        mc_redact_bytes(x->parts->redactor, event->bytes, event->length, &x->held);
    } else {
        mc_buf_put(&x->held, event->bytes, event->length);
    }
}

static void release_held(struct mc_exchange *x)
{
    mc_buf_put(&x->pass, mc_buf_text(&x->held), x->held.len);
    mc_buf_clear(&x->held);
}

static void take_event(struct mc_exchange *x, const struct mc_sse_event *event)
{
    struct mc_err err;
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    MC_AUTOBUF struct mc_buf data = MC_BUF_OWN;
    int has_data = mc_sse_data(event, &data);
    if (x->final || (has_data && mc_streq(mc_buf_text(&data), "[DONE]"))) {
        x->final = 1;
        mc_watch_end(&x->watch);
        if (!refuse_stream(x)) {
            hold(x, event, 0);
        }
        return;
    }
    MC_AUTOJSON json_t *chunk = has_data ? mc_json_parse(mc_buf_text(&data), data.len, &source, &err) : NULL;
    if (has_data && !chunk) {
        mc_wrap(&err, "an event of the upstream's stream");
        break_stream(x, "upstream", err.text);
        return;
    }
    enum mc_passage passage = mc_watch_chunk(&x->watch, chunk);
    if (refuse_stream(x)) {
        return;
    }
    hold(x, event, json_object_get(chunk, "error") != NULL);
    if (passage == MC_PASS) {
        release_held(x);
    } else if (x->held.len > MC_SSE_EVENT_MAX) {
        break_stream(x, "upstream", "the upstream's stream does not complete a tool's name");
    }
}

static void take_rest(struct mc_exchange *x)
{
    struct mc_sse_event rest = mc_sse_rest(&x->sse);
    if (rest.length > 0) {
        take_event(x, &rest);
    }
    if (!x->ended) {
        mc_watch_end(&x->watch);
        if (!refuse_stream(x)) {
            end_stream(x);
        }
    }
}

/* Reads one piece from the upstream and sorts out what of it may pass. */
static void pull(struct mc_exchange *x)
{
    struct mc_err err;
    char piece[MC_PIECE];
    size_t length = 0;
    struct mc_until until = x->final ? mc_sooner(x->until, TAIL_MS) : x->until;
    int rc = mc_answer_read(x->answer, piece, sizeof piece, &length, until, &err);
    if (rc == MC_TIMEOUT && x->final) { /* the reply is complete; its connection need not be */
        take_rest(x);
        return;
    }
    if (rc == 0 && length == 0) {
        take_rest(x);
        return;
    }
    if (rc == 0) {
        x->first_byte_ms = x->first_byte_ms < 0 ? mc_exchange_elapsed(x) : x->first_byte_ms;
        rc = mc_exchange_record(x, piece, length, &err);
        mc_sse_feed(&x->sse, piece, length);
    }
    struct mc_sse_event event;
    int more = 0;
    while (rc == 0 && !x->ended && (more = mc_sse_next(&x->sse, &event, &err)) > 0) {
        take_event(x, &event);
    }
    if (rc != 0 || more < 0) {
        break_stream(x, "upstream", err.text);
    }
}

static ssize_t read_stream(void *payload, uint64_t position, char *out, size_t room)
{
    struct mc_exchange *x = payload;
    (void)position;
    while (x->pass.len == x->passed && !x->ended) {
        mc_buf_clear(&x->pass);
        x->passed = 0;
        pull(x);
    }
    size_t left = x->pass.len - x->passed;
    if (left == 0) {
        return x->broken ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
    }
    size_t length = left < room ? left : room;
    memcpy(out, x->pass.data + x->passed, length);
    x->passed += length;
    return (ssize_t)length;
}

enum MHD_Result mc_exchange_stream(struct mc_exchange *x)
{
    /* Where the very first event is refused, the client gets a status instead of a broken stream. */
    while (x->pass.len == 0 && !x->ended) {
        pull(x);
    }
    if (x->broken) {
        MC_AUTOFREE char *message = mc_strdup(x->error ? x->error : "the call could not be recorded");
        x->status = x->status < 400 ? 500 : x->status;
        return mc_exchange_fail(x, x->status, x->status == 403 ? "tool_called" : "upstream", message);
    }
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, MC_PIECE, read_stream, x, NULL);
    if (!response) {
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, x->answer->content_type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    x->queued = 1;
    enum MHD_Result queued = MHD_queue_response(x->connection, (unsigned)x->status, response);
    MHD_destroy_response(response);
    return queued;
}
