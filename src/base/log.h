/*
 * What memcal tells about itself while it works, for someone who looks for a fault: one line each on a stream.
 *
 * Library code logs at debug only; people are told through results and errors. Control bytes are shown as \xNN,
 * so that nothing a container prints can reach the terminal.
 *
 * Ownership: `struct mc_log` is made by cli/ and borrowed everywhere; NULL is a log that drops everything.
 */
#pragma once

#include <stdio.h>

#include "base/attr.h"
#include "base/redact.h"

enum mc_log_level { MC_LOG_NONE, MC_LOG_INFO, MC_LOG_DEBUG };

struct mc_log {
    FILE *stream;
    enum mc_log_level level;
    const struct mc_redactor *redactor; /* NULL: nothing is secret */
};

void mc_log(const struct mc_log *log, enum mc_log_level level, const char *format, ...) MC_PRINTF(3, 4);

/* Prints text with control characters (newlines too, and those above U+007F) and bytes that are not UTF-8 as \xNN. */
void mc_print_safe(FILE *stream, const char *text, size_t length);
