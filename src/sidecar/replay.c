#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "protocol/journal.h"
#include "sidecar/upstream.h"

/*
 * The replay upstream: answers as an earlier attempt was answered.
 *
 * Its folder is the `out` folder of that attempt's sidecar: the journal says which request got which response, the
 * bodies lie in objects/. The same request made again gets what it got again, in the same order; one that was never
 * made, or not so often, is an error and never a guess.
 */

enum { JOURNAL_MAX = 256 << 20 };

struct taken {
    struct mc_digest request;
    struct mc_digest response;
    int status;
    int stream;
    int used;
};

struct replay {
    struct mc_upstream upstream;
    pthread_mutex_t lock;
    char *dir;
    struct taken *calls;
    size_t count;
    size_t capacity;
};

static int take_call(void *payload, const char *line, size_t length, const struct mc_notice *notice, struct mc_err *err)
{
    struct replay *replay = payload;
    (void)line;
    (void)length;
    if (notice->type != MC_EVENT || notice->event.kind != MC_EVENT_MODEL_CALL) {
        return 0;
    }
    const struct mc_model_call *call = &notice->event.model_call;
    if (mc_streq(call->upstream, "none") || call->error) {
        return 0; /* refused by the gateway, or broken off: there is no answer to give again */
    }
    struct taken taken = {.status = (int)call->status, .stream = call->stream, .used = 0};
    int rc = mc_digest_parse(call->request, &taken.request, err);
    rc = rc != 0 ? rc : mc_digest_parse(call->response, &taken.response, err);
    if (rc == 0) {
        replay->calls = mc_grow(replay->calls, replay->count, &replay->capacity, sizeof *replay->calls);
        replay->calls[replay->count++] = taken;
    }
    return rc;
}

static struct taken *next_call(struct replay *replay, const struct mc_digest *request)
{
    struct taken *found = NULL;
    pthread_mutex_lock(&replay->lock);
    for (size_t i = 0; i < replay->count && !found; i++) {
        if (!replay->calls[i].used && mc_streq(replay->calls[i].request.hex, request->hex)) {
            found = &replay->calls[i];
            found->used = 1;
        }
    }
    pthread_mutex_unlock(&replay->lock);
    return found;
}

static int replay_ask(struct mc_upstream *upstream, const struct mc_ask *ask, struct mc_until until,
                      struct mc_answer **out, struct mc_err *err)
{
    struct replay *replay = (struct replay *)upstream;
    (void)until;
    const struct taken *call = next_call(replay, &ask->digest);
    if (!call) {
        MC_AUTOFREE char *message = mc_strf("the recording has no further answer to the request %s", ask->digest.hex);
        *out = mc_answer_of_text(424, "application/json", mc_error_body("not_recorded", message));
        return 0;
    }
    MC_AUTOFREE char *path = mc_strf("%s/objects/%s", replay->dir, call->response.hex);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return mc_fail_errno(err, errno, "opening the recorded answer %s", path);
    }
    const char *type = call->stream && call->status == 200 ? "text/event-stream" : "application/json";
    *out = mc_answer_of_file(call->status, type, fd);
    return 0;
}

static void replay_free(struct mc_upstream *upstream)
{
    struct replay *replay = (struct replay *)upstream;
    pthread_mutex_destroy(&replay->lock);
    free(replay->calls);
    free(replay->dir);
    free(replay);
}

int mc_upstream_replay(const struct mc_upstream_setup *setup, struct mc_upstream **out, struct mc_err *err)
{
    static const struct mc_upstream_ops ops = {.ask = replay_ask, .free = replay_free};
    struct replay *replay = mc_alloc(1, sizeof *replay);
    replay->upstream = (struct mc_upstream){&ops, "replay"};
    pthread_mutex_init(&replay->lock, NULL);
    replay->dir = mc_strdup(setup->replay);
    MC_AUTOFREE char *path = mc_path_join(setup->replay, "frames.jsonl");
    MC_AUTOBUF struct mc_buf journal = MC_BUF_INIT(JOURNAL_MAX);
    int rc = mc_fs_read(path, &journal, err);
    if (rc == 0) {
        rc = mc_journal_read(mc_buf_text(&journal), journal.len, MC_SIDECAR, 0, take_call, replay, err);
    }
    if (rc != 0) {
        replay_free(&replay->upstream);
        return mc_wrap(err, "reading the recording to replay");
    }
    *out = &replay->upstream;
    return 0;
}
