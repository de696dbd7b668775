/* The first byte says how the rest is cut; whatever the cut, the pieces are the same. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/demux.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int feed(const char *bytes, size_t size, size_t step, struct mc_buf *all)
{
    struct mc_err err;
    struct mc_demux demux = MC_DEMUX_INIT;
    for (size_t at = 0; at < size; at += step) {
        const char *part = bytes + at;
        size_t length = size - at < step ? size - at : step;
        while (length > 0) {
            struct mc_piece piece;
            int rc = mc_demux_next(&demux, &part, &length, &piece, &err);
            if (rc != 0) {
                return rc;
            }
            for (size_t i = 0; i < piece.length; i++) {
                mc_buf_putc(all, (char)piece.kind);
                mc_buf_putc(all, piece.bytes[i]);
            }
        }
    }
    return mc_demux_end(&demux, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct mc_buf whole = MC_BUF_OWN;
    struct mc_buf parts = MC_BUF_OWN;
    const char *bytes = (const char *)data + 1;
    int one = feed(bytes, size - 1, size, &whole);
    int two = feed(bytes, size - 1, (size_t)data[0] % 16 + 1, &parts);
    if (one != two || whole.len != parts.len || memcmp(mc_buf_text(&whole), mc_buf_text(&parts), whole.len) != 0) {
        abort();
    }
    mc_buf_release(&whole);
    mc_buf_release(&parts);
    return 0;
}
