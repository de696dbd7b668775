/* memcal-enter as it is, on real sockets; not as process 1, but as a subreaper where orphans matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/until.h"

static const char program[] = TEST_BINARY_DIR "/memcal-enter";

struct scene {
    char dir[40];
    char *path; /* of the Unix socket */
    int port;
    pid_t pid;
    int out; /* its standard output and error */
};

static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static void scene_init(struct scene *scene)
{
    strcpy(scene->dir, "/tmp/mc-enter-XXXXXX");
    assert_non_null(mkdtemp(scene->dir));
    scene->path = mc_strf("%s/s.sock", scene->dir);
    scene->port = free_port();
    scene->pid = -1;
    scene->out = -1;
}

static void spawn(struct scene *scene, const char *const *argv, int subreaper)
{
    int out[2];
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    scene->pid = fork();
    if (scene->pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        prctl(PR_SET_CHILD_SUBREAPER, (unsigned long)subreaper, 0UL, 0UL, 0UL);
        execv(program, (char *const *)(uintptr_t)argv);
        _exit(99);
    }
    close(out[1]);
    scene->out = out[0];
}

static int wait_exit(struct scene *scene)
{
    int status = 0;
    assert_int_equal(waitpid(scene->pid, &status, 0), scene->pid);
    scene->pid = -1;
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void read_all(int fd, struct mc_buf *out)
{
    char bytes[4096];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof bytes)) > 0) {
        mc_buf_put(out, bytes, (size_t)n);
    }
}

static void scene_free(struct scene *scene)
{
    struct mc_err err;
    if (scene->pid > 0) {
        kill(scene->pid, SIGTERM);
        wait_exit(scene);
    }
    close(scene->out);
    assert_int_equal(mc_fs_remove_tree(scene->dir, &err), 0);
    free(scene->path);
}

/* Runs it to its end; what it printed must be `text` where that is given. */
static void expect_exit(const char *const *argv, int status, const char *text)
{
    struct scene scene;
    scene_init(&scene);
    spawn(&scene, argv, 0);
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    read_all(scene.out, &out);
    assert_int_equal(wait_exit(&scene), status);
    if (text) {
        assert_string_equal(mc_buf_text(&out), text);
    }
    scene_free(&scene);
}

static const char usage[] = "usage: memcal-enter [--listen-tcp PORT=UNIXPATH]... [--listen-unix UNIXPATH=PORT]... "
                            "[--env NAME=VALUE]... [--report FILE] -- COMMAND [ARG]...\n";

static void it_ends_as_its_command_ends(void **state)
{
    (void)state;
    expect_exit((const char *[]){program, "--", "/bin/sh", "-c", "exit 7", NULL}, 7, "");
    expect_exit((const char *[]){program, "--", "true", NULL}, 0, "");
    expect_exit((const char *[]){program, "--", "/bin/sh", "-c", "kill -9 $$", NULL}, 128 + 9, "");
    expect_exit(
        (const char *[]){program, "--env", "A=1=2", "--env", "B=", "--", "/bin/sh", "-c", "echo \"$A,$B,\"", NULL}, 0,
        "1=2,,\n");
    expect_exit((const char *[]){program, "--", "/nonexistent/command", "x", NULL}, 127,
                "memcal-enter: running /nonexistent/command: No such file or directory\n");
    expect_exit((const char *[]){program, "--", "/etc/passwd", NULL}, 126,
                "memcal-enter: running /etc/passwd: Permission denied\n");
}

