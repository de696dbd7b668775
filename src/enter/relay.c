#include "enter/relay.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_AT_ONCE = 16, RETRY_MS = 20, BACKLOG = 128, EVENTS_AT_ONCE = 64 };

/* A watched socket: a listener's own (`of` is NULL), or one side of a connection. */
struct side {
    int fd;
    int ready; /* an event came, or work was left over */
    int gone;  /* the peer neither sends nor reads any more */
    struct connection *of;
};

/* Bytes read from one side and not yet written to the other. */
struct way {
    size_t start;
    size_t end;
    int eof;  /* the reading side has no more */
    int done; /* ... and the writing side has been told */
    char bytes[BUFFER_SIZE];
};

struct connection {
    struct connection *next;
    const struct rule *rule;
    struct side client;
    struct side target;   /* fd is -1 before a connect was begun */
    long long give_up_ms; /* 0 once connected */
    struct way up;        /* client to target */
    struct way down;
};

struct relay {
    int epoll;
    const struct rule *rules;
    size_t count;
    struct side *listeners; /* one for each rule */
    struct connection *connections;
    size_t connection_count;
};

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_un un;
};

static socklen_t tcp_address(int port, union address *out)
{
    memset(out, 0, sizeof *out);
    out->in.sin_family = AF_INET;
    out->in.sin_port = htons((uint16_t)port);
    out->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return sizeof out->in;
}

static socklen_t unix_address(const char *path, union address *out)
{
    memset(out, 0, sizeof *out);
    out->un.sun_family = AF_UNIX;
    memcpy(out->un.sun_path, path, strlen(path)); /* its length was checked with the arguments */
    return sizeof out->un;
}

/* Edge-triggered for everything: an event marks the side as ready, and work goes on until the kernel says EAGAIN. */
static int watch(const struct relay *relay, struct side *side)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.ptr = side}};
    return epoll_ctl(relay->epoll, EPOLL_CTL_ADD, side->fd, &event);
}

/* ---- Listening ---- */

static int open_listener(const struct rule *rule)
{
    union address address;
    socklen_t length = rule->listen_tcp ? tcp_address(rule->port, &address) : unix_address(rule->path, &address);
    int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    int on = 1;
    if (rule->listen_tcp) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    } else {
        unlink(rule->path); /* left by an earlier start of the same container */
    }
    if (bind(fd, &address.any, length) == 0 && (rule->listen_tcp || chmod(rule->path, 0666) == 0) &&
        listen(fd, BACKLOG) == 0) {
        return fd;
    }
    int cause = errno;
    close(fd);
    errno = cause;
    return -1;
}

static int listen_all(struct relay *relay)
{
    for (size_t i = 0; i < relay->count; i++) {
        const struct rule *rule = &relay->rules[i];
        relay->listeners[i].fd = open_listener(rule);
        if (relay->listeners[i].fd >= 0 && watch(relay, &relay->listeners[i]) == 0) {
            continue;
        }
        const char *cause = strerror(errno);
        if (rule->listen_tcp) {
            fprintf(stderr, "memcal-enter: listening on 127.0.0.1:%d: %s\n", rule->port, cause);
        } else {
            fprintf(stderr, "memcal-enter: listening on %s: %s\n", rule->path, cause);
        }
        return -1;
    }
    return 0;
}

struct relay *relay_open(const struct rule *rules, size_t count)
{
    struct relay *relay = calloc(1, sizeof *relay);
    struct side *listeners = calloc(count ? count : 1, sizeof *listeners);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!relay || !listeners || epoll < 0) {
        fprintf(stderr, "memcal-enter: starting the relay: %s\n", strerror(errno));
        free(relay);
        free(listeners);
        return NULL;
    }
    *relay = (struct relay){.epoll = epoll, .rules = rules, .count = count, .listeners = listeners};
    if (listen_all(relay) != 0) {
        free(relay);
        free(listeners);
        return NULL;
    }
    return relay;
}

int relay_fd(const struct relay *relay)
{
    return relay->epoll;
}

/* Accepts what waits; leaves the listener ready where there is no room for more at present. */
static void accept_some(struct relay *relay, size_t index)
{
    struct side *listener = &relay->listeners[index];
    while (listener->ready && relay->connection_count < CONNECTIONS_MAX) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            listener->ready = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
            return;
        }
        struct connection *connection = calloc(1, sizeof *connection);
        if (!connection) {
            close(fd);
            return;
        }
        connection->rule = &relay->rules[index];
        connection->client = (struct side){.fd = fd, .ready = 1, .gone = 0, .of = connection};
        connection->target = (struct side){.fd = -1, .ready = 0, .gone = 0, .of = connection};
        connection->give_up_ms = now_ms() + CONNECT_PATIENCE_MS;
        connection->next = relay->connections;
        relay->connections = connection;
        relay->connection_count++;
        watch(relay, &connection->client);
    }
}

