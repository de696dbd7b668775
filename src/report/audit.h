/*
 * The audit's page: Markdown that a person works through, made from the audit's JSON (run/audit.h) and nothing else.
 *
 * Ownership: the audit is borrowed; text is appended to the caller's buffer.
 */
#pragma once

#include <jansson.h>

#include "base/buf.h"

void mc_report_audit(const json_t *audit, struct mc_buf *out);
