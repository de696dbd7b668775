#include "bench/record.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bench.h"

enum { LINKS_MAX = 16, PIECE = 65536 };
#define ANSWER_KEPT ((size_t)64 << 10) /* of an answer: enough for its head and a created container's ID */

/* One connection of the program, and ours to the engine for it. */
struct link {
    int client; /* -1: free */
    int engine;
    struct mc_buf request;
    struct mc_buf answer; /* its beginning */
    size_t act;           /* the request in hand */
    int streaming;
    size_t stream;
};

struct proxy {
    struct recording *recording;
    const char *engine;
    int listener;
    struct link links[LINKS_MAX];
    struct frame_counter counters[STREAMS_MAX];
};

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        bench_die("", "the socket's path is too long: %s", path);
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    return address;
}

int connect_to(const char *path)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        bench_die("", "cannot connect to %s: %s", path, strerror(errno));
    }
    return fd;
}

void send_all(int fd, const void *bytes, size_t length)
{
    const char *p = bytes;
    while (length > 0) {
        ssize_t sent = send(fd, p, length, MSG_NOSIGNAL);
        if (sent < 0) {
            bench_die("", "cannot write to a socket: %s", strerror(errno));
        }
        p += sent;
        length -= (size_t)sent;
    }
}

void frame_counter_feed(struct frame_counter *counter, const unsigned char *bytes, size_t length)
{
    while (length > 0) {
        if (counter->left == 0) {
            counter->head[counter->have++] = *bytes++;
            length--;
            if (counter->have == sizeof counter->head) {
                const unsigned char *size = counter->head + 4;
                counter->left = (size_t)size[0] << 24 | (size_t)size[1] << 16 | (size_t)size[2] << 8 | size[3];
                counter->have = 0;
            }
            continue;
        }
        size_t part = length < counter->left ? length : counter->left;
        for (size_t i = 0; counter->head[0] == 1 && i < part; i++) {
            counter->frames += bytes[i] == '\n';
        }
        counter->left -= part;
        bytes += part;
        length -= part;
    }
}

static struct act *add_act(struct proxy *proxy, enum act_kind kind)
{
    struct recording *recording = proxy->recording;
    recording->acts = mc_grow(recording->acts, recording->count, &recording->room, sizeof *recording->acts);
    struct act *act = &recording->acts[recording->count++];
    *act = (struct act){.kind = kind, .bytes = MC_BUF_OWN};
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        act->seen[i] = proxy->counters[i].frames;
    }
    return act;
}

/* Bytes of the body that a head announces. */
static size_t body_length(const char *head)
{
    if (strcasestr(head, "\r\nTransfer-Encoding:")) {
        bench_die("", "a request with a body of unknown length cannot be recorded");
    }
    const char *length = strcasestr(head, "\r\nContent-Length:");
    return length ? strtoul(length + strlen("\r\nContent-Length:"), NULL, 10) : 0;
}

/* A request of the program: kept once it is whole, then passed on. */
static void take_request(struct proxy *proxy, struct link *link, const char *bytes, size_t length)
{
    mc_buf_put(&link->request, bytes, length);
    const char *text = mc_buf_text(&link->request);
    const char *end = strstr(text, "\r\n\r\n");
    if (!end) {
        return;
    }
    size_t head = (size_t)(end - text) + 4;
    MC_AUTOFREE char *head_text = mc_strndup(text, head);
    if (link->request.len < head + body_length(head_text)) {
        return;
    }
    size_t method = strcspn(text, " ");
    size_t path = strcspn(text + method + 1, " ");
    MC_AUTOFREE char *target = mc_strndup(text + method + 1, path);
    struct act *act = add_act(proxy, strstr(target, "/attach") ? ACT_ATTACH : ACT_CALL);
    act->method = mc_strndup(text, method);
    act->path = mc_steal(&target);
    act->head = head;
    mc_buf_put(&act->bytes, link->request.data, link->request.len);
    link->act = proxy->recording->count - 1;
    mc_buf_clear(&link->answer);
    send_all(link->engine, link->request.data, link->request.len);
    mc_buf_clear(&link->request);
}

static void take_write(struct proxy *proxy, const struct link *link, const char *bytes, size_t length)
{
    struct act *act = add_act(proxy, ACT_WRITE);
    act->stream = link->stream;
    mc_buf_put(&act->bytes, bytes, length);
    send_all(link->engine, bytes, length);
}

/* The beginning of an answer: its status, a container's ID, or that a stream begins. */
static void take_answer(struct proxy *proxy, struct link *link, const char *bytes, size_t length)
{
    static const char id_key[] = "\"Id\":\"";
    enum { ID_LENGTH = 64 };
    if (link->answer.len < ANSWER_KEPT) {
        mc_buf_put(&link->answer, bytes, length);
    }
    struct act *act = &proxy->recording->acts[link->act];
    const char *text = mc_buf_text(&link->answer);
    const char *end = strstr(text, "\r\n\r\n");
    if (!end) {
        return;
    }
    act->status = (int)strtol(text + strcspn(text, " "), NULL, 10);
    const char *id = strstr(end, id_key);
    if (!act->made && strstr(act->path, "/containers/create") && id && strlen(id) > sizeof id_key + ID_LENGTH) {
        act->made = mc_strndup(id + sizeof id_key - 1, ID_LENGTH);
    }
    if (act->kind == ACT_ATTACH && act->status < 300) {
        if (proxy->recording->streams == STREAMS_MAX) {
            bench_die("", "more than %d streams were attached", STREAMS_MAX);
        }
        link->streaming = 1;
        link->stream = act->stream = proxy->recording->streams++;
        size_t rest = link->answer.len - (size_t)(end + 4 - text);
        frame_counter_feed(&proxy->counters[link->stream], (const unsigned char *)end + 4, rest);
    }
}

