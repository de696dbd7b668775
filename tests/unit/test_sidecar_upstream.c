#include "sidecar_fixture.h"

#include <malloc.h>

#define HEAD_STREAM "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n"
#define HEAD_JSON "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"

static const char stream_request[] =
    "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"search\"}}]}";
static const char whole_request[] = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"tools\":[{"
                                    "\"type\":\"function\",\"function\":{\"name\":\"search\"}}]}";

struct scene {
    struct fixture fixture;
    struct fake fake;
    json_t *allow;
    json_t *prices;
    char *url;
    struct mc_command init;
    size_t from; /* events looked at */
};

/* A sidecar before an upstream that answers so. */
static void scene_start(struct scene *scene, const struct canned *canned, size_t count)
{
    memset(scene, 0, sizeof *scene);
    fake_start(&scene->fake, canned, count);
    scene->allow = json_pack("[s]", "search");
    scene->prices = json_pack("{s:{s:f, s:f, s:f}}", "m", "input", 2.0, "cached_input", 0.5, "output", 10.0);
    scene->url = mc_strf("http://127.0.0.1:%d/v1/", scene->fake.port);
    fixture_init(&scene->fixture);
    scene->init = fixture_command(scene->allow);
    scene->init.initialize.gateway.upstream = MC_UPSTREAM_OPENAI;
    scene->init.initialize.gateway.script = NULL;
    scene->init.initialize.gateway.base_url = scene->url;
    scene->init.initialize.gateway.secret = "OPENAI_API_KEY";
    scene->init.initialize.gateway.prices = scene->prices;
    fixture_start(&scene->fixture, &scene->init);
}

static void scene_stop(struct scene *scene)
{
    fake_stop(&scene->fake);
    fixture_stop(&scene->fixture);
    fixture_free(&scene->fixture);
    json_decref(scene->allow);
    json_decref(scene->prices);
    free(scene->url);
}

static void call(struct scene *scene, const char *body, struct http *http)
{
    http_call(&scene->fixture, "/v1/chat/completions", harness_token, body, http);
}

static const json_t *told(struct scene *scene)
{
    return fixture_event(&scene->fixture, "model.call", &scene->from);
}

static int64_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void expect_object(struct scene *scene, const json_t *data, const char *which, const char *wanted)
{
    struct mc_buf bytes = fixture_object(&scene->fixture, data, which);
    assert_string_equal(mc_buf_text(&bytes), wanted);
    mc_buf_release(&bytes);
}

/* ---- Whole replies ---- */

static const char whole_reply[] =
    "{ \"id\": \"c1\",\n \"choices\": [{\"index\": 0, \"message\": {\"role\": \"assistant\", \"content\": "
    "\"h\\u00e9\", "
    "\"tool_calls\": [{\"id\": \"1\", \"type\": \"function\", \"function\": {\"name\": \"search\", \"arguments\": "
    "\"{}\"}}]}, \"finish_reason\": \"tool_calls\"}], \"usage\": {\"prompt_tokens\": 100, \"completion_tokens\": 50, "
    "\"prompt_tokens_details\": {\"cached_tokens\": 60}, \"completion_tokens_details\": {\"reasoning_tokens\": 20}}}";

