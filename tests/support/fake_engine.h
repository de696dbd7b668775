/*
 * An engine that says what a test tells it to: a thread that serves a Unix socket from prepared bytes.
 *
 * The ping, /version and /info are answered by themselves (as Docker 20.10 or, with `podman`, Podman 4.3 does) unless
 * `manual` is set; every other request takes the next prepared answer. Requests are kept for the test to look at.
 *
 * Ownership: fake_start() makes the socket's folder, fake_stop() ends all threads and removes it.
 */
#pragma once

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "engine/engine.h"

enum { FAKE_MAX = 64 };

struct fake_answer {
    const char *bytes; /* copied by fake_add() */
    size_t length;
    size_t split;  /* so many bytes first, the rest a moment later; 0: all at once */
    int drip_ms;   /* each byte by itself, so many milliseconds apart */
    int hold;      /* the connection stays open after it, silent */
    int drop_body; /* answers without reading the request's body */
};

struct fake {
    char dir[64];
    char socket[96];
    char host[112];
    int listener;
    int stop_fd;
    int manual;
    int podman;
    pthread_t thread;
    pthread_t workers[4096];
    size_t worker_count;
    pthread_mutex_t lock;
    struct fake_answer answers[FAKE_MAX];
    size_t answer_count;
    size_t answered;
    char **kept; /* every answer's bytes: one may still be on its way when the next test step begins */
    size_t kept_count;
    struct mc_buf requests; /* all, one after the other */
};

void fake_start(struct fake *fake);
void fake_stop(struct fake *fake);

/* Prepares the next answer. */
void fake_add(struct fake *fake, struct fake_answer answer);
/* A whole answer with a length: status line rest ("200 OK"), body. */
void fake_say(struct fake *fake, const char *status, const char *body);
/* Forgets answers and requests. */
void fake_clear(struct fake *fake);

/* True where a request holds `text`. */
int fake_was_asked(struct fake *fake, const char *text);

struct mc_endpoint fake_endpoint(struct fake *fake);
/* Opens an engine on it; fails the test where that does not work. */
struct mc_engine *fake_open(struct fake *fake);
