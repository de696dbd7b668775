#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hermes/turn.h"
#include "provider/operation.h"
#include "support/fake_program.h"

#define END          \
    {                \
        .wait = NULL \
    }

/* ---- Turns ---- */

struct turn_case {
    const struct fake_step *script;
    int64_t deadline_ms;
    int deny_at;
    int rc;
    enum mc_turn_end end;
    const char *answer;
    const char *message; /* or the error's text where rc is not 0; NULL: none */
};

static void run_turn(const struct turn_case *c)
{
    struct fake_program program;
    struct mc_err err;
    struct mc_turn_outcome outcome;
    fake_program_start(&program, MC_HARNESS, c->script);
    program.deny_at = c->deny_at;
    struct mc_turn_start turn = {.turn = "t1",
                                 .session = "s1",
                                 .kind = MC_PROBE,
                                 .scenario_time = {.ms = 0, .offset_min = 0},
                                 .deadline_ms = c->deadline_ms,
                                 .text = "Where?"};
    int rc = mc_harness_turn(&program.talk, &turn, &outcome, NULL, &err);
    assert_int_equal(rc, c->rc);
    if (rc != 0) {
        assert_string_equal(err.text, c->message);
        assert_null(outcome.answer);
        assert_null(outcome.message);
    } else {
        assert_int_equal(outcome.end, c->end);
        assert_true(mc_streq(outcome.answer, c->answer));
        assert_true(c->message ? outcome.message && strstr(outcome.message, c->message) != NULL : !outcome.message);
        assert_true(outcome.latency_ms >= 0);
    }
    mc_turn_outcome_release(&outcome);
    fake_program_stop(&program);
}

static void a_turn_is_answered(void **state)
{
    (void)state;
    const struct fake_step script[] = {
        {.wait = "turn.start"},
        {.say = "{\"type\":\"event\",\"turn\":\"t1\",\"kind\":\"log\",\"data\":{\"level\":\"info\",\"text\":"
                "\"thinking\"}}"},
        {.say = "{\"type\":\"turn.completed\",\"turn\":\"t1\",\"answer\":\"At Jordan's.\",\"usage\":{\"input\":7,"
                "\"cached_input\":null,\"output\":0,\"reasoning\":null}}"},
        END};
    struct fake_program program;
    struct mc_err err;
    struct mc_turn_outcome outcome;
    fake_program_start(&program, MC_HARNESS, script);
    struct mc_turn_start turn = {.turn = "t1", .session = "s1", .kind = MC_TURN, .deadline_ms = 20000, .text = "Hi"};
    assert_int_equal(mc_harness_turn(&program.talk, &turn, &outcome, NULL, &err), 0);
    assert_int_equal(outcome.end, MC_TURN_ANSWERED);
    assert_string_equal(outcome.answer, "At Jordan's.");
    assert_null(outcome.message);
    assert_int_equal(outcome.usage.input, 7);
    assert_int_equal(outcome.usage.cached_input, MC_UNKNOWN);
    assert_int_equal(outcome.usage.output, 0);
    assert_int_equal(outcome.usage.reasoning, MC_UNKNOWN);
    mc_turn_outcome_release(&outcome);
    assert_int_equal(outcome.usage.input, MC_UNKNOWN);
    fake_program_stop(&program);
}

#define COMPLETED "{\"type\":\"turn.completed\",\"turn\":\"t1\",\"answer\":\"Late.\"}"
#define FAILED(reason) "{\"type\":\"turn.failed\",\"turn\":\"t1\",\"reason\":\"" reason "\",\"message\":\"m\"}"

static void the_program_says_how_a_turn_failed(void **state)
{
    (void)state;
    static const struct {
        const char *say;
        enum mc_turn_end end;
    } cases[] = {{FAILED("error"), MC_TURN_ERROR},
                 {FAILED("deadline"), MC_TURN_LATE},
                 {FAILED("cancelled"), MC_TURN_LATE},
                 {FAILED("tool_policy"), MC_TURN_POLICY}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        const struct fake_step script[] = {{.wait = "turn.start", .say = cases[i].say}, END};
        run_turn(&(struct turn_case){.script = script, .deadline_ms = 20000, .end = cases[i].end, .message = "m"});
    }
}

