#include "engine/attach.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "engine/head.h"
#include "engine/own.h"

#define READ_SIZE ((size_t)64 << 10)

struct mc_stream {
    CURL *easy;
    int fd;
    struct mc_buf inbox; /* as it came; from `start` on not yet given out */
    size_t start;
    int ended; /* the peer has sent its last */
    int input_ended;
    struct mc_demux demux;
    struct mc_buf fault; /* the engine's own error text, while it comes */
    char *what;          /* for errors: "attaching to container x" */
    char *host;
};

static int curl_fault(const struct mc_stream *stream, CURLcode result, struct mc_err *err)
{
    long sys = 0;
    struct mc_endpoint endpoint = {.host = stream->host};
    curl_easy_getinfo(stream->easy, CURLINFO_OS_ERRNO, &sys);
    return mc_api_unreachable(err, stream->what, &endpoint, result, sys);
}

static int on_progress(void *payload, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    struct mc_err ignored;
    return mc_check(*(const struct mc_until *)payload, "", &ignored) != 0;
}

static int connect_to(struct mc_stream *stream, const struct mc_endpoint *endpoint, struct mc_until until,
                      struct mc_err *err)
{
    int rc = mc_check(until, stream->what, err);
    if (rc != 0) {
        return rc;
    }
    stream->easy = curl_easy_init();
    if (!stream->easy) {
        return mc_fail(err, MC_INTERNAL, "libcurl gives no handle");
    }
    mc_api_prepare(stream->easy, endpoint);
    curl_easy_setopt(stream->easy, CURLOPT_URL, endpoint->url);
    curl_easy_setopt(stream->easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(stream->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)mc_left_ms(until));
    curl_easy_setopt(stream->easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(stream->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(stream->easy, CURLOPT_XFERINFODATA, &until);
    CURLcode result = curl_easy_perform(stream->easy);
    curl_easy_setopt(stream->easy, CURLOPT_NOPROGRESS, 1L);
    if (result == CURLE_ABORTED_BY_CALLBACK) {
        rc = mc_check(until, stream->what, err);
    }
    if (rc == 0 && result != CURLE_OK) {
        rc = curl_fault(stream, result, err);
    }
    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_easy_getinfo(stream->easy, CURLINFO_ACTIVESOCKET, &fd);
    stream->fd = fd;
    return rc;
}

/* Takes into the inbox what has come. 1: something did, or the end; 0: nothing yet. */
static int receive(struct mc_stream *stream, struct mc_err *err)
{
    if (stream->start == stream->inbox.len) {
        mc_buf_clear(&stream->inbox);
        stream->start = 0;
    }
    char *room = mc_buf_room(&stream->inbox, READ_SIZE);
    if (!room) {
        return mc_fail(err, MC_LIMIT, "%s: more than %zu bytes of output while its input was being written",
                       stream->what, stream->inbox.max);
    }
    size_t got = 0;
    CURLcode result = curl_easy_recv(stream->easy, room, READ_SIZE, &got);
    if (result == CURLE_AGAIN) {
        return 0;
    }
    /* A reset is how some engines end a stream; the demultiplexer knows whether it was whole. */
    if (result != CURLE_OK && result != CURLE_RECV_ERROR) {
        return curl_fault(stream, result, err);
    }
    stream->ended = got == 0;
    mc_buf_advance(&stream->inbox, got);
    return 1;
}

/* Waits on the socket; with `out` also until it takes more bytes. */
static int wait_for(struct mc_stream *stream, int out, struct mc_until until, struct mc_err *err)
{
    short events = (short)((stream->ended ? 0 : POLLIN) | (out ? POLLOUT : 0));
    return mc_poll_fd(stream->fd, events, until, stream->what, err);
}

/* Goes on reading while the peer takes nothing. */
static int send_all(struct mc_stream *stream, const char *bytes, size_t length, struct mc_until until,
                    struct mc_err *err)
{
    while (length > 0) {
        size_t sent = 0;
        CURLcode result = curl_easy_send(stream->easy, bytes, length, &sent);
        if (result != CURLE_OK && result != CURLE_AGAIN) {
            return mc_fail(err, MC_CLOSED, "%s: its input is closed: the process or the engine is gone", stream->what);
        }
        bytes += sent;
        length -= sent;
        if (sent > 0) {
            continue;
        }
        int rc = wait_for(stream, 1, until, err);
        if (rc == 0 && !stream->ended) {
            rc = receive(stream, err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int send_request(struct mc_stream *stream, const struct mc_engine *engine, const char *path, const char *body,
                        struct mc_until until, struct mc_err *err)
{
    const char *url = strstr(engine->endpoint.url, "://");
    MC_AUTOBUF struct mc_buf request = MC_BUF_OWN;
    mc_buf_putf(&request, "POST /v%s%s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n",
                engine->about.api_spoken, path, url ? url + 3 : "localhost");
    if (body) {
        mc_buf_puts(&request, "Content-Type: application/json\r\n");
    }
    mc_buf_putf(&request, "Content-Length: %zu\r\n\r\n%s", body ? strlen(body) : 0, body ? body : "");
    return send_all(stream, request.data, request.len, until, err);
}

/* Waits for more bytes; MC_CLOSED at the end. */
static int more(struct mc_stream *stream, struct mc_until until, struct mc_err *err)
{
    if (stream->ended) {
        return mc_fail(err, MC_CLOSED, "%s: the engine ended the connection before its answer was whole", stream->what);
    }
    int rc;
    while ((rc = receive(stream, err)) == 0) {
        rc = wait_for(stream, 0, until, err);
        if (rc != 0) {
            return rc;
        }
    }
    return rc < 0 ? rc : 0;
}

/* Takes the chunk sizes out of an error's body, where it has any (RFC 9112 section 7.1). */
static size_t unchunk(char *body, size_t length)
{
    size_t in = 0;
    size_t out = 0;
    while (in < length) {
        char *end;
        unsigned long size = strtoul(body + in, &end, 16);
        const char *line = memchr(body + in, '\n', length - in);
        if (size == 0 || !line) {
            break;
        }
        in = (size_t)(line - body) + 1;
        size_t left = length - in;
        size_t taken = size < left ? size : left;
        memmove(body + out, body + in, taken);
        out += taken;
        in += taken + 2;
    }
    return out;
}

/* Is all of an error's body here? It ends with its length, its last chunk, or the connection. */
static int is_whole(const struct mc_stream *stream, const struct mc_head *head)
{
    static const char last_chunk[] = "0\r\n\r\n";
    const char *body = mc_buf_text(&stream->inbox) + stream->start;
    size_t length = stream->inbox.len - stream->start;
    size_t n = sizeof last_chunk - 1;
    if (stream->ended || length >= MC_API_FAULT_MAX) {
        return 1;
    }
    if (head->chunked) {
        return length >= n && memcmp(body + length - n, last_chunk, n) == 0;
    }
    return head->length >= 0 && length >= (size_t)head->length;
}

/* What the engine says about its refusal. Where the rest does not come soon, what is here says enough. */
static int refused(struct mc_stream *stream, const struct mc_head *head, struct mc_until until, struct mc_err *err)
{
    struct mc_err ignored;
    struct mc_until soon = mc_sooner(until, 2000);
    while (!is_whole(stream, head) && more(stream, soon, &ignored) == 0) {
    }
    char *body = stream->inbox.data + stream->start;
    size_t length = stream->inbox.len - stream->start;
    if (head->length >= 0 && length > (size_t)head->length) {
        length = (size_t)head->length;
    }
    length = head->chunked ? unchunk(body, length) : length;
    return mc_api_refused(err, stream->what, head->status, body, length);
}

static int read_answer(struct mc_stream *stream, struct mc_until until, struct mc_err *err)
{
    struct mc_head head;
    int rc;
    while ((rc = mc_head_parse(mc_buf_text(&stream->inbox), stream->inbox.len, &head, err)) == 0) {
        rc = more(stream, until, err);
        if (rc != 0) {
            return rc;
        }
    }
    if (rc < 0) {
        return mc_wrap(err, "%s", stream->what);
    }
    stream->start = head.size; /* what follows is the stream's already */
    if (head.status == 101 || (head.status == 200 && !head.chunked)) {
        return 0;
    }
    if (head.status < 400) {
        return mc_fail(err, MC_PROTOCOL, "%s: the engine answers with HTTP status %d and no stream", stream->what,
                       head.status);
    }
    return refused(stream, &head, until, err);
}

int mc_api_hijack(struct mc_engine *engine, const char *path, const char *body, const char *what, struct mc_until until,
                  struct mc_stream **out, struct mc_err *err)
{
    int rc = mc_api_check_path(path, what, err);
    if (rc != 0) {
        return rc;
    }
    MC_AUTOSTREAM struct mc_stream *stream = mc_alloc(1, sizeof *stream);
    stream->fd = -1;
    stream->inbox = MC_BUF_INIT(MC_STREAM_BACKLOG);
    stream->fault = MC_BUF_INIT(MC_API_FAULT_MAX);
    stream->demux = MC_DEMUX_INIT;
    stream->what = mc_strdup(what);
    stream->host = mc_strdup(engine->endpoint.host);
    int64_t began = mc_monotonic_ms();
    rc = connect_to(stream, &engine->endpoint, until, err);
    if (rc == 0) {
        rc = send_request(stream, engine, path, body, until, err);
    }
    if (rc == 0) {
        rc = read_answer(stream, until, err);
    }
    MC_AUTOFREE char *full = mc_strf("/v%s%s", engine->about.api_spoken, path);
    mc_api_count(engine, "POST", full, rc == 0 ? 101 : err->http, began, body ? strlen(body) : 0, 0);
    if (rc != 0) {
        return rc;
    }
    *out = mc_steal(&stream);
    return 0;
}

int mc_container_attach(struct mc_engine *engine, const char *id, struct mc_until until, struct mc_stream **out,
                        struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("attaching to container %s", id);
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/containers/");
    mc_api_escape(&path, id);
    mc_buf_puts(&path, "/attach?stream=1&stdin=1&stdout=1&stderr=1");
    return mc_api_hijack(engine, mc_buf_text(&path), NULL, what, until, out, err);
}

int mc_stream_fd(const struct mc_stream *stream)
{
    return stream->fd;
}

/* A piece from what has come; MC_PIECE_NONE where more must come first. */
static int from_inbox(struct mc_stream *stream, struct mc_piece *out, struct mc_err *err)
{
    do {
        const char *bytes = mc_buf_text(&stream->inbox) + stream->start;
        size_t length = stream->inbox.len - stream->start;
        int rc = mc_demux_next(&stream->demux, &bytes, &length, out, err);
        stream->start = stream->inbox.len - length;
        if (rc != 0) {
            return mc_wrap(err, "%s", stream->what);
        }
        if (out->kind != MC_PIECE_FAULT) {
            return 0;
        }
        if (mc_buf_add(&stream->fault, out->bytes, out->length) != 0 || out->last) {
            mc_fail(err, MC_ENGINE, "%s: the engine says: %s", stream->what, mc_buf_text(&stream->fault));
            mc_buf_clear(&stream->fault);
            return err->code;
        }
    } while (out->kind == MC_PIECE_FAULT);
    return 0;
}

int mc_stream_read(struct mc_stream *stream, struct mc_piece *out, struct mc_err *err)
{
    for (;;) {
        int rc = from_inbox(stream, out, err);
        if (rc != 0 || out->kind != MC_PIECE_NONE) {
            return rc;
        }
        if (stream->ended) {
            out->kind = MC_PIECE_END;
            rc = mc_demux_end(&stream->demux, err);
            return rc != 0 ? mc_wrap(err, "%s", stream->what) : 0;
        }
        rc = receive(stream, err);
        if (rc <= 0) {
            return rc;
        }
    }
}

int mc_stream_next(struct mc_stream *stream, struct mc_piece *out, struct mc_until until, struct mc_err *err)
{
    for (;;) {
        int rc = mc_stream_read(stream, out, err);
        if (rc != 0 || out->kind != MC_PIECE_NONE) {
            return rc;
        }
        rc = wait_for(stream, 0, until, err);
        if (rc != 0) {
            return rc;
        }
    }
}

int mc_stream_write(struct mc_stream *stream, const void *bytes, size_t length, struct mc_until until,
                    struct mc_err *err)
{
    if (stream->input_ended) {
        return mc_fail(err, MC_CLOSED, "%s: its input was ended already", stream->what);
    }
    return send_all(stream, bytes, length, until, err);
}

int mc_stream_end_input(struct mc_stream *stream, struct mc_err *err)
{
    if (!stream->input_ended && shutdown(stream->fd, SHUT_WR) != 0 && errno != ENOTCONN) {
        return mc_fail_errno(err, errno, "%s: ending its input", stream->what);
    }
    stream->input_ended = 1;
    return 0;
}

void mc_stream_close(struct mc_stream *stream)
{
    if (!stream) {
        return;
    }
    curl_easy_cleanup(stream->easy);
    mc_buf_release(&stream->inbox);
    mc_buf_release(&stream->fault);
    free(stream->what);
    free(stream->host);
    free(stream);
}

void mc_stream_close_at(struct mc_stream **stream)
{
    mc_stream_close(*stream);
    *stream = NULL;
}
