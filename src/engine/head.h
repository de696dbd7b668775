/*
 * The head of an HTTP/1.1 answer on a connection that becomes a raw stream (RFC 9112 sections 4 and 5, what an engine
 * sends of it).
 *
 * Ownership: values only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define MC_HEAD_MAX ((size_t)64 << 10)

struct mc_head {
    int status;
    int chunked;
    int64_t length; /* of the body, -1 where it is not given */
    size_t size;    /* bytes of the head itself, with the empty line */
};

/* 1: complete; 0: more bytes are needed; negative: not an HTTP answer, or larger than MC_HEAD_MAX. */
int mc_head_parse(const char *bytes, size_t length, struct mc_head *out, struct mc_err *err) MC_CHECKED;
