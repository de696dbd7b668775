#include "cli/progress.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"

void mc_progress_begin(struct mc_progress_view *view, const struct mc_cli *cli)
{
    *view = (struct mc_progress_view){
        .cli = cli, .terminal = !cli->json && isatty(STDERR_FILENO), .began_ms = mc_monotonic_ms()};
}

static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

static void wipe(struct mc_progress_view *view)
{
    if (view->drawn) {
        fputs("\r\033[K", stderr);
        view->drawn = 0;
    }
}

void mc_progress_line(struct mc_progress_view *view, const char *format, ...)
{
    if (view->cli->json) {
        return;
    }
    va_list args;
    va_start(args, format);
    MC_AUTOFREE char *text = mc_vstrf(format, args);
    va_end(args);
    wipe(view);
    mc_print_safe(stderr, text, strlen(text));
    fputc('\n', stderr);
}

void mc_progress_passing(struct mc_progress_view *view, const char *format, ...)
{
    if (!view->terminal) {
        return;
    }
    va_list args;
    va_start(args, format);
    MC_AUTOFREE char *text = mc_vstrf(format, args);
    va_end(args);
    wipe(view);
    size_t room = (size_t)columns() - 1;
    mc_print_safe(stderr, text, strlen(text) < room ? strlen(text) : room);
    view->drawn = 1;
    fflush(stderr);
}

void mc_progress_end(struct mc_progress_view *view)
{
    wipe(view);
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

void mc_progress_of_run(void *payload, const struct mc_progress *progress)
{
    struct mc_progress_view *view = payload;
    if (view->cli->json) {
        as_json(progress);
        return;
    }
    int64_t now = mc_monotonic_ms();
    double elapsed = (double)(now - view->began_ms) / 1000;
    if (progress->kind == MC_PROGRESS_TRIAL_ENDED) {
        mc_progress_line(view, "[%zu/%zu] %s, %s: %s (%.0f s)", progress->trial, progress->trials, progress->life,
                         progress->harness, progress->what, elapsed);
        return;
    }
    if (view->terminal) {
        mc_progress_passing(view, "[%zu/%zu] %s, %s: %zu/%zu %s %s", progress->trial, progress->trials, progress->life,
                            progress->harness, progress->step, progress->steps,
                            progress->scenario_time ? progress->scenario_time : "", progress->what);
    } else if (now - view->last_ms >= 10000) {
        /* Elsewhere than on a terminal: a sign of life at most every ten seconds. */
        view->last_ms = now;
        mc_progress_line(view, "[%zu/%zu] %s, %s: %s", progress->trial, progress->trials, progress->life,
                         progress->harness, progress->what);
    }
}
