/*
 * SHA-256, the one digest of memcal (FIPS 180-4, by OpenSSL's EVP).
 *
 * Ownership: mc_sha256_begin() allocates a context that mc_sha256_end() or mc_sha256_abandon() frees.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* 64 lower-case hexadecimal digits and a NUL. */
struct mc_digest {
    char hex[65];
};

struct mc_sha256;

struct mc_sha256 *mc_sha256_begin(void);
void mc_sha256_add(struct mc_sha256 *sha, const void *bytes, size_t length);
struct mc_digest mc_sha256_end(struct mc_sha256 *sha);
void mc_sha256_abandon(struct mc_sha256 *sha);

struct mc_digest mc_sha256_of(const void *bytes, size_t length);

/* True where `text` is 64 lower-case hexadecimal digits. */
int mc_is_digest(const char *text);
/* Checks `text` ("sha256:" before it is allowed) and copies it. */
int mc_digest_parse(const char *text, struct mc_digest *out, struct mc_err *err) MC_CHECKED;
