#include "protocol/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"

struct mc_journal {
    char *path;
    int fd;
    int failed;
    int64_t last_seq;
};

/* Reads the last `want` bytes before `end` of the file. */
static int read_before(int fd, off_t end, size_t want, char *out, const char *path, struct mc_err *err)
{
    size_t got = 0;
    while (got < want) {
        ssize_t n = pread(fd, out + got, want - got, end - (off_t)want + (off_t)got);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return mc_fail_errno(err, n < 0 ? errno : EIO, "reading %s", path);
        }
        got += (size_t)n;
    }
    return 0;
}

/* The file's last bytes: enough for a torn line and the whole line before it. */
static int read_tail(int fd, off_t size, struct mc_buf *tail, const char *path, struct mc_err *err)
{
    size_t most = 2 * MC_FRAME_MAX;
    size_t want = (uint64_t)size < most ? (size_t)size : most;
    char *room = mc_buf_room(tail, want);
    if (!room) {
        return mc_fail(err, MC_INTERNAL, "no room for the end of %s", path);
    }
    int rc = read_before(fd, size, want, room, path, err);
    if (rc == 0) {
        mc_buf_advance(tail, want);
    }
    return rc;
}

static int last_line_seq(const struct mc_buf *tail, size_t end, int64_t *seq, const char *path, struct mc_err *err)
{
    const char *text = mc_buf_text(tail);
    const char *before = end > 1 ? memrchr(text, '\n', end - 1) : NULL;
    const char *start = before ? before + 1 : text;
    struct mc_source source = {.name = path, .line = 0, .marks = NULL};
    MC_AUTOJSON json_t *frame = mc_json_parse(start, (size_t)(text + end - start), &source, err);
    struct mc_view root = mc_view_root(&source, frame);
    if (!frame || mc_view_is_object(&root, err) != 0 ||
        mc_read_int(&root, "seq", MC_REQUIRED, 1, INT64_MAX, seq, err) != 0) {
        mc_wrap(err, "the last line of the journal");
        return err->code = MC_PROTOCOL;
    }
    return 0;
}

static int recover(struct mc_journal *journal, struct mc_err *err)
{
    struct stat info;
    if (fstat(journal->fd, &info) != 0) {
        return mc_fail_errno(err, errno, "reading %s", journal->path);
    }
    if (info.st_size == 0) {
        return 0;
    }
    MC_AUTOBUF struct mc_buf tail = MC_BUF_INIT(2 * MC_FRAME_MAX);
    int rc = read_tail(journal->fd, info.st_size, &tail, journal->path, err);
    if (rc != 0) {
        return rc;
    }
    const char *newline = memrchr(tail.data, '\n', tail.len);
    size_t kept = newline ? (size_t)(newline - tail.data) + 1 : 0;
    if (kept == 0 && (size_t)info.st_size > tail.len) {
        return mc_fail(err, MC_PROTOCOL, "%s: its last %zu bytes hold no newline: it is not a journal", journal->path,
                       tail.len);
    }
    off_t end = info.st_size - (off_t)(tail.len - kept);
    if (end != info.st_size && (ftruncate(journal->fd, end) != 0 || fsync(journal->fd) != 0)) {
        return mc_fail_errno(err, errno, "cutting the torn last line off %s", journal->path);
    }
    return kept == 0 ? 0 : last_line_seq(&tail, kept, &journal->last_seq, journal->path, err);
}

int mc_journal_open(const char *path, struct mc_journal **out, struct mc_err *err)
{
    struct mc_journal *journal = mc_alloc(1, sizeof *journal);
    journal->path = mc_strdup(path);
    journal->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    MC_AUTOFREE char *dir = mc_path_dir(path);
    int rc = journal->fd < 0 ? mc_fail_errno(err, errno, "opening the journal %s", path) : recover(journal, err);
    if (rc == 0) {
        rc = mc_fs_sync_dir(dir, err);
    }
    if (rc != 0) {
        mc_journal_close(journal);
        return rc;
    }
    *out = journal;
    return 0;
}

void mc_journal_close(struct mc_journal *journal)
{
    if (!journal) {
        return;
    }
    if (journal->fd >= 0) {
        close(journal->fd);
    }
    free(journal->path);
    free(journal);
}

int64_t mc_journal_last_seq(const struct mc_journal *journal)
{
    return journal->last_seq;
}

int mc_journal_append(struct mc_journal *journal, int64_t seq, const char *line, size_t length, struct mc_err *err)
{
    if (journal->failed) {
        return mc_fail(err, MC_IO, "the journal %s takes no more frames after a failed write", journal->path);
    }
    if (seq != journal->last_seq + 1 || length == 0 || line[length - 1] != '\n') {
        return mc_fail(err, MC_INTERNAL, "frame %lld after %lld, or without a newline, is not for the journal",
                       (long long)seq, (long long)journal->last_seq);
    }
    int rc = mc_fs_write_all(journal->fd, line, length, journal->path, err);
    if (rc == 0 && fdatasync(journal->fd) != 0) {
        rc = mc_fail_errno(err, errno, "flushing %s", journal->path);
    }
    journal->failed = rc != 0;
    journal->last_seq = rc == 0 ? seq : journal->last_seq;
    return rc;
}

/* What mc_journal_read() carries from line to line. */
struct reading {
    enum mc_role from;
    int64_t after;
    int64_t seq; /* of the line before, 0: none yet */
    mc_journal_each *each;
    void *payload;
};

static int read_line(struct reading *reading, const char *line, size_t length, struct mc_err *err)
{
    struct mc_notice notice;
    int rc = mc_notice_decode(line, length, reading->from, &notice, err);
    if (rc != 0) {
        return rc;
    }
    if (notice.seq != reading->seq + 1) {
        rc = mc_fail(err, MC_PROTOCOL, "seq is %lld, expected %lld: frames are missing or repeated",
                     (long long)notice.seq, (long long)reading->seq + 1);
    } else if (notice.seq > reading->after) {
        rc = reading->each(reading->payload, line, length, &notice, err);
    }
    reading->seq = notice.seq;
    mc_notice_release(&notice);
    return rc;
}

int mc_journal_read(const char *bytes, size_t length, enum mc_role from, int64_t after, mc_journal_each *each,
                    void *payload, struct mc_err *err)
{
    struct reading reading = {.from = from, .after = after, .seq = 0, .each = each, .payload = payload};
    size_t line = 1;
    for (size_t at = 0; at < length; line++) {
        const char *newline = memchr(bytes + at, '\n', length - at);
        if (!newline) {
            return 0;
        }
        size_t size = (size_t)(newline - bytes) - at;
        int rc = read_line(&reading, bytes + at, size, err);
        if (rc != 0) {
            return mc_wrap(err, "journal, line %zu", line);
        }
        at += size + 1;
    }
    return 0;
}
