#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/buf.h"
#include "engine/demux.h"
#include "engine/head.h"

#define FRAMES                  \
    "\x01\0\0\0\0\0\0\x05hello" \
    "\x02\0\0\0\0\0\0\x03"      \
    "bad"                       \
    "\x01\0\0\0\0\0\0\0"        \
    "\0\0\0\0\0\0\0\x01!"       \
    "\x03\0\0\0\0\0\0\x04oops"

/* Feeds `bytes` in one part and collects by kind. */
static int feed(struct mc_demux *demux, const char *bytes, size_t length, struct mc_buf *by_kind, struct mc_err *err)
{
    while (length > 0) {
        struct mc_piece piece;
        int rc = mc_demux_next(demux, &bytes, &length, &piece, err);
        if (rc != 0) {
            return rc;
        }
        mc_buf_put(&by_kind[piece.kind], piece.bytes, piece.length);
    }
    return 0;
}

static void split_anywhere(void **state)
{
    (void)state;
    size_t total = sizeof FRAMES - 1;
    for (size_t first = 0; first <= total; first++) {
        for (size_t second = first; second <= total; second++) {
            struct mc_err err;
            struct mc_demux demux = MC_DEMUX_INIT;
            struct mc_buf kinds[5] = {MC_BUF_OWN, MC_BUF_OWN, MC_BUF_OWN, MC_BUF_OWN, MC_BUF_OWN};
            assert_int_equal(feed(&demux, FRAMES, first, kinds, &err), 0);
            assert_int_equal(feed(&demux, &FRAMES[first], second - first, kinds, &err), 0);
            assert_int_equal(feed(&demux, &FRAMES[second], total - second, kinds, &err), 0);
            assert_int_equal(mc_demux_end(&demux, &err), 0);
            assert_string_equal(mc_buf_text(&kinds[MC_PIECE_STDOUT]), "hello!");
            assert_string_equal(mc_buf_text(&kinds[MC_PIECE_STDERR]), "bad");
            assert_string_equal(mc_buf_text(&kinds[MC_PIECE_FAULT]), "oops");
            assert_int_equal(kinds[MC_PIECE_NONE].len, 0);
            for (size_t i = 0; i < 5; i++) {
                mc_buf_release(&kinds[i]);
            }
        }
    }
}

static void last_piece_is_marked(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_demux demux = MC_DEMUX_INIT;
    struct mc_piece piece;
    const char *bytes = FRAMES;
    size_t length = 10; /* header and "he" */
    assert_int_equal(mc_demux_next(&demux, &bytes, &length, &piece, &err), 0);
    assert_int_equal(piece.length, 2);
    assert_int_equal(piece.last, 0);
    length = 3;
    assert_int_equal(mc_demux_next(&demux, &bytes, &length, &piece, &err), 0);
    assert_int_equal(piece.length, 3);
    assert_int_equal(piece.last, 1);
}

/* EOF inside a header or a payload: the engine died; that is not an end. */
static void broken_off(void **state)
{
    (void)state;
    static const char one[] = "\x01\0\0\0\0\0\0\x05hello";
    for (size_t cut = 1; cut < sizeof one - 1; cut++) {
        struct mc_err err;
        struct mc_demux demux = MC_DEMUX_INIT;
        struct mc_buf kinds[5] = {MC_BUF_OWN, MC_BUF_OWN, MC_BUF_OWN, MC_BUF_OWN, MC_BUF_OWN};
        assert_int_equal(feed(&demux, one, cut, kinds, &err), 0);
        assert_int_equal(mc_demux_end(&demux, &err), MC_PROTOCOL);
        if (cut < 8) {
            assert_string_equal(err.text, "the engine's stream broke off inside a frame's header");
        } else if (cut == 10) {
            assert_string_equal(err.text, "the engine's stream broke off 3 bytes before the end of a frame");
        }
        for (size_t i = 0; i < 5; i++) {
            mc_buf_release(&kinds[i]);
        }
    }
}

