/*
 * Running a program in a container that runs.
 *
 * An engine does not stop a program when its caller goes away. So that a hung one cannot outlive its deadline, the
 * program is run under the container's own `timeout -s KILL` where the image has it.
 *
 * Ownership: the specification is borrowed; output goes into the caller's buffers.
 */
#pragma once

#include "base/buf.h"
#include "engine/engine.h"

struct mc_exec {
    const char *const *argv; /* NULL-ended */
    const char *const *env;  /* "NAME=value", NULL-ended, added to the container's; NULL: none */
    const char *user;        /* NULL: the container's */
    const char *workdir;
    int kill_after_s; /* killed inside after so many seconds; 0: never */
};

struct mc_exec_result {
    int exit_code;    /* 126 or 127 where the program is not there (engines differ) */
    int killed;       /* it was ended by kill_after_s */
    uint64_t dropped; /* bytes of output beyond the buffers' maxima */
};

/* Runs it to its end. `out` and `errors` (each may be NULL) are added to, up to their maxima. */
int mc_exec_run(struct mc_engine *engine, const char *container, const struct mc_exec *exec, struct mc_buf *out,
                struct mc_buf *errors, struct mc_exec_result *result, struct mc_until until,
                struct mc_err *err) MC_CHECKED;
