#include "sidecar_fixture.h"

#include "sidecar/sse.h"
#include "sidecar/wire.h"

static json_t *parse(const char *text)
{
    struct mc_err err;
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    json_t *json = mc_json_parse(text, strlen(text), &source, &err);
    if (!json) {
        fail_msg("%s in %s", err.text, text);
    }
    return json;
}

/* ---- Server-sent events ---- */

/* Feeds the stream in pieces of `size` and joins events with '|', data with '+'. */
static void cut(const char *stream, size_t size, struct mc_buf *out)
{
    struct mc_err err;
    struct mc_sse sse;
    struct mc_sse_event event;
    MC_AUTOBUF struct mc_buf data = MC_BUF_OWN;
    size_t length = strlen(stream);
    mc_sse_init(&sse);
    mc_buf_clear(out);
    for (size_t at = 0; at < length; at += size) {
        mc_sse_feed(&sse, stream + at, length - at < size ? length - at : size);
        while (mc_sse_next(&sse, &event, &err) == 1) {
            mc_buf_put(out, event.bytes, event.length);
            mc_buf_putf(out, "|%s+", mc_sse_data(&event, &data) ? mc_buf_text(&data) : "none");
        }
    }
    event = mc_sse_rest(&sse);
    mc_buf_put(out, event.bytes, event.length);
    mc_sse_release(&sse);
}

static void events_are_cut_alike_however_they_come(void **state)
{
    (void)state;
    static const struct {
        const char *stream;
        const char *wanted;
    } cases[] = {{"data: a\n\ndata:b\n\n", "data: a\n\n|a+data:b\n\n|b+"},
                 {"data: a\r\n\r\ndata: b\r\n\r\nx", "data: a\r\n\r\n|a+data: b\r\n\r\n|b+x"},
                 {"data: a\r\rdata: b\n\nx", "data: a\r\r|a+data: b\n\n|b+x"},
                 {"event: m\ndata: a\ndata:  b\nid: 1\n\n", "event: m\ndata: a\ndata:  b\nid: 1\n\n|a\n b+"},
                 {": ping\n\ndata\n\n", ": ping\n\n|none+data\n\n|none+"},
                 {"data: unfinished", "data: unfinished"}};
    MC_AUTOBUF struct mc_buf got = MC_BUF_OWN;
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        /* A CR that ends an event is only known to be alone once the next byte is there. */
        for (size_t size = 1; size <= strlen(cases[i].stream); size++) {
            cut(cases[i].stream, size, &got);
            assert_string_equal(mc_buf_text(&got), cases[i].wanted);
        }
    }
}

static void an_endless_event_is_refused(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_sse sse;
    struct mc_sse_event event;
    static char block[65536];
    memset(block, 'x', sizeof block);
    mc_sse_init(&sse);
    int rc = 0;
    for (int i = 0; i < 65 && rc == 0; i++) {
        mc_sse_feed(&sse, block, sizeof block);
        rc = mc_sse_next(&sse, &event, &err);
    }
    assert_int_equal(rc, MC_LIMIT);
    assert_string_equal(err.text, "an event of the stream is longer than 4194304 bytes");
    mc_sse_release(&sse);
}

/* ---- The wire boundary ---- */

static void offered_tools_are_read(void **state)
{
    (void)state;
    MC_AUTOJSON json_t *request =
        parse("{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"a\"}},{\"type\":\"function\",\"function\":"
              "{\"name\":\"a\"}},{\"type\":\"web_search\"},{\"type\":\"custom\",\"custom\":{\"name\":\"c\"}},{}],"
              "\"functions\":[{\"name\":\"old\"}],\"web_search_options\":{},\"plugins\":null}");
    MC_AUTOJSON json_t *names = mc_wire_tools_offered(request);
    MC_AUTOFREE char *text = mc_json_text(names);
    assert_string_equal(text, "[\"a\",\"web_search\",\"c\",\"(unnamed)\",\"old\",\"web_search_options\"]");
    MC_AUTOJSON json_t *same = parse("[\"b\",\"a\"]");
    MC_AUTOJSON json_t *other = parse("[\"a\",\"b\"]");
    MC_AUTOJSON json_t *less = parse("[\"a\"]");
    assert_true(mc_wire_same(same, other));
    assert_false(mc_wire_same(same, less));
    assert_false(mc_wire_same(less, same));
    assert_true(mc_wire_same(NULL, NULL));
    assert_false(mc_wire_same(less, NULL));
}

