/*
 * Counts calls, tokens and money, and holds the limits: of the step, and of the whole budget.
 *
 * What nobody told stays unknown: it is never counted as zero, and a budget is held on what is known.
 *
 * Ownership: mc_ledger_init() borrows the prices, which outlive it; mc_ledger_release() frees the rest. Safe for
 * threads.
 */
#pragma once

#include <pthread.h>

#include "base/json.h"
#include "protocol/frame.h"

struct mc_ledger {
    pthread_mutex_t lock;
    const json_t *prices;
    double budget_usd;     /* below 0: none */
    int64_t budget_tokens; /* MC_UNKNOWN: none */
    double spent_usd;
    int64_t spent_tokens;
    int64_t calls; /* the last number given out */
    char *step;
    int64_t step_calls;
    int64_t step_limit; /* MC_UNKNOWN: none */
};

/* Fails with MC_INPUT and the path where `prices` is not {model: {input, cached_input?, output, reasoning?}}. */
int mc_ledger_init(struct mc_ledger *ledger, const struct mc_gateway_setup *setup, struct mc_err *err) MC_CHECKED;
void mc_ledger_release(struct mc_ledger *ledger);

/* Adds a call that an earlier life of this process made. */
void mc_ledger_restore(struct mc_ledger *ledger, const struct mc_model_call *call);

/* Model calls belong to `step` from now on; counting for `limit_calls` begins again. */
void mc_ledger_step(struct mc_ledger *ledger, const char *step, int64_t limit_calls);
/* The present step; the caller frees it. */
char *mc_ledger_now(struct mc_ledger *ledger);

struct mc_admission {
    int64_t call;
    char *step;        /* the caller frees it */
    int refused;       /* 1: `rule` and `detail` say why */
    enum mc_rule rule; /* MC_RULE_BUDGET or MC_RULE_CALLS */
    char *detail;      /* the caller frees it; NULL where admitted */
};
/* Numbers a call and says whether it may go on. */
struct mc_admission mc_ledger_admit(struct mc_ledger *ledger);

/* USD at the price of `model`, or of `other` where that has none; below 0 where price or usage is unknown. Input that
 * was cached and output that was reasoning cost as the rest of their kind where no price of their own is given. */
double mc_ledger_cost(const struct mc_ledger *ledger, const char *model, const char *other,
                      const struct mc_usage *usage);
/* Adds what a call used; `cost` as mc_ledger_cost() gave it. */
void mc_ledger_spend(struct mc_ledger *ledger, const struct mc_usage *usage, double cost);
