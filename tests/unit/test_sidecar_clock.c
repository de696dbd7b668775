#include "sidecar_fixture.h"

#include <sys/stat.h>

#include "sidecar/clock.h"

static double offset_in(const char *path)
{
    struct mc_err err;
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(100);
    assert_int_equal(mc_fs_read(path, &bytes, &err), 0);
    assert_true(bytes.len > 0 && bytes.data[bytes.len - 1] == '\n');
    assert_true(bytes.data[0] == '-' || bytes.data[0] == '+');
    return strtod(bytes.data, NULL);
}

static int near(double a, double b, double within)
{
    return a - b < within && b - a < within;
}

static void the_clock_is_set_before_ready(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    fixture_start(&fixture, &init);
    double now = (double)mc_time_now().ms / 1000.0;
    assert_true(near(offset_in(fixture.paths.clock) + now, 1786107600.0, 2.0));
    struct stat info;
    assert_int_equal(stat(fixture.paths.clock, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0644);
    assert_int_equal(stat(fixture.paths.enter_to, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0755);
    assert_int_equal(info.st_size, 6);
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

static void the_clock_jumps_forward_and_never_back(void **state)
{
    struct fixture fixture;
    struct mc_notice clock;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    fixture_start(&fixture, &init);
    fixture_step(&fixture, "turn-1", 1786107600000 + 86400000, MC_UNKNOWN, &clock);
    assert_string_equal(clock.clock.step, "turn-1");
    assert_true(near((double)clock.clock.scenario_time.ms, 1786107600000.0 + 86400000.0, 1000.0));
    assert_int_equal(clock.clock.scenario_time.offset_min, -240);
    assert_true(near(clock.clock.offset_s, offset_in(fixture.paths.clock), 0.0001));
    double offset = clock.clock.offset_s;
    mc_notice_release(&clock);
    fixture_step(&fixture, "turn-2", 1786107600000, MC_UNKNOWN, &clock);
    assert_string_equal(clock.clock.step, "turn-2");
    assert_true(clock.clock.offset_s == offset);
    assert_true(clock.clock.scenario_time.ms >= 1786107600000 + 86400000);
    mc_notice_release(&clock);
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

/* Between two lives of the process scenario time stands still. */
static void a_restarted_sidecar_goes_on_where_it_was(void **state)
{
    struct fixture fixture;
    struct mc_notice clock;
    (void)state;
    fixture_init(&fixture);
    struct mc_command init = fixture_command(NULL);
    fixture_start(&fixture, &init);
    fixture_step(&fixture, "turn-1", 1786107600000 + 3600000, MC_UNKNOWN, &clock);
    int64_t reached = clock.clock.scenario_time.ms;
    mc_notice_release(&clock);
    assert_int_equal(fixture_join(&fixture), 0); /* standard input ends without shutdown */
    usleep(1500000);
    fixture_start(&fixture, &init); /* its scenario_time is an hour before what was reached */
    fixture_step(&fixture, "turn-1", 1786107600000, MC_UNKNOWN, &clock);
    assert_true(clock.clock.scenario_time.ms >= reached);
    assert_true(clock.clock.scenario_time.ms < reached + 1000);
    mc_notice_release(&clock);
    fixture_stop(&fixture);
    fixture_free(&fixture);
}

static void positive_and_zero_offsets_have_a_sign(void **state)
{
    (void)state;
    struct mc_err err;
    char path[] = "/tmp/mc-clock-XXXXXX";
    close(mkstemp(path));
    struct mc_clock clock;
    mc_clock_init(&clock, path);
    struct mc_time now = mc_time_now();
    now.ms += 86400000;
    assert_int_equal(mc_clock_set(&clock, now, &err), 0);
    assert_true(near(offset_in(path), 86400.0, 1.0));
    mc_clock_release(&clock);
    unlink(path);
    mc_clock_init(&clock, "/nonexistent-folder/now");
    assert_int_equal(mc_clock_set(&clock, now, &err), MC_NOT_FOUND);
    assert_string_equal(err.text, "setting the scenario clock: writing /nonexistent-folder/now: No such file or "
                                  "directory");
    mc_clock_release(&clock);
}

static void expect_end(struct fixture *fixture, const char *text)
{
    assert_int_not_equal(fixture_join(fixture), 0);
    assert_string_equal(fixture->err.text, text);
    fixture_free(fixture);
}

static void what_is_not_due_ends_it(void **state)
{
    struct fixture fixture;
    (void)state;
    struct mc_command init = fixture_command(NULL);
    struct mc_command shutdown = {.type = MC_CMD_SHUTDOWN};
    fixture_init(&fixture);
    fixture_launch(&fixture);
    fixture_send(&fixture, &shutdown);
    expect_end(&fixture, "standard input: \"shutdown\" came where \"secrets\" was due");

    fixture_init(&fixture);
    init.initialize.gateway.secret = "ANOTHER_KEY";
    fixture_launch(&fixture);
    fixture_secrets(&fixture);
    fixture_send(&fixture, &init);
    expect_end(&fixture, "upstream.secret: \"ANOTHER_KEY\" is not among the secrets");

    fixture_init(&fixture);
    init = fixture_command(NULL);
    init.initialize.gateway.script = "genius";
    fixture_launch(&fixture);
    fixture_secrets(&fixture);
    fixture_send(&fixture, &init);
    expect_end(&fixture, "upstream.name: there is no script \"genius\"; there are extractive and redteam");

    fixture_init(&fixture);
    init = fixture_command(NULL);
    fixture_start(&fixture, &init);
    fixture_send(&fixture, &init);
    expect_end(&fixture, "standard input: \"initialize\" is not for the sidecar, or came twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_is_set_before_ready),
        cmocka_unit_test(the_clock_jumps_forward_and_never_back),
        cmocka_unit_test(a_restarted_sidecar_goes_on_where_it_was),
        cmocka_unit_test(positive_and_zero_offsets_have_a_sign),
        cmocka_unit_test(what_is_not_due_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
