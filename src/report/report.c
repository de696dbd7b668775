#include "report/report.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "report/markdown.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "?";
}

static const json_t *tally_of(const json_t *harness)
{
    return json_object_get(json_object_get(harness, "results"), "tally");
}

/* "72%" of a metric's mean over lives; "?" where no life has it. */
static char *percent(const json_t *harness, const char *metric)
{
    const json_t *metrics = json_object_get(json_object_get(harness, "results"), "metrics");
    const json_t *value = json_object_get(json_object_get(metrics, metric), "value");
    return json_is_number(value) ? mc_strf("%.0f%%", json_number_value(value) * 100) : mc_strdup("?");
}

static char *count(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? mc_strf("%lld", (long long)json_integer_value(value)) : mc_strdup("?");
}

static char *seconds(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? mc_strf("%.1f s", (double)json_integer_value(value) / 1000) : mc_strdup("?");
}

/* Tokens of all classes together. Where an endpoint does not tell cached input or reasoning apart, they are counted in
 * input and output, so only those two must be known. */
static char *tokens(const json_t *harness)
{
    const json_t *usage = json_object_get(harness, "usage");
    static const char *const classes[] = {"input", "cached_input", "output", "reasoning"};
    json_int_t sum = 0;
    if (!json_is_integer(json_object_get(usage, "input")) || !json_is_integer(json_object_get(usage, "output"))) {
        return mc_strdup("?");
    }
    for (size_t i = 0; i < MC_COUNT(classes); i++) {
        sum += json_integer_value(json_object_get(usage, classes[i])); /* 0 for what is not told apart */
    }
    return mc_strf("%lld", (long long)sum);
}

static char *cost(const json_t *harness)
{
    const json_t *value = json_object_get(harness, "cost_usd");
    return json_is_number(value) ? mc_strf("$%.4f", json_number_value(value)) : mc_strdup("?");
}

static char *endings(const json_t *harness)
{
    struct mc_buf out = MC_BUF_OWN;
    const char *how;
    json_t *number;
    json_object_foreach ((json_t *)(uintptr_t)json_object_get(harness, "trials"), how, number) {
        mc_buf_putf(&out, "%s%lld %s", out.len ? ", " : "", (long long)json_integer_value(number), how);
    }
    return mc_buf_take(&out);
}

static char *successes(const json_t *harness)
{
    const json_t *tally = tally_of(harness);
    MC_AUTOFREE char *complete = count(tally, "complete");
    MC_AUTOFREE char *answers = count(tally, "answers");
    MC_AUTOFREE char *share = percent(harness, "success");
    return mc_strf("%s (%s/%s)", share, complete, answers);
}

static char *model(const json_t *harness)
{
    const json_t *value = json_object_get(harness, "model");
    const char *source = text_of(value, "source");
    return mc_starts_with(source, "script/") || mc_streq(source, "replay")
               ? mc_strdup(source)
               : mc_strf("%s (%s)", text_of(value, "name"), source);
}

static char *name(const json_t *harness)
{
    return mc_strdup(text_of(harness, "name"));
}

static char *correct(const json_t *harness)
{
    return percent(harness, "correct");
}

static char *missed(const json_t *harness)
{
    return percent(harness, "missed");
}

static char *misrepresented(const json_t *harness)
{
    return percent(harness, "misrepresented");
}

static char *latency(const json_t *harness)
{
    return seconds(json_object_get(harness, "latency_ms"), "median");
}

static char *calls(const json_t *harness)
{
    return count(harness, "model_calls");
}

/* A column of the comparison: its head and how a harness's cell is made. */
static const struct {
    const char *head;
    char *(*cell)(const json_t *harness);
} columns[] = {{"harness", name},
               {"task success", successes},
               {"correct", correct},
               {"missed", missed},
               {"misrepresented", misrepresented},
               {"median latency", latency},
               {"model calls", calls},
               {"tokens", tokens},
               {"cost", cost},
               {"trials ended", endings},
               {"model", model}};

static void put_row(struct mc_buf *out, const json_t *harness, const size_t *widths, const char *before,
                    const char *between)
{
    mc_buf_puts(out, before);
    for (size_t c = 0; c < MC_COUNT(columns); c++) {
        MC_AUTOFREE char *cell = harness ? columns[c].cell(harness) : mc_strdup(columns[c].head);
        int last = c + 1 == MC_COUNT(columns);
        mc_buf_putf(out, "%s%-*s", c ? between : "", widths && !last ? (int)widths[c] : 0, cell);
    }
}

