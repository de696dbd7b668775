#include "run/validate.h"

#include "corpus/validate.h"
#include "grade/rubric.h"

struct noting {
    struct mc_problems *problems;
    const char *file;
    size_t before; /* problems kept before the grader looked */
};

/* What was found already at that place is not said twice. */
static void note(void *arg, const struct mc_err *problem)
{
    const struct noting *noting = arg;
    if (!mc_problems_has(noting->problems, problem, noting->file, noting->before)) {
        mc_problems_take(noting->problems, problem, noting->file, "write what docs/corpus.md says of rubrics");
    }
}

static void read_rubric(void *arg, const struct mc_view *root, const char *file, struct mc_problems *problems)
{
    (void)arg;
    struct noting noting = {.problems = problems, .file = file, .before = problems->count};
    struct mc_rubric rubric;
    struct mc_err err; /* the first of what was noted */
    if (mc_rubric_read(root, note, &noting, &rubric, &err) == 0) {
        mc_rubric_release(&rubric);
    }
}

void mc_validate(const char *dir, struct mc_problems *problems)
{
    static const struct mc_rubric_reader reader = {.read = read_rubric};
    mc_corpus_validate_with(dir, &reader, problems);
}
