/*
 * The scenario clock across containers: the real sidecar is told to set it a thousand times, and a program in another
 * container, under libfaketime as every harness is, has to see each new time before the next is set.
 *
 * The reader asks for the time about every quarter of a millisecond, as any program would, and writes down each reading
 * that the passage of real time does not explain. A change that it has not seen in five seconds, or a reading that is
 * not the time that was set, is a miss; one miss fails the benchmark.
 *
 * Both times are taken here, so they hold the way of a line through the engine. Where the reading came before the
 * acknowledgement (the file is renamed before it is acknowledged), its latency is 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "engine/image.h"
#include "engine/volume.h"
#include "run/program.h"
#include "run/sandbox.h"

enum { CHANGES = 1000, STEP_S = 17 * 60, SEEN_WITHIN_MS = 5000, TOLERANCE_MS = 2000, PATIENCE_MS = 60000 };

static const char starts[] = "2026-05-12T07:00:00-04:00";

static const char reader_program[] = "import time\n"
                                     "seen, at = time.time(), time.monotonic()\n"
                                     "print(int(seen * 1000), flush=True)\n"
                                     "while True:\n"
                                     "    now, then = time.time(), time.monotonic()\n"
                                     "    if abs(now - seen - (then - at)) > 10:\n"
                                     "        print(int(now * 1000), flush=True)\n"
                                     "        seen, at = now, then\n"
                                     "    time.sleep(0.00025)\n";

struct bench {
    struct mc_endpoint endpoint;
    struct mc_engine *engine;
    char *id; /* of the one attempt, and the store's label */
    struct mc_image sidecar_image;
    struct mc_image reader_image;
    struct mc_entrant entrant;
    struct mc_sandbox sandbox;
    struct mc_program sidecar;
    struct mc_stream *reader;
    char *reader_id;
    struct mc_buf lines; /* of the reader */
};

static struct mc_until soon(void)
{
    return mc_within(PATIENCE_MS, NULL);
}

static int next(void *payload, struct mc_notice *out, struct mc_until until, struct mc_err *err)
{
    struct bench *bench = payload;
    return mc_channel_next(&bench->sidecar.channel, out, until, err);
}

static struct mc_talk talk_of(struct bench *bench)
{
    return (struct mc_talk){&bench->sidecar.channel, next, bench};
}

/* An attempt as memcal plans it, with the reader in place of the harness's program. */
static void plan(struct bench *bench)
{
    static const char *const program[] = {"python3", "-u", "-c", reader_program, NULL};
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
        bench_die("", "the system gives no random bytes");
    }
    bench->id = mc_strf("bench-clock-%016llx", (unsigned long long)random);
    bench->entrant.harness.faked = 1;
    bench->entrant.harness.limits.memory_mb = 256;
    bench->entrant.harness.limits.pids = 32;
    struct mc_found_image sidecar = {.image = bench->sidecar_image};
    struct mc_found_image reader = {.image = bench->reader_image};
    struct mc_sandbox_names names = {bench->id, bench->id, bench->id, bench->id, "bench"};
    struct mc_sandbox_images images = {.roles = {[MC_HARNESS] = &reader, [MC_SIDECAR] = &sidecar}};
    mc_sandbox_plan(&bench->sandbox, &names, &images, &bench->entrant, "America/New_York");
    bench->sandbox.specs[MC_HARNESS].cmd = program;
}

static int show(void *payload, const void *bytes, size_t length, struct mc_err *err)
{
    (void)payload;
    (void)err;
    fwrite(bytes, 1, length, stderr);
    return 0;
}

static void start_sidecar(struct bench *bench)
{
    struct mc_channel_hooks hooks = {.on_stderr = show};
    bench_ok(mc_program_create(&bench->sidecar, bench->engine, &bench->sandbox.specs[MC_SIDECAR], MC_SIDECAR, hooks,
                               soon(), &fault));
    bench_ok(mc_program_start(&bench->sidecar, soon(), &fault));
    MC_AUTOJSON json_t *none = json_object();
    MC_AUTOJSON json_t *allow = json_array();
    struct mc_command secrets = {.type = MC_CMD_SECRETS, .secrets = none};
    struct mc_command hello = {.type = MC_CMD_INITIALIZE};
    hello.initialize = (struct mc_initialize){.role = MC_SIDECAR,
                                              .trial = bench->id,
                                              .name_space = bench->id,
                                              .timezone = "America/New_York",
                                              .model = {"http://127.0.0.1:8080/v1", "bench-token", "none"},
                                              .allow = allow,
                                              .limits = {.turn_s = 60, .tool_calls = 1, .context_tokens = 1000},
                                              .config = none};
    hello.initialize.gateway = (struct mc_gateway_setup){.upstream = MC_UPSTREAM_SCRIPT,
                                                         .script = "extractive",
                                                         .harness_token = "bench-token",
                                                         .budget_usd = -1,
                                                         .budget_tokens = MC_UNKNOWN};
    bench_ok(mc_time_parse(starts, &hello.initialize.scenario_time, &fault));
    struct mc_talk talk = talk_of(bench);
    struct mc_notice ready;
    bench_ok(mc_talk_send(&talk, &secrets, soon(), &fault));
    bench_ok(mc_talk_hello(&talk, &hello, &ready, soon(), &fault));
    mc_notice_release(&ready);
}

