/*
 * Metrics side by side for a terminal: one row a metric, one column a harness, each with its interval; then the plain
 * counts, and how the trials of the answers ended.
 *
 * Ownership: everything is borrowed; text is appended to the caller's buffer.
 */
#pragma once

#include <jansson.h>

#include "base/buf.h"

/* `columns`: [{name, lives, metrics, tally}], as grade/metrics.h gives them. */
void mc_report_metrics(const json_t *columns, struct mc_buf *out);
