/*
 * Takes secrets out of everything that is recorded.
 *
 * A redactor knows the exact secret values of a run and finds each in plain and in base64 (both alphabets, all three
 * alignments), and either of these with any of its characters percent-encoded or escaped as in JSON, to any depth up to
 * eight backslashes; it also knows the shapes of common keys. What it takes out becomes "[secret:NAME]", or
 * "[secret:key]" for a shape: where names are plain, as those of environment variables are, JSON stays valid.
 *
 * Ownership: mc_redactor_new() allocates, mc_redactor_free() wipes and frees. Once built it is not changed and may be
 * shared by threads.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"

struct mc_redactor;

struct mc_redactor *mc_redactor_new(void);
void mc_redactor_free(struct mc_redactor *redactor);

/* Adds a secret. Values shorter than 6 bytes are refused (0 is returned): they would blank out ordinary text. */
int mc_redactor_add(struct mc_redactor *redactor, const char *name, const char *value);

/* The text with every secret taken out; the caller frees it. */
char *mc_redact_text(const struct mc_redactor *redactor, const char *text);
/* The same for bytes, into *out (appended). */
void mc_redact_bytes(const struct mc_redactor *redactor, const char *bytes, size_t length, struct mc_buf *out);

/* The longest that any form of any secret can be in a text. */
size_t mc_redactor_window(const struct mc_redactor *redactor);

/* For bytes that come in pieces: gives the same as mc_redact_bytes() over the whole, and holds back no more than the
 * window and a chunk. */
struct mc_redact_stream {
    const struct mc_redactor *redactor;
    struct mc_buf held; /* some bytes that were decided, then what is not decided yet */
    size_t before;      /* how many of the former */
};
void mc_redact_stream_init(struct mc_redact_stream *stream, const struct mc_redactor *redactor);
/* What can be decided is appended to *out. */
void mc_redact_stream_add(struct mc_redact_stream *stream, const void *bytes, size_t length, struct mc_buf *out);
/* The rest; the stream is then released. */
void mc_redact_stream_end(struct mc_redact_stream *stream, struct mc_buf *out);

/* Overwrites memory in a way that the compiler keeps. */
void mc_wipe(void *memory, size_t length);
