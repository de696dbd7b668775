/*
 * What the benchmarks share: the engine they run on, the end of a benchmark that cannot be made, and medians.
 *
 * Ownership: endpoints are the caller's; samples are borrowed (and sorted).
 */
#pragma once

#include <stddef.h>

#include "engine/find.h"
#include "engine/object.h"

struct mc_engine;

/* Prints the sentence (and what to do, where `hint` is not empty) and exits with 1. */
_Noreturn void bench_die(const char *hint, const char *format, ...) MC_PRINTF(2, 3);

/* For calls of memcal's own library: dies with their error. */
#define bench_ok(call)                               \
    do {                                             \
        struct mc_err fault = {.code = MC_OK};       \
        if ((call) != 0) {                           \
            bench_die(fault.hint, "%s", fault.text); \
        }                                            \
    } while (0)

/* The first engine that MEMCAL_TEST_ENGINES lists; dies where it lists none. */
void bench_endpoint(struct mc_endpoint *out);

/* Removes every container and volume with these labels; returns how many there were. Says what it cannot remove. */
size_t bench_sweep(struct mc_engine *engine, struct mc_labels labels);

struct bench_spread {
    double median;
    double least;
    double most;
};

/* Sorts the samples. */
struct bench_spread bench_spread_of(double *samples, size_t count);

/* Real milliseconds since some moment, with fractions. */
double bench_now_ms(void);
