/* memcal grade */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/graded.h"
#include "report/metrics.h"
#include "report/report.h"
#include "run/grade_file.h"
#include "run/grading.h"
#include "run/plan.h"
#include "run/results.h"
#include "run/runfile.h"

struct grade_options {
    const char *corpus;
    const char *answers;
    const char *judge;
    const char *models;
    const char *as_of;
};

/* ---- an answers file ---- */

struct printing {
    const struct mc_cli *cli;
    int any;
};

static int print_answer(void *payload, const struct mc_answer *answer, const struct mc_answer_grade *grade,
                        struct mc_err *err)
{
    struct printing *printing = payload;
    MC_AUTOJSON json_t *json = mc_graded_answer_json(answer, grade);
    MC_AUTOFREE char *text = mc_json_text(json);
    printf("%s%s", printing->any ? ",\n" : "", text);
    printing->any = 1;
    return ferror(stdout) ? mc_fail(err, MC_IO, "standard output cannot be written") : 0;
}

static void print_summary(const json_t *summary)
{
    struct mc_buf table = MC_BUF_OWN;
    mc_report_metrics(json_object_get(summary, "harnesses"), &table);
    fputs(mc_buf_text(&table), stdout);
    mc_buf_release(&table);
    json_int_t unjudged = json_integer_value(json_object_get(summary, "unjudged"));
    if (unjudged > 0) {
        printf("\nthe judge did not decide %lld facts: they are left out, not counted as wrong\n", (long long)unjudged);
    }
}

/* The judge of an answers file stands in a run file: --judge names the model, --models the file. */
struct judge_parts {
    struct mc_store *store;
    struct mc_runfile runfile;
    int loaded;
    json_t *models;
    struct mc_redactor *redactor;
    struct mc_asker *asker;
};

static int open_judge(struct mc_cli *cli, const struct grade_options *options, struct judge_parts *parts,
                      struct mc_err *err)
{
    if (!options->judge || mc_streq(options->judge, "none")) {
        return 0;
    }
    if (!options->models) {
        mc_fail(err, MC_INPUT, "--judge %s needs a run file that describes the model", options->judge);
        return mc_hint(err, "name it with --models RUNFILE");
    }
    int rc = mc_runfile_load(options->models, &parts->runfile, err);
    parts->loaded = rc == 0;
    rc = rc ? rc : mc_cli_open_store(cli, &parts->store, err);
    if (rc != 0) {
        return rc;
    }
    parts->models = mc_models_json(&parts->runfile);
    parts->redactor = mc_redactor_new();
    struct mc_asker_options asker = {
        .store = parts->store, .votes = (int)parts->runfile.votes, .redactor = parts->redactor, .cancel = &cli->cancel};
    size_t i;
    const json_t *model;
    json_array_foreach (parts->models, i, model) {
        const char *secret = json_string_value(json_object_get(model, "secret"));
        if (secret && getenv(secret)) {
            mc_redactor_add(parts->redactor, secret, getenv(secret));
        }
        if (mc_streq(json_string_value(json_object_get(model, "key")), options->judge)) {
            asker.model = model;
        }
    }
    if (!asker.model) {
        return mc_fail(err, MC_INPUT, "%s has no model \"%s\"", options->models, options->judge);
    }
    return mc_asker_open(&asker, &parts->asker, err);
}

static void close_judge(struct judge_parts *parts)
{
    mc_asker_close(parts->asker);
    mc_redactor_free(parts->redactor);
    json_decref(parts->models);
    if (parts->loaded) {
        mc_runfile_release(&parts->runfile);
    }
    mc_store_close(parts->store);
}

static int grade_file(struct mc_cli *cli, const struct grade_options *options)
{
    struct mc_err err;
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    MC_AUTOJSON json_t *summary = NULL;
    struct printing printing = {.cli = cli};
    struct judge_parts parts = {.store = NULL};
    int rc = mc_corpus_open(options->corpus, &corpus, &err);
    rc = rc ? rc : open_judge(cli, options, &parts, &err);
    if (rc == 0) {
        struct mc_grade_file file = {.corpus = corpus,
                                     .answers = options->answers,
                                     .asker = parts.asker,
                                     .cancel = &cli->cancel,
                                     .each = cli->json ? print_answer : NULL,
                                     .payload = &printing};
        if (cli->json) {
            fputs("{\"answers\":[", stdout);
        }
        rc = mc_grade_file(&file, &summary, &err);
    }
    close_judge(&parts);
    if (rc != 0) {
        return mc_cli_fail(cli, &err);
    }
    if (cli->json) {
        MC_AUTOFREE char *text = mc_json_text(summary);
        printf("],\n\"summary\":%s}\n", text);
    } else {
        print_summary(summary);
    }
    return json_integer_value(json_object_get(summary, "unjudged")) > 0 ? MC_EXIT_MISSING : MC_EXIT_OK;
}

