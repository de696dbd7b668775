/*
 * Bounded waits: a deadline on the monotonic clock and a way to be cancelled, carried together into everything that can
 * block. Nothing in memcal waits without one.
 *
 * Ownership: `struct mc_until` is passed by value and owns nothing; it borrows the cancel token, which outlives it.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"

/* Set from a signal handler or another thread; read everywhere. Its descriptor is readable once it is set. */
struct mc_cancel {
    int fd;           /* eventfd */
    atomic_int level; /* 0 no; 1 finish writing, clean up, leave; 2 leave at once */
};

int mc_cancel_init(struct mc_cancel *cancel, struct mc_err *err) MC_CHECKED;
void mc_cancel_release(struct mc_cancel *cancel);
/* Raises the level by one; safe in a signal handler. */
void mc_cancel_raise(struct mc_cancel *cancel);

struct mc_until {
    int64_t at_ms;                  /* monotonic milliseconds */
    const struct mc_cancel *cancel; /* NULL: cannot be cancelled (clean-up) */
};

/* Monotonic milliseconds; real, never the scenario's. */
int64_t mc_monotonic_ms(void);

struct mc_until mc_within(int64_t milliseconds, const struct mc_cancel *cancel);
/* The earlier of `until` and `milliseconds` from now, with the same cancel token. */
struct mc_until mc_sooner(struct mc_until until, int64_t milliseconds);

/* Milliseconds left, never negative. */
int64_t mc_left_ms(struct mc_until until);

/* 0, MC_CANCELLED or MC_TIMEOUT; fills *err saying that `what` was cancelled or took too long. */
int mc_check(struct mc_until until, const char *what, struct mc_err *err) MC_CHECKED;

/* Sleeps `milliseconds`, or less where the deadline or the cancel comes first; the result as mc_check(). */
int mc_pause(struct mc_until until, int64_t milliseconds, const char *what, struct mc_err *err) MC_CHECKED;

/* poll() on `fd` for `events` (POLLIN, POLLOUT) as long as `until` allows: 0 when ready, else as mc_check(). */
int mc_poll_fd(int fd, short events, struct mc_until until, const char *what, struct mc_err *err) MC_CHECKED;
