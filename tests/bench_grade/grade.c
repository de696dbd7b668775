/*
 * Grades answers to a complete-plan checkpoint on one core, streamed from an answers file as a user's would be, and
 * prints answers a second and the peak of memory after a tenth of them and after all: it must not grow with their
 * number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "grade/answers.h"
#include "grade/metrics.h"

static const char rubric_text[] = "checkpoints:\n"
                                  "  plan:\n"
                                  "    mode: complete-plan\n"
                                  "    slots:\n"
                                  "      - {id: loc, match: entity, expected: \"Jordan's\", alternatives: [44 Birch "
                                  "Ave], forbidden: [\"Sam's\", 12 Ash Street]}\n"
                                  "      - {id: day, match: date, expected: 2026-08-08, forbidden: [2026-08-07]}\n"
                                  "      - {id: time, match: time, expected: 8pm, forbidden: [7pm]}\n"
                                  "      - {id: cost, match: number, expected: $20}\n";

static const char *const answers[] = {
    "Poker night moved: it's now at Jordan's (44 Birch Ave) on Saturday, August 8, starting at 8pm. The buy-in is $20.",
    "It was going to be at Sam's on Friday at 7, but the group moved it to Jordan's on Saturday at 8 in the evening.",
    "- Where: Jordan's place\\n- When: Saturday the 8th, half past eight\\n- Buy-in: twenty dollars\\n\\nSee you "
    "there!",
    "I couldn't find any information about the poker night in your messages. You may want to ask Marco about it.",
    "Marco thought it was Friday at Sam's, but Jordan confirmed that it's this Saturday at 8pm, and not at Sam's "
    "anymore.",
};

struct bench {
    struct mc_rubric rubric;
    struct mc_grade_context context;
    struct mc_metrics *metrics;
    size_t done, first_tenth;
    long early_kb;
};

static long peak_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static int take(void *arg, const struct mc_answer *answer, struct mc_err *err)
{
    struct bench *b = arg;
    MC_AUTOGRADE struct mc_answer_grade grade = {.checkpoint = NULL};
    int rc = mc_grade_answer(mc_rubric_find(&b->rubric, answer->checkpoint), &b->context, answer->answer, answer->ended,
                             &grade, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_metric_sample sample = {answer->life, answer->life, answer->repetition, &grade};
    mc_metrics_add(b->metrics, &sample);
    if (++b->done == b->first_tenth) {
        b->early_kb = peak_kb();
    }
    return 0;
}

static int prepare(struct bench *b, struct mc_tz **zone, struct mc_err *err)
{
    MC_AUTODOC struct mc_doc doc;
    int rc = mc_yaml_parse(rubric_text, strlen(rubric_text), "rubric.yaml", &doc, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_view view = mc_doc_view(&doc);
    rc = mc_rubric_read(&view, NULL, NULL, &b->rubric, err);
    rc = rc ? rc : mc_tz_load("America/New_York", zone, err);
    rc = rc ? rc : mc_time_parse("2026-08-05T09:00:00-04:00", &b->context.asked_at, err);
    b->context.zone = *zone;
    return rc;
}

static char *write_answers(size_t count)
{
    char *path = mc_strdup("bench-answers-XXXXXX");
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        free(path);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "{\"life\":\"life-%zu\",\"checkpoint\":\"plan\",\"answer\":\"%s\"}\n", i % 20,
                answers[i % MC_COUNT(answers)]);
    }
    fclose(file);
    return path;
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    struct bench b = {.metrics = mc_metrics_new(), .first_tenth = count / 10};
    struct mc_tz *zone = NULL;
    struct mc_err err;
    MC_AUTOFREE char *path = write_answers(count);
    if (!path || prepare(&b, &zone, &err) != 0) {
        fprintf(stderr, "%s\n", path ? err.text : "no place for the answers");
        return 1;
    }
    int64_t before = mc_monotonic_ms();
    int rc = mc_answers_read(path, mc_within(280000, NULL), take, NULL, &b, &err);
    int64_t took = mc_monotonic_ms() - before;
    unlink(path);
    if (rc != 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    long late_kb = peak_kb();
    printf("%zu answers of 4 slots in %lld ms: %.0f answers/s; peak memory %ld KiB after a tenth, %ld KiB after all\n",
           b.done, (long long)took, 1000.0 * (double)b.done / (double)(took > 0 ? took : 1), b.early_kb, late_kb);
    const struct mc_tally *tally = mc_metrics_tally(b.metrics);
    printf("%llu of %llu complete\n", (unsigned long long)tally->complete, (unsigned long long)tally->answers);
    int failed = b.done != count || tally->complete != count / MC_COUNT(answers);
#if defined(__SANITIZE_ADDRESS__)
    printf("memory is not judged here: the sanitizer keeps what was freed\n");
#else
    failed |= late_kb > b.early_kb + 4096;
#endif
    mc_metrics_free(b.metrics);
    mc_rubric_release(&b.rubric);
    mc_tz_free(zone);
    return failed;
}
