#include "bench/replay.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bench.h"

enum { PATIENCE_MS = 60000 };

struct stream {
    int fd;
    struct frame_counter counter;
};

struct player {
    const struct replay *replay;
    CURL *easy;
    struct curl_slist *headers;
    struct mc_buf answer;
    struct stream streams[STREAMS_MAX];
    char **made; /* by act: the ID of the container made here */
};

static size_t keep(char *bytes, size_t one, size_t count, void *payload)
{
    mc_buf_put(payload, bytes, one * count);
    return one * count;
}

/* In place: the new text is as long as the old one. */
static void replace(struct mc_buf *text, const char *old, const char *new)
{
    size_t length = strlen(old);
    for (size_t i = 0; i + length <= text->len; i++) {
        if (memcmp(text->data + i, old, length) == 0) {
            memcpy(text->data + i, new, length);
            i += length - 1;
        }
    }
}

/* The recorded bytes with this replay's names and containers. */
static struct mc_buf freshen(const struct player *player, const void *bytes, size_t length)
{
    const struct replay *replay = player->replay;
    struct mc_buf text = MC_BUF_OWN;
    mc_buf_put(&text, bytes, length);
    mc_buf_put(&text, "", 0);
    replace(&text, replay->old_id, replay->new_id);
    for (size_t i = 0; i < replay->recording->count; i++) {
        if (player->made[i]) {
            replace(&text, replay->recording->acts[i].made, player->made[i]);
        }
    }
    return text;
}

static void wait_readable(int fd, const char *what)
{
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};
    int rc = poll(&pollfd, 1, PATIENCE_MS);
    if (rc <= 0) {
        bench_die("", "%s: %s", what, rc == 0 ? "nothing came within a minute" : strerror(errno));
    }
}

/* Reads the streams until every one has given as many frames as `act` had seen. */
static void wait_for_frames(struct player *player, const struct act *act)
{
    for (size_t i = 0; i < player->replay->recording->streams; i++) {
        struct stream *stream = &player->streams[i];
        while (stream->fd >= 0 && stream->counter.frames < act->seen[i]) {
            unsigned char bytes[4096];
            wait_readable(stream->fd, "waiting for a frame");
            ssize_t got = read(stream->fd, bytes, sizeof bytes);
            if (got <= 0) {
                bench_die("", "a stream ended before the frame that was due");
            }
            frame_counter_feed(&stream->counter, bytes, (size_t)got);
        }
    }
}

static void note_made(struct player *player, size_t index)
{
    static const char key[] = "\"Id\":\"";
    const char *id = strstr(mc_buf_text(&player->answer), key);
    size_t length = strlen(player->replay->recording->acts[index].made);
    if (!id || strlen(id) < sizeof key - 1 + length) {
        bench_die("", "the engine's answer names no container: %s", mc_buf_text(&player->answer));
    }
    player->made[index] = mc_strndup(id + sizeof key - 1, length);
}

static void call(struct player *player, size_t index)
{
    const struct act *act = &player->replay->recording->acts[index];
    MC_AUTOBUF struct mc_buf path = freshen(player, act->path, strlen(act->path));
    MC_AUTOBUF struct mc_buf body = freshen(player, act->bytes.data + act->head, act->bytes.len - act->head);
    MC_AUTOFREE char *url = mc_strf("http://localhost%s", mc_buf_text(&path));
    mc_buf_clear(&player->answer);
    CURL *easy = player->easy;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, act->method);
    if (strcmp(act->method, "POST") == 0) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, mc_buf_text(&body));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)body.len);
    } else {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    CURLcode rc = curl_easy_perform(easy);
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (rc != CURLE_OK || status != act->status) {
        bench_die("", "%s %s: %s, status %ld where %d was recorded: %s", act->method, mc_buf_text(&path),
                  curl_easy_strerror(rc), status, act->status, mc_buf_text(&player->answer));
    }
    if (act->made) {
        note_made(player, index);
    }
}

