#include "store/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"

struct mc_events {
    char *path;
    int fd;
    json_int_t seq;
    off_t end; /* of the last whole line */
    const struct mc_redactor *redactor;
};

/* Cuts off what follows the last whole line. */
static int cut(const struct mc_events *events, struct mc_err *err)
{
    return ftruncate(events->fd, events->end) == 0 ? 0 : mc_fail_errno(err, errno, "mending %s", events->path);
}

/* Counts the whole lines and cuts what follows the last of them. */
static int recover(struct mc_events *events, struct mc_err *err)
{
    char bytes[65536];
    off_t end = 0;
    off_t whole = 0;
    for (;;) {
        ssize_t n = pread(events->fd, bytes, sizeof bytes, end);
        if (n < 0) {
            return mc_fail_errno(err, errno, "reading %s", events->path);
        }
        if (n == 0) {
            break;
        }
        for (ssize_t i = 0; i < n; i++) {
            if (bytes[i] == '\n') {
                events->seq++;
                whole = end + i + 1;
            }
        }
        end += n;
    }
    events->end = whole;
    return whole == end ? 0 : cut(events, err);
}

int mc_events_open(struct mc_store *store, const char *run, const struct mc_redactor *redactor, struct mc_events **out,
                   struct mc_err *err)
{
    MC_AUTOFREE char *dir = NULL;
    int rc = mc_store_run_dir(store, run, &dir, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_events *events = mc_alloc(1, sizeof *events);
    events->path = mc_path_join(dir, "events.jsonl");
    events->redactor = redactor;
    events->fd = open(events->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (events->fd < 0) {
        rc = mc_fail_errno(err, errno, "opening %s", events->path);
    }
    if (rc == 0) {
        rc = recover(events, err);
    }
    if (rc == 0) {
        rc = mc_fs_sync_dir(dir, err);
    }
    if (rc != 0) {
        mc_events_close(events);
        return rc;
    }
    *out = events;
    return 0;
}

int mc_events_add(struct mc_events *events, const char *type, json_t *data, struct mc_err *err)
{
    MC_AUTOJSON json_t *line = json_object();
    json_object_set_new(line, "seq", json_integer(events->seq + 1));
    json_object_set_new(line, "at", json_string(mc_store_now().text));
    json_object_set_new(line, "type", json_string(type));
    if (data) {
        json_object_update_missing(line, data);
        json_decref(data);
    }
    MC_AUTOFREE char *text = mc_json_text(line);
    MC_AUTOBUF struct mc_buf out = MC_BUF_OWN;
    if (events->redactor) {
        mc_redact_bytes(events->redactor, text, strlen(text), &out);
    } else {
        mc_buf_puts(&out, text);
    }
    mc_buf_putc(&out, '\n');
    int rc = mc_fs_write_all(events->fd, out.data, out.len, events->path, err);
    if (rc == 0) {
        events->seq++;
        events->end += (off_t)out.len;
        return 0;
    }
    struct mc_err second;
    if (cut(events, &second) != 0) {
        mc_hint(err, "%s", second.text); /* the part that stays is cut off when the log is opened again */
    }
    return rc;
}

int mc_events_flush(struct mc_events *events, struct mc_err *err)
{
    return fdatasync(events->fd) == 0 ? 0 : mc_fail_errno(err, errno, "flushing %s", events->path);
}

void mc_events_close(struct mc_events *events)
{
    if (events) {
        mc_close_at(&events->fd);
        free(events->path);
        free(events);
    }
}
