/*
 * The engine's framing of standard output and standard error on one connection: a header of eight bytes, the stream's
 * number and a big-endian length, then so many bytes (moby api/pkg/stdcopy). Frames follow neither lines nor writes,
 * and the connection may split them anywhere.
 *
 * Ownership: values only; the bytes of a piece are borrowed from the input.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum mc_piece_kind {
    MC_PIECE_NONE,   /* nothing yet */
    MC_PIECE_STDOUT, /* frame types 0 and 1 */
    MC_PIECE_STDERR,
    MC_PIECE_FAULT, /* type 3: the engine's own error text; an mc_stream makes an error of it */
    MC_PIECE_END,   /* given by streams only */
};

struct mc_piece {
    enum mc_piece_kind kind;
    const char *bytes;
    size_t length;
    int last; /* the frame ends with this piece */
};

struct mc_demux {
    unsigned char header[8];
    size_t header_len;
    uint32_t left; /* payload bytes still to come */
};

#define MC_DEMUX_INIT ((struct mc_demux){.header = {0}, .header_len = 0, .left = 0})

/* Takes from the front of *bytes and gives the next piece, or MC_PIECE_NONE when all of it is used up. */
int mc_demux_next(struct mc_demux *demux, const char **bytes, size_t *length, struct mc_piece *out,
                  struct mc_err *err) MC_CHECKED;

/* The connection has ended: MC_PROTOCOL where that is inside a frame. */
int mc_demux_end(const struct mc_demux *demux, struct mc_err *err) MC_CHECKED;
