/* Rubrics: whatever the bytes, a load or a refusal with at least one problem. */
#include <stdint.h>
#include <stdlib.h>

#include "base/yaml.h"
#include "grade/rubric.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *arg, const struct mc_err *problem)
{
    *(size_t *)arg += problem->text[0] != '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mc_err err;
    MC_AUTODOC struct mc_doc doc;
    if (mc_yaml_parse(data, size, "rubric.yaml", &doc, &err) != 0) {
        return 0;
    }
    MC_AUTORUBRIC struct mc_rubric rubric;
    struct mc_view view = mc_doc_view(&doc);
    size_t problems = 0;
    int rc = mc_rubric_read(&view, count, &problems, &rubric, &err);
    if ((rc != 0) != (problems > 0)) {
        abort();
    }
    for (size_t i = 0; i < rubric.count; i++) {
        if (mc_rubric_find(&rubric, rubric.checkpoints[i].id) != &rubric.checkpoints[i]) {
            abort();
        }
    }
    return 0;
}
