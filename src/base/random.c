#include "base/random.h"

static uint64_t rotate(uint64_t value, int count)
{
    return (value << count) | (value >> (64 - count));
}

static uint64_t split_mix(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct mc_random mc_random_from(uint64_t seed)
{
    struct mc_random random;
    for (int i = 0; i < 4; i++) {
        random.state[i] = split_mix(&seed);
    }
    return random;
}

uint64_t mc_random_next(struct mc_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t mc_random_below(struct mc_random *random, uint64_t bound)
{
    /* Numbers past the last whole multiple of `bound` would favour the small ones. */
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t value;
    do {
        value = mc_random_next(random);
    } while (value >= limit);
    return value % bound;
}
