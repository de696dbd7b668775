/*
 * Driving a harness: turns, sessions, and the tools that it may offer to the model.
 *
 * Ownership: mc_turn_outcome_release() frees what an outcome holds; everything else is borrowed.
 */
#pragma once

#include "base/usage.h"
#include "hermes/harness.h"
#include "protocol/talk.h"

enum mc_turn_end {
    MC_TURN_ANSWERED,
    MC_TURN_LATE,   /* the deadline passed; the program stopped the turn, and was seen to */
    MC_TURN_STUCK,  /* the deadline passed, and the program did not stop the turn when told to */
    MC_TURN_POLICY, /* a tool outside the allowed set was called or offered */
    MC_TURN_ERROR,  /* the program says that the turn failed */
};

struct mc_turn_outcome {
    enum mc_turn_end end;
    char *answer;  /* NULL where there is none; with MC_TURN_LATE it is late evidence, never graded */
    char *message; /* why, where it is not MC_TURN_ANSWERED */
    struct mc_usage usage;
    int64_t latency_ms; /* real time from the frame sent to the answer received */
};

/* Time that a program has beyond its deadline to stop a turn by itself, and again after `turn.cancel`. */
enum { MC_TURN_GRACE_MS = 5000 };

/* Checks what `ready` says against the manifest: version, and exactly the allowed tools (a JSON list of names). */
int mc_harness_check_ready(const struct mc_harness *harness, const struct mc_ready *ready, const json_t *allow,
                           struct mc_err *err) MC_CHECKED;

/* One turn or probe, to its end. Fails only where the program or the engine fails (MC_CLOSED, MC_PROTOCOL, ...) or the
 * run is cancelled; how the turn ended is in *out. */
int mc_harness_turn(const struct mc_talk *talk, const struct mc_turn_start *turn, struct mc_turn_outcome *out,
                    const struct mc_cancel *cancel, struct mc_err *err) MC_CHECKED;
void mc_turn_outcome_release(struct mc_turn_outcome *outcome);

/* Ends a session and waits until all that it owes to memory is written. */
int mc_harness_end_session(const struct mc_talk *talk, const char *session, struct mc_until until,
                           struct mc_err *err) MC_CHECKED;
