/* Lines: whatever the pieces, what comes out is what went in, and never longer than allowed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte says how large the pieces are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { LONGEST = 64 };
    if (size < 1) {
        return 0;
    }
    size_t piece = (size_t)data[0] + 1;
    size_t given = 0;
    struct mc_err err;
    struct mc_lines lines;
    struct mc_line line;
    const char *bytes = (const char *)data + 1;
    size--;
    mc_lines_init(&lines, LONGEST);
    for (size_t at = 0; at < size; at += piece) {
        mc_lines_feed(&lines, bytes + at, size - at < piece ? size - at : piece);
        int rc;
        while ((rc = mc_lines_next(&lines, &line, &err)) != 0) {
            int bad_text = rc < 0 && line.length < LONGEST && line.text[line.length] == '\0';
            if (rc < 0 && !bad_text) {
                mc_lines_release(&lines);
                return 0;
            }
            if (line.length >= LONGEST || memcmp(line.text, bytes + given, line.length) != 0 ||
                bytes[given + line.length] != '\n' ||
                (rc > 0) != (mc_utf8_valid(line.text, line.length) == line.length)) {
                abort();
            }
            given += line.length + 1;
        }
    }
    if ((mc_lines_end(&lines, &line, &err) != 0) != (given < size)) {
        abort();
    }
    mc_lines_release(&lines);
    return 0;
}
