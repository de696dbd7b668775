#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "protocol/channel.h"
#include "protocol/journal.h"

/* ---- Frames ---- */

/* Decodes a command and encodes it again: what memcal knows of it comes out. */
static void again_command(const char *in, const char *out)
{
    struct mc_err err;
    struct mc_command command;
    MC_AUTOBUF struct mc_buf line = MC_BUF_OWN;
    if (mc_command_decode(in, strlen(in), &command, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(mc_command_encode(&command, &line, &err), 0);
    mc_command_release(&command);
    assert_true(line.len > 0 && line.data[line.len - 1] == '\n');
    line.data[line.len - 1] = '\0';
    assert_string_equal(line.data, out);
}

static void again_notice(const char *in, enum mc_role from, const char *out)
{
    struct mc_err err;
    struct mc_notice notice;
    MC_AUTOBUF struct mc_buf line = MC_BUF_OWN;
    if (mc_notice_decode(in, strlen(in), from, &notice, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(mc_notice_encode(&notice, &line, &err), 0);
    mc_notice_release(&notice);
    line.data[line.len - 1] = '\0';
    assert_string_equal(line.data, out);
}

#define INITIALIZE                                                                                     \
    "\"limits\":{\"context_tokens\":131072,\"tool_calls\":20,\"turn_s\":120},\"model\":{\"base_url\":" \
    "\"http://127.0.0.1:8080/v1\",\"name\":\"m\",\"token\":\"t\"},\"namespace\":\"ns\","

static void commands_survive_decoding_and_encoding(void **state)
{
    (void)state;
    static const char *const same[] = {
        "{\"type\":\"secrets\",\"values\":{\"A\":\"x\"}}",
        "{\"config\":{\"a\":1}," INITIALIZE "\"protocol\":1,\"provider\":{\"memory_path\":\"/memcal/memory\",\"name\":"
        "\"fts\",\"plugin\":{\"name\":\"fts\",\"path\":\"/memcal/plugin\"},\"ports\":[7001]},\"role\":\"harness\","
        "\"scenario_time\":\"2026-08-07T09:00:00-04:00\",\"timezone\":\"America/New_York\",\"tools\":{\"allow\":"
        "[\"fts_search\"]},\"trial\":\"t1\",\"type\":\"initialize\"}",
        "{\"config\":{}," INITIALIZE "\"protocol\":1,\"role\":\"provider\",\"scenario_time\":"
        "\"2026-08-07T09:00:00-04:00\",\"timezone\":\"UTC\",\"tools\":{\"allow\":[]},\"trial\":\"t1\",\"type\":"
        "\"initialize\"}",
        "{\"budget\":{\"tokens\":1000,\"usd\":0.5},\"config\":{}," INITIALIZE "\"prices\":{\"m\":{\"input\":1,"
        "\"output\":2}},\"protocol\":1,\"role\":\"sidecar\",\"scenario_time\":\"2026-08-07T09:00:00-04:00\","
        "\"timezone\":\"UTC\",\"tokens\":{\"harness\":\"h\",\"provider\":\"p\"},\"tools\":{\"allow\":[]},\"trial\":"
        "\"t1\",\"type\":\"initialize\",\"upstream\":{\"base_url\":\"https://x/v1\",\"kind\":\"openai\",\"model\":"
        "\"y\",\"secret\":\"KEY\"}}",
        "{\"deadline_ms\":60000,\"kind\":\"probe\",\"scenario_time\":\"2026-08-07T09:00:00-04:00\",\"session\":\"s\","
        "\"text\":\"Where is \\\"poker\\\"?\\n\",\"turn\":\"t\",\"type\":\"turn.start\"}",
        "{\"turn\":\"t\",\"type\":\"turn.cancel\"}",
        "{\"session\":\"s\",\"type\":\"session.end\"}",
        "{\"batch\":\"b\",\"boundary\":\"2026-08-07T09:00:00-04:00\",\"observations\":[{\"source_id\":\"1\"}],\"type\":"
        "\"import\"}",
        "{\"night\":\"n\",\"type\":\"maintain\"}",
        "{\"operation\":\"o\",\"type\":\"operation.status\"}",
        "{\"limit_calls\":5,\"scenario_time\":\"2026-08-07T09:00:00-04:00\",\"step\":\"s\",\"type\":\"clock.set\"}",
        "{\"scenario_time\":\"2026-08-07T09:00:00-04:00\",\"step\":\"s\",\"type\":\"clock.set\"}",
        "{\"type\":\"shutdown\"}"};
    for (size_t i = 0; i < MC_COUNT(same); i++) {
        again_command(same[i], same[i]);
    }
    again_command(" { \"type\" : \"shutdown\", \"new_in_version_2\": [1] } ", "{\"type\":\"shutdown\"}");
    again_command(
        "{\"type\":\"clock.set\",\"scenario_time\":\"2026-08-07T09:00:00Z\",\"step\":\"s\",\"limit_calls\":null}",
        "{\"scenario_time\":\"2026-08-07T09:00:00+00:00\",\"step\":\"s\",\"type\":\"clock.set\"}");
}

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define MODEL_CALL                                                                                                  \
    "{\"data\":{\"call\":3,\"cost_usd\":0.25,\"duration_ms\":12.5,\"error\":\"e\",\"first_byte_ms\":1.5,\"model\":" \
    "\"m\",\"path\":\"/chat/completions\",\"request\":\"" DIGEST "\",\"request_bytes\":10,\"response\":\"" DIGEST   \
    "\",\"response_bytes\":20,\"role\":\"harness\",\"status\":200,\"step\":\"s\",\"stream\":true,\"tool_calls\":"   \
    "[\"a\"],\"tools_offered\":[\"a\",\"b\"],\"tries\":1,\"upstream\":\"openai\",\"usage\":{\"cached_input\":null," \
    "\"input\":5,\"output\":6,\"reasoning\":0}},\"kind\":\"model.call\",\"seq\":1,\"type\":\"event\"}"

static void notices_survive_decoding_and_encoding(void **state)
{
    (void)state;
    static const struct {
        enum mc_role from;
        const char *text;
    } same[] = {
        {MC_HARNESS, "{\"capabilities\":{\"a\":1},\"name\":\"n\",\"protocol\":1,\"seq\":1,\"tools\":[\"t\"],\"type\":"
                     "\"ready\",\"version\":\"1\"}"},
        {MC_HARNESS, "{\"at\":\"2026-08-07T09:00:00.123-04:00\",\"data\":{\"content\":\"c\",\"role\":\"user\","
                     "\"session\":\"s\"},\"kind\":\"message\",\"seq\":9,\"turn\":\"t\",\"type\":\"event\"}"},
        {MC_HARNESS, "{\"answer\":\"\",\"seq\":1,\"turn\":\"t\",\"type\":\"turn.completed\",\"usage\":{"
                     "\"cached_input\":null,\"input\":1,\"output\":2,\"reasoning\":0}}"},
        {MC_HARNESS,
         "{\"message\":\"m\",\"reason\":\"tool_policy\",\"seq\":1,\"turn\":\"t\",\"type\":\"turn.failed\"}"},
        {MC_HARNESS, "{\"seq\":1,\"session\":\"s\",\"type\":\"session.ended\"}"},
        {MC_PROVIDER, "{\"batch\":\"b\",\"operation\":\"o\",\"seq\":1,\"type\":\"accepted\"}"},
        {MC_PROVIDER, "{\"night\":\"n\",\"operation\":\"o\",\"seq\":1,\"type\":\"accepted\"}"},
        {MC_PROVIDER, "{\"detail\":\"d\",\"operation\":\"o\",\"seq\":1,\"state\":\"failed\",\"type\":\"operation\"}"},
        {MC_PROVIDER, "{\"operation\":\"o\",\"seq\":1,\"state\":\"running\",\"type\":\"operation\"}"},
        {MC_SIDECAR, "{\"offset_s\":-9986429.75,\"scenario_time\":\"2026-08-07T09:00:00-04:00\",\"seq\":1,\"step\":"
                     "\"s\",\"type\":\"clock\"}"},
        {MC_SIDECAR, MODEL_CALL},
        {MC_SIDECAR, "{\"data\":{\"call\":0,\"detail\":\"d\",\"layer\":\"wire\",\"rule\":\"token\",\"step\":\"s\"},"
                     "\"kind\":\"violation\",\"seq\":1,\"type\":\"event\"}"},
        {MC_SIDECAR, "{\"seq\":1,\"type\":\"bye\"}"}};
    for (size_t i = 0; i < MC_COUNT(same); i++) {
        again_notice(same[i].text, same[i].from, same[i].text);
    }
    again_notice(
        "{\"type\":\"turn.completed\",\"seq\":1,\"turn\":\"t\",\"answer\":\"a\",\"more\":0}", MC_HARNESS,
        "{\"answer\":\"a\",\"seq\":1,\"turn\":\"t\",\"type\":\"turn.completed\",\"usage\":{\"cached_input\":null,"
        "\"input\":null,\"output\":null,\"reasoning\":null}}");
}

static void a_model_calls_fields_are_read(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_notice notice;
    assert_int_equal(mc_notice_decode(MODEL_CALL, strlen(MODEL_CALL), MC_SIDECAR, &notice, &err), 0);
    const struct mc_model_call *call = &notice.event.model_call;
    assert_int_equal(notice.event.kind, MC_EVENT_MODEL_CALL);
    assert_int_equal(call->call, 3);
    assert_int_equal(call->role, MC_HARNESS);
    assert_int_equal(call->status, 200);
    assert_true(call->stream);
    assert_true(call->cost_usd == 0.25);
    assert_int_equal(call->usage.cached_input, MC_UNKNOWN);
    assert_int_equal(call->usage.reasoning, 0);
    assert_string_equal(call->response, DIGEST);
    assert_int_equal(json_array_size(call->tools_offered), 2);
    assert_string_equal(call->error, "e");
    mc_notice_release(&notice);
    assert_null(notice.json);
}

/* The model call above with one text in it replaced by another. */
static char *model_call_with(const char *old, const char *new)
{
    const char *at = strstr(MODEL_CALL, old);
    assert_non_null(at);
    return mc_strf("%.*s%s%s", (int)(at - MODEL_CALL), MODEL_CALL, new, at + strlen(old));
}

static void bad_model_calls_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *old;
        const char *new;
        const char *error;
    } cases[] = {
        {"\"call\":3", "\"call\":0", "frame event: .data.call: must be 1 to 9223372036854775807, is 0"},
        {"\"cost_usd\":0.25", "\"cost_usd\":-1", "frame event: .data.cost_usd: must not be below 0"},
        {"\"role\":\"harness\"", "\"role\":\"sidecar\"",
         "frame event: .data.role: must be one of harness, provider, is \"sidecar\""},
        {"\"request\":\"0", "\"request\":\"X",
         "frame event: .data.request: must be a SHA-256 in 64 lower-case hexadecimal digits"},
        {"\"tool_calls\":[\"a\"]", "\"tool_calls\":[7]", "frame event: .data.tool_calls[0]: must be text"},
        {"\"input\":5", "\"input\":5.5", "frame event: .data.usage.input: must be a whole number, is a number"},
        {"\"status\":200,", "", "frame event: .data: \"status\" is missing"}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err;
        struct mc_notice notice;
        MC_AUTOFREE char *text = model_call_with(cases[i].old, cases[i].new);
        assert_int_equal(mc_notice_decode(text, strlen(text), MC_SIDECAR, &notice, &err), MC_PROTOCOL);
        assert_string_equal(err.text, cases[i].error);
    }
}

static void bad_notices_are_refused(void **state)
{
    (void)state;
    static const struct {
        enum mc_role from;
        const char *text;
        const char *error;
    } cases[] = {
        {MC_HARNESS, "", "not valid JSON at column 0: unexpected token near end of file"},
        {MC_HARNESS, "hello", "not valid JSON at column 5: invalid token near 'hello'"},
        {MC_HARNESS, "[1]", ".: must be an object, is a list"},
        {MC_HARNESS, "{}", ".: \"type\" is missing"},
        {MC_HARNESS, "{\"type\":\"redy\"}",
         ".type: must be one of ready, event, turn.completed, turn.failed, session.ended, accepted, operation, clock, "
         "bye, is \"redy\""},
        {MC_HARNESS, "{\"type\":\"bye\"}", "frame bye: .: \"seq\" is missing"},
        {MC_HARNESS, "{\"type\":\"bye\",\"seq\":0}", "frame bye: .seq: must be 1 to 9223372036854775807, is 0"},
        {MC_HARNESS, "{\"type\":\"bye\",\"seq\":\"1\"}", "frame bye: .seq: must be a whole number, is text"},
        {MC_HARNESS, "{\"type\":\"bye\",\"seq\":1,\"seq\":2}",
         "not valid JSON at column 27: duplicate object key near '\"seq\"'"},
        {MC_HARNESS, "{\"type\":\"bye\",\"seq\":1,\"at\":\"2026-08-07T09:00:00\"}", NULL},
        {MC_HARNESS, "{\"type\":\"turn.completed\",\"seq\":1,\"turn\":\"t\"}",
         "frame turn.completed: .: \"answer\" is missing"},
        {MC_HARNESS, "{\"type\":\"turn.completed\",\"seq\":1,\"turn\":\"\",\"answer\":\"\"}",
         "frame turn.completed: .turn: must have 1 to 200 characters, has 0"},
        {MC_HARNESS, "{\"type\":\"turn.completed\",\"seq\":1,\"turn\":\"t\",\"answer\":\"\",\"usage\":{\"input\":-1}}",
         "frame turn.completed: .usage.input: must be 0 to 9223372036854775807, is -1"},
        {MC_HARNESS, "{\"type\":\"turn.failed\",\"seq\":1,\"turn\":\"t\",\"reason\":\"tired\",\"message\":\"\"}",
         "frame turn.failed: .reason: must be one of deadline, cancelled, tool_policy, error, is \"tired\""},
        {MC_HARNESS,
         "{\"type\":\"event\",\"seq\":1,\"kind\":\"tool.call\",\"data\":{\"id\":\"1\",\"name\":\"n\","
         "\"arguments\":{}}}",
         "frame event: .data.arguments: must be text, is an object"},
        {MC_HARNESS, "{\"type\":\"event\",\"seq\":1,\"kind\":\"tool.denied\",\"data\":{\"name\":\"n\",\"rule\":\"r\"}}",
         "frame event: .data: \"layer\" is missing"},
        {MC_HARNESS, "{\"type\":\"event\",\"seq\":1,\"kind\":\"usage\",\"data\":{\"calls\":true}}",
         "frame event: .data.calls: must be a whole number, is true or false"},
        {MC_HARNESS, "{\"type\":\"event\",\"seq\":1,\"kind\":\"violation\",\"data\":{}}",
         "frame event: only the sidecar may send an event violation, this is the harness"},
        {MC_PROVIDER, "{\"type\":\"event\",\"seq\":1,\"kind\":\"model.call\",\"data\":{}}",
         "frame event: only the sidecar may send an event model.call, this is the provider"},
        {MC_HARNESS, "{\"type\":\"clock\",\"seq\":1}", "frame clock: the harness may not send it"},
        {MC_SIDECAR, "{\"type\":\"turn.completed\",\"seq\":1}", "frame turn.completed: the sidecar may not send it"},
        {MC_PROVIDER, "{\"type\":\"accepted\",\"seq\":1,\"operation\":\"o\"}",
         "frame accepted: .: must have either \"batch\" or \"night\""},
        {MC_PROVIDER, "{\"type\":\"accepted\",\"seq\":1,\"operation\":\"o\",\"batch\":\"b\",\"night\":\"n\"}",
         "frame accepted: .: must have either \"batch\" or \"night\""},
        {MC_HARNESS,
         "{\"type\":\"ready\",\"seq\":1,\"name\":\"n\",\"version\":\"1\",\"protocol\":2,\"tools\":[],"
         "\"capabilities\":{}}",
         "frame ready: .protocol: must be 1 to 1, is 2"}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err;
        struct mc_notice notice;
        assert_int_equal(mc_notice_decode(cases[i].text, strlen(cases[i].text), cases[i].from, &notice, &err),
                         MC_PROTOCOL);
        if (cases[i].error) {
            assert_string_equal(err.text, cases[i].error);
        }
        assert_null(notice.json);
    }
}

static void bad_commands_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"{\"type\":\"secrets\",\"values\":{\"A\":1}}", "frame secrets: .values.A: must be text"},
        {"{\"type\":\"initialize\",\"protocol\":1,\"role\":\"cook\"}",
         "frame initialize: .role: must be one of harness, provider, sidecar, is \"cook\""},
        {"{\"type\":\"turn.start\",\"turn\":\"t\",\"session\":\"s\",\"kind\":\"turn\",\"scenario_time\":"
         "\"2026-08-07T09:00:00Z\",\"deadline_ms\":0}",
         "frame turn.start: .deadline_ms: must be 1 to 9223372036854775807, is 0"},
        {"{\"type\":\"import\",\"batch\":\"b\",\"boundary\":\"2026-08-07T09:00:00Z\",\"observations\":[\"x\"]}",
         "frame import: .observations[0]: must be an object"},
        {"{\"type\":\"clock.set\",\"scenario_time\":\"2026-08-07T09:00:00Z\",\"step\":\"a\\u0001b\"}",
         "frame clock.set: .step: must not hold control characters"}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err;
        struct mc_command command;
        assert_int_equal(mc_command_decode(cases[i].text, strlen(cases[i].text), &command, &err), MC_PROTOCOL);
        assert_string_equal(err.text, cases[i].error);
    }
}