static void expect_usage(const char *body, int64_t input, int64_t cached, int64_t output, int64_t reasoning)
{
    struct mc_watch watch;
    MC_AUTOJSON json_t *json = parse(body);
    mc_watch_init(&watch, NULL);
    mc_watch_body(&watch, json);
    assert_int_equal(watch.usage.input, input);
    assert_int_equal(watch.usage.cached_input, cached);
    assert_int_equal(watch.usage.output, output);
    assert_int_equal(watch.usage.reasoning, reasoning);
    mc_watch_release(&watch);
}

static void usage_is_read_in_disjoint_classes(void **state)
{
    (void)state;
    expect_usage("{\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":50,\"prompt_tokens_details\":"
                 "{\"cached_tokens\":60},\"completion_tokens_details\":{\"reasoning_tokens\":20}}}",
                 40, 60, 30, 20);
    expect_usage("{\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":50}}", 100, -1, 50, -1);
    expect_usage("{\"usage\":{\"prompt_tokens\":100,\"prompt_tokens_details\":null}}", 100, -1, -1, -1);
    expect_usage("{\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":0,\"prompt_tokens_details\":{\"cached_tokens\":"
                 "0}}}",
                 5, 0, 0, -1);
    expect_usage("{\"usage\":{\"prompt_tokens\":\"many\",\"completion_tokens\":-3}}", -1, -1, -1, -1);
    expect_usage("{\"usage\":null}", -1, -1, -1, -1);
    expect_usage("{}", -1, -1, -1, -1);
}

/* Gives the chunks to a watch that allows "search" and "fact_store": P pass, H hold, R refuse; E is the end. */
static void expect_passages(const char *const *chunks, const char *wanted, const char *forbidden)
{
    struct mc_watch watch;
    MC_AUTOJSON json_t *allowed = parse("[\"search\",\"fact_store\"]");
    char got[20] = "";
    size_t i = 0;
    mc_watch_init(&watch, allowed);
    for (; chunks[i]; i++) {
        MC_AUTOFREE char *text = mc_strf("{\"choices\":[{\"index\":0,%s}]}", chunks[i]);
        MC_AUTOJSON json_t *chunk = parse(text);
        got[i] = "PHR"[mc_watch_chunk(&watch, chunk)];
    }
    got[i] = "PHR"[mc_watch_end(&watch)];
    assert_string_equal(got, wanted);
    assert_true(mc_streq(watch.forbidden, forbidden));
    mc_watch_release(&watch);
}

#define CALL(index, name, arguments)                                                                                 \
    "\"delta\":{\"tool_calls\":[{\"index\":" index ",\"function\":{\"name\":\"" name "\",\"arguments\":\"" arguments \
    "\"}}]}"
#define ARGUMENTS(index, arguments) \
    "\"delta\":{\"tool_calls\":[{\"index\":" index ",\"function\":{\"arguments\":\"" arguments "\"}}]}"

static void a_tools_name_is_awaited(void **state)
{
    (void)state;
    static const char *const text[] = {"\"delta\":{\"content\":\"hi\"}", "\"delta\":{},\"finish_reason\":\"stop\"",
                                       NULL};
    expect_passages(text, "PPP", NULL);
    static const char *const whole[] = {CALL("0", "search", ""), ARGUMENTS("0", "{"), ARGUMENTS("0", "}"), NULL};
    expect_passages(whole, "HPPP", NULL);
    static const char *const pieces[] = {CALL("0", "fact_", ""), CALL("0", "store", ""), ARGUMENTS("0", "{"), NULL};
    expect_passages(pieces, "HHPP", NULL);
    static const char *const repeated[] = {CALL("0", "search", "{"), CALL("0", "search", "}"), NULL};
    expect_passages(repeated, "PPP", NULL);
    static const char *const two[] = {CALL("0", "search", "{}"), CALL("1", "fact_store", ""), ARGUMENTS("1", "{}"),
                                      "\"delta\":{},\"finish_reason\":\"tool_calls\"", NULL};
    expect_passages(two, "PHPPP", NULL);
    static const char *const none[] = {CALL("0", "search", ""), "\"delta\":{},\"finish_reason\":\"tool_calls\"", NULL};
    expect_passages(none, "HPP", NULL);
    static const char *const open[] = {CALL("0", "search", ""), NULL};
    expect_passages(open, "HP", NULL);
}

