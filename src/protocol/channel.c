#include "protocol/channel.h"

#include <poll.h>
#include <string.h>

#include "base/mem.h"

void mc_channel_init(struct mc_channel *channel, const char *name, enum mc_role role, struct mc_duplex duplex,
                     struct mc_channel_hooks hooks, int64_t last_seq)
{
    *channel = (struct mc_channel){
        .name = name, .role = role, .duplex = duplex, .hooks = hooks, .last_seq = last_seq, .closed = 0, .broken = 0};
    mc_lines_init(&channel->lines, MC_FRAME_MAX);
}

void mc_channel_release(struct mc_channel *channel)
{
    mc_lines_release(&channel->lines);
}

int mc_channel_send(struct mc_channel *channel, const struct mc_command *command, struct mc_until until,
                    struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf line = MC_BUF_OWN;
    int rc = mc_command_encode(command, &line, err);
    if (rc == 0) {
        rc = channel->duplex.ops->write_all(channel->duplex.self, line.data, line.len, until, err);
    }
    if (command->type == MC_CMD_SECRETS && line.data) {
        explicit_bzero(line.data, line.len);
    }
    return rc;
}

int mc_channel_close_write(struct mc_channel *channel, struct mc_err *err)
{
    return channel->duplex.ops->close_write(channel->duplex.self, err);
}

int mc_channel_fd(const struct mc_channel *channel)
{
    return channel->closed ? -1 : channel->duplex.ops->fd(channel->duplex.self);
}

int mc_channel_buffered(struct mc_channel *channel)
{
    return channel->broken || mc_lines_ready(&channel->lines);
}

/* Records a bad line and closes the channel to whatever follows it. */
static int refuse(struct mc_channel *channel, const struct mc_line *line, struct mc_err *err)
{
    channel->broken = 1;
    mc_wrap(err, "the %s broke the protocol", channel->name);
    channel->why = *err;
    if (channel->hooks.record && line->text) {
        int rc = channel->hooks.record(channel->hooks.payload, line->text, line->length, &channel->why, err);
        if (rc != 0) {
            return rc;
        }
    }
    *err = channel->why;
    return err->code;
}

static int accept_line(struct mc_channel *channel, const struct mc_line *line, struct mc_notice *out,
                       struct mc_err *err)
{
    int rc = mc_notice_decode(line->text, line->length, channel->role, out, err);
    if (rc != 0) {
        return refuse(channel, line, err);
    }
    if (out->seq != channel->last_seq + 1) {
        mc_fail(err, MC_PROTOCOL, "frame %s has seq %lld, expected %lld: frames were lost or repeated",
                mc_notice_name(out->type), (long long)out->seq, (long long)channel->last_seq + 1);
        mc_notice_release(out);
        return refuse(channel, line, err);
    }
    if (channel->hooks.record) {
        rc = channel->hooks.record(channel->hooks.payload, line->text, line->length, NULL, err);
        if (rc != 0) {
            mc_notice_release(out);
            return rc;
        }
    }
    channel->last_seq = out->seq;
    return 1;
}

/* Reads one piece: 1 where something came, 0 where nothing is there now. At the end of the stream MC_CLOSED. */
static int pump(struct mc_channel *channel, struct mc_err *err)
{
    char bytes[16384];
    size_t length = 0;
    enum mc_output stream = MC_STDOUT;
    int rc = channel->duplex.ops->read_some(channel->duplex.self, &stream, bytes, sizeof bytes, &length, err);
    if (rc == MC_CLOSED) {
        channel->closed = 1;
        struct mc_line rest = {NULL, 0};
        return mc_lines_end(&channel->lines, &rest, err) != 0 ? refuse(channel, &rest, err) : MC_CLOSED;
    }
    if (rc != 0) {
        return mc_wrap(err, "reading from the %s", channel->name);
    }
    if (length > 0 && stream == MC_STDOUT) {
        mc_lines_feed(&channel->lines, bytes, length);
    } else if (length > 0 && channel->hooks.on_stderr) {
        rc = channel->hooks.on_stderr(channel->hooks.payload, bytes, length, err);
    }
    return rc != 0 ? rc : length > 0;
}

int mc_channel_try(struct mc_channel *channel, struct mc_notice *out, struct mc_err *err)
{
    for (;;) {
        if (channel->broken) {
            *err = channel->why;
            return err->code;
        }
        struct mc_line line = {NULL, 0};
        int rc = mc_lines_next(&channel->lines, &line, err);
        if (rc != 0) {
            return rc < 0 ? refuse(channel, &line, err) : accept_line(channel, &line, out, err);
        }
        rc = channel->closed ? MC_CLOSED : pump(channel, err);
        if (rc == MC_CLOSED) {
            return mc_fail(err, MC_CLOSED, "the %s closed its output", channel->name);
        }
        if (rc <= 0) {
            return rc;
        }
    }
}

int mc_channel_next(struct mc_channel *channel, struct mc_notice *out, struct mc_until until, struct mc_err *err)
{
    MC_AUTOFREE char *what = mc_strf("waiting for the %s", channel->name);
    for (;;) {
        int rc = mc_channel_try(channel, out, err);
        if (rc != 0) {
            return rc > 0 ? 0 : rc;
        }
        rc = mc_poll_fd(mc_channel_fd(channel), POLLIN, until, what, err);
        if (rc != 0) {
            return rc;
        }
    }
}
