#include "report/metrics.h"

#include <string.h>

#include "base/mem.h"

struct row {
    const char *label;
    const char *key;
    enum { METRIC, LIVES, COUNT, SLOTS, ENDED } kind;
};

static const struct row rows[] = {
    {"lives", "lives", LIVES},
    {"answers that count", "answers", COUNT},
    {"complete", "complete", COUNT},
    {"ungraded answers", "ungraded", COUNT},
    {"task success", "success", METRIC},
    {"correct", "correct", METRIC},
    {"missed", "missed", METRIC},
    {"misrepresented", "misrepresented", METRIC},
    {"precision", "precision", METRIC},
    {"recall", "recall", METRIC},
    {"F1", "f1", METRIC},
    {"complete plans", "plan", METRIC},
    {"abstention accuracy", "abstention", METRIC},
    {"current facts", "current", METRIC},
    {"historical facts", "historical", METRIC},
    {"options found", "options", METRIC},
    {"facts correct", "correct", SLOTS},
    {"facts missed", "missed", SLOTS},
    {"facts misrepresented", "misrepresented", SLOTS},
    {"facts ungraded", "ungraded", SLOTS},
    {"stale assertions", "stale", COUNT},
    {"inventions", "inventions", COUNT},
    {"wrong person", "wrong_person", COUNT},
    {"wrong occurrence", "wrong_occurrence", COUNT},
    {"duplicates", "duplicates", COUNT},
    {"traps suggested", "traps", COUNT},
    {"refused though answerable", "refused", COUNT},
    {"answered though unanswerable", "guessed", COUNT},
    {"ended completed", "completed", ENDED},
    {"ended failed", "failed", ENDED},
    {"ended timeout", "timeout", ENDED},
    {"ended tool_policy", "tool_policy", ENDED},
    {"ended protocol_error", "protocol_error", ENDED},
    {"ended infrastructure", "infrastructure", ENDED},
    {"ended budget", "budget", ENDED},
    {"ended cancelled", "cancelled", ENDED},
};

static char *metric_cell(const json_t *metric)
{
    const json_t *value = json_object_get(metric, "value");
    const json_t *low = json_object_get(metric, "low");
    const json_t *high = json_object_get(metric, "high");
    if (!json_is_number(value)) {
        return mc_strdup("-");
    }
    if (!low || !high) {
        return mc_strf("%.1f%%", json_number_value(value) * 100);
    }
    return mc_strf("%.1f%% (%.1f to %.1f)", json_number_value(value) * 100, json_number_value(low) * 100,
                   json_number_value(high) * 100);
}

static char *cell(const json_t *column, const struct row *row)
{
    const json_t *tally = json_object_get(column, "tally");
    const json_t *value = NULL;
    switch (row->kind) {
    case METRIC:
        return metric_cell(json_object_get(json_object_get(column, "metrics"), row->key));
    case LIVES:
        value = json_object_get(column, row->key);
        break;
    case COUNT:
        value = json_object_get(tally, row->key);
        break;
    case SLOTS:
        value = json_object_get(json_object_get(tally, "slots"), row->key);
        break;
    case ENDED:
        value = json_object_get(json_object_get(tally, "ended"), row->key);
        break;
    }
    return json_is_integer(value) ? mc_strf("%lld", (long long)json_integer_value(value)) : mc_strdup("?");
}

static const char *name_of(const json_t *column)
{
    const char *name = json_string_value(json_object_get(column, "name"));
    return name && *name ? name : "all";
}

/* A kind of ending, or of fault, that no column has is left out. */
static int is_worth_a_row(const json_t *columns, const struct row *row)
{
    size_t i;
    const json_t *column;
    int has = row->kind == LIVES;
    json_array_foreach (columns, i, column) {
        MC_AUTOFREE char *text = cell(column, row);
        has |= row->kind == METRIC ? !mc_streq(text, "-") : !mc_streq(text, "0");
    }
    return has;
}

static size_t width_of(const json_t *column)
{
    size_t width = strlen(name_of(column));
    for (size_t r = 0; r < MC_COUNT(rows); r++) {
        MC_AUTOFREE char *text = cell(column, &rows[r]);
        width = strlen(text) > width ? strlen(text) : width;
    }
    return width;
}

void mc_report_metrics(const json_t *columns, struct mc_buf *out)
{
    enum { LABEL = 28 };
    size_t count = json_array_size(columns);
    MC_AUTOFREE size_t *widths = mc_alloc(count + 1, sizeof *widths);
    mc_buf_putf(out, "%-*s", LABEL, "");
    for (size_t i = 0; i < count; i++) {
        const json_t *column = json_array_get(columns, i);
        widths[i] = width_of(column);
        mc_buf_putf(out, "  %*s", (int)widths[i], name_of(column));
    }
    mc_buf_putc(out, '\n');
    for (size_t r = 0; r < MC_COUNT(rows); r++) {
        if (!is_worth_a_row(columns, &rows[r])) {
            continue;
        }
        mc_buf_putf(out, "%-*s", LABEL, rows[r].label);
        for (size_t i = 0; i < count; i++) {
            MC_AUTOFREE char *text = cell(json_array_get(columns, i), &rows[r]);
            mc_buf_putf(out, "  %*s", (int)widths[i], text);
        }
        mc_buf_putc(out, '\n');
    }
}
