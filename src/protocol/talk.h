/*
 * What every conversation with a program has in common: a greeting, a goodbye, and waiting for an answer while whatever
 * else happens is looked after.
 *
 * Ownership: a talk borrows its channel and payload. Notices given out are the caller's (mc_notice_release()).
 */
#pragma once

#include "protocol/channel.h"

/* Gives the next notice of this talk's own program, waiting as long as `until` allows, while the caller's other
 * programs are looked after. May fail with any code of its own; MC_DENIED means that the boundary was broken. */
typedef int mc_talk_next_fn(void *payload, struct mc_notice *out, struct mc_until until, struct mc_err *err);

struct mc_talk {
    struct mc_channel *channel;
    mc_talk_next_fn *next;
    void *payload;
};

int mc_talk_send(const struct mc_talk *talk, const struct mc_command *command, struct mc_until until,
                 struct mc_err *err) MC_CHECKED;

/* The next notice that is not an event (events are recorded as they pass). */
int mc_talk_answer(const struct mc_talk *talk, struct mc_notice *out, struct mc_until until,
                   struct mc_err *err) MC_CHECKED;

/* MC_PROTOCOL: the program said `notice` where something else was due. */
int mc_talk_unexpected(const struct mc_talk *talk, const struct mc_notice *notice, const char *due, struct mc_err *err);

/* Waits for `ready`, which is given out. */
int mc_talk_ready(const struct mc_talk *talk, struct mc_notice *ready, struct mc_until until,
                  struct mc_err *err) MC_CHECKED;
/* Sends `initialize` and does the same. */
int mc_talk_hello(const struct mc_talk *talk, const struct mc_command *initialize, struct mc_notice *ready,
                  struct mc_until until, struct mc_err *err) MC_CHECKED;

/* Sends `shutdown` and waits for `bye`, or for the end of the stream, which is a goodbye too. */
int mc_talk_goodbye(const struct mc_talk *talk, struct mc_until until, struct mc_err *err) MC_CHECKED;
