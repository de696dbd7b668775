/* A LoCoMo source as JSON or ZIP. What is imported has passed the validator; the report accounts for every question. */
#include <stdint.h>
#include <string.h>

#include "corpus/import.h"

#include "base/json.h"

#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_put("source", data, size);
    MC_AUTOFREE char *source = mc_path_join(fuzz_folder(), "source");
    MC_AUTOFREE char *out = mc_path_join(fuzz_folder(), "out");
    MC_AUTOJSON json_t *report = NULL;
    struct mc_err err = {.text = ""};
    if (mc_import_locomo(source, out, &report, &err) != 0 && !err.text[0]) {
        abort();
    }
    json_int_t left = 0;
    size_t i;
    json_t *entry;
    json_array_foreach (json_object_get(report, "left_out"), i, entry) {
        left += strcmp(json_string_value(json_object_get(entry, "kind")), "question") == 0;
    }
    if (report && json_integer_value(json_object_get(report, "questions")) !=
                      json_integer_value(json_object_get(report, "carried")) + left) {
        abort();
    }
    fuzz_clean("out");
    fuzz_clean("out.import");
    return 0;
}
