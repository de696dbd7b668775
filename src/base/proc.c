#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

struct pipes {
    int out[2];
    int errors[2];
};

static void close_pipes(struct pipes *p)
{
    mc_close_at(&p->out[0]);
    mc_close_at(&p->out[1]);
    mc_close_at(&p->errors[0]);
    mc_close_at(&p->errors[1]);
}

static int spawn(const struct mc_proc *proc, struct pipes *p, pid_t *pid, struct mc_err *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, p->out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, p->errors[1], STDERR_FILENO);
    if (proc->dir) {
        posix_spawn_file_actions_addchdir_np(&actions, proc->dir);
    }
    /* A group of its own, so that whatever it starts ends with it; and SIGPIPE, which memcal ignores, as usual. */
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    char *const *argv = (char *const *)(uintptr_t)proc->argv;
    int rc = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return rc == 0 ? 0 : mc_fail_errno(err, rc, "starting the program %s", argv[0]);
}

/* One read; *fd is closed at the end of the stream. */
static int take(const struct mc_proc *proc, int *fd, int is_error, struct mc_err *err)
{
    char bytes[16384];
    ssize_t n = read(*fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return 0;
    }
    if (n <= 0) {
        mc_close_at(fd);
        return 0;
    }
    size_t length = (size_t)n;
    if (is_error) {
        if (proc->errors && mc_buf_add(proc->errors, bytes, length) != 0) {
            /* Standard error is for people: what passes its maximum is dropped, as the header says. */
        }
        return 0;
    }
    if (proc->on_output) {
        return proc->on_output(proc->payload, bytes, length, err);
    }
    if (proc->out && mc_buf_add(proc->out, bytes, length) != 0) {
        return mc_fail(err, MC_LIMIT, "the output of %s is larger than allowed", proc->argv[0]);
    }
    return 0;
}

static int has_exited(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Until both streams end; or the program has, where something that it left behind still holds them. */
static int pump(const struct mc_proc *proc, pid_t pid, struct pipes *p, struct mc_until until, struct mc_err *err)
{
    int exited = 0;
    while (p->out[0] >= 0 || p->errors[0] >= 0) {
        int rc = mc_check(until, proc->argv[0], err);
        if (rc != 0) {
            return rc;
        }
        int64_t left = mc_left_ms(until);
        struct pollfd fds[3] = {{.fd = p->out[0], .events = POLLIN},
                                {.fd = p->errors[0], .events = POLLIN},
                                {.fd = until.cancel ? until.cancel->fd : -1, .events = POLLIN}};
        int n = poll(fds, 3, left > 200 ? 200 : (int)left);
        if (n < 0 && errno != EINTR) {
            return mc_fail_errno(err, errno, "waiting for %s", proc->argv[0]);
        }
        if (n == 0 && exited) {
            kill(-pid, SIGKILL); /* what it left behind; it is not reaped yet, so the group is still its own */
            return 0;
        }
        exited = n == 0 && has_exited(pid);
        if (n > 0 && fds[0].revents && (rc = take(proc, &p->out[0], 0, err)) != 0) {
            return rc;
        }
        if (n > 0 && fds[1].revents && (rc = take(proc, &p->errors[0], 1, err)) != 0) {
            return rc;
        }
    }
    return 0;
}

/* Waits for the program within `until`, then kills its group; the status is always collected. 1: it ended itself. */
static int reap(pid_t pid, struct mc_until until, int *status)
{
    struct mc_err ignored;
    for (;;) {
        pid_t done = waitpid(pid, status, WNOHANG);
        if (done == pid) {
            return 1;
        }
        if (mc_pause(until, 5, "waiting for a program", &ignored) != 0) {
            kill(-pid, SIGKILL);
            while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
            }
            return 0;
        }
    }
}

int mc_proc_run(const struct mc_proc *proc, struct mc_until until, struct mc_err *err)
{
    struct pipes p = {{-1, -1}, {-1, -1}};
    if (pipe2(p.out, O_CLOEXEC) != 0 || pipe2(p.errors, O_CLOEXEC) != 0) {
        int rc = mc_fail_errno(err, errno, "making pipes for %s", proc->argv[0]);
        close_pipes(&p);
        return rc;
    }
    pid_t pid = -1;
    int rc = spawn(proc, &p, &pid, err);
    mc_close_at(&p.out[1]);
    mc_close_at(&p.errors[1]);
    if (rc == 0) {
        rc = pump(proc, pid, &p, until, err);
        if (rc != 0) {
            kill(-pid, SIGKILL); /* the program may be gone and its children not */
        }
        int status = 0;
        int ended = reap(pid, rc == 0 ? until : mc_within(0, NULL), &status);
        if (rc == 0 && !ended) {
            rc = mc_check(until, proc->argv[0], err);
            rc = rc ? rc : mc_fail(err, MC_TIMEOUT, "%s did not end", proc->argv[0]);
        } else if (rc == 0 && WIFSIGNALED(status)) {
            rc = mc_fail(err, MC_INTERNAL, "%s was ended by signal %d", proc->argv[0], WTERMSIG(status));
        } else if (rc == 0 && WEXITSTATUS(status) != 0) {
            rc = mc_fail(err, MC_INTERNAL, "%s exited with %d", proc->argv[0], WEXITSTATUS(status));
        }
    }
    close_pipes(&p);
    return rc;
}

int mc_proc_found(const char *program)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        MC_AUTOFREE char *dir = mc_strndup(path, length);
        MC_AUTOFREE char *full = mc_path_join(length ? dir : ".", program);
        if (access(full, X_OK) == 0) {
            return 1;
        }
        path += length + (path[length] == ':');
    }
    return 0;
}
