/* Journals: read from any bytes, in order and without a gap; and recovered from a file of any bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "protocol/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int in_order(void *payload, const char *line, size_t length, const struct mc_notice *notice, struct mc_err *err)
{
    int64_t *last = payload;
    (void)err;
    if ((*last != 0 && notice->seq != *last + 1) || line[length] != '\n') {
        abort();
    }
    *last = notice->seq;
    return 0;
}

static void recover(const char *bytes, size_t size)
{
    struct mc_err err;
    struct mc_journal *journal = NULL;
    MC_AUTOCLOSE int fd = memfd_create("journal", MFD_CLOEXEC);
    if (fd < 0 || mc_fs_write_all(fd, bytes, size, "the journal", &err) != 0) {
        abort();
    }
    MC_AUTOFREE char *path = mc_strf("/proc/self/fd/%d", fd);
    if (mc_journal_open(path, &journal, &err) == 0) {
        int64_t last = mc_journal_last_seq(journal);
        if (last < INT64_MAX && mc_journal_append(journal, last + 1, "{}\n", 3, &err) != 0) {
            abort();
        }
        mc_journal_close(journal);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mc_err err;
    int64_t last = 0;
    const char *bytes = (const char *)data;
    int rc = mc_journal_read(bytes, size, MC_SIDECAR, 0, in_order, &last, &err);
    (void)rc;
    recover(bytes, size);
    return 0;
}