static void wrong_headers(void **state)
{
    (void)state;
    static const char *const wrong[] = {"\x04\0\0\0\0\0\0\x01x", "\x01\x01\0\0\0\0\0\x01x", "\x01\0\x01\0\0\0\0\x01x",
                                        "\x01\0\0\x01\0\0\0\x01x", "HTTP/1.1 200"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct mc_err err;
        struct mc_demux demux = MC_DEMUX_INIT;
        struct mc_piece piece;
        const char *bytes = wrong[i];
        size_t length = 9;
        assert_int_equal(mc_demux_next(&demux, &bytes, &length, &piece, &err), MC_PROTOCOL);
        assert_non_null(strstr(err.text, "the engine's stream has a frame that begins "));
        assert_non_null(strstr(err.text, "is the container made with a TTY?"));
    }
}

static void largest_length_needs_no_memory(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_demux demux = MC_DEMUX_INIT;
    struct mc_piece piece;
    const char *bytes = "\x01\0\0\0\xff\xff\xff\xff"
                        "ab";
    size_t length = 10;
    assert_int_equal(mc_demux_next(&demux, &bytes, &length, &piece, &err), 0);
    assert_int_equal(piece.length, 2);
    assert_int_equal(mc_demux_end(&demux, &err), MC_PROTOCOL);
    assert_string_equal(err.text, "the engine's stream broke off 4294967293 bytes before the end of a frame");
}

static void head_comes_in_parts(void **state)
{
    (void)state;
    static const char answer[] = "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"
                                 "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n\x01\0\0\0";
    size_t head = strlen("HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"
                         "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
    for (size_t n = 0; n < sizeof answer; n++) {
        struct mc_err err;
        struct mc_head out;
        assert_int_equal(mc_head_parse(answer, n, &out, &err), n >= head);
        if (n >= head) {
            assert_int_equal(out.status, 101);
            assert_int_equal(out.size, head);
            assert_int_equal(out.length, -1);
            assert_int_equal(out.chunked, 0);
        }
    }
}

static int parse(const char *text, struct mc_head *out, struct mc_err *err)
{
    return mc_head_parse(text, strlen(text), out, err);
}

static void head_fields(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_head out;
    assert_int_equal(
        parse("HTTP/1.1 404 Not Found\r\ncontent-length:  27 \r\nX: Content-Length: 5\r\n\r\n", &out, &err), 1);
    assert_int_equal(out.status, 404);
    assert_int_equal(out.length, 27);
    assert_int_equal(parse("HTTP/1.0 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", &out, &err), 1);
    assert_int_equal(out.chunked, 1);
    assert_int_equal(parse("HTTP/1.1 200\n\n", &out, &err), 1); /* no reason, bare line feeds */
    assert_int_equal(out.status, 200);
    assert_int_equal(out.size, 14);
}

static void head_is_refused(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_head out;
    static const char *const wrong[] = {"SSH-2.0-OpenSSH_9.2\r\n", "H\r",         "HTTP/2.0 200 OK\r\n", "HTTP/1.1 2x0",
                                        "HTTP/1.1 2000 OK",        "\x15\x03\x01"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(parse(wrong[i], &out, &err), MC_PROTOCOL);
        assert_string_equal(err.text, "the answer is no HTTP: it comes from no container engine");
    }
    assert_int_equal(parse("HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\n", &out, &err), MC_PROTOCOL);
    assert_int_equal(parse("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", &out, &err), MC_PROTOCOL);
    assert_int_equal(parse("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", &out, &err), MC_PROTOCOL);
    assert_string_equal(err.text, "the engine's answer has a Content-Length that is no number");

    struct mc_buf large = MC_BUF_OWN;
    mc_buf_puts(&large, "HTTP/1.1 200 OK\r\n");
    while (large.len < MC_HEAD_MAX) {
        mc_buf_puts(&large, "X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n");
    }
    mc_buf_puts(&large, "\r\n");
    assert_int_equal(mc_head_parse(large.data, large.len, &out, &err), MC_LIMIT);
    assert_string_equal(err.text, "the head of the engine's answer is larger than 65536 bytes");
    mc_buf_release(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_anywhere),
        cmocka_unit_test(last_piece_is_marked),
        cmocka_unit_test(broken_off),
        cmocka_unit_test(wrong_headers),
        cmocka_unit_test(largest_length_needs_no_memory),
        cmocka_unit_test(head_comes_in_parts),
        cmocka_unit_test(head_fields),
        cmocka_unit_test(head_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
