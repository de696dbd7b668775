/*
 * The optional model judge, for text slots that no matcher can decide. It knows nothing of transport: a callback sends
 * a request and gives back the reply.
 *
 * One blind binary question a claim: the judge sees the question asked, the claim, and the answer; never the harness,
 * the provider, other slots or other answers. The answer is redacted first, then put between marks that it cannot
 * contain, as a JSON string: whatever it says is text. Replies must be exactly {"entailed": bool, "contradicted": bool,
 * "quote": string} with a quote that stands in the answer. A judge that fails, refuses, times out or replies in any
 * other form leaves the slot ungraded.
 *
 * Ownership: requests and outcomes own their texts; callbacks and the redactor are borrowed.
 */
#pragma once

#include "base/json.h"
#include "base/redact.h"
#include "base/sha256.h"
#include "base/until.h"
#include "grade/verdict.h"

/* Sends `body` (an OpenAI chat-completions request) and gives back the reply's message content, malloc'd, in *reply.
 * `vote` counts from 0: it is part of the digest, so a cache gives each vote its own reply. A failure is a code with
 * *err; it never becomes a verdict. */
typedef int mc_judge_fn(void *arg, const char *body, const struct mc_digest *digest, int vote, struct mc_until until,
                        char **reply, struct mc_err *err);

/* Keeps what was asked and replied, by digest; may be NULL. */
typedef void mc_judge_keep_fn(void *arg, const struct mc_digest *request, const char *body, const char *reply);

struct mc_judge {
    const char *model;
    int votes; /* 1 to MC_JUDGE_MAX_VOTES, odd */
    mc_judge_fn *send;
    mc_judge_keep_fn *keep;
    void *arg;
    const struct mc_redactor *redactor; /* NULL: nothing is secret */
};

enum { MC_JUDGE_MAX_VOTES = 9, MC_JUDGE_MAX_REPLY = 64 << 10 };

/* The request of one vote on one claim; the caller frees it. The same arguments give the same bytes. */
char *mc_judge_request(const struct mc_judge *judge, const char *question, const char *claim, const char *answer,
                       int vote);

enum mc_vote { MC_VOTE_CORRECT, MC_VOTE_MISSED, MC_VOTE_MISREPRESENTED, MC_VOTE_INVALID };

/* Reads a reply strictly; MC_VOTE_INVALID with *err for anything else. *quote is a copy (the caller frees it). */
enum mc_vote mc_judge_reply(const char *reply, const char *answer, char **quote, struct mc_err *err);

struct mc_judge_outcome {
    enum mc_verdict verdict; /* ungraded without a majority of all votes asked for */
    int votes[MC_VOTE_INVALID + 1];
    double agreement; /* votes for the verdict / votes asked for; 0 where ungraded */
    struct mc_digest requests[MC_JUDGE_MAX_VOTES];
    int asked;
    char reason[256]; /* the first failure's, "" where none */
};

/* Asks all votes on one claim. Fails only where `judge` itself is wrong or on MC_CANCELLED. */
int mc_judge_claim(const struct mc_judge *judge, const char *question, const char *claim, const char *answer,
                   struct mc_until until, struct mc_judge_outcome *out, struct mc_err *err) MC_CHECKED;

/* Asks about every undecided slot of `grade` and settles each. */
int mc_judge_grade(const struct mc_judge *judge, const struct mc_rubric_checkpoint *checkpoint,
                   const struct mc_grade_context *context, const char *answer, struct mc_until until,
                   struct mc_answer_grade *grade, struct mc_err *err) MC_CHECKED;