static void a_whole_reply_passes_as_it_is(void **state)
{
    (void)state;
    const char *pieces[] = {HEAD_JSON, whole_reply, NULL};
    struct canned canned = {pieces, 5, 0};
    struct scene scene;
    struct http http;
    scene_start(&scene, &canned, 1);
    call(&scene, whole_request, &http);
    assert_int_equal(http.status, 200);
    assert_string_equal(http.type, "application/json");
    assert_string_equal(mc_buf_text(&http.body), whole_reply);
    mc_buf_release(&http.body);
    const json_t *data = told(&scene);
    const json_t *usage = json_object_get(data, "usage");
    assert_int_equal(number(usage, "input"), 40);
    assert_int_equal(number(usage, "cached_input"), 60);
    assert_int_equal(number(usage, "output"), 30);
    assert_int_equal(number(usage, "reasoning"), 20);
    double cost = json_number_value(json_object_get(data, "cost_usd"));
    double wanted = (40 * 2.0 + 60 * 0.5 + 50 * 10.0) / 1e6;
    assert_true(cost > wanted - 1e-12 && cost < wanted + 1e-12);
    assert_string_equal(text(data, "upstream"), "openai");
    assert_string_equal(json_string_value(json_array_get(json_object_get(data, "tool_calls"), 0)), "search");
    expect_object(&scene, data, "request", whole_request);
    expect_object(&scene, data, "response", whole_reply);
    MC_AUTOFREE char *authorization = mc_strf("\r\nAuthorization: Bearer %s\r\n", secret_value);
    assert_non_null(strstr(scene.fake.requests[0], authorization));
    assert_null(strstr(scene.fake.requests[0], harness_token));
    assert_null(strstr(scene.fake.requests[0], "Expect"));
    assert_ptr_equal(strstr(scene.fake.requests[0], "POST /v1/chat/completions HTTP/1.1\r\n"), scene.fake.requests[0]);
    assert_string_equal(strstr(scene.fake.requests[0], "\r\n\r\n") + 4, whole_request);
    scene_stop(&scene);
}

static void unknown_cost_and_usage_stay_unknown(void **state)
{
    (void)state;
    const char *without_usage[] = {HEAD_JSON, "{\"choices\":[]}", NULL};
    const char *with_usage[] = {HEAD_JSON, "{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}",
                                NULL};
    struct canned canned[] = {{without_usage, 0, 0}, {with_usage, 0, 0}};
    struct scene scene;
    struct http http;
    scene_start(&scene, canned, 2);
    call(&scene, whole_request, &http); /* a price, no usage */
    mc_buf_release(&http.body);
    const json_t *data = told(&scene);
    assert_true(json_is_null(json_object_get(data, "cost_usd")));
    assert_true(json_is_null(json_object_get(json_object_get(data, "usage"), "input")));
    http_call(&scene.fixture, "/v1/chat/completions", provider_token, "{\"model\":\"other\",\"messages\":[]}", &http);
    mc_buf_release(&http.body);
    data = told(&scene); /* usage, no price */
    assert_true(json_is_null(json_object_get(data, "cost_usd")));
    assert_int_equal(number(json_object_get(data, "usage"), "input"), 10);
    assert_true(json_is_null(json_object_get(json_object_get(data, "usage"), "cached_input")));
    scene_stop(&scene);
}

static void a_forbidden_call_never_passes_whole(void **state)
{
    (void)state;
    const char *pieces[] = {HEAD_JSON,
                            "{\"choices\":[{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"terminal\","
                            "\"arguments\":\"rm -rf\"}}]}}]}",
                            NULL};
    struct canned canned = {pieces, 0, 0};
    struct scene scene;
    struct http http;
    scene_start(&scene, &canned, 1);
    call(&scene, whole_request, &http);
    assert_int_equal(http.status, 403);
    assert_null(strstr(mc_buf_text(&http.body), "rm -rf"));
    mc_buf_release(&http.body);
    const json_t *violation = fixture_event(&scene.fixture, "violation", &scene.from);
    assert_string_equal(text(violation, "rule"), "tool_called");
    assert_int_equal(number(violation, "call"), 1);
    const json_t *data = told(&scene); /* after the violation */
    assert_int_equal(number(data, "status"), 403);
    expect_object(&scene, data, "response", pieces[1]); /* the evidence */
    scene_stop(&scene);
}

