#include "report/report.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "report/graded.h"
#include "report/text.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "?";
}

/* A member's text; "?" where there is none. */
static void put_member(struct mc_buf *out, const json_t *object, const char *key)
{
    mc_text_put(out, text_of(object, key), MC_MARKDOWN);
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

/* A cell as it is shown; `harness` NULL: the column's head. */
static char *cell_of(size_t column, const json_t *harness, enum mc_text_format format)
{
    MC_AUTOFREE char *text = harness ? columns[column].cell(harness) : mc_strdup(columns[column].head);
    struct mc_buf out = MC_BUF_OWN;
    mc_text_put(&out, text, format);
    return mc_buf_take(&out);
}

/* Characters, for columns that line up. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++) {
        width += ((unsigned char)*text & 0xc0U) != 0x80;
    }
    return width;
}

static void put_row(struct mc_buf *out, const json_t *harness)
{
    for (size_t c = 0; c < MC_COUNT(columns); c++) {
        MC_AUTOFREE char *cell = cell_of(c, harness, MC_MARKDOWN);
        mc_buf_putf(out, "| %s ", cell);
    }
    mc_buf_puts(out, "|\n");
}

static void put_aligned(struct mc_buf *out, const json_t *harness, const size_t *widths)
{
    for (size_t c = 0; c < MC_COUNT(columns); c++) {
        MC_AUTOFREE char *cell = cell_of(c, harness, MC_TERMINAL);
        int last = c + 1 == MC_COUNT(columns);
        mc_buf_putf(out, "%s%*s", cell, last ? 0 : (int)(widths[c] - width_of(cell)) + 2, "");
    }
    mc_buf_putc(out, '\n');
}

void mc_report_table(const json_t *report, struct mc_buf *out)
{
    size_t widths[MC_COUNT(columns)];
    size_t i;
    json_t *harness;
    json_t *harnesses = json_object_get(report, "harnesses");
    for (size_t c = 0; c < MC_COUNT(columns); c++) {
        widths[c] = width_of(columns[c].head);
        json_array_foreach (harnesses, i, harness) {
            MC_AUTOFREE char *cell = cell_of(c, harness, MC_TERMINAL);
            widths[c] = width_of(cell) > widths[c] ? width_of(cell) : widths[c];
        }
    }
    put_aligned(out, NULL, widths);
    json_array_foreach (harnesses, i, harness) {
        put_aligned(out, harness, widths);
    }
}

static void put_comparison(struct mc_buf *out, const json_t *report)
{
    mc_buf_puts(out, "## Comparison\n\n");
    put_row(out, NULL);
    mc_buf_putc(out, '|');
    for (size_t c = 0; c < MC_COUNT(columns); c++) {
        mc_buf_puts(out, " --- |");
    }
    mc_buf_putc(out, '\n');
    size_t i;
    json_t *harness;
    json_array_foreach (json_object_get(report, "harnesses"), i, harness) {
        put_row(out, harness);
    }
    mc_buf_puts(out,
                "\nTask success counts checkpoints whose required facts are all right and nothing is wrong; correct,"
                " missed and misrepresented count facts. Each is averaged over lives. \"?\" is not known.\n\n");
    const json_t *comparison;
    json_array_foreach (json_object_get(report, "comparisons"), i, comparison) {
        mc_buf_puts(out, "- ");
        put_member(out, comparison, "text");
        mc_buf_putc(out, '\n');
    }
}

static void put_slots(struct mc_buf *out, const json_t *grade)
{
    size_t i;
    const json_t *slot;
    json_array_foreach (json_object_get(grade, "slots"), i, slot) {
        mc_buf_puts(out, "    - ");
        put_member(out, slot, "id");
        mc_buf_puts(out, ": **");
        put_member(out, slot, "verdict");
        mc_buf_puts(out, "** (");
        put_member(out, slot, "rule");
        mc_buf_puts(out, "): ");
        put_member(out, slot, "explanation");
        mc_buf_putc(out, '\n');
        mc_report_revisions(slot, out);
    }
}

static void put_answer(struct mc_buf *out, const json_t *answer)
{
    MC_AUTOFREE char *took = seconds(answer, "latency_ms");
    mc_buf_puts(out, "- **");
    put_member(out, answer, "checkpoint");
    mc_buf_puts(out, "** at ");
    put_member(out, answer, "asked_at");
    mc_buf_puts(out, " (");
    put_member(out, answer, "ended");
    mc_buf_putf(out, ", %s), answer ", took);
    put_member(out, answer, "id");
    mc_buf_puts(out, "\n    - asked: ");
    put_member(out, answer, "question");
    mc_buf_puts(out, "\n    - answered: ");
    if (json_is_string(json_object_get(answer, "answer"))) {
        put_member(out, answer, "answer");
    } else {
        mc_buf_puts(out, "(nothing)");
    }
    mc_buf_putc(out, '\n');
    put_slots(out, json_object_get(answer, "grade"));
}

static void put_trial(struct mc_buf *out, const json_t *trial)
{
    MC_AUTOFREE char *repetition = count(trial, "repetition");
    mc_buf_puts(out, "### ");
    put_member(out, trial, "life");
    mc_buf_puts(out, ", ");
    put_member(out, trial, "harness");
    mc_buf_putf(out, ", repetition %s: ", repetition);
    if (json_is_string(json_object_get(trial, "ended"))) {
        put_member(out, trial, "ended");
    } else {
        mc_buf_puts(out, "not run");
    }
    mc_buf_puts(out, "\n\n");
    if (json_is_string(json_object_get(trial, "reason"))) {
        mc_buf_puts(out, "Reason: ");
        put_member(out, trial, "reason");
        mc_buf_puts(out, "\n\n");
    }
    size_t i;
    const json_t *answer;
    json_array_foreach (json_object_get(trial, "answers"), i, answer) {
        put_answer(out, answer);
    }
    mc_buf_putc(out, '\n');
}

/* "- label: " and the members' texts, each after its own words. */
struct fact {
    const char *words;
    const json_t *of;
    const char *key;
};

static void put_facts(struct mc_buf *out, const struct fact *facts, size_t count_of_facts)
{
    for (size_t i = 0; i < count_of_facts; i++) {
        mc_buf_puts(out, facts[i].words);
        put_member(out, facts[i].of, facts[i].key);
    }
    mc_buf_putc(out, '\n');
}

static void put_warnings(struct mc_buf *out, const json_t *report)
{
    if (!mc_streq(text_of(json_object_get(report, "run"), "isolation"), "verified")) {
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
        mc_buf_puts(out, "- unpinned image: ");
        mc_text_put(out, json_is_string(image) ? json_string_value(image) : "?", MC_MARKDOWN);
        mc_buf_puts(out, " (its ID is in the manifest)\n");
    }
}

static void put_heading(struct mc_buf *out, const json_t *report)
{
    const json_t *run = json_object_get(report, "run");
    const json_t *corpus = json_object_get(report, "corpus");
    const json_t *engine = json_object_get(report, "engine");
    put_facts(out, (struct fact[]){{"# ", run, "name"}, {": run ", run, "id"}}, 2);
    mc_buf_putc(out, '\n');
    put_facts(
        out, (struct fact[]){{"- corpus: ", corpus, "name"}, {" ", corpus, "version"}, {", digest ", corpus, "digest"}},
        3);
    put_facts(out, (struct fact[]){{"- manifest: ", run, "manifest"}}, 1);
    put_facts(out,
              (struct fact[]){{"- engine: ", engine, "kind"},
                              {" ", engine, "version"},
                              {", API ", engine, "api"},
                              {", ", engine, "os"},
                              {"/", engine, "arch"}},
              5);
    put_facts(out, (struct fact[]){{"- memcal ", report, "memcal"}, {", grader ", report, "grader"}}, 2);
    mc_report_grading(report, out);
    put_facts(out, (struct fact[]){{"- started ", run, "created"}, {", state ", run, "state"}}, 2);
    put_warnings(out, report);
    mc_buf_putc(out, '\n');
}

void mc_report_markdown(const json_t *report, struct mc_buf *out)
{
    put_heading(out, report);
    put_comparison(out, report);
    mc_report_outside_scores(report, out);
    mc_buf_puts(out, "\n## Trials\n\n");
    size_t i;
    const json_t *trial;
    json_array_foreach (json_object_get(report, "trials"), i, trial) {
        put_trial(out, trial);
    }
}
