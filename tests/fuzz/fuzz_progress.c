/* JSON lines of an engine's progress; the first byte says how they are cut. */
#include "engine/progress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_line(void *payload, const char *id, const char *text, int64_t current, int64_t total)
{
    (void)id;
    (void)current;
    (void)total;
    *(size_t *)payload += text[0] != '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mc_err err;
    size_t lines = 0;
    struct mc_image_progress watch = {.on_line = on_line, .payload = &lines};
    struct mc_progress progress;
    mc_progress_init(&progress, "fuzzing", &watch);
    size_t step = size > 0 ? (size_t)data[0] % 32 + 1 : 1;
    int rc = 0;
    for (size_t at = 1; rc == 0 && at < size; at += step) {
        rc = mc_progress_feed(&progress, (const char *)data + at, size - at < step ? size - at : step, &err);
    }
    if (rc == 0 && mc_progress_end(&progress, &err) != 0) {
        rc = err.code;
    }
    mc_progress_release(&progress);
    return 0;
}
