#include "report/audit.h"

#include <string.h>

#include "base/mem.h"
#include "report/markdown.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void put_field(struct mc_buf *out, const char *label, const char *text)
{
    mc_buf_putf(out, "- %s: ", label);
    mc_markdown_put(out, text);
    mc_buf_putc(out, '\n');
}

/* The answer with the words that the verdict rests on in bold; quotes may overlap or stand in any order. */
static void put_answer(struct mc_buf *out, const json_t *item)
{
    const char *text = text_of(item, "text");
    size_t length = strlen(text);
    if (length == 0) {
        mc_buf_putf(out, "> (no answer: ended %s)\n", text_of(item, "ended"));
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
    for (size_t at = 0; at < length; at++) {
        int bold = marked[at];
        int before = at > 0 && marked[at - 1];
        mc_buf_puts(out, bold != before ? "**" : "");
        if (text[at] == '\n') {
            mc_buf_puts(out, bold ? "**  \n> **" : "  \n> ");
        } else {
            mc_markdown_put_bytes(out, text + at, 1);
        }
    }
    mc_buf_puts(out, marked[length - 1] ? "**\n" : "\n");
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
        mc_markdown_put(out, text_of(one, "id"));
        mc_buf_puts(out, " (");
        mc_markdown_put(out, text_of(one, "channel"));
        mc_buf_puts(out, ", ");
        mc_markdown_put(out, text_of(one, "sender"));
        mc_buf_puts(out, ", ");
        mc_markdown_put(out, text_of(one, "at"));
        mc_buf_puts(out, "):\n\n");
        if (*text_of(one, "subject")) {
            mc_buf_puts(out, "> Subject: ");
            mc_markdown_put(out, text_of(one, "subject"));
            mc_buf_puts(out, "  \n");
        }
        mc_markdown_quote(out, text_of(one, "text"));
        mc_buf_putc(out, '\n');
    }
}

static void put_item(struct mc_buf *out, size_t number, const json_t *item)
{
    mc_buf_putf(out, "## %zu. ", number);
    mc_markdown_put(out, text_of(item, "answer"));
    mc_buf_puts(out, ", slot ");
    mc_markdown_put(out, text_of(item, "slot"));
    mc_buf_puts(out, "\n\nAsked at ");
    mc_markdown_put(out, text_of(item, "asked_at"));
    mc_buf_puts(out, ":\n\n");
    mc_markdown_quote(out, text_of(item, "question"));
    mc_buf_puts(out, "\nAnswered, with the words that the verdict rests on in bold:\n\n");
    put_answer(out, item);
    mc_buf_putc(out, '\n');
    MC_AUTOFREE char *verdict = mc_strf("%s, by %s, rule %s, revision %lld", text_of(item, "verdict"),
                                        text_of(item, "source"), text_of(item, "rule"),
                                        (long long)json_integer_value(json_object_get(item, "revision")));
    MC_AUTOFREE char *slot = mc_strf("%s %s%s", text_of(item, "kind"), text_of(item, "match"),
                                     json_is_true(json_object_get(item, "required")) ? ", required" : "");
    put_field(out, "verdict", verdict);
    put_field(out, "because", text_of(item, "explanation"));
    put_field(out, "slot", slot);
    put_field(out, "family", text_of(item, "family"));
    put_field(out, "harness", text_of(item, "harness"));
    mc_buf_putc(out, '\n');
    put_evidence(out, item);
    mc_buf_putf(out, "If that is wrong (VERDICT: correct, missed or misrepresented):\n\n    %s\n\n",
                text_of(item, "command"));
}

void mc_report_audit(const json_t *audit, struct mc_buf *out)
{
    const json_t *items = json_object_get(audit, "items");
    mc_buf_putf(out,
                "# Audit of run %s\n\n%zu of %lld verdicts of grading %lld, drawn with seed %lld: passes as well as "
                "failures, from every family, kind and verdict.\n\n",
                text_of(audit, "run"), json_array_size(items),
                (long long)json_integer_value(json_object_get(audit, "of")),
                (long long)json_integer_value(json_object_get(audit, "grading")),
                (long long)json_integer_value(json_object_get(audit, "seed")));
    size_t i;
    const json_t *item;
    json_array_foreach (items, i, item) {
        put_item(out, i + 1, item);
    }
}
