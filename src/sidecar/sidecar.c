#include "sidecar/sidecar.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "protocol/journal.h"
#include "protocol/lines.h"
#include "sidecar/clock.h"
#include "sidecar/gateway.h"

enum { JOURNAL_MAX = 128 << 20, ENTER_MAX = 32 << 20, DAY_MS = 86400000, GRACE_MS = 5000 };

const struct mc_sidecar_paths mc_sidecar_default_paths = {.out = "/memcal/out",
                                                          .clock = "/memcal/clock/now",
                                                          .socket = "/memcal/net/model.sock",
                                                          .enter_from = "/usr/local/bin/memcal-enter",
                                                          .enter_to = "/memcal/bin/memcal-enter",
                                                          .replay = "/memcal/replay"};

struct sidecar {
    const struct mc_sidecar_paths *paths;
    int in_fd;
    int out_fd;
    struct mc_lines lines;
    struct mc_cancel trouble; /* something could not be recorded */
    struct mc_redactor *redactor;
    struct mc_command secrets; /* kept for the upstream's key */
    struct mc_command initialize;
    struct mc_speaker *speaker;
    struct mc_recorder recorder;
    struct mc_ledger ledger;
    struct mc_upstream *upstream;
    struct mc_gateway *gateway;
    struct mc_clock clock;
};

/* ---- Reading commands ---- */

/* Fills the lines with what comes next: 1, or 0 at the end of standard input. */
static int read_more(struct sidecar *s, struct mc_err *err)
{
    char bytes[16384];
    int rc;
    do {
        rc = mc_poll_fd(s->in_fd, POLLIN, mc_within(DAY_MS, &s->trouble), "commands", err);
    } while (rc == MC_TIMEOUT);
    if (rc != 0) {
        return rc == MC_CANCELLED ? mc_fail(err, MC_IO, "a frame or a body could not be recorded") : rc;
    }
    ssize_t n = read(s->in_fd, bytes, sizeof bytes);
    if (n < 0) {
        return errno == EINTR || errno == EAGAIN ? 1 : mc_fail_errno(err, errno, "reading standard input");
    }
    mc_lines_feed(&s->lines, bytes, (size_t)n);
    mc_wipe(bytes, sizeof bytes);
    return n > 0;
}

/* The next command: 1, or 0 at the end of standard input. */
static int next_command(struct sidecar *s, struct mc_command *out, struct mc_err *err)
{
    for (;;) {
        struct mc_line line;
        int rc = mc_lines_next(&s->lines, &line, err);
        if (rc == 0) {
            rc = read_more(s, err);
            if (rc <= 0) {
                return rc == 0 ? mc_lines_end(&s->lines, &line, err) : rc;
            }
            continue;
        }
        if (rc > 0) {
            rc = mc_command_decode(line.text, line.length, out, err);
        }
        return rc < 0 ? mc_wrap(err, "standard input") : 1;
    }
}

/* The next command, which must be of that type: 1, or 0 at the end of standard input. */
static int expect(struct sidecar *s, enum mc_command_type type, struct mc_command *out, struct mc_err *err)
{
    int rc = next_command(s, out, err);
    if (rc == 1 && out->type != type) {
        rc = mc_fail(err, MC_PROTOCOL, "standard input: \"%s\" came where \"%s\" was due", mc_command_name(out->type),
                     mc_command_name(type));
        mc_command_release(out);
    }
    return rc;
}

/* ---- Starting ---- */

static int learn_secrets(struct sidecar *s, struct mc_err *err)
{
    const char *name;
    json_t *value;
    mc_wipe(s->lines.bytes.data, s->lines.taken); /* the line itself */
    json_object_foreach ((json_t *)s->secrets.secrets, name, value) {
        if (!mc_redactor_add(s->redactor, name, json_string_value(value))) {
            return mc_fail(err, MC_INPUT, "the secret %s is shorter than 6 bytes: it could not be kept out of records",
                           name);
        }
    }
    return 0;
}

static void forget_secrets(struct sidecar *s)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)s->secrets.secrets, name, value) {
        mc_wipe((char *)json_string_value(value), json_string_length(value));
    }
    mc_command_release(&s->secrets);
}

static int add_token(struct sidecar *s, const char *name, const char *token, struct mc_err *err)
{
    if (token && !mc_redactor_add(s->redactor, name, token)) {
        return mc_fail(err, MC_INPUT, "the token of the %s is shorter than 6 bytes", name);
    }
    return 0;
}

