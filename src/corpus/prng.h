/*
 * xoshiro256** 1.0 seeded through SplitMix64 (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
 * ACM TOMS 47(4), 2021; reference code at https://prng.di.unimi.it): the same seed gives the same numbers everywhere.
 *
 * Ownership: a value, copied freely.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mc_prng {
    uint64_t state[4];
};

struct mc_prng mc_prng_seed(uint64_t seed);
uint64_t mc_prng_next(struct mc_prng *prng);
/* A number below `bound` (at least 1), each as likely. */
size_t mc_prng_below(struct mc_prng *prng, size_t bound);
