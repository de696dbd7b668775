/*
 * A sidecar under test: it runs in a thread of its own, over pipes, in a temporary folder; and a client and an upstream
 * for it. Everything that goes wrong fails the test at once.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "protocol/channel.h"
#include "sidecar/sidecar.h"

static const char harness_token[] = "harness-token-1234";
static const char provider_token[] = "provider-token-5678";
static const char secret_value[] = "k\"ey/with+odd=chars.0123456789";

struct fixture {
    char *dir;
    struct mc_sidecar_paths paths;
    const char *secret; /* NULL: secret_value */
    int to;             /* the sidecar's standard input */
    int from;           /* its standard output */
    pthread_t thread;
    int result;
    struct mc_err err;
    int in_fd;
    int out_fd;
    struct mc_channel channel;
    int64_t last_seq;
    json_t *events; /* all notices but `ready`, `clock` and `bye`, as JSON */
};

static inline int pipe_fd(void *self)
{
    return ((struct fixture *)self)->from;
}

static inline int pipe_read(void *self, enum mc_output *stream, void *bytes, size_t room, size_t *length,
                            struct mc_err *err)
{
    *stream = MC_STDOUT;
    *length = 0;
    ssize_t n = read(((struct fixture *)self)->from, bytes, room);
    if (n == 0) {
        return mc_fail(err, MC_CLOSED, "closed");
    }
    if (n < 0) {
        return errno == EAGAIN ? 0 : mc_fail_errno(err, errno, "reading");
    }
    *length = (size_t)n;
    return 0;
}

static inline int pipe_write(void *self, const void *bytes, size_t length, struct mc_until until, struct mc_err *err)
{
    (void)until;
    return mc_fs_write_all(((struct fixture *)self)->to, bytes, length, "the pipe", err);
}

static inline int pipe_close(void *self, struct mc_err *err)
{
    struct fixture *fixture = self;
    (void)err;
    if (fixture->to >= 0) {
        close(fixture->to);
    }
    fixture->to = -1;
    return 0;
}

static const struct mc_duplex_ops pipe_ops = {pipe_fd, pipe_read, pipe_write, pipe_close};

static inline void *fixture_run(void *payload)
{
    struct fixture *fixture = payload;
    fixture->result = mc_sidecar_main(&fixture->paths, fixture->in_fd, fixture->out_fd, &fixture->err);
    close(fixture->out_fd);
    return NULL;
}

/* Starts the thread; the folder may hold what an earlier life left. */
static inline void fixture_launch(struct fixture *fixture)
{
    int in[2];
    int out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fixture->in_fd = in[0];
    fixture->to = in[1];
    fixture->from = out[0];
    fixture->out_fd = out[1];
    struct mc_duplex duplex = {&pipe_ops, fixture};
    struct mc_channel_hooks none = {NULL, NULL, NULL};
    mc_channel_init(&fixture->channel, "sidecar", MC_SIDECAR, duplex, none, fixture->last_seq);
    assert_int_equal(pthread_create(&fixture->thread, NULL, fixture_run, fixture), 0);
}

static inline void fixture_init(struct fixture *fixture)
{
    struct mc_err err;
    char dir[] = "/tmp/mc-sidecar-XXXXXX";
    memset(fixture, 0, sizeof *fixture);
    assert_non_null(mkdtemp(dir));
    fixture->dir = mc_strdup(dir);
    fixture->events = json_array();
    fixture->paths = (struct mc_sidecar_paths){.out = mc_strf("%s/out", dir),
                                               .clock = mc_strf("%s/now", dir),
                                               .socket = mc_strf("%s/model.sock", dir),
                                               .enter_from = mc_strf("%s/enter-from", dir),
                                               .enter_to = mc_strf("%s/enter", dir),
                                               .replay = mc_strf("%s/replay", dir)};
    assert_int_equal(mc_fs_mkdirs(fixture->paths.out, &err), 0);
    assert_int_equal(mc_fs_write(fixture->paths.enter_from, "static", 6, 0600, &err), 0);
}

