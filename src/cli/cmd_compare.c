/* memcal compare */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/graded.h"
#include "report/metrics.h"
#include "run/compare.h"

static void print_comparison(const json_t *json)
{
    MC_AUTOBUF struct mc_buf table = MC_BUF_OWN;
    mc_report_metrics(json_object_get(json, "cells"), &table);
    printf("%s\n", mc_buf_text(&table));
    if (!json_is_true(json_object_get(json, "same_corpus"))) {
        printf("the two runs are of different corpora: only lives with the same name are compared\n\n");
    }
    size_t i;
    const json_t *one;
    json_array_foreach (json_object_get(json, "comparisons"), i, one) {
        printf("%-15s %s\n", json_string_value(json_object_get(one, "metric")),
               json_string_value(json_object_get(one, "text")));
    }
}

static int compare(const struct mc_cli *cli, char **given, const char *when, struct mc_err *err)
{
    struct mc_store *store = NULL;
    struct mc_cell cells[2] = {{.harness = NULL}, {.harness = NULL}};
    struct mc_time time;
    const struct mc_time *as_of;
    int rc = mc_cli_as_of(when, &time, &as_of, err);
    rc = rc ? rc : mc_cli_open_store(cli, &store, err);
    rc = rc ? rc : mc_cell_load(store, given[0], as_of, &cells[0], err);
    rc = rc ? rc : mc_cell_load(store, given[1], as_of, &cells[1], err);
    if (rc == 0) {
        MC_AUTOJSON json_t *json = mc_cells_compare(&cells[0], &cells[1]);
        if (cli->json) {
            mc_cli_print_json(json);
        } else {
            print_comparison(json);
        }
    }
    mc_cell_release(&cells[0]);
    mc_cell_release(&cells[1]);
    mc_store_close(store);
    return rc;
}

int mc_cmd_compare(struct mc_cli *cli, int argc, char **argv)
{
    const char *as_of = NULL;
    const struct mc_option options[] = {{"as-of", 0, MC_OPTION_TEXT, "TIME", mc_cli_as_of_help, &as_of}};
    const struct mc_usage_page page = {
        .synopsis = "memcal compare CELL CELL [--as-of TIME]",
        .about = "Puts two cells side by side, metric by metric with intervals, and tests each difference over the\n"
                 "lives that both have (paired permutation test). With few lives it says that it can't be told.\n"
                 "A cell is RUN/CORPUS/HARNESS; RUN is a run's ID, the start of one, or \"last\".",
        .options = options,
        .option_count = MC_COUNT(options),
        .examples = "  memcal compare last/quickstart/hermes-none last/quickstart/hermes-fts",
        .least = 2,
        .most = 2};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    return compare(cli, argv, as_of, &err) == 0 ? MC_EXIT_OK : mc_cli_fail(cli, &err);
}