static void an_answer_after_the_deadline_is_late_evidence(void **state)
{
    (void)state;
    const struct fake_step script[] = {{.wait = "turn.start", .delay_ms = 300, .say = COMPLETED}, END};
    run_turn(&(struct turn_case){.script = script,
                                 .deadline_ms = 50,
                                 .end = MC_TURN_LATE,
                                 .answer = "Late.",
                                 .message = " ms, the deadline was 50 ms"});
}

static void a_silent_turn_is_told_to_stop(void **state)
{
    (void)state;
    /* However the program ends it then, the deadline has passed; and events may come in between. */
    static const struct {
        const char *say;
        const char *answer;
        const char *message;
    } cases[] = {{FAILED("cancelled"), NULL, "no answer within 1 ms"},
                 {FAILED("error"), NULL, "no answer within 1 ms"},
                 {COMPLETED, "Late.", "the deadline was 1 ms"}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        const struct fake_step script[] = {
            {.wait = "turn.start"},
            {.wait = "turn.cancel",
             .say = "{\"type\":\"event\",\"kind\":\"log\",\"data\":{\"level\":\"info\",\"text\":\"stopping\"}}"},
            {.say = cases[i].say},
            END};
        run_turn(&(struct turn_case){.script = script,
                                     .deadline_ms = 1,
                                     .end = MC_TURN_LATE,
                                     .answer = cases[i].answer,
                                     .message = cases[i].message});
    }
}

static void a_turn_that_does_not_stop_is_stuck(void **state)
{
    (void)state;
    const struct fake_step script[] = {{.wait = "turn.start"}, {.wait = "turn.cancel"}, END};
    run_turn(&(struct turn_case){
        .script = script, .deadline_ms = 1, .end = MC_TURN_STUCK, .message = "no answer within 1 ms"});
}

static void what_the_wire_denies_ends_the_turn(void **state)
{
    (void)state;
    static const char *const says[] = {FAILED("cancelled"), FAILED("tool_policy"), FAILED("error")};
    for (size_t i = 0; i < MC_COUNT(says); i++) {
        const struct fake_step script[] = {{.wait = "turn.start"}, {.wait = "turn.cancel", .say = says[i]}, END};
        run_turn(&(struct turn_case){.script = script,
                                     .deadline_ms = 20000,
                                     .deny_at = 1,
                                     .end = MC_TURN_POLICY,
                                     .message = "wire: tool_called: terminal"});
    }
    const struct fake_step answers[] = {{.wait = "turn.start"}, {.wait = "turn.cancel", .say = COMPLETED}, END};
    run_turn(&(struct turn_case){.script = answers,
                                 .deadline_ms = 20000,
                                 .deny_at = 1,
                                 .end = MC_TURN_POLICY,
                                 .answer = "Late.",
                                 .message = "wire: tool_called: terminal"});
}

static void a_program_that_ends_or_lies_ends_the_turn(void **state)
{
    (void)state;
    const struct fake_step closes[] = {{.wait = "turn.start", .close = 1}, END};
    run_turn(&(struct turn_case){
        .script = closes, .deadline_ms = 20000, .rc = MC_CLOSED, .message = "the harness closed its output"});
    const struct fake_step says_bye[] = {{.wait = "turn.start", .say = "{\"type\":\"bye\"}"}, END};
    run_turn(&(struct turn_case){.script = says_bye,
                                 .deadline_ms = 20000,
                                 .rc = MC_PROTOCOL,
                                 .message = "the harness sent \"bye\" (seq 1) where the end of the turn was due"});
    const struct fake_step other[] = {
        {.wait = "turn.start", .say = "{\"type\":\"turn.completed\",\"turn\":\"t0\",\"answer\":\"\"}"}, END};
    run_turn(&(struct turn_case){.script = other,
                                 .deadline_ms = 20000,
                                 .rc = MC_PROTOCOL,
                                 .message =
                                     "the harness sent \"turn.completed\" (seq 1) where the end of the turn was due"});
    const struct fake_step other_fails[] = {
        {.wait = "turn.start"}, {.wait = "turn.cancel", .say = "{\"type\":\"bye\"}"}, END};
    run_turn(&(struct turn_case){.script = other_fails,
                                 .deadline_ms = 20000,
                                 .deny_at = 1,
                                 .rc = MC_PROTOCOL,
                                 .message = "the harness sent \"bye\" (seq 1) where the end of the turn was due"});
    const struct fake_step gap[] = {{.wait = "turn.start", .raw = "{\"type\":\"bye\",\"seq\":3}"}, END};
    run_turn(&(struct turn_case){.script = gap,
                                 .deadline_ms = 20000,
                                 .rc = MC_PROTOCOL,
                                 .message = "the harness broke the protocol: frame bye has seq 3, expected 1: frames "
                                            "were lost or repeated"});
}

