#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json.h"
#include "base/mem.h"
#include "sidecar/speaker.h"
#include "sidecar/upstream.h"

/*
 * The openai upstream: any server with OpenAI's API, through libcurl, driven in the thread of the one who asks.
 *
 * A transfer is pulled: what came is handed on before more is read. Multi handles are kept for their open connections,
 * so that a call does not pay for a handshake each time.
 */

enum {
    TRIES_MAX = 3,
    CONNECT_MS = 10000,
    IDLE_MS = 300000, /* a reasoning model may think for minutes before its first byte */
    RETRY_AFTER_MAX_S = 20,
    KEPT_MAX = 8,
    AHEAD_MAX = 131072, /* bytes read and not handed on */
};

struct openai {
    struct mc_upstream upstream;
    char *base_url;
    const char *model; /* NULL: as the client says */
    struct curl_slist *headers;
    struct mc_speaker *speaker;
    pthread_mutex_t lock;
    CURLM *kept[KEPT_MAX];
    size_t kept_count;
};

struct transfer {
    struct mc_answer answer;
    struct openai *openai;
    CURLM *multi;
    CURL *easy;
    char *body; /* the request's, where the model's name was changed */
    struct mc_buf got;
    int paused;
    int head; /* the status is known */
    int done;
    CURLcode result;
    int64_t last_ms; /* when something came last */
    int client_fd;
    char text[CURL_ERROR_SIZE];
};

/* ---- Connections that are kept ---- */

static CURLM *take_multi(struct openai *openai)
{
    pthread_mutex_lock(&openai->lock);
    CURLM *multi = openai->kept_count > 0 ? openai->kept[--openai->kept_count] : NULL;
    pthread_mutex_unlock(&openai->lock);
    return multi ? multi : curl_multi_init();
}

static void give_multi(struct openai *openai, CURLM *multi)
{
    pthread_mutex_lock(&openai->lock);
    int room = openai->kept_count < KEPT_MAX;
    if (room) {
        openai->kept[openai->kept_count++] = multi;
    }
    pthread_mutex_unlock(&openai->lock);
    if (!room) {
        curl_multi_cleanup(multi);
    }
}

/* ---- One transfer ---- */

static size_t on_body(const char *bytes, size_t size, size_t count, void *payload)
{
    struct transfer *transfer = payload;
    size_t length = size * count;
    if (transfer->got.len >= AHEAD_MAX) {
        transfer->paused = 1;
        return CURL_WRITEFUNC_PAUSE;
    }
    mc_buf_put(&transfer->got, bytes, length);
    transfer->last_ms = mc_monotonic_ms();
    return length;
}

static size_t on_header(const char *bytes, size_t size, size_t count, void *payload)
{
    struct transfer *transfer = payload;
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (size * count == 2 && bytes[0] == '\r' && status >= 200) {
        transfer->head = 1;
        transfer->answer.status = (int)status;
    }
    transfer->last_ms = mc_monotonic_ms();
    return size * count;
}

