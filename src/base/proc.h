/*
 * Running another program: by argument list, never through a shell.
 *
 * Ownership: arguments are borrowed; output buffers are the caller's.
 */
#pragma once

#include "base/buf.h"
#include "base/until.h"

struct mc_proc {
    const char *const *argv; /* NULL-ended; argv[0] is looked up in PATH */
    const char *dir;         /* working folder, NULL: this one */
    /* Called with each piece of standard output as it comes; NULL: collected in `out`. Non-zero stops the program. */
    int (*on_output)(void *payload, const void *bytes, size_t length, struct mc_err *err);
    void *payload;
    struct mc_buf *out;    /* NULL: dropped */
    struct mc_buf *errors; /* standard error; what passes its maximum is dropped; NULL: dropped */
};

/* Runs the program to its end. 0 where it exited with 0. At the deadline or on cancel it and its group are killed. */
int mc_proc_run(const struct mc_proc *proc, struct mc_until until, struct mc_err *err) MC_CHECKED;

/* True where `program` is found in PATH. */
int mc_proc_found(const char *program);
