/* Attached streams and programs run inside, against answers cut anywhere. */
#include "support/fake_engine.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/attach.h"
#include "engine/exec.h"

#define UPGRADED                                                                                                   \
    "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: " \
    "tcp\r\n\r\n"
#define PLAIN_OK "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n"
#define FRAMES "\x01\0\0\0\0\0\0\x04one\n\x02\0\0\0\0\0\0\x04two\n"

static struct mc_until soon(void)
{
    return mc_within(10000, NULL);
}

struct pair {
    struct fake fake;
    struct mc_engine *engine;
};

static int set_up(void **state)
{
    struct pair *pair = mc_alloc(1, sizeof *pair);
    fake_start(&pair->fake);
    pair->engine = fake_open(&pair->fake);
    *state = pair;
    return 0;
}

static int tear_down(void **state)
{
    struct pair *pair = *state;
    mc_engine_close(pair->engine);
    fake_stop(&pair->fake);
    free(pair);
    return 0;
}

static int read_all(struct mc_stream *stream, struct mc_buf *out, struct mc_buf *errors, struct mc_err *err)
{
    for (;;) {
        struct mc_piece piece;
        int rc = mc_stream_next(stream, &piece, soon(), err);
        if (rc != 0 || piece.kind == MC_PIECE_END) {
            return rc;
        }
        mc_buf_put(piece.kind == MC_PIECE_STDERR ? errors : out, piece.bytes, piece.length);
    }
}

/* With bytes of the stream right behind the head (moby/moby#36516), split at every offset of both. */
static void split_anywhere(void **state)
{
    struct pair *pair = *state;
    static const struct {
        const char *bytes;
        size_t length;
    } forms[] = {{UPGRADED FRAMES, sizeof(UPGRADED FRAMES) - 1}, {PLAIN_OK FRAMES, sizeof(PLAIN_OK FRAMES) - 1}};
    for (size_t form = 0; form < 2; form++) {
        for (size_t split = 1; split <= forms[form].length; split++) {
            struct mc_err err;
            MC_AUTOSTREAM struct mc_stream *stream = NULL;
            MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
            MC_AUTOBUF struct mc_buf errors = MC_BUF_OWN;
            fake_clear(&pair->fake);
            fake_add(&pair->fake,
                     (struct fake_answer){.bytes = forms[form].bytes, .length = forms[form].length, .split = split});
            if (mc_container_attach(pair->engine, "x", soon(), &stream, &err) != 0 ||
                read_all(stream, &out, &errors, &err) != 0) {
                fail_msg("split at %zu: %s", split, err.text);
            }
            assert_string_equal(mc_buf_text(&out), "one\n");
            assert_string_equal(mc_buf_text(&errors), "two\n");
        }
    }
    assert_true(fake_was_asked(&pair->fake, "POST /v1.41/containers/x/attach?stream=1&stdin=1&stdout=1&stderr=1 "
                                            "HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"));
}

static void refusals(void **state)
{
    struct pair *pair = *state;
    static const struct {
        const char *answer;
        enum mc_code code;
        int http;
        const char *text;
    } known[] = {
        {"HTTP/1.1 404 Not Found\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\nNo such container: x\r\n",
         MC_NOT_FOUND, 404, "attaching to container x: the engine says: No such container: x (HTTP 404)"},
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 27\r\n\r\n{\"message\":\"no such thing\"}extra", MC_NOT_FOUND, 404,
         "attaching to container x: the engine says: no such thing (HTTP 404)"},
        {"HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\n\r\n6\r\npaused\r\n4\r\n, so\r\n0\r\n\r\n", MC_ENGINE,
         409, "attaching to container x: the engine says: paused, so (HTTP 409)"},
        {"HTTP/1.1 500 Oh\r\nContent-Length: 400\r\n\r\nhalf of it", MC_ENGINE, 500,
         "attaching to container x: the engine says: half of it (HTTP 500)"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", MC_PROTOCOL, 0,
         "attaching to container x: the engine answers with HTTP status 200 and no stream"},
        {"HTTP/1.1 101 UPG", MC_CLOSED, 0,
         "attaching to container x: the engine ended the connection before its answer was whole"},
        {"220 smtp ready", MC_PROTOCOL, 0,
         "attaching to container x: the answer is no HTTP: it comes from no container engine"},
    };
    for (size_t i = 0; i < MC_COUNT(known); i++) {
        size_t length = strlen(known[i].answer);
        for (size_t split = 1; split <= length; split += 3) {
            struct mc_err err;
            struct mc_stream *stream = NULL;
            fake_clear(&pair->fake);
            /* A connection that goes on: only the length tells where the error ends. */
            fake_add(&pair->fake,
                     (struct fake_answer){.bytes = known[i].answer, .length = length, .split = split, .hold = i == 1});
            int rc = mc_container_attach(pair->engine, "x", mc_within(i == 3 ? 100 : 10000, NULL), &stream, &err);
            assert_int_equal(rc, known[i].code);
            assert_int_equal(err.http, known[i].http);
            assert_string_equal(err.text, known[i].text);
            assert_null(stream);
        }
    }
}