static void a_cancelled_run_leaves_the_turn(void **state)
{
    (void)state;
    struct fake_program program;
    struct mc_err err;
    struct mc_cancel cancel;
    struct mc_turn_outcome outcome;
    const struct fake_step script[] = {{.wait = "turn.start"}, END};
    fake_program_start(&program, MC_HARNESS, script);
    assert_int_equal(mc_cancel_init(&cancel, &err), 0);
    mc_cancel_raise(&cancel);
    struct mc_turn_start turn = {.turn = "t1", .session = "s1", .kind = MC_TURN, .deadline_ms = 20000, .text = "Hi"};
    assert_int_equal(mc_harness_turn(&program.talk, &turn, &outcome, &cancel, &err), MC_CANCELLED);
    assert_string_equal(err.text, "waiting for the harness: cancelled");
    mc_cancel_release(&cancel);
    fake_program_stop(&program);
}

static void sessions_end_when_the_program_says_so(void **state)
{
    (void)state;
    struct mc_err err;
    static const struct {
        const char *say;
        int rc;
        const char *text;
    } cases[] = {
        {"{\"type\":\"session.ended\",\"session\":\"s1\"}", 0, NULL},
        {"{\"type\":\"session.ended\",\"session\":\"s2\"}", MC_PROTOCOL,
         "the harness sent \"session.ended\" (seq 1) where \"session.ended\" was due"},
        {"{\"type\":\"bye\"}", MC_PROTOCOL, "the harness sent \"bye\" (seq 1) where \"session.ended\" was due"},
        {NULL, MC_TIMEOUT, "ending the session s1: waiting for the harness: no answer in the time allowed"}};
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        const struct fake_step script[] = {{.wait = "session.end", .say = cases[i].say}, END};
        struct fake_program program;
        fake_program_start(&program, MC_HARNESS, script);
        struct mc_until until = mc_within(cases[i].say ? 20000 : 100, NULL);
        assert_int_equal(mc_harness_end_session(&program.talk, "s1", until, &err), cases[i].rc);
        if (cases[i].rc != 0) {
            assert_string_equal(err.text, cases[i].text);
        }
        fake_program_stop(&program);
    }
}

/* ---- Greetings ---- */

static void the_program_must_be_what_its_manifest_says(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_harness harness = {.name = "h", .version = "1.2"};
    static const struct {
        const char *version;
        const char *tools;
        const char *allow;
        int rc;
        const char *text;
    } cases[] = {
        {"1.2", "[]", "[]", 0, NULL},
        {"1.2", "[\"b\",\"a\"]", "[\"a\",\"b\"]", 0, NULL},
        {"1.3", "[]", "[]", MC_MISMATCH, "the harness h is version 1.3, its manifest pins 1.2"},
        {"1.2", "[\"a\",\"terminal\"]", "[\"a\"]", MC_DENIED,
         "the harness h offers the tool \"terminal\", which is not allowed"},
        {"1.2", "[]", "[\"a\"]", MC_DENIED, "the harness h does not offer the provider's tool \"a\""},
    };
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        json_t *tools = json_loads(cases[i].tools, 0, NULL);
        json_t *allow = json_loads(cases[i].allow, 0, NULL);
        struct mc_ready ready = {.name = "x", .version = cases[i].version, .tools = tools};
        assert_int_equal(mc_harness_check_ready(&harness, &ready, allow, &err), cases[i].rc);
        if (cases[i].rc != 0) {
            assert_string_equal(err.text, cases[i].text);
        }
        json_decref(tools);
        json_decref(allow);
    }
    struct mc_provider provider = {.name = "p", .version = "1"};
    struct mc_ready ready = {.version = "2"};
    assert_int_equal(mc_provider_check_ready(&provider, &ready, &err), MC_MISMATCH);
    assert_string_equal(err.text, "the provider p is version 2, its manifest pins 1");
    assert_string_equal(err.hint, "rebuild the image, or pin the version that it has");
    provider.version = NULL; /* not pinned */
    assert_int_equal(mc_provider_check_ready(&provider, &ready, &err), 0);
}

