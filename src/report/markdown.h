/*
 * Text from outside in Markdown: it can neither end the line it stands in nor mark anything up.
 *
 * Ownership: text is borrowed and appended to the caller's buffer.
 */
#pragma once

#include <stddef.h>

#include "base/buf.h"

/* On one line. */
void mc_markdown_put(struct mc_buf *out, const char *text);
void mc_markdown_put_bytes(struct mc_buf *out, const char *text, size_t length);
/* As a quoted block: each line begins with "> ". */
void mc_markdown_quote(struct mc_buf *out, const char *text);
