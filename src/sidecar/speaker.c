#include "sidecar/speaker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "protocol/journal.h"

enum { LISTENER_PATIENCE_MS = 60000 };

struct mc_speaker {
    pthread_mutex_t lock;
    struct mc_journal *journal;
    const struct mc_redactor *redactor;
    struct mc_cancel *trouble;
    int out_fd;
    int deaf; /* nobody reads standard output */
};

int mc_speaker_open(const char *journal, int out_fd, const struct mc_redactor *redactor, struct mc_cancel *trouble,
                    struct mc_speaker **out, struct mc_err *err)
{
    struct mc_journal *opened = NULL;
    int flags = fcntl(out_fd, F_GETFL);
    if (flags < 0 || fcntl(out_fd, F_SETFL, flags | O_NONBLOCK) != 0) {
        return mc_fail_errno(err, errno, "preparing standard output");
    }
    int rc = mc_journal_open(journal, &opened, err);
    if (rc != 0) {
        return rc;
    }
    struct mc_speaker *speaker = mc_alloc(1, sizeof *speaker);
    pthread_mutex_init(&speaker->lock, NULL);
    speaker->journal = opened;
    speaker->redactor = redactor;
    speaker->trouble = trouble;
    speaker->out_fd = out_fd;
    *out = speaker;
    return 0;
}

void mc_speaker_free(struct mc_speaker *speaker)
{
    if (speaker) {
        pthread_mutex_destroy(&speaker->lock);
        mc_journal_close(speaker->journal);
        free(speaker);
    }
}

/* Once a line could not be written whole, nothing more is: half a frame must stay the last thing. */
static void write_live(struct mc_speaker *speaker, const char *line, size_t length)
{
    struct mc_until until = mc_within(LISTENER_PATIENCE_MS, NULL);
    while (length > 0 && !speaker->deaf) {
        ssize_t n = write(speaker->out_fd, line, length);
        if (n >= 0) {
            line += n;
            length -= (size_t)n;
            continue;
        }
        struct mc_err ignored; /* the journal has the frame */
        int again = errno == EINTR ||
                    (errno == EAGAIN && mc_poll_fd(speaker->out_fd, POLLOUT, until, "standard output", &ignored) == 0);
        speaker->deaf = !again;
    }
}

int mc_speaker_say(struct mc_speaker *speaker, struct mc_notice *notice, struct mc_err *err)
{
    MC_AUTOBUF struct mc_buf raw = MC_BUF_OWN;
    MC_AUTOBUF struct mc_buf line = MC_BUF_OWN;
    pthread_mutex_lock(&speaker->lock);
    notice->seq = mc_journal_last_seq(speaker->journal) + 1;
    notice->has_at = 1;
    notice->at = mc_time_now();
    int rc = mc_notice_encode(notice, &raw, err);
    if (rc == 0) {
        mc_redact_bytes(speaker->redactor, raw.data, raw.len, &line);
        rc = mc_journal_append(speaker->journal, notice->seq, line.data, line.len, err);
    }
    if (rc == 0) {
        write_live(speaker, line.data, line.len);
    }
    pthread_mutex_unlock(&speaker->lock);
    if (rc != 0) {
        mc_cancel_raise(speaker->trouble);
    }
    return rc;
}

void mc_speaker_log(struct mc_speaker *speaker, const char *level, const char *format, ...)
{
    if (!speaker) {
        return;
    }
    va_list args;
    va_start(args, format);
    MC_AUTOFREE char *text = mc_vstrf(format, args);
    va_end(args);
    struct mc_err ignored;
    json_t *data = json_pack("{s:s, s:s}", "level", level, "text", text);
    struct mc_notice notice = {.type = MC_EVENT, .event = {.kind = MC_EVENT_LOG, .data = data}};
    int rc = data ? mc_speaker_say(speaker, &notice, &ignored) : 0;
    (void)rc; /* what fails has raised `trouble` */
    json_decref(data);
}
