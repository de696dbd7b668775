/* The client against answers that engines give, and against those that they should not. */
#include "support/fake_engine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/container.h"
#include "engine/image.h"
#include "engine/network.h"
#include "engine/volume.h"

static struct mc_until soon(void)
{
    return mc_within(10000, NULL);
}

static int set_up(void **state)
{
    struct fake *fake = mc_alloc(1, sizeof *fake);
    fake_start(fake);
    *state = fake;
    return 0;
}

static int tear_down(void **state)
{
    fake_stop(*state);
    free(*state);
    return 0;
}

static int try_open(struct fake *fake, struct mc_err *err)
{
    struct mc_engine *engine = NULL;
    struct mc_endpoint endpoint = fake_endpoint(fake);
    int rc = mc_engine_open(&endpoint, NULL, soon(), &engine, err);
    mc_engine_close(engine);
    return rc;
}

static void tells_docker_from_podman(void **state)
{
    struct fake *fake = *state;
    struct mc_engine *engine = fake_open(fake);
    const struct mc_engine_about *about = mc_engine_about(engine);
    assert_int_equal(about->kind, MC_ENGINE_DOCKER);
    assert_string_equal(about->version, "20.10.24");
    assert_string_equal(about->api_spoken, "1.41");
    assert_string_equal(about->storage, "overlay2");
    assert_string_equal(about->cgroup, "2");
    assert_string_equal(about->host_name, "");
    assert_int_equal(about->cpus, 2);
    assert_int_equal(mc_engine_counts(engine).calls, 3);
    assert_int_equal(mc_engine_counts(engine).failed, 0);
    mc_engine_close(engine);
    fake->podman = 1;
    engine = fake_open(fake);
    assert_int_equal(mc_engine_about(engine)->kind, MC_ENGINE_PODMAN);
    mc_engine_close(engine);
}

static void say_ping(struct fake *fake, const char *api)
{
    MC_AUTOFREE char *text = mc_strf("HTTP/1.1 200 OK\r\nApi-Version: %s\r\nContent-Length: 2\r\n\r\nOK", api);
    fake_add(fake, (struct fake_answer){.bytes = text, .length = strlen(text)});
}

static void versions_are_agreed_on(void **state)
{
    struct fake *fake = *state;
    struct mc_err err;
    fake->manual = 1;
    say_ping(fake, "1.40");
    assert_int_equal(try_open(fake, &err), MC_ENGINE);
    assert_non_null(strstr(err.text, "speaks API 1.40 at most; memcal needs 1.41"));
    assert_non_null(strstr(err.hint, "upgrade to Docker 20.10 or Podman 4.3"));

    fake_clear(fake);
    say_ping(fake, "1.55");
    fake_say(fake, "200 OK", "{\"Version\":\"29.7\",\"MinAPIVersion\":\"1.40\"}");
    fake_say(fake, "200 OK", "{}");
    assert_int_equal(try_open(fake, &err), 0);
    assert_true(fake_was_asked(fake, "GET /v1.44/version "));

    fake_clear(fake);
    say_ping(fake, "1.60");
    fake_say(fake, "200 OK", "{\"Version\":\"35\",\"MinAPIVersion\":\"1.50\"}");
    assert_int_equal(try_open(fake, &err), MC_ENGINE);
    assert_non_null(strstr(err.text, "needs API 1.50 or newer; the newest that memcal knows is 1.44"));

    fake_clear(fake);
    say_ping(fake, "1.60");
    fake_say(fake, "400 Bad Request", "{\"message\":\"client version 1.44 is too old\"}");
    assert_int_equal(try_open(fake, &err), MC_ENGINE);
    assert_non_null(strstr(err.text, "does not speak API 1.44"));
    assert_non_null(strstr(err.text, "client version 1.44 is too old"));
}

static void garbage_is_no_engine(void **state)
{
    struct fake *fake = *state;
    struct mc_err err;
    fake->manual = 1;
    static const char garbage[] = "SSH-2.0-OpenSSH_9.2p1 Debian\r\n";
    fake_add(fake, (struct fake_answer){.bytes = garbage, .length = sizeof garbage - 1});
    assert_int_equal(try_open(fake, &err), MC_PROTOCOL);
    assert_non_null(strstr(err.text, "does not speak HTTP: it is no container engine"));

    fake_clear(fake);
    fake_say(fake, "200 OK", "<html>hello</html>");
    assert_int_equal(try_open(fake, &err), MC_PROTOCOL);
    assert_non_null(strstr(err.text, "names no API version: it is no container engine"));

    fake_clear(fake);
    say_ping(fake, "one.two");
    assert_int_equal(try_open(fake, &err), MC_PROTOCOL);

    fake_clear(fake); /* accepts, and closes */
    assert_int_equal(try_open(fake, &err), MC_CLOSED);
    assert_non_null(strstr(err.text, "ended the connection before its answer was whole"));

    fake_clear(fake);
    say_ping(fake, "1.41");
    fake_say(fake, "200 OK", "not json");
    assert_int_equal(try_open(fake, &err), MC_PROTOCOL);
    assert_non_null(strstr(err.text, "asking for the engine's version: the engine's answer is no JSON"));
}

