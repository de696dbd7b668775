/*
 * Reports for people, made from report.json (docs/report.md) and nothing else: what is printed can be followed from
 * there.
 *
 * Unknown is shown as "?", never as 0; how trials ended stands beside what was right; the model's source, which says
 * when it is a script, stands in every table.
 *
 * Ownership: the report is borrowed; text is appended to the caller's buffer.
 */
#pragma once

#include <jansson.h>

#include "base/buf.h"

/* The whole report as Markdown. */
void mc_report_markdown(const json_t *report, struct mc_buf *out);

/* The comparison of harnesses as a plain table for a terminal. */
void mc_report_table(const json_t *report, struct mc_buf *out);