static void frames_have_a_limit(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_notice notice;
    char *text = mc_alloc(MC_FRAME_MAX + 1, 1);
    memset(text, 'x', MC_FRAME_MAX);
    assert_int_equal(mc_notice_decode(text, MC_FRAME_MAX, MC_HARNESS, &notice, &err), MC_PROTOCOL);
    assert_string_equal(err.text, "a frame of 8388609 bytes is longer than the 8388608 allowed");
    struct mc_command command = {.type = MC_CMD_TURN_START};
    command.turn_start = (struct mc_turn_start){.turn = "t", .session = "s", .deadline_ms = 1, .text = text};
    MC_AUTOBUF struct mc_buf line = MC_BUF_OWN;
    assert_int_equal(mc_command_encode(&command, &line, &err), MC_LIMIT);
    assert_non_null(strstr(err.text, "a frame turn.start would have 83887"));
    assert_int_equal(line.len, 0);
    command.turn_start.text = "\xff";
    assert_int_equal(mc_command_encode(&command, &line, &err), MC_INPUT);
    assert_string_equal(err.text, "encoding a frame turn.start: a text in it is missing or not UTF-8");
    free(text);
}

/* ---- Lines ---- */

static void lines_come_out_however_they_came_in(void **state)
{
    (void)state;
    static const char stream[] = "one\n\ntwo \xc3\xa9\nthree";
    for (size_t size = 1; size <= sizeof stream - 1; size++) {
        struct mc_err err;
        struct mc_lines lines;
        struct mc_line line;
        MC_AUTOBUF struct mc_buf got = MC_BUF_OWN;
        mc_lines_init(&lines, 16);
        for (size_t at = 0; at < sizeof stream - 1; at += size) {
            size_t left = sizeof stream - 1 - at;
            mc_lines_feed(&lines, stream + at, left < size ? left : size);
            int ready = mc_lines_ready(&lines);
            while (mc_lines_next(&lines, &line, &err) == 1) {
                assert_true(ready);
                assert_int_equal(strlen(line.text), line.length);
                mc_buf_putf(&got, "%s|", line.text);
                ready = mc_lines_ready(&lines);
            }
            assert_false(ready);
        }
        assert_string_equal(mc_buf_text(&got), "one||two \xc3\xa9|");
        assert_int_equal(mc_lines_end(&lines, &line, &err), MC_PROTOCOL);
        assert_string_equal(err.text, "the stream ended within a line: its last 5 bytes have no newline");
        assert_int_equal(line.length, 5);
        mc_lines_release(&lines);
    }
}

