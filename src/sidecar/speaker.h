/*
 * What the sidecar says: each frame goes to the journal, flushed, and then to standard output.
 *
 * The journal is what counts. Where nobody reads standard output any more, speaking goes on into the journal alone;
 * where the journal cannot be written, everything must stop, and `trouble` is raised.
 *
 * Ownership: mc_speaker_open() allocates, mc_speaker_free() frees (NULL allowed). Safe for threads.
 */
#pragma once

#include "base/redact.h"
#include "base/until.h"
#include "protocol/frame.h"

struct mc_speaker;

/* The redactor and `trouble` are borrowed and outlive the speaker. */
int mc_speaker_open(const char *journal, int out_fd, const struct mc_redactor *redactor, struct mc_cancel *trouble,
                    struct mc_speaker **out, struct mc_err *err) MC_CHECKED;
void mc_speaker_free(struct mc_speaker *speaker);

/* Gives the notice its `seq` and `at` and sends it. It is on the disk when this returns 0. */
int mc_speaker_say(struct mc_speaker *speaker, struct mc_notice *notice, struct mc_err *err) MC_CHECKED;

/* An event `log`; that it could not be said is shown by `trouble`. NULL: nobody listens. */
void mc_speaker_log(struct mc_speaker *speaker, const char *level, const char *format, ...) MC_PRINTF(3, 4);
