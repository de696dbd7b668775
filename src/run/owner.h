/*
 * Who drives a run: host, boot, process, and when that process started. A process ID is used again after a while; with
 * its start time and the boot it is not.
 *
 * Ownership: mc_owner_self() gives a text that the caller frees.
 */
#pragma once

#include "base/err.h"

/* "host/boot-id/pid/start-ticks" of this process. */
int mc_owner_self(char **out, struct mc_err *err) MC_CHECKED;

enum mc_owner_state { MC_OWNER_ALIVE, MC_OWNER_DEAD, MC_OWNER_ELSEWHERE };

/* ELSEWHERE: another host, or a text that is not an owner's: nothing can be proved. */
enum mc_owner_state mc_owner_state(const char *owner);
