/*
 * LoCoMo's data, which may be tested against but never be part of the repository: MEMCAL_LOCOMO, or
 * ../shared/data/locomo10.zip beside the source tree. Continuous integration (CI set) has it; elsewhere a test without
 * it says so and counts as skipped.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline const char *locomo_or_skip(void)
{
    const char *path = getenv("MEMCAL_LOCOMO");
    path = path ? path : TEST_SOURCE_DIR "/../../shared/data/locomo10.zip";
    if (access(path, R_OK) != 0) {
        printf("no LoCoMo data at %s: name locomo10.zip in the environment variable MEMCAL_LOCOMO\n", path);
        if (getenv("CI")) {
            fail();
        }
        skip();
    }
    return path;
}
