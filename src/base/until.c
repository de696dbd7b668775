#include "base/until.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

int mc_cancel_init(struct mc_cancel *cancel, struct mc_err *err)
{
    atomic_init(&cancel->level, 0);
    cancel->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (cancel->fd < 0) {
        return mc_fail_errno(err, errno, "making the event that cancels a run");
    }
    return 0;
}

void mc_cancel_release(struct mc_cancel *cancel)
{
    if (cancel->fd >= 0) {
        close(cancel->fd);
    }
    cancel->fd = -1;
}

void mc_cancel_raise(struct mc_cancel *cancel)
{
    int saved = errno;
    uint64_t one = 1;
    atomic_fetch_add(&cancel->level, 1);
    if (write(cancel->fd, &one, sizeof one) < 0) {
        /* The counter is full, so the descriptor is readable already. */
    }
    errno = saved;
}

int64_t mc_monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct mc_until mc_within(int64_t milliseconds, const struct mc_cancel *cancel)
{
    static const int64_t longest = INT64_MAX / 4; /* so that no sum of times overflows */
    int64_t wait = milliseconds < longest ? milliseconds : longest;
    return (struct mc_until){.at_ms = mc_monotonic_ms() + wait, .cancel = cancel};
}

struct mc_until mc_sooner(struct mc_until until, int64_t milliseconds)
{
    struct mc_until other = mc_within(milliseconds, until.cancel);
    return other.at_ms < until.at_ms ? other : until;
}

int64_t mc_left_ms(struct mc_until until)
{
    int64_t left = until.at_ms - mc_monotonic_ms();
    return left > 0 ? left : 0;
}

int mc_check(struct mc_until until, const char *what, struct mc_err *err)
{
    if (until.cancel && atomic_load(&until.cancel->level) > 0) {
        return mc_fail(err, MC_CANCELLED, "%s: cancelled", what);
    }
    if (mc_left_ms(until) == 0) {
        return mc_fail(err, MC_TIMEOUT, "%s: no answer in the time allowed", what);
    }
    return 0;
}

/* Waits on up to one descriptor beside the cancel token; `limit_ms` may end the wait early without error. */
static int wait_on(int fd, short events, struct mc_until until, int64_t limit_ms, const char *what, struct mc_err *err,
                   int *ready)
{
    int64_t end = mc_monotonic_ms() + limit_ms;
    *ready = 0;
    for (;;) {
        int rc = mc_check(until, what, err);
        if (rc != 0) {
            return rc;
        }
        int64_t left = mc_left_ms(until);
        int64_t own = end - mc_monotonic_ms();
        if (own <= 0) {
            return 0;
        }
        int64_t wait = left < own ? left : own;
        struct pollfd fds[2] = {{.fd = fd, .events = events, .revents = 0},
                                {.fd = until.cancel ? until.cancel->fd : -1, .events = POLLIN, .revents = 0}};
        int n = poll(fds, 2, wait > INT_MAX ? INT_MAX : (int)wait);
        if (n < 0 && errno != EINTR) {
            return mc_fail_errno(err, errno, "%s: waiting", what);
        }
        if (n > 0 && fds[0].revents != 0) {
            *ready = 1;
            return 0;
        }
    }
}

int mc_pause(struct mc_until until, int64_t milliseconds, const char *what, struct mc_err *err)
{
    int ready;
    return wait_on(-1, 0, until, milliseconds, what, err, &ready);
}

int mc_poll_fd(int fd, short events, struct mc_until until, const char *what, struct mc_err *err)
{
    int ready = 0;
    int rc = wait_on(fd, events, until, INT64_MAX / 4, what, err, &ready);
    return rc;
}
