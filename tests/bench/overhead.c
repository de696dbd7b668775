/*
 * What memcal adds to the engine's own time: the wall time of an attempt (the tiny program, a life of one probe) over
 * the wall time of the same engine calls made by a client that does nothing else (replay.h says what that client does
 * and what it waits for; record.h how the calls are had). Ten pairs, A B A B ..., and the median of their ratios.
 *
 * The attempt's time is the store's own: from before the attempt's first row is written to after its last container and
 * volume is gone. In it, and not in the raw sequence: reading the life, rows and events and their fsync, checking every
 * frame, keeping what was collected as objects. In both: the same requests byte for byte but for names, the same
 * containers doing the same work, every answer read to its end.
 *
 * Beside the ratio, for whoever asks what the sequence itself could do without: each pair is followed by the sequence
 * without the requests that only look (a volume's labels, a container's state). It is printed and decides nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/fs.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "bench/replay.h"
#include "engine/engine.h"
#include "store/records.h"

enum { PAIRS = 10, PEAK_MAX_KIB = 24 * 1024 };
static const double ratio_max = 1.10;

struct attempt {
    char *run;
    double ms;
    long calls;
    char *ended;
};

struct bench {
    struct mc_endpoint endpoint;
    struct mc_engine *engine; /* for clearing up */
    char *dir;                /* everything of this benchmark */
    char *store_dir;          /* MEMCAL_STORE */
    struct mc_store *store;
    long peak_kib; /* of the memcal processes so far */
    struct recording recording;
    char *recorded_run;
    int replays;
};

/* `memcal run` on the engine that DOCKER_HOST names. */
static pid_t start_memcal(void *payload)
{
    const struct bench *bench = payload;
    MC_AUTOFREE char *log = mc_path_join(bench->dir, "memcal.log");
    char *const argv[] = {(char *)MEMCAL_PROGRAM, (char *)"run", (char *)BENCH_RUNFILE, NULL};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    pid_t pid = -1;
    int rc = posix_spawn(&pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (rc != 0) {
        bench_die("", "cannot run %s: %s", argv[0], strerror(rc));
    }
    return pid;
}

static void check_ended(const struct bench *bench, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return;
    }
    MC_AUTOFREE char *log = mc_path_join(bench->dir, "memcal.log");
    MC_AUTOBUF struct mc_buf text = MC_BUF_INIT((size_t)1 << 20);
    bench_ok(mc_fs_read(log, &text, &fault));
    bench_die("build the images with \"memcal image build\" where they are missing", "memcal run failed:\n%s",
              mc_buf_text(&text));
}

static int take_attempt(void *payload, const struct mc_attempt_record *record)
{
    struct attempt *attempt = payload;
    attempt->ms = (double)record->wall_ms;
    attempt->calls = (long)record->engine_calls;
    attempt->ended = mc_strdup(record->ended ? record->ended : "not at all");
    return 0;
}

static int take_run(void *payload, const struct mc_run_record *record)
{
    char **newest = payload; /* which comes first */
    *newest = *newest ? *newest : mc_strdup(record->id);
    return 0;
}

/* The attempt of the newest run. */
static struct attempt last_attempt(const struct bench *bench)
{
    struct attempt attempt = {.run = NULL};
    bench_ok(mc_runs_list(bench->store, NULL, take_run, &attempt.run, &fault));
    MC_AUTOFREE char *trial = mc_strf("%s-t1", attempt.run);
    bench_ok(mc_attempts_list(bench->store, trial, take_attempt, &attempt, &fault));
    if (!mc_streq(attempt.ended, "completed")) {
        bench_die("", "the attempt of run %s ended: %s", attempt.run, attempt.ended ? attempt.ended : "it has none");
    }
    free(mc_steal(&attempt.ended));
    return attempt;
}

static struct attempt run_attempt(struct bench *bench)
{
    int status = 0;
    struct rusage usage;
    pid_t pid = start_memcal(bench);
    if (wait4(pid, &status, 0, &usage) != pid) {
        bench_die("", "waiting for memcal: %s", strerror(errno));
    }
    check_ended(bench, status);
    bench->peak_kib = usage.ru_maxrss > bench->peak_kib ? usage.ru_maxrss : bench->peak_kib;
    return last_attempt(bench);
}

static int is(const struct act *act, const char *method, const char *part)
{
    return act->kind == ACT_CALL && strcmp(act->method, method) == 0 && strstr(act->path, part);
}

/* A run through the recorder, cut to the attempt: from its first volume made to its last one removed. */
static void record(struct bench *bench)
{
    struct recording *recording = &bench->recording;
    MC_AUTOFREE char *socket = mc_path_join(bench->dir, "engine.sock");
    MC_AUTOFREE char *host = mc_strf("unix://%s", socket);
    setenv("DOCKER_HOST", host, 1);
    check_ended(bench, recording_make(recording, socket, bench->endpoint.socket, start_memcal, bench));
    setenv("DOCKER_HOST", bench->endpoint.host, 1);
    size_t first = recording->count;
    size_t end = 0;
    for (size_t i = 0; i < recording->count; i++) {
        first = first == recording->count && is(&recording->acts[i], "POST", "/volumes/create") ? i : first;
        end = is(&recording->acts[i], "DELETE", "/volumes/") ? i + 1 : end;
    }
    if (end <= first) {
        bench_die("", "no attempt was seen among %zu requests", recording->count);
    }
    recording_cut(recording, first, end);
    struct attempt attempt = last_attempt(bench);
    bench->recorded_run = attempt.run;
}

