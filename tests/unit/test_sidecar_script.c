#include "sidecar_fixture.h"

#include "sidecar/script.h"
#include "sidecar/search.h"
#include "sidecar/terms.h"

static void expect_words(const char *text, const char *wanted)
{
    struct mc_terms words;
    MC_AUTOBUF struct mc_buf joined = MC_BUF_OWN;
    mc_terms_of(text, strlen(text), &words);
    for (size_t i = 0; i < words.count; i++) {
        mc_buf_putf(&joined, "%s%s", i ? " " : "", words.items[i]);
    }
    mc_terms_release(&words);
    assert_string_equal(mc_buf_text(&joined), wanted);
}

static void words_are_folded(void **state)
{
    (void)state;
    expect_words("Where is Poker, and when?", "poker");
    expect_words("likes liked like LIKING", "lik");
    expect_words("moved to Jordan's at 7:30", "mov jordan 7 30");
    expect_words("parties party planned plans glass", "party plan glass");
    expect_words("", "");
    expect_words("Café Ñandú", "caf\xc3\xa9 \xc3\x91"
                               "and\xc3\xba");
}

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

static void expect_search(const char *tools_text, const char *tool, const char *arguments)
{
    MC_AUTOJSON json_t *tools = parse(tools_text);
    MC_AUTOFREE char *found = NULL;
    MC_AUTOFREE char *filled = NULL;
    assert_int_equal(mc_find_search(tools, "Where is poker?", &found, &filled), tool != NULL);
    if (tool) {
        assert_string_equal(found, tool);
        assert_string_equal(filled, arguments);
    }
}

static void a_search_tool_is_found_and_filled_in(void **state)
{
    (void)state;
    expect_search("[]", NULL, NULL);
    expect_search("[{\"type\":\"function\",\"function\":{\"name\":\"fts_search\",\"parameters\":{\"type\":\"object\","
                  "\"properties\":{\"query\":{\"type\":\"string\"},\"limit\":{\"type\":\"integer\"}},"
                  "\"required\":[\"query\"]}}}]",
                  "fts_search", "{\"query\":\"Where is poker?\"}");
    /* As holographic's: one tool with actions. */
    expect_search("[{\"type\":\"function\",\"function\":{\"name\":\"fact_feedback\",\"description\":\"rate a fact\","
                  "\"parameters\":{\"type\":\"object\",\"properties\":{\"action\":{\"type\":\"string\",\"enum\":"
                  "[\"helpful\",\"unhelpful\"]},\"fact_id\":{\"type\":\"integer\"}},\"required\":[\"action\","
                  "\"fact_id\"]}}},{\"type\":\"function\",\"function\":{\"name\":\"fact_store\",\"description\":\"deep "
                  "memory\",\"parameters\":{\"type\":\"object\",\"properties\":{\"action\":{\"type\":\"string\","
                  "\"enum\":[\"add\",\"search\",\"probe\",\"list\"]},\"content\":{\"type\":\"string\"},\"query\":"
                  "{\"type\":\"string\"},\"limit\":{\"type\":\"integer\"}},\"required\":[\"action\"]}}}]",
                  "fact_store", "{\"action\":\"search\",\"query\":\"Where is poker?\"}");
    /* A name wins over a description; what else is required is filled in. */
    expect_search("[{\"type\":\"function\",\"function\":{\"name\":\"notes\",\"description\":\"Find notes\","
                  "\"parameters\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}}}}},"
                  "{\"type\":\"function\",\"function\":{\"name\":\"recall\",\"parameters\":{\"type\":\"object\","
                  "\"properties\":{\"topic\":{\"type\":\"string\"},\"top_k\":{\"type\":\"integer\"},\"mode\":{\"type\":"
                  "\"string\",\"enum\":[\"deep\",\"quick\"]}},\"required\":[\"topic\",\"top_k\",\"mode\"]}}}]",
                  "recall", "{\"mode\":\"deep\",\"top_k\":10,\"topic\":\"Where is poker?\"}");
    /* It only stores; it asks for two texts; it needs an object that nobody can guess. */
    expect_search("[{\"type\":\"function\",\"function\":{\"name\":\"remember\",\"parameters\":{\"type\":\"object\","
                  "\"properties\":{\"text\":{\"type\":\"string\"}}}}},{\"type\":\"function\",\"function\":{\"name\":"
                  "\"find_path\",\"parameters\":{\"type\":\"object\",\"properties\":{\"from\":{\"type\":\"string\"},"
                  "\"to\":{\"type\":\"string\"}},\"required\":[\"from\",\"to\"]}}},{\"type\":\"function\",\"function\":"
                  "{\"name\":\"search\",\"parameters\":{\"type\":\"object\",\"properties\":{\"query\":{\"type\":"
                  "\"string\"},\"filter\":{\"type\":\"object\"}},\"required\":[\"query\",\"filter\"]}}}]",
                  NULL, NULL);
}