static struct mc_command hello(json_t *empty_list, json_t *empty_object)
{
    struct mc_command command = {.type = MC_CMD_INITIALIZE};
    command.initialize = (struct mc_initialize){.role = MC_HARNESS,
                                                .trial = "t",
                                                .name_space = "n",
                                                .timezone = "UTC",
                                                .allow = empty_list,
                                                .limits = {.turn_s = 1, .tool_calls = 1, .context_tokens = 1},
                                                .config = empty_object};
    command.initialize.model.base_url = "http://127.0.0.1:8080/v1";
    command.initialize.model.token = "x";
    command.initialize.model.name = "m";
    return command;
}

static void greeting_waits_for_ready(void **state)
{
    (void)state;
    struct mc_err err;
    json_t *list = json_array();
    json_t *object = json_object();
    struct mc_command command = hello(list, object);
    struct mc_notice ready;
    struct fake_program program;
    const struct fake_step good[] = {
        {.wait = "initialize",
         .say = "{\"type\":\"event\",\"kind\":\"log\",\"data\":{\"level\":\"info\",\"text\":\"loading\"}}"},
        {.say =
             "{\"type\":\"ready\",\"name\":\"x\",\"version\":\"1\",\"protocol\":1,\"tools\":[],\"capabilities\":{}}"},
        END};
    fake_program_start(&program, MC_HARNESS, good);
    assert_int_equal(mc_talk_hello(&program.talk, &command, &ready, mc_within(20000, NULL), &err), 0);
    assert_string_equal(ready.ready.version, "1");
    mc_notice_release(&ready);
    fake_program_stop(&program);
    const struct fake_step bad[] = {{.wait = "initialize", .say = "{\"type\":\"bye\"}"}, END};
    fake_program_start(&program, MC_HARNESS, bad);
    assert_int_equal(mc_talk_hello(&program.talk, &command, &ready, mc_within(20000, NULL), &err), MC_PROTOCOL);
    assert_string_equal(err.text, "the harness sent \"bye\" (seq 1) where \"ready\" was due");
    fake_program_stop(&program);
    const struct fake_step dies[] = {{.wait = "initialize", .close = 1}, END};
    fake_program_start(&program, MC_HARNESS, dies);
    assert_int_equal(mc_talk_hello(&program.talk, &command, &ready, mc_within(20000, NULL), &err), MC_CLOSED);
    assert_string_equal(err.text, "waiting for the harness to be ready: the harness closed its output");
    fake_program_stop(&program);
    json_decref(list);
    json_decref(object);
}

static void goodbye_is_bye_or_the_end(void **state)
{
    (void)state;
    struct mc_err err;
    struct fake_program program;
    const struct fake_step says_bye[] = {
        {.wait = "shutdown", .say = "{\"type\":\"operation\",\"operation\":\"o\",\"state\":\"completed\"}"},
        {.say = "{\"type\":\"bye\"}"},
        END};
    const struct fake_step ends[] = {{.wait = "shutdown", .close = 1}, END};
    const struct fake_step stays[] = {{.wait = "shutdown"}, END};
    fake_program_start(&program, MC_PROVIDER, says_bye);
    assert_int_equal(mc_talk_goodbye(&program.talk, mc_within(20000, NULL), &err), 0);
    fake_program_stop(&program);
    fake_program_start(&program, MC_PROVIDER, ends);
    assert_int_equal(mc_talk_goodbye(&program.talk, mc_within(20000, NULL), &err), 0);
    fake_program_stop(&program);
    fake_program_start(&program, MC_PROVIDER, stays);
    assert_int_equal(mc_talk_goodbye(&program.talk, mc_within(100, NULL), &err), MC_TIMEOUT);
    fake_program_stop(&program);
}

/* ---- Operations ---- */

static int note(void *payload, const char *operation, struct mc_err *err)
{
    char **seen = payload;
    free(*seen);
    *seen = mc_strdup(operation);
    return mc_streq(operation, "refuse") ? mc_fail(err, MC_IO, "the disk is full") : 0;
}