static inline void fixture_free(struct fixture *fixture)
{
    struct mc_err err;
    assert_int_equal(mc_fs_remove_tree(fixture->dir, &err), 0);
    free((char *)(uintptr_t)fixture->paths.out);
    free((char *)(uintptr_t)fixture->paths.clock);
    free((char *)(uintptr_t)fixture->paths.socket);
    free((char *)(uintptr_t)fixture->paths.enter_from);
    free((char *)(uintptr_t)fixture->paths.enter_to);
    free((char *)(uintptr_t)fixture->paths.replay);
    free(fixture->dir);
    json_decref(fixture->events);
}

static inline void fixture_send(struct fixture *fixture, const struct mc_command *command)
{
    struct mc_err err;
    assert_int_equal(mc_channel_send(&fixture->channel, command, mc_within(5000, NULL), &err), 0);
}

static inline void fixture_next(struct fixture *fixture, struct mc_notice *out)
{
    struct mc_err err;
    int rc = mc_channel_next(&fixture->channel, out, mc_within(20000, NULL), &err);
    if (rc != 0) {
        fail_msg("no notice: %s", err.text);
    }
    fixture->last_seq = out->seq;
}

/* The next notice of that type; events before it are kept. */
static inline void fixture_await(struct fixture *fixture, enum mc_notice_type type, struct mc_notice *out)
{
    for (;;) {
        fixture_next(fixture, out);
        if (out->type == MC_EVENT) {
            json_array_append(fixture->events, out->json);
        }
        if (out->type == type) {
            return;
        }
        mc_notice_release(out);
    }
}

static inline void fixture_secrets(struct fixture *fixture)
{
    MC_AUTOJSON json_t *values = json_pack("{s:s}", "OPENAI_API_KEY", fixture->secret ? fixture->secret : secret_value);
    struct mc_command command = {.type = MC_CMD_SECRETS, .secrets = values};
    fixture_send(fixture, &command);
}

/* An `initialize` with nothing special in it; the test changes what it is about. */
static inline struct mc_command fixture_command(const json_t *allow)
{
    struct mc_command command = {.type = MC_CMD_INITIALIZE};
    struct mc_initialize *init = &command.initialize;
    init->role = MC_SIDECAR;
    init->trial = "trial-1";
    init->name_space = "ns";
    init->timezone = "America/New_York";
    init->scenario_time = (struct mc_time){.ms = 1786107600000, .offset_min = -240}; /* 2026-08-07T09:00:00-04:00 */
    init->model.base_url = "http://127.0.0.1:8080/v1";
    init->model.token = "x";
    init->model.name = "bench-model";
    init->allow = allow;
    init->limits.turn_s = 120;
    init->limits.tool_calls = 20;
    init->limits.context_tokens = 131072;
    init->gateway = (struct mc_gateway_setup){.upstream = MC_UPSTREAM_SCRIPT,
                                              .script = "extractive",
                                              .harness_token = harness_token,
                                              .provider_token = provider_token,
                                              .budget_usd = -1,
                                              .budget_tokens = MC_UNKNOWN};
    return command;
}

/* Sends the first two frames and waits for `ready`. */
static inline void fixture_start(struct fixture *fixture, const struct mc_command *initialize)
{
    struct mc_notice ready;
    fixture_launch(fixture);
    fixture_secrets(fixture);
    fixture_send(fixture, initialize);
    fixture_await(fixture, MC_READY, &ready);
    assert_string_equal(ready.ready.name, "memcal-sidecar");
    mc_notice_release(&ready);
}

/* Waits until the sidecar has ended; its result. */
static inline int fixture_join(struct fixture *fixture)
{
    struct mc_err err;
    pipe_close(fixture, &err);
    pthread_join(fixture->thread, NULL);
    struct mc_notice notice;
    while (fixture->from >= 0 && mc_channel_try(&fixture->channel, &notice, &err) == 1) {
        fixture->last_seq = notice.seq; /* what was said last */
        json_array_append(fixture->events, notice.json);
        mc_notice_release(&notice);
    }
    mc_channel_release(&fixture->channel);
    close(fixture->from);
    close(fixture->in_fd);
    return fixture->result;
}

