/*
 * A container's standard streams, live.
 *
 * Attach before start, with open_stdin set: then no output is lost, and the end of this connection is the end of the
 * process's standard input on both engines. Never use the engine's log replay for this (Podman 4.3 breaks frames).
 *
 * The stream must be read: a process whose output nobody reads stops at about 0.3 MB (Podman) or 1.4 MB (Docker).
 * mc_stream_write() goes on reading while it writes, so neither side can wait for the other for ever.
 *
 * Ownership: mc_container_attach() allocates, mc_stream_close() frees. Bytes of a piece are the stream's own and valid
 * until its next call. A stream is independent of its engine once open, and used by one thread at a time.
 */
#pragma once

#include "engine/demux.h"
#include "engine/engine.h"

struct mc_stream;

/* The most that may wait unread while mc_stream_write() goes on. */
#define MC_STREAM_BACKLOG ((size_t)64 << 20)

int mc_container_attach(struct mc_engine *engine, const char *id, struct mc_until until, struct mc_stream **out,
                        struct mc_err *err) MC_CHECKED;

/* Readable when there may be more. Poll it only after mc_stream_read() gave MC_PIECE_NONE. */
int mc_stream_fd(const struct mc_stream *stream);

/* What is there now, without waiting: MC_PIECE_STDOUT or MC_PIECE_STDERR with bytes, MC_PIECE_NONE, or MC_PIECE_END
 * once all is read. MC_PROTOCOL where the stream broke off inside a frame, MC_ENGINE with the engine's words where it
 * sent an error in the stream. */
int mc_stream_read(struct mc_stream *stream, struct mc_piece *out, struct mc_err *err) MC_CHECKED;

/* The same, waiting for the next piece: never gives MC_PIECE_NONE. */
int mc_stream_next(struct mc_stream *stream, struct mc_piece *out, struct mc_until until,
                   struct mc_err *err) MC_CHECKED;

/* Writes all of it to standard input. MC_CLOSED where the process is gone, MC_LIMIT where it writes more than
 * MC_STREAM_BACKLOG without reading. */
int mc_stream_write(struct mc_stream *stream, const void *bytes, size_t length, struct mc_until until,
                    struct mc_err *err) MC_CHECKED;

/* Ends standard input; output goes on. */
int mc_stream_end_input(struct mc_stream *stream, struct mc_err *err) MC_CHECKED;

void mc_stream_close(struct mc_stream *stream); /* NULL is fine */
void mc_stream_close_at(struct mc_stream **stream);
#define MC_AUTOSTREAM MC_CLEANUP(mc_stream_close_at)