struct operation_case {
    const struct fake_step *script;
    int night;
    int64_t wait_ms;
    int rc;
    int completed;
    const char *detail; /* or the error's text */
    const char *accepted;
};

static void operate(const struct operation_case *c)
{
    struct fake_program program;
    struct mc_err err;
    struct mc_operation_outcome outcome;
    MC_AUTOFREE char *accepted = NULL;
    json_t *observations = json_array();
    struct mc_import import = {.batch = "b1", .observations = observations};
    fake_program_start(&program, MC_PROVIDER, c->script);
    struct mc_until until = mc_within(c->wait_ms ? c->wait_ms : 20000, NULL);
    int rc = c->night ? mc_provider_maintain(&program.talk, "n1", note, &accepted, &outcome, until, &err)
                      : mc_provider_import(&program.talk, &import, note, &accepted, &outcome, until, &err);
    if (rc != c->rc) {
        print_error("%d: %s\n", rc, rc ? err.text : "");
    }
    assert_int_equal(rc, c->rc);
    assert_true(mc_streq(accepted, c->accepted));
    if (rc != 0) {
        assert_string_equal(err.text, c->detail);
        assert_null(outcome.operation);
    } else {
        assert_string_equal(outcome.operation, c->accepted);
        assert_int_equal(outcome.completed, c->completed);
        assert_true(mc_streq(outcome.detail, c->detail));
    }
    mc_operation_outcome_release(&outcome);
    json_decref(observations);
    fake_program_stop(&program);
}

#define ACCEPTED "{\"type\":\"accepted\",\"batch\":\"b1\",\"operation\":\"o1\"}"
#define OPERATION(name, state) "{\"type\":\"operation\",\"operation\":\"" name "\",\"state\":\"" state "\"}"

static void imports_and_nights_complete(void **state)
{
    (void)state;
    const struct fake_step import[] = {
        {.wait = "import", .say = ACCEPTED},
        {.say = OPERATION("o1", "running")},
        {.say = "{\"type\":\"operation\",\"operation\":\"o1\",\"state\":\"completed\",\"detail\":{\"rows\":3}}"},
        END};
    operate(&(struct operation_case){.script = import, .completed = 1, .detail = "{\"rows\":3}", .accepted = "o1"});
    const struct fake_step night[] = {
        {.wait = "maintain", .say = "{\"type\":\"accepted\",\"night\":\"n1\",\"operation\":\"o2\"}"},
        {.say = OPERATION("o2", "completed")},
        END};
    operate(&(struct operation_case){.script = night, .night = 1, .completed = 1, .accepted = "o2"});
}

static void a_failed_operation_is_no_error_of_the_talk(void **state)
{
    (void)state;
    const struct fake_step script[] = {
        {.wait = "import", .say = ACCEPTED},
        {.say = "{\"type\":\"operation\",\"operation\":\"o1\",\"state\":\"failed\",\"detail\":\"no room\"}"},
        END};
    operate(&(struct operation_case){.script = script, .completed = 0, .detail = "\"no room\"", .accepted = "o1"});
}

static void a_quiet_provider_is_asked_again_and_again(void **state)
{
    (void)state;
    const struct fake_step script[] = {{.wait = "import", .say = ACCEPTED},
                                       {.wait = "operation.status", .say = OPERATION("o1", "running")},
                                       {.wait = "operation.status"},
                                       {.wait = "operation.status", .say = OPERATION("o1", "completed")},
                                       END};
    operate(&(struct operation_case){.script = script, .completed = 1, .accepted = "o1"});
}

/* It says so by itself, and once more because it was asked at that moment. */
static void the_end_of_an_operation_may_be_told_twice(void **state)
{
    (void)state;
    struct fake_program program;
    struct mc_err err;
    MC_AUTOFREE char *accepted = NULL;
    const struct fake_step script[] = {
        {.wait = "maintain", .say = "{\"type\":\"accepted\",\"night\":\"n1\",\"operation\":\"o1\"}"},
        {.wait = "operation.status", .say = OPERATION("o1", "completed")},
        {.say = OPERATION("o1", "completed")},
        {.wait = "maintain", .say = "{\"type\":\"accepted\",\"night\":\"n2\",\"operation\":\"o2\"}"},
        {.say = OPERATION("o1", "completed")},
        {.say = OPERATION("o2", "completed")},
        END};
    fake_program_start(&program, MC_PROVIDER, script);
    static const char *const nights[] = {"n1", "n2"};
    static const char *const operations[] = {"o1", "o2"};
    for (size_t i = 0; i < 2; i++) {
        struct mc_operation_outcome outcome;
        int rc =
            mc_provider_maintain(&program.talk, nights[i], note, &accepted, &outcome, mc_within(20000, NULL), &err);
        if (rc != 0) {
            fail_msg("%s", err.text);
        }
        assert_string_equal(outcome.operation, operations[i]);
        assert_true(outcome.completed);
        mc_operation_outcome_release(&outcome);
    }
    fake_program_stop(&program);
}

