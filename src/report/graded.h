/*
 * The parts of a report that tell how its verdicts came about: the grading, revisions, and scores from elsewhere.
 *
 * Ownership: the report is borrowed; Markdown is appended to the caller's buffer.
 */
#pragma once

#include <jansson.h>

#include "base/buf.h"

/* Lines of the heading: which grading, which judge and what it used, how many verdicts are reviews'. */
void mc_report_grading(const json_t *report, struct mc_buf *out);

/* Who replaced what, where a slot's verdict was revised: the first one stays to be seen. */
void mc_report_revisions(const json_t *slot, struct mc_buf *out);

/* A table of what others gave, or nothing. */
void mc_report_outside_scores(const json_t *report, struct mc_buf *out);
