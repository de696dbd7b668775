/* A corpus listing from elsewhere: whatever is accepted is written back byte for byte. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "corpus/digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mc_err err;
    MC_AUTOLISTING struct mc_listing listing;
    if (mc_listing_parse((const char *)data, size, &listing, &err) != 0) {
        return 0;
    }
    MC_AUTOFREE char *text = mc_listing_text(&listing);
    if (strlen(text) != size || memcmp(text, data, size) != 0) {
        abort();
    }
    return 0;
}