static void wrong_arguments_are_named(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"--listen-tcp", "0=/tmp/x"},
                                           {"--listen-tcp", "70000=/tmp/x"},
                                           {"--listen-tcp", "80=relative"},
                                           {"--listen-tcp", "8 0=/tmp/x"},
                                           {"--listen-tcp", "8080"},
                                           {"--listen-unix", "/tmp/x"},
                                           {"--listen-unix", "/tmp/x=http"},
                                           {"--env", "NAME"},
                                           {"--env", "=x"},
                                           {"--unknown", "x"}};
    for (size_t i = 0; i < MC_COUNT(wrong); i++) {
        MC_AUTOBUF struct mc_buf text = MC_BUF_OWN;
        mc_buf_putf(&text, "memcal-enter: wrong option %s %s\n%s", wrong[i][0], wrong[i][1], usage);
        expect_exit((const char *[]){program, wrong[i][0], wrong[i][1], "--", "true", NULL}, 125, mc_buf_text(&text));
    }
    MC_AUTOFREE char *none = mc_strf("memcal-enter: no command was given\n%s", usage);
    expect_exit((const char *[]){program, NULL}, 125, none);
    expect_exit((const char *[]){program, "--", NULL}, 125, none);
    MC_AUTOFREE char *rule = mc_strf("/nonexistent/s.sock=%d", free_port());
    expect_exit((const char *[]){program, "--listen-unix", rule, "--", "true", NULL}, 125,
                "memcal-enter: listening on /nonexistent/s.sock: No such file or directory\n");
}

static void only_the_three_standard_descriptors_are_passed_on(void **state)
{
    (void)state;
    int extra = open("/dev/null", O_RDONLY); /* not close-on-exec: what an engine might leave open */
    assert_true(extra > 2);
    expect_exit((const char *[]){program, "--", "/bin/sh", "-c",
                                 "for fd in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$fd ] && echo $fd; done; echo end",
                                 NULL},
                0, "end\n");
    close(extra);
}

static void signals_reach_the_command(void **state)
{
    (void)state;
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT};
    for (size_t i = 0; i < MC_COUNT(signals); i++) {
        struct scene scene;
        scene_init(&scene);
        MC_AUTOFREE char *script =
            mc_strf("trap 'echo got; exit %zu' %d; echo up; while :; do sleep 0.05; done", i + 10, signals[i]);
        spawn(&scene, (const char *[]){program, "--", "/bin/sh", "-c", script, NULL}, 0);
        char up[3];
        assert_int_equal(read(scene.out, up, 3), 3);
        assert_int_equal(kill(scene.pid, signals[i]), 0);
        assert_int_equal(wait_exit(&scene), (int)i + 10);
        scene_free(&scene);
    }
}

static void expect_report(const char *script, int outside, int status, const char *expected)
{
    struct scene scene;
    struct mc_err err;
    scene_init(&scene);
    MC_AUTOFREE char *path = mc_path_join(scene.dir, "ended.txt");
    spawn(&scene, (const char *[]){program, "--report", path, "--", "/bin/sh", "-c", script, NULL}, 0);
    char up[3];
    assert_int_equal(read(scene.out, up, 3), 3);
    if (outside) {
        assert_int_equal(kill(scene.pid, outside), 0);
    }
    assert_int_equal(wait_exit(&scene), status);
    MC_AUTOBUF struct mc_buf report = MC_BUF_OWN;
    assert_int_equal(mc_fs_read(path, &report, &err), 0);
    assert_string_equal(mc_buf_text(&report), expected);
    scene_free(&scene);
}

static void who_ended_the_command_is_reported(void **state)
{
    (void)state;
    expect_report("echo up; exit 137", 0, 137, "");
    expect_report("echo up; kill -9 $$", 0, 128 + SIGKILL, "killed by signal 9\n");
    expect_report("echo up; kill -SEGV $$", 0, 128 + SIGSEGV, "killed by signal 11\n");
    expect_report("trap 'exit 3' TERM; echo up; while :; do sleep 0.05; done", SIGTERM, 3, "passed on signal 15\n");
    expect_report("echo up; while :; do sleep 0.05; done", SIGINT, 128 + SIGINT,
                  "passed on signal 2\nkilled by signal 2\n");
    expect_exit((const char *[]){program, "--report", "/nonexistent/ended", "--", "true", NULL}, 125,
                "memcal-enter: opening /nonexistent/ended: No such file or directory\n");
}

