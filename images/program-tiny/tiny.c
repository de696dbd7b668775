/* A program of the protocol in one static file: a harness that answers from its configuration and a provider that takes
   everything and keeps nothing. Its `behaviour` breaks it on purpose, for tests of what runs it. docs/protocol.md. */
#include "tiny.h"
#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define JOURNAL "/memcal/out/frames.jsonl"
#define MAX_FRAME (8L * 1024 * 1024)

static const char default_answer[] = "I do not know";

/* What the journal says was answered: a turn, a batch or a night, and the frame's own keys for saying it again. */
struct record {
    struct record *next;
    char *id;   /* "turn ID", "batch ID", "night ID" */
    char *rest; /* keys from "type" on, without seq */
};

struct program {
    struct json *init;
    const char *behaviour;
    long slow_ms;
    int journal;
    long seq;
    long operations;
    struct record *records;
    struct text input;
    bool ended; /* standard input */
    /* The turn in hand, if any. */
    char *turn;
    char *answer;
    struct timespec due, deadline;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "tiny: %s\n", what);
    exit(1);
}

static void write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, data, length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return; /* the controller is gone; the journal has it */
        data += written;
        length -= (size_t)written;
    }
}

static const struct record *record_find(const struct program *p, const char *kind, const char *id)
{
    size_t length = strlen(kind);

    for (const struct record *r = p->records; r != NULL; r = r->next)
        if (strncmp(r->id, kind, length) == 0 && r->id[length] == ' ' && strcmp(r->id + length + 1, id) == 0)
            return r;
    return NULL;
}

static void record_add(struct program *p, const char *kind, const char *id, const char *rest)
{
    struct record *r = calloc(1, sizeof *r);

    if (r == NULL || asprintf(&r->id, "%s %s", kind, id) < 0 || (r->rest = strdup(rest)) == NULL)
        abort();
    r->next = p->records;
    p->records = r;
}

/* Journal and send one frame whose keys from "type" on are given. */
static void send_frame(struct program *p, const char *rest)
{
    struct text line = {0};

    text_put(&line, "{\"seq\":");
    text_put_number(&line, ++p->seq);
    text_put(&line, ",");
    text_put(&line, rest);
    text_put(&line, "}\n");
    write_all(p->journal, line.data, line.length);
    if (fsync(p->journal) < 0)
        die("the journal cannot be flushed");
    write_all(STDOUT_FILENO, line.data, line.length);
    text_free(&line);
}

static void put_key(struct text *out, const char *key, const char *value)
{
    text_put(out, out->length > 0 ? "," : "");
    text_put_json(out, key);
    text_put(out, ":");
    text_put_json(out, value);
}

static void send_turn_end(struct program *p, const char *type, const char *key, const char *value, const char *message)
{
    struct text rest = {0};

    put_key(&rest, "type", type);
    put_key(&rest, "turn", p->turn);
    put_key(&rest, key, value);
    if (message != NULL)
        put_key(&rest, "message", message);
    record_add(p, "turn", p->turn, rest.data);
    send_frame(p, rest.data);
    text_free(&rest);
    free(p->turn);
    free(p->answer);
    p->turn = p->answer = NULL;
}

/* One frame of the journal, at the start: count it, and remember what it answered. */
static void journal_note(struct program *p, const char *line, size_t length)
{
    struct json *frame = json_parse(line, length);
    const char *type = json_text(frame, "type");
    const char *rest = memchr(line, ',', length);

    if (type == NULL || rest == NULL)
        die("the journal holds a line that is no frame");
    p->seq++;
    /* Each line is {"seq":N,REST}. */
    char *keys = strndup(rest + 1, length - (size_t)(rest + 1 - line) - 1);

    if (keys == NULL)
        abort();
    if (strncmp(type, "turn.", 5) == 0) {
        record_add(p, "turn", json_text(frame, "turn"), keys);
    } else if (strcmp(type, "accepted") == 0) {
        const char *kind = json_text(frame, "batch") != NULL ? "batch" : "night";

        record_add(p, kind, json_text(frame, kind), keys);
        p->operations++;
    } else if (strcmp(type, "operation") == 0) {
        record_add(p, "operation", json_text(frame, "operation"), keys);
    }
    free(keys);
    json_free(frame);
}