/* What the journal of an earlier life of this process tells: calls, money spent, and how far the clock had come. */
struct past {
    struct sidecar *sidecar;
    int64_t offset_ms;
    int has_offset;
    int64_t last_ms; /* real time of the last frame */
};

static int remember(void *payload, const char *line, size_t length, const struct mc_notice *notice, struct mc_err *err)
{
    struct past *past = payload;
    (void)line;
    (void)length;
    (void)err;
    past->last_ms = notice->at.ms;
    const json_t *offset = NULL;
    if (notice->type == MC_READY) {
        offset = json_object_get(notice->ready.capabilities, "offset_s");
    } else if (notice->type == MC_CLOCK) {
        offset = json_object_get(notice->json, "offset_s");
    } else if (notice->type == MC_EVENT && notice->event.kind == MC_EVENT_MODEL_CALL) {
        mc_ledger_restore(&past->sidecar->ledger, &notice->event.model_call);
    }
    if (json_is_number(offset)) {
        double ms = json_number_value(offset) * 1000.0;
        past->offset_ms = (int64_t)(ms < 0 ? ms - 0.5 : ms + 0.5);
        past->has_offset = 1;
    }
    return 0;
}

/* The clock stood still while nothing ran: it goes on from the reading that the journal's last frame had. */
static int restore(struct sidecar *s, const char *journal, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(JOURNAL_MAX);
    struct past past = {.sidecar = s};
    int rc = mc_fs_read(journal, &bytes, err);
    rc = rc != 0 ? rc : mc_journal_read(mc_buf_text(&bytes), bytes.len, MC_SIDECAR, 0, remember, &past, err);
    if (rc == 0 && past.has_offset) {
        mc_clock_resume(&s->clock, past.offset_ms + past.last_ms - mc_time_now().ms);
    }
    return rc;
}

static int copy_enter(const struct mc_sidecar_paths *paths, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf program = MC_BUF_INIT(ENTER_MAX);
    int rc = mc_fs_read(paths->enter_from, &program, err);
    rc = rc != 0 ? rc : mc_fs_write(paths->enter_to, mc_buf_text(&program), program.len, 0755, err);
    return rc != 0 ? mc_wrap(err, "giving the containers memcal-enter") : 0;
}

static int make_upstream(struct sidecar *s, struct mc_err *err)
{
    const struct mc_initialize *init = &s->initialize.initialize;
    const char *name = init->gateway.secret;
    const char *key = name ? json_string_value(json_object_get(s->secrets.secrets, name)) : NULL;
    if (name && !key) {
        mc_fail(err, MC_INPUT, "upstream.secret: \"%.60s\" is not among the secrets", name);
        return mc_hint(err, "list it under \"secrets\" in the run file");
    }
    struct mc_upstream_setup setup = {.gateway = &init->gateway,
                                      .config = init->config,
                                      .key = key,
                                      .replay = s->paths->replay,
                                      .speaker = s->speaker};
    return mc_upstream_new(&setup, &s->upstream, err);
}

static int say_ready(struct sidecar *s, struct mc_err *err)
{
    MC_AUTOJSON json_t *capabilities =
        json_pack("{s:s, s:f}", "upstream", s->upstream->name, "offset_s", mc_clock_offset_s(&s->clock));
    struct mc_notice ready = {
        .type = MC_READY,
        .ready = {.name = "memcal-sidecar", .version = MEMCAL_VERSION, .tools = NULL, .capabilities = capabilities}};
    return mc_speaker_say(s->speaker, &ready, err);
}