/* An orphan becomes a child of the nearest subreaper: it must not stay there as a zombie. */
static void orphans_are_reaped(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    spawn(&scene,
          (const char *[]){program, "--", "/bin/sh", "-c",
                           "(sh -c 'echo $$; exec sleep 0.2' &) ; sleep 1; echo end; sleep 5", NULL},
          1);
    char line[32] = "";
    size_t length = 0;
    while (!strstr(line, "end") && length < sizeof line - 1) {
        ssize_t n = read(scene.out, line + length, sizeof line - 1 - length);
        assert_true(n > 0);
        length += (size_t)n;
    }
    pid_t orphan = (pid_t)strtol(line, NULL, 10);
    assert_true(orphan > 1);
    assert_int_equal(kill(orphan, 0), -1); /* gone, and not a zombie */
    kill(scene.pid, SIGTERM);
    assert_int_equal(wait_exit(&scene), 128 + SIGTERM);
    scene_free(&scene);
}

/* ---- Sockets ---- */

static int listen_tcp(int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 64), 0);
    return fd;
}

static int listen_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 64), 0);
    return fd;
}

static int try_connect(const struct scene *scene, int tcp)
{
    struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)scene->port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    strcpy(un.sun_path, scene->path);
    for (int i = 0; i < 200; i++) {
        int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int rc = tcp ? connect(fd, (struct sockaddr *)&in, sizeof in) : connect(fd, (struct sockaddr *)&un, sizeof un);
        if (rc == 0) {
            return fd;
        }
        close(fd);
        usleep(10000);
    }
    fail_msg("memcal-enter does not listen");
    return -1;
}

/* Starts a relay from TCP to the Unix socket, or the other way, and the listener that it leads to. */
static int relay_start(struct scene *scene, int from_tcp, int listen_too)
{
    scene_init(scene);
    int listener = !listen_too ? -1 : from_tcp ? listen_unix(scene->path) : listen_tcp(scene->port);
    MC_AUTOFREE char *rule =
        from_tcp ? mc_strf("%d=%s", scene->port, scene->path) : mc_strf("%s=%d", scene->path, scene->port);
    spawn(scene,
          (const char *[]){program, from_tcp ? "--listen-tcp" : "--listen-unix", rule, "--", "sleep", "60", NULL}, 0);
    return listener;
}

struct pump {
    int fd;
    size_t bytes;
    unsigned seed;
    int failed;
};

static unsigned char byte_at(size_t i, unsigned seed)
{
    return (unsigned char)((i * 2654435761U + seed) >> 13);
}

static void *send_pattern(void *payload)
{
    struct pump *pump = payload;
    unsigned char chunk[50000];
    for (size_t sent = 0; sent < pump->bytes;) {
        size_t n = pump->bytes - sent < sizeof chunk ? pump->bytes - sent : sizeof chunk;
        for (size_t i = 0; i < n; i++) {
            chunk[i] = byte_at(sent + i, pump->seed);
        }
        for (size_t done = 0; done < n;) {
            ssize_t w = send(pump->fd, chunk + done, n - done, MSG_NOSIGNAL);
            if (w <= 0) {
                pump->failed = 1;
                return NULL;
            }
            done += (size_t)w;
        }
        sent += n;
    }
    shutdown(pump->fd, SHUT_WR);
    return NULL;
}

/* Reads to the end and compares every byte. */
static size_t receive_pattern(int fd, unsigned seed)
{
    static __thread unsigned char chunk[65536];
    size_t got = 0;
    ssize_t n;
    while ((n = recv(fd, chunk, sizeof chunk, 0)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            if (chunk[i] != byte_at(got + (size_t)i, seed)) {
                return SIZE_MAX;
            }
        }
        got += (size_t)n;
    }
    return got;
}

static void *receive_all(void *payload)
{
    struct pump *pump = payload;
    pump->bytes = receive_pattern(pump->fd, pump->seed);
    return NULL;
}