static void journal_open(struct program *p)
{
    struct text all = {0};
    char block[65536];
    size_t whole = 0;
    ssize_t got;
    char *end;

    p->journal = open(JOURNAL, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (p->journal < 0)
        die("cannot open " JOURNAL);
    while ((got = read(p->journal, block, sizeof block)) > 0)
        text_add(&all, block, (size_t)got);
    while (whole < all.length && (end = memchr(all.data + whole, '\n', all.length - whole)) != NULL) {
        journal_note(p, all.data + whole, (size_t)(end - all.data) - whole);
        whole = (size_t)(end - all.data) + 1;
    }
    /* A last line without its newline was cut by a kill. */
    if (ftruncate(p->journal, (off_t)whole) < 0 || lseek(p->journal, 0, SEEK_END) < 0)
        die("cannot mend " JOURNAL);
    text_free(&all);
}

static struct timespec after_ms(long ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static long ms_until(struct timespec t)
{
    struct timespec now;
    long ms;

    clock_gettime(CLOCK_MONOTONIC, &now);
    ms = (t.tv_sec - now.tv_sec) * 1000 + (t.tv_nsec - now.tv_nsec) / 1000000;
    return ms > 0 ? ms : 0;
}

/* Break as the configuration says; true when nothing more is to be done for this frame. */
static bool misbehave(struct program *p)
{
    const char *how = p->behaviour;

    if (strcmp(how, "silent") == 0)
        return true;
    if (strcmp(how, "endless") == 0)
        for (;;)
            send_frame(p, "\"type\":\"event\",\"kind\":\"log\",\"data\":{\"level\":\"info\",\"text\":\"and on\"}");
    if (strcmp(how, "nonsense") == 0) {
        write_all(STDOUT_FILENO, "this is no frame\n", 17);
        return true;
    }
    if (strcmp(how, "big_line") == 0) {
        char *line = malloc(MAX_FRAME + 1);

        if (line == NULL)
            abort();
        memset(line, 'x', MAX_FRAME);
        line[MAX_FRAME] = '\n';
        write_all(STDOUT_FILENO, line, MAX_FRAME + 1);
        free(line);
        return true;
    }
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "oom") == 0)
        for (void *block; (block = malloc(1 << 20)) != NULL;)
            memset(block, 1, 1 << 20);
    return false;
}

/* Children until the engine's limit refuses one; they sleep until they are killed. */
static char *fork_all(void)
{
    long children = 0;
    char *answer;
    pid_t pid;

    while ((pid = fork()) > 0)
        children++;
    if (pid == 0)
        for (;;)
            pause();
    if (asprintf(&answer, "started %ld children, then: %s", children, strerror(errno)) < 0)
        abort();
    return answer;
}

static char *answer_for(struct program *p, const char *text)
{
    const char *known = json_text(json_get(json_get(p->init, "config"), "answers"), text);
    char *answer;

    if (strcmp(p->behaviour, "fork") == 0)
        return fork_all();
    if (strcmp(p->behaviour, "call_model") == 0)
        return model_answer(json_get(p->init, "model"), text);
    answer = strdup(known != NULL ? known : default_answer);
    if (answer == NULL)
        abort();
    return answer;
}

static const char *need(const struct json *frame, const char *key)
{
    const char *text = json_text(frame, key);

    if (text == NULL || *text == '\0')
        die("a frame lacks a key that it must have");
    return text;
}

