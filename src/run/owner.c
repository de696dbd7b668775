#include "run/owner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

/* Fields 3 and 22 of /proc/PID/stat, after the name in parentheses, which may hold anything (proc(5)). A process that
 * has ended and is not reaped yet counts as not found. */
static int start_ticks(long pid, unsigned long long *out, struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_strf("/proc/%ld/stat", pid);
    MC_AUTOBUF struct mc_buf text = MC_BUF_INIT(16384);
    int rc = mc_fs_read(path, &text, err);
    if (rc != 0) {
        return rc;
    }
    const char *p = strrchr(mc_buf_text(&text), ')');
    if (p && p[1] == ' ' && (p[2] == 'Z' || p[2] == 'X')) {
        return mc_fail(err, MC_NOT_FOUND, "the process %ld has ended", pid);
    }
    for (int field = 2; p && field < 22; field++) {
        p = strchr(p + 1, ' ');
    }
    if (!p) {
        return mc_fail(err, MC_INTERNAL, "%s is not as expected", path);
    }
    *out = strtoull(p + 1, NULL, 10);
    return 0;
}

static int boot_id(struct mc_buf *out, struct mc_err *err)
{
    int rc = mc_fs_read("/proc/sys/kernel/random/boot_id", out, err);
    if (rc == 0 && out->len > 0 && out->data[out->len - 1] == '\n') {
        out->data[--out->len] = '\0';
    }
    return rc;
}

static void host_name(char *out, size_t size)
{
    if (gethostname(out, size) != 0) {
        out[0] = '\0';
    }
    out[size - 1] = '\0';
    for (char *p = out; *p; p++) {
        if (*p == '/') {
            *p = '_';
        }
    }
}

int mc_owner_self(char **out, struct mc_err *err)
{
    char host[256];
    unsigned long long ticks = 0;
    MC_AUTOBUF struct mc_buf boot = MC_BUF_INIT(128);
    host_name(host, sizeof host);
    int rc = boot_id(&boot, err);
    rc = rc ? rc : start_ticks((long)getpid(), &ticks, err);
    if (rc == 0) {
        *out = mc_strf("%s/%s/%ld/%llu", host, mc_buf_text(&boot), (long)getpid(), ticks);
    }
    return rc;
}

enum mc_owner_state mc_owner_state(const char *owner)
{
    char host[256];
    struct mc_err err;
    MC_AUTOBUF struct mc_buf boot = MC_BUF_INIT(128);
    host_name(host, sizeof host);
    size_t length = strlen(host);
    if (strncmp(owner, host, length) != 0 || owner[length] != '/' || boot_id(&boot, &err) != 0) {
        return MC_OWNER_ELSEWHERE;
    }
    const char *rest = owner + length + 1;
    if (strncmp(rest, mc_buf_text(&boot), boot.len) != 0 || rest[boot.len] != '/') {
        return strchr(rest, '/') ? MC_OWNER_DEAD : MC_OWNER_ELSEWHERE; /* this host has been started again since */
    }
    char *end;
    long pid = strtol(rest + boot.len + 1, &end, 10);
    if (pid <= 0 || *end != '/') {
        return MC_OWNER_ELSEWHERE;
    }
    const char *ticks = end + 1;
    unsigned long long then = strtoull(ticks, &end, 10);
    if (end == ticks || *end) {
        return MC_OWNER_ELSEWHERE;
    }
    unsigned long long now = 0;
    int rc = start_ticks(pid, &now, &err);
    if (rc == 0) {
        return now == then ? MC_OWNER_ALIVE : MC_OWNER_DEAD;
    }
    return rc == MC_NOT_FOUND || err.sys == ESRCH ? MC_OWNER_DEAD : MC_OWNER_ELSEWHERE;
}