static void close_link(struct link *link)
{
    close(link->client);
    close(link->engine);
    mc_buf_release(&link->request);
    mc_buf_release(&link->answer);
    *link = (struct link){.client = -1};
}

static void from_client(struct proxy *proxy, struct link *link)
{
    char bytes[PIECE];
    ssize_t got = read(link->client, bytes, sizeof bytes);
    if (got <= 0) {
        if (link->streaming) {
            add_act(proxy, ACT_CLOSE)->stream = link->stream;
        }
        close_link(link);
    } else if (link->streaming) {
        take_write(proxy, link, bytes, (size_t)got);
    } else {
        take_request(proxy, link, bytes, (size_t)got);
    }
}

static void from_engine(struct proxy *proxy, struct link *link)
{
    char bytes[PIECE];
    ssize_t got = read(link->engine, bytes, sizeof bytes);
    if (got <= 0) {
        shutdown(link->client, SHUT_WR); /* the program closes its side when it has read all */
        close(link->engine);
        link->engine = -1;
        return;
    }
    if (link->streaming) {
        frame_counter_feed(&proxy->counters[link->stream], (const unsigned char *)bytes, (size_t)got);
    } else {
        take_answer(proxy, link, bytes, (size_t)got);
    }
    send_all(link->client, bytes, (size_t)got);
}

static void accept_link(struct proxy *proxy)
{
    int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);
    for (size_t i = 0; client >= 0 && i < LINKS_MAX; i++) {
        if (proxy->links[i].client < 0) {
            proxy->links[i] = (struct link){
                .client = client, .engine = connect_to(proxy->engine), .request = MC_BUF_OWN, .answer = MC_BUF_OWN};
            return;
        }
    }
    bench_die("", "the program opened more connections than can be recorded");
}

/* Waits for any socket and deals with it. The engine's side first: what it said was said before the program acted. */
static void turn(struct proxy *proxy)
{
    enum { WAIT_MS = 20 };
    struct pollfd fds[1 + 2 * LINKS_MAX];
    fds[0] = (struct pollfd){.fd = proxy->listener, .events = POLLIN};
    for (size_t i = 0; i < LINKS_MAX; i++) {
        const struct link *link = &proxy->links[i];
        int used = link->client >= 0;
        fds[1 + i] = (struct pollfd){.fd = used ? link->engine : -1, .events = POLLIN};
        fds[1 + LINKS_MAX + i] = (struct pollfd){.fd = used ? link->client : -1, .events = POLLIN};
    }
    if (poll(fds, MC_COUNT(fds), WAIT_MS) <= 0) {
        return;
    }
    for (size_t i = 0; i < LINKS_MAX; i++) {
        if (fds[1 + i].revents) {
            from_engine(proxy, &proxy->links[i]);
        }
    }
    for (size_t i = 0; i < LINKS_MAX; i++) {
        if (fds[1 + LINKS_MAX + i].revents) {
            from_client(proxy, &proxy->links[i]);
        }
    }
    if (fds[0].revents) {
        accept_link(proxy);
    }
}

int recording_make(struct recording *recording, const char *path, const char *engine, pid_t (*start)(void *payload),
                   void *payload)
{
    struct sockaddr_un address = address_of(path);
    struct proxy proxy = {.recording = recording, .engine = engine};
    for (size_t i = 0; i < LINKS_MAX; i++) {
        proxy.links[i].client = -1;
    }
    proxy.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (proxy.listener < 0 || bind(proxy.listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(proxy.listener, LINKS_MAX) != 0) {
        bench_die("", "cannot listen on %s: %s", path, strerror(errno));
    }
    pid_t child = start(payload);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        turn(&proxy);
    }
    for (size_t i = 0; i < LINKS_MAX; i++) {
        if (proxy.links[i].client >= 0) {
            close_link(&proxy.links[i]);
        }
    }
    close(proxy.listener);
    return status;
}

static void act_release(struct act *act)
{
    free(act->method);
    free(act->path);
    free(act->made);
    mc_buf_release(&act->bytes);
}

void recording_cut(struct recording *recording, size_t first, size_t end)
{
    for (size_t i = 0; i < recording->count; i++) {
        if (i < first || i >= end) {
            act_release(&recording->acts[i]);
        }
    }
    memmove(recording->acts, recording->acts + first, (end - first) * sizeof *recording->acts);
    recording->count = end - first;
}

void recording_release(struct recording *recording)
{
    for (size_t i = 0; i < recording->count; i++) {
        act_release(&recording->acts[i]);
    }
    free(recording->acts);
    *recording = (struct recording){.acts = NULL};
}