static void expect_line_error(const char *bytes, const char *error, size_t length)
{
    struct mc_err err;
    struct mc_lines lines;
    struct mc_line line;
    mc_lines_init(&lines, 8);
    mc_lines_feed(&lines, bytes, strlen(bytes));
    assert_int_equal(mc_lines_next(&lines, &line, &err), MC_PROTOCOL);
    assert_string_equal(err.text, error);
    assert_int_equal(line.length, length);
    mc_lines_release(&lines);
}

static void bad_lines_are_refused_and_shown(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_lines lines;
    struct mc_line line;
    expect_line_error("12345678\n", "a line is longer than the 8 bytes allowed", 8);
    expect_line_error("12345678", "a line is longer than the 8 bytes allowed", 8);
    expect_line_error("ab\xff\n", "byte 3 of a line is not UTF-8", 3);
    mc_lines_init(&lines, 8);
    mc_lines_feed(&lines, "1234567\n\n", 9);
    assert_int_equal(mc_lines_next(&lines, &line, &err), 1);
    assert_int_equal(line.length, 7);
    assert_int_equal(mc_lines_next(&lines, &line, &err), 1);
    assert_int_equal(line.length, 0);
    assert_int_equal(mc_lines_next(&lines, &line, &err), 0);
    assert_int_equal(mc_lines_end(&lines, &line, &err), 0);
    mc_lines_release(&lines);
}