static void broken_off(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    static const char cut[] = UPGRADED "\x01\0\0\0\0\0\0\x09hello";
    fake_add(&pair->fake, (struct fake_answer){.bytes = cut, .length = sizeof cut - 1});
    assert_int_equal(mc_container_attach(pair->engine, "x", soon(), &stream, &err), 0);
    assert_int_equal(read_all(stream, &out, &out, &err), MC_PROTOCOL);
    assert_string_equal(mc_buf_text(&out), "hello"); /* what came is given first */
    assert_string_equal(err.text, "attaching to container x: the engine's stream broke off 4 bytes before the end of a "
                                  "frame");
}

static void engine_error_in_the_stream(void **state)
{
    struct pair *pair = *state;
    static const char bytes[] = UPGRADED "\x01\0\0\0\0\0\0\x02hi\x03\0\0\0\0\0\0\x0cit is broken";
    for (size_t split = sizeof UPGRADED - 1; split < sizeof bytes - 1; split++) {
        struct mc_err err;
        MC_AUTOSTREAM struct mc_stream *stream = NULL;
        MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
        fake_clear(&pair->fake);
        fake_add(&pair->fake, (struct fake_answer){.bytes = bytes, .length = sizeof bytes - 1, .split = split});
        assert_int_equal(mc_container_attach(pair->engine, "x", soon(), &stream, &err), 0);
        assert_int_equal(read_all(stream, &out, &out, &err), MC_ENGINE);
        assert_string_equal(mc_buf_text(&out), "hi");
        assert_string_equal(err.text, "attaching to container x: the engine says: it is broken");
    }
}

static void silence_ends_at_the_deadline(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    static const char head[] = UPGRADED;
    fake_add(&pair->fake, (struct fake_answer){.bytes = head, .length = 20, .hold = 1});
    assert_int_equal(mc_container_attach(pair->engine, "x", mc_within(200, NULL), &stream, &err), MC_TIMEOUT);
    assert_string_equal(err.text, "attaching to container x: no answer in the time allowed");

    fake_add(&pair->fake, (struct fake_answer){.bytes = head, .length = sizeof head - 1, .hold = 1});
    assert_int_equal(mc_container_attach(pair->engine, "x", soon(), &stream, &err), 0);
    struct mc_piece piece;
    assert_int_equal(mc_stream_read(stream, &piece, &err), 0);
    assert_int_equal(piece.kind, MC_PIECE_NONE);
    assert_int_equal(mc_stream_next(stream, &piece, mc_within(200, NULL), &err), MC_TIMEOUT);
}

static void input_is_written_and_ended(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    static const char head[] = UPGRADED;
    fake_add(&pair->fake, (struct fake_answer){.bytes = head, .length = sizeof head - 1, .hold = 1});
    assert_int_equal(mc_container_attach(pair->engine, "x", soon(), &stream, &err), 0);
    size_t size = (size_t)3 << 20;
    MC_AUTOFREE char *bytes = mc_alloc(1, size);
    memset(bytes, 'z', size);
    bytes[size - 1] = '!';
    assert_int_equal(mc_stream_write(stream, bytes, size, soon(), &err), 0);
    assert_int_equal(mc_stream_end_input(stream, &err), 0);
    assert_int_equal(mc_stream_end_input(stream, &err), 0);
    /* The fake's end of input ends its connection: by then all has arrived. */
    struct mc_piece piece;
    assert_int_equal(mc_stream_next(stream, &piece, soon(), &err), 0);
    assert_int_equal(piece.kind, MC_PIECE_END);
    assert_true(fake_was_asked(&pair->fake, "zzz!"));
    assert_int_equal(mc_stream_write(stream, "x", 1, soon(), &err), MC_CLOSED);
    assert_string_equal(err.text, "attaching to container x: its input was ended already");
}

static void writing_to_the_dead(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    static const char head[] = UPGRADED;
    fake_add(&pair->fake, (struct fake_answer){.bytes = head, .length = sizeof head - 1});
    assert_int_equal(mc_container_attach(pair->engine, "x", soon(), &stream, &err), 0);
    struct mc_piece piece;
    assert_int_equal(mc_stream_next(stream, &piece, soon(), &err), 0);
    assert_int_equal(piece.kind, MC_PIECE_END);
    int rc = 0;
    for (int i = 0; i < 10 && rc == 0; i++) {
        rc = mc_stream_write(stream, "x", 1, soon(), &err);
    }
    assert_int_equal(rc, MC_CLOSED);
    assert_string_equal(err.text, "attaching to container x: its input is closed: the process or the engine is gone");
}

