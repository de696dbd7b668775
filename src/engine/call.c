#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/own.h"

/* Past so many bytes waiting unread, the transfer rests until they are pulled. */
#define INBOX_HIGH ((size_t)1 << 20)

static size_t on_write(char *bytes, size_t size, size_t count, void *payload)
{
    struct mc_api_now *now = payload;
    size_t length = size * count;
    if (now->inbox.len > INBOX_HIGH) {
        now->paused = 1;
        return CURL_WRITEFUNC_PAUSE;
    }
    mc_buf_put(&now->inbox, bytes, length);
    now->received += length;
    return length;
}

static size_t on_read(char *bytes, size_t size, size_t count, void *payload)
{
    struct mc_api_now *now = payload;
    size_t got = 0;
    if (now->call->source(now->call->payload, bytes, size * count, &got, &now->fault) != 0) {
        now->faulted = 1;
        return CURL_READFUNC_ABORT;
    }
    now->sent += got;
    return got;
}

void mc_api_prepare(CURL *easy, const struct mc_endpoint *endpoint)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* an engine is never behind the proxy of the environment */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L); /* a long wait sends nothing */
    if (endpoint->socket) {
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, endpoint->socket);
    }
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, endpoint->verify ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, endpoint->verify ? 2L : 0L);
    if (endpoint->ca) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, endpoint->ca);
    }
    if (endpoint->cert) {
        curl_easy_setopt(easy, CURLOPT_SSLCERT, endpoint->cert);
    }
    if (endpoint->key) {
        curl_easy_setopt(easy, CURLOPT_SSLKEY, endpoint->key);
    }
}

static void set_headers(struct mc_api_now *now)
{
    const struct mc_api_call *call = now->call;
    now->headers = curl_slist_append(NULL, "Expect:");
    if (call->body || call->source) {
        MC_AUTOFREE char *type = mc_strf("Content-Type: %s", call->type ? call->type : "application/json");
        now->headers = curl_slist_append(now->headers, type);
    } else {
        now->headers = curl_slist_append(now->headers, "Content-Type:");
    }
    if (call->source) {
        now->headers = curl_slist_append(now->headers, "Transfer-Encoding: chunked");
    }
}

static void set_up(struct mc_engine *engine, const struct mc_api_call *call)
{
    struct mc_api_now *now = &engine->now;
    CURL *easy = engine->easy;
    *now = (struct mc_api_now){.call = call, .inbox = MC_BUF_OWN, .began_ms = mc_monotonic_ms()};
    now->path = call->unversioned ? mc_strdup(call->path) : mc_strf("/v%s%s", engine->about.api_spoken, call->path);
    MC_AUTOFREE char *url = mc_strf("%s%s", engine->endpoint.url, now->path);

    curl_easy_reset(easy);
    mc_api_prepare(easy, &engine->endpoint);
    set_headers(now);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, now->headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_write);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, now);
    if (call->source) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
        curl_easy_setopt(easy, CURLOPT_READDATA, now);
        /* A stream cannot be sent twice, so it must not go out on a connection that has died unseen. */
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    } else if (call->body || strcmp(call->method, "POST") == 0) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body ? (const char *)call->body : "");
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->length);
        now->sent = call->length;
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
    if (strcmp(call->method, "HEAD") == 0) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    }
}

