#include "report/audit.h"

#include <string.h>

#include "base/mem.h"
#include "report/text.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void put_field(struct mc_buf *out, const char *label, const char *text)
{
    mc_buf_putf(out, "- %s: ", label);
    mc_text_put(out, text, MC_MARKDOWN);
    mc_buf_putc(out, '\n');
}

/* The answer with the words that the verdict rests on in bold; quotes may overlap or stand in any order. */
static void put_answer(struct mc_buf *out, const json_t *item)
{
    const char *text = text_of(item, "text");
    size_t length = strlen(text);
    if (length == 0) {
        mc_buf_puts(out, "> (no answer: ended ");
        mc_text_put(out, text_of(item, "ended"), MC_MARKDOWN);
        mc_buf_puts(out, ")\n");
        return;
    }
    MC_AUTOFREE char *marked = mc_alloc(length + 1, 1);
    size_t i;
    const json_t *quote;
    json_array_foreach (json_object_get(item, "quotes"), i, quote) {
        json_int_t start = json_integer_value(json_object_get(quote, "start"));
        json_int_t end = json_integer_value(json_object_get(quote, "end"));
        if (start >= 0 && end <= (json_int_t)length && start < end) {
            memset(marked + start, 1, (size_t)(end - start));
        }
    }
    mc_buf_puts(out, "> ");
    for (size_t at = 0; at < length;) {
        /* A run of one kind, within one line. */
        size_t stop = at;
        while (stop < length && marked[stop] == marked[at] && text[stop] != '\n') {
            stop++;
        }
        mc_buf_puts(out, marked[at] && stop > at ? "**" : "");
        mc_text_put_part(out, text + at, stop - at, MC_MARKDOWN);
        mc_buf_puts(out, marked[at] && stop > at ? "**" : "");
        if (stop < length && text[stop] == '\n') {
            mc_buf_puts(out, "  \n> ");
            stop++;
        }
        at = stop;
    }
    mc_buf_putc(out, '\n');
}

static void put_evidence(struct mc_buf *out, const json_t *item)
{
    size_t i;
    const json_t *one;
    if (json_array_size(json_object_get(item, "evidence")) == 0) {
        mc_buf_puts(out, "Evidence: none; the rubric says that nothing tells it.\n\n");
    }
    json_array_foreach (json_object_get(item, "evidence"), i, one) {
        mc_buf_puts(out, "Evidence ");
        mc_text_put(out, text_of(one, "id"), MC_MARKDOWN);
        mc_buf_puts(out, " (");
        mc_text_put(out, text_of(one, "channel"), MC_MARKDOWN);
        mc_buf_puts(out, ", ");
        mc_text_put(out, text_of(one, "sender"), MC_MARKDOWN);
        mc_buf_puts(out, ", ");
        mc_text_put(out, text_of(one, "at"), MC_MARKDOWN);
        mc_buf_puts(out, "):\n\n");
        if (*text_of(one, "subject")) {
            mc_buf_puts(out, "> Subject: ");
            mc_text_put(out, text_of(one, "subject"), MC_MARKDOWN);
            mc_buf_puts(out, "  \n");
        }
        mc_text_quote(out, text_of(one, "text"));
        mc_buf_putc(out, '\n');
    }
}

static void put_item(struct mc_buf *out, size_t number, const json_t *item)
{
    mc_buf_putf(out, "## %zu. ", number);
    mc_text_put(out, text_of(item, "answer"), MC_MARKDOWN);
    mc_buf_puts(out, ", slot ");
    mc_text_put(out, text_of(item, "slot"), MC_MARKDOWN);
    mc_buf_puts(out, "\n\nAsked at ");
    mc_text_put(out, text_of(item, "asked_at"), MC_MARKDOWN);
    mc_buf_puts(out, ":\n\n");
    mc_text_quote(out, text_of(item, "question"));
    mc_buf_puts(out, "\nAnswered, with the words that the verdict rests on in bold:\n\n");
    put_answer(out, item);
    mc_buf_putc(out, '\n');
    MC_AUTOFREE char *verdict =
        mc_strf("%s, by %s, rule %s, revision %lld", text_of(item, "verdict"), text_of(item, "source"),
                text_of(item, "rule"), (long long)json_integer_value(json_object_get(item, "revision")));
    MC_AUTOFREE char *slot = mc_strf("%s %s%s", text_of(item, "kind"), text_of(item, "match"),
                                     json_is_true(json_object_get(item, "required")) ? ", required" : "");
    put_field(out, "verdict", verdict);
    put_field(out, "because", text_of(item, "explanation"));
    put_field(out, "slot", slot);
    put_field(out, "family", text_of(item, "family"));
    put_field(out, "harness", text_of(item, "harness"));
    mc_buf_putc(out, '\n');
    put_evidence(out, item);
    mc_buf_puts(out, "If that is wrong (VERDICT: correct, missed or misrepresented):\n\n    ");
    mc_text_put(out, text_of(item, "command"), MC_TERMINAL);
    mc_buf_puts(out, "\n\n");
}

void mc_report_audit(const json_t *audit, struct mc_buf *out)
{
    const json_t *items = json_object_get(audit, "items");
    mc_buf_puts(out, "# Audit of run ");
    mc_text_put(out, text_of(audit, "run"), MC_MARKDOWN);
    mc_buf_putf(
        out,
        "\n\n%zu of %lld verdicts of grading %lld, drawn with seed %lld: passes as well as failures, from every "
        "family, kind and verdict.\n\n",
        json_array_size(items), (long long)json_integer_value(json_object_get(audit, "of")),
        (long long)json_integer_value(json_object_get(audit, "grading")),
        (long long)json_integer_value(json_object_get(audit, "seed")));
    size_t i;
    const json_t *item;
    json_array_foreach (items, i, item) {
        put_item(out, i + 1, item);
    }
}
