/* memcal audit */
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/graded.h"
#include "report/audit.h"
#include "run/audit.h"

static int give(const struct mc_cli *cli, const json_t *audit, const char *path, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf text = MC_BUF_OWN;
    if (cli->json) {
        MC_AUTOFREE char *json = mc_json_pretty(audit);
        mc_buf_putf(&text, "%s\n", json);
    } else {
        mc_report_audit(audit, &text);
    }
    if (!path) {
        fputs(mc_buf_text(&text), stdout);
        return 0;
    }
    int rc = mc_fs_write(path, mc_buf_text(&text), text.len, 0644, err);
    if (rc == 0) {
        fprintf(stderr, "%zu verdicts written to %s\n", json_array_size(json_object_get(audit, "items")), path);
    }
    return rc;
}

int mc_cmd_audit(struct mc_cli *cli, int argc, char **argv)
{
    int64_t sample = 20;
    int64_t seed = 1;
    const char *path = NULL;
    const struct mc_option options[] = {
        {"sample", 0, MC_OPTION_WHOLE, "N", "how many verdicts (20)", &sample},
        {"seed", 0, MC_OPTION_WHOLE, "S", "the same seed draws the same ones (1)", &seed},
        {"out", 0, MC_OPTION_TEXT, "FILE", "write the page there instead of printing it", &path},
    };
    const struct mc_usage_page page = {
        .synopsis = "memcal audit RUN [--sample N] [--seed S] [--out FILE]",
        .about = "Draws verdicts for a person to look at, passes as well as failures, from every family and kind, and\n"
                 "writes a page with question, answer, verdict, rule and the evidence in full, and the command that\n"
                 "would review each.",
        .options = options,
        .option_count = MC_COUNT(options),
        .examples = "  memcal audit last --sample 40 --seed 7 --out audit.md",
        .least = 1,
        .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    struct mc_store *store = NULL;
    MC_AUTORUN struct mc_stored_run run = {.id = NULL};
    MC_AUTOJSON json_t *audit = NULL;
    struct mc_audit wish = {.sample = (size_t)sample, .seed = (uint64_t)seed};
    int rc = sample > 0 ? 0 : mc_fail(&err, MC_INPUT, "--sample needs a number from 1 on");
    rc = rc ? rc : mc_cli_open_run(cli, argv[0], &store, &run, &err);
    rc = rc ? rc : mc_audit_make(store, &run, &wish, &audit, &err);
    rc = rc ? rc : give(cli, audit, path, &err);
    mc_store_close(store);
    return rc ? mc_cli_fail(cli, &err) : MC_EXIT_OK;
}
