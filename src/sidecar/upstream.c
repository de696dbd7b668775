#include "sidecar/upstream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"

int mc_upstream_new(const struct mc_upstream_setup *setup, struct mc_upstream **out, struct mc_err *err)
{
    switch (setup->gateway->upstream) {
    case MC_UPSTREAM_OPENAI:
        return mc_upstream_openai(setup, out, err);
    case MC_UPSTREAM_SCRIPT:
        return mc_upstream_script(setup, out, err);
    case MC_UPSTREAM_REPLAY:
        return mc_upstream_replay(setup, out, err);
    }
    return mc_fail(err, MC_INTERNAL, "an upstream of no known kind");
}

void mc_upstream_free(struct mc_upstream *upstream)
{
    if (upstream) {
        upstream->ops->free(upstream);
    }
}

int mc_upstream_ask(struct mc_upstream *upstream, const struct mc_ask *ask, struct mc_until until,
                    struct mc_answer **out, struct mc_err *err)
{
    return upstream->ops->ask(upstream, ask, until, out, err);
}

int mc_answer_read(struct mc_answer *answer, char *out, size_t room, size_t *length, struct mc_until until,
                   struct mc_err *err)
{
    return answer->ops->read(answer, out, room, length, until, err);
}

void mc_answer_free(struct mc_answer *answer)
{
    if (answer) {
        free(answer->content_type);
        answer->ops->free(answer);
    }
}

char *mc_error_body(const char *code, const char *message)
{
    MC_AUTOJSON json_t *body =
        json_pack("{s:{s:s, s:s, s:s}}", "error", "message", message, "type", "memcal", "code", code);
    return body ? mc_json_text(body) : mc_error_body(code, "the message is not UTF-8");
}

/* ---- Answers that are known already ---- */

struct text_answer {
    struct mc_answer answer;
    char *body;
    size_t length;
    size_t given;
};

static int text_read(struct mc_answer *answer, char *out, size_t room, size_t *length, struct mc_until until,
                     struct mc_err *err)
{
    struct text_answer *text = (struct text_answer *)answer;
    (void)until;
    (void)err;
    size_t left = text->length - text->given;
    *length = left < room ? left : room;
    memcpy(out, text->body + text->given, *length);
    text->given += *length;
    return 0;
}

static void text_free(struct mc_answer *answer)
{
    struct text_answer *text = (struct text_answer *)answer;
    free(text->body);
    free(text);
}

struct mc_answer *mc_answer_of_text(int status, const char *content_type, char *body)
{
    static const struct mc_answer_ops ops = {.read = text_read, .free = text_free};
    struct text_answer *text = mc_alloc(1, sizeof *text);
    text->answer = (struct mc_answer){&ops, status, mc_strdup(content_type), 1};
    text->body = body;
    text->length = strlen(body);
    return &text->answer;
}

struct file_answer {
    struct mc_answer answer;
    int fd;
};

static int file_read(struct mc_answer *answer, char *out, size_t room, size_t *length, struct mc_until until,
                     struct mc_err *err)
{
    (void)until;
    ssize_t n = read(((struct file_answer *)answer)->fd, out, room);
    if (n < 0) {
        return mc_fail_errno(err, errno, "reading a recorded answer");
    }
    *length = (size_t)n;
    return 0;
}

static void file_free(struct mc_answer *answer)
{
    close(((struct file_answer *)answer)->fd);
    free(answer);
}

struct mc_answer *mc_answer_of_file(int status, const char *content_type, int fd)
{
    static const struct mc_answer_ops ops = {.read = file_read, .free = file_free};
    struct file_answer *file = mc_alloc(1, sizeof *file);
    file->answer = (struct mc_answer){&ops, status, mc_strdup(content_type), 1};
    file->fd = fd;
    return &file->answer;
}