static int status_of(const struct mc_engine *engine)
{
    long status = 0;
    curl_easy_getinfo(engine->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

/* 304: it was so already. */
static int is_success(int status)
{
    return (status >= 200 && status < 300) || status == 304;
}

void mc_api_count(struct mc_engine *engine, const char *method, const char *path, int status, int64_t began_ms,
                  uint64_t sent, uint64_t received)
{
    struct mc_engine_seen seen = {.method = method,
                                  .path = path,
                                  .status = status,
                                  .ms = mc_monotonic_ms() - began_ms,
                                  .sent = sent,
                                  .received = received};
    engine->counts.calls++;
    engine->counts.failed += (uint64_t) !(is_success(status) || status == 101);
    engine->counts.sent += sent;
    engine->counts.received += received;
    if (engine->watch.on_call) {
        engine->watch.on_call(engine->watch.payload, &seen);
    }
}

void mc_api_end(struct mc_engine *engine)
{
    struct mc_api_now *now = &engine->now;
    mc_api_count(engine, now->call->method, now->path, status_of(engine), now->began_ms, now->sent, now->received);
    curl_multi_remove_handle(engine->multi, engine->easy);
    curl_slist_free_all(now->headers);
    mc_buf_release(&now->inbox);
    free(now->path);
    *now = (struct mc_api_now){.call = NULL};
}

/* Why the transfer ended, where it did not end well. */
static int result_of(struct mc_engine *engine, struct mc_err *err)
{
    struct mc_api_now *now = &engine->now;
    if (now->faulted) {
        *err = now->fault;
        return err->code;
    }
    /* An engine that refuses an upload may close before it has read all of it; its answer is what counts. */
    if (now->result == CURLE_OK || (now->result == CURLE_SEND_ERROR && status_of(engine) >= 400)) {
        return 0;
    }
    long sys = 0;
    curl_easy_getinfo(engine->easy, CURLINFO_OS_ERRNO, &sys);
    return mc_api_unreachable(err, now->call->what, &engine->endpoint, now->result, sys);
}

/* Lets the transfer go on until there are bytes to pull or it has ended. */
static int advance(struct mc_engine *engine, struct mc_until until, struct mc_err *err)
{
    struct mc_api_now *now = &engine->now;
    if (now->paused) {
        now->paused = 0;
        curl_easy_pause(engine->easy, CURLPAUSE_CONT);
    }
    for (;;) {
        int running = 0;
        curl_multi_perform(engine->multi, &running);
        int left;
        CURLMsg *message;
        while ((message = curl_multi_info_read(engine->multi, &left)) != NULL) {
            if (message->msg == CURLMSG_DONE) {
                now->done = 1;
                now->result = message->data.result;
            }
        }
        if (now->done || now->inbox.len > 0) {
            return 0;
        }
        int rc = mc_check(until, now->call->what, err);
        if (rc != 0) {
            return rc;
        }
        int64_t left_ms = mc_left_ms(until);
        struct curl_waitfd cancel = {.fd = until.cancel ? until.cancel->fd : -1, .events = CURL_WAIT_POLLIN};
        curl_multi_poll(engine->multi, &cancel, until.cancel ? 1 : 0, left_ms > INT_MAX ? INT_MAX : (int)left_ms, NULL);
    }
}

int mc_api_pull(struct mc_engine *engine, const char **bytes, size_t *length, struct mc_until until, struct mc_err *err)
{
    struct mc_api_now *now = &engine->now;
    if (now->held) {
        now->held = 0;
    } else {
        mc_buf_clear(&now->inbox);
    }
    if (!now->done && now->inbox.len == 0) {
        int rc = advance(engine, until, err);
        if (rc != 0) {
            return rc;
        }
    }
    *bytes = mc_buf_text(&now->inbox);
    *length = now->inbox.len;
    return now->inbox.len == 0 ? result_of(engine, err) : 0;
}

/* Reads what the engine says about its refusal. */
static int refused(struct mc_engine *engine, int status, struct mc_until until, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf body = MC_BUF_INIT(MC_API_FAULT_MAX);
    const char *bytes;
    size_t length;
    struct mc_err ignored;
    /* Where the connection breaks, what has come so far still says more than that. */
    while (mc_api_pull(engine, &bytes, &length, until, &ignored) == 0 && length > 0) {
        if (mc_buf_add(&body, bytes, length) != 0) {
            break;
        }
    }
    return mc_api_refused(err, engine->now.call->what, status, mc_buf_text(&body), body.len);
}

int mc_api_begin(struct mc_engine *engine, const struct mc_api_call *call, struct mc_until until, struct mc_err *err)
{
    int rc = mc_api_check_path(call->path, call->what, err);
    if (rc != 0) {
        return rc;
    }
    rc = mc_check(until, call->what, err);
    if (rc != 0) {
        return rc;
    }
    set_up(engine, call);
    if (curl_multi_add_handle(engine->multi, engine->easy) != CURLM_OK) {
        rc = mc_fail(err, MC_INTERNAL, "%s: libcurl takes no call", call->what);
    }
    if (rc == 0) {
        rc = advance(engine, until, err);
    }
    if (rc == 0 && engine->now.inbox.len == 0) {
        rc = result_of(engine, err);
    }
    engine->now.held = 1;
    if (rc == 0 && !is_success(status_of(engine))) {
        rc = refused(engine, status_of(engine), until, err);
    }
    if (rc != 0) {
        mc_api_end(engine);
    }
    return rc;
}

/* The whole answer. */
static int collect(struct mc_engine *engine, struct mc_buf *answer, struct mc_until until, struct mc_err *err)
{
    for (;;) {
        const char *bytes;
        size_t length;
        int rc = mc_api_pull(engine, &bytes, &length, until, err);
        if (rc != 0 || length == 0) {
            return rc;
        }
        if (answer && mc_buf_add(answer, bytes, length) != 0) {
            return mc_fail(err, MC_LIMIT, "%s: the engine's answer is larger than the %zu bytes allowed",
                           engine->now.call->what, answer->max);
        }
    }
}

int mc_api_run(struct mc_engine *engine, const struct mc_api_call *call, struct mc_buf *answer, struct mc_until until,
               struct mc_err *err)
{
    int rc = mc_api_begin(engine, call, until, err);
    if (rc != 0) {
        return rc;
    }
    rc = collect(engine, answer, until, err);
    mc_api_end(engine);
    return rc;
}

int mc_api_json(struct mc_engine *engine, const struct mc_api_call *call, json_t **out, struct mc_until until,
                struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf answer = MC_BUF_INIT(MC_API_ANSWER_MAX);
    int rc = mc_api_run(engine, call, &answer, until, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    struct mc_err reason;
    json_t *json = mc_json_parse(mc_buf_text(&answer), answer.len, &source, &reason);
    if (!json) {
        return mc_fail(err, MC_PROTOCOL, "%s: the engine's answer is no JSON: %s", call->what, reason.text);
    }
    *out = json;
    return 0;
}