/* ---- a run ---- */

static void print_changes(const struct mc_grading_result *result)
{
    size_t i;
    const json_t *change;
    json_array_foreach (result->changes, i, change) {
        printf("%s %s: %s -> %s%s\n", json_string_value(json_object_get(change, "answer")),
               json_string_value(json_object_get(change, "slot")), json_string_value(json_object_get(change, "from")),
               json_string_value(json_object_get(change, "to")),
               json_is_true(json_object_get(change, "in_force")) ? "" : " (a review keeps its verdict)");
    }
    size_t count = json_array_size(result->changes);
    if (result->number == 1) {
        printf("grading 1: %zu answers\n", result->answers);
    } else if (count == 0) {
        printf("grading %lld: %zu answers, nothing changed\n", (long long)result->number, result->answers);
    } else {
        printf("grading %lld: %zu answers, %zu verdicts changed\n", (long long)result->number, result->answers, count);
    }
}

/* The report's answers in the form that an answers file's have, trial by trial. */
static json_t *answers_json(const json_t *report)
{
    json_t *list = json_array();
    size_t t;
    const json_t *trial;
    json_array_foreach (json_object_get(report, "trials"), t, trial) {
        size_t a;
        const json_t *answer;
        json_array_foreach (json_object_get(trial, "answers"), a, answer) {
            const json_t *grade = json_object_get(answer, "grade");
            json_t *one = json_is_object(grade) ? json_deep_copy(grade) : json_object();
            static const char *const of_trial[] = {"life", "harness", "repetition"};
            static const char *const of_answer[] = {"id", "checkpoint", "ended"};
            for (size_t i = 0; i < MC_COUNT(of_trial); i++) {
                json_object_set(one, of_trial[i], json_object_get(trial, of_trial[i]));
                json_object_set(one, of_answer[i], json_object_get(answer, of_answer[i]));
            }
            json_array_append_new(list, one);
        }
    }
    return list;
}

static json_t *columns_json(const json_t *report)
{
    json_t *columns = json_array();
    size_t i;
    const json_t *harness;
    json_array_foreach (json_object_get(report, "harnesses"), i, harness) {
        json_t *one = json_copy(json_object_get(harness, "results"));
        json_object_set(one, "name", json_object_get(harness, "name"));
        json_array_append_new(columns, one);
    }
    return columns;
}

static void print_run_json(const struct mc_stored_run *run, const struct mc_grading_result *result,
                           const json_t *report, const char *path)
{
    json_t *summary = json_pack("{so}", "harnesses", columns_json(report));
    json_t *grading = result ? json_pack("{sI sI sO}", "number", (json_int_t)result->number, "unjudged",
                                         (json_int_t)result->unjudged, "changes", result->changes)
                             : json_deep_copy(json_object_get(report, "grading"));
    MC_AUTOJSON json_t *json = json_pack("{ss so so so ss?}", "run", run->id, "grading", grading, "answers",
                                         answers_json(report), "summary", summary, "report", path);
    mc_cli_print_json(json);
}

static void print_run(const struct mc_cli *cli, const struct mc_stored_run *run, const struct mc_grading_result *result,
                      const json_t *report, const char *path)
{
    if (cli->json) {
        print_run_json(run, result, report, path);
        return;
    }
    if (result) {
        print_changes(result);
        putchar('\n');
    }
    MC_AUTOJSON json_t *columns = columns_json(report);
    MC_AUTOBUF struct mc_buf table = MC_BUF_OWN;
    mc_report_metrics(columns, &table);
    fputs(mc_buf_text(&table), stdout);
    if (result && result->unjudged > 0) {
        printf("\nthe judge did not decide %zu facts: they are left out, not counted as wrong\n", result->unjudged);
    }
    if (path) {
        printf("\nrun %s\nreport %s\n", run->id, path);
    }
}

static int misses_trials(const json_t *report)
{
    static const char *const missing[] = {"infrastructure", "budget", "cancelled", "not run"};
    size_t h;
    const json_t *harness;
    json_array_foreach (json_object_get(report, "harnesses"), h, harness) {
        for (size_t i = 0; i < MC_COUNT(missing); i++) {
            if (json_object_get(json_object_get(harness, "trials"), missing[i])) {
                return 1;
            }
        }
    }
    return 0;
}