void mc_report_table(const json_t *report, struct mc_buf *out)
{
    size_t widths[MC_COUNT(columns)];
    size_t i;
    json_t *harness;
    json_t *harnesses = json_object_get(report, "harnesses");
    for (size_t c = 0; c < MC_COUNT(columns); c++) {
        widths[c] = strlen(columns[c].head);
        json_array_foreach (harnesses, i, harness) {
            MC_AUTOFREE char *cell = columns[c].cell(harness);
            widths[c] = strlen(cell) > widths[c] ? strlen(cell) : widths[c];
        }
    }
    put_row(out, NULL, widths, "", "  ");
    mc_buf_putc(out, '\n');
    json_array_foreach (harnesses, i, harness) {
        put_row(out, harness, widths, "", "  ");
        mc_buf_putc(out, '\n');
    }
}

static void put_comparison(struct mc_buf *out, const json_t *report)
{
    mc_buf_puts(out, "## Comparison\n\n");
    put_row(out, NULL, NULL, "| ", " | ");
    mc_buf_puts(out, " |\n|");
    for (size_t c = 0; c < MC_COUNT(columns); c++) {
        mc_buf_puts(out, " --- |");
    }
    mc_buf_putc(out, '\n');
    size_t i;
    json_t *harness;
    json_array_foreach (json_object_get(report, "harnesses"), i, harness) {
        put_row(out, harness, NULL, "| ", " | ");
        mc_buf_puts(out, " |\n");
    }
    mc_buf_puts(out,
                "\nTask success counts checkpoints whose required facts are all right and nothing is wrong; correct,"
                " missed and misrepresented count facts. Each is averaged over lives. \"?\" is not known.\n\n");
    const json_t *comparison;
    json_array_foreach (json_object_get(report, "comparisons"), i, comparison) {
        mc_buf_putf(out, "- %s\n", text_of(comparison, "text"));
    }
}

/* Who replaced what, where a verdict was revised: the first one stays to be seen. */
static void put_revisions(struct mc_buf *out, const json_t *slot)
{
    size_t i;
    const json_t *revision;
    json_array_foreach (json_object_get(slot, "revisions"), i, revision) {
        const char *by = json_string_value(json_object_get(revision, "by"));
        mc_buf_putf(out, "        - revision %lld, %s, by ", (long long)json_integer_value(json_object_get(revision, "number")),
                    text_of(revision, "verdict"));
        mc_markdown_put(out, by ? by : text_of(revision, "source"));
        mc_buf_putf(out, " at %s: ", text_of(revision, "at"));
        mc_markdown_put(out, text_of(revision, "reason"));
        mc_buf_putc(out, '\n');
    }
}

static void put_slots(struct mc_buf *out, const json_t *grade)
{
    size_t i;
    const json_t *slot;
    json_array_foreach (json_object_get(grade, "slots"), i, slot) {
        mc_buf_putf(out, "    - %s: **%s** (", text_of(slot, "id"), text_of(slot, "verdict"));
        mc_markdown_put(out, text_of(slot, "rule"));
        mc_buf_puts(out, "): ");
        mc_markdown_put(out, text_of(slot, "explanation"));
        mc_buf_putc(out, '\n');
        put_revisions(out, slot);
    }
}

static void put_trial(struct mc_buf *out, const json_t *trial)
{
    mc_buf_putf(out, "### %s, %s, repetition %lld: %s\n\n", text_of(trial, "life"), text_of(trial, "harness"),
                (long long)json_integer_value(json_object_get(trial, "repetition")),
                json_is_string(json_object_get(trial, "ended")) ? text_of(trial, "ended") : "not run");
    if (json_is_string(json_object_get(trial, "reason"))) {
        mc_buf_puts(out, "Reason: ");
        mc_markdown_put(out, text_of(trial, "reason"));
        mc_buf_puts(out, "\n\n");
    }
    size_t i;
    const json_t *answer;
    json_array_foreach (json_object_get(trial, "answers"), i, answer) {
        MC_AUTOFREE char *took = seconds(answer, "latency_ms");
        mc_buf_puts(out, "- ");
        mc_markdown_put(out, text_of(answer, "id"));
        mc_buf_putf(out, " at %s (%s, %s)\n", text_of(answer, "asked_at"), text_of(answer, "ended"), took);
        mc_buf_puts(out, "    - asked: ");
        mc_markdown_put(out, text_of(answer, "question"));
        mc_buf_puts(out, "\n    - answered: ");
        mc_markdown_put(out, json_is_string(json_object_get(answer, "answer")) ? text_of(answer, "answer") : "(nothing)");
        mc_buf_putc(out, '\n');
        put_slots(out, json_object_get(answer, "grade"));
    }
    mc_buf_putc(out, '\n');
}

