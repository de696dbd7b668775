/* memcal report */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/graded.h"
#include "report/report.h"
#include "run/results.h"

static int make(const struct mc_cli *cli, const char *given, const char *when, struct mc_err *err)
{
    struct mc_store *store = NULL;
    MC_AUTORUN struct mc_stored_run run = {.id = NULL};
    MC_AUTOJSON json_t *report = NULL;
    MC_AUTOFREE char *path = NULL;
    struct mc_time time;
    const struct mc_time *as_of;
    int rc = mc_cli_as_of(when, &time, &as_of, err);
    rc = rc ? rc : mc_cli_open_run(cli, given, &store, &run, err);
    if (rc == 0) {
        rc = as_of ? mc_results_make(store, &run, as_of, &report, err)
                   : mc_results_write(store, &run, &report, &path, err);
    }
    mc_store_close(store);
    if (rc != 0) {
        return rc;
    }
    if (cli->json) {
        mc_cli_print_json(report);
        return 0;
    }
    MC_AUTOBUF struct mc_buf text = MC_BUF_OWN;
    mc_report_markdown(report, &text);
    fputs(mc_buf_text(&text), stdout);
    if (path) {
        fprintf(stderr, "written to %s\n", path);
    }
    return 0;
}

int mc_cmd_report(struct mc_cli *cli, int argc, char **argv)
{
    const char *as_of = NULL;
    const struct mc_option options[] = {{"as-of", 0, MC_OPTION_TEXT, "TIME", mc_cli_as_of_help, &as_of}};
    const struct mc_usage_page page = {
        .synopsis = "memcal report RUN [--as-of TIME]",
        .about =
            "Makes a run's report from the verdicts in force, prints it as Markdown (or with --json as JSON), and\n"
            "writes report.md and report.json. With --as-of it is only printed.",
        .options = options,
        .option_count = MC_COUNT(options),
        .examples = "  memcal report last\n  memcal report last --as-of 2026-08-07T09:00:00Z --json",
        .least = 1,
        .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    return make(cli, argv[0], as_of, &err) == 0 ? MC_EXIT_OK : mc_cli_fail(cli, &err);
}