static void the_upstream_gets_its_own_name_of_the_model(void **state)
{
    (void)state;
    const char *pieces[] = {HEAD_JSON, "{\"choices\":[],\"usage\":{\"prompt_tokens\":1000000,\"completion_tokens\":0}}",
                            NULL};
    struct canned canned = {pieces, 0, 0};
    struct scene scene;
    struct http http;
    memset(&scene, 0, sizeof scene);
    fake_start(&scene.fake, &canned, 1);
    scene.url = mc_strf("http://127.0.0.1:%d/v1", scene.fake.port);
    scene.prices = json_pack("{s:{s:f, s:f}}", "vendor/m-2026", "input", 2.0, "output", 10.0);
    fixture_init(&scene.fixture);
    scene.init = fixture_command(NULL);
    scene.init.initialize.gateway.upstream = MC_UPSTREAM_OPENAI;
    scene.init.initialize.gateway.base_url = scene.url;
    scene.init.initialize.gateway.model = "vendor/m-2026";
    scene.init.initialize.gateway.prices = scene.prices;
    fixture_start(&scene.fixture, &scene.init);
    call(&scene, "{\"model\":\"m\",\"temperature\":0.1,\"messages\":[]}", &http);
    assert_int_equal(http.status, 200);
    mc_buf_release(&http.body);
    MC_AUTOJSON json_t *sent = json_loads(strstr(scene.fake.requests[0], "\r\n\r\n") + 4, 0, NULL);
    assert_string_equal(text(sent, "model"), "vendor/m-2026");
    assert_true(json_number_value(json_object_get(sent, "temperature")) == 0.1);
    assert_null(strstr(scene.fake.requests[0], "Authorization"));
    const json_t *data = told(&scene);
    assert_string_equal(text(data, "model"), "m");
    assert_true(json_number_value(json_object_get(data, "cost_usd")) == 2.0);
    scene_stop(&scene);
}

/* ---- Streams ---- */

static void a_stream_passes_byte_for_byte(void **state)
{
    (void)state;
    /* Split within events, within UTF-8 characters and within line ends, with a comment and odd spacing. */
    const char *pieces[] = {HEAD_STREAM,
                            ": hello\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n",
                            "\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"caf\xc3",
                            "\xa9\"}}]}\r\n\r",
                            "\ndata:{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"1\","
                            "\"function\":{\"name\":\"search\",\"arguments\":\"\"}}]}}]}\n\n",
                            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{"
                            "\"arguments\":\"{}\"}}]}}]}\n\nda",
                            "ta: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: "
                            "{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\n",
                            "data: [DONE]\n\n: bye\n\n",
                            NULL};
    struct canned canned = {pieces, 20, 0};
    struct scene scene;
    struct http http;
    MC_AUTOBUF struct mc_buf wanted = MC_BUF_OWN;
    for (size_t i = 1; pieces[i]; i++) {
        mc_buf_puts(&wanted, pieces[i]);
    }
    scene_start(&scene, &canned, 1);
    call(&scene, stream_request, &http);
    assert_int_equal(http.status, 200);
    assert_string_equal(http.type, "text/event-stream; charset=utf-8");
    assert_string_equal(mc_buf_text(&http.body), mc_buf_text(&wanted));
    mc_buf_release(&http.body);
    const json_t *data = told(&scene);
    assert_true(json_is_true(json_object_get(data, "stream")));
    assert_int_equal(number(json_object_get(data, "usage"), "input"), 7);
    assert_int_equal(number(json_object_get(data, "usage"), "output"), 3);
    assert_int_equal(json_array_size(json_object_get(data, "tool_calls")), 1);
    assert_true(json_number_value(json_object_get(data, "first_byte_ms")) >= 20);
    assert_true(json_number_value(json_object_get(data, "duration_ms")) >= 140);
    expect_object(&scene, data, "response", mc_buf_text(&wanted));
    scene_stop(&scene);
}

struct watcher {
    double at[16];
    size_t count;
};

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static size_t note_time(char *bytes, size_t size, size_t count, void *payload)
{
    struct watcher *watcher = payload;
    (void)bytes;
    if (watcher->count < MC_COUNT(watcher->at)) {
        watcher->at[watcher->count++] = now_ms();
    }
    return size * count;
}

/* Each event is there before the next one is sent: nothing waits for more. */
static void events_pass_as_they_come(void **state)
{
    (void)state;
    const char *event = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n";
    const char *pieces[] = {HEAD_STREAM, event, event, event, event, "data: [DONE]\n\n", NULL};
    struct canned canned = {pieces, 100, 0};
    struct scene scene;
    struct watcher watcher = {.count = 0};
    scene_start(&scene, &canned, 1);
    CURL *easy = curl_easy_init();
    MC_AUTOFREE char *line = mc_strf("Authorization: Bearer %s", harness_token);
    struct curl_slist *headers = curl_slist_append(NULL, line);
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, scene.fixture.paths.socket);
    curl_easy_setopt(easy, CURLOPT_URL, "http://gateway/v1/chat/completions");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, stream_request);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, note_time);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &watcher);
    assert_int_equal(curl_easy_perform(easy), CURLE_OK);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    assert_int_equal(watcher.count, 5);
    for (size_t i = 1; i < 5; i++) {
        assert_true(watcher.at[i] - watcher.at[i - 1] > 60);
    }
    scene_stop(&scene);
}

