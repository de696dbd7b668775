/* JSON from outside: parsing, and every reader on whatever it held. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_members(const struct mc_view *view)
{
    static const char *const keys[] = {"id", "at", "text", "to", NULL};
    struct mc_err err;
    struct mc_view inner;
    struct mc_time time;
    const char *text = NULL;
    int64_t number = 0;
    int flag = 0;
    int failed = mc_only_keys(view, keys, &err) != 0;
    for (size_t i = 0; keys[i]; i++) {
        failed += mc_read_string(view, keys[i], MC_REQUIRED, &text, &err) != 0;
        failed += mc_read_id(view, keys[i], MC_OPTIONAL, &text, &err) != 0;
        failed += mc_read_time(view, keys[i], MC_OPTIONAL, &time, &err) != 0;
        failed += mc_read_int(view, keys[i], MC_OPTIONAL, 0, 10, &number, &err) != 0;
        failed += mc_read_choice(view, keys[i], MC_OPTIONAL, keys, &flag, &err) != 0;
        failed += mc_read_array(view, keys[i], MC_OPTIONAL, &inner, &err) != 0;
    }
    if (failed && !err.text[0]) {
        abort(); /* a failure without a word */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mc_source source = {.name = "f.json", .line = 0, .marks = NULL};
    struct mc_err err;
    MC_AUTOJSON json_t *value = mc_json_parse(data, size, &source, &err);
    if (!value) {
        return 0;
    }
    MC_AUTOFREE char *text = mc_json_text(value);
    MC_AUTOJSON json_t *again = mc_json_parse(text, __builtin_strlen(text), &source, &err);
    if (!again) {
        abort(); /* what was written cannot be read back */
    }
    struct mc_view view = mc_view_root(&source, value);
    if (json_is_object(value)) {
        read_members(&view);
    }
    return 0;
}
