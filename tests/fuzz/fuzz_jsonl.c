/* Anyone's own messages. */
#include <stdint.h>

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
    struct mc_import_jsonl messages = {.path = source, .life = "mine", .owner = "Ada", .timezone = "Europe/Berlin"};
    if (mc_import_jsonl(&messages, out, &report, &err) != 0 && !err.text[0]) {
        abort();
    }
    fuzz_clean("out");
    fuzz_clean("out.import");
    return 0;
}