static void attach(struct player *player, const struct act *act)
{
    MC_AUTOBUF struct mc_buf request = freshen(player, act->bytes.data, act->bytes.len);
    MC_AUTOBUF struct mc_buf head = MC_BUF_OWN;
    struct stream *stream = &player->streams[act->stream];
    stream->fd = connect_to(player->replay->socket);
    send_all(stream->fd, request.data, request.len);
    while (!strstr(mc_buf_text(&head), "\r\n\r\n")) {
        char byte;
        wait_readable(stream->fd, "attaching");
        if (read(stream->fd, &byte, 1) != 1) {
            bench_die("", "attaching: the engine closed the connection");
        }
        mc_buf_put(&head, &byte, 1);
    }
    const char *text = mc_buf_text(&head);
    if (strtol(text + strcspn(text, " "), NULL, 10) != act->status) {
        char why[1024] = "";
        wait_readable(stream->fd, "attaching");
        ssize_t got = read(stream->fd, why, sizeof why - 1);
        bench_die("", "attaching: status %d was recorded, not %s%s", act->status, text, got > 0 ? why : "");
    }
}

static void perform(struct player *player, size_t index)
{
    const struct act *act = &player->replay->recording->acts[index];
    if (act->kind == ACT_WRITE || act->kind == ACT_ATTACH || (act->kind == ACT_CALL && strstr(act->path, "/start"))) {
        wait_for_frames(player, act);
    }
    switch (act->kind) {
    case ACT_CALL:
        call(player, index);
        break;
    case ACT_ATTACH:
        attach(player, act);
        break;
    case ACT_WRITE: {
        MC_AUTOBUF struct mc_buf bytes = freshen(player, act->bytes.data, act->bytes.len);
        send_all(player->streams[act->stream].fd, bytes.data, bytes.len);
        break;
    }
    case ACT_CLOSE:
        close(player->streams[act->stream].fd);
        player->streams[act->stream].fd = -1;
        break;
    }
}

int replay_is_look(const struct act *act)
{
    return act->kind == ACT_CALL && strcmp(act->method, "GET") == 0 && !strstr(act->path, "/archive");
}

/* As memcal's own connection: open, with nothing asked of it yet. */
static void open_player(struct player *player)
{
    player->easy = curl_easy_init();
    player->headers = curl_slist_append(NULL, "Content-Type: application/json");
    player->headers = curl_slist_append(player->headers, "Expect:");
    curl_easy_setopt(player->easy, CURLOPT_UNIX_SOCKET_PATH, player->replay->socket);
    curl_easy_setopt(player->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(player->easy, CURLOPT_HTTPHEADER, player->headers);
    curl_easy_setopt(player->easy, CURLOPT_TIMEOUT_MS, (long)PATIENCE_MS);
    curl_easy_setopt(player->easy, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(player->easy, CURLOPT_WRITEDATA, &player->answer);
    curl_easy_setopt(player->easy, CURLOPT_URL, "http://localhost/_ping");
    CURLcode rc = curl_easy_perform(player->easy);
    if (rc != CURLE_OK) {
        bench_die("", "pinging the engine: %s", curl_easy_strerror(rc));
    }
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        player->streams[i].fd = -1;
    }
}

static void close_player(struct player *player)
{
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        if (player->streams[i].fd >= 0) {
            close(player->streams[i].fd);
        }
    }
    for (size_t i = 0; i < player->replay->recording->count; i++) {
        free(player->made[i]);
    }
    free(player->made);
    curl_easy_cleanup(player->easy);
    curl_slist_free_all(player->headers);
    mc_buf_release(&player->answer);
}

struct replayed replay_run(const struct replay *replay)
{
    const struct recording *recording = replay->recording;
    struct player player = {.replay = replay, .answer = MC_BUF_OWN};
    struct replayed result = {.calls = 0};
    player.made = mc_alloc(recording->count, sizeof *player.made);
    open_player(&player);
    double began = bench_now_ms();
    for (size_t i = 0; i < recording->count; i++) {
        const struct act *act = &recording->acts[i];
        if (replay->essential && replay_is_look(act)) {
            continue;
        }
        perform(&player, i);
        result.calls += act->kind == ACT_CALL || act->kind == ACT_ATTACH;
    }
    result.ms = bench_now_ms() - began;
    close_player(&player);
    return result;
}
