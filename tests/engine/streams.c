/* Attached standard streams. */
#include "engine_tests.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Reads pieces into `out` until it holds `text`. */
static void expect_text(struct mc_stream *stream, struct mc_buf *out, const char *text)
{
    while (!strstr(mc_buf_text(out), text)) {
        struct mc_piece piece;
        ok(mc_stream_next(stream, &piece, soon(), &fault));
        assert_int_equal(piece.kind, MC_PIECE_STDOUT);
        assert_int_equal(mc_buf_add(out, piece.bytes, piece.length), 0);
    }
}

static void lines_both_ways(void **state)
{
    struct bench *bench = *state;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(65536);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(65536);
    char *id = launch(bench, GUEST("echo"), &stream);
    ok(mc_stream_write(stream, "one\n", 4, soon(), &fault));
    expect_text(stream, &out, "got: one\n");
    ok(mc_stream_write(stream, "zw\xc3\xb6lf\n", 7, soon(), &fault));
    expect_text(stream, &out, "got: zw\xc3\xb6lf\n");
    /* End of input reaches the process, and what it says afterwards reaches us. */
    ok(mc_stream_end_input(stream, &fault));
    read_all(stream, &out, &errors);
    assert_string_equal(mc_buf_text(&out), "got: one\ngot: zw\xc3\xb6lf\nend of input\n");
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    ok(mc_container_wait(bench->engine, id, &done, soon(), &fault));
    assert_int_equal(done.exit_code, 0);
    struct mc_err err;
    assert_int_equal(mc_stream_write(stream, "x", 1, soon(), &err), MC_CLOSED);
    discard(bench, id);
}

static void both_streams_apart(void **state)
{
    struct bench *bench = *state;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(4096);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(4096);
    char *id = launch(bench, GUEST("both"), &stream);
    read_all(stream, &out, &errors);
    assert_string_equal(mc_buf_text(&out), "out\n");
    assert_string_equal(mc_buf_text(&errors), "err\n");
    discard(bench, id);
}

static void death_ends_the_stream(void **state)
{
    struct bench *bench = *state;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(4096);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(4096);
    char *id = launch(bench, GUEST("echo"), &stream);
    ok(mc_stream_write(stream, "exit 42\n", 8, soon(), &fault));
    read_all(stream, &out, &errors);
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    ok(mc_container_wait(bench->engine, id, &done, soon(), &fault));
    assert_int_equal(done.exit_code, 42);
    discard(bench, id);
}

static void our_death_ends_the_process(void **state)
{
    struct bench *bench = *state;
    struct mc_stream *stream = NULL;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(4096);
    char *id = launch(bench, GUEST("echo"), &stream);
    ok(mc_stream_write(stream, "one\n", 4, soon(), &fault));
    expect_text(stream, &out, "got: one\n");
    mc_stream_close(stream); /* as the kernel does when the controller is killed */
    MC_AUTOCONTAINER struct mc_container done = {.raw = NULL};
    ok(mc_container_wait(bench->engine, id, &done, soon(), &fault));
    assert_int_equal(done.exit_code, 0);
    discard(bench, id);
}

/* docker/docker-py#1696, moby/moby#34855: lines cut at 16 KB. */
static void long_line_arrives_whole(void **state)
{
    struct bench *bench = *state;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT((size_t)8 << 20);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(4096);
    char *id = launch(bench, GUEST("line", "4194304"), &stream);
    read_all(stream, &out, &errors);
    assert_int_equal(out.len, 4194304 + 3);
    assert_int_equal(out.data[0], '<');
    assert_int_equal(strspn(out.data + 1, "x"), 4194304);
    assert_string_equal(out.data + 1 + 4194304, ">\n");
    discard(bench, id);
}

static void unread_output_waits(void **state)
{
    struct bench *bench = *state;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT((size_t)16 << 20);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(4096);
    char *id = launch(bench, GUEST("flood", "6000"), &stream);
    struct mc_err err;
    assert_int_equal(mc_pause(mc_within(5000, NULL), 1500, "letting it fill up", &err), 0);
    MC_AUTOCONTAINER struct mc_container now = {.raw = NULL};
    ok(mc_container_inspect(bench->engine, id, &now, soon(), &fault));
    assert_int_equal(now.status, MC_CONTAINER_RUNNING); /* it waits for us */
    read_all(stream, &out, &errors);
    assert_int_equal(out.len, 6000 * 1000);
    for (size_t i = 0; i < 6000; i++) {
        MC_AUTOFREE char *number = mc_strf("%08zu ", i);
        assert_memory_equal(out.data + i * 1000, number, 9);
    }
    assert_string_equal(mc_buf_text(&errors), "done\n");
    discard(bench, id);
}

/* A megabyte to a process that answers each line: without reading while writing both would wait for ever. */
static void writing_much_reads_on(void **state)
{
    struct bench *bench = *state;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    MC_AUTOBUF struct mc_buf in = MC_BUF_OWN;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT((size_t)32 << 20);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(4096);
    for (int i = 0; i < 4000; i++) {
        mc_buf_putf(&in, "%05d %992s\n", i, "");
    }
    char *id = launch(bench, GUEST("echo"), &stream);
    ok(mc_stream_write(stream, in.data, in.len, soon(), &fault));
    ok(mc_stream_end_input(stream, &fault));
    read_all(stream, &out, &errors);
    assert_int_equal(out.len, in.len + 4000 * strlen("got: ") + strlen("end of input\n"));
    assert_memory_equal(out.data + (size_t)3999 * 1004, "got: 03999 ", 11);
    discard(bench, id);
}

static void nothing_there_is_told_apart(void **state)
{
    struct bench *bench = *state;
    MC_AUTOSTREAM struct mc_stream *stream = NULL;
    char *id = launch(bench, GUEST("echo"), &stream);
    struct mc_piece piece;
    ok(mc_stream_read(stream, &piece, &fault));
    assert_int_equal(piece.kind, MC_PIECE_NONE);
    struct pollfd fd = {.fd = mc_stream_fd(stream), .events = POLLIN};
    assert_int_equal(poll(&fd, 1, 100), 0);
    struct mc_err err;
    assert_int_equal(mc_stream_next(stream, &piece, mc_within(200, NULL), &err), MC_TIMEOUT);
    ok(mc_stream_write(stream, "one\n", 4, soon(), &fault));
    assert_int_equal(poll(&fd, 1, 10000), 1);
    ok(mc_stream_read(stream, &piece, &fault));
    assert_int_equal(piece.kind, MC_PIECE_STDOUT);
    discard(bench, id);
}

static void attaching_to_nothing_is_said(void **state)
{
    struct bench *bench = *state;
    struct mc_err err;
    struct mc_stream *stream = NULL;
    assert_int_equal(mc_container_attach(bench->engine, "memcal-nobody", soon(), &stream, &err), MC_NOT_FOUND);
    assert_int_equal(err.http, 404);
    assert_non_null(strstr(err.text, "attaching to container memcal-nobody: the engine says: "));
    assert_non_null(strcasestr(err.text, "no such container"));
    assert_null(stream);
}

int run_stream_tests(struct bench *bench)
{
#define TEST(f) cmocka_unit_test_prestate(f, bench)
    const struct CMUnitTest tests[] = {
        TEST(lines_both_ways),
        TEST(both_streams_apart),
        TEST(death_ends_the_stream),
        TEST(our_death_ends_the_process),
        TEST(long_line_arrives_whole),
        TEST(unread_output_waits),
        TEST(writing_much_reads_on),
        TEST(nothing_there_is_told_apart),
        TEST(attaching_to_nothing_is_said),
    };
#undef TEST
    return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}
