#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/until.h"

static void deadlines_pass(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_until until = mc_within(30, NULL);
    assert_int_equal(mc_check(until, "the work", &err), 0);
    assert_true(mc_left_ms(until) > 0 && mc_left_ms(until) <= 30);
    assert_int_equal(mc_pause(until, 10000, "the work", &err), MC_TIMEOUT);
    assert_string_equal(err.text, "the work: no answer in the time allowed");
    assert_int_equal(mc_left_ms(until), 0);
    assert_int_equal(mc_left_ms(mc_within(-5, NULL)), 0);
    assert_int_equal(mc_check(mc_within(0, NULL), "it", &err), MC_TIMEOUT);
    /* Nothing overflows. */
    assert_true(mc_left_ms(mc_within(INT64_MAX, NULL)) > (int64_t)1 << 60);
}

static void the_sooner_of_two_deadlines_counts(void **state)
{
    (void)state;
    struct mc_cancel cancel;
    struct mc_err err;
    assert_int_equal(mc_cancel_init(&cancel, &err), 0);
    struct mc_until until = mc_within(60000, &cancel);
    assert_true(mc_left_ms(mc_sooner(until, 50)) <= 50);
    assert_ptr_equal(mc_sooner(until, 50).cancel, &cancel);
    assert_true(mc_sooner(until, 120000).at_ms == until.at_ms);
    mc_cancel_release(&cancel);
}

static void a_pause_lasts_as_long_as_asked(void **state)
{
    (void)state;
    struct mc_err err;
    int64_t began = mc_monotonic_ms();
    assert_int_equal(mc_pause(mc_within(60000, NULL), 40, "it", &err), 0);
    int64_t took = mc_monotonic_ms() - began;
    assert_true(took >= 40 && took < 5000);
}

static void *raise_later(void *cancel)
{
    usleep(50000);
    mc_cancel_raise(cancel);
    return NULL;
}

static void cancelling_wakes_every_wait(void **state)
{
    (void)state;
    struct mc_err err;
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    for (int kind = 0; kind < 2; kind++) {
        struct mc_cancel cancel;
        assert_int_equal(mc_cancel_init(&cancel, &err), 0);
        struct mc_until until = mc_within(60000, &cancel);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, raise_later, &cancel), 0);
        int64_t began = mc_monotonic_ms();
        int rc =
            kind ? mc_pause(until, 50000, "the run", &err) : mc_poll_fd(pipe_fds[0], POLLIN, until, "the run", &err);
        assert_int_equal(rc, MC_CANCELLED);
        assert_string_equal(err.text, "the run: cancelled");
        assert_true(mc_monotonic_ms() - began < 5000);
        pthread_join(thread, NULL);
        mc_cancel_raise(&cancel);
        assert_int_equal(atomic_load(&cancel.level), 2);
        mc_cancel_release(&cancel);
        assert_int_equal(cancel.fd, -1);
        mc_cancel_release(&cancel);
    }
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

static void polling_tells_when_a_descriptor_is_ready(void **state)
{
    (void)state;
    struct mc_err err;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(mc_poll_fd(fds[0], POLLIN, mc_within(20, NULL), "reading", &err), MC_TIMEOUT);
    assert_int_equal(mc_poll_fd(fds[1], POLLOUT, mc_within(20, NULL), "writing", &err), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(mc_poll_fd(fds[0], POLLIN, mc_within(20, NULL), "reading", &err), 0);
    char c;
    assert_int_equal(read(fds[0], &c, 1), 1);
    close(fds[1]); /* the end of the stream is an answer too */
    assert_int_equal(mc_poll_fd(fds[0], POLLIN, mc_within(20, NULL), "reading", &err), 0);
    close(fds[0]);
}

/* ---- Programs ---- */

static int sh(const char *script, struct mc_buf *out, struct mc_buf *errors, int64_t ms, struct mc_err *err)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct mc_proc proc = {.argv = argv, .out = out, .errors = errors};
    return mc_proc_run(&proc, mc_within(ms, NULL), err);
}

static void output_and_errors_are_kept_apart(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(1 << 20);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(1 << 20);
    assert_int_equal(sh("echo one; echo two >&2; echo three", &out, &errors, 10000, &err), 0);
    assert_string_equal(mc_buf_text(&out), "one\nthree\n");
    assert_string_equal(mc_buf_text(&errors), "two\n");
    assert_int_equal(sh("echo dropped; echo dropped >&2", NULL, NULL, 10000, &err), 0);
}

static void a_failing_program_is_named(void **state)
{
    (void)state;
    struct mc_err err;
    assert_int_equal(sh("exit 3", NULL, NULL, 10000, &err), MC_INTERNAL);
    assert_string_equal(err.text, "sh exited with 3");
    assert_int_equal(sh("kill -SEGV $$", NULL, NULL, 10000, &err), MC_INTERNAL);
    assert_string_equal(err.text, "sh was ended by signal 11");
}

static void output_has_a_limit_and_errors_are_cut(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(1000);
    MC_AUTOBUF struct mc_buf errors = MC_BUF_INIT(1000);
    assert_int_equal(sh("yes", &out, NULL, 30000, &err), MC_LIMIT);
    assert_string_equal(err.text, "the output of sh is larger than allowed");
    mc_buf_clear(&out);
    assert_int_equal(sh("head -c 100000 /dev/zero >&2; echo end", &out, &errors, 30000, &err), 0);
    assert_string_equal(mc_buf_text(&out), "end\n");
    assert_true(errors.len <= 1000);
}

