/*
 * The JSON lines that engines tell of long work in (build, pull, import, load): progress, results, and errors after a
 * status of 200 (moby pkg/jsonmessage).
 *
 * Ownership: mc_progress_release() frees what was gathered.
 */
#pragma once

#include "base/buf.h"
#include "engine/image.h"

#define MC_PROGRESS_LINE_MAX ((size_t)4 << 20)

struct mc_progress {
    const char *what;
    const struct mc_image_progress *watch; /* NULL: nobody */
    struct mc_buf line;                    /* what has come of the current line */
    struct mc_buf last;                    /* the last text lines, for errors */
    char *id;                              /* "sha256:...": what was made, where a line said so */
};

void mc_progress_init(struct mc_progress *progress, const char *what, const struct mc_image_progress *watch);
void mc_progress_release(struct mc_progress *progress);

/* Takes the next bytes, cut anywhere. Fails with MC_ENGINE on a line that tells of an error. */
int mc_progress_feed(struct mc_progress *progress, const char *bytes, size_t length, struct mc_err *err) MC_CHECKED;
/* The answer has ended; takes a last line without its line feed. */
int mc_progress_end(struct mc_progress *progress, struct mc_err *err) MC_CHECKED;
