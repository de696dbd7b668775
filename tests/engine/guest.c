/*
 * The one program of the engine tests' image: static, so that the image holds nothing else and needs no registry.
 *
 *   echo              answers each line with "got: LINE"; a line "exit N" ends it with N, end of input with 0
 *   line N            one line of N times 'x' between "<" and ">"
 *   flood N           N numbered lines of 1,000 bytes, then "done" on standard error
 *   both              "out" on standard output, "err" on standard error
 *   exit N            ends with N
 *   eat               takes memory until it is killed
 *   stubborn          ignores SIGTERM; says "ready" first
 *   sleep N           sleeps N seconds
 *   write PATH        writes a file there, or says why not
 *   limits            prints its limits and who it is
 *   timeout -s KILL N argv...  as coreutils does (the image links "timeout" to this program)
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int echo(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        if (strncmp(line, "exit ", 5) == 0) {
            return (int)strtol(line + 5, NULL, 10);
        }
        printf("got: %s", line);
        fflush(stdout);
    }
    printf("end of input\n");
    return 0;
}

static int line(long count)
{
    putchar('<');
    for (long i = 0; i < count; i++) {
        putchar('x');
    }
    puts(">");
    return 0;
}

static int flood(long count)
{
    for (long i = 0; i < count; i++) {
        printf("%08ld %990s\n", i, "");
    }
    fflush(stdout);
    fprintf(stderr, "done\n");
    return 0;
}

static _Noreturn void eat(void)
{
    for (;;) {
        size_t size = (size_t)1 << 20;
        char *memory = malloc(size);
        if (memory) {
            memset(memory, 1, size);
        }
    }
}

static _Noreturn void stubborn(void)
{
    signal(SIGTERM, SIG_IGN);
    puts("ready");
    fflush(stdout);
    for (;;) {
        pause();
    }
}

static int limits(void)
{
    struct rlimit files;
    struct rlimit processes;
    struct rlimit core;
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NPROC, &processes);
    getrlimit(RLIMIT_CORE, &core);
    printf("nofile %lu nproc %lu core %lu uid %d gid %d root %s\n", (unsigned long)files.rlim_max,
           (unsigned long)processes.rlim_max, (unsigned long)core.rlim_max, (int)getuid(), (int)getgid(),
           access("/", W_OK) == 0 ? "writable" : "read-only");
    return 0;
}

/* argv: timeout -s KILL SECONDS PROGRAM ... */
static int timeout(char **argv)
{
    pid_t child = fork();
    if (child == 0) {
        execv(argv[4], argv + 4);
        _exit(127);
    }
    int status;
    for (int ticks = (int)strtol(argv[3], NULL, 10) * 20; ticks > 0; ticks--) {
        if (waitpid(child, &status, WNOHANG) == child) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        usleep(50000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 137;
}

int main(int argc, char **argv)
{
    const char *base = strrchr(argv[0], '/');
    if (argc > 4 && strcmp(base ? base + 1 : argv[0], "timeout") == 0) {
        return timeout(argv);
    }
    const char *what = argc > 1 ? argv[1] : "";
    long number = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    if (strcmp(what, "echo") == 0) {
        return echo();
    }
    if (strcmp(what, "line") == 0) {
        return line(number);
    }
    if (strcmp(what, "flood") == 0) {
        return flood(number);
    }
    if (strcmp(what, "both") == 0) {
        return puts("out") < 0 || fputs("err\n", stderr) < 0;
    }
    if (strcmp(what, "exit") == 0) {
        return (int)number;
    }
    if (strcmp(what, "eat") == 0) {
        eat();
    }
    if (strcmp(what, "stubborn") == 0) {
        stubborn();
    }
    if (strcmp(what, "sleep") == 0) {
        return (int)sleep((unsigned)number);
    }
    if (strcmp(what, "write") == 0 && argc > 2) {
        FILE *file = fopen(argv[2], "w");
        if (!file) {
            perror(argv[2]);
            return 1;
        }
        return fputs("written", file) < 0 || fclose(file) != 0;
    }
    return strcmp(what, "limits") == 0 ? limits() : 99;
}