static void expect_broken(const char *const *pieces, const char *passed, const char *rule, const char *error)
{
    struct canned canned = {pieces, 10, 0};
    struct scene scene;
    struct http http;
    scene_start(&scene, &canned, 1);
    call(&scene, stream_request, &http);
    if (passed) {
        assert_int_equal(http.status, 200);
        assert_int_not_equal(http.result, CURLE_OK); /* no proper end */
        assert_ptr_equal(strstr(mc_buf_text(&http.body), passed), mc_buf_text(&http.body));
        MC_AUTOFREE char *rest = mc_strf("data: {\"error\":{\"code\":\"%s\"", rule ? rule : "upstream");
        assert_ptr_equal(strstr(mc_buf_text(&http.body), rest), mc_buf_text(&http.body) + strlen(passed));
    } else {
        assert_int_equal(http.status, rule ? 403 : 502);
        MC_AUTOFREE char *code = http_code(&http);
        assert_string_equal(code, rule ? rule : "upstream");
    }
    assert_null(strstr(mc_buf_text(&http.body), "rm -rf"));
    mc_buf_release(&http.body);
    if (rule) {
        assert_string_equal(text(fixture_event(&scene.fixture, "violation", &scene.from), "rule"), rule);
    }
    const json_t *data = told(&scene);
    assert_int_equal(number(data, "status"), passed ? 200 : rule ? 403 : 502);
    assert_non_null(strstr(text(data, "error"), error));
    scene_stop(&scene);
}

#define CONTENT "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Well, \"}}]}\n\n"
#define DELTA(function) \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":" function "}]}}]}\n\n"

static void a_forbidden_call_never_passes_in_a_stream(void **state)
{
    (void)state;
    static const char why[] = "the reply calls a tool that is not allowed";
    const char *later[] = {HEAD_STREAM,
                           CONTENT,
                           DELTA("{\"name\":\"terminal\",\"arguments\":\"\"}"),
                           DELTA("{\"arguments\":\"rm -rf\"}"),
                           "data: [DONE]\n\n",
                           NULL};
    expect_broken(later, CONTENT, "tool_called", why);
    const char *first[] = {HEAD_STREAM, DELTA("{\"name\":\"terminal\",\"arguments\":\"rm -rf\"}"), "data: [DONE]\n\n",
                           NULL};
    expect_broken(first, NULL, "tool_called", why);
    /* "search" would be allowed; "search_files" is not; the name comes in two pieces. */
    const char *pieces[] = {HEAD_STREAM,
                            CONTENT,
                            DELTA("{\"name\":\"search\",\"arguments\":\"\"}"),
                            DELTA("{\"name\":\"_files\",\"arguments\":\"\"}"),
                            DELTA("{\"arguments\":\"rm -rf\"}"),
                            NULL};
    expect_broken(pieces, CONTENT, "tool_called", why);
    /* The stream ends before the name is known to be whole. */
    const char *cut[] = {HEAD_STREAM, CONTENT, DELTA("{\"name\":\"sea\",\"arguments\":\"\"}"), NULL};
    expect_broken(cut, CONTENT, "tool_called", why);
}

static void a_broken_stream_is_told(void **state)
{
    (void)state;
    const char *no_json[] = {HEAD_STREAM, CONTENT, "data: {\"choices\":[{\n\n", NULL};
    expect_broken(no_json, CONTENT, NULL, "an event of the upstream's stream: not valid JSON");
    const char *cut[] = {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 5000\r\n\r\n", CONTENT,
                         NULL};
    expect_broken(cut, CONTENT, NULL, "asking the upstream: ");
}

