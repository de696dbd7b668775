#include "engine/exec.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/attach.h"
#include "engine/own.h"

#define POLL_MS 50

static json_t *strings(const char *const *texts)
{
    json_t *array = json_array();
    for (size_t i = 0; texts && texts[i]; i++) {
        json_array_append_new(array, json_string(texts[i]));
    }
    return array;
}

static json_t *exec_json(const struct mc_exec *exec, int guarded)
{
    json_t *argv = strings(exec->argv);
    if (guarded) {
        MC_AUTOFREE char *seconds = mc_strf("%d", exec->kill_after_s);
        json_t *all = json_pack("[s,s,s,s]", "timeout", "-s", "KILL", seconds);
        json_array_extend(all, argv);
        json_decref(argv);
        argv = all;
    }
    json_t *body = json_pack("{s:o,s:o,s:b,s:b,s:b,s:b}", "Cmd", argv, "Env", strings(exec->env), "AttachStdin", 0,
                             "AttachStdout", 1, "AttachStderr", 1, "Tty", 0);
    if (exec->user) {
        json_object_set_new(body, "User", json_string(exec->user));
    }
    if (exec->workdir) {
        json_object_set_new(body, "WorkingDir", json_string(exec->workdir));
    }
    return body;
}

static int create(struct mc_engine *engine, const char *container, const struct mc_exec *exec, int guarded,
                  const char *what, char **id, struct mc_until until, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf path = MC_BUF_OWN;
    mc_buf_puts(&path, "/containers/");
    mc_api_escape(&path, container);
    mc_buf_puts(&path, "/exec");
    MC_AUTOJSON json_t *body = exec_json(exec, guarded);
    MC_AUTOFREE char *text = mc_json_text(body);
    struct mc_api_call call = {
        .method = "POST", .path = mc_buf_text(&path), .what = what, .body = text, .length = strlen(text)};
    MC_AUTOJSON json_t *answer = NULL;
    int rc = mc_api_json(engine, &call, &answer, until, err);
    if (rc != 0) {
        return rc;
    }
    if (mc_api_text(answer, "Id")[0] == '\0') {
        return mc_fail(err, MC_PROTOCOL, "%s: the engine's answer names no ID", what);
    }
    *id = mc_strdup(mc_api_text(answer, "Id"));
    return 0;
}

/* One run: how, and where its output goes. */
struct run {
    const char *container;
    const struct mc_exec *exec;
    int guarded; /* under `timeout` */
    struct mc_buf *out;
    struct mc_buf *errors;
    struct mc_buf note; /* the beginning of both, to see why nothing ran */
    struct mc_exec_result *result;
};

/* Adds as much as there is room for; what that was. */
static size_t keep(struct mc_buf *into, const struct mc_piece *piece)
{
    size_t room = into ? into->max - into->len : 0;
    size_t kept = piece->length < room ? piece->length : room;
    return kept > 0 && mc_buf_add(into, piece->bytes, kept) == 0 ? kept : 0;
}

/* Starts it and reads its output to the end. */
static int follow(struct mc_engine *engine, const char *id, const char *what, struct run *run, struct mc_until until,
                  struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_strf("/exec/%s/start", id);
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    int rc = mc_api_hijack(engine, path, "{\"Detach\":false,\"Tty\":false}", what, until, &stream, err);
    while (rc == 0) {
        struct mc_piece piece;
        rc = mc_stream_next(stream, &piece, until, err);
        if (rc != 0 || piece.kind == MC_PIECE_END) {
            break;
        }
        (void)keep(&run->note, &piece);
        run->result->dropped += piece.length - keep(piece.kind == MC_PIECE_STDERR ? run->errors : run->out, &piece);
    }
    return rc;
}

/* The end of the output is not yet the end of the program, for every engine. */
static int await_exit(struct mc_engine *engine, const char *id, const char *what, int *exit_code, struct mc_until until,
                      struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_strf("/exec/%s/json", id);
    struct mc_api_call call = {.method = "GET", .path = path, .what = what};
    for (;;) {
        MC_AUTOJSON json_t *state = NULL;
        int rc = mc_api_json(engine, &call, &state, until, err);
        if (rc != 0) {
            return rc;
        }
        const json_t *code = json_object_get(state, "ExitCode");
        if (json_is_false(json_object_get(state, "Running")) && json_is_integer(code)) {
            *exit_code = (int)json_integer_value(code);
            return 0;
        }
        rc = mc_pause(until, POLL_MS, what, err);
        if (rc != 0) {
            return rc;
        }
    }
}

static int run_once(struct mc_engine *engine, struct run *run, struct mc_until until, struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("running %s in container %s", run->exec->argv[0], run->container);
    MC_AUTOFREE char *id = NULL;
    *run->result = (struct mc_exec_result){.exit_code = -1};
    int rc = create(engine, run->container, run->exec, run->guarded, what, &id, until, err);
    if (rc == 0) {
        rc = follow(engine, id, what, run, until, err);
    }
    return rc == 0 ? await_exit(engine, id, what, &run->result->exit_code, until, err) : rc;
}

static void cut(struct mc_buf *buf, size_t length)
{
    if (buf && buf->len > length) {
        buf->len = length;
        buf->data[length] = '\0';
    }
}

/* Did the image have no `timeout`? By the runtimes' own words: a program that ends with 127 must not be run twice. */
static int lacks_timeout(int exit_code, const char *said)
{
    return (exit_code == 126 || exit_code == 127) && strstr(said, "executable file") && strstr(said, "not found") &&
           (strstr(said, "\"timeout\"") || strstr(said, "`timeout`"));
}

int mc_exec_run(struct mc_engine *engine, const char *container, const struct mc_exec *exec, struct mc_buf *out,
                struct mc_buf *errors, struct mc_exec_result *result, struct mc_until until, struct mc_err *err)
{
    struct run run = {.container = container,
                      .exec = exec,
                      .guarded = exec->kill_after_s > 0,
                      .out = out,
                      .errors = errors,
                      .note = MC_BUF_INIT(1024),
                      .result = result};
    size_t out_before = out ? out->len : 0;
    size_t errors_before = errors ? errors->len : 0;
    int64_t began = mc_monotonic_ms();
    int rc = run_once(engine, &run, until, err);
    if (rc == 0 && run.guarded && lacks_timeout(result->exit_code, mc_buf_text(&run.note))) {
        cut(out, out_before);
        cut(errors, errors_before);
        run.guarded = 0;
        rc = run_once(engine, &run, until, err);
    }
    mc_buf_release(&run.note);
    int64_t took = mc_monotonic_ms() - began;
    result->killed =
        rc == 0 && run.guarded && result->exit_code == 128 + 9 && took >= (int64_t)exec->kill_after_s * 1000;
    return rc;
}