static void put_grading(struct mc_buf *out, const json_t *report)
{
    const json_t *grading = json_object_get(report, "grading");
    const json_t *judge = json_object_get(report, "judge");
    const char *model = json_string_value(json_object_get(grading, "judge"));
    MC_AUTOFREE char *reviewed = count(grading, "reviewed");
    MC_AUTOFREE char *number = count(grading, "number");
    mc_buf_putf(out, "- grading %s of %s, judge: ", number, text_of(grading, "at"));
    mc_markdown_put(out, model ? model : "none");
    mc_buf_putf(out, "; verdicts by review: %s\n", reviewed);
    if (json_is_string(json_object_get(grading, "as_of"))) {
        mc_buf_putf(out, "- **as of %s**: verdicts that were in force then\n", text_of(grading, "as_of"));
    }
    if (json_integer_value(json_object_get(grading, "not_graded")) > 0) {
        MC_AUTOFREE char *open = count(grading, "not_graded");
        mc_buf_putf(out, "- **%s answers are not graded yet**: `memcal grade` grades them\n", open);
    }
    if (json_is_object(judge)) {
        MC_AUTOFREE char *made = count(judge, "calls");
        MC_AUTOFREE char *used = tokens(judge);
        MC_AUTOFREE char *paid = cost(judge);
        mc_buf_putf(out, "- the judge made %s calls (%s tokens, %s), which are not the harnesses'\n", made, used, paid);
    }
}

static void put_heading(struct mc_buf *out, const json_t *report)
{
    const json_t *run = json_object_get(report, "run");
    const json_t *corpus = json_object_get(report, "corpus");
    const json_t *engine = json_object_get(report, "engine");
    mc_buf_putf(out, "# %s: run %s\n\n", text_of(run, "name"), text_of(run, "id"));
    mc_buf_putf(out, "- corpus: %s %s (`%s`)\n", text_of(corpus, "name"), text_of(corpus, "version"),
                text_of(corpus, "digest"));
    mc_buf_putf(out, "- manifest: `%s`\n", text_of(run, "manifest"));
    mc_buf_putf(out, "- engine: %s %s, API %s, %s/%s\n", text_of(engine, "kind"), text_of(engine, "version"),
                text_of(engine, "api"), text_of(engine, "os"), text_of(engine, "arch"));
    mc_buf_putf(out, "- memcal %s, grader %s\n", text_of(report, "memcal"), text_of(report, "grader"));
    put_grading(out, report);
    mc_buf_putf(out, "- started %s, state %s\n", text_of(run, "created"), text_of(run, "state"));
    if (!mc_streq(text_of(run, "isolation"), "verified")) {
        mc_buf_puts(out, "- **isolation not verified**: no preflight was run\n");
    }
    size_t i;
    const json_t *harness;
    int scripted = 0;
    json_array_foreach (json_object_get(report, "harnesses"), i, harness) {
        scripted |= mc_starts_with(text_of(json_object_get(harness, "model"), "source"), "script/");
    }
    if (scripted) {
        mc_buf_puts(out, "- **scripted model**: where the model is `script/...` the numbers measure plumbing and"
                         " retrieval, never a model\n");
    }
    const json_t *image;
    json_array_foreach (json_object_get(report, "unpinned_images"), i, image) {
        mc_buf_putf(out, "- unpinned image: %s (its ID is in the manifest)\n", json_string_value(image));
    }
    mc_buf_putc(out, '\n');
}

/* Beside ours, never among them. */
static void put_outside_scores(struct mc_buf *out, const json_t *report)
{
    size_t h;
    const json_t *harness;
    int any = 0;
    json_array_foreach (json_object_get(report, "harnesses"), h, harness) {
        size_t i;
        const json_t *one;
        json_array_foreach (json_object_get(harness, "outside_scores"), i, one) {
            const json_t *verdicts = json_object_get(one, "verdicts");
            MC_AUTOFREE char *right = count(verdicts, "correct");
            MC_AUTOFREE char *missing = count(verdicts, "missed");
            MC_AUTOFREE char *wrong = count(verdicts, "misrepresented");
            MC_AUTOFREE char *scored = count(one, "scores");
            if (!any++) {
                mc_buf_puts(out, "\n## Scores from elsewhere\n\nGiven by others and not counted in anything above.\n\n"
                                 "| harness | source | by | correct | missed | misrepresented | scores | their mean |\n"
                                 "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
            }
            mc_buf_puts(out, "| ");
            mc_markdown_put(out, text_of(harness, "name"));
            mc_buf_putf(out, " | %s | ", text_of(one, "source"));
            mc_markdown_put(out, text_of(one, "by"));
            mc_buf_putf(out, " | %s | %s | %s | %s | ", right, missing, wrong, scored);
            if (json_integer_value(json_object_get(one, "scores")) > 0) {
                mc_buf_putf(out, "%.3f |\n", json_number_value(json_object_get(one, "mean")));
            } else {
                mc_buf_puts(out, "- |\n");
            }
        }
    }
}

void mc_report_markdown(const json_t *report, struct mc_buf *out)
{
    put_heading(out, report);
    put_comparison(out, report);
    put_outside_scores(out, report);
    mc_buf_puts(out, "\n## Trials\n\n");
    size_t i;
    const json_t *trial;
    json_array_foreach (json_object_get(report, "trials"), i, trial) {
        put_trial(out, trial);
    }
}