/* ---- A long stream in little memory ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
size_t __sanitizer_get_current_allocated_bytes(void); // NOLINT
static size_t allocated(void)
{
    return __sanitizer_get_current_allocated_bytes();
}
#else
static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#endif

struct meter {
    struct mc_sha256 *sha;
    size_t bytes;
    size_t peak;
};

static size_t measure(char *bytes, size_t size, size_t count, void *payload)
{
    struct meter *meter = payload;
    size_t now = allocated();
    mc_sha256_add(meter->sha, bytes, size * count);
    meter->bytes += size * count;
    meter->peak = now > meter->peak ? now : meter->peak;
    return size * count;
}

static void a_hundred_mebibytes_pass_in_eight(void **state)
{
    (void)state;
    enum { FILLER = 60000, TIMES = 1750 };
    struct mc_buf event = MC_BUF_OWN;
    mc_buf_puts(&event, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"");
    for (int i = 0; i < FILLER; i++) {
        mc_buf_putc(&event, (char)('a' + i % 26));
    }
    mc_buf_puts(&event, "\"}}]}\n\n");
    const char *pieces[] = {HEAD_STREAM, event.data, "data: [DONE]\n\n", NULL};
    struct canned canned = {pieces, 0, TIMES};
    struct scene scene;
    scene_start(&scene, &canned, 1);
    struct meter meter = {.sha = mc_sha256_begin(), .bytes = 0, .peak = 0};
    CURL *easy = curl_easy_init();
    MC_AUTOFREE char *line = mc_strf("Authorization: Bearer %s", harness_token);
    struct curl_slist *headers = curl_slist_append(NULL, line);
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, scene.fixture.paths.socket);
    curl_easy_setopt(easy, CURLOPT_URL, "http://gateway/v1/chat/completions");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, stream_request);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, measure);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &meter);
    size_t before = allocated();
    assert_int_equal(curl_easy_perform(easy), CURLE_OK);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    struct mc_digest digest = mc_sha256_end(meter.sha);
    assert_true(meter.bytes > (size_t)100 << 20);
    assert_int_equal(meter.bytes, event.len * TIMES + strlen("data: [DONE]\n\n"));
    assert_true(meter.peak - before < (size_t)8 << 20);
    const json_t *data = told(&scene);
    assert_string_equal(text(data, "response"), digest.hex);
    assert_int_equal(number(data, "response_bytes"), (int64_t)meter.bytes);
    mc_buf_release(&event);
    scene_stop(&scene);
}

/* ---- Errors and retries ---- */

static void an_error_passes_without_the_key(void **state)
{
    (void)state;
    MC_AUTOJSON json_t *body = json_object();
    MC_AUTOFREE char *message = mc_strf("Incorrect API key provided: %s.", secret_value);
    json_object_set_new(body, "error", json_pack("{s:s}", "message", message));
    MC_AUTOFREE char *encoded = mc_json_text(body);
    const char *pieces[] = {"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n",
                            encoded, NULL};
    struct canned canned = {pieces, 0, 0};
    struct scene scene;
    struct http http;
    scene_start(&scene, &canned, 1);
    call(&scene, whole_request, &http);
    assert_int_equal(http.status, 401);
    assert_string_equal(mc_buf_text(&http.body),
                        "{\"error\":{\"message\":\"Incorrect API key provided: [secret:OPENAI_API_KEY].\"}}");
    mc_buf_release(&http.body);
    const json_t *data = told(&scene);
    assert_int_equal(number(data, "status"), 401);
    assert_string_equal(text(data, "error"), "the upstream answered 401");
    scene_stop(&scene);
}

#define BUSY "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
#define DOWN "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 13\r\nConnection: close\r\n\r\n{\"error\":\"no\"}"
#define TOO_BUSY \
    "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3600\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"

