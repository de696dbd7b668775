/* A model's stream: however it is cut, the events join to what came, and their chunks are judged without a fault. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "sidecar/sse.h"
#include "sidecar/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte says how large the pieces are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    size_t piece = (size_t)data[0] + 1;
    size_t given = 0;
    const char *bytes = (const char *)data + 1;
    size--;
    struct mc_err err;
    struct mc_sse sse;
    struct mc_sse_event event;
    struct mc_watch watch;
    MC_AUTOBUF struct mc_buf text = MC_BUF_OWN;
    MC_AUTOJSON json_t *allowed = json_pack("[s]", "search");
    mc_sse_init(&sse);
    mc_watch_init(&watch, allowed);
    for (size_t at = 0; at < size; at += piece) {
        mc_sse_feed(&sse, bytes + at, size - at < piece ? size - at : piece);
        while (mc_sse_next(&sse, &event, &err) == 1) {
            if (event.length == 0 || memcmp(event.bytes, bytes + given, event.length) != 0) {
                abort();
            }
            given += event.length;
            if (mc_sse_data(&event, &text)) {
                MC_AUTOJSON json_t *chunk = json_loadb(mc_buf_text(&text), text.len, 0, NULL);
                mc_watch_chunk(&watch, chunk);
            }
        }
    }
    event = mc_sse_rest(&sse);
    if (event.length != size - given || (event.length && memcmp(event.bytes, bytes + given, event.length) != 0)) {
        abort();
    }
    if ((mc_watch_end(&watch) == MC_REFUSE) != (watch.forbidden != NULL)) {
        abort();
    }
    mc_watch_release(&watch);
    mc_sse_release(&sse);
    return 0;
}
