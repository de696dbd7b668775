/* A secret, a newline, and a text: the secret is not in what comes out, in pieces it comes out the same, and what was
 * JSON still is. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void in_pieces(const struct mc_redactor *redactor, const char *text, size_t length, const struct mc_buf *whole)
{
    struct mc_redact_stream stream;
    struct mc_buf out = MC_BUF_OWN;
    mc_redact_stream_init(&stream, redactor);
    for (size_t at = 0, step = 1; at < length; at += step, step = step * 3 + 1) {
        step = step < length - at ? step : length - at;
        mc_redact_stream_add(&stream, text + at, step, &out);
    }
    mc_redact_stream_end(&stream, &out);
    if (out.len != whole->len || memcmp(mc_buf_text(&out), mc_buf_text(whole), out.len) != 0) {
        abort();
    }
    mc_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line = size ? memchr(data, '\n', size) : NULL;
    if (!line) {
        return 0;
    }
    size_t length = (size_t)(line - (const char *)data);
    MC_AUTOFREE char *secret = mc_strndup((const char *)data, length);
    const char *text = line + 1;
    size_t left = size - length - 1;
    struct mc_redactor *redactor = mc_redactor_new();
    if (mc_redactor_add(redactor, "K", secret)) {
        struct mc_buf out = MC_BUF_OWN;
        mc_redact_bytes(redactor, text, left, &out);
        /* What was put in, "[secret:K]", may make it up again with its neighbours. */
        if (!strpbrk(secret, "[]:") && memmem(mc_buf_text(&out), out.len, secret, strlen(secret)) &&
            !strstr("secretkey", secret)) {
            abort();
        }
        in_pieces(redactor, text, left, &out);
        json_t *before = json_loadb(text, left, 0, NULL);
        json_t *after = json_loadb(mc_buf_text(&out), out.len, JSON_ALLOW_NUL, NULL);
        /* A secret with JSON's own marks may reach over the borders of texts. */
        if (before && !after && !strpbrk(secret, "\"{}[],:") && !strstr(secret, "\\")) {
            abort();
        }
        json_decref(before);
        json_decref(after);
        mc_buf_release(&out);
    }
    mc_redactor_free(redactor);
    return 0;
}
