#include "engine/progress.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "engine/own.h"

/* How much of the last output an error shows. */
#define LAST_MAX 400

void mc_progress_init(struct mc_progress *progress, const char *what, const struct mc_image_progress *watch)
{
    *progress = (struct mc_progress){
        .what = what, .watch = watch, .line = MC_BUF_INIT(MC_PROGRESS_LINE_MAX), .last = MC_BUF_OWN};
}

void mc_progress_release(struct mc_progress *progress)
{
    mc_buf_release(&progress->line);
    mc_buf_release(&progress->last);
    free(progress->id);
    progress->id = NULL;
}

static void set_id(struct mc_progress *progress, const char *id)
{
    if (mc_starts_with(id, "sha256:") && mc_is_digest(id + strlen("sha256:"))) {
        free(progress->id);
        progress->id = mc_strdup(id);
    }
}

static void remember(struct mc_progress *progress, const char *text)
{
    mc_buf_puts(&progress->last, text);
    if (progress->last.len > LAST_MAX) {
        size_t drop = progress->last.len - LAST_MAX;
        while (drop < progress->last.len && ((unsigned char)progress->last.data[drop] & 0xC0U) == 0x80U) {
            drop++; /* not inside a character */
        }
        mc_buf_drop(&progress->last, drop);
    }
}

static int fail_with(const struct mc_progress *progress, const char *error, struct mc_err *err)
{
    MC_AUTOFREE char *last = mc_strdup(mc_buf_text(&progress->last));
    size_t end = strlen(last);
    while (end > 0 && strchr(" \r\n", last[end - 1])) {
        last[--end] = '\0';
    }
    MC_AUTOFREE char *whole = mc_strf("%s%s%s", error, end > 0 ? "; last output: " : "", last);
    return mc_api_refused_in_band(err, progress->what, whole);
}

static int take(struct mc_progress *progress, const char *line, size_t length, struct mc_err *err)
{
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    struct mc_err reason;
    MC_AUTOJSON json_t *json = mc_json_parse(line, length, &source, &reason);
    if (!json) {
        return mc_fail(err, MC_PROTOCOL, "%s: a line of the engine's progress is no JSON: %s", progress->what,
                       reason.text);
    }
    const char *error = mc_api_text(json_object_get(json, "errorDetail"), "message");
    error = error[0] != '\0' ? error : mc_api_text(json, "error");
    if (error[0] != '\0') {
        return fail_with(progress, error, err);
    }
    set_id(progress, mc_api_text(json_object_get(json, "aux"), "ID"));
    const char *status = mc_api_text(json, "status");
    set_id(progress, status);
    const char *text = mc_api_text(json, "stream");
    remember(progress, text);
    text = text[0] != '\0' ? text : status;
    if (progress->watch && text[0] != '\0') {
        const json_t *detail = json_object_get(json, "progressDetail");
        progress->watch->on_line(progress->watch->payload, mc_api_text(json, "id"), text, mc_api_int(detail, "current"),
                                 mc_api_int(detail, "total"));
    }
    return 0;
}

int mc_progress_feed(struct mc_progress *progress, const char *bytes, size_t length, struct mc_err *err)
{
    while (length > 0) {
        const char *end = memchr(bytes, '\n', length);
        size_t piece = end ? (size_t)(end - bytes) : length;
        if (mc_buf_add(&progress->line, bytes, piece) != 0) {
            return mc_fail(err, MC_LIMIT, "%s: a line of the engine's progress is longer than %zu bytes",
                           progress->what, progress->line.max);
        }
        bytes += piece + (end != NULL);
        length -= piece + (end != NULL);
        int rc = end ? mc_progress_end(progress, err) : 0;
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int mc_progress_end(struct mc_progress *progress, struct mc_err *err)
{
    const char *line = mc_buf_text(&progress->line);
    size_t blank = strspn(line, " \r\t");
    int rc = blank == progress->line.len ? 0 : take(progress, line, progress->line.len, err);
    mc_buf_clear(&progress->line);
    return rc;
}