static void decide(const char *request_text, struct mc_move *move)
{
    struct mc_err err;
    MC_AUTOJSON json_t *request = parse(request_text);
    memset(move, 0, sizeof *move);
    assert_int_equal(mc_script_extractive(request, json_object_get(request, "messages"), NULL, move, &err), 0);
}

static void expect_answer(const char *messages, const char *answer)
{
    struct mc_move move;
    MC_AUTOFREE char *request = mc_strf("{\"messages\":%s}", messages);
    decide(request, &move);
    assert_null(move.tool);
    assert_string_equal(move.text, answer);
    mc_move_release(&move);
}

static const char unknown[] = "I don't know: nothing that I was shown answers this.";

static void it_quotes_what_shares_most_words(void **state)
{
    (void)state;
    expect_answer("[{\"role\":\"user\",\"content\":\"Poker is at Jordan's this week.\"},{\"role\":\"assistant\","
                  "\"content\":\"Noted.\"},{\"role\":\"user\",\"content\":\"The plumber comes on Monday.\"},"
                  "{\"role\":\"user\",\"content\":\"Where is poker?\"}]",
                  "Poker is at Jordan's this week.");
    /* Injected context, with bullets and scores before the lines. */
    expect_answer("[{\"role\":\"user\",\"content\":\"When does the plumber come?\\n\\n<memory-context>\\n[note: "
                  "recalled]\\n- [0.5] The plumber comes on Monday\\n- [0.4] Poker is at "
                  "Sam's\\n</memory-context>\"}]",
                  "[0.5] The plumber comes on Monday");
    /* A question asked before is no evidence. */
    expect_answer("[{\"role\":\"user\",\"content\":\"Where is poker?\"},{\"role\":\"assistant\",\"content\":\"?\"},"
                  "{\"role\":\"user\",\"content\":\"Where is poker now?\"}]",
                  unknown);
    expect_answer(
        "[{\"role\":\"user\",\"content\":\"The cat is called Mia.\"},{\"role\":\"user\",\"content\":\"Where is "
        "poker?\"}]",
        unknown);
    /* Parts instead of one text. */
    expect_answer("[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"My flight is BA117.\"}]},{\"role\":"
                  "\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Which flight do I take?\"}]}]",
                  "My flight is BA117.");
}

static void of_equals_the_later_wins(void **state)
{
    (void)state;
    expect_answer(
        "[{\"role\":\"user\",\"content\":\"Where is the poker night?\"},{\"role\":\"assistant\",\"tool_calls\":"
        "[]},{\"role\":\"tool\",\"content\":\"{\\\"results\\\":[{\\\"text\\\":\\\"The poker night is at "
        "Jordan's\\\",\\\"written\\\":\\\"2026-08-05T10:00:00Z\\\"},{\\\"text\\\":\\\"The poker night is at "
        "Sam's\\\",\\\"written\\\":\\\"2026-08-03T10:00:00Z\\\"}]}\"}]",
        "The poker night is at Jordan's\nThe poker night is at Sam's");
    expect_answer(
        "[{\"role\":\"user\",\"content\":\"Poker is at Sam's.\"},{\"role\":\"user\",\"content\":\"Poker is at "
        "Jordan's.\"},{\"role\":\"user\",\"content\":\"Where is poker?\"}]",
        "Poker is at Jordan's.\nPoker is at Sam's.");
}

