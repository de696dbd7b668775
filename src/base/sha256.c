#include "base/sha256.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct mc_sha256 {
    EVP_MD_CTX *context;
};

/* EVP's SHA-256 fails only where OpenSSL cannot allocate or has no such digest: nothing goes on without it. */
static void must(int ok)
{
    if (ok != 1) {
        abort();
    }
}

struct mc_sha256 *mc_sha256_begin(void)
{
    struct mc_sha256 *sha = mc_alloc(1, sizeof *sha);
    sha->context = EVP_MD_CTX_new();
    must(sha->context != NULL);
    must(EVP_DigestInit_ex(sha->context, EVP_sha256(), NULL));
    return sha;
}

void mc_sha256_add(struct mc_sha256 *sha, const void *bytes, size_t length)
{
    must(EVP_DigestUpdate(sha->context, bytes, length));
}

struct mc_digest mc_sha256_end(struct mc_sha256 *sha)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    must(EVP_DigestFinal_ex(sha->context, raw, &length));
    struct mc_digest digest;
    for (size_t i = 0; i < 32; i++) {
        digest.hex[2 * i] = digits[raw[i] >> 4];
        digest.hex[2 * i + 1] = digits[raw[i] & 15U];
    }
    digest.hex[64] = '\0';
    mc_sha256_abandon(sha);
    return digest;
}

void mc_sha256_abandon(struct mc_sha256 *sha)
{
    if (sha) {
        EVP_MD_CTX_free(sha->context);
        free(sha);
    }
}

struct mc_digest mc_sha256_of(const void *bytes, size_t length)
{
    struct mc_sha256 *sha = mc_sha256_begin();
    mc_sha256_add(sha, bytes, length);
    return mc_sha256_end(sha);
}

int mc_is_digest(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

int mc_digest_parse(const char *text, struct mc_digest *out, struct mc_err *err)
{
    const char *hex = mc_starts_with(text, "sha256:") ? text + 7 : text;
    if (!mc_is_digest(hex)) {
        return mc_fail(err, MC_INPUT, "\"%.80s\" is not a SHA-256 digest (64 hexadecimal digits)", text);
    }
    memcpy(out->hex, hex, sizeof out->hex);
    return 0;
}