/* ---- One connection ---- */

/* Begins or goes on with the connect to the target: 1 connected, 0 to be tried again, -1 hopeless. */
static int reach(const struct relay *relay, struct connection *connection)
{
    const struct rule *rule = connection->rule;
    struct side *target = &connection->target;
    union address address;
    socklen_t length = rule->listen_tcp ? unix_address(rule->path, &address) : tcp_address(rule->port, &address);
    if (target->fd < 0) {
        target->fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (target->fd < 0 || watch(relay, target) != 0) {
            return now_ms() < connection->give_up_ms ? 0 : -1;
        }
    }
    if (connect(target->fd, &address.any, length) == 0 || errno == EISCONN) {
        connection->give_up_ms = 0;
        return 1;
    }
    if (now_ms() >= connection->give_up_ms) {
        return -1;
    }
    if (errno != EINPROGRESS && errno != EALREADY) { /* not there yet: the next try needs a new socket */
        close(target->fd);
        target->fd = -1;
    }
    return 0;
}

/* Moves bytes one way: 1 something moved, 0 nothing could, -1 a side is broken. */
static int move(struct way *way, int from, int to)
{
    int moved = 0;
    if (!way->eof && way->end < BUFFER_SIZE) {
        ssize_t n = read(from, way->bytes + way->end, BUFFER_SIZE - way->end);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return -1;
        }
        way->eof = n == 0;
        way->end += n > 0 ? (size_t)n : 0;
        moved = n >= 0;
    }
    if (way->start < way->end) {
        ssize_t n = send(to, way->bytes + way->start, way->end - way->start, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return -1;
        }
        way->start += n > 0 ? (size_t)n : 0;
        moved |= n > 0;
    }
    if (way->start == way->end) {
        way->start = way->end = 0;
        if (way->eof && !way->done) {
            shutdown(to, SHUT_WR);
            way->done = 1;
        }
    }
    return moved;
}

/* Works on one connection: 0 to be kept, -1 to be closed. */
static int serve(const struct relay *relay, struct connection *connection)
{
    int client = connection->client.fd;
    if (connection->give_up_ms) {
        int reached = reach(relay, connection);
        if (reached <= 0) {
            return reached;
        }
    }
    connection->client.ready = connection->target.ready = 0;
    for (int round = 0; round < ROUNDS_AT_ONCE; round++) {
        int up = move(&connection->up, client, connection->target.fd);
        int down = up < 0 ? -1 : move(&connection->down, connection->target.fd, client);
        if (down < 0 || (connection->up.done && connection->down.done) ||
            (connection->client.gone && connection->up.done) || (connection->target.gone && connection->down.done)) {
            return -1;
        }
        if (!up && !down) {
            return 0;
        }
    }
    connection->client.ready = 1; /* others first */
    return 0;
}

static void drop(struct relay *relay, struct connection **link)
{
    struct connection *connection = *link;
    *link = connection->next;
    close(connection->client.fd);
    if (connection->target.fd >= 0) {
        close(connection->target.fd);
    }
    free(connection);
    relay->connection_count--;
}

void relay_close(struct relay *relay)
{
    while (relay->connections) {
        drop(relay, &relay->connections);
    }
    for (size_t i = 0; i < relay->count; i++) {
        close(relay->listeners[i].fd);
    }
    close(relay->epoll);
    free(relay->listeners);
    free(relay);
}

static void take_events(const struct relay *relay)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int count = epoll_wait(relay->epoll, events, EVENTS_AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
        struct side *side = events[i].data.ptr;
        side->ready = 1;
        side->gone |= (events[i].events & (EPOLLHUP | EPOLLERR)) != 0;
    }
}

int relay_work(struct relay *relay)
{
    int again = -1;
    take_events(relay);
    for (struct connection **link = &relay->connections; *link;) {
        struct connection *connection = *link;
        int wanted = connection->client.ready || connection->target.ready || connection->give_up_ms;
        if (wanted && serve(relay, connection) != 0) {
            drop(relay, link);
            continue;
        }
        if (connection->give_up_ms && again != 0) {
            again = RETRY_MS;
        } else if (connection->client.ready) {
            again = 0;
        }
        link = &connection->next;
    }
    for (size_t i = 0; i < relay->count; i++) {
        if (relay->listeners[i].ready && relay->connection_count < CONNECTIONS_MAX) {
            accept_some(relay, i);
            again = relay->listeners[i].ready ? RETRY_MS : 0; /* what was accepted has not been served yet */
        }
    }
    return again;
}