static int open_dead_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static int open_at(const char *path, struct mc_err *err)
{
    struct mc_engine *engine = NULL;
    MC_AUTOFREE char *host = mc_strf("unix://%s", path);
    MC_AUTOFREE char *copy = mc_strdup(path);
    struct mc_endpoint endpoint = {.host = host, .socket = copy, .url = "http://localhost"};
    int rc = mc_engine_open(&endpoint, NULL, soon(), &engine, err);
    mc_engine_close(engine);
    return rc;
}

static void no_socket(void **state)
{
    struct fake *fake = *state;
    struct mc_err err;
    assert_int_equal(open_at("/nowhere/docker.sock", &err), MC_NOT_FOUND);
    assert_string_equal(err.text,
                        "asking for the engine: no container engine at unix:///nowhere/docker.sock: the socket "
                        "is not there");
    assert_non_null(strstr(err.hint, "sudo systemctl start docker"));
    assert_int_equal(err.sys, ENOENT);

    MC_AUTOFREE char *dead = mc_strf("%s.dead", fake->socket);
    int fd = open_dead_socket(dead);
    assert_int_equal(open_at(dead, &err), MC_CLOSED);
    assert_non_null(strstr(err.text, "nothing listens at unix:///tmp/memcal-fake-"));
    assert_non_null(strstr(err.hint, "the engine is not running: start it"));
    close(fd);
    unlink(dead);
}