static struct replayed replay(struct bench *bench, int essential)
{
    int length = (int)strlen(bench->recorded_run);
    MC_AUTOFREE char *id = mc_strf("raw-%0*d", length - 4, ++bench->replays);
    struct replay replay = {.recording = &bench->recording,
                            .socket = bench->endpoint.socket,
                            .old_id = bench->recorded_run,
                            .new_id = id,
                            .essential = essential};
    return replay_run(&replay);
}

/* What either side has left behind goes; how much that was. */
static size_t sweep(const struct bench *bench)
{
    struct mc_label label = {"org.memcal.store", mc_store_uuid(bench->store)};
    return bench_sweep(bench->engine, (struct mc_labels){&label, 1});
}

/* However the benchmark ends, nothing of it is left. */
static void clear(int status, void *payload)
{
    (void)status;
    struct bench *bench = payload;
    struct mc_err err;
    sweep(bench);
    mc_engine_close(bench->engine);
    mc_store_close(bench->store);
    if (mc_fs_remove_tree(bench->dir, &err) != 0) {
        fprintf(stderr, "bench: %s\n", err.text);
    }
    recording_release(&bench->recording);
    mc_endpoint_release(&bench->endpoint);
    free(bench->recorded_run);
    free(bench->store_dir);
    free(bench->dir);
}

static void set_up(struct bench *bench)
{
    bench_endpoint(&bench->endpoint);
    if (!bench->endpoint.socket) {
        bench_die("", "%s: this benchmark needs an engine on a Unix socket", bench->endpoint.host);
    }
    /* A real disk, so that fsync costs what it does; and a short path, for the socket. */
    bench->dir = mc_strdup("/var/tmp/memcal-bench-XXXXXX");
    if (!mkdtemp(bench->dir)) {
        bench_die("", "cannot make a folder in /var/tmp: %s", strerror(errno));
    }
    bench->store_dir = mc_path_join(bench->dir, "store");
    setenv("MEMCAL_STORE", bench->store_dir, 1);
    setenv("DOCKER_HOST", bench->endpoint.host, 1);
    bench_ok(mc_store_open(bench->store_dir, &bench->store, &fault));
    bench_ok(mc_engine_open(&bench->endpoint, NULL, mc_within(30000, NULL), &bench->engine, &fault));
    on_exit(clear, bench);
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void print_calls(const struct bench *bench, long told)
{
    size_t calls = 0;
    size_t looks = 0;
    for (size_t i = 0; i < bench->recording.count; i++) {
        const struct act *act = &bench->recording.acts[i];
        calls += act->kind == ACT_CALL || act->kind == ACT_ATTACH;
        looks += (size_t)replay_is_look(act);
    }
    printf("engine calls an attempt: %zu (%zu of them only look)\n", calls, looks);
    if ((long)calls != told) {
        bench_die("", "the attempt says that it made %ld calls, %zu were seen", told, calls);
    }
}

int main(void)
{
    static struct bench bench; /* lives until exit, when it is cleared */
    double ratios[PAIRS];
    double essential[PAIRS];
    long calls = 0;
    set_up(&bench);
    record(&bench);
    replay(&bench, 0);
    for (int i = 0; i < PAIRS; i++) {
        struct attempt attempt = run_attempt(&bench);
        double raw = replay(&bench, 0).ms;
        ratios[i] = attempt.ms / raw;
        essential[i] = attempt.ms / replay(&bench, 1).ms;
        calls = attempt.calls;
        printf("pair %2d: attempt %.0f ms, raw calls %.0f ms, ratio %.3f\n", i + 1, attempt.ms, raw, ratios[i]);
        fflush(stdout);
        free(attempt.run);
    }
    struct bench_spread ratio = bench_spread_of(ratios, PAIRS);
    struct bench_spread beside = bench_spread_of(essential, PAIRS);
    print_calls(&bench, calls);
    printf("attempt / raw calls: median %.3f, least %.3f, most %.3f (at most %.2f)\n", ratio.median, ratio.least,
           ratio.most, ratio_max);
    printf("attempt / raw calls without those that only look: median %.3f, least %.3f, most %.3f\n", beside.median,
           beside.least, beside.most);
    printf("controller's peak memory: %.1f MiB (at most %d)\n", (double)bench.peak_kib / 1024, PEAK_MAX_KIB / 1024);
    int failed = ratio.median > ratio_max || bench.peak_kib > PEAK_MAX_KIB;
    size_t left = sweep(&bench);
    if (left) {
        printf("%zu containers and volumes were left behind\n", left);
    }
    return failed || left != 0;
}
