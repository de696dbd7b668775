#include "engine/demux.h"

#include <string.h>

static const enum mc_piece_kind kinds[] = {MC_PIECE_STDOUT, MC_PIECE_STDOUT, MC_PIECE_STDERR, MC_PIECE_FAULT};

/* A header is complete: checks it and says how much follows. */
static int read_header(struct mc_demux *demux, struct mc_err *err)
{
    const unsigned char *h = demux->header;
    if (h[0] >= sizeof kinds / sizeof kinds[0] || h[1] != 0 || h[2] != 0 || h[3] != 0) {
        return mc_fail(
            err, MC_PROTOCOL,
            "the engine's stream has a frame that begins %02x %02x %02x %02x: no frame does (is the container "
            "made with a TTY?)",
            h[0], h[1], h[2], h[3]);
    }
    demux->left = (uint32_t)h[4] << 24 | (uint32_t)h[5] << 16 | (uint32_t)h[6] << 8 | (uint32_t)h[7];
    if (demux->left == 0) {
        demux->header_len = 0; /* an empty frame is allowed and says nothing */
    }
    return 0;
}

int mc_demux_next(struct mc_demux *demux, const char **bytes, size_t *length, struct mc_piece *out, struct mc_err *err)
{
    *out = (struct mc_piece){.kind = MC_PIECE_NONE, .bytes = *bytes, .length = 0};
    while (*length > 0) {
        if (demux->header_len == sizeof demux->header) {
            size_t taken = *length < demux->left ? *length : demux->left;
            *out = (struct mc_piece){.kind = kinds[demux->header[0]], .bytes = *bytes, .length = taken};
            *bytes += taken;
            *length -= taken;
            demux->left -= (uint32_t)taken;
            if (demux->left == 0) {
                demux->header_len = 0;
                out->last = 1;
            }
            return 0;
        }
        demux->header[demux->header_len++] = (unsigned char)**bytes;
        *bytes += 1;
        *length -= 1;
        if (demux->header_len == sizeof demux->header) {
            int rc = read_header(demux, err);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

int mc_demux_end(const struct mc_demux *demux, struct mc_err *err)
{
    if (demux->header_len == 0) {
        return 0;
    }
    if (demux->header_len < sizeof demux->header) {
        return mc_fail(err, MC_PROTOCOL, "the engine's stream broke off inside a frame's header");
    }
    return mc_fail(err, MC_PROTOCOL, "the engine's stream broke off %u bytes before the end of a frame",
                   (unsigned)demux->left);
}