static void a_forbidden_call_is_refused(void **state)
{
    (void)state;
    static const char *const at_once[] = {CALL("0", "terminal", "{}"), NULL};
    expect_passages(at_once, "RR", "terminal");
    static const char *const longer[] = {CALL("0", "search", ""), CALL("0", "_web", ""), ARGUMENTS("0", "{"), NULL};
    expect_passages(longer, "HHRR", "search_web");
    static const char *const after[] = {CALL("0", "search", "{"), CALL("0", "_web", "}"), NULL};
    expect_passages(after, "PRR", "search_web");
    static const char *const second[] = {CALL("0", "search", "{}"), CALL("1", "terminal", ""), NULL};
    expect_passages(second, "PHR", "terminal");
    static const char *const unnamed[] = {ARGUMENTS("0", "{"), NULL};
    expect_passages(unnamed, "RR", "(unnamed)");
    static const char *const older[] = {"\"delta\":{\"function_call\":{\"name\":\"terminal\",\"arguments\":\"{\"}}",
                                        NULL};
    expect_passages(older, "RR", "terminal");
    static const char *const whole[] = {"\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"terminal\"}}]}", NULL};
    expect_passages(whole, "HR", "terminal");
}

/* ---- Routes and tokens ---- */

static const char hello[] = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello.\"}]}";

static void expect_status(const struct fixture *fixture, const char *path, const char *token, const char *body,
                          long status, const char *code)
{
    struct http http;
    http_call(fixture, path, token, body, &http);
    assert_int_equal(http.status, status);
    if (code) {
        MC_AUTOFREE char *got = http_code(&http);
        assert_string_equal(got, code);
        assert_string_equal(http.type, "application/json");
    }
    mc_buf_release(&http.body);
}

