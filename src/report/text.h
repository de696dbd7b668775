/*
 * Text from outside in what people read: it can neither end the line it stands in nor act on a terminal, nor mark
 * anything up.
 *
 * Ownership: text is borrowed and appended to the caller's buffer.
 */
#pragma once

#include <stddef.h>

#include "base/buf.h"

/* In Markdown its own marks are made harmless, on a terminal they are plain text. */
enum mc_text_format { MC_TERMINAL, MC_MARKDOWN };

/* On one line. */
void mc_text_put(struct mc_buf *out, const char *text, enum mc_text_format format);
void mc_text_put_part(struct mc_buf *out, const char *text, size_t length, enum mc_text_format format);

/* In Markdown as a quoted block: each of its lines begins with "> ". */
void mc_text_quote(struct mc_buf *out, const char *text);
