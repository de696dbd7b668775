#include "cli/meter.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"

void mc_meter_begin(struct mc_meter *meter, const struct mc_cli *cli)
{
    *meter =
        (struct mc_meter){.cli = cli, .terminal = !cli->json && isatty(STDERR_FILENO), .began_ms = mc_monotonic_ms()};
}

static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

static void wipe(struct mc_meter *meter)
{
    if (meter->drawn) {
        fputs("\r\033[K", stderr);
        meter->drawn = 0;
    }
}

void mc_meter_line(struct mc_meter *meter, const char *format, ...)
{
    if (meter->cli->json) {
        return;
    }
    va_list args;
    va_start(args, format);
    MC_AUTOFREE char *text = mc_vstrf(format, args);
    va_end(args);
    wipe(meter);
    mc_print_safe(stderr, text, strlen(text));
    fputc('\n', stderr);
}

void mc_meter_passing(struct mc_meter *meter, const char *format, ...)
{
    if (!meter->terminal) {
        return;
    }
    va_list args;
    va_start(args, format);
    MC_AUTOFREE char *text = mc_vstrf(format, args);
    va_end(args);
    wipe(meter);
    size_t room = (size_t)columns() - 1;
    mc_print_safe(stderr, text, strlen(text) < room ? strlen(text) : room);
    meter->drawn = 1;
    fflush(stderr);
}

void mc_meter_end(struct mc_meter *meter)
{
    wipe(meter);
}

static void as_json(const struct mc_progress *progress)
{
    static const char *const kinds[] = {"trial", "stage", "step", "trial_ended"};
    MC_AUTOJSON json_t *line =
        json_pack("{ss sI sI ss ss ss* ss* sI sI}", "progress", kinds[progress->kind], "trial",
                  (json_int_t)progress->trial, "trials", (json_int_t)progress->trials, "life", progress->life,
                  "harness", progress->harness, "what", progress->what, "scenario_time", progress->scenario_time,
                  "step", (json_int_t)progress->step, "steps", (json_int_t)progress->steps);
    MC_AUTOFREE char *text = mc_json_text(line);
    fprintf(stderr, "%s\n", text);
}

void mc_meter_of_run(void *payload, const struct mc_progress *progress)
{
    struct mc_meter *meter = payload;
    if (meter->cli->json) {
        as_json(progress);
        return;
    }
    int64_t now = mc_monotonic_ms();
    double elapsed = (double)(now - meter->began_ms) / 1000;
    if (progress->kind == MC_PROGRESS_TRIAL_ENDED) {
        mc_meter_line(meter, "[%zu/%zu] %s, %s: %s (%.0f s)", progress->trial, progress->trials, progress->life,
                      progress->harness, progress->what, elapsed);
        return;
    }
    if (meter->terminal) {
        mc_meter_passing(meter, "[%zu/%zu] %s, %s: %zu/%zu %s %s", progress->trial, progress->trials, progress->life,
                         progress->harness, progress->step, progress->steps,
                         progress->scenario_time ? progress->scenario_time : "", progress->what);
    } else if (now - meter->last_ms >= 10000) {
        /* Elsewhere than on a terminal: a sign of life at most every ten seconds. */
        meter->last_ms = now;
        mc_meter_line(meter, "[%zu/%zu] %s, %s: %s", progress->trial, progress->trials, progress->life,
                      progress->harness, progress->what);
    }
}