static void routes(void **state)
{
    struct fixture fixture;
    struct http http;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    fixture_start(&fixture, &init);
    static const char *const probes[] = {"/api/v1/models", "/api/tags", "/v1/props", "/props",
                                         "/version",       "/models",   "/",         "/v1/responses"};
    for (size_t i = 0; i < MC_COUNT(probes); i++) {
        expect_status(&fixture, probes[i], NULL, NULL, 404, "not_found");
    }
    expect_status(&fixture, "/v1/chat/completions", harness_token, NULL, 404, "not_found"); /* GET */
    expect_status(&fixture, "/v1/models", harness_token, "{}", 404, "not_found");           /* POST */
    expect_status(&fixture, "/v1/chat/completions", harness_token, hello, 200, NULL);
    expect_status(&fixture, "/v1/chat/completions", provider_token, hello, 200, NULL);
    expect_status(&fixture, "/v1/chat/completions", harness_token, "{\"model\":", 400, "bad_request");
    expect_status(&fixture, "/v1/chat/completions", harness_token, "[]", 400, "bad_request");
    expect_status(&fixture, "/v1/chat/completions", harness_token, "{\"stream\":\"yes\"}", 400, "bad_request");
    expect_status(&fixture, "/v1/chat/completions", harness_token, "{\"tools\":[],\"tools\":[]}", 400, "bad_request");
    http_call(&fixture, "/v1/models", harness_token, NULL, &http);
    assert_int_equal(http.status, 200);
    assert_string_equal(mc_buf_text(&http.body),
                        "{\"data\":[{\"created\":0,\"id\":\"bench-model\",\"object\":\"model\","
                        "\"owned_by\":\"memcal\"}],\"object\":\"list\"}");
    mc_buf_release(&http.body);
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

static void a_wrong_token_is_a_violation(void **state)
{
    struct fixture fixture;
    size_t from = 0;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    init.initialize.gateway.provider_token = NULL;
    fixture_start(&fixture, &init);
    expect_status(&fixture, "/v1/chat/completions", NULL, hello, 401, "token");
    expect_status(&fixture, "/v1/chat/completions", "harness-token-1235", hello, 401, "token");
    expect_status(&fixture, "/v1/chat/completions", "harness-token-12345", hello, 401, "token");
    expect_status(&fixture, "/v1/chat/completions", "", hello, 401, "token");
    expect_status(&fixture, "/v1/chat/completions", provider_token, hello, 401, "token");
    expect_status(&fixture, "/v1/models", NULL, NULL, 401, "token");
    for (int i = 0; i < 6; i++) {
        const json_t *violation = fixture_event(&fixture, "violation", &from);
        assert_string_equal(json_string_value(json_object_get(violation, "rule")), "token");
        assert_string_equal(json_string_value(json_object_get(violation, "layer")), "wire");
        assert_string_equal(json_string_value(json_object_get(violation, "step")), "initialize");
        assert_int_equal(json_integer_value(json_object_get(violation, "call")), 0);
    }
    fixture_stop(&fixture);
    assert_int_equal(json_array_size(fixture.events), 6); /* none of them was a call */
    fixture_free(&fixture);
}

static void a_call_is_told_in_full(void **state)
{
    struct fixture fixture;
    struct mc_notice clock;
    struct http http;
    size_t from = 0;
    (void)state;
    MC_AUTOJSON json_t *prices = json_pack("{s:{s:f, s:f}}", "m", "input", 2.0, "output", 10.0);
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    init.initialize.gateway.prices = prices;
    fixture_start(&fixture, &init);
    fixture_step(&fixture, "turn-7", 1786107600000 + 60000, MC_UNKNOWN, &clock);
    mc_notice_release(&clock);
    http_call(&fixture, "/v1/chat/completions", provider_token, hello, &http);
    const json_t *call = fixture_event(&fixture, "model.call", &from);
    assert_int_equal(json_integer_value(json_object_get(call, "call")), 1);
    assert_string_equal(json_string_value(json_object_get(call, "step")), "turn-7");
    assert_string_equal(json_string_value(json_object_get(call, "role")), "provider");
    assert_string_equal(json_string_value(json_object_get(call, "path")), "/chat/completions");
    assert_string_equal(json_string_value(json_object_get(call, "model")), "m");
    assert_true(json_is_false(json_object_get(call, "stream")));
    assert_int_equal(json_integer_value(json_object_get(call, "status")), 200);
    assert_int_equal(json_integer_value(json_object_get(call, "request_bytes")), (json_int_t)strlen(hello));
    assert_int_equal(json_integer_value(json_object_get(call, "response_bytes")), (json_int_t)http.body.len);
    assert_int_equal(json_integer_value(json_object_get(call, "tries")), 1);
    assert_null(json_object_get(call, "error"));
    /* 36 bytes of messages are 9 tokens, "Noted." is 2. */
    double cost = json_number_value(json_object_get(call, "cost_usd"));
    assert_true(cost > (9 * 2.0 + 2 * 10.0) / 1e6 - 1e-12 && cost < (9 * 2.0 + 2 * 10.0) / 1e6 + 1e-12);
    struct mc_buf request = fixture_object(&fixture, call, "request");
    struct mc_buf response = fixture_object(&fixture, call, "response");
    assert_string_equal(mc_buf_text(&request), hello);
    assert_string_equal(mc_buf_text(&response), mc_buf_text(&http.body));
    mc_buf_release(&request);
    mc_buf_release(&response);
    mc_buf_release(&http.body);
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

/* ---- Tools ---- */

static char *chat_with_tools(const char *tools, int stream)
{
    return mc_strf("{\"messages\":[{\"role\":\"user\",\"content\":\"Hello.\"}]%s%s}", tools,
                   stream ? ",\"stream\":true" : "");
}

#define TOOL(name) "{\"type\":\"function\",\"function\":{\"name\":\"" name "\"}}"

static void offered_tools_must_be_the_allowed_ones(void **state)
{
    static const struct {
        const char *token;
        const char *tools;
        int stream;
        long status;
    } cases[] = {{harness_token, ",\"tools\":[" TOOL("b") "," TOOL("a") "]", 1, 200},
                 {harness_token, ",\"tools\":[" TOOL("a") "]", 1, 403},
                 {harness_token, ",\"tools\":[" TOOL("a") "," TOOL("b") "," TOOL("terminal") "]", 1, 403},
                 {harness_token, ",\"tools\":[" TOOL("a") "," TOOL("b") ",{\"type\":\"web_search\"}]", 0, 403},
                 {harness_token, ",\"tools\":[" TOOL("a") "," TOOL("b") "],\"web_search_options\":{}", 0, 403},
                 {harness_token, "", 1, 403},
                 {harness_token, "", 0, 200}, /* a summary of the harness's own */
                 {provider_token, ",\"tools\":[" TOOL("extract") "]", 0, 200}};
    struct fixture fixture;
    size_t from = 0;
    int refused = 0;
    (void)state;
    MC_AUTOJSON json_t *allow = parse("[\"a\",\"b\"]");
    fixture_init(&fixture);
    struct mc_command init = fixture_command(allow);
    fixture_start(&fixture, &init);
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        MC_AUTOFREE char *body = chat_with_tools(cases[i].tools, cases[i].stream);
        expect_status(&fixture, "/v1/chat/completions", cases[i].token, body, cases[i].status,
                      cases[i].status == 403 ? "tools_offered" : NULL);
        refused += cases[i].status == 403;
    }
    for (int i = 0; i < refused; i++) {
        const json_t *violation = fixture_event(&fixture, "violation", &from);
        assert_string_equal(json_string_value(json_object_get(violation, "rule")), "tools_offered");
        if (i == 0) {
            assert_int_equal(json_integer_value(json_object_get(violation, "call")), 2);
            assert_string_equal(json_string_value(json_object_get(violation, "detail")),
                                "the request offers the tools [\"a\"], allowed are exactly [\"a\",\"b\"]");
        }
    }
    from = 0;
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        const json_t *call = fixture_event(&fixture, "model.call", &from);
        assert_int_equal(json_integer_value(json_object_get(call, "status")), cases[i].status);
        assert_string_equal(json_string_value(json_object_get(call, "upstream")),
                            cases[i].status == 403 ? "none" : "script/extractive");
    }
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

/* ---- Limits ---- */

static void a_spent_budget_stops_calls(void **state)
{
    struct fixture fixture;
    size_t from = 0;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    init.initialize.gateway.budget_tokens = 20; /* one call takes 11 */
    fixture_start(&fixture, &init);
    expect_status(&fixture, "/v1/chat/completions", harness_token, hello, 200, NULL);
    expect_status(&fixture, "/v1/chat/completions", harness_token, hello, 200, NULL);
    expect_status(&fixture, "/v1/chat/completions", harness_token, hello, 402, "budget");
    const json_t *violation = fixture_event(&fixture, "violation", &from);
    assert_string_equal(json_string_value(json_object_get(violation, "rule")), "budget");
    assert_string_equal(json_string_value(json_object_get(violation, "detail")),
                        "the budget of 20 tokens is spent (22)");
    assert_int_equal(json_integer_value(json_object_get(violation, "call")), 3);
    assert_int_equal(fixture_join(&fixture), 0);

    /* What was spent stays spent in the next life of the process, and calls count on. */
    fixture_start(&fixture, &init);
    expect_status(&fixture, "/v1/chat/completions", harness_token, hello, 402, "budget");
    violation = fixture_event(&fixture, "violation", &from);
    assert_int_equal(json_integer_value(json_object_get(violation, "call")), 4);
    fixture_stop(&fixture);
    fixture_free(&fixture);

    MC_AUTOJSON json_t *prices = json_pack("{s:{s:f, s:f}}", "m", "input", 2.0, "output", 10.0);
    fixture_init(&fixture);
    init = fixture_command(NULL);
    init.initialize.gateway.prices = prices;
    init.initialize.gateway.budget_usd = 0.00003;
    from = 0;
    fixture_start(&fixture, &init);
    expect_status(&fixture, "/v1/chat/completions", harness_token, hello, 200, NULL);
    expect_status(&fixture, "/v1/chat/completions", harness_token, hello, 402, "budget");
    violation = fixture_event(&fixture, "violation", &from);
    assert_string_equal(json_string_value(json_object_get(violation, "detail")),
                        "the budget of 0.000030 USD is spent (0.000038)");
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

static void a_step_has_its_number_of_calls(void **state)
{
    struct fixture fixture;
    struct mc_notice clock;
    size_t from = 0;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    fixture_start(&fixture, &init);
    for (int step = 0; step < 2; step++) {
        fixture_step(&fixture, step ? "two" : "one", 1786107600000, 1, &clock);
        mc_notice_release(&clock);
        expect_status(&fixture, "/v1/chat/completions", harness_token, hello, 200, NULL);
        expect_status(&fixture, "/v1/chat/completions", harness_token, hello, 402, "calls");
        const json_t *violation = fixture_event(&fixture, "violation", &from);
        assert_string_equal(json_string_value(json_object_get(violation, "rule")), "calls");
        assert_string_equal(json_string_value(json_object_get(violation, "step")), step ? "two" : "one");
        assert_string_equal(json_string_value(json_object_get(violation, "detail")), "the step may make 1 model calls");
    }
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

static void wrong_prices_are_named(void **state)
{
    struct fixture fixture;
    (void)state;
    static const struct {
        const char *prices;
        const char *error;
    } cases[] = {{"{\"m\":{\"input\":1}}", ".prices.m: \"output\" is missing"},
                 {"{\"m\":{\"input\":-1,\"output\":1}}", ".prices.m: \"input\" must not be below 0"},
                 {"{\"m\":7}", ".prices.m: must be an object, is a whole number"}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        MC_AUTOJSON json_t *prices = parse(cases[i].prices);
        fixture_init(&fixture);
        struct mc_command init = fixture_command(NULL);
        init.initialize.gateway.prices = prices;
        fixture_launch(&fixture);
        fixture_secrets(&fixture);
        fixture_send(&fixture, &init);
        assert_int_equal(fixture_join(&fixture), MC_INPUT);
        assert_string_equal(fixture.err.text, cases[i].error);
        fixture_free(&fixture);
    }
}

static void too_large_a_request_is_refused(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    fixture_start(&fixture, &init);
    size_t length = ((size_t)64 << 20) + 1;
    char *body = mc_alloc(length + 1, 1);
    memset(body, ' ', length);
    expect_status(&fixture, "/v1/chat/completions", harness_token, body, 413, "too_large");
    free(body);
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

struct caller {
    const struct fixture *fixture;
    int failed;
};

static void *call_often(void *payload)
{
    struct caller *caller = payload;
    for (int i = 0; i < 10; i++) {
        struct http http;
        http_call(caller->fixture, "/v1/chat/completions", i % 2 ? harness_token : provider_token, hello, &http);
        caller->failed += http.status != 200;
        mc_buf_release(&http.body);
    }
    return NULL;
}

static void many_at_once_are_all_told(void **state)
{
    enum { THREADS = 8 };
    struct fixture fixture;
    pthread_t threads[THREADS];
    struct caller callers[THREADS];
    size_t from = 0;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    fixture_start(&fixture, &init);
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){&fixture, 0};
        pthread_create(&threads[i], NULL, call_often, &callers[i]);
    }
    char seen[THREADS * 10 + 1] = "";
    for (int i = 0; i < THREADS * 10; i++) {
        const json_t *call = fixture_event(&fixture, "model.call", &from);
        json_int_t number = json_integer_value(json_object_get(call, "call"));
        assert_true(number >= 1 && number <= THREADS * 10 && !seen[number - 1]);
        seen[number - 1] = 1;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].failed, 0);
    }
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

/* Nobody reads standard output: the journal goes on, and nothing waits for ever. */
static void a_deaf_controller_stops_nothing(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    fixture_start(&fixture, &init);
    close(fixture.from);
    fixture.from = -1;
    expect_status(&fixture, "/v1/chat/completions", harness_token, hello, 200, NULL);
    expect_status(&fixture, "/v1/chat/completions", harness_token, hello, 200, NULL);
    assert_int_equal(fixture_join(&fixture), 0);
    MC_AUTOBUF struct mc_buf records = MC_BUF_OWN;
    fixture_records(&fixture, &records);
    assert_non_null(strstr(mc_buf_text(&records), "\"seq\":3"));
    fixture_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_cut_alike_however_they_come),
        cmocka_unit_test(an_endless_event_is_refused),
        cmocka_unit_test(offered_tools_are_read),
        cmocka_unit_test(usage_is_read_in_disjoint_classes),
        cmocka_unit_test(a_tools_name_is_awaited),
        cmocka_unit_test(a_forbidden_call_is_refused),
        cmocka_unit_test(routes),
        cmocka_unit_test(a_wrong_token_is_a_violation),
        cmocka_unit_test(a_call_is_told_in_full),
        cmocka_unit_test(offered_tools_must_be_the_allowed_ones),
        cmocka_unit_test(a_spent_budget_stops_calls),
        cmocka_unit_test(a_step_has_its_number_of_calls),
        cmocka_unit_test(wrong_prices_are_named),
        cmocka_unit_test(too_large_a_request_is_refused),
        cmocka_unit_test(many_at_once_are_all_told),
        cmocka_unit_test(a_deaf_controller_stops_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
