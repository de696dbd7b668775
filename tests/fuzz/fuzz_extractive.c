/* The extractive script: any request with messages gets a move, and the same one twice. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "sidecar/script.h"
#include "sidecar/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mc_err err;
    MC_AUTOJSON json_t *request = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *messages = json_object_get(request, "messages");
    if (!json_is_array(messages)) {
        return 0;
    }
    struct mc_move a = {NULL, NULL, NULL};
    struct mc_move b = {NULL, NULL, NULL};
    if (mc_script_extractive(request, messages, NULL, &a, &err) != 0 ||
        mc_script_extractive(request, messages, NULL, &b, &err) != 0 || !mc_streq(a.text, b.text) ||
        !mc_streq(a.tool, b.tool) || !mc_streq(a.arguments, b.arguments) || !a.text == !a.tool) {
        abort();
    }
    mc_move_release(&a);
    mc_move_release(&b);
    json_decref(mc_wire_tools_offered(request));
    return 0;
}