static void a_busy_upstream_is_asked_again(void **state)
{
    (void)state;
    const char *busy[] = {BUSY, NULL};
    const char *down[] = {DOWN, NULL};
    const char *good[] = {HEAD_JSON "{\"choices\":[]}", NULL};
    struct canned canned[] = {{busy, 0, 0}, {down, 0, 0}, {good, 0, 0}};
    struct scene scene;
    struct http http;
    scene_start(&scene, canned, 3);
    double began = now_ms();
    call(&scene, whole_request, &http);
    assert_int_equal(http.status, 200);
    assert_true(now_ms() - began >= 1000); /* as Retry-After says */
    mc_buf_release(&http.body);
    assert_string_equal(text(fixture_event(&scene.fixture, "log", &scene.from), "text"),
                        "call 1: the upstream answered 429: trying again in 1000 ms");
    assert_string_equal(text(fixture_event(&scene.fixture, "log", &scene.from), "text"),
                        "call 1: the upstream answered 503: trying again in 1000 ms");
    assert_int_equal(number(told(&scene), "tries"), 3);
    scene_stop(&scene);
}

static void retries_are_bounded(void **state)
{
    (void)state;
    const char *down[] = {DOWN, NULL};
    const char *busy[] = {TOO_BUSY, NULL};
    struct canned canned[] = {{down, 0, 0}, {down, 0, 0}, {down, 0, 0}, {busy, 0, 0}};
    struct scene scene;
    struct http http;
    scene_start(&scene, canned, 4);
    call(&scene, whole_request, &http);
    assert_int_equal(http.status, 503);
    mc_buf_release(&http.body);
    assert_int_equal(number(told(&scene), "tries"), 3);
    call(&scene, whole_request, &http); /* an hour is too long to wait */
    assert_int_equal(http.status, 429);
    mc_buf_release(&http.body);
    assert_int_equal(number(told(&scene), "tries"), 1);
    scene_stop(&scene);
}

static void an_upstream_that_is_not_there_is_told(void **state)
{
    (void)state;
    struct scene scene;
    struct http http;
    scene_start(&scene, NULL, 0);
    fake_stop(&scene.fake);
    call(&scene, whole_request, &http);
    assert_int_equal(http.status, 502);
    MC_AUTOFREE char *code = http_code(&http);
    assert_string_equal(code, "upstream");
    mc_buf_release(&http.body);
    assert_non_null(strstr(text(fixture_event(&scene.fixture, "log", &scene.from), "text"),
                           "call 1: the upstream refused the connection: trying again in 500 ms"));
    assert_non_null(strstr(text(told(&scene), "error"), "asking the upstream: Failed to connect"));
    scene.fake = (struct fake){.listener = -1, .count = 0, .thread = pthread_self()};
    fixture_stop(&scene.fixture);
    fixture_free(&scene.fixture);
    json_decref(scene.allow);
    json_decref(scene.prices);
    free(scene.url);
}

static void a_wrong_url_is_named(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    init.initialize.gateway.upstream = MC_UPSTREAM_OPENAI;
    init.initialize.gateway.base_url = "api.example.com/v1";
    fixture_launch(&fixture);
    fixture_secrets(&fixture);
    fixture_send(&fixture, &init);
    assert_int_equal(fixture_join(&fixture), MC_INPUT);
    assert_string_equal(fixture.err.text,
                        "upstream.base_url: must begin with http:// or https://, is \"api.example.com/v1\"");
    fixture_free(&fixture);
}

/* ---- Calls that are broken off ---- */

static size_t stop_reading(char *bytes, size_t size, size_t count, void *payload)
{
    (void)bytes;
    (void)size;
    (void)count;
    (void)payload;
    return 0;
}

