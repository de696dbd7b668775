#include "run/program.h"

#include <stdlib.h>
#include <string.h>

static int stream_fd(void *self)
{
    const struct mc_program *program = self;
    return mc_stream_fd(program->stream);
}

/* A piece's bytes are the stream's own until its next call, so what does not fit is copied. */
static int stream_read(void *self, enum mc_output *output, void *bytes, size_t room, size_t *length, struct mc_err *err)
{
    struct mc_program *program = self;
    *length = 0;
    if (program->rest.len > 0) {
        *length = program->rest.len < room ? program->rest.len : room;
        *output = program->rest_of;
        memcpy(bytes, program->rest.data, *length);
        mc_buf_drop(&program->rest, *length);
        return 0;
    }
    struct mc_piece piece;
    int rc = mc_stream_read(program->stream, &piece, err);
    if (rc != 0 || piece.kind == MC_PIECE_NONE) {
        return rc;
    }
    if (piece.kind == MC_PIECE_END) {
        return mc_fail(err, MC_CLOSED, "the %s has ended", program->channel.name);
    }
    *output = piece.kind == MC_PIECE_STDERR ? MC_STDERR : MC_STDOUT;
    *length = piece.length < room ? piece.length : room;
    memcpy(bytes, piece.bytes, *length);
    program->rest_of = *output;
    mc_buf_put(&program->rest, piece.bytes + *length, piece.length - *length);
    return 0;
}

static int stream_write(void *self, const void *bytes, size_t length, struct mc_until until, struct mc_err *err)
{
    const struct mc_program *program = self;
    return mc_stream_write(program->stream, bytes, length, until, err);
}

static int stream_end(void *self, struct mc_err *err)
{
    const struct mc_program *program = self;
    return mc_stream_end_input(program->stream, err);
}

static const struct mc_duplex_ops ops = {stream_fd, stream_read, stream_write, stream_end};

int mc_program_create(struct mc_program *program, struct mc_engine *engine, const struct mc_container_spec *spec,
                      enum mc_role role, struct mc_channel_hooks hooks, struct mc_until until, struct mc_err *err)
{
    memset(program, 0, sizeof *program);
    program->engine = engine;
    program->rest = MC_BUF_OWN;
    struct mc_duplex duplex = {&ops, program};
    mc_channel_init(&program->channel, mc_role_name(role), role, duplex, hooks, 0);
    int rc = mc_container_create(engine, spec, &program->container, until, err);
    return rc ? mc_wrap(err, "starting the %s", mc_role_name(role)) : 0;
}

int mc_program_start(struct mc_program *program, struct mc_until until, struct mc_err *err)
{
    int rc = mc_container_attach(program->engine, program->container, until, &program->stream, err);
    rc = rc ? rc : mc_container_start(program->engine, program->container, until, err);
    if (rc != 0) {
        return mc_wrap(err, "starting the %s", program->channel.name);
    }
    program->started = 1;
    program->open = 1;
    return 0;
}

void mc_program_release(struct mc_program *program)
{
    mc_channel_release(&program->channel);
    mc_stream_close(program->stream);
    mc_buf_release(&program->rest);
    free(program->container);
    memset(program, 0, sizeof *program);
}
