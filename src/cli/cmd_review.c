/* memcal review */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/graded.h"
#include "run/results.h"
#include "run/review.h"

struct review_options {
    const char *answer;
    const char *slot;
    const char *verdict;
    const char *reason;
    const char *by;
    const char *expect;
};

static int read_verdict(const char *text, enum mc_verdict *out, struct mc_err *err)
{
    for (int i = 0; i <= MC_VERDICT_MISREPRESENTED; i++) {
        if (mc_streq(mc_verdict_names[i], text)) {
            *out = (enum mc_verdict)i;
            return 0;
        }
    }
    mc_fail(err, MC_INPUT, "there is no verdict \"%s\"", text);
    return mc_hint(err, "it is one of correct, missed, misrepresented");
}

static int read_expect(const char *text, int64_t *out, struct mc_err *err)
{
    *out = -1;
    if (!text) {
        return 0;
    }
    int64_t number = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits] || digits > 15) {
        mc_fail(err, MC_INPUT, "--expect needs a revision's number, not \"%s\"", text);
        return mc_hint(err, "the report has it as \"revision\" of the slot");
    }
    for (size_t i = 0; i < digits; i++) {
        number = number * 10 + (text[i] - '0');
    }
    *out = number;
    return 0;
}

static int check(const struct review_options *o, struct mc_err *err)
{
    const struct {
        const char *name;
        const char *value;
    } needed[] = {
        {"answer", o->answer}, {"slot", o->slot}, {"verdict", o->verdict}, {"reason", o->reason}, {"by", o->by}};
    for (size_t i = 0; i < MC_COUNT(needed); i++) {
        if (!needed[i].value) {
            mc_fail(err, MC_INPUT, "--%s is missing", needed[i].name);
            return mc_hint(err, "a review needs --answer, --slot, --verdict, --reason and --by");
        }
    }
    return 0;
}

static void print_review(const struct mc_cli *cli, const json_t *added)
{
    if (cli->json) {
        mc_cli_print_json(added);
        return;
    }
    printf("%s %s: %s -> %s (revision %lld replaces %lld)\n", json_string_value(json_object_get(added, "answer")),
           json_string_value(json_object_get(added, "slot")), json_string_value(json_object_get(added, "from")),
           json_string_value(json_object_get(added, "to")),
           (long long)json_integer_value(json_object_get(added, "revision")),
           (long long)json_integer_value(json_object_get(added, "replaces")));
}

static int review(const struct mc_cli *cli, const struct review_options *o, const char *given, struct mc_err *err)
{
    struct mc_store *store = NULL;
    MC_AUTORUN struct mc_stored_run run = {.id = NULL};
    MC_AUTOJSON json_t *added = NULL;
    struct mc_review wish = {.answer = o->answer, .slot = o->slot, .reason = o->reason, .by = o->by};
    int rc = check(o, err);
    rc = rc ? rc : read_verdict(o->verdict, &wish.verdict, err);
    rc = rc ? rc : read_expect(o->expect, &wish.expect, err);
    rc = rc ? rc : mc_cli_open_run(cli, given, &store, &run, err);
    rc = rc ? rc : mc_review_add(store, &run, &wish, &added, err);
    if (rc == 0) {
        print_review(cli, added);
        rc = mc_results_write(store, &run, NULL, NULL, err);
    }
    mc_store_close(store);
    return rc;
}

int mc_cmd_review(struct mc_cli *cli, int argc, char **argv)
{
    struct review_options o = {.answer = NULL};
    const struct mc_option options[] = {
        {"answer", 0, MC_OPTION_TEXT, "ID", "TRIAL/CHECKPOINT, as the report has it", &o.answer},
        {"slot", 0, MC_OPTION_TEXT, "ID", "the slot of the answer", &o.slot},
        {"verdict", 0, MC_OPTION_TEXT, "V", "correct, missed or misrepresented", &o.verdict},
        {"reason", 0, MC_OPTION_TEXT, "TEXT", "why", &o.reason},
        {"by", 0, MC_OPTION_TEXT, "NAME", "who says so", &o.by},
        {"expect", 0, MC_OPTION_TEXT, "REVISION", "refuse where another revision is in force", &o.expect},
    };
    const struct mc_usage_page page = {
        .synopsis = "memcal review RUN --answer ID --slot ID --verdict V --reason TEXT --by NAME",
        .about = "Gives the verdict on one slot by hand. The verdict before it stays in the store; the new one names\n"
                 "what it replaces, and everything that is counted is counted again. Exit code 7 where --expect names\n"
                 "a revision that is not in force any more.",
        .options = options,
        .option_count = MC_COUNT(options),
        .examples = "  memcal review last --answer t3/trivia-night/plan --slot place --verdict correct \\\n"
                    "    --reason \"names the street the bar is on\" --by ana --expect 1",
        .least = 1,
        .most = 1};
    int operands;
    int code = mc_options_read(cli, &page, argc, argv, &operands);
    if (code >= 0) {
        return code;
    }
    struct mc_err err;
    return review(cli, &o, argv[0], &err) == 0 ? MC_EXIT_OK : mc_cli_fail(cli, &err);
}