static void what_else_a_provider_may_do_is_an_error(void **state)
{
    (void)state;
    const struct fake_step wrong_key[] = {
        {.wait = "import", .say = "{\"type\":\"accepted\",\"batch\":\"b9\",\"operation\":\"o1\"}"}, END};
    operate(&(struct operation_case){
        .script = wrong_key,
        .rc = MC_PROTOCOL,
        .detail = "import b1: the provider sent \"accepted\" (seq 1) where \"accepted\" for this request was due"});
    const struct fake_step a_night[] = {
        {.wait = "import", .say = "{\"type\":\"accepted\",\"night\":\"b1\",\"operation\":\"o1\"}"}, END};
    operate(&(struct operation_case){
        .script = a_night,
        .rc = MC_PROTOCOL,
        .detail = "import b1: the provider sent \"accepted\" (seq 1) where \"accepted\" for this request was due"});
    const struct fake_step bye[] = {{.wait = "import", .say = ACCEPTED}, {.say = "{\"type\":\"bye\"}"}, END};
    operate(&(struct operation_case){
        .script = bye,
        .rc = MC_PROTOCOL,
        .detail = "import b1: the provider sent \"bye\" (seq 2) where the end of the operation was due",
        .accepted = "o1"});
    const struct fake_step closes[] = {{.wait = "maintain", .close = 1}, END};
    operate(&(struct operation_case){
        .script = closes, .night = 1, .rc = MC_CLOSED, .detail = "night n1: the provider closed its output"});
    const struct fake_step dies[] = {{.wait = "import", .say = ACCEPTED}, {.close = 1}, END};
    operate(&(struct operation_case){
        .script = dies, .rc = MC_CLOSED, .detail = "import b1: the provider closed its output", .accepted = "o1"});
    const struct fake_step quiet[] = {{.wait = "import", .say = ACCEPTED}, {.wait = "operation.status"}, END};
    operate(&(struct operation_case){.script = quiet,
                                     .wait_ms = 250,
                                     .rc = MC_TIMEOUT,
                                     .detail = "import b1: waiting for the provider: no answer in the time allowed",
                                     .accepted = "o1"});
    const struct fake_step refused[] = {
        {.wait = "import", .say = "{\"type\":\"accepted\",\"batch\":\"b1\",\"operation\":\"refuse\"}"}, END};
    operate(&(struct operation_case){
        .script = refused, .rc = MC_IO, .detail = "import b1: the disk is full", .accepted = "refuse"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_is_answered),
        cmocka_unit_test(the_program_says_how_a_turn_failed),
        cmocka_unit_test(an_answer_after_the_deadline_is_late_evidence),
        cmocka_unit_test(a_silent_turn_is_told_to_stop),
        cmocka_unit_test(a_turn_that_does_not_stop_is_stuck),
        cmocka_unit_test(what_the_wire_denies_ends_the_turn),
        cmocka_unit_test(a_program_that_ends_or_lies_ends_the_turn),
        cmocka_unit_test(a_cancelled_run_leaves_the_turn),
        cmocka_unit_test(sessions_end_when_the_program_says_so),
        cmocka_unit_test(the_program_must_be_what_its_manifest_says),
        cmocka_unit_test(greeting_waits_for_ready),
        cmocka_unit_test(goodbye_is_bye_or_the_end),
        cmocka_unit_test(imports_and_nights_complete),
        cmocka_unit_test(a_failed_operation_is_no_error_of_the_talk),
        cmocka_unit_test(a_quiet_provider_is_asked_again_and_again),
        cmocka_unit_test(the_end_of_an_operation_may_be_told_twice),
        cmocka_unit_test(what_else_a_provider_may_do_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
