/* memcal score */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/graded.h"
#include "run/results.h"
#include "run/scores.h"

static int check_source(const char *source, struct mc_err *err)
{
    for (size_t i = 0; source && mc_score_sources[i]; i++) {
        if (mc_streq(mc_score_sources[i], source)) {
            return 0;
        }
    }
    if (source) {
        mc_fail(err, MC_INPUT, "there is no source \"%s\"", source);
    } else {
        mc_fail(err, MC_INPUT, "--source is missing");
    }
    return mc_hint(err, "it is one of official, verifier, imported");
}

static int import(const struct mc_cli *cli, char **argv, const char *source, struct mc_err *err)
{
    struct mc_store *store = NULL;
    MC_AUTORUN struct mc_stored_run run = {.id = NULL};
    struct mc_scores_result result = {.added = 0};
    int rc = check_source(source, err);
    rc = rc ? rc : mc_cli_open_run(cli, argv[0], &store, &run, err);
    rc = rc ? rc : mc_scores_import(store, &run, argv[1], source, &result, err);
    rc = rc ? rc : mc_results_write(store, &run, NULL, NULL, err);
    mc_store_close(store);
    if (rc == 0 && cli->json) {
        printf("{\"run\":\"%s\",\"source\":\"%s\",\"added\":%zu,\"known\":%zu}\n", run.id, source, result.added,
               result.known);
    } else if (rc == 0) {
        printf("%zu scores added to the run %s, %zu were there\n", result.added, run.id, result.known);
    }
    return rc;
}

static int score_import(struct mc_cli *cli, int argc, char **argv)
{
    const char *source = NULL;
    const struct mc_option options[] = {
        {"source", 0, MC_OPTION_TEXT, "SOURCE", "official, verifier or imported", &source}};
    const struct mc_usage_page page = {
        .synopsis = "memcal score import RUN FILE --source SOURCE",
        .about =
            "Takes scores from elsewhere: JSON lines with a trial (or life, harness and repetition), a checkpoint,\n"
            "a slot or none, a verdict or a score from 0 to 1, and by and reason where they are known. They stand\n"
            "beside our verdicts in the report and are never counted among them.",
        .options = options,
        .option_count = MC_COUNT(options),
        .examples = "  memcal score import last scores.jsonl --source official",
        .least = 2,
        .most = 2};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    return import(cli, argv, source, &err) == 0 ? MC_EXIT_OK : mc_cli_fail(cli, &err);
}

int mc_cmd_score(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_cli_command table[] = {
        {"import", NULL, score_import, "take scores from elsewhere, beside ours"}, {NULL, NULL, NULL, NULL}};
    int code;
    const struct mc_cli_command *command = mc_cli_subcommand(cli, "score", table, &argc, &argv, &code);
    return command ? command->fn(cli, argc, argv) : code;
}
