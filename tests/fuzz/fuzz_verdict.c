/* A grade's object from the store, which anyone may have written: what is read can be written again, and is the same.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "grade/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mc_err err;
    struct mc_source source = {.name = "grade"};
    MC_AUTOJSON json_t *json = mc_json_parse(data, size, &source, &err);
    if (!json) {
        return 0;
    }
    struct mc_view view = mc_view_root(&source, json);
    MC_AUTOGRADE struct mc_answer_grade grade;
    if (mc_answer_grade_read(&view, &grade, &err) != 0) {
        return 0;
    }
    MC_AUTOJSON json_t *first = mc_answer_grade_json(&grade);
    struct mc_view again = mc_view_root(&source, first);
    MC_AUTOGRADE struct mc_answer_grade other;
    if (mc_answer_grade_read(&again, &other, &err) != 0) {
        abort();
    }
    MC_AUTOJSON json_t *second = mc_answer_grade_json(&other);
    if (!json_equal(first, second)) {
        abort();
    }
    return 0;
}
