#include "support/fake_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

/* ---- The controller's end ---- */

static int duplex_fd(void *self)
{
    return *(int *)self;
}

static int duplex_read(void *self, enum mc_output *stream, void *bytes, size_t room, size_t *length, struct mc_err *err)
{
    ssize_t n = recv(*(int *)self, bytes, room, MSG_DONTWAIT);
    *stream = MC_STDOUT;
    *length = n > 0 ? (size_t)n : 0;
    if (n == 0) {
        return mc_fail(err, MC_CLOSED, "the end");
    }
    return n > 0 || errno == EAGAIN ? 0 : mc_fail_errno(err, errno, "reading");
}

static int duplex_write(void *self, const void *bytes, size_t length, struct mc_until until, struct mc_err *err)
{
    (void)until;
    ssize_t n = send(*(int *)self, bytes, length, MSG_NOSIGNAL);
    return n == (ssize_t)length ? 0 : mc_fail(err, MC_CLOSED, "the program no longer reads");
}

static int duplex_close_write(void *self, struct mc_err *err)
{
    return shutdown(*(int *)self, SHUT_WR) == 0 ? 0 : mc_fail_errno(err, errno, "closing");
}

static const struct mc_duplex_ops duplex_ops = {duplex_fd, duplex_read, duplex_write, duplex_close_write};

static int next(void *payload, struct mc_notice *out, struct mc_until until, struct mc_err *err)
{
    struct fake_program *program = payload;
    if (++program->calls == program->deny_at) {
        return mc_fail(err, MC_DENIED, "wire: tool_called: terminal");
    }
    return mc_channel_next(&program->channel, out, until, err);
}

/* ---- The program's end ---- */

/* One line from the controller, NULL at the end. */
static char *read_line(int fd)
{
    struct mc_buf line = MC_BUF_OWN;
    char c;
    while (recv(fd, &c, 1, 0) == 1) {
        if (c == '\n') {
            return mc_buf_take(&line);
        }
        mc_buf_putc(&line, c);
    }
    mc_buf_release(&line);
    return NULL;
}

static void wait_for(struct fake_program *program, const char *type)
{
    MC_AUTOFREE char *line = read_line(program->fds[1]);
    json_t *frame = line ? json_loads(line, 0, NULL) : NULL;
    const char *got = json_string_value(json_object_get(frame, "type"));
    if (!mc_streq(got, type) && !program->wrong) {
        program->wrong = mc_strf("waited for %s, got %s", type, line ? line : "the end");
    }
    json_decref(frame);
}

static void say(struct fake_program *program, const char *text)
{
    json_t *frame = json_loads(text, 0, NULL);
    if (!frame) {
        program->wrong = mc_strf("not JSON in the script: %s", text);
        return;
    }
    json_object_set_new(frame, "seq", json_integer(++program->seq));
    char *line = json_dumps(frame, JSON_COMPACT);
    struct mc_err ignored;
    if (mc_fs_write_all(program->fds[1], line, strlen(line), "frame", &ignored) == 0 &&
        mc_fs_write_all(program->fds[1], "\n", 1, "frame", &ignored) == 0) {
        free(line);
        json_decref(frame);
        return;
    }
    program->wrong = mc_strf("nobody read %s", line);
    free(line);
    json_decref(frame);
}

static void *follow(void *payload)
{
    struct fake_program *program = payload;
    for (const struct fake_step *step = program->steps; step->wait || step->say || step->raw || step->close; step++) {
        if (step->wait) {
            wait_for(program, step->wait);
        }
        if (step->delay_ms) {
            usleep((useconds_t)step->delay_ms * 1000);
        }
        if (step->say) {
            say(program, step->say);
        }
        if (step->raw) {
            MC_AUTOFREE char *line = mc_strf("%s\n", step->raw);
            if (send(program->fds[1], line, strlen(line), MSG_NOSIGNAL) < 0) {
                program->wrong = mc_strf("nobody read %s", step->raw);
            }
        }
        if (step->close) {
            shutdown(program->fds[1], SHUT_RDWR);
        }
    }
    return NULL;
}

void fake_program_start(struct fake_program *program, enum mc_role role, const struct fake_step *steps)
{
    memset(program, 0, sizeof *program);
    program->steps = steps;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, program->fds), 0);
    struct mc_duplex duplex = {&duplex_ops, &program->fds[0]};
    mc_channel_init(&program->channel, mc_role_name(role), role, duplex, (struct mc_channel_hooks){.payload = NULL}, 0);
    program->talk = (struct mc_talk){&program->channel, next, program};
    assert_int_equal(pthread_create(&program->thread, NULL, follow, program), 0);
}

void fake_program_stop(struct fake_program *program)
{
    shutdown(program->fds[0], SHUT_RDWR);
    pthread_join(program->thread, NULL);
    mc_channel_release(&program->channel);
    close(program->fds[0]);
    close(program->fds[1]);
    if (program->wrong) {
        print_error("the fake program: %s\n", program->wrong);
        free(program->wrong);
        fail();
    }
}