static void sixty_four_mebibytes_each_way_at_once(void **state)
{
    (void)state;
    for (int from_tcp = 0; from_tcp < 2; from_tcp++) {
        struct scene scene;
        int listener = relay_start(&scene, from_tcp, 1);
        int client = try_connect(&scene, from_tcp);
        int server = accept(listener, NULL, NULL);
        assert_true(server >= 0);
        struct pump up = {client, (size_t)64 << 20, 1, 0};
        struct pump down = {server, (size_t)64 << 20, 2, 0};
        struct pump got_up = {server, 0, 1, 0};
        struct pump got_down = {client, 0, 2, 0};
        pthread_t threads[4];
        pthread_create(&threads[0], NULL, send_pattern, &up);
        pthread_create(&threads[1], NULL, send_pattern, &down);
        pthread_create(&threads[2], NULL, receive_all, &got_up);
        pthread_create(&threads[3], NULL, receive_all, &got_down);
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
        assert_int_equal(up.failed + down.failed, 0);
        assert_int_equal(got_up.bytes, (size_t)64 << 20);
        assert_int_equal(got_down.bytes, (size_t)64 << 20);
        close(client);
        close(server);
        close(listener);
        scene_free(&scene);
    }
}

static void half_close_is_passed_on(void **state)
{
    (void)state;
    for (int from_tcp = 0; from_tcp < 2; from_tcp++) {
        struct scene scene;
        char bytes[16];
        int listener = relay_start(&scene, from_tcp, 1);
        int client = try_connect(&scene, from_tcp);
        int server = accept(listener, NULL, NULL);
        assert_int_equal(send(client, "question", 8, 0), 8);
        shutdown(client, SHUT_WR);
        assert_int_equal(recv(server, bytes, 8, MSG_WAITALL), 8);
        assert_int_equal(recv(server, bytes, 8, 0), 0); /* the end, while the other way is open */
        usleep(100000);
        assert_int_equal(send(server, "answer", 6, MSG_NOSIGNAL), 6);
        close(server);
        assert_int_equal(recv(client, bytes, 6, MSG_WAITALL), 6);
        assert_memory_equal(bytes, "answer", 6);
        assert_int_equal(recv(client, bytes, 6, 0), 0);
        close(client);
        close(listener);
        scene_free(&scene);
    }
}