static void start_turn(struct program *p, const struct json *frame)
{
    const char *turn = need(frame, "turn"), *text = need(frame, "text");
    const struct json *deadline = json_get(frame, "deadline_ms");
    const struct record *known = record_find(p, "turn", turn);

    if (known != NULL) {
        send_frame(p, known->rest);
        return;
    }
    if (deadline == NULL || deadline->type != JSON_NUMBER)
        die("turn.start lacks deadline_ms");
    if (p->turn != NULL)
        die("a turn was started while another runs");
    if (misbehave(p))
        return;
    p->turn = strdup(turn);
    if (p->turn == NULL)
        abort();
    p->deadline = after_ms((long)deadline->number);
    p->due = after_ms(p->slow_ms);
    p->answer = answer_for(p, text);
    if (p->answer == NULL)
        send_turn_end(p, "turn.failed", "reason", "error", "the model did not answer");
}

static void end_due_turn(struct program *p)
{
    if (p->turn == NULL)
        return;
    if (ms_until(p->due) == 0)
        send_turn_end(p, "turn.completed", "answer", p->answer, NULL);
    else if (ms_until(p->deadline) == 0)
        send_turn_end(p, "turn.failed", "reason", "deadline", "still thinking");
}

static void accept_work(struct program *p, const char *kind, const char *id)
{
    const struct record *known = record_find(p, kind, id);
    struct text rest = {0};
    char operation[32];

    if (known != NULL) {
        struct json *frame;
        struct text copy = {0};

        text_put(&copy, "{");
        text_put(&copy, known->rest);
        text_put(&copy, "}");
        frame = json_parse(copy.data, copy.length);
        snprintf(operation, sizeof operation, "%s", need(frame, "operation"));
        json_free(frame);
        text_free(&copy);
        send_frame(p, known->rest);
    } else {
        if (misbehave(p))
            return;
        snprintf(operation, sizeof operation, "op-%ld", ++p->operations);
        put_key(&rest, "type", "accepted");
        put_key(&rest, kind, id);
        put_key(&rest, "operation", operation);
        record_add(p, kind, id, rest.data);
        send_frame(p, rest.data);
        text_free(&rest);
    }
    put_key(&rest, "type", "operation");
    put_key(&rest, "operation", operation);
    put_key(&rest, "state", "completed");
    record_add(p, "operation", operation, rest.data);
    send_frame(p, rest.data);
    text_free(&rest);
}

static void tell_operation(struct program *p, const char *operation)
{
    const struct record *known = record_find(p, "operation", operation);
    struct text rest = {0};

    if (known == NULL) {
        put_key(&rest, "type", "operation");
        put_key(&rest, "operation", operation);
        put_key(&rest, "state", "failed");
        put_key(&rest, "detail", "unknown operation");
    }
    send_frame(p, known != NULL ? known->rest : rest.data);
    text_free(&rest);
}

/* One frame; false after shutdown. */
static bool handle(struct program *p, const struct json *frame)
{
    const char *type = need(frame, "type");

    if (strcmp(type, "turn.start") == 0) {
        start_turn(p, frame);
    } else if (strcmp(type, "turn.cancel") == 0) {
        if (p->turn != NULL && strcmp(need(frame, "turn"), p->turn) == 0)
            send_turn_end(p, "turn.failed", "reason", "cancelled", "cancelled");
    } else if (strcmp(type, "session.end") == 0) {
        struct text rest = {0};

        put_key(&rest, "type", "session.ended");
        put_key(&rest, "session", need(frame, "session"));
        send_frame(p, rest.data);
        text_free(&rest);
    } else if (strcmp(type, "import") == 0) {
        accept_work(p, "batch", need(frame, "batch"));
    } else if (strcmp(type, "maintain") == 0) {
        accept_work(p, "night", need(frame, "night"));
    } else if (strcmp(type, "operation.status") == 0) {
        tell_operation(p, need(frame, "operation"));
    } else if (strcmp(type, "shutdown") == 0) {
        return false;
    } else {
        die("a frame of unknown type");
    }
    return true;
}

