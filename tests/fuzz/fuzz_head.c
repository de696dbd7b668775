/* A head that is complete stays so, with the same meaning, whatever follows it. */
#include <stdlib.h>

#include "engine/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mc_err err;
    struct mc_head head;
    const char *bytes = (const char *)data;
    if (mc_head_parse(bytes, size, &head, &err) == 1) {
        struct mc_head again;
        if (head.size > size || head.status < 0 || head.status > 999 || head.length < -1 ||
            mc_head_parse(bytes, head.size, &again, &err) != 1 || again.status != head.status ||
            again.length != head.length || again.chunked != head.chunked || again.size != head.size) {
            abort();
        }
    }
    return 0;
}
