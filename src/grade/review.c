#include "grade/review.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "grade/metrics.h"

const char *const mc_source_names[] = {"matcher",  "judge",    "review", "official",
                                       "verifier", "imported", "runner", NULL};

static int check_review(const struct mc_revision *last, const struct mc_revision *revision, struct mc_err *err)
{
    if (!revision->reason || revision->reason[strspn(revision->reason, " \t\r\n")] == '\0') {
        mc_fail(err, MC_INPUT, "a review needs a reason");
        return mc_hint(err, "say why with --reason");
    }
    if (!revision->by || revision->by[strspn(revision->by, " \t\r\n")] == '\0') {
        mc_fail(err, MC_INPUT, "a review needs a name");
        return mc_hint(err, "say who with --by");
    }
    if (!last) {
        return mc_fail(err, MC_NOT_FOUND, "there is no verdict to review yet");
    }
    if (last->verdict == revision->verdict) {
        return mc_fail(err, MC_EXISTS, "the verdict is %s already (revision %lld)", mc_verdict_name(last->verdict),
                       (long long)last->number);
    }
    return 0;
}

int mc_history_add(struct mc_history *history, int64_t expect, const struct mc_revision *revision, struct mc_err *err)
{
    const struct mc_revision *last = mc_history_at(history, NULL);
    int64_t in_force = last ? last->number : 0;
    if (expect != in_force) {
        mc_fail(err, MC_MISMATCH, "revision %lld was expected, but %lld is in force", (long long)expect,
                (long long)in_force);
        return mc_hint(err, "look at the verdict as it is now, then review it with --expect %lld", (long long)in_force);
    }
    if (revision->source == MC_SOURCE_REVIEW) {
        int rc = check_review(last, revision, err);
        if (rc != 0) {
            return rc;
        }
    }
    if (last && revision->at.ms < last->at.ms) {
        return mc_fail(err, MC_INPUT, "a revision cannot be older than the one that it replaces (%s)",
                       mc_time_format(last->at).text);
    }
    history->items = mc_grow(history->items, history->count, &history->capacity, sizeof *history->items);
    struct mc_revision *added = &history->items[history->count++];
    *added = *revision;
    added->number = in_force + 1;
    added->replaces = in_force;
    added->reason = mc_strdup(revision->reason ? revision->reason : "");
    added->by = mc_strdup(revision->by ? revision->by : "");
    return 0;
}

const struct mc_revision *mc_history_at(const struct mc_history *history, const struct mc_time *as_of)
{
    for (size_t i = history->count; i > 0; i--) {
        if (!as_of || history->items[i - 1].at.ms <= as_of->ms) {
            return &history->items[i - 1];
        }
    }
    return NULL;
}

void mc_history_release(struct mc_history *history)
{
    for (size_t i = 0; i < history->count; i++) {
        free((char *)history->items[i].reason);
        free((char *)history->items[i].by);
    }
    free(history->items);
    *history = (struct mc_history){.items = NULL};
}

/* An item with its place among all, sorted so that strata lie together. */
struct ticket {
    const struct mc_audit_item *item;
    size_t index;
};

static int same_stratum(const struct mc_audit_item *a, const struct mc_audit_item *b)
{
    return a->verdict == b->verdict && strcmp(a->family, b->family) == 0 && strcmp(a->kind, b->kind) == 0;
}

static int by_name(const void *a, const void *b)
{
    const struct mc_audit_item *x = ((const struct ticket *)a)->item;
    const struct mc_audit_item *y = ((const struct ticket *)b)->item;
    int order = strcmp(x->answer, y->answer);
    return order ? order : strcmp(x->slot, y->slot);
}

static int by_stratum(const void *a, const void *b)
{
    const struct mc_audit_item *x = ((const struct ticket *)a)->item;
    const struct mc_audit_item *y = ((const struct ticket *)b)->item;
    int order = strcmp(x->family, y->family);
    order = order ? order : strcmp(x->kind, y->kind);
    order = order ? order : (int)x->verdict - (int)y->verdict;
    return order ? order : by_name(a, b);
}

struct stratum {
    size_t first, count, take;
    double rest; /* of its share, after rounding down */
};

static int by_rest(const void *a, const void *b)
{
    const struct stratum *x = a;
    const struct stratum *y = b;
    if (x->rest != y->rest) {
        return x->rest < y->rest ? 1 : -1;
    }
    return x->first < y->first ? -1 : 1;
}

/* Shares by largest remainder (Hamilton's method), after one for each stratum while there is room. */
static void share_out(struct stratum *strata, size_t count, size_t total, size_t want)
{
    size_t left = want;
    for (size_t i = 0; i < count && left > 0; i++) {
        strata[i].take = 1;
        left--;
    }
    size_t room = left;
    size_t spare = total > count ? total - count : 0;
    for (size_t i = 0; i < count && spare > 0; i++) {
        double share = (double)room * (double)(strata[i].count - 1) / (double)spare;
        size_t whole = (size_t)share;
        whole = whole < strata[i].count - strata[i].take ? whole : strata[i].count - strata[i].take;
        strata[i].take += whole;
        strata[i].rest = share - (double)whole;
        left -= whole < left ? whole : left;
    }
    qsort(strata, count, sizeof *strata, by_rest);
    while (left > 0) {
        size_t before = left;
        for (size_t i = 0; i < count && left > 0; i++) {
            if (strata[i].take < strata[i].count) {
                strata[i].take++;
                left--;
            }
        }
        if (before == left) {
            return;
        }
    }
}

static size_t split_strata(const struct ticket *tickets, size_t count, struct stratum *strata)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !same_stratum(tickets[i - 1].item, tickets[i].item)) {
            strata[found++] = (struct stratum){.first = i};
        }
        strata[found - 1].count++;
    }
    return found;
}

size_t mc_audit_sample(const struct mc_audit_item *items, size_t count, size_t want, uint64_t seed, size_t **out)
{
    want = want < count ? want : count;
    MC_AUTOFREE struct ticket *tickets = mc_alloc(count + 1, sizeof *tickets);
    MC_AUTOFREE struct ticket *drawn = mc_alloc(want + 1, sizeof *drawn);
    MC_AUTOFREE struct stratum *strata = mc_alloc(count + 1, sizeof *strata);
    for (size_t i = 0; i < count; i++) {
        tickets[i] = (struct ticket){&items[i], i};
    }
    qsort(tickets, count, sizeof *tickets, by_stratum);
    struct mc_random random = mc_random_from(seed);
    size_t found = split_strata(tickets, count, strata);
    /* With fewer places than strata, which of them give one is drawn too. */
    for (size_t i = found; i > 1; i--) {
        size_t k = mc_random_below(&random, i);
        struct stratum swap = strata[i - 1];
        strata[i - 1] = strata[k];
        strata[k] = swap;
    }
    share_out(strata, found, count, want);
    size_t taken = 0;
    for (size_t s = 0; s < found; s++) {
        struct ticket *own = tickets + strata[s].first;
        /* The first places of a shuffle (Fisher and Yates, as in Knuth 3.4.2 P). */
        for (size_t i = 0; i < strata[s].take; i++) {
            size_t k = i + mc_random_below(&random, strata[s].count - i);
            struct ticket swap = own[i];
            own[i] = own[k];
            own[k] = swap;
            drawn[taken++] = own[i];
        }
    }
    qsort(drawn, taken, sizeof *drawn, by_name);
    *out = mc_alloc(taken + 1, sizeof **out);
    for (size_t i = 0; i < taken; i++) {
        (*out)[i] = drawn[i].index;
    }
    return taken;
}
