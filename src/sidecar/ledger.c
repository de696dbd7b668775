#include "sidecar/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char first_step[] = "initialize"; /* what calls before the first clock.set belong to */

static int check_prices(const json_t *prices, struct mc_err *err)
{
    static const char *const classes[] = {"input", "output", "cached_input", "reasoning"};
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    struct mc_view frame = mc_view_root(&source, NULL);
    struct mc_view root = {.source = &source, .value = prices, .parent = &frame, .key = "prices", .index = 0};
    const char *model;
    json_t *unused;
    json_object_foreach ((json_t *)prices, model, unused) {
        struct mc_view entry = mc_view_member(&root, model);
        int rc = entry.value ? mc_view_is_object(&entry, err) : mc_view_fail(&entry, err, "must be an object");
        for (size_t i = 0; rc == 0 && i < MC_COUNT(classes); i++) {
            double price = 0;
            rc = mc_read_number(&entry, classes[i], i < 2 ? MC_REQUIRED : MC_OPTIONAL, &price, err);
            if (rc == 0 && price < 0) {
                rc = mc_view_fail(&entry, err, "\"%s\" must not be below 0", classes[i]);
            }
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int mc_ledger_init(struct mc_ledger *ledger, const struct mc_gateway_setup *setup, struct mc_err *err)
{
    int rc = check_prices(setup->prices, err);
    if (rc != 0) {
        return rc;
    }
    memset(ledger, 0, sizeof *ledger);
    pthread_mutex_init(&ledger->lock, NULL);
    ledger->prices = setup->prices;
    ledger->budget_usd = setup->budget_usd;
    ledger->budget_tokens = setup->budget_tokens;
    ledger->step = mc_strdup(first_step);
    ledger->step_limit = MC_UNKNOWN;
    return 0;
}

void mc_ledger_release(struct mc_ledger *ledger)
{
    if (ledger->step) {
        pthread_mutex_destroy(&ledger->lock);
        free(ledger->step);
        ledger->step = NULL;
    }
}

void mc_ledger_restore(struct mc_ledger *ledger, const struct mc_model_call *call)
{
    pthread_mutex_lock(&ledger->lock);
    ledger->calls = call->call > ledger->calls ? call->call : ledger->calls;
    pthread_mutex_unlock(&ledger->lock);
    mc_ledger_spend(ledger, &call->usage, call->cost_usd);
}

void mc_ledger_step(struct mc_ledger *ledger, const char *step, int64_t limit_calls)
{
    pthread_mutex_lock(&ledger->lock);
    free(ledger->step);
    ledger->step = mc_strdup(step);
    ledger->step_calls = 0;
    ledger->step_limit = limit_calls;
    pthread_mutex_unlock(&ledger->lock);
}

char *mc_ledger_now(struct mc_ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    char *step = mc_strdup(ledger->step);
    pthread_mutex_unlock(&ledger->lock);
    return step;
}

static void refuse(struct mc_admission *admission, enum mc_rule rule, char *detail)
{
    admission->refused = 1;
    admission->rule = rule;
    admission->detail = detail;
}

struct mc_admission mc_ledger_admit(struct mc_ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    struct mc_admission admission = {.call = ++ledger->calls, .step = mc_strdup(ledger->step)};
    ledger->step_calls++;
    if (ledger->budget_usd >= 0 && ledger->spent_usd >= ledger->budget_usd) {
        refuse(&admission, MC_RULE_BUDGET,
               mc_strf("the budget of %.6f USD is spent (%.6f)", ledger->budget_usd, ledger->spent_usd));
    } else if (ledger->budget_tokens >= 0 && ledger->spent_tokens >= ledger->budget_tokens) {
        refuse(&admission, MC_RULE_BUDGET,
               mc_strf("the budget of %lld tokens is spent (%lld)", (long long)ledger->budget_tokens,
                       (long long)ledger->spent_tokens));
    } else if (ledger->step_limit >= 0 && ledger->step_calls > ledger->step_limit) {
        refuse(&admission, MC_RULE_CALLS, mc_strf("the step may make %lld model calls", (long long)ledger->step_limit));
    }
    pthread_mutex_unlock(&ledger->lock);
    return admission;
}

static double price_of(const json_t *entry, const char *name, const char *otherwise)
{
    const json_t *price = json_object_get(entry, name);
    return json_number_value(json_is_number(price) ? price : json_object_get(entry, otherwise));
}

/* Tokens times their price; what is unknown was counted with the rest of its kind. */
static double part(int64_t tokens, double price)
{
    return tokens > 0 ? (double)tokens * price / 1e6 : 0;
}

double mc_ledger_cost(const struct mc_ledger *ledger, const char *model, const char *other,
                      const struct mc_usage *usage)
{
    const json_t *entry = json_object_get(ledger->prices, model);
    if (!entry && other) {
        entry = json_object_get(ledger->prices, other);
    }
    if (!entry || usage->input < 0 || usage->output < 0) {
        return -1;
    }
    return part(usage->input, price_of(entry, "input", "input")) +
           part(usage->cached_input, price_of(entry, "cached_input", "input")) +
           part(usage->output, price_of(entry, "output", "output")) +
           part(usage->reasoning, price_of(entry, "reasoning", "output"));
}

static int64_t known(int64_t count)
{
    return count > 0 ? count : 0;
}

void mc_ledger_spend(struct mc_ledger *ledger, const struct mc_usage *usage, double cost)
{
    pthread_mutex_lock(&ledger->lock);
    ledger->spent_usd += cost > 0 ? cost : 0;
    ledger->spent_tokens +=
        known(usage->input) + known(usage->cached_input) + known(usage->output) + known(usage->reasoning);
    pthread_mutex_unlock(&ledger->lock);
}
