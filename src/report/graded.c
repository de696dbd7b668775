#include "report/graded.h"

#include "base/mem.h"
#include "report/text.h"

static void put_member(struct mc_buf *out, const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    mc_text_put(out, text ? text : otherwise, MC_MARKDOWN);
}

static void put_count(struct mc_buf *out, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value)) {
        mc_buf_putf(out, "%lld", (long long)json_integer_value(value));
    } else {
        mc_buf_putc(out, '?');
    }
}

static void put_judge(struct mc_buf *out, const json_t *judge)
{
    const json_t *usage = json_object_get(judge, "usage");
    const json_t *cost = json_object_get(judge, "cost_usd");
    mc_buf_puts(out, "- calls of the judge: ");
    put_count(out, judge, "calls");
    mc_buf_puts(out, " (tokens in ");
    put_count(out, usage, "input");
    mc_buf_puts(out, ", out ");
    put_count(out, usage, "output");
    if (json_is_number(cost)) {
        mc_buf_putf(out, ", \\$%.4f); nothing of it is a harness's\n", json_number_value(cost));
    } else {
        mc_buf_puts(out, ", cost ?); nothing of it is a harness's\n");
    }
}

void mc_report_grading(const json_t *report, struct mc_buf *out)
{
    const json_t *grading = json_object_get(report, "grading");
    const json_t *judge = json_object_get(report, "judge");
    if (!json_is_object(grading)) {
        return;
    }
    mc_buf_puts(out, "- grading ");
    put_count(out, grading, "number");
    mc_buf_puts(out, " of ");
    put_member(out, grading, "at", "?");
    mc_buf_puts(out, ", judge: ");
    put_member(out, grading, "judge", "none");
    mc_buf_puts(out, ", verdicts by review: ");
    put_count(out, grading, "reviewed");
    mc_buf_putc(out, '\n');
    if (json_is_string(json_object_get(grading, "as_of"))) {
        mc_buf_puts(out, "- **as of ");
        put_member(out, grading, "as_of", "?");
        mc_buf_puts(out, "**: the verdicts that were in force then\n");
    }
    if (json_integer_value(json_object_get(grading, "not_graded")) > 0) {
        mc_buf_puts(out, "- **not graded yet**: ");
        put_count(out, grading, "not_graded");
        mc_buf_puts(out, " answers; `memcal grade` grades them\n");
    }
    if (json_is_object(judge)) {
        put_judge(out, judge);
    }
}

void mc_report_revisions(const json_t *slot, struct mc_buf *out)
{
    size_t i;
    const json_t *revision;
    json_array_foreach (json_object_get(slot, "revisions"), i, revision) {
        const char *by = json_string_value(json_object_get(revision, "by"));
        mc_buf_puts(out, "        - revision ");
        put_count(out, revision, "number");
        mc_buf_puts(out, ", ");
        put_member(out, revision, "verdict", "?");
        mc_buf_puts(out, ", by ");
        put_member(out, revision, by ? "by" : "source", "?");
        mc_buf_puts(out, " at ");
        put_member(out, revision, "at", "?");
        mc_buf_puts(out, ": ");
        put_member(out, revision, "reason", "");
        mc_buf_putc(out, '\n');
    }
}

static void put_score(struct mc_buf *out, const json_t *harness, const json_t *score)
{
    static const char *const verdicts[] = {"correct", "missed", "misrepresented"};
    mc_buf_puts(out, "| ");
    put_member(out, harness, "name", "?");
    mc_buf_puts(out, " | ");
    put_member(out, score, "source", "?");
    mc_buf_puts(out, " | ");
    put_member(out, score, "by", "?");
    for (size_t i = 0; i < MC_COUNT(verdicts); i++) {
        mc_buf_puts(out, " | ");
        put_count(out, json_object_get(score, "verdicts"), verdicts[i]);
    }
    mc_buf_puts(out, " | ");
    put_count(out, score, "scores");
    if (json_integer_value(json_object_get(score, "scores")) > 0) {
        mc_buf_putf(out, " | %.3f |\n", json_number_value(json_object_get(score, "mean")));
    } else {
        mc_buf_puts(out, " | - |\n");
    }
}

void mc_report_outside_scores(const json_t *report, struct mc_buf *out)
{
    static const char head[] = "\n## Scores from elsewhere\n\n"
                               "Given by others; nothing above counts them.\n\n"
                               "| harness | source | by | correct | missed | misrepresented | scores | their mean |\n"
                               "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    size_t h;
    const json_t *harness;
    int any = 0;
    json_array_foreach (json_object_get(report, "harnesses"), h, harness) {
        size_t i;
        const json_t *score;
        json_array_foreach (json_object_get(harness, "outside_scores"), i, score) {
            mc_buf_puts(out, any++ ? "" : head);
            put_score(out, harness, score);
        }
    }
}
