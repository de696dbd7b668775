#include "sidecar/recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

static const char unfinished[] = "part."; /* how the names of unfinished bodies begin */

struct mc_recording {
    const struct mc_recorder *recorder;
    struct mc_redact_stream secrets;
    struct mc_buf clean;
    struct mc_sha256 *sha;
    char *temporary;
    int fd;
    int64_t bytes;
};

int mc_recorder_init(struct mc_recorder *recorder, const char *dir, const struct mc_redactor *redactor,
                     struct mc_err *err)
{
    int rc = mc_fs_mkdirs(dir, err);
    if (rc != 0) {
        return rc;
    }
    DIR *entries = opendir(dir);
    if (!entries) {
        return mc_fail_errno(err, errno, "reading the folder %s", dir);
    }
    const struct dirent *entry;
    while ((entry = readdir(entries)) != NULL) {
        if (mc_starts_with(entry->d_name, unfinished)) {
            unlinkat(dirfd(entries), entry->d_name, 0);
        }
    }
    closedir(entries);
    *recorder = (struct mc_recorder){.dir = mc_strdup(dir), .redactor = redactor};
    return 0;
}

void mc_recorder_release(struct mc_recorder *recorder)
{
    free(recorder->dir);
    recorder->dir = NULL;
}

struct mc_recording *mc_recording_begin(const struct mc_recorder *recorder, struct mc_err *err)
{
    MC_AUTOFREE char *temporary = mc_strf("%s/%sXXXXXX", recorder->dir, unfinished);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        mc_fail_errno(err, errno, "recording a body in %s", recorder->dir);
        return NULL;
    }
    struct mc_recording *recording = mc_alloc(1, sizeof *recording);
    recording->recorder = recorder;
    mc_redact_stream_init(&recording->secrets, recorder->redactor);
    recording->clean = MC_BUF_OWN;
    recording->sha = mc_sha256_begin();
    recording->temporary = mc_steal(&temporary);
    recording->fd = fd;
    return recording;
}

/* Writes what has been cleared of secrets. */
static int write_clean(struct mc_recording *recording, struct mc_err *err)
{
    struct mc_buf *clean = &recording->clean;
    if (clean->len == 0) {
        return 0;
    }
    int rc = mc_fs_write_all(recording->fd, clean->data, clean->len, recording->temporary, err);
    mc_sha256_add(recording->sha, clean->data, clean->len);
    recording->bytes += (int64_t)clean->len;
    mc_buf_clear(clean);
    return rc;
}

int mc_recording_add(struct mc_recording *recording, const void *bytes, size_t length, struct mc_err *err)
{
    mc_redact_stream_add(&recording->secrets, bytes, length, &recording->clean);
    return write_clean(recording, err);
}

static void recording_free(struct mc_recording *recording)
{
    struct mc_buf rest = MC_BUF_OWN;
    mc_redact_stream_end(&recording->secrets, &rest);
    mc_buf_release(&rest);
    mc_buf_release(&recording->clean);
    if (recording->sha) {
        mc_sha256_abandon(recording->sha);
    }
    close(recording->fd);
    free(recording->temporary);
    free(recording);
}

void mc_recording_abandon(struct mc_recording *recording)
{
    if (recording) {
        unlink(recording->temporary);
        recording_free(recording);
    }
}

/* Gives the finished file its name. */
static int keep(struct mc_recording *recording, const struct mc_digest *digest, struct mc_err *err)
{
    const char *dir = recording->recorder->dir;
    MC_AUTOFREE char *path = mc_path_join(dir, digest->hex);
    if (fchmod(recording->fd, 0644) != 0 || fsync(recording->fd) != 0) {
        return mc_fail_errno(err, errno, "flushing %s", recording->temporary);
    }
    if (rename(recording->temporary, path) != 0) {
        return mc_fail_errno(err, errno, "renaming %s to %s", recording->temporary, path);
    }
    return mc_fs_sync_dir(dir, err);
}

int mc_recording_end(struct mc_recording *recording, struct mc_recorded *out, struct mc_err *err)
{
    mc_redact_stream_end(&recording->secrets, &recording->clean);
    int rc = write_clean(recording, err);
    out->digest = mc_sha256_end(mc_steal(&recording->sha));
    out->bytes = recording->bytes;
    rc = rc != 0 ? rc : keep(recording, &out->digest, err);
    if (rc != 0) {
        mc_recording_abandon(recording);
        return rc;
    }
    recording_free(recording);
    return 0;
}

int mc_record(const struct mc_recorder *recorder, const void *bytes, size_t length, struct mc_recorded *out,
              struct mc_err *err)
{
    struct mc_recording *recording = mc_recording_begin(recorder, err);
    if (!recording) {
        return err->code;
    }
    int rc = mc_recording_add(recording, bytes, length, err);
    if (rc != 0) {
        mc_recording_abandon(recording);
        return rc;
    }
    return mc_recording_end(recording, out, err);
}