/* Root may use every socket, so this one is asked for by somebody else. */
static void socket_not_ours(void **state)
{
    struct fake *fake = *state;
    assert_int_equal(chmod(fake->dir, 0755), 0);
    assert_int_equal(chmod(fake->socket, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        struct mc_err err;
        if (getuid() == 0 && setuid(65534) != 0) {
            _exit(10);
        }
        if (getuid() != 65534 && chmod(fake->socket, 0) != 0) {
            _exit(11);
        }
        int rc = open_at(fake->socket, &err);
        int right = rc == MC_DENIED && err.sys == EACCES && strstr(err.text, "permission denied") &&
                    strstr(err.hint, "sudo usermod -aG docker $USER");
        _exit(right ? 0 : 12);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void tcp_faults(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_engine *engine = NULL;
    struct mc_endpoint endpoint = {.host = "tcp://127.0.0.1:1", .url = "http://127.0.0.1:1"};
    assert_int_equal(mc_engine_open(&endpoint, NULL, soon(), &engine, &err), MC_CLOSED);
    assert_string_equal(err.text, "asking for the engine: nothing listens at tcp://127.0.0.1:1: connection refused");
    endpoint = (struct mc_endpoint){.host = "tcp://engine.invalid:1", .url = "http://engine.invalid:1"};
    assert_int_equal(mc_engine_open(&endpoint, NULL, soon(), &engine, &err), MC_NOT_FOUND);
    assert_string_equal(err.text, "asking for the engine: the host name in tcp://engine.invalid:1 is not known");
}

static const char inspected[] = "{\"Id\":\"c0ffee\",\"Name\":\"/one\",\"Image\":\"sha256:1\",\"State\":{\"Status\":"
                                "\"exited\",\"ExitCode\":3,\"OOMKilled\":false,\"StartedAt\":\"2026-01-01T00:00:00Z\","
                                "\"FinishedAt\":\"2026-01-01T00:00:01Z\"},\"Config\":{\"Labels\":{\"a\":\"b\"}}}";

/* Whole, chunked, and in two parts at every offset: the same container each time. */
static void answers_come_in_any_parts(void **state)
{
    struct fake *fake = *state;
    struct mc_engine *engine = fake_open(fake);
    MC_AUTOFREE char *plain = mc_strf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(inspected), inspected);
    MC_AUTOFREE char *chunked =
        mc_strf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n%.5s\r\n%zx\r\n%s\r\n0\r\n"
                "\r\n",
                inspected, strlen(inspected) - 5, inspected + 5);
    const char *forms[] = {plain, chunked};
    for (size_t form = 0; form < 2; form++) {
        size_t length = strlen(forms[form]);
        for (size_t split = 1; split <= length; split++) {
            struct mc_err err;
            MC_AUTOCONTAINER struct mc_container now = {.raw = NULL};
            fake_clear(fake);
            fake_add(fake, (struct fake_answer){.bytes = forms[form], .length = length, .split = split});
            if (mc_container_inspect(engine, "one", &now, soon(), &err) != 0) {
                fail_msg("split at %zu: %s", split, err.text);
            }
            assert_string_equal(now.id, "c0ffee");
            assert_string_equal(now.name, "one");
            assert_int_equal(now.status, MC_CONTAINER_EXITED);
            assert_int_equal(now.exit_code, 3);
        }
    }
    mc_engine_close(engine);
}

static void the_engines_words_are_passed_on(void **state)
{
    struct fake *fake = *state;
    struct mc_engine *engine = fake_open(fake);
    struct mc_err err;
    struct mc_container now;
    static const struct {
        const char *status;
        const char *body;
        enum mc_code code;
        const char *text;
        const char *hint;
    } known[] = {
        {"404 Not Found", "{\"message\":\"No such container: x\"}", MC_NOT_FOUND,
         "inspecting container x: the engine says: No such container: x (HTTP 404)", ""},
        {"404 Not Found", "{\"cause\":\"c\",\"message\":\"no such container\",\"response\":404}", MC_NOT_FOUND,
         "inspecting container x: the engine says: no such container (HTTP 404)", ""},
        {"500 Internal Server Error", "plain words\r\n", MC_ENGINE,
         "inspecting container x: the engine says: plain words (HTTP 500)", ""},
        {"500 Internal Server Error", "", MC_ENGINE,
         "inspecting container x: the engine answers with HTTP status 500 and says nothing more", ""},
        {"301 Moved", "", MC_ENGINE,
         "inspecting container x: the engine answers with HTTP status 301 and says nothing more", ""},
        {"500 Oh", "{\"message\":\"write /x: no space left on device\"}", MC_ENGINE,
         "inspecting container x: the engine says: write /x: no space left on device (HTTP 500)", "free disk space"},
        {"500 Oh", "{\"message\":\"setrlimit RLIMIT_NOFILE: Operation not permitted\"}", MC_ENGINE, "RLIMIT_NOFILE",
         "ask for less than its own hard limit"},
        {"500 Oh", "{\"message\":\"crun: drop all controllers from cgroupv2\"}", MC_ENGINE, "crun", "--runtime runc"},
        {"500 Oh", "{\"message\":\"toomanyrequests: You have reached your pull rate limit\"}", MC_ENGINE, "pull rate",
         "log in, wait"},
        {"401 No", "{\"message\":\"unauthorized\"}", MC_ENGINE, "unauthorized", "docker pull"},
        {"404 Not Found", "{\"message\":\"No such image: y\"}", MC_NOT_FOUND, "No such image", "memcal image build"},
    };
    for (size_t i = 0; i < MC_COUNT(known); i++) {
        fake_clear(fake);
        fake_say(fake, known[i].status, known[i].body);
        assert_int_equal(mc_container_inspect(engine, "x", &now, soon(), &err), known[i].code);
        assert_non_null(strstr(err.text, known[i].text));
        assert_non_null(strstr(err.hint, known[i].hint));
        assert_int_equal(err.http, strtol(known[i].status, NULL, 10));
    }
    mc_engine_close(engine);
}

static void broken_answers(void **state)
{
    struct fake *fake = *state;
    struct mc_engine *engine = fake_open(fake);
    struct mc_err err;
    struct mc_container now;
    static const char cut[] = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\nConnection: close\r\n\r\n{\"Id\":";
    fake_add(fake, (struct fake_answer){.bytes = cut, .length = sizeof cut - 1, .hold = 0});
    fake_say(fake, "200 OK", "[1,");
    fake_say(fake, "200 OK", "{\"Id\":\"x\"}");
    struct mc_until until = mc_within(300, NULL);
    assert_int_equal(mc_container_inspect(engine, "x", &now, until, &err), MC_TIMEOUT);
    assert_string_equal(err.text, "inspecting container x: no answer in the time allowed");
    assert_int_equal(mc_container_inspect(engine, "x", &now, soon(), &err), MC_PROTOCOL);
    assert_int_equal(mc_container_inspect(engine, "x", &now, soon(), &err), MC_PROTOCOL);
    assert_string_equal(err.text, "inspecting container x: the engine's answer lacks its ID or its state");
    /* A call without a deadline left is not made at all. */
    assert_int_equal(mc_container_inspect(engine, "x", &now, mc_within(0, NULL), &err), MC_TIMEOUT);
    assert_int_equal(mc_container_inspect(engine, "", &now, soon(), &err), MC_INPUT);
    mc_engine_close(engine);
}

static void slow_drip_ends_at_the_deadline(void **state)
{
    struct fake *fake = *state;
    struct mc_engine *engine = fake_open(fake);
    struct mc_err err;
    struct mc_container now;
    static const char drip[] = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"Id\":\"..............................";
    fake_add(fake, (struct fake_answer){.bytes = drip, .length = sizeof drip - 1, .drip_ms = 100});
    int64_t began = mc_monotonic_ms();
    assert_int_equal(mc_container_inspect(engine, "x", &now, mc_within(600, NULL), &err), MC_TIMEOUT);
    assert_in_range(mc_monotonic_ms() - began, 600, 2000);
    mc_engine_close(engine);
}

static void *cancel_soon(void *payload)
{
    usleep(100000);
    mc_cancel_raise(payload);
    return NULL;
}

static void cancel_ends_a_wait(void **state)
{
    struct fake *fake = *state;
    struct mc_engine *engine = fake_open(fake);
    struct mc_err err;
    struct mc_cancel cancel;
    struct mc_container now;
    pthread_t thread;
    assert_int_equal(mc_cancel_init(&cancel, &err), 0);
    static const char started[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    fake_add(fake, (struct fake_answer){.bytes = started, .length = sizeof started - 1, .hold = 1});
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancel), 0);
    int64_t began = mc_monotonic_ms();
    assert_int_equal(mc_container_wait(engine, "x", &now, mc_within(60000, &cancel), &err), MC_CANCELLED);
    assert_string_equal(err.text, "waiting for container x: cancelled");
    assert_in_range(mc_monotonic_ms() - began, 90, 3000);
    pthread_join(thread, NULL);
    mc_cancel_release(&cancel);
    mc_engine_close(engine);
}

static void too_large_an_answer(void **state)
{
    struct fake *fake = *state;
    struct mc_engine *engine = fake_open(fake);
    struct mc_err err;
    size_t size = (size_t)33 << 20;
    struct mc_buf large = MC_BUF_OWN;
    mc_buf_putf(&large, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", size);
    char *room = mc_buf_room(&large, size);
    memset(room, '[', size);
    mc_buf_advance(&large, size);
    fake_add(fake, (struct fake_answer){.bytes = large.data, .length = large.len});
    struct mc_objects list;
    assert_int_equal(mc_container_list(engine, (struct mc_labels){.items = NULL}, &list, soon(), &err), MC_LIMIT);
    assert_string_equal(err.text, "listing containers: the engine's answer is larger than the 33554432 bytes allowed");
    mc_buf_release(&large);
    /* The next call works: on a connection of its own. */
    fake_clear(fake);
    fake_say(fake, "200 OK", "[]");
    assert_int_equal(mc_container_list(engine, (struct mc_labels){.items = NULL}, &list, soon(), &err), 0);
    assert_int_equal(list.count, 0);
    mc_engine_close(engine);
}

static void seen(void *payload, const struct mc_engine_seen *call)
{
    mc_buf_putf(payload, "%s %s %d;", call->method, call->path, call->status);
}

static void calls_are_watched(void **state)
{
    struct fake *fake = *state;
    struct mc_err err;
    struct mc_engine *engine = NULL;
    MC_AUTOBUF struct mc_buf calls = MC_BUF_OWN;
    struct mc_engine_watch watch = {.on_call = seen, .payload = &calls};
    struct mc_endpoint endpoint = fake_endpoint(fake);
    assert_int_equal(mc_engine_open(&endpoint, &watch, soon(), &engine, &err), 0);
    fake_say(fake, "404 Not Found", "{\"message\":\"gone\"}");
    assert_int_equal(mc_volume_remove(engine, "a b", (struct mc_labels){.items = NULL}, soon(), &err), 0);
    assert_string_equal(mc_buf_text(&calls), "GET /_ping 200;GET /v1.41/version 200;GET /v1.41/info 200;"
                                             "DELETE /v1.41/volumes/a%20b 404;");
    assert_int_equal(mc_engine_counts(engine).calls, 4);
    assert_int_equal(mc_engine_counts(engine).failed, 1);
    mc_engine_close(engine);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(tells_docker_from_podman),
        TEST(versions_are_agreed_on),
        TEST(garbage_is_no_engine),
        TEST(no_socket),
        TEST(socket_not_ours),
        cmocka_unit_test(tcp_faults),
        TEST(answers_come_in_any_parts),
        TEST(the_engines_words_are_passed_on),
        TEST(broken_answers),
        TEST(slow_drip_ends_at_the_deadline),
        TEST(cancel_ends_a_wait),
        TEST(too_large_an_answer),
        TEST(calls_are_watched),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
