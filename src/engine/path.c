#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/own.h"

static void escape(struct mc_buf *path, const char *text, const char *kept)
{
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        int plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr(kept, c);
        if (plain) {
            mc_buf_putc(path, (char)c);
        } else {
            mc_buf_putf(path, "%%%02X", c);
        }
    }
}

void mc_api_escape(struct mc_buf *path, const char *name)
{
    escape(path, name, "-._~");
}

void mc_api_escape_reference(struct mc_buf *path, const char *reference)
{
    escape(path, reference, "-._~/:@");
}

void mc_api_query(struct mc_buf *path, const char *key, const char *value)
{
    mc_buf_putc(path, strchr(mc_buf_text(path), '?') ? '&' : '?');
    mc_buf_puts(path, key);
    mc_buf_putc(path, '=');
    mc_api_escape(path, value);
}

void mc_api_label_filter(struct mc_buf *path, struct mc_labels labels)
{
    if (labels.count == 0) {
        return;
    }
    json_t *wanted = json_array();
    for (size_t i = 0; i < labels.count; i++) {
        MC_AUTOFREE char *pair = mc_strf("%s=%s", labels.items[i].name, labels.items[i].value);
        json_array_append_new(wanted, json_string(pair));
    }
    MC_AUTOJSON json_t *filters = json_pack("{s:o}", "label", wanted);
    MC_AUTOFREE char *text = mc_json_text(filters);
    mc_api_query(path, "filters", text);
}

int mc_api_check_path(const char *path, const char *what, struct mc_err *err)
{
    size_t end = strcspn(path, "?");
    for (size_t at = 0; at < end;) {
        size_t length = strcspn(path + at + 1, "/?");
        const char *segment = path + at + 1;
        int bad = length == 0 || (length == 1 && segment[0] == '.') || (length == 2 && strncmp(segment, "..", 2) == 0);
        if (bad || path[at] != '/') {
            return mc_fail(err, MC_INPUT, "%s: this is not a name that an engine could have", what);
        }
        at += length + 1;
    }
    return 0;
}