static void a_rare_word_weighs_more(void **state)
{
    (void)state;
    expect_answer(
        "[{\"role\":\"user\",\"content\":\"Alex likes tea.\\nAlex likes rain.\\nAlex likes jazz.\\nAlex likes "
        "chess.\\nMaria has a piano.\"},{\"role\":\"user\",\"content\":\"Does Alex have a piano?\"}]",
        "Maria has a piano.");
}

static void a_statement_is_acknowledged(void **state)
{
    (void)state;
    expect_answer("[{\"role\":\"user\",\"content\":\"Poker moved to Jordan's.\"}]", "Noted.");
    expect_answer("[{\"role\":\"system\",\"content\":\"You are Hermes.\"}]", "Noted.");
}

static const char search_request[] =
    "{\"model\":\"bench-model\",\"messages\":[{\"role\":\"user\",\"content\":\"Where is "
    "poker?\\n<memory-context>\\nnothing"
    "\\n</memory-context>\"}%s],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"fts_search\",\"parameters\":"
    "{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\"}},\"required\":[\"query\"]}}}]%s}";

static char *request_with(const char *more, const char *options)
{
    struct mc_buf out = MC_BUF_OWN;
    const char *first = strstr(search_request, "%s");
    const char *second = strstr(first + 2, "%s");
    mc_buf_put(&out, search_request, (size_t)(first - search_request));
    mc_buf_puts(&out, more);
    mc_buf_put(&out, first + 2, (size_t)(second - first - 2));
    mc_buf_puts(&out, options);
    mc_buf_puts(&out, second + 2);
    return mc_buf_take(&out);
}

static void it_searches_once_in_a_turn(void **state)
{
    (void)state;
    struct mc_move move;
    MC_AUTOFREE char *first = request_with("", "");
    decide(first, &move);
    assert_string_equal(move.tool, "fts_search");
    assert_string_equal(move.arguments, "{\"query\":\"Where is poker?\"}");
    mc_move_release(&move);
    MC_AUTOFREE char *second = request_with(
        ",{\"role\":\"assistant\",\"tool_calls\":[]},{\"role\":\"tool\",\"content\":\"poker: Jordan's\"}", "");
    decide(second, &move);
    assert_null(move.tool);
    assert_string_equal(move.text, "poker: Jordan's");
    mc_move_release(&move);
}

/* ---- Over the wire ---- */

static void the_same_request_gets_the_same_bytes(void **state)
{
    struct fixture fixture;
    struct http a;
    struct http b;
    size_t from = 0;
    (void)state;
    MC_AUTOJSON json_t *allow = json_pack("[s]", "fts_search");
    fixture_init(&fixture);
    struct mc_command init = fixture_command(allow);
    fixture_start(&fixture, &init);
    MC_AUTOFREE char *request = request_with("", ",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    http_call(&fixture, "/v1/chat/completions", harness_token, request, &a);
    http_call(&fixture, "/v1/chat/completions", harness_token, request, &b);
    assert_int_equal(a.status, 200);
    assert_string_equal(a.type, "text/event-stream");
    assert_int_equal(a.body.len, b.body.len);
    assert_memory_equal(a.body.data, b.body.data, a.body.len);
    assert_non_null(strstr(a.body.data, "\"name\":\"fts_search\""));
    assert_non_null(strstr(a.body.data, "\"finish_reason\":\"tool_calls\""));
    assert_non_null(strstr(a.body.data, "\"model\":\"script/extractive\""));
    assert_non_null(strstr(a.body.data, "data: [DONE]\n\n"));
    const json_t *call = fixture_event(&fixture, "model.call", &from);
    assert_string_equal(json_string_value(json_object_get(call, "upstream")), "script/extractive");
    assert_string_equal(json_string_value(json_array_get(json_object_get(call, "tool_calls"), 0)), "fts_search");
    assert_string_equal(json_string_value(json_array_get(json_object_get(call, "tools_offered"), 0)), "fts_search");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(call, "usage"), "cached_input")), 0);
    assert_true(json_integer_value(json_object_get(json_object_get(call, "usage"), "input")) > 20);
    assert_true(json_is_null(json_object_get(call, "cost_usd")));
    mc_buf_release(&a.body);
    mc_buf_release(&b.body);
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

