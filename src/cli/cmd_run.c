/* memcal run */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/meter.h"
#include "report/report.h"
#include "run/conduct.h"

struct run_options {
    const char *sandbox;
    int plan;
    const char *expect_plan;
    int64_t repetitions;
    int64_t jobs;
    double budget;
    struct mc_option_texts lives;
    struct mc_option_texts harnesses;
    int require_pinned;
};

static int print_plan(const struct mc_cli *cli, const struct mc_plan *plan, const struct mc_store *store,
                      struct mc_err *err)
{
    MC_AUTOJSON json_t *json = NULL;
    int rc = mc_plan_json(plan, mc_store_uuid(store), &json, err);
    if (rc != 0) {
        return rc;
    }
    mc_cli_print_json(json);
    if (!cli->json) {
        fprintf(stderr, "plan %s: %zu trial%s; nothing was started\n", plan->digest.hex, plan->trial_count,
                plan->trial_count == 1 ? "" : "s");
    }
    return 0;
}

static int print_results(const struct mc_cli *cli, const struct mc_conduct_result *result, struct mc_err *err)
{
    MC_AUTOFREE char *dir = mc_path_dir(result->report);
    MC_AUTOFREE char *path = mc_path_join(dir, "report.json");
    MC_AUTOJSON json_t *report = mc_json_load(path, (size_t)1 << 30, err);
    if (!report) {
        return err->code;
    }
    if (cli->json) {
        mc_cli_print_json(report);
        return 0;
    }
    struct mc_buf table = MC_BUF_OWN;
    mc_report_table(report, &table);
    printf("\n%s\nrun %s\nreport %s\n", mc_buf_text(&table), result->run, result->report);
    mc_buf_release(&table);
    return 0;
}

static int check_plan(const struct mc_plan *plan, const struct run_options *options, struct mc_err *err)
{
    if (plan->trial_count == 0) {
        return mc_fail(err, MC_INPUT, "there is nothing to run: no trial is left");
    }
    if (options->expect_plan) {
        struct mc_digest expected;
        int rc = mc_digest_parse(options->expect_plan, &expected, err);
        if (rc != 0) {
            mc_wrap(err, "--expect-plan");
            return mc_hint(err, "\"memcal run --plan\" prints a plan's digest");
        }
        if (rc == 0 && !mc_streq(expected.hex, plan->digest.hex)) {
            rc = mc_fail(err, MC_MISMATCH, "this plan's digest is %s, --expect-plan says %s", plan->digest.hex,
                         expected.hex);
            mc_hint(err, "compare the two with \"memcal run --plan\"");
        }
        return rc;
    }
    return 0;
}

static int execute(struct mc_cli *cli, const struct mc_plan *plan, struct mc_engine *engine, struct mc_store *store,
                   struct mc_err *err)
{
    struct mc_meter meter;
    mc_meter_begin(&meter, cli);
    mc_meter_line(&meter, "%zu trial%s on %s %s", plan->trial_count, plan->trial_count == 1 ? "" : "s",
                  mc_engine_about(engine)->kind_name, mc_engine_about(engine)->version);
    if (plan->runfile.jobs > 1) {
        mc_meter_line(&meter, "the run file asks for %lld trials at a time: this version runs them one by one",
                      (long long)plan->runfile.jobs);
    }
    struct mc_conduct_options conduct = {
        .store = store, .engine = engine, .plan = plan, .cancel = &cli->cancel, .watch = {mc_meter_of_run, &meter}};
    struct mc_conduct_result result;
    int rc = mc_conduct(&conduct, &result, err);
    mc_meter_end(&meter);
    int code = rc;
    if (rc == 0) {
        code = result.exit_code;
        rc = print_results(cli, &result, err);
    } else if (result.run) {
        mc_wrap(err, "run %s", result.run);
    }
    mc_conduct_result_release(&result);
    return rc ? mc_cli_fail(cli, err) : code;
}

