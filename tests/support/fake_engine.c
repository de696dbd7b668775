#include "fake_engine.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

struct worker {
    struct fake *fake;
    int fd;
};

/* Waits for bytes, or the end of the test. */
static int readable(struct fake *fake, int fd)
{
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = fake->stop_fd, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR) {
    }
    return fds[1].revents == 0;
}

static int read_more(struct fake *fake, int fd, struct mc_buf *request)
{
    char bytes[65536];
    if (!readable(fake, fd)) {
        return 0;
    }
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n <= 0) {
        return 0;
    }
    mc_buf_put(request, bytes, (size_t)n);
    return 1;
}

/* Reads one request with its body; its length in bytes, 0 at the end. */
static size_t read_request(struct fake *fake, int fd, struct mc_buf *request)
{
    const char *end;
    while ((end = strstr(mc_buf_text(request), "\r\n\r\n")) == NULL) {
        if (!read_more(fake, fd, request)) {
            return 0;
        }
    }
    size_t head = (size_t)(end - request->data) + 4;
    pthread_mutex_lock(&fake->lock);
    int drop = fake->answered < fake->answer_count && fake->answers[fake->answered].drop_body;
    pthread_mutex_unlock(&fake->lock);
    if (drop) {
        return head;
    }
    const char *length = strcasestr(request->data, "\r\nContent-Length: ");
    size_t body = length && length < end ? strtoul(length + 18, NULL, 10) : 0;
    const char *chunked = strcasestr(request->data, "\r\nTransfer-Encoding: chunked");
    if (chunked && chunked < end) {
        while (request->len < head + 5 || memcmp(request->data + request->len - 5, "0\r\n\r\n", 5) != 0) {
            if (!read_more(fake, fd, request)) {
                return 0;
            }
        }
        return request->len;
    }
    while (request->len < head + body) {
        if (!read_more(fake, fd, request)) {
            return 0;
        }
    }
    return head + body;
}

static void put(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);
        if (n <= 0) {
            return;
        }
        bytes += n;
        length -= (size_t)n;
    }
}

static void answer(struct fake *fake, int fd, const struct fake_answer *a)
{
    if (a->drip_ms > 0) {
        for (size_t i = 0; i < a->length; i++) {
            struct pollfd stop = {.fd = fake->stop_fd, .events = POLLIN};
            put(fd, a->bytes + i, 1);
            if (poll(&stop, 1, a->drip_ms) > 0) {
                return;
            }
        }
        return;
    }
    size_t first = a->split > 0 && a->split < a->length ? a->split : a->length;
    put(fd, a->bytes, first);
    if (first < a->length) {
        usleep(300);
        put(fd, a->bytes + first, a->length - first);
    }
}

static const char *by_itself(const struct fake *fake, const char *request)
{
    if (fake->manual) {
        return NULL;
    }
    if (strncmp(request, "GET /_ping ", 11) == 0) {
        return fake->podman ? "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nLibpod-Api-Version: 4.3.1\r\nContent-Length: "
                              "2\r\n\r\nOK"
                            : "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK";
    }
    if (strncmp(request, "GET /v1.41/version ", 19) == 0) {
        return "HTTP/1.1 200 OK\r\nContent-Length: 73\r\n\r\n"
               "{\"Version\":\"20.10.24\",\"MinAPIVersion\":\"1.12\",\"Os\":\"linux\",\"Arch\":\"amd64\"}";
    }
    if (strncmp(request, "GET /v1.41/info ", 16) == 0) {
        return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
               "1b\r\n{\"Driver\":\"overlay2\",\"NCPU\"\r\n4\r\n:2,\"\r\n15\r\nCgroupVersion\":\"2\"}  \r\n0\r\n\r\n";
    }
    return NULL;
}

static void *serve(void *payload)
{
    struct worker worker = *(struct worker *)payload;
    struct fake *fake = worker.fake;
    struct mc_buf request = MC_BUF_OWN;
    size_t length;
    free(payload);
    while ((length = read_request(fake, worker.fd, &request)) > 0) {
        pthread_mutex_lock(&fake->lock);
        mc_buf_put(&fake->requests, request.data, length);
        const char *ready = by_itself(fake, request.data);
        struct fake_answer next = {.bytes = ready, .length = ready ? strlen(ready) : 0, .split = 0};
        if (!ready && fake->answered < fake->answer_count) {
            next = fake->answers[fake->answered++];
        }
        pthread_mutex_unlock(&fake->lock);
        if (!next.bytes) {
            break; /* nothing was prepared: the connection ends */
        }
        answer(fake, worker.fd, &next);
        mc_buf_drop(&request, length);
        if (next.hold) {
            struct mc_buf rest = MC_BUF_OWN;
            while (read_more(fake, worker.fd, &rest)) {
                pthread_mutex_lock(&fake->lock);
                mc_buf_put(&fake->requests, rest.data, rest.len);
                pthread_mutex_unlock(&fake->lock);
                mc_buf_clear(&rest);
            }
            mc_buf_release(&rest);
            break;
        }
        if (!strcasestr(next.bytes, "Content-Length:") && !strcasestr(next.bytes, "chunked") &&
            strncmp(next.bytes, "HTTP/1.1 204", 12) != 0 && strncmp(next.bytes, "HTTP/1.1 304", 12) != 0) {
            break; /* only the end of the connection ends such an answer */
        }
    }
    close(worker.fd);
    mc_buf_release(&request);
    return NULL;
}