static void utf8_is_checked(void **state)
{
    (void)state;
    static const char *const good[] = {
        "", "a", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xe2\x82",
                                      "\xe2\x28\xa1"};
    for (size_t i = 0; i < MC_COUNT(good); i++) {
        assert_int_equal(mc_utf8_valid(good[i], strlen(good[i])), strlen(good[i]));
    }
    for (size_t i = 0; i < MC_COUNT(bad); i++) {
        MC_AUTOFREE char *text = mc_strf("ok%s", bad[i]);
        assert_int_equal(mc_utf8_valid(text, strlen(text)), 2);
    }
}

/* ---- Channels ---- */

/* A program's end: what it sends is written to `program`, on stdout, or put into `errors`, on stderr. */
struct peer {
    int fd;
    int program;
    const char *errors;
    struct mc_buf recorded; /* lines, each followed by '|' or, where bad, by the error */
    struct mc_buf stderr_text;
    int refuse; /* the recorder fails */
};

static int peer_fd(void *self)
{
    return ((struct peer *)self)->fd;
}

static int peer_read(void *self, enum mc_output *stream, void *bytes, size_t room, size_t *length, struct mc_err *err)
{
    struct peer *peer = self;
    *length = 0;
    if (peer->errors) {
        *stream = MC_STDERR;
        *length = strlen(peer->errors);
        memcpy(bytes, peer->errors, *length);
        peer->errors = NULL;
        return 0;
    }
    *stream = MC_STDOUT;
    ssize_t n = recv(peer->fd, bytes, room, MSG_DONTWAIT);
    if (n == 0) {
        return mc_fail(err, MC_CLOSED, "closed");
    }
    *length = n > 0 ? (size_t)n : 0;
    return 0;
}