static void a_client_that_hangs_up_ends_the_call(void **state)
{
    (void)state;
    const char *pieces[] = {HEAD_STREAM, CONTENT, CONTENT, CONTENT, CONTENT, CONTENT, NULL};
    struct canned canned = {pieces, 300, 0};
    struct scene scene;
    scene_start(&scene, &canned, 1);
    CURL *easy = curl_easy_init();
    MC_AUTOFREE char *line = mc_strf("Authorization: Bearer %s", harness_token);
    struct curl_slist *headers = curl_slist_append(NULL, line);
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, scene.fixture.paths.socket);
    curl_easy_setopt(easy, CURLOPT_URL, "http://gateway/v1/chat/completions");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, stream_request);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, stop_reading);
    assert_int_equal(curl_easy_perform(easy), CURLE_WRITE_ERROR);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    const json_t *data = told(&scene);
    assert_string_equal(text(data, "error"), "the client hung up");
    assert_true(json_number_value(json_object_get(data, "duration_ms")) < 1200); /* before the upstream was done */
    scene_stop(&scene);
}

struct lone_call {
    struct scene *scene;
    struct http http;
};

static void *call_once(void *payload)
{
    struct lone_call *lone = payload;
    call(lone->scene, stream_request, &lone->http);
    return NULL;
}

static void calls_under_way_are_told_at_the_end(void **state)
{
    (void)state;
    const char *pieces[] = {HEAD_STREAM, NULL};
    struct canned canned = {pieces, 7000, 0}; /* longer than the grace */
    struct scene scene;
    pthread_t thread;
    struct lone_call lone = {.scene = &scene};
    scene_start(&scene, &canned, 1);
    pthread_create(&thread, NULL, call_once, &lone);
    usleep(500000);
    double began = now_ms();
    assert_int_equal(fixture_join(&scene.fixture), 0);
    assert_true(now_ms() - began < 6800);
    pthread_join(thread, NULL);
    assert_int_equal(lone.http.status, 503);
    mc_buf_release(&lone.http.body);
    const json_t *data = told(&scene);
    assert_string_equal(text(data, "error"), "the model's answer: cancelled");
    fake_stop(&scene.fake);
    fixture_free(&scene.fixture);
    json_decref(scene.allow);
    json_decref(scene.prices);
    free(scene.url);
}

/* ---- Secrets ---- */

static char *base64(const char *value)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct mc_buf out = MC_BUF_OWN;
    for (size_t i = 0; value[i]; i += 3) {
        unsigned bits = (unsigned)(unsigned char)value[i] << 16;
        bits |= value[i + 1] ? (unsigned)(unsigned char)value[i + 1] << 8 : 0;
        bits |= value[i + 1] && value[i + 2] ? (unsigned)(unsigned char)value[i + 2] : 0;
        for (int shift = 18; shift >= 0; shift -= 6) {
            mc_buf_putc(&out, digits[bits >> shift & 63]);
        }
        if (!value[i + 1] || !value[i + 2]) {
            break;
        }
    }
    return mc_buf_take(&out);
}

static void secrets_are_recorded_nowhere(void **state)
{
    (void)state;
    MC_AUTOJSON json_t *said = json_string(secret_value);
    MC_AUTOFREE char *escaped = mc_json_text(said); /* with its quotes */
    MC_AUTOFREE char *coded = base64(secret_value);
    MC_AUTOFREE char *event =
        mc_strf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s,\"b\":\"%s\"}}]}\n\n", escaped, coded);
    /* The reply comes byte by byte, so each form is split everywhere. */
    size_t length = strlen(event);
    const char **pieces = mc_alloc(length + 3, sizeof *pieces);
    char *bytes = mc_alloc(length, 2);
    pieces[0] = HEAD_STREAM;
    for (size_t i = 0; i < length; i++) {
        bytes[2 * i] = event[i];
        pieces[i + 1] = bytes + 2 * i;
    }
    pieces[length + 1] = "data: [DONE]\n\n";
    struct canned canned[] = {{pieces, 0, 0}, {pieces, 0, 0}};
    struct scene scene;
    struct http http;
    scene_start(&scene, canned, 2);
    MC_AUTOFREE char *request =
        mc_strf("{\"model\":%s,\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"%s "
                "%s\"}],\"note\":%s}",
                escaped, coded, provider_token, escaped);
    http_call(&scene.fixture, "/v1/chat/completions", provider_token, request, &http);
    assert_int_equal(http.status, 200);
    mc_buf_release(&http.body);
    told(&scene);
    MC_AUTOBUF struct mc_buf records = MC_BUF_OWN;
    fixture_records(&scene.fixture, &records);
    MC_AUTOFREE char *inner = mc_strndup(escaped + 1, strlen(escaped) - 2);
    const char *const forms[] = {secret_value, inner, coded, provider_token, "0123456789"};
    for (size_t i = 0; i < MC_COUNT(forms); i++) {
        if (memmem(records.data, records.len, forms[i], strlen(forms[i]))) {
            fail_msg("recorded: %s", forms[i]);
        }
    }
    assert_non_null(memmem(records.data, records.len, "[secret:OPENAI_API_KEY]", 23));
    assert_non_null(memmem(records.data, records.len, "[secret:provider]", 17));
    scene_stop(&scene);
    free(pieces);
    free(bytes);
}