static int count_bytes(void *payload, const void *bytes, size_t length, struct mc_err *err)
{
    (void)bytes;
    size_t *count = payload;
    *count += length;
    return *count > 200000 ? mc_fail(err, MC_BUDGET, "enough") : 0;
}

static void output_can_be_taken_as_it_comes(void **state)
{
    (void)state;
    struct mc_err err;
    size_t count = 0;
    const char *const argv[] = {"head", "-c", "150000", "/dev/zero", NULL};
    struct mc_proc proc = {.argv = argv, .on_output = count_bytes, .payload = &count};
    assert_int_equal(mc_proc_run(&proc, mc_within(10000, NULL), &err), 0);
    assert_int_equal(count, 150000);
    count = 0;
    const char *const endless[] = {"yes", NULL};
    proc.argv = endless;
    assert_int_equal(mc_proc_run(&proc, mc_within(10000, NULL), &err), MC_BUDGET);
    assert_string_equal(err.text, "enough");
}

static void a_missing_program_is_said(void **state)
{
    (void)state;
    struct mc_err err;
    const char *const argv[] = {"memcal-no-such-program", NULL};
    struct mc_proc proc = {.argv = argv};
    assert_int_equal(mc_proc_run(&proc, mc_within(10000, NULL), &err), MC_NOT_FOUND);
    assert_string_equal(err.text, "starting the program memcal-no-such-program: No such file or directory");
    assert_false(mc_proc_found("memcal-no-such-program"));
    assert_true(mc_proc_found("sh"));
    assert_true(mc_proc_found("/bin/sh"));
}

/* True once the process is gone. */
static int gone(pid_t pid)
{
    for (int i = 0; i < 200; i++) {
        if (kill(pid, 0) != 0) {
            return 1;
        }
        char path[64];
        char state = 0;
        snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
        FILE *stat = fopen(path, "r");
        if (!stat || (fscanf(stat, "%*d %*s %c", &state) == 1 && state == 'Z')) {
            if (stat) {
                fclose(stat);
            }
            return 1;
        }
        fclose(stat);
        usleep(20000);
    }
    return 0;
}

static void at_the_deadline_the_whole_group_is_killed(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(1000);
    int64_t began = mc_monotonic_ms();
    assert_int_equal(sh("sleep 100 & echo $!; wait", &out, NULL, 300, &err), MC_TIMEOUT);
    assert_string_equal(err.text, "sh: no answer in the time allowed");
    assert_true(mc_monotonic_ms() - began < 10000);
    assert_true(gone((pid_t)strtol(mc_buf_text(&out), NULL, 10)));
    /* Likewise where it has closed its output and does not end. */
    assert_int_equal(sh("exec >&- 2>&-; exec sleep 100", NULL, NULL, 300, &err), MC_TIMEOUT);
}

static void a_child_left_behind_holds_nobody_up(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(1000);
    int64_t began = mc_monotonic_ms();
    assert_int_equal(sh("sleep 100 & echo $!", &out, NULL, 60000, &err), 0);
    assert_true(mc_monotonic_ms() - began < 30000);
    assert_true(gone((pid_t)strtol(mc_buf_text(&out), NULL, 10)));
}

static void cancelling_kills_the_program(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_cancel cancel;
    assert_int_equal(mc_cancel_init(&cancel, &err), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, raise_later, &cancel), 0);
    const char *const argv[] = {"sleep", "100", NULL};
    struct mc_proc proc = {.argv = argv};
    assert_int_equal(mc_proc_run(&proc, mc_within(60000, &cancel), &err), MC_CANCELLED);
    assert_string_equal(err.text, "sleep: cancelled");
    pthread_join(thread, NULL);
    mc_cancel_release(&cancel);
}

static void programs_get_a_clean_start(void **state)
{
    (void)state;
    struct mc_err err;
    MC_AUTOBUF struct mc_buf out = MC_BUF_INIT(4000);
    signal(SIGPIPE, SIG_IGN); /* as memcal does */
    assert_int_equal(sh("cat; grep SigIgn /proc/self/status", &out, NULL, 10000, &err), 0);
    signal(SIGPIPE, SIG_DFL);
    unsigned long long ignored = strtoull(strchr(mc_buf_text(&out), ':') + 1, NULL, 16);
    assert_false(ignored >> (SIGPIPE - 1) & 1U);
    const char *const argv[] = {"pwd", NULL};
    struct mc_proc proc = {.argv = argv, .dir = "/", .out = &out};
    mc_buf_clear(&out);
    assert_int_equal(mc_proc_run(&proc, mc_within(10000, NULL), &err), 0);
    assert_string_equal(mc_buf_text(&out), "/\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlines_pass),
        cmocka_unit_test(the_sooner_of_two_deadlines_counts),
        cmocka_unit_test(a_pause_lasts_as_long_as_asked),
        cmocka_unit_test(cancelling_wakes_every_wait),
        cmocka_unit_test(polling_tells_when_a_descriptor_is_ready),
        cmocka_unit_test(output_and_errors_are_kept_apart),
        cmocka_unit_test(a_failing_program_is_named),
        cmocka_unit_test(output_has_a_limit_and_errors_are_cut),
        cmocka_unit_test(output_can_be_taken_as_it_comes),
        cmocka_unit_test(a_missing_program_is_said),
        cmocka_unit_test(at_the_deadline_the_whole_group_is_killed),
        cmocka_unit_test(a_child_left_behind_holds_nobody_up),
        cmocka_unit_test(cancelling_kills_the_program),
        cmocka_unit_test(programs_get_a_clean_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
