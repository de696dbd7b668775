/* Frames: what decodes, encodes to a line that decodes and encodes to the same line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void notice_again(const char *bytes, size_t size, enum mc_role from)
{
    struct mc_err err;
    struct mc_notice notice;
    MC_AUTOBUF struct mc_buf first = MC_BUF_OWN;
    MC_AUTOBUF struct mc_buf second = MC_BUF_OWN;
    if (mc_notice_decode(bytes, size, from, &notice, &err) != 0) {
        return;
    }
    int rc = mc_notice_encode(&notice, &first, &err);
    mc_notice_release(&notice);
    if (rc == MC_LIMIT) {
        return; /* escapes can make it longer than it came */
    }
    if (rc != 0 || mc_notice_decode(first.data, first.len - 1, from, &notice, &err) != 0 ||
        mc_notice_encode(&notice, &second, &err) != 0 || strcmp(first.data, second.data) != 0) {
        abort();
    }
    mc_notice_release(&notice);
}

static void command_again(const char *bytes, size_t size)
{
    struct mc_err err;
    struct mc_command command;
    MC_AUTOBUF struct mc_buf first = MC_BUF_OWN;
    MC_AUTOBUF struct mc_buf second = MC_BUF_OWN;
    if (mc_command_decode(bytes, size, &command, &err) != 0) {
        return;
    }
    int rc = mc_command_encode(&command, &first, &err);
    mc_command_release(&command);
    if (rc == MC_LIMIT) {
        return;
    }
    if (rc != 0 || mc_command_decode(first.data, first.len - 1, &command, &err) != 0 ||
        mc_command_encode(&command, &second, &err) != 0 || strcmp(first.data, second.data) != 0) {
        abort();
    }
    mc_command_release(&command);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    notice_again(bytes, size, MC_HARNESS);
    notice_again(bytes, size, MC_PROVIDER);
    notice_again(bytes, size, MC_SIDECAR);
    command_again(bytes, size);
    return 0;
}