/* A peer that talks without end and never reads: bounded, and said. */
static void backlog_is_bounded(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    size_t size = MC_STREAM_BACKLOG + ((size_t)1 << 20);
    MC_AUTOBUF struct mc_buf answer = MC_BUF_OWN;
    mc_buf_puts(&answer, UPGRADED);
    char *room = mc_buf_room(&answer, size);
    assert_non_null(room);
    memset(room, 0, size);
    mc_buf_advance(&answer, size);
    fake_add(&pair->fake, (struct fake_answer){.bytes = answer.data, .length = answer.len, .hold = 1});
    assert_int_equal(mc_container_attach(pair->engine, "x", soon(), &stream, &err), 0);
    size_t length = (size_t)4 << 20;
    MC_AUTOFREE char *bytes = mc_alloc(1, length);
    assert_int_equal(mc_stream_write(stream, bytes, length, mc_within(60000, NULL), &err), MC_LIMIT);
    assert_string_equal(err.text,
                        "attaching to container x: more than 67108864 bytes of output while its input was being "
                        "written");
}

static void program_inside(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    struct mc_exec_result result;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(3);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(100);
    struct mc_exec exec = {.argv = (const char *const[]){"date", "+%s", NULL},
                           .env = (const char *const[]){"LD_PRELOAD=", NULL}};
    static const char stream[] = UPGRADED FRAMES;
    fake_say(&pair->fake, "201 Created", "{\"Id\":\"e1\"}");
    fake_add(&pair->fake, (struct fake_answer){.bytes = stream, .length = sizeof stream - 1});
    /* The end of its output is not its end: not yet started (Docker null), running, then done. */
    fake_say(&pair->fake, "200 OK", "{\"Running\":false,\"ExitCode\":null}");
    fake_say(&pair->fake, "200 OK", "{\"Running\":true,\"ExitCode\":0}");
    fake_say(&pair->fake, "200 OK", "{\"Running\":false,\"ExitCode\":4}");
    assert_int_equal(mc_exec_run(pair->engine, "x", &exec, &out, &errors, &result, soon(), &err), 0);
    assert_int_equal(result.exit_code, 4);
    assert_string_equal(mc_buf_text(&out), "one");
    assert_string_equal(mc_buf_text(&errors), "two\n");
    assert_int_equal(result.dropped, 1);
    assert_true(fake_was_asked(&pair->fake,
                               "{\"AttachStderr\":true,\"AttachStdin\":false,\"AttachStdout\":true,\"Cmd\":["
                               "\"date\",\"+%s\"],\"Env\":[\"LD_PRELOAD=\"],\"Tty\":false}"));
}

/* Without `timeout` in the image, the program runs without it. */
static void no_timeout_inside(void **state)
{
    struct pair *pair = *state;
    struct mc_err err;
    struct mc_exec_result result;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(100);
    struct mc_exec exec = {.argv = (const char *const[]){"date", NULL}, .kill_after_s = 5};
    static const char missing[] = UPGRADED "\x01\0\0\0\0\0\0\x2d"
                                           "exec: \"timeout\": executable file not found in";
    static const char stream[] = UPGRADED "\x01\0\0\0\0\0\0\x04one\n";
    fake_say(&pair->fake, "201 Created", "{\"Id\":\"e1\"}");
    fake_add(&pair->fake, (struct fake_answer){.bytes = missing, .length = sizeof missing - 1});
    fake_say(&pair->fake, "200 OK", "{\"Running\":false,\"ExitCode\":127}");
    fake_say(&pair->fake, "201 Created", "{\"Id\":\"e2\"}");
    fake_add(&pair->fake, (struct fake_answer){.bytes = stream, .length = sizeof stream - 1});
    fake_say(&pair->fake, "200 OK", "{\"Running\":false,\"ExitCode\":0}");
    assert_int_equal(mc_exec_run(pair->engine, "x", &exec, &out, NULL, &result, soon(), &err), 0);
    assert_int_equal(result.exit_code, 0);
    assert_string_equal(mc_buf_text(&out), "one\n");
    assert_true(fake_was_asked(&pair->fake, "\"Cmd\":[\"timeout\",\"-s\",\"KILL\",\"5\",\"date\"]"));
    assert_true(fake_was_asked(&pair->fake, "\"Cmd\":[\"date\"]"));

    /* A program that ends so itself is not run twice. */
    static const char its_own[] = UPGRADED "\x02\0\0\0\0\0\0\x0bx not found";
    fake_clear(&pair->fake);
    fake_say(&pair->fake, "201 Created", "{\"Id\":\"e1\"}");
    fake_add(&pair->fake, (struct fake_answer){.bytes = its_own, .length = sizeof its_own - 1});
    fake_say(&pair->fake, "200 OK", "{\"Running\":false,\"ExitCode\":127}");
    assert_int_equal(mc_exec_run(pair->engine, "x", &exec, NULL, NULL, &result, soon(), &err), 0);
    assert_int_equal(result.exit_code, 127);
    assert_false(fake_was_asked(&pair->fake, "\"Cmd\":[\"date\"]"));
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(split_anywhere),
        TEST(refusals),
        TEST(broken_off),
        TEST(engine_error_in_the_stream),
        TEST(silence_ends_at_the_deadline),
        TEST(input_is_written_and_ended),
        TEST(writing_to_the_dead),
        TEST(backlog_is_bounded),
        TEST(program_inside),
        TEST(no_timeout_inside),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