/* Everything between `initialize` and `ready`. */
static int start(struct sidecar *s, struct mc_err *err)
{
    const struct mc_initialize *init = &s->initialize.initialize;
    if (init->role != MC_SIDECAR) {
        return mc_fail(err, MC_PROTOCOL, "initialize: this program is the sidecar, not the %s",
                       mc_role_name(init->role));
    }
    MC_AUTOFREE char *journal = mc_path_join(s->paths->out, "frames.jsonl");
    MC_AUTOFREE char *objects = mc_path_join(s->paths->out, "objects");
    int rc = add_token(s, "harness", init->gateway.harness_token, err);
    rc = rc != 0 ? rc : add_token(s, "provider", init->gateway.provider_token, err);
    rc = rc != 0 ? rc : mc_recorder_init(&s->recorder, objects, s->redactor, err);
    rc = rc != 0 ? rc : mc_ledger_init(&s->ledger, &init->gateway, err);
    rc = rc != 0 ? rc : mc_speaker_open(journal, s->out_fd, s->redactor, &s->trouble, &s->speaker, err);
    rc = rc != 0 ? rc : restore(s, journal, err);
    rc = rc != 0 ? rc : copy_enter(s->paths, err);
    rc = rc != 0 ? rc : make_upstream(s, err);
    rc = rc != 0 ? rc : mc_clock_set(&s->clock, init->scenario_time, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_gateway_parts parts = {.socket = s->paths->socket,
                                     .initialize = init,
                                     .redactor = s->redactor,
                                     .recorder = &s->recorder,
                                     .speaker = s->speaker,
                                     .ledger = &s->ledger,
                                     .upstream = s->upstream};
    rc = mc_gateway_start(&parts, &s->gateway, err);
    return rc != 0 ? rc : say_ready(s, err);
}

/* ---- Working ---- */

static int set_clock(struct sidecar *s, const struct mc_clock_set *set, struct mc_err *err)
{
    int rc = mc_clock_set(&s->clock, set->scenario_time, err);
    if (rc != 0) {
        return rc;
    }
    mc_ledger_step(&s->ledger, set->step, set->limit_calls);
    struct mc_clock_reading reading = {
        .step = set->step, .scenario_time = mc_clock_now(&s->clock), .offset_s = mc_clock_offset_s(&s->clock)};
    struct mc_notice notice = {.type = MC_CLOCK, .clock = reading};
    return mc_speaker_say(s->speaker, &notice, err);
}

/* Follows commands: 1 after `shutdown`, 0 at the end of standard input. */
static int follow(struct sidecar *s, struct mc_err *err)
{
    for (;;) {
        struct mc_command command = {.json = NULL};
        int rc = next_command(s, &command, err);
        if (rc != 1) {
            return rc;
        }
        if (command.type == MC_CMD_SHUTDOWN) {
            mc_command_release(&command);
            return 1;
        }
        rc = command.type == MC_CMD_CLOCK_SET
                 ? set_clock(s, &command.clock_set, err)
                 : mc_fail(err, MC_PROTOCOL, "standard input: \"%s\" is not for the sidecar, or came twice",
                           mc_command_name(command.type));
        mc_command_release(&command);
        if (rc != 0) {
            return rc;
        }
    }
}

static int converse(struct sidecar *s, struct mc_err *err)
{
    int rc = expect(s, MC_CMD_SECRETS, &s->secrets, err);
    if (rc != 1 || (rc = learn_secrets(s, err)) != 0) {
        return rc;
    }
    rc = expect(s, MC_CMD_INITIALIZE, &s->initialize, err);
    if (rc != 1 || (rc = start(s, err)) != 0) {
        return rc;
    }
    forget_secrets(s);
    rc = follow(s, err);
    if (rc < 0) {
        return rc;
    }
    mc_gateway_stop(mc_steal(&s->gateway), GRACE_MS);
    struct mc_notice bye = {.type = MC_BYE};
    return rc == 1 ? mc_speaker_say(s->speaker, &bye, err) : 0;
}

static void release(struct sidecar *s)
{
    mc_gateway_stop(s->gateway, 0);
    mc_upstream_free(s->upstream);
    mc_speaker_free(s->speaker);
    mc_recorder_release(&s->recorder);
    mc_ledger_release(&s->ledger);
    mc_clock_release(&s->clock);
    forget_secrets(s);
    mc_command_release(&s->initialize);
    mc_redactor_free(s->redactor);
    mc_lines_release(&s->lines);
    mc_cancel_release(&s->trouble);
}

int mc_sidecar_main(const struct mc_sidecar_paths *paths, int in_fd, int out_fd, struct mc_err *err)
{
    struct sidecar s = {.paths = paths, .in_fd = in_fd, .out_fd = out_fd};
    int rc = mc_cancel_init(&s.trouble, err);
    if (rc != 0) {
        return rc;
    }
    signal(SIGPIPE, SIG_IGN); /* a reader that is gone shows in the result of the write */
    s.redactor = mc_redactor_new();
    mc_lines_init(&s.lines, MC_FRAME_MAX);
    mc_clock_init(&s.clock, paths->clock);
    rc = converse(&s, err);
    release(&s);
    return rc;
}
