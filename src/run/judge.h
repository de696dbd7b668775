/*
 * The judge's transport: grade/judge.h asks, this sends the requests to the model's server, as the sidecar's gateway
 * does, keeps every request and reply as an object, and notes what each call used (judge_calls in the store).
 *
 * A request that was answered once is not sent again: its reply comes from the store, by digest. The secret is read
 * from the environment when the first request is really sent. After MC_ASKER_GIVES_UP failures in a row the server is
 * not asked any more, and what is left stays ungraded.
 *
 * Ownership: mc_asker_open() allocates, mc_asker_close() frees; store, redactor and the model's description are
 * borrowed and outlive it.
 */
#pragma once

#include "grade/judge.h"
#include "store/store.h"

enum { MC_ASKER_GIVES_UP = 5, MC_JUDGE_VOTES = 3 };

struct mc_asker;

struct mc_asker_options {
    struct mc_store *store;
    const json_t *model; /* as a run manifest describes it: {key, name, source, base_url, secret, prices} */
    int votes;
    const char *run; /* NULL: the answers are not of a run */
    const struct mc_redactor *redactor;
    const struct mc_cancel *cancel;
    int64_t call_ms; /* deadline of one call with its repeated tries; 0: a minute */
};

/* MC_INPUT where the model is not behind an openai upstream. */
int mc_asker_open(const struct mc_asker_options *options, struct mc_asker **out, struct mc_err *err) MC_CHECKED;
void mc_asker_close(struct mc_asker *asker);

/* Asks about the undecided slots of one answer and settles them. `attempt` may be NULL. Fails where memcal itself
 * cannot go on (the store, a secret that is not set, Ctrl-C), never because of the judge. */
int mc_asker_grade(struct mc_asker *asker, const char *attempt, const struct mc_rubric_checkpoint *checkpoint,
                   const struct mc_grade_context *context, const char *answer, struct mc_answer_grade *grade,
                   struct mc_err *err) MC_CHECKED;

/* "NAME (openai), 3 votes": how a grading names its judge. */
const char *mc_asker_name(const struct mc_asker *asker);