static int client_is_gone(struct transfer *transfer)
{
    char byte;
    if (transfer->client_fd < 0) {
        return 0;
    }
    ssize_t n = recv(transfer->client_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n > 0) {
        transfer->client_fd = -1; /* it has sent its next request: watching on would only spin */
    }
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Waits until something can be done. */
static int await(struct transfer *transfer, struct mc_until until, struct mc_err *err)
{
    struct curl_waitfd extra[2];
    unsigned count = 0;
    if (until.cancel) {
        extra[count++] = (struct curl_waitfd){.fd = until.cancel->fd, .events = CURL_WAIT_POLLIN, .revents = 0};
    }
    if (transfer->client_fd >= 0) {
        extra[count++] = (struct curl_waitfd){.fd = transfer->client_fd, .events = CURL_WAIT_POLLIN, .revents = 0};
    }
    int64_t idle = transfer->last_ms + IDLE_MS - mc_monotonic_ms();
    int64_t left = mc_left_ms(until);
    int64_t wait = idle < left ? idle : left;
    curl_multi_poll(transfer->multi, extra, count, wait > 0 ? (int)(wait < 60000 ? wait : 60000) : 0, NULL);
    int rc = mc_check(until, "the model's answer", err);
    if (rc == 0 && client_is_gone(transfer)) {
        rc = mc_fail(err, MC_CLOSED, "the client hung up");
    }
    if (rc == 0 && mc_monotonic_ms() - transfer->last_ms >= IDLE_MS) {
        rc = mc_fail(err, MC_TIMEOUT, "the upstream sent nothing for %d s", IDLE_MS / 1000);
    }
    return rc;
}

static int work(struct transfer *transfer, struct mc_err *err)
{
    int running = 0;
    int queued = 0;
    CURLMcode code = curl_multi_perform(transfer->multi, &running);
    if (code != CURLM_OK) {
        return mc_fail(err, MC_IO, "asking the upstream: %s", curl_multi_strerror(code));
    }
    const CURLMsg *message;
    while ((message = curl_multi_info_read(transfer->multi, &queued)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            transfer->done = 1;
            transfer->result = message->data.result;
        }
    }
    return 0;
}

static int transfer_failed(const struct transfer *transfer, struct mc_err *err)
{
    const char *text = transfer->text[0] ? transfer->text : curl_easy_strerror(transfer->result);
    return mc_fail(err, MC_IO, "asking the upstream: %s", text);
}

static int transfer_read(struct mc_answer *answer, char *out, size_t room, size_t *length, struct mc_until until,
                         struct mc_err *err)
{
    struct transfer *transfer = (struct transfer *)answer;
    while (transfer->got.len == 0 && !transfer->done) {
        if (transfer->paused) {
            transfer->paused = 0;
            curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
        }
        int rc = work(transfer, err);
        if (rc == 0 && transfer->got.len == 0 && !transfer->done) {
            rc = await(transfer, until, err);
        }
        if (rc != 0) {
            return rc;
        }
    }
    if (transfer->got.len == 0 && transfer->result != CURLE_OK) {
        return transfer_failed(transfer, err);
    }
    *length = transfer->got.len < room ? transfer->got.len : room;
    if (*length > 0) {
        memcpy(out, transfer->got.data, *length);
        mc_buf_drop(&transfer->got, *length);
    }
    return 0;
}

static void transfer_free(struct mc_answer *answer)
{
    struct transfer *transfer = (struct transfer *)answer;
    curl_multi_remove_handle(transfer->multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
    give_multi(transfer->openai, transfer->multi);
    mc_buf_release(&transfer->got);
    free(transfer->body);
    free(transfer);
}

static void set_up(struct transfer *transfer, const struct openai *openai, const struct mc_ask *ask)
{
    CURL *easy = transfer->easy;
    MC_AUTOFREE char *url = mc_strf("%s%s", openai->base_url, ask->path);
    const char *body = transfer->body ? transfer->body : ask->body;
    size_t length = transfer->body ? strlen(transfer->body) : ask->length;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, openai->headers);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->text);
}

/* The request with the name by which the upstream knows the model; NULL where it stands there already. */
static char *with_model(const struct openai *openai, const struct mc_ask *ask)
{
    if (!openai->model || mc_streq(json_string_value(json_object_get(ask->json, "model")), openai->model)) {
        return NULL;
    }
    MC_AUTOJSON json_t *changed = json_copy((json_t *)ask->json);
    json_object_set_new(changed, "model", json_string(openai->model));
    return mc_json_text(changed);
}

static struct transfer *transfer_begin(struct openai *openai, const struct mc_ask *ask)
{
    static const struct mc_answer_ops ops = {.read = transfer_read, .free = transfer_free};
    struct transfer *transfer = mc_alloc(1, sizeof *transfer);
    transfer->answer.ops = &ops;
    transfer->openai = openai;
    transfer->multi = take_multi(openai);
    transfer->easy = curl_easy_init();
    if (!transfer->multi || !transfer->easy) {
        abort(); /* no memory */
    }
    transfer->body = with_model(openai, ask);
    transfer->got = MC_BUF_OWN;
    transfer->client_fd = ask->client_fd;
    transfer->last_ms = mc_monotonic_ms();
    set_up(transfer, openai, ask);
    curl_multi_add_handle(transfer->multi, transfer->easy);
    return transfer;
}

/* Until the status is known, or the transfer is over without one. */
static int await_head(struct transfer *transfer, struct mc_until until, struct mc_err *err)
{
    for (;;) {
        int rc = work(transfer, err);
        if (rc != 0 || transfer->head || transfer->done) {
            return rc;
        }
        rc = await(transfer, until, err);
        if (rc != 0) {
            return rc;
        }
    }
}