static int peer_write(void *self, const void *bytes, size_t length, struct mc_until until, struct mc_err *err)
{
    (void)until;
    return mc_fs_write_all(((struct peer *)self)->fd, bytes, length, "the socket", err);
}

static int peer_close(void *self, struct mc_err *err)
{
    (void)err;
    return shutdown(((struct peer *)self)->fd, SHUT_WR);
}

static int peer_record(void *payload, const char *line, size_t length, const struct mc_err *bad, struct mc_err *err)
{
    struct peer *peer = payload;
    mc_buf_put(&peer->recorded, line, length);
    mc_buf_puts(&peer->recorded, bad ? " BAD|" : "|");
    return peer->refuse ? mc_fail(err, MC_IO, "the store is full") : 0;
}

static int peer_stderr(void *payload, const void *bytes, size_t length, struct mc_err *err)
{
    (void)err;
    mc_buf_put(&((struct peer *)payload)->stderr_text, bytes, length);
    return 0;
}

static void open_channel(struct mc_channel *channel, struct peer *peer, int64_t last_seq)
{
    static const struct mc_duplex_ops ops = {peer_fd, peer_read, peer_write, peer_close};
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    *peer = (struct peer){.fd = fds[0], .program = fds[1], .recorded = MC_BUF_OWN, .stderr_text = MC_BUF_OWN};
    struct mc_duplex duplex = {&ops, peer};
    struct mc_channel_hooks hooks = {peer_record, peer_stderr, peer};
    mc_channel_init(channel, "harness", MC_HARNESS, duplex, hooks, last_seq);
}

