/*
 * What a program asked of an engine, seen from the socket between them: its HTTP requests byte for byte, what it wrote
 * to the streams that it attached, and how many frames had come back by then.
 *
 * Only what memcal does is understood: HTTP/1.1 over a Unix socket, bodies with a Content-Length, and calls to
 * .../attach whose connection becomes a stream.
 *
 * Ownership: a recording owns its texts; recording_release() frees them.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"

enum { STREAMS_MAX = 4 };

enum act_kind {
    ACT_CALL,   /* a request, answered as a whole */
    ACT_ATTACH, /* a request whose connection is a stream from then on */
    ACT_WRITE,  /* bytes written to a stream */
    ACT_CLOSE,  /* the stream was closed */
};

struct act {
    enum act_kind kind;
    char *method;
    char *path;
    size_t head;         /* bytes of `bytes` before the body */
    struct mc_buf bytes; /* the whole request, or what was written */
    int status;
    char *made;               /* ID of the container that the answer named, NULL for none */
    size_t stream;            /* ATTACH, WRITE, CLOSE */
    size_t seen[STREAMS_MAX]; /* frames that had come on each stream before this */
};

struct recording {
    struct act *acts;
    size_t count;
    size_t room;
    size_t streams;
};

/* Listens on the Unix socket `path` before `start` is called (it starts the program and gives its process ID), and
 * passes everything on to the engine's socket until the program has ended; gives its wait status. */
int recording_make(struct recording *recording, const char *path, const char *engine, pid_t (*start)(void *payload),
                   void *payload);
/* Keeps only the acts from index `first` up to `end`. */
void recording_cut(struct recording *recording, size_t first, size_t end);
void recording_release(struct recording *recording);

/* Counts lines of standard output in an engine's multiplexed stream, fed piece by piece. */
struct frame_counter {
    unsigned char head[8];
    size_t have;
    size_t left; /* bytes of the payload in hand */
    size_t frames;
};
void frame_counter_feed(struct frame_counter *counter, const unsigned char *bytes, size_t length);

/* A connection to a Unix socket; dies where there is none. */
int connect_to(const char *path);
/* Writes all of it; dies where it cannot. */
void send_all(int fd, const void *bytes, size_t length);
