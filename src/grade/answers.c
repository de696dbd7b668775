#include "grade/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

int mc_answer_parse(const void *bytes, size_t length, const char *name, int line, mc_answer_fn *each, void *arg,
                    struct mc_err *err)
{
    static const char *const keys[] = {"life", "checkpoint", "answer", "ended", "harness", "repetition", NULL};
    struct mc_source source = {.name = name, .line = line, .marks = NULL};
    MC_AUTOJSON json_t *root = mc_json_parse(bytes, length, &source, err);
    if (!root) {
        return err->code;
    }
    struct mc_view view = mc_view_root(&source, root);
    struct mc_answer answer = {.answer = "", .harness = "", .repetition = 1, .line = line};
    int ended = MC_ENDED_COMPLETED;
    int rc = mc_view_is_object(&view, err);
    rc = rc ? rc : mc_only_keys(&view, keys, err);
    rc = rc ? rc : mc_read_id(&view, "life", MC_REQUIRED, &answer.life, err);
    rc = rc ? rc : mc_read_id(&view, "checkpoint", MC_REQUIRED, &answer.checkpoint, err);
    rc = rc ? rc : mc_read_choice(&view, "ended", MC_OPTIONAL, mc_ended_names, &ended, err);
    enum mc_need need = ended == MC_ENDED_COMPLETED ? MC_REQUIRED : MC_OPTIONAL;
    rc = rc ? rc : mc_read_string(&view, "answer", need, &answer.answer, err);
    rc = rc ? rc : mc_read_id(&view, "harness", MC_OPTIONAL, &answer.harness, err);
    rc = rc ? rc : mc_read_int(&view, "repetition", MC_OPTIONAL, 1, 1000000, &answer.repetition, err);
    if (rc != 0) {
        return rc;
    }
    if (strlen(answer.answer) > MC_ANSWER_MAX) {
        struct mc_view text = mc_view_member(&view, "answer");
        mc_view_fail(&text, err, "an answer of %zu bytes", strlen(answer.answer));
        return mc_hint(err, "answers may have up to %d bytes", MC_ANSWER_MAX);
    }
    answer.ended = (enum mc_ended)ended;
    return each(arg, &answer, err);
}

struct stream {
    const char *path;
    mc_answer_fn *each;
    mc_bad_answer_fn *bad;
    void *arg;
    int line;
    int overlong;    /* the rest of a line that was refused is skipped */
    int from_caller; /* the last failure came from `each`, not from the line */
};

/* Tells the caller's own failures from those of the line. */
static int pass_on(void *arg, const struct mc_answer *answer, struct mc_err *err)
{
    struct stream *s = arg;
    int rc = s->each(s->arg, answer, err);
    s->from_caller = rc != 0;
    return rc;
}

static int refuse(struct stream *s, struct mc_err *err)
{
    return s->bad ? s->bad(s->arg, err) : (int)err->code;
}

static int take_line(struct stream *s, const char *bytes, size_t length, struct mc_err *err)
{
    s->line++;
    if (length > 0 && bytes[length - 1] == '\r') {
        length--;
    }
    if (length == 0) {
        return 0;
    }
    s->from_caller = 0;
    int rc = mc_answer_parse(bytes, length, s->path, s->line, pass_on, s, err);
    return rc != 0 && !s->from_caller ? refuse(s, err) : rc;
}

static int refuse_overlong(struct stream *s, struct mc_err *err)
{
    s->line++;
    s->overlong = 1;
    mc_fail(err, MC_LIMIT, "%s:%d: the line is longer than %d bytes", s->path, s->line, MC_ANSWERS_MAX_LINE);
    mc_hint(err, "write one answer a line");
    return refuse(s, err);
}

/* Takes every whole line out of the buffer. */
static int take_lines(struct stream *s, struct mc_buf *buf, struct mc_err *err)
{
    size_t at = 0;
    const char *end;
    while (at < buf->len && (end = memchr(buf->data + at, '\n', buf->len - at)) != NULL) {
        size_t length = (size_t)(end - (buf->data + at));
        int rc = s->overlong ? 0 : take_line(s, buf->data + at, length, err);
        s->overlong = 0;
        at += length + 1;
        if (rc != 0) {
            return rc;
        }
    }
    mc_buf_drop(buf, at);
    if (s->overlong) {
        mc_buf_clear(buf);
    } else if (buf->len > MC_ANSWERS_MAX_LINE) {
        mc_buf_clear(buf);
        return refuse_overlong(s, err);
    }
    return 0;
}

int mc_answers_read(const char *path, struct mc_until until, mc_answer_fn *each, mc_bad_answer_fn *bad, void *arg,
                    struct mc_err *err)
{
    enum { CHUNK = 64 << 10 };
    MC_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return mc_fail_errno(err, errno, "cannot read %s", path);
    }
    struct stream s = {.path = path, .each = each, .bad = bad, .arg = arg};
    MC_AUTOBUF struct mc_buf buf = MC_BUF_INIT((size_t)MC_ANSWERS_MAX_LINE + 2 * (size_t)CHUNK);
    for (;;) {
        int rc = mc_check(until, "reading the answers", err);
        if (rc != 0) {
            return rc;
        }
        char *room = mc_buf_room(&buf, CHUNK);
        if (!room) {
            return mc_fail(err, MC_INTERNAL, "%s: no room for a line", path);
        }
        ssize_t got = read(fd, room, CHUNK);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return mc_fail_errno(err, errno, "cannot read %s", path);
        }
        if (got == 0) {
            return buf.len > 0 && !s.overlong ? take_line(&s, buf.data, buf.len, err) : 0;
        }
        mc_buf_advance(&buf, (size_t)got);
        rc = take_lines(&s, &buf, err);
        if (rc != 0) {
            return rc;
        }
    }
}