/* As design.md section 8 has it for a run: every trial ended and was graded, or something is missing. */
static int exit_code_of(const struct mc_stored_run *run, const struct mc_grading_result *result, const json_t *report)
{
    if (run->exit_code == MC_EXIT_BUDGET || run->exit_code == MC_EXIT_CANCELLED) {
        return (int)run->exit_code;
    }
    return misses_trials(report) || (result && result->unjudged > 0) ? MC_EXIT_MISSING : MC_EXIT_OK;
}

static int grade_run(struct mc_cli *cli, const struct grade_options *options, const char *given)
{
    struct mc_err err;
    struct mc_store *store = NULL;
    MC_AUTORUN struct mc_stored_run run = {.id = NULL};
    MC_AUTOJSON json_t *report = NULL;
    MC_AUTOFREE char *path = NULL;
    struct mc_grading_result result = {.changes = NULL};
    struct mc_time time;
    const struct mc_time *as_of;
    int rc = mc_cli_as_of(options->as_of, &time, &as_of, &err);
    rc = rc ? rc : mc_cli_open_run(cli, given, &store, &run, &err);
    if (rc == 0 && as_of) {
        rc = mc_results_make(store, &run, as_of, &report, &err);
    } else if (rc == 0) {
        struct mc_grading_options grading = {
            .store = store, .run = &run, .judge = options->judge, .cancel = &cli->cancel};
        rc = mc_grading_make(&grading, &result, &err);
        rc = rc ? rc : mc_results_write(store, &run, &report, &path, &err);
    }
    int code = rc ? mc_cli_fail(cli, &err) : exit_code_of(&run, as_of ? NULL : &result, report);
    if (rc == 0) {
        print_run(cli, &run, as_of ? NULL : &result, report, path);
    }
    mc_grading_result_release(&result);
    mc_store_close(store);
    return code;
}

static int check_usage(const struct grade_options *options, int operands, struct mc_err *err)
{
    if (operands == 1 && (options->corpus || options->answers || options->models)) {
        mc_fail(err, MC_INPUT, "a run is graded by the corpus and the answers in the store");
        return mc_hint(err, "leave out --corpus, --answers and --models, or the run");
    }
    if (operands == 0 && (!options->corpus || !options->answers)) {
        mc_fail(err, MC_INPUT, "there is nothing to grade");
        return mc_hint(err, "name a run, or --corpus DIR and --answers FILE");
    }
    if (operands == 0 && options->as_of) {
        mc_fail(err, MC_INPUT, "--as-of is for runs: an answers file has no earlier verdicts");
        return mc_hint(err, "name a run");
    }
    if (options->as_of && options->judge) {
        mc_fail(err, MC_INPUT, "--as-of shows earlier verdicts and asks no judge");
        return mc_hint(err, "leave out one of them");
    }
    return 0;
}

int mc_cmd_grade(struct mc_cli *cli, int argc, char **argv)
{
    struct grade_options o = {.corpus = NULL};
    const struct mc_option options[] = {
        {"corpus", 0, MC_OPTION_TEXT, "DIR", "grade answers by the rubrics of this corpus", &o.corpus},
        {"answers", 0, MC_OPTION_TEXT, "FILE", "the answers, one JSON object a line", &o.answers},
        {"judge", 0, MC_OPTION_TEXT, "NAME", "a model for what no rule can decide; \"none\": no model", &o.judge},
        {"models", 0, MC_OPTION_TEXT, "RUNFILE", "with --answers: the run file that describes the judge", &o.models},
        {"as-of", 0, MC_OPTION_TEXT, "TIME", mc_cli_as_of_help, &o.as_of},
    };
    const struct mc_usage_page page = {
        .synopsis = "memcal grade RUN | memcal grade --corpus DIR --answers FILE",
        .about = "Grades a stored run again, from the store alone, and prints which verdicts changed; or grades an\n"
                 "answers file from anyone. With --json the answers come in the order given, with a summary.\n\n"
                 "Exit codes: 0 all was graded; 2 bad usage or bad input; 4 trials or a judge's verdicts are missing;\n"
                 "5 or 6 where the run was stopped by a budget or cancelled; 7 something in the store was changed.",
        .options = options,
        .option_count = MC_COUNT(options),
        .examples = "  memcal grade last\n"
                    "  memcal grade --corpus manifests/corpora/pilot --answers answers.jsonl --json",
        .least = 0,
        .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    if (check_usage(&o, operands, &err) != 0) {
        return mc_cli_fail(cli, &err);
    }
    return operands ? grade_run(cli, &o, argv[0]) : grade_file(cli, &o);
}