/* ---- Replay ---- */

static void a_recording_answers_again(void **state)
{
    (void)state;
    const char *streamed[] = {HEAD_STREAM, CONTENT, "data: [DONE]\n\n", NULL};
    const char *first[] = {HEAD_JSON, "{\"choices\":[],\"id\":\"1\"}", NULL};
    const char *second[] = {HEAD_JSON, "{\"choices\":[],\"id\":\"2\"}", NULL};
    struct canned canned[] = {{streamed, 0, 0}, {first, 0, 0}, {second, 0, 0}};
    struct scene scene;
    struct http http;
    struct mc_err err;
    scene_start(&scene, canned, 3);
    for (int i = 0; i < 3; i++) {
        call(&scene, i == 0 ? stream_request : whole_request, &http);
        assert_int_equal(http.status, 200);
        mc_buf_release(&http.body);
    }
    assert_int_equal(fixture_join(&scene.fixture), 0);
    assert_int_equal(rename(scene.fixture.paths.out, scene.fixture.paths.replay), 0);
    assert_int_equal(mc_fs_mkdirs(scene.fixture.paths.out, &err), 0);
    scene.fixture.last_seq = 0;
    scene.init.initialize.gateway.upstream = MC_UPSTREAM_REPLAY;
    fixture_start(&scene.fixture, &scene.init);
    static const char *const wanted[] = {"{\"choices\":[],\"id\":\"1\"}", CONTENT "data: [DONE]\n\n",
                                         "{\"choices\":[],\"id\":\"2\"}"};
    for (int i = 0; i < 3; i++) {
        call(&scene, i == 1 ? stream_request : whole_request, &http);
        assert_int_equal(http.status, 200);
        assert_string_equal(mc_buf_text(&http.body), wanted[i]);
        mc_buf_release(&http.body);
    }
    call(&scene, whole_request, &http); /* a third time */
    assert_int_equal(http.status, 424);
    MC_AUTOFREE char *code = http_code(&http);
    assert_string_equal(code, "not_recorded");
    mc_buf_release(&http.body);
    scene_stop(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_reply_passes_as_it_is),
        cmocka_unit_test(unknown_cost_and_usage_stay_unknown),
        cmocka_unit_test(a_forbidden_call_never_passes_whole),
        cmocka_unit_test(the_upstream_gets_its_own_name_of_the_model),
        cmocka_unit_test(a_stream_passes_byte_for_byte),
        cmocka_unit_test(events_pass_as_they_come),
        cmocka_unit_test(a_forbidden_call_never_passes_in_a_stream),
        cmocka_unit_test(a_broken_stream_is_told),
        cmocka_unit_test(a_hundred_mebibytes_pass_in_eight),
        cmocka_unit_test(an_error_passes_without_the_key),
        cmocka_unit_test(a_busy_upstream_is_asked_again),
        cmocka_unit_test(retries_are_bounded),
        cmocka_unit_test(an_upstream_that_is_not_there_is_told),
        cmocka_unit_test(a_wrong_url_is_named),
        cmocka_unit_test(a_client_that_hangs_up_ends_the_call),
        cmocka_unit_test(calls_under_way_are_told_at_the_end),
        cmocka_unit_test(secrets_are_recorded_nowhere),
        cmocka_unit_test(a_recording_answers_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