/* Says goodbye, keeps the events on the way, and cleans up. */
static inline void fixture_stop(struct fixture *fixture)
{
    struct mc_command shutdown = {.type = MC_CMD_SHUTDOWN};
    struct mc_notice bye;
    fixture_send(fixture, &shutdown);
    fixture_await(fixture, MC_BYE, &bye);
    mc_notice_release(&bye);
    if (fixture_join(fixture) != 0) {
        fail_msg("the sidecar ended with: %s", fixture->err.text);
    }
}

static inline void fixture_step(struct fixture *fixture, const char *step, int64_t ms, int64_t limit,
                                struct mc_notice *out)
{
    struct mc_command command = {
        .type = MC_CMD_CLOCK_SET,
        .clock_set = {.scenario_time = {.ms = ms, .offset_min = -240}, .step = step, .limit_calls = limit}};
    fixture_send(fixture, &command);
    fixture_await(fixture, MC_CLOCK, out);
}

/* The data of the next event of that kind; borrowed from the fixture. */
static inline const json_t *fixture_event(struct fixture *fixture, const char *kind, size_t *from)
{
    for (;;) {
        for (; *from < json_array_size(fixture->events); (*from)++) {
            const json_t *event = json_array_get(fixture->events, *from);
            if (mc_streq(json_string_value(json_object_get(event, "kind")), kind)) {
                (*from)++;
                return json_object_get(event, "data");
            }
        }
        struct mc_notice notice;
        fixture_await(fixture, MC_EVENT, &notice);
        mc_notice_release(&notice);
    }
}

/* ---- A client ---- */

struct http {
    long status;
    CURLcode result;
    struct mc_buf body;
    char type[200];
};

static inline size_t http_body(char *bytes, size_t size, size_t count, void *payload)
{
    mc_buf_put(&((struct http *)payload)->body, bytes, size * count);
    return size * count;
}

/* `body` NULL: GET. */
static inline void http_call(const struct fixture *fixture, const char *path, const char *token, const char *body,
                             struct http *out)
{
    memset(out, 0, sizeof *out);
    out->body = MC_BUF_OWN;
    CURL *easy = curl_easy_init();
    MC_AUTOFREE char *url = mc_strf("http://gateway%s", path);
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    if (token) {
        MC_AUTOFREE char *line = mc_strf("Authorization: Bearer %s", token);
        headers = curl_slist_append(headers, line);
    }
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, fixture->paths.socket);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, 60L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, out);
    if (body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    }
    out->result = curl_easy_perform(easy);
    const char *type = NULL;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &out->status);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    snprintf(out->type, sizeof out->type, "%s", type ? type : "");
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
}

static inline json_t *http_json(const struct http *http)
{
    struct mc_err err;
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    json_t *json = mc_json_parse(mc_buf_text(&http->body), http->body.len, &source, &err);
    if (!json) {
        fail_msg("not JSON: %s", mc_buf_text(&http->body));
    }
    return json;
}

/* The code of an OpenAI-like error. */
static inline char *http_code(const struct http *http)
{
    MC_AUTOJSON json_t *json = http_json(http);
    const char *code = json_string_value(json_object_get(json_object_get(json, "error"), "code"));
    assert_non_null(code);
    return mc_strdup(code);
}

/* ---- An upstream ---- */

/* What the upstream answers to one request: pieces, with a pause before each. */
struct canned {
    const char *const *pieces; /* NULL-ended; the whole response with its head */
    int pause_ms;
    size_t repeat; /* the second piece is sent that often, 0: once */
};

struct fake {
    int listener;
    int port;
    pthread_t thread;
    const struct canned *canned;
    size_t count;
    char *requests[8]; /* as they came */
};

static inline void fake_send(int fd, const char *text)
{
    size_t length = strlen(text);
    while (length > 0) {
        ssize_t n = send(fd, text, length, MSG_NOSIGNAL);
        if (n <= 0) {
            return;
        }
        text += n;
        length -= (size_t)n;
    }
}

