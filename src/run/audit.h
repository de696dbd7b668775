/*
 * A sample of a run's verdicts for a person to work through: passes as well as failures, stratified by family, kind and
 * verdict (grade/review.h), each with everything that is needed to judge it.
 *
 * Ownership: *out is a new reference.
 */
#pragma once

#include "run/stored.h"
#include "run/verdicts.h"

struct mc_audit {
    size_t sample;
    uint64_t seed;
};

/* {run, seed, of, items: [{answer, slot, life, harness, repetition, family, kind, match, required, question, asked_at,
 * text, quotes, verdict, rule, source, explanation, revision, evidence: [{id, channel?, sender?, at, text}],
 * command}]}. Text of the rubric's values is not in it; observations are, in full. */
int mc_audit_make(struct mc_store *store, const struct mc_stored_run *run, const struct mc_audit *audit, json_t **out,
                  struct mc_err *err) MC_CHECKED;
