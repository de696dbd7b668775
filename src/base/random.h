/*
 * xoshiro256** 1.0 seeded through SplitMix64 (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
 * ACM TOMS 47(4), 2021; reference code at https://prng.di.unimi.it): the same seed gives the same numbers everywhere.
 *
 * Ownership: a value, copied freely.
 */
#pragma once

#include <stdint.h>

struct mc_random {
    uint64_t state[4];
};

struct mc_random mc_random_from(uint64_t seed);
uint64_t mc_random_next(struct mc_random *random);
/* A number below `bound` (at least 1), each as likely. */
uint64_t mc_random_below(struct mc_random *random, uint64_t bound);