static void close_channel(struct mc_channel *channel, struct peer *peer)
{
    mc_channel_release(channel);
    close(peer->fd);
    if (peer->program >= 0) {
        close(peer->program);
    }
    mc_buf_release(&peer->recorded);
    mc_buf_release(&peer->stderr_text);
}

static void say(const struct peer *peer, const char *text)
{
    assert_int_equal(write(peer->program, text, strlen(text)), (ssize_t)strlen(text));
}

static void frames_travel_both_ways(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_channel channel;
    struct peer peer;
    struct mc_notice notice;
    char bytes[100] = "";
    open_channel(&channel, &peer, 0);
    struct mc_command command = {.type = MC_CMD_TURN_CANCEL, .turn = "t"};
    assert_int_equal(mc_channel_send(&channel, &command, mc_within(1000, NULL), &err), 0);
    assert_true(read(peer.program, bytes, sizeof bytes - 1) > 0);
    assert_string_equal(bytes, "{\"turn\":\"t\",\"type\":\"turn.cancel\"}\n");

    assert_int_equal(mc_channel_try(&channel, &notice, &err), 0);
    peer.errors = "Traceback";
    say(&peer, "{\"type\":\"session.ended\",\"seq\":1,\"session\":\"a\"}\n{\"type\":\"bye\",\"seq\":2}\n{\"typ");
    struct pollfd readable = {.fd = mc_channel_fd(&channel), .events = POLLIN, .revents = 0};
    assert_int_equal(poll(&readable, 1, 1000), 1);
    assert_int_equal(mc_channel_next(&channel, &notice, mc_within(1000, NULL), &err), 0);
    assert_string_equal(notice.session, "a");
    mc_notice_release(&notice);
    assert_true(mc_channel_buffered(&channel));
    assert_int_equal(mc_channel_try(&channel, &notice, &err), 1);
    assert_int_equal(notice.type, MC_BYE);
    mc_notice_release(&notice);
    assert_false(mc_channel_buffered(&channel));
    assert_int_equal(mc_channel_next(&channel, &notice, mc_within(50, NULL), &err), MC_TIMEOUT);
    assert_string_equal(mc_buf_text(&peer.stderr_text), "Traceback");
    assert_string_equal(mc_buf_text(&peer.recorded),
                        "{\"type\":\"session.ended\",\"seq\":1,\"session\":\"a\"}|{\"type\":\"bye\",\"seq\":2}|");
    close(peer.program);
    peer.program = -1;
    assert_int_equal(mc_channel_next(&channel, &notice, mc_within(1000, NULL), &err), MC_PROTOCOL);
    assert_string_equal(err.text, "the harness broke the protocol: the stream ended within a line: its last 5 bytes "
                                  "have no newline");
    close_channel(&channel, &peer);
}

