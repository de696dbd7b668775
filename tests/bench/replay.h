/*
 * The same requests again, by a client that does nothing else: libcurl for calls, a plain socket for each stream, no
 * JSON read beyond a container's ID, nothing kept.
 *
 * It is honest where it has to wait: each call's answer is read to its end and must have the recorded status before the
 * next call is made; and before a frame is written, a stream attached or a container started, all frames have come that
 * had come then (a program is not spoken to before it has answered, and is set up after the one that it needs). It
 * waits for nothing else.
 *
 * Ownership: the recording is borrowed.
 */
#pragma once

#include "bench/record.h"

struct replay {
    const struct recording *recording;
    const char *socket; /* the engine's */
    const char *old_id; /* the text in the recording's names, labels and frames */
    const char *new_id; /* what takes its place, of the same length */
    int essential;      /* requests that only look at one object (GET .../json, GET /volumes/NAME) are left out */
};

struct replayed {
    double ms; /* from the first request to the last answer */
    size_t calls;
};

/* Dies where an answer is not as recorded, or does not come within a minute. */
struct replayed replay_run(const struct replay *replay);

/* True for a request that asks about one object and changes nothing. */
int replay_is_look(const struct act *act);