/* Reads a request with its body, as far as Content-Length says. */
static inline char *fake_receive(int fd)
{
    struct mc_buf bytes = MC_BUF_OWN;
    for (;;) {
        char chunk[65536];
        const char *end = strstr(mc_buf_text(&bytes), "\r\n\r\n");
        const char *length = strcasestr(mc_buf_text(&bytes), "content-length:");
        if (end && (!length || bytes.len >= (size_t)(end + 4 - bytes.data) + strtoul(length + 15, NULL, 10))) {
            return mc_buf_take(&bytes);
        }
        ssize_t n = recv(fd, chunk, sizeof chunk, 0);
        if (n <= 0) {
            return mc_buf_take(&bytes);
        }
        mc_buf_put(&bytes, chunk, (size_t)n);
    }
}

static inline void *fake_run(void *payload)
{
    struct fake *fake = payload;
    for (size_t i = 0; i < fake->count; i++) {
        int fd = accept(fake->listener, NULL, NULL);
        if (fd < 0) {
            return NULL;
        }
        fake->requests[i] = fake_receive(fd);
        const struct canned *canned = &fake->canned[i];
        for (size_t p = 0; canned->pieces[p]; p++) {
            usleep((useconds_t)canned->pause_ms * 1000);
            for (size_t again = 0; again < (p == 1 && canned->repeat ? canned->repeat : 1); again++) {
                fake_send(fd, canned->pieces[p]);
            }
        }
        close(fd);
    }
    return NULL;
}

static inline void fake_start(struct fake *fake, const struct canned *canned, size_t count)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    memset(fake, 0, sizeof *fake);
    fake->canned = canned;
    fake->count = count;
    fake->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fake->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fake->listener, 8), 0);
    assert_int_equal(getsockname(fake->listener, (struct sockaddr *)&address, &length), 0);
    fake->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&fake->thread, NULL, fake_run, fake), 0);
}

static inline void fake_stop(struct fake *fake)
{
    shutdown(fake->listener, SHUT_RDWR);
    pthread_join(fake->thread, NULL);
    close(fake->listener);
    for (size_t i = 0; i < fake->count; i++) {
        free(fake->requests[i]);
    }
}

/* Everything that the sidecar wrote, in one buffer: the journal and every object. */
static inline void fixture_records(const struct fixture *fixture, struct mc_buf *out)
{
    struct mc_err err;
    MC_AUTOFREE char *journal = mc_path_join(fixture->paths.out, "frames.jsonl");
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT((size_t)256 << 20);
    assert_int_equal(mc_fs_read(journal, &bytes, &err), 0);
    mc_buf_put(out, mc_buf_text(&bytes), bytes.len);
    size_t i;
    json_t *event;
    json_array_foreach (fixture->events, i, event) {
        const char *const names[] = {"request", "response"};
        for (size_t n = 0; n < 2; n++) {
            const char *digest = json_string_value(json_object_get(json_object_get(event, "data"), names[n]));
            if (digest) {
                MC_AUTOFREE char *path = mc_strf("%s/objects/%s", fixture->paths.out, digest);
                assert_int_equal(mc_fs_read(path, &bytes, &err), 0);
                assert_string_equal(mc_sha256_of(mc_buf_text(&bytes), bytes.len).hex, digest);
                mc_buf_put(out, mc_buf_text(&bytes), bytes.len);
            }
        }
    }
}

/* The object of that digest; the caller releases the buffer. */
static inline struct mc_buf fixture_object(const struct fixture *fixture, const json_t *data, const char *which)
{
    struct mc_err err;
    struct mc_buf bytes = MC_BUF_INIT((size_t)256 << 20);
    MC_AUTOFREE char *path =
        mc_strf("%s/objects/%s", fixture->paths.out, json_string_value(json_object_get(data, which)));
    assert_int_equal(mc_fs_read(path, &bytes, &err), 0);
    return bytes;
}