/* How long to wait before trying again; -1: there is no sense in it. */
static int64_t retry_after_ms(const struct transfer *transfer, int64_t tries)
{
    int refused = !transfer->head && transfer->result == CURLE_COULDNT_CONNECT;
    int busy = transfer->head && (transfer->answer.status == 429 || transfer->answer.status >= 500);
    curl_off_t seconds = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &seconds);
    if (tries >= TRIES_MAX || (!refused && !busy) || seconds > RETRY_AFTER_MAX_S) {
        return -1;
    }
    return seconds > 0 ? (int64_t)seconds * 1000 : (int64_t)250 << tries;
}

/* One try: 0 with an answer, 1 to try again after *wait_ms, else an error. */
static int try_once(struct openai *openai, const struct mc_ask *ask, int64_t tries, struct mc_until until,
                    int64_t *wait_ms, struct mc_answer **out, struct mc_err *err)
{
    struct transfer *transfer = transfer_begin(openai, ask);
    int rc = await_head(transfer, until, err);
    *wait_ms = rc == 0 ? retry_after_ms(transfer, tries) : -1;
    if (*wait_ms >= 0) {
        if (transfer->head) {
            mc_speaker_log(openai->speaker, "warning", "call %lld: the upstream answered %d: trying again in %lld ms",
                           (long long)ask->call, transfer->answer.status, (long long)*wait_ms);
        } else {
            mc_speaker_log(openai->speaker, "warning",
                           "call %lld: the upstream refused the connection: trying again "
                           "in %lld ms",
                           (long long)ask->call, (long long)*wait_ms);
        }
        transfer_free(&transfer->answer);
        return 1;
    }
    if (rc == 0 && !transfer->head) {
        rc = transfer_failed(transfer, err);
    }
    if (rc != 0) {
        transfer_free(&transfer->answer);
        return rc;
    }
    const char *type = NULL;
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
    transfer->answer.content_type = mc_strdup(type ? type : "application/json");
    transfer->answer.tries = tries;
    *out = &transfer->answer;
    return 0;
}

static int openai_ask(struct mc_upstream *upstream, const struct mc_ask *ask, struct mc_until until,
                      struct mc_answer **out, struct mc_err *err)
{
    for (int64_t tries = 1;; tries++) {
        int64_t wait_ms = 0;
        int rc = try_once((struct openai *)upstream, ask, tries, until, &wait_ms, out, err);
        if (rc > 0) {
            rc = mc_pause(until, wait_ms, "the upstream", err);
        }
        if (rc != 0 || *out) {
            return rc;
        }
    }
}

static void openai_free(struct mc_upstream *upstream)
{
    struct openai *openai = (struct openai *)upstream;
    for (size_t i = 0; i < openai->kept_count; i++) {
        curl_multi_cleanup(openai->kept[i]);
    }
    pthread_mutex_destroy(&openai->lock);
    for (struct curl_slist *header = openai->headers; header; header = header->next) {
        mc_wipe(header->data, strlen(header->data));
    }
    curl_slist_free_all(openai->headers);
    free(openai->base_url);
    free(openai);
}

int mc_upstream_openai(const struct mc_upstream_setup *setup, struct mc_upstream **out, struct mc_err *err)
{
    static const struct mc_upstream_ops ops = {.ask = openai_ask, .free = openai_free};
    const char *url = setup->gateway->base_url;
    if (!mc_starts_with(url, "http://") && !mc_starts_with(url, "https://")) {
        return mc_fail(err, MC_INPUT, "upstream.base_url: must begin with http:// or https://, is \"%.100s\"", url);
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0) {
        return mc_fail(err, MC_INTERNAL, "libcurl cannot be started");
    }
    struct openai *openai = mc_alloc(1, sizeof *openai);
    openai->upstream = (struct mc_upstream){&ops, "openai"};
    size_t length = strlen(url);
    while (url[length - 1] == '/') {
        length--;
    }
    openai->base_url = mc_strndup(url, length);
    openai->model = setup->gateway->model;
    openai->speaker = setup->speaker;
    pthread_mutex_init(&openai->lock, NULL);
    openai->headers = curl_slist_append(NULL, "Content-Type: application/json");
    openai->headers = curl_slist_append(openai->headers, "Expect:");
    if (setup->key) {
        char *line = mc_strf("Authorization: Bearer %s", setup->key);
        openai->headers = curl_slist_append(openai->headers, line);
        mc_wipe(line, strlen(line));
        free(line);
    }
    *out = &openai->upstream;
    return 0;
}