static void the_end_of_the_stream_is_told(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_channel channel;
    struct peer peer;
    struct mc_notice notice;
    open_channel(&channel, &peer, 4);
    say(&peer, "{\"type\":\"bye\",\"seq\":5}\n");
    assert_int_equal(mc_channel_close_write(&channel, &err), 0);
    close(peer.program);
    peer.program = -1;
    assert_int_equal(mc_channel_next(&channel, &notice, mc_within(1000, NULL), &err), 0);
    mc_notice_release(&notice);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mc_channel_next(&channel, &notice, mc_within(1000, NULL), &err), MC_CLOSED);
        assert_string_equal(err.text, "the harness closed its output");
        assert_int_equal(mc_channel_fd(&channel), -1);
    }
    close_channel(&channel, &peer);
}

static void expect_refused(int64_t last_seq, const char *text, const char *error)
{
    struct mc_err err;
    struct mc_channel channel;
    struct peer peer;
    struct mc_notice notice;
    open_channel(&channel, &peer, last_seq);
    say(&peer, text);
    for (int i = 0; i < 2; i++) { /* what follows a bad frame is not read */
        assert_int_equal(mc_channel_next(&channel, &notice, mc_within(1000, NULL), &err), MC_PROTOCOL);
        assert_string_equal(err.text, error);
    }
    MC_AUTOFREE char *recorded = mc_strndup(text, strcspn(text, "\n"));
    MC_AUTOFREE char *wanted = mc_strf("%s BAD|", recorded);
    assert_string_equal(mc_buf_text(&peer.recorded), wanted);
    close_channel(&channel, &peer);
}

static void bad_frames_are_recorded_and_end_the_channel(void **state)
{
    (void)state;
    expect_refused(0, "Loading model...\n{\"type\":\"bye\",\"seq\":1}\n",
                   "the harness broke the protocol: not valid JSON at column 7: invalid token near 'Loading'");
    expect_refused(4, "{\"type\":\"bye\",\"seq\":4}\n{\"type\":\"bye\",\"seq\":5}\n",
                   "the harness broke the protocol: frame bye has seq 4, expected 5: frames were lost or repeated");
    expect_refused(4, "{\"type\":\"bye\",\"seq\":6}\n",
                   "the harness broke the protocol: frame bye has seq 6, expected 5: frames were lost or repeated");
    expect_refused(0, "\xff\n", "the harness broke the protocol: byte 1 of a line is not UTF-8");
}

static void a_recorder_that_fails_stops_the_channel(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_channel channel;
    struct peer peer;
    struct mc_notice notice;
    open_channel(&channel, &peer, 0);
    peer.refuse = 1;
    say(&peer, "{\"type\":\"bye\",\"seq\":1}\n");
    assert_int_equal(mc_channel_next(&channel, &notice, mc_within(1000, NULL), &err), MC_IO);
    assert_string_equal(err.text, "the store is full");
    close_channel(&channel, &peer);
}

/* ---- Journals ---- */

static char *journal_path(void)
{
    char path[] = "/tmp/mc-journal-XXXXXX";
    close(mkstemp(path));
    unlink(path);
    return mc_strdup(path);
}

static void put_file(const char *path, const char *text)
{
    struct mc_err err;
    assert_int_equal(mc_fs_write(path, text, strlen(text), 0600, &err), 0);
}

static void expect_file(const char *path, const char *text)
{
    struct mc_err err;
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT((size_t)64 << 20);
    assert_int_equal(mc_fs_read(path, &bytes, &err), 0);
    assert_string_equal(mc_buf_text(&bytes), text);
}

static void journals_go_on_where_they_were(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_journal *journal = NULL;
    MC_AUTOFREE char *path = journal_path();
    assert_int_equal(mc_journal_open(path, &journal, &err), 0);
    assert_int_equal(mc_journal_last_seq(journal), 0);
    assert_int_equal(mc_journal_append(journal, 1, "{\"seq\":1}\n", 10, &err), 0);
    assert_int_equal(mc_journal_append(journal, 3, "{\"seq\":3}\n", 10, &err), MC_INTERNAL);
    assert_int_equal(mc_journal_append(journal, 2, "{\"seq\":2}\n", 10, &err), 0);
    mc_journal_close(journal);
    expect_file(path, "{\"seq\":1}\n{\"seq\":2}\n");

    /* A write that a crash stopped is cut off. */
    put_file(path, "{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3,\"ty");
    assert_int_equal(mc_journal_open(path, &journal, &err), 0);
    assert_int_equal(mc_journal_last_seq(journal), 2);
    assert_int_equal(mc_journal_append(journal, 3, "{\"seq\":3}\n", 10, &err), 0);
    mc_journal_close(journal);
    expect_file(path, "{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3}\n");

    put_file(path, "{\"seq\"");
    assert_int_equal(mc_journal_open(path, &journal, &err), 0);
    assert_int_equal(mc_journal_last_seq(journal), 0);
    mc_journal_close(journal);
    expect_file(path, "");

    put_file(path, "{\"seq\":1}\nnonsense\n");
    assert_int_equal(mc_journal_open(path, &journal, &err), MC_PROTOCOL);
    assert_non_null(strstr(err.text, "the last line of the journal: "));
    unlink(path);
}