static int run(struct mc_cli *cli, const struct run_options *options, const char *runfile)
{
    struct mc_err err;
    struct mc_engine *engine = NULL;
    struct mc_store *store = NULL;
    struct mc_plan plan = {.manifest = NULL};
    struct mc_plan_options plan_options = {.runfile = runfile,
                                           .lives = options->lives.count ? options->lives.items : NULL,
                                           .harnesses = options->harnesses.count ? options->harnesses.items : NULL,
                                           .repetitions = options->repetitions,
                                           .budget_usd = options->budget,
                                           .require_pinned = options->require_pinned};
    int code = MC_EXIT_OK;
    int rc = mc_cli_open_store(cli, &store, &err);
    rc = rc ? rc : mc_cli_open_engine(cli, &engine, &err);
    rc = rc ? rc : mc_plan_make(&plan, &plan_options, engine, mc_within(120000, &cli->cancel), &err);
    rc = rc ? rc : check_plan(&plan, options, &err);
    if (rc == 0 && options->plan) {
        rc = print_plan(cli, &plan, store, &err);
    } else if (rc == 0) {
        code = execute(cli, &plan, engine, store, &err);
    }
    if (rc != 0) {
        code = mc_cli_fail(cli, &err);
    }
    mc_plan_release(&plan);
    mc_engine_close(engine);
    mc_store_close(store);
    return code;
}

int mc_cmd_run(struct mc_cli *cli, int argc, char **argv)
{
    struct run_options o = {.sandbox = "docker", .budget = -1, .jobs = 1};
    const struct mc_option options[] = {
        {"sandbox", 0, MC_OPTION_TEXT, "KIND", "where trials run: docker (Docker or Podman)", &o.sandbox},
        {"plan", 0, MC_OPTION_FLAG, NULL, "print what would run, with every container; start nothing", &o.plan},
        {"expect-plan", 0, MC_OPTION_TEXT, "DIGEST", "refuse to run anything but this plan", &o.expect_plan},
        {"repetitions", 'k', MC_OPTION_WHOLE, "N", "repetitions of each life by each harness", &o.repetitions},
        {"jobs", 0, MC_OPTION_WHOLE, "N", "trials at a time (this version: 1)", &o.jobs},
        {"budget", 0, MC_OPTION_NUMBER, "USD", "stop when so much is spent on models", &o.budget},
        {"life", 0, MC_OPTION_TEXTS, "ID", "only this life (may be given again)", &o.lives},
        {"harness", 0, MC_OPTION_TEXTS, "NAME", "only this harness (may be given again)", &o.harnesses},
        {"require-pinned", 0, MC_OPTION_FLAG, NULL, "refuse images without a digest", &o.require_pinned},
    };
    const struct mc_usage_page page = {
        .synopsis = "memcal run RUNFILE [options]",
        .about = "Runs the lives of a corpus through harnesses and prints the comparison.\n\n"
                 "Exit codes: 0 every trial ended and was graded; 1 internal error; 2 bad usage or bad input;\n"
                 "3 preflight refused; 4 trials missing after infrastructure failures; 5 stopped by a budget;\n"
                 "6 cancelled; 7 a digest or a replay did not match.",
        .options = options,
        .option_count = MC_COUNT(options),
        .examples = "  memcal run manifests/runs/quickstart.yaml --sandbox docker\n"
                    "  memcal run manifests/runs/quickstart.yaml --plan\n"
                    "  memcal run manifests/runs/quickstart.yaml --life trivia-night --harness hermes-fts",
        .least = 1,
        .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    if (!mc_streq(o.sandbox, "docker")) {
        mc_fail(&err, MC_INPUT, "there is no sandbox \"%s\"", o.sandbox);
        mc_hint(&err, "the one there is is \"docker\", which serves Docker and Podman");
        return mc_cli_fail(cli, &err);
    }
    if (o.jobs != 1) {
        mc_fail(&err, MC_INPUT, "--jobs %lld: this version runs one trial at a time", (long long)o.jobs);
        mc_hint(&err, "leave it out, or say --jobs 1");
        return mc_cli_fail(cli, &err);
    }
    return run(cli, &o, argv[0]);
}