/* Read what is there, waiting at most until the turn in hand is due. */
static void read_input(struct program *p)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    char block[65536];
    int wait = -1;
    ssize_t got;

    if (p->turn != NULL) {
        long due = ms_until(p->due), deadline = ms_until(p->deadline);

        wait = (int)(due < deadline ? due : deadline);
    }
    if (p->ended) {
        poll(NULL, 0, wait);
        return;
    }
    if (poll(&in, 1, wait) <= 0)
        return;
    got = read(STDIN_FILENO, block, sizeof block);
    if (got > 0)
        text_add(&p->input, block, (size_t)got);
    else if (got == 0 || errno != EINTR)
        p->ended = true;
    if (p->input.length > (size_t)MAX_FRAME && memchr(p->input.data, '\n', p->input.length) == NULL)
        die("a frame over 8 MiB");
}

/* The next whole frame, or NULL when there is none yet. */
static struct json *next_frame(struct program *p)
{
    char *end = p->input.length > 0 ? memchr(p->input.data, '\n', p->input.length) : NULL;
    struct json *frame;
    size_t length;

    if (end == NULL)
        return NULL;
    length = (size_t)(end - p->input.data);
    frame = json_parse(p->input.data, length);
    if (frame == NULL)
        die("a line that is not JSON");
    p->input.length -= length + 1;
    memmove(p->input.data, end + 1, p->input.length + 1);
    return frame;
}

static void send_ready(struct program *p)
{
    const struct json *allow = json_get(json_get(p->init, "tools"), "allow");
    struct text rest = {0};

    text_put(&rest, "\"type\":\"ready\",\"name\":\"tiny\",\"version\":\"1\",\"protocol\":1,\"tools\":[");
    for (const struct json *tool = allow != NULL ? allow->child : NULL; tool != NULL; tool = tool->next) {
        if (tool->type != JSON_STRING)
            die("initialize: tools.allow holds something that is no name");
        text_put(&rest, tool == allow->child ? "" : ",");
        text_put_json(&rest, tool->text);
    }
    text_put(&rest, "],\"capabilities\":{\"behaviour\":");
    text_put_json(&rest, p->behaviour);
    text_put(&rest, "}");
    send_frame(p, rest.data);
    text_free(&rest);
}

static void initialize(struct program *p)
{
    static const char slow[] = "slow_ms:";
    static const char *const known[] = {"normal", "silent",      "endless", "nonsense", "big_line",
                                        "exit",   "ignore_term", "fork",    "oom",      "call_model"};
    const char *behaviour;
    bool found = false;

    while ((p->init = next_frame(p)) == NULL) {
        if (p->ended)
            exit(0);
        read_input(p);
    }
    if (strcmp(need(p->init, "type"), "initialize") != 0)
        die("the first frame must be initialize");
    behaviour = json_text(json_get(p->init, "config"), "behaviour");
    p->behaviour = behaviour != NULL ? behaviour : "normal";
    if (strncmp(p->behaviour, slow, sizeof slow - 1) == 0) {
        p->slow_ms = strtol(p->behaviour + sizeof slow - 1, NULL, 10);
        found = p->slow_ms > 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        found = found || strcmp(p->behaviour, known[i]) == 0;
    if (!found)
        die("initialize: config.behaviour is not known");
    if (strcmp(p->behaviour, "ignore_term") == 0)
        signal(SIGTERM, SIG_IGN);
    journal_open(p);
    send_ready(p);
}

int main(void)
{
    struct program p = {0};
    bool down = false;

    signal(SIGPIPE, SIG_IGN);
    initialize(&p);
    /* Until shutdown or the end of standard input, and then until the turn in hand is done. */
    for (;;) {
        struct json *frame = down ? NULL : next_frame(&p);

        if (frame != NULL) {
            down = !handle(&p, frame);
            json_free(frame);
        } else if ((down || p.ended) && p.turn == NULL) {
            break;
        } else {
            read_input(&p);
        }
        end_due_turn(&p);
    }
    while (strcmp(p.behaviour, "ignore_term") == 0)
        pause();
    if (down)
        send_frame(&p, "\"type\":\"bye\"");
    return 0;
}
