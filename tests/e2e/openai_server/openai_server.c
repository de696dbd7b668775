/* The gateway before a real OpenAI-compatible server; openai_server.py starts it and says where it is. */
#include "sidecar_fixture.h"

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    if (!value) {
        fail_msg("%s is not set: this is run by openai_server.py", name);
    }
    return value;
}

static void start(struct fixture *fixture, const char *key)
{
    fixture_init(fixture);
    fixture->secret = key;
    struct mc_command init = fixture_command(NULL);
    init.initialize.gateway.upstream = MC_UPSTREAM_OPENAI;
    init.initialize.gateway.base_url = setting("E2E_BASE_URL");
    init.initialize.gateway.secret = "OPENAI_API_KEY";
    fixture_start(fixture, &init);
}

static void stop(struct fixture *fixture)
{
    fixture_stop(fixture);
    fixture_free(fixture);
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void expect_response(const struct fixture *fixture, const json_t *call, const struct http *http)
{
    struct mc_buf recorded = fixture_object(fixture, call, "response");
    assert_string_equal(mc_buf_text(&recorded), mc_buf_text(&http->body));
    mc_buf_release(&recorded);
}

static void a_whole_answer(void **state)
{
    struct fixture fixture;
    struct http http;
    size_t from = 0;
    (void)state;
    start(&fixture, setting("E2E_KEY"));
    http_call(&fixture, "/v1/chat/completions", harness_token,
              "{\"model\":\"answers\",\"messages\":[{\"role\":\"user\",\"content\":\"Where is poker?\"}]}", &http);
    assert_int_equal(http.status, 200);
    MC_AUTOJSON json_t *reply = http_json(&http);
    const json_t *message = json_object_get(json_array_get(json_object_get(reply, "choices"), 0), "message");
    assert_string_equal(text(message, "content"), setting("E2E_ANSWER"));
    const json_t *call = fixture_event(&fixture, "model.call", &from);
    const json_t *usage = json_object_get(call, "usage");
    assert_int_equal(number(usage, "input"), number(json_object_get(reply, "usage"), "prompt_tokens"));
    assert_true(number(usage, "output") > 0);
    assert_int_equal(number(call, "status"), 200);
    expect_response(&fixture, call, &http);
    mc_buf_release(&http.body);
    stop(&fixture);
}

/* The text of all deltas in a stream, as a client puts it together. */
static char *join_deltas(const struct http *http)
{
    struct mc_buf out = MC_BUF_OWN;
    for (const char *at = mc_buf_text(&http->body); (at = strstr(at, "data: {")) != NULL;) {
        size_t length = strcspn(at, "\n");
        MC_AUTOJSON json_t *chunk = json_loadb(at + 6, length - 6, 0, NULL);
        assert_non_null(chunk);
        const json_t *delta = json_object_get(json_array_get(json_object_get(chunk, "choices"), 0), "delta");
        const char *piece = text(delta, "content");
        mc_buf_puts(&out, piece ? piece : "");
        at += length;
    }
    return mc_buf_take(&out);
}

static void a_streamed_answer(void **state)
{
    struct fixture fixture;
    struct http http;
    size_t from = 0;
    (void)state;
    start(&fixture, setting("E2E_KEY"));
    http_call(
        &fixture, "/v1/chat/completions", harness_token,
        "{\"model\":\"answers\",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"messages\":[{\"role\":"
        "\"user\",\"content\":\"Where is poker?\"}]}",
        &http);
    assert_int_equal(http.status, 200);
    assert_int_equal(http.result, CURLE_OK);
    assert_ptr_equal(strstr(http.type, "text/event-stream"), http.type);
    MC_AUTOFREE char *joined = join_deltas(&http);
    assert_string_equal(joined, setting("E2E_ANSWER"));
    assert_non_null(strstr(mc_buf_text(&http.body), "data: [DONE]"));
    const json_t *call = fixture_event(&fixture, "model.call", &from);
    const json_t *usage = json_object_get(call, "usage");
    assert_true(json_is_true(json_object_get(call, "stream")));
    assert_true(number(usage, "input") > 0);
    assert_true(number(usage, "output") > 0);
    expect_response(&fixture, call, &http);
    mc_buf_release(&http.body);
    stop(&fixture);
}

static void a_wrong_key(void **state)
{
    static const char wrong[] = "sk-0123456789wrong0123456789wrong";
    struct fixture fixture;
    struct http http;
    size_t from = 0;
    (void)state;
    start(&fixture, wrong);
    http_call(&fixture, "/v1/chat/completions", harness_token,
              "{\"model\":\"answers\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}", &http);
    assert_true(http.status >= 400 && http.status < 500);
    assert_null(strstr(mc_buf_text(&http.body), wrong));
    assert_int_equal(number(fixture_event(&fixture, "model.call", &from), "status"), http.status);
    mc_buf_release(&http.body);
    stop(&fixture);
}

/* Whole only: the server's made-up answers leave tool calls out of streams. */
static void a_forbidden_call(void **state)
{
    struct fixture fixture;
    struct http http;
    size_t from = 0;
    (void)state;
    start(&fixture, setting("E2E_KEY"));
    http_call(&fixture, "/v1/chat/completions", harness_token,
              "{\"model\":\"calls\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}", &http);
    assert_int_equal(http.status, 403);
    assert_null(strstr(mc_buf_text(&http.body), "command"));
    const json_t *violation = fixture_event(&fixture, "violation", &from);
    assert_string_equal(text(violation, "rule"), "tool_called");
    assert_string_equal(text(violation, "detail"), "the reply calls the tool \"terminal\", which is not allowed");
    mc_buf_release(&http.body);
    stop(&fixture);
}

static void embeddings_pass(void **state)
{
    struct fixture fixture;
    struct http http;
    size_t from = 0;
    (void)state;
    start(&fixture, setting("E2E_KEY"));
    http_call(&fixture, "/v1/embeddings", provider_token, "{\"model\":\"nowhere\",\"input\":\"x\"}", &http);
    assert_true(http.status >= 400 && http.status < 500); /* the server has none of that name, and says so itself */
    const json_t *call = fixture_event(&fixture, "model.call", &from);
    assert_string_equal(text(call, "path"), "/embeddings");
    assert_string_equal(text(call, "role"), "provider");
    assert_int_equal(number(call, "status"), http.status);
    assert_int_equal(number(call, "tries"), 1);
    mc_buf_release(&http.body);
    stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_answer),   cmocka_unit_test(a_streamed_answer), cmocka_unit_test(a_wrong_key),
        cmocka_unit_test(a_forbidden_call), cmocka_unit_test(embeddings_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