static void start_reader(struct bench *bench)
{
    bench->lines = MC_BUF_OWN;
    bench_ok(mc_container_create(bench->engine, &bench->sandbox.specs[MC_HARNESS], &bench->reader_id, soon(), &fault));
    bench_ok(mc_container_attach(bench->engine, bench->reader_id, soon(), &bench->reader, &fault));
    bench_ok(mc_container_start(bench->engine, bench->reader_id, soon(), &fault));
}

/* The reader's next line in milliseconds since 1970; -1 where none comes in time. */
static int64_t next_reading(struct bench *bench, struct mc_until until)
{
    const char *newline;
    while (!(newline = strchr(mc_buf_text(&bench->lines), '\n'))) {
        struct mc_piece piece;
        struct mc_err err;
        int rc = mc_stream_next(bench->reader, &piece, until, &err);
        if (rc == MC_TIMEOUT) {
            return -1;
        }
        if (rc != 0 || piece.kind == MC_PIECE_END) {
            bench_die("", "the reader has ended%s%s", rc ? ": " : "", rc ? err.text : "");
        }
        if (piece.kind == MC_PIECE_STDERR) {
            fwrite(piece.bytes, 1, piece.length, stderr);
        } else {
            mc_buf_put(&bench->lines, piece.bytes, piece.length);
        }
    }
    int64_t reading = strtoll(bench->lines.data, NULL, 10);
    mc_buf_drop(&bench->lines, (size_t)(newline - bench->lines.data) + 1);
    return reading;
}

/* Sets the clock; gives what the sidecar says that it reads now. */
static struct mc_time set_clock(struct bench *bench, struct mc_time time)
{
    struct mc_command set = {.type = MC_CMD_CLOCK_SET,
                             .clock_set = {.scenario_time = time, .step = "bench", .limit_calls = MC_UNKNOWN}};
    struct mc_talk talk = talk_of(bench);
    struct mc_notice notice;
    bench_ok(mc_talk_send(&talk, &set, soon(), &fault));
    bench_ok(mc_talk_answer(&talk, &notice, soon(), &fault));
    if (notice.type != MC_CLOCK) {
        bench_die("", "the sidecar answered \"clock.set\" with something else than \"clock\"");
    }
    struct mc_time now = notice.clock.scenario_time;
    mc_notice_release(&notice);
    return now;
}

static int is_near(int64_t reading, int64_t set)
{
    return reading - set <= TOLERANCE_MS && set - reading <= TOLERANCE_MS;
}

/* However the benchmark ends, nothing of it is left. */
static void clear(int status, void *payload)
{
    (void)status;
    struct bench *bench = payload;
    mc_stream_close(bench->reader);
    mc_program_release(&bench->sidecar);
    bench_sweep(bench->engine, mc_sandbox_labels(&bench->sandbox));
    mc_sandbox_release(&bench->sandbox);
    mc_image_release(&bench->sidecar_image);
    mc_image_release(&bench->reader_image);
    mc_engine_close(bench->engine);
    mc_endpoint_release(&bench->endpoint);
    mc_buf_release(&bench->lines);
    free(bench->reader_id);
    free(bench->id);
}

static void set_up(struct bench *bench)
{
    bench_endpoint(&bench->endpoint);
    bench_ok(mc_engine_open(&bench->endpoint, NULL, soon(), &bench->engine, &fault));
    bench_ok(mc_image_inspect(bench->engine, "memcal/sidecar:" MEMCAL_VERSION, &bench->sidecar_image, soon(), &fault));
    bench_ok(mc_image_inspect(bench->engine, "memcal/base:13", &bench->reader_image, soon(), &fault));
    plan(bench);
    on_exit(clear, bench);
    struct mc_labels labels = mc_sandbox_labels(&bench->sandbox);
    for (int v = 0; v < MC_VOLUMES; v++) {
        if (bench->sandbox.volumes[v]) {
            bench_ok(mc_volume_create(bench->engine, bench->sandbox.volumes[v], labels, soon(), &fault));
        }
    }
    start_sidecar(bench);
    start_reader(bench);
}

int main(void)
{
    static double from_ack[CHANGES];
    static double from_set[CHANGES];
    static struct bench bench; /* lives until exit, when it is cleared */
    struct mc_time time;
    size_t seen = 0;
    set_up(&bench);
    bench_ok(mc_time_parse(starts, &time, &fault));
    if (next_reading(&bench, soon()) < time.ms) {
        bench_die("", "the reader's first time is not the scenario's");
    }
    for (int i = 0; i < CHANGES; i++) {
        time.ms += (int64_t)STEP_S * 1000;
        double began = bench_now_ms();
        struct mc_time set = set_clock(&bench, time);
        double acknowledged = bench_now_ms();
        int64_t reading = next_reading(&bench, mc_within(SEEN_WITHIN_MS, NULL));
        double now = bench_now_ms();
        if (is_near(reading, set.ms)) {
            from_ack[seen] = now - acknowledged;
            from_set[seen++] = now - began;
        } else {
            printf("change %d: %lld was set, %lld was read\n", i + 1, (long long)set.ms, (long long)reading);
        }
    }
    printf("clock changes: %d, missed: %zu (at most 0)\n", CHANGES, CHANGES - seen);
    if (seen > 0) {
        struct bench_spread ack = bench_spread_of(from_ack, seen);
        struct bench_spread all = bench_spread_of(from_set, seen);
        printf("acknowledged to seen in another container: median %.2f ms, worst %.2f ms\n", ack.median, ack.most);
        printf("told to seen in another container: median %.2f ms, worst %.2f ms\n", all.median, all.most);
    }
    return seen != CHANGES;
}
