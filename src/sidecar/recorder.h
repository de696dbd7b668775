/*
 * Recorded bodies: files named by the SHA-256 of what they hold, with every secret taken out before it is written.
 *
 * A body is written in pieces under a temporary name with bounded memory, then flushed and renamed; the same content
 * stands there once.
 *
 * Ownership: mc_recording_begin() allocates; mc_recording_end() or mc_recording_abandon() frees. A recorder is not
 * changed after mc_recorder_init() and may be shared by threads; a recording belongs to one.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/redact.h"
#include "base/sha256.h"

struct mc_recorder {
    char *dir;
    const struct mc_redactor *redactor;
};

/* Makes the folder, and removes what an earlier life left half written. */
int mc_recorder_init(struct mc_recorder *recorder, const char *dir, const struct mc_redactor *redactor,
                     struct mc_err *err) MC_CHECKED;
void mc_recorder_release(struct mc_recorder *recorder);

struct mc_recorded {
    struct mc_digest digest;
    int64_t bytes;
};

struct mc_recording;

/* NULL with *err where it cannot be begun. */
struct mc_recording *mc_recording_begin(const struct mc_recorder *recorder, struct mc_err *err) MC_CHECKED;
int mc_recording_add(struct mc_recording *recording, const void *bytes, size_t length, struct mc_err *err) MC_CHECKED;
int mc_recording_end(struct mc_recording *recording, struct mc_recorded *out, struct mc_err *err) MC_CHECKED;
void mc_recording_abandon(struct mc_recording *recording); /* NULL allowed */

/* All of it at once. */
int mc_record(const struct mc_recorder *recorder, const void *bytes, size_t length, struct mc_recorded *out,
              struct mc_err *err) MC_CHECKED;