static void *listen_on(void *payload)
{
    struct fake *fake = payload;
    while (readable(fake, fake->listener)) {
        int fd = accept(fake->listener, NULL, NULL);
        if (fd < 0 || fake->worker_count == sizeof fake->workers / sizeof fake->workers[0]) {
            abort();
        }
        struct worker *worker = mc_alloc(1, sizeof *worker);
        *worker = (struct worker){.fake = fake, .fd = fd};
        if (pthread_create(&fake->workers[fake->worker_count++], NULL, serve, worker) != 0) {
            abort();
        }
    }
    return NULL;
}

void fake_start(struct fake *fake)
{
    memset(fake, 0, sizeof *fake);
    fake->requests = MC_BUF_OWN;
    snprintf(fake->dir, sizeof fake->dir, "/tmp/memcal-fake-XXXXXX");
    assert_non_null(mkdtemp(fake->dir));
    snprintf(fake->socket, sizeof fake->socket, "%s/engine.sock", fake->dir);
    snprintf(fake->host, sizeof fake->host, "unix://%s", fake->socket);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", fake->socket);
    fake->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fake->stop_fd = eventfd(0, EFD_CLOEXEC);
    pthread_mutex_init(&fake->lock, NULL);
    assert_int_equal(bind(fake->listener, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fake->listener, 64), 0);
    assert_int_equal(pthread_create(&fake->thread, NULL, listen_on, fake), 0);
}

void fake_stop(struct fake *fake)
{
    uint64_t one = 1;
    assert_int_equal(write(fake->stop_fd, &one, sizeof one), sizeof one);
    pthread_join(fake->thread, NULL);
    for (size_t i = 0; i < fake->worker_count; i++) {
        pthread_join(fake->workers[i], NULL);
    }
    for (size_t i = 0; i < fake->kept_count; i++) {
        free(fake->kept[i]);
    }
    free(fake->kept);
    mc_buf_release(&fake->requests);
    close(fake->listener);
    close(fake->stop_fd);
    unlink(fake->socket);
    rmdir(fake->dir);
    pthread_mutex_destroy(&fake->lock);
}

void fake_add(struct fake *fake, struct fake_answer answer_)
{
    char *copy = mc_alloc(1, answer_.length + 1);
    memcpy(copy, answer_.bytes, answer_.length);
    answer_.bytes = copy;
    pthread_mutex_lock(&fake->lock);
    fake->kept = mc_resize(fake->kept, fake->kept_count + 1, sizeof *fake->kept);
    fake->kept[fake->kept_count++] = copy;
    assert_true(fake->answer_count < FAKE_MAX);
    fake->answers[fake->answer_count++] = answer_;
    pthread_mutex_unlock(&fake->lock);
}

void fake_say(struct fake *fake, const char *status, const char *body)
{
    int bare = strncmp(status, "204", 3) == 0 || strncmp(status, "304", 3) == 0;
    MC_AUTOFREE char *text = bare ? mc_strf("HTTP/1.1 %s\r\n\r\n", status)
                                  : mc_strf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: "
                                            "%zu\r\n\r\n%s",
                                            status, strlen(body), body);
    fake_add(fake, (struct fake_answer){.bytes = text, .length = strlen(text)});
}

void fake_clear(struct fake *fake)
{
    pthread_mutex_lock(&fake->lock);
    fake->answer_count = 0;
    fake->answered = 0;
    mc_buf_clear(&fake->requests);
    pthread_mutex_unlock(&fake->lock);
}

int fake_was_asked(struct fake *fake, const char *text)
{
    pthread_mutex_lock(&fake->lock);
    int found = memmem(mc_buf_text(&fake->requests), fake->requests.len, text, strlen(text)) != NULL;
    pthread_mutex_unlock(&fake->lock);
    return found;
}

struct mc_endpoint fake_endpoint(struct fake *fake)
{
    return (struct mc_endpoint){.host = fake->host, .socket = fake->socket, .url = "http://localhost"};
}

struct mc_engine *fake_open(struct fake *fake)
{
    struct mc_err err;
    struct mc_engine *engine = NULL;
    struct mc_endpoint endpoint = fake_endpoint(fake);
    if (mc_engine_open(&endpoint, NULL, mc_within(10000, NULL), &engine, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return engine;
}
