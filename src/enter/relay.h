/*
 * Forwarding between TCP on the loopback interface and Unix sockets: one thread, edge-triggered epoll, and per
 * connection one buffer of fixed size for each direction. A side that reads slowly fills its buffer, and the other
 * side is then not read: back-pressure by itself.
 *
 * Ownership: relay_open() allocates, relay_close() frees; the rules are borrowed from the caller.
 */
#pragma once

#include <stddef.h>

enum { RULES_MAX = 64, CONNECTIONS_MAX = 256, BUFFER_SIZE = 65536, CONNECT_PATIENCE_MS = 10000 };

struct rule {
    int listen_tcp; /* 1: from 127.0.0.1:port to the Unix socket; 0: from the Unix socket to 127.0.0.1:port */
    int port;
    const char *path;
};

struct relay;

/* Opens every listening socket. NULL after a sentence on standard error. */
struct relay *relay_open(const struct rule *rules, size_t count);
void relay_close(struct relay *relay);

/* Readable for poll() when relay_work() has something to do. */
int relay_fd(const struct relay *relay);

/* Does what can be done now, without waiting. Returns in how many milliseconds to call again even if relay_fd() is
 * not readable, -1: not before it is. */
int relay_work(struct relay *relay);