static void a_slow_reader_holds_the_writer_back(void **state)
{
    (void)state;
    struct scene scene;
    int listener = relay_start(&scene, 1, 1);
    int client = try_connect(&scene, 1);
    int server = accept(listener, NULL, NULL);
    fcntl(client, F_SETFL, O_NONBLOCK);
    static char zeros[65536];
    size_t sent = 0;
    for (int quiet = 0; quiet < 20;) { /* until nothing more is taken for 200 ms */
        ssize_t n = send(client, zeros, sizeof zeros, MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        quiet = n > 0 ? 0 : quiet + 1;
        usleep(n > 0 ? 0 : 10000);
        assert_true(sent < (size_t)64 << 20);
    }
    /* Another connection is served meanwhile. */
    int second = try_connect(&scene, 1);
    int other = accept(listener, NULL, NULL);
    char bytes[4];
    assert_int_equal(send(second, "ping", 4, 0), 4);
    assert_int_equal(recv(other, bytes, 4, MSG_WAITALL), 4);
    close(second);
    close(other);
    shutdown(client, SHUT_WR);
    size_t got = 0;
    ssize_t n;
    while ((n = recv(server, zeros, sizeof zeros, 0)) > 0) {
        got += (size_t)n;
    }
    assert_int_equal(got, sent);
    close(client);
    close(server);
    close(listener);
    scene_free(&scene);
}

static void a_target_that_comes_late_is_waited_for(void **state)
{
    (void)state;
    for (int from_tcp = 0; from_tcp < 2; from_tcp++) {
        struct scene scene;
        char bytes[4];
        relay_start(&scene, from_tcp, 0);
        int client = try_connect(&scene, from_tcp);
        assert_int_equal(send(client, "ping", 4, 0), 4);
        usleep(400000);
        int listener = from_tcp ? listen_unix(scene.path) : listen_tcp(scene.port);
        int server = accept(listener, NULL, NULL);
        assert_int_equal(recv(server, bytes, 4, MSG_WAITALL), 4);
        assert_memory_equal(bytes, "ping", 4);
        close(client);
        close(server);
        close(listener);
        scene_free(&scene);
    }
}

static void a_peer_that_goes_away_is_told_to_the_other(void **state)
{
    (void)state;
    struct scene scene;
    char byte;
    int listener = relay_start(&scene, 0, 1);
    int client = try_connect(&scene, 0);
    int server = accept(listener, NULL, NULL);
    close(client); /* a Unix peer that is closed takes nothing more: the server learns it though it sends nothing */
    assert_int_equal(recv(server, &byte, 1, 0), 0);
    for (int i = 0; i < 100 && send(server, "x", 1, MSG_NOSIGNAL) == 1; i++) {
        usleep(10000);
    }
    assert_int_equal(send(server, "x", 1, MSG_NOSIGNAL), -1);
    close(server);
    close(listener);
    scene_free(&scene);
}

static void a_stale_socket_is_replaced_and_open_to_all(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    close(listen_unix(scene.path)); /* its file stays */
    int listener = listen_tcp(scene.port);
    MC_AUTOFREE char *rule = mc_strf("%s=%d", scene.path, scene.port);
    spawn(&scene, (const char *[]){program, "--listen-unix", rule, "--", "sleep", "60", NULL}, 0);
    int client = try_connect(&scene, 0);
    struct stat info;
    assert_int_equal(stat(scene.path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0666);
    close(client);
    close(listener);
    scene_free(&scene);
}

/* More connections at once than the relay serves: the rest wait in the backlog, and none is lost. */
static void many_connections(void **state)
{
    (void)state;
    enum { MANY = 300 };
    struct scene scene;
    int listener = relay_start(&scene, 1, 1);
    int clients[MANY];
    int served = 0;
    for (int i = 0; i < MANY; i++) {
        clients[i] = try_connect(&scene, 1);
        assert_int_equal(send(clients[i], "hello", 5, 0), 5);
        shutdown(clients[i], SHUT_WR);
    }
    while (served < MANY) {
        struct pollfd wait = {.fd = listener, .events = POLLIN, .revents = 0};
        assert_int_equal(poll(&wait, 1, 10000), 1);
        int server = accept(listener, NULL, NULL);
        char bytes[5];
        assert_int_equal(recv(server, bytes, 5, MSG_WAITALL), 5);
        assert_int_equal(send(server, bytes, 5, MSG_NOSIGNAL), 5);
        close(server);
        served++;
    }
    for (int i = 0; i < MANY; i++) {
        char bytes[6];
        assert_int_equal(recv(clients[i], bytes, 5, MSG_WAITALL), 5);
        assert_int_equal(recv(clients[i], bytes, 1, 0), 0);
        close(clients[i]);
    }
    close(listener);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_ends_as_its_command_ends),
        cmocka_unit_test(wrong_arguments_are_named),
        cmocka_unit_test(only_the_three_standard_descriptors_are_passed_on),
        cmocka_unit_test(signals_reach_the_command),
        cmocka_unit_test(who_ended_the_command_is_reported),
        cmocka_unit_test(orphans_are_reaped),
        cmocka_unit_test(sixty_four_mebibytes_each_way_at_once),
        cmocka_unit_test(half_close_is_passed_on),
        cmocka_unit_test(a_slow_reader_holds_the_writer_back),
        cmocka_unit_test(a_target_that_comes_late_is_waited_for),
        cmocka_unit_test(a_peer_that_goes_away_is_told_to_the_other),
        cmocka_unit_test(a_stale_socket_is_replaced_and_open_to_all),
        cmocka_unit_test(many_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
