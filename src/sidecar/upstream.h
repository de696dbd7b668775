/*
 * What answers model calls: a real server, a built-in script, or a recording.
 *
 * An answer is pulled: whoever passes it on reads it in pieces, in its own thread, so nothing is buffered between.
 *
 * Ownership: mc_upstream_new() allocates, mc_upstream_free() frees; it borrows the setup, which outlives it. An answer
 * is the caller's (mc_answer_free()) and ends before its upstream. An upstream is safe for threads, an answer belongs
 * to one.
 */
#pragma once

#include "base/sha256.h"
#include "base/until.h"
#include "protocol/frame.h"

struct mc_speaker;

/* One question to the model. */
struct mc_ask {
    const char *path; /* "/chat/completions" or "/embeddings" */
    const char *body;
    size_t length;
    const json_t *json; /* the body */
    int stream;
    struct mc_digest digest; /* of the body as recorded */
    int client_fd;           /* asking ends where this peer hangs up; -1: nobody to look after */
    int64_t call;            /* its number, for what is logged */
};

struct mc_answer {
    const struct mc_answer_ops *ops;
    int status;
    char *content_type;
    int64_t tries; /* how often a server was asked */
};

struct mc_answer_ops {
    int (*read)(struct mc_answer *answer, char *out, size_t room, size_t *length, struct mc_until until,
                struct mc_err *err);
    void (*free)(struct mc_answer *answer);
};

struct mc_upstream {
    const struct mc_upstream_ops *ops;
    const char *name; /* "openai", "script/extractive", "script/redteam", "replay" */
};

struct mc_upstream_ops {
    int (*ask)(struct mc_upstream *upstream, const struct mc_ask *ask, struct mc_until until, struct mc_answer **out,
               struct mc_err *err);
    void (*free)(struct mc_upstream *upstream);
};

/* What an upstream is made from. */
struct mc_upstream_setup {
    const struct mc_gateway_setup *gateway;
    const json_t *config;       /* of `initialize` */
    const char *key;            /* the secret's value, NULL: none */
    const char *replay;         /* folder of the recording */
    struct mc_speaker *speaker; /* told of repeated tries */
};

int mc_upstream_new(const struct mc_upstream_setup *setup, struct mc_upstream **out, struct mc_err *err) MC_CHECKED;
void mc_upstream_free(struct mc_upstream *upstream); /* NULL allowed */

/* Waits until the status is known. MC_CLOSED: the client hung up. Other failures are the upstream's. */
int mc_upstream_ask(struct mc_upstream *upstream, const struct mc_ask *ask, struct mc_until until,
                    struct mc_answer **out, struct mc_err *err) MC_CHECKED;

/* At most `room` bytes as soon as there are any; *length is 0 at the end. */
int mc_answer_read(struct mc_answer *answer, char *out, size_t room, size_t *length, struct mc_until until,
                   struct mc_err *err) MC_CHECKED;
void mc_answer_free(struct mc_answer *answer); /* NULL allowed */

/* An answer whose bytes are known already: `body` is handed over. */
struct mc_answer *mc_answer_of_text(int status, const char *content_type, char *body);
/* The same from a file, which is closed with it. */
struct mc_answer *mc_answer_of_file(int status, const char *content_type, int fd);

/* {"error": {"message": ..., "type": "memcal", "code": ...}}, as OpenAI's errors look; the caller frees it. */
char *mc_error_body(const char *code, const char *message);

/* The kinds, each in a file of its own. */
int mc_upstream_openai(const struct mc_upstream_setup *setup, struct mc_upstream **out, struct mc_err *err) MC_CHECKED;
int mc_upstream_script(const struct mc_upstream_setup *setup, struct mc_upstream **out, struct mc_err *err) MC_CHECKED;
int mc_upstream_replay(const struct mc_upstream_setup *setup, struct mc_upstream **out, struct mc_err *err) MC_CHECKED;