static void long_journals_are_recovered_from_their_end(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_journal *journal = NULL;
    MC_AUTOFREE char *path = journal_path();
    MC_AUTOBUF struct mc_buf text = MC_BUF_OWN;
    char *filler = mc_alloc((size_t)7 << 20, 1);
    memset(filler, 'x', ((size_t)7 << 20) - 1);
    for (int seq = 1; seq <= 3; seq++) {
        mc_buf_putf(&text, "{\"seq\":%d,\"text\":\"%s\"}\n", seq, filler);
    }
    mc_buf_putf(&text, "{\"seq\":4,\"text\":\"%s", filler);
    assert_int_equal(mc_fs_write(path, text.data, text.len, 0600, &err), 0);
    assert_int_equal(mc_journal_open(path, &journal, &err), 0);
    assert_int_equal(mc_journal_last_seq(journal), 3);
    mc_journal_close(journal);
    memset(text.data, 'x', text.len);
    assert_int_equal(mc_fs_write(path, text.data, text.len, 0600, &err), 0);
    assert_int_equal(mc_journal_open(path, &journal, &err), MC_PROTOCOL);
    assert_non_null(strstr(err.text, "its last 16777216 bytes hold no newline: it is not a journal"));
    free(filler);
    unlink(path);
}

static int note_seq(void *payload, const char *line, size_t length, const struct mc_notice *notice, struct mc_err *err)
{
    struct mc_buf *out = payload;
    assert_int_equal(line[length], '\n');
    mc_buf_putf(out, "%lld,", (long long)notice->seq);
    return notice->seq == 9 ? mc_fail(err, MC_CANCELLED, "enough") : 0;
}

static void expect_reading(const char *text, int64_t after, int rc, const char *seen, const char *error)
{
    struct mc_err err;
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    assert_int_equal(mc_journal_read(text, strlen(text), MC_HARNESS, after, note_seq, &out, &err), rc);
    assert_string_equal(mc_buf_text(&out), seen);
    if (error) {
        assert_string_equal(err.text, error);
    }
}

static void journals_are_read_from_a_seq_on(void **state)
{
    (void)state;
    static const char three[] =
        "{\"type\":\"bye\",\"seq\":1}\n{\"type\":\"bye\",\"seq\":2}\n{\"type\":\"bye\",\"seq\":3}\n";
    MC_AUTOFREE char *torn = mc_strf("%s{\"type\":\"by", three);
    MC_AUTOFREE char *repeated = mc_strf("%s{\"type\":\"bye\",\"seq\":3}\n", three);
    MC_AUTOFREE char *missing = mc_strf("%s{\"type\":\"bye\",\"seq\":5}\n", three);
    MC_AUTOFREE char *bad = mc_strf("%s\n", three);
    expect_reading(three, 0, 0, "1,2,3,", NULL);
    expect_reading(three, 2, 0, "3,", NULL);
    expect_reading(three, 7, 0, "", NULL);
    expect_reading(torn, 1, 0, "2,3,", NULL);
    expect_reading("", 0, 0, "", NULL);
    expect_reading(repeated, 0, MC_PROTOCOL, "1,2,3,",
                   "journal, line 4: seq is 3, expected 4: frames are missing or repeated");
    expect_reading(missing, 0, MC_PROTOCOL, "1,2,3,",
                   "journal, line 4: seq is 5, expected 4: frames are missing or repeated");
    expect_reading(bad, 3, MC_PROTOCOL, "",
                   "journal, line 4: not valid JSON at column 0: unexpected token near end of file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_survive_decoding_and_encoding),
        cmocka_unit_test(notices_survive_decoding_and_encoding),
        cmocka_unit_test(a_model_calls_fields_are_read),
        cmocka_unit_test(bad_model_calls_are_refused),
        cmocka_unit_test(bad_notices_are_refused),
        cmocka_unit_test(bad_commands_are_refused),
        cmocka_unit_test(frames_have_a_limit),
        cmocka_unit_test(lines_come_out_however_they_came_in),
        cmocka_unit_test(bad_lines_are_refused_and_shown),
        cmocka_unit_test(utf8_is_checked),
        cmocka_unit_test(frames_travel_both_ways),
        cmocka_unit_test(the_end_of_the_stream_is_told),
        cmocka_unit_test(bad_frames_are_recorded_and_end_the_channel),
        cmocka_unit_test(a_recorder_that_fails_stops_the_channel),
        cmocka_unit_test(journals_go_on_where_they_were),
        cmocka_unit_test(long_journals_are_recovered_from_their_end),
        cmocka_unit_test(journals_are_read_from_a_seq_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
