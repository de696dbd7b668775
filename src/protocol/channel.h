/*
 * The controller's end of one program.
 *
 * It lies over a `struct mc_duplex`, so that the engine's attached stream, a pair of pipes or a socket pair in a test
 * all serve. Commands go out; checked notices come in, with `seq` without a gap. Each line that comes in is given to
 * the recorder first, bad ones too.
 *
 * Several programs at once: call mc_channel_try() on each until it answers 0, then poll() the descriptors.
 *
 * Ownership: the channel borrows the duplex and the callbacks' payload, which outlive it, and owns its buffer. A
 * notice given out is the caller's (mc_notice_release()).
 */
#pragma once

#include <stddef.h>

#include "base/until.h"
#include "protocol/frame.h"
#include "protocol/lines.h"

enum mc_output { MC_STDOUT = 1, MC_STDERR = 2 };

struct mc_duplex_ops {
    /* Readable when more may have come; -1 where there is none (then only what is buffered can be read). */
    int (*fd)(void *self);
    /* Reads without waiting, at most `room` bytes of one of the two streams. *length is 0 where nothing is there now.
     * MC_CLOSED at the end of the stream. */
    int (*read_some)(void *self, enum mc_output *stream, void *bytes, size_t room, size_t *length, struct mc_err *err);
    int (*write_all)(void *self, const void *bytes, size_t length, struct mc_until until, struct mc_err *err);
    /* The program sees the end of its standard input; reading goes on. */
    int (*close_write)(void *self, struct mc_err *err);
};

struct mc_duplex {
    const struct mc_duplex_ops *ops;
    void *self;
};

struct mc_channel_hooks {
    /* A line as it came, without its newline, before it is acted on. `bad` says what is wrong with it, NULL for a good
     * one. Failing ends the read with that error. NULL: not recorded. */
    int (*record)(void *payload, const char *line, size_t length, const struct mc_err *bad, struct mc_err *err);
    /* A piece of standard error. NULL: dropped. */
    int (*on_stderr)(void *payload, const void *bytes, size_t length, struct mc_err *err);
    void *payload;
};

struct mc_channel {
    const char *name; /* in errors: "harness", "provider", "sidecar" */
    enum mc_role role;
    struct mc_duplex duplex;
    struct mc_channel_hooks hooks;
    int64_t last_seq;
    struct mc_lines lines;
    int closed;
    /* Once a frame was bad the channel gives nothing but that error: what follows it cannot be trusted. */
    int broken;
    struct mc_err why;
};

/* `last_seq` is the last one already recorded, 0 for a new journal. */
void mc_channel_init(struct mc_channel *channel, const char *name, enum mc_role role, struct mc_duplex duplex,
                     struct mc_channel_hooks hooks, int64_t last_seq);
void mc_channel_release(struct mc_channel *channel);

int mc_channel_send(struct mc_channel *channel, const struct mc_command *command, struct mc_until until,
                    struct mc_err *err) MC_CHECKED;
int mc_channel_close_write(struct mc_channel *channel, struct mc_err *err) MC_CHECKED;

/* For poll() with POLLIN, -1 once closed. */
int mc_channel_fd(const struct mc_channel *channel);
/* True where a whole line has been read already and poll() would not tell. */
int mc_channel_buffered(struct mc_channel *channel);

/* 1 with the next notice, 0 where none is there now; MC_CLOSED at the end, MC_PROTOCOL for a bad frame. */
int mc_channel_try(struct mc_channel *channel, struct mc_notice *out, struct mc_err *err) MC_CHECKED;
/* Waits for the next notice: 0, or as above, or MC_TIMEOUT or MC_CANCELLED. */
int mc_channel_next(struct mc_channel *channel, struct mc_notice *out, struct mc_until until,
                    struct mc_err *err) MC_CHECKED;
