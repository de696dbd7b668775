/*
 * A program of the protocol for tests: a thread at the other end of a socket pair that follows a script.
 *
 * Ownership: fake_program_start() fills a struct that fake_program_stop() releases; the script is borrowed.
 */
#pragma once

#include <pthread.h>

#include "protocol/talk.h"

/* One step: wait for a command, wait a while, say something. */
struct fake_step {
    const char *wait; /* type of the command that must come now; NULL: none */
    int delay_ms;
    const char *say; /* a frame as JSON; `seq` is put in; NULL: nothing */
    const char *raw; /* a line as it stands */
    int close;       /* ends the stream */
};

struct fake_program {
    const struct fake_step *steps; /* ends with an empty one */
    int fds[2];                    /* ours, the program's */
    pthread_t thread;
    long long seq;
    char *wrong; /* what did not go by the script; NULL: nothing */
    struct mc_channel channel;
    struct mc_talk talk;
    int deny_at; /* the talk's next() number so and so fails with MC_DENIED; 0: none */
    int calls;
};

void fake_program_start(struct fake_program *program, enum mc_role role, const struct fake_step *steps);
/* Waits until the script has been followed, and fails the test where it was not. */
void fake_program_stop(struct fake_program *program);
