/*
 * memcal-enter: process 1 of every container of a life.
 *
 *     memcal-enter [--listen-tcp PORT=UNIXPATH]... [--listen-unix UNIXPATH=PORT]... [--env K=V]... [--report FILE]
 *                  -- COMMAND ARGS...
 *
 * It forwards sockets (relay.h), runs the container's own command, passes signals on to it, reaps what is orphaned, and
 * ends as the command ends: with its status, or 128 + the signal that killed it. 125: it could not start itself; 126:
 * the command cannot be run; 127: it is not there. Links only the C library: static, for any image.
 *
 * An exit status alone does not say who ended the command. FILE does: "killed by signal N" where the command was killed
 * while process 1 lived, as by the kernel when memory runs out; "passed on signal N" where somebody outside sent one.
 * Whoever kills the container from outside kills process 1, and leaves neither line.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enter/relay.h"

enum { EXIT_SELF = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_THERE = 127 };

static const int passed_on[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT};

static const char usage[] = "usage: memcal-enter [--listen-tcp PORT=UNIXPATH]... [--listen-unix UNIXPATH=PORT]... "
                            "[--env NAME=VALUE]... [--report FILE] -- COMMAND [ARG]...\n";

static int parse_port(const char *text, size_t length)
{
    char *end = NULL;
    long port = strtol(text, &end, 10);
    return end == text + length && length > 0 && text[0] >= '0' && text[0] <= '9' && port >= 1 && port <= 65535
               ? (int)port
               : 0;
}

/* PORT=UNIXPATH or UNIXPATH=PORT; a rule that is right is cut at the '='. */
static int parse_rule(int listen_tcp, char *text, struct rule *out)
{
    char *equals = listen_tcp ? strchr(text, '=') : strrchr(text, '=');
    if (!equals) {
        return -1;
    }
    *equals = '\0';
    const char *port = listen_tcp ? text : equals + 1;
    *out = (struct rule){.listen_tcp = listen_tcp, .port = parse_port(port, strlen(port))};
    out->path = listen_tcp ? equals + 1 : text;
    struct sockaddr_un address;
    if (out->port > 0 && out->path[0] == '/' && strlen(out->path) < sizeof address.sun_path) {
        return 0;
    }
    *equals = '=';
    return -1;
}

static int parse_option(const char *name, char *value, struct rule *rules, size_t *count, const char **report)
{
    if (strcmp(name, "--report") == 0) {
        *report = value;
        return 0;
    }
    if (strcmp(name, "--env") == 0) {
        char *equals = strchr(value, '=');
        return equals && equals != value ? putenv(value) : -1;
    }
    int listen_tcp = strcmp(name, "--listen-tcp") == 0;
    if ((!listen_tcp && strcmp(name, "--listen-unix") != 0) || *count == RULES_MAX) {
        return -1;
    }
    return parse_rule(listen_tcp, value, &rules[(*count)++]);
}

/* The index of COMMAND in argv, 0 after a sentence on standard error. */
static int parse(int argc, char **argv, struct rule *rules, size_t *count, const char **report)
{
    int i = 1;
    while (i + 1 < argc && strcmp(argv[i], "--") != 0) {
        if (parse_option(argv[i], argv[i + 1], rules, count, report) != 0) {
            fprintf(stderr, "memcal-enter: wrong option %s %s\n%s", argv[i], argv[i + 1], usage);
            return 0;
        }
        i += 2;
    }
    if (i + 1 >= argc) {
        fprintf(stderr, "memcal-enter: no command was given\n%s", usage);
        return 0;
    }
    return i + 1;
}

static pid_t start(char **argv, const sigset_t *original)
{
    pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    sigprocmask(SIG_SETMASK, original, NULL);
    execvp(argv[0], argv);
    int cause = errno;
    fprintf(stderr, "memcal-enter: running %s: %s\n", argv[0], strerror(cause));
    _exit(cause == ENOENT || cause == ENOTDIR ? EXIT_NOT_THERE : EXIT_CANNOT_RUN);
}

static void report(int fd, const char *what, int number)
{
    if (fd >= 0 && dprintf(fd, "%s signal %d\n", what, number) < 0) {
        fprintf(stderr, "memcal-enter: %s signal %d: the report cannot be written: %s\n", what, number,
                strerror(errno));
    }
}

/* Reaps whatever has ended; the command's exit status once it has, else -1. */
static int reap(pid_t command, int report_fd)
{
    int status = 0;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == command && WIFSIGNALED(status)) {
            report(report_fd, "killed by", WTERMSIG(status));
            return 128 + WTERMSIG(status);
        }
        if (pid == command) {
            return WEXITSTATUS(status);
        }
    }
    return -1;
}

/* Passes the signals on that have come; the command's exit status once it has ended, else -1. */
static int take_signals(int fd, pid_t command, int report_fd)
{
    struct signalfd_siginfo info;
    int status = -1;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGCHLD) {
            report(report_fd, "passed on", (int)info.ssi_signo);
            kill(command, (int)info.ssi_signo);
        } else if (status < 0) {
            status = reap(command, report_fd);
        }
    }
    return status;
}

static int supervise(struct relay *relay, int signals, pid_t command, int report_fd)
{
    for (;;) {
        int wait_ms = relay_work(relay);
        struct pollfd fds[2] = {{.fd = signals, .events = POLLIN, .revents = 0},
                                {.fd = relay_fd(relay), .events = POLLIN, .revents = 0}};
        if (poll(fds, 2, wait_ms) > 0 && fds[0].revents) {
            int status = take_signals(signals, command, report_fd);
            if (status >= 0) {
                return status;
            }
        }
    }
}

int main(int argc, char **argv)
{
    static struct rule rules[RULES_MAX];
    size_t count = 0;
    const char *report_path = NULL;
    closefrom(STDERR_FILENO + 1);
    int command = parse(argc, argv, rules, &count, &report_path);
    if (command == 0) {
        return EXIT_SELF;
    }
    int report_fd = report_path ? open(report_path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644) : -1;
    if (report_path && report_fd < 0) {
        fprintf(stderr, "memcal-enter: opening %s: %s\n", report_path, strerror(errno));
        return EXIT_SELF;
    }
    sigset_t watched;
    sigset_t original;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) {
        sigaddset(&watched, passed_on[i]);
    }
    sigprocmask(SIG_BLOCK, &watched, &original);
    int signals = signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
    static struct relay *relay; /* for the life of the process, so that leak checkers find it */
    relay = relay_open(rules, count);
    if (signals < 0 || !relay) {
        return EXIT_SELF;
    }
    pid_t pid = start(argv + command, &original);
    int status = EXIT_SELF;
    if (pid < 0) {
        fprintf(stderr, "memcal-enter: starting %s: %s\n", argv[command], strerror(errno));
    } else {
        status = supervise(relay, signals, pid, report_fd);
    }
    relay_close(relay);
    return status;
}
