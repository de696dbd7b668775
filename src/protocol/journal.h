/*
 * A program's journal: every frame that it sent, as sent, one a line (docs/protocol.md, "The journal").
 *
 * Ownership: mc_journal_open() allocates, mc_journal_close() frees (NULL allowed). Not safe for threads.
 */
#pragma once

#include <stdint.h>

#include "protocol/frame.h"

struct mc_journal;

/* Opens or makes the file, and cuts off a last line that has no newline (a write that a crash stopped). */
int mc_journal_open(const char *path, struct mc_journal **out, struct mc_err *err) MC_CHECKED;
void mc_journal_close(struct mc_journal *journal);

/* `seq` of the last whole line, 0 in an empty journal. */
int64_t mc_journal_last_seq(const struct mc_journal *journal);

/* Appends a line that ends in a newline and has the next `seq`; it is on the disk when this returns 0. After a failure
 * the journal takes no more. */
int mc_journal_append(struct mc_journal *journal, int64_t seq, const char *line, size_t length,
                      struct mc_err *err) MC_CHECKED;

/* Called with each frame; `line` is without its newline. Non-zero stops the reading with that result. */
typedef int mc_journal_each(void *payload, const char *line, size_t length, const struct mc_notice *notice,
                            struct mc_err *err);

/* Goes through the frames with a `seq` above `after` in the bytes of a journal, and checks each, and that none is
 * missing. A last line without newline is ignored. */
int mc_journal_read(const char *bytes, size_t length, enum mc_role from, int64_t after, mc_journal_each *each,
                    void *payload, struct mc_err *err) MC_CHECKED;
