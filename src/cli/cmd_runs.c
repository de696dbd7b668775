/* memcal runs, memcal show */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/graded.h"
#include "report/report.h"
#include "run/compare.h"
#include "run/results.h"

static json_t *run_json(const struct mc_run_record *run)
{
    return json_pack("{ss ss ss ss ss? so ss ss ss}", "id", run->id, "name", run->name, "state", run->state, "created",
                     run->created, "ended", run->ended, "exit_code", mc_count_json(run->exit_code), "corpus",
                     run->corpus, "manifest", run->manifest, "isolation", run->isolation);
}

static int list_run(void *payload, const struct mc_run_record *run)
{
    json_array_append_new(payload, run_json(run));
    return 0;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

int mc_cmd_runs(struct mc_cli *cli, int argc, char **argv)
{
    static const struct mc_usage_page page = {.synopsis = "memcal runs",
                                              .about = "Lists the runs in the store, newest first."};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    struct mc_store *store = NULL;
    MC_AUTOJSON json_t *runs = json_array();
    int rc = mc_cli_open_store(cli, &store, &err);
    rc = rc ? rc : mc_runs_list(store, NULL, list_run, runs, &err);
    mc_store_close(store);
    if (rc != 0) {
        return mc_cli_fail(cli, &err);
    }
    if (cli->json) {
        MC_AUTOFREE char *text = mc_json_pretty(runs);
        printf("%s\n", text);
        return MC_EXIT_OK;
    }
    size_t i;
    const json_t *run;
    if (json_array_size(runs) == 0) {
        printf("no runs yet; start one with: memcal run RUNFILE\n");
    }
    json_array_foreach (runs, i, run) {
        printf("%-22s %-12s %-12s %s\n", text_of(run, "id"), text_of(run, "state"), text_of(run, "name"),
               text_of(run, "created"));
    }
    return MC_EXIT_OK;
}

static int list_trial(void *payload, const struct mc_trial_record *trial)
{
    json_array_append_new(payload, json_pack("{ss ss ss sI ss? ss?}", "id", trial->id, "life", trial->life, "harness",
                                             trial->harness, "repetition", (json_int_t)trial->repetition, "ended",
                                             trial->ended, "reason", trial->reason));
    return 0;
}

/* A run that has no report yet: its trials as they stand. */
static int show_trials(const struct mc_cli *cli, struct mc_store *store, const char *id, struct mc_err *err)
{
    MC_AUTOJSON json_t *trials = json_array();
    int rc = mc_trials_list(store, id, list_trial, trials, err);
    if (rc != 0) {
        return rc;
    }
    if (cli->json) {
        MC_AUTOFREE char *text = mc_json_pretty(trials);
        printf("%s\n", text);
        return 0;
    }
    printf("run %s has no report yet\n", id);
    size_t i;
    const json_t *trial;
    json_array_foreach (trials, i, trial) {
        const char *ended = text_of(trial, "ended");
        printf("  %-24s %-20s %s\n", text_of(trial, "life"), text_of(trial, "harness"), *ended ? ended : "not ended");
    }
    return 0;
}

/* Keeps what is of one harness. */
static void only_harness(json_t *report, const char *harness)
{
    static const struct {
        const char *list;
        const char *key;
    } parts[] = {{"trials", "harness"}, {"harnesses", "name"}};
    for (size_t p = 0; p < MC_COUNT(parts); p++) {
        json_t *list = json_object_get(report, parts[p].list);
        for (size_t i = json_array_size(list); i > 0; i--) {
            if (!mc_streq(text_of(json_array_get(list, i - 1), parts[p].key), harness)) {
                json_array_remove(list, i - 1);
            }
        }
    }
}

static int show_report(const struct mc_cli *cli, const struct mc_stored_run *run, json_t *report, const char *harness,
                       struct mc_err *err)
{
    if (harness) {
        only_harness(report, harness);
        if (json_array_size(json_object_get(report, "harnesses")) == 0) {
            mc_fail(err, MC_INPUT, "the run %s has no harness \"%s\"", run->id, harness);
            return mc_hint(err, "\"memcal show %s\" lists them", run->id);
        }
    }
    if (cli->json) {
        MC_AUTOFREE char *text = mc_json_pretty(report);
        printf("%s\n", text);
        return 0;
    }
    struct mc_buf text = MC_BUF_OWN;
    if (harness) {
        mc_report_markdown(report, &text);
    } else {
        mc_report_table(report, &text);
    }
    fputs(mc_buf_text(&text), stdout);
    mc_buf_release(&text);
    return 0;
}

/* From the verdicts in force; a run that was not graded yet has its trials to show. */
static int show_run(const struct mc_cli *cli, struct mc_store *store, const struct mc_stored_run *run,
                    const char *harness, const struct mc_time *as_of, struct mc_err *err)
{
    MC_AUTOJSON json_t *report = NULL;
    int rc = mc_results_make(store, run, as_of, &report, err);
    if (rc == MC_NOT_FOUND && !as_of) {
        return show_trials(cli, store, run->id, err);
    }
    rc = rc ? rc : show_report(cli, run, report, harness, err);
    if (rc == 0 && !cli->json && !harness) {
        printf("\nrun %s\nreport %s/runs/%s/report.md\n", run->id, mc_store_dir(store), run->id);
    }
    return rc;
}

static int show(struct mc_cli *cli, const char *given, const char *when, struct mc_err *err)
{
    struct mc_store *store = NULL;
    MC_AUTORUN struct mc_stored_run run = {.id = NULL};
    MC_AUTOFREE char *harness = NULL;
    struct mc_time time;
    const struct mc_time *as_of;
    int rc = mc_cli_as_of(when, &time, &as_of, err);
    rc = rc ? rc : mc_cli_open_store(cli, &store, err);
    if (rc == 0) {
        rc = strchr(given, '/') ? mc_cell_find(store, given, &run, &harness, err)
                                : mc_stored_run_load(store, given, &run, err);
    }
    rc = rc ? rc : show_run(cli, store, &run, harness, as_of, err);
    mc_store_close(store);
    return rc;
}

int mc_cmd_show(struct mc_cli *cli, int argc, char **argv)
{
    const char *as_of = NULL;
    const struct mc_option options[] = {{"as-of", 0, MC_OPTION_TEXT, "TIME", mc_cli_as_of_help, &as_of}};
    const struct mc_usage_page page = {.synopsis = "memcal show RUN[/CORPUS/HARNESS] [--as-of TIME]",
                                       .about =
                                           "Shows a run's comparison, or with a harness its trials, answer by answer.\n"
                                           "RUN is a run's ID, the start of one, or \"last\".",
                                       .options = options,
                                       .option_count = MC_COUNT(options),
                                       .examples = "  memcal show last\n  memcal show last/quickstart/hermes-fts",
                                       .least = 1,
                                       .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    return show(cli, argv[0], as_of, &err) == 0 ? MC_EXIT_OK : mc_cli_fail(cli, &err);
}