static void it_answers_whole_too(void **state)
{
    struct fixture fixture;
    struct http http;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    fixture_start(&fixture, &init);
    http_call(
        &fixture, "/v1/chat/completions", harness_token,
        "{\"messages\":[{\"role\":\"user\",\"content\":\"The gate code is 4711.\"},{\"role\":\"user\",\"content\":"
        "\"What is the gate code?\"}]}",
        &http);
    assert_int_equal(http.status, 200);
    MC_AUTOJSON json_t *reply = http_json(&http);
    const json_t *choice = json_array_get(json_object_get(reply, "choices"), 0);
    assert_string_equal(json_string_value(json_object_get(json_object_get(choice, "message"), "content")),
                        "The gate code is 4711.");
    assert_string_equal(json_string_value(json_object_get(choice, "finish_reason")), "stop");
    mc_buf_release(&http.body);
    const char *const wrong[] = {"{\"messages\":[]}", "{}"};
    for (size_t i = 0; i < 2; i++) {
        http_call(&fixture, "/v1/chat/completions", harness_token, wrong[i], &http);
        assert_int_equal(http.status, 400);
        MC_AUTOFREE char *code = http_code(&http);
        assert_string_equal(code, "no_messages");
        mc_buf_release(&http.body);
    }
    http_call(&fixture, "/v1/embeddings", provider_token, "{\"input\":\"x\"}", &http);
    assert_int_equal(http.status, 404);
    MC_AUTOFREE char *code = http_code(&http);
    assert_string_equal(code, "no_embeddings");
    mc_buf_release(&http.body);
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

static const char road_request[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"Take the road files, "
                                   "please.\"}],\"tools\":[{\"type\":\"function\","
                                   "\"function\":{\"name\":\"fts_search\"}}]}";

static void redteam_calls_what_it_must_not(void **state)
{
    struct fixture fixture;
    struct http http;
    (void)state;
    MC_AUTOJSON json_t *allow = json_pack("[s]", "fts_search");
    MC_AUTOJSON json_t *config =
        json_pack("{s:[{s:s, s:s}, {s:s, s:s, s:s}], s:b}", "roads", "name", "shell", "tool", "terminal", "name",
                  "files", "tool", "read_file", "arguments", "{\"path\":\"/rubric\"}", "pass_forbidden", 1);
    for (int pass = 0; pass < 2; pass++) {
        size_t from = 0;
        fixture_init(&fixture);
        struct mc_command init = fixture_command(allow);
        init.initialize.gateway.script = "redteam";
        init.initialize.config = config;
        json_object_set_new(config, "pass_forbidden", json_boolean(pass));
        fixture_start(&fixture, &init);
        http_call(&fixture, "/v1/chat/completions", harness_token, road_request, &http);
        assert_int_equal(http.status, pass ? 200 : 403);
        assert_int_equal(strstr(http.body.data, "/rubric") != NULL, pass);
        const json_t *violation = fixture_event(&fixture, "violation", &from);
        assert_string_equal(json_string_value(json_object_get(violation, "rule")), "tool_called");
        assert_string_equal(json_string_value(json_object_get(violation, "detail")),
                            "the reply calls the tool \"read_file\", which is not allowed");
        mc_buf_release(&http.body);
        fixture_stop(&fixture);
        fixture_free(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_folded),
        cmocka_unit_test(a_search_tool_is_found_and_filled_in),
        cmocka_unit_test(it_quotes_what_shares_most_words),
        cmocka_unit_test(of_equals_the_later_wins),
        cmocka_unit_test(a_rare_word_weighs_more),
        cmocka_unit_test(a_statement_is_acknowledged),
        cmocka_unit_test(it_searches_once_in_a_turn),
        cmocka_unit_test(the_same_request_gets_the_same_bytes),
        cmocka_unit_test(it_answers_whole_too),
        cmocka_unit_test(redteam_calls_what_it_must_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
