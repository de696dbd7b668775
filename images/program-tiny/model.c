/* One chat completion over plain HTTP/1.0 to a numeric address, which is all that a container of a life can reach. */
#include "tiny.h"

#include "json.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_ANSWER ((size_t)8 * 1024 * 1024)

/* A connection to http://ADDRESS:PORT/PATH, or -1; path is what follows the port. */
static int dial(const char *url, const char **path)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    char address[INET_ADDRSTRLEN];
    int consumed = 0, fd;
    unsigned port;

    if (sscanf(url, "http://%15[0-9.]:%5u%n", address, &port, &consumed) != 2 || port > 65535 ||
        inet_pton(AF_INET, address, &to.sin_addr) != 1)
        return -1;
    to.sin_port = htons((in_port_t)port);
    *path = url + consumed;
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void put_request(struct text *out, const struct json *model, const char *path, const char *question)
{
    struct text body = {0};

    text_put(&body, "{\"model\":");
    text_put_json(&body, json_text(model, "name"));
    text_put(&body, ",\"messages\":[{\"role\":\"user\",\"content\":");
    text_put_json(&body, question);
    text_put(&body, "}]}");
    text_put(out, "POST ");
    text_put(out, path);
    text_put(out, "/chat/completions HTTP/1.0\r\nContent-Type: application/json\r\nAuthorization: Bearer ");
    text_put(out, json_text(model, "token"));
    text_put(out, "\r\nContent-Length: ");
    text_put_number(out, (long)body.length);
    text_put(out, "\r\n\r\n");
    text_add(out, body.data, body.length);
    text_free(&body);
}

/* Send and read to the end; false on any failure. */
static bool exchange(int fd, const struct text *request, struct text *answer)
{
    char block[16384];
    size_t sent = 0;
    ssize_t got;

    while (sent < request->length) {
        got = send(fd, request->data + sent, request->length - sent, MSG_NOSIGNAL);
        if (got <= 0)
            return false;
        sent += (size_t)got;
    }
    while ((got = recv(fd, block, sizeof block, 0)) > 0 && answer->length < MAX_ANSWER)
        text_add(answer, block, (size_t)got);
    return got == 0 && answer->length > 0;
}

/* choices[0].message.content of a 200 answer. */
static char *content_of(const struct text *answer)
{
    const char *body = strstr(answer->data, "\r\n\r\n");
    const struct json *choices, *first;
    const char *content;
    struct json *document;
    char *copy = NULL;
    int status = 0;

    if (body == NULL || sscanf(answer->data, "HTTP/%*d.%*d %d", &status) != 1 || status != 200)
        return NULL;
    body += 4;
    document = json_parse(body, answer->length - (size_t)(body - answer->data));
    choices = json_get(document, "choices");
    first = choices != NULL && choices->type == JSON_ARRAY ? choices->child : NULL;
    content = json_text(json_get(first, "message"), "content");
    if (content != NULL)
        copy = strdup(content);
    json_free(document);
    return copy;
}

char *model_answer(const struct json *model, const char *question)
{
    struct text request = {0}, answer = {0};
    const char *url = json_text(model, "base_url"), *path;
    char *content = NULL;
    int fd;

    if (url == NULL || json_text(model, "token") == NULL || json_text(model, "name") == NULL)
        return NULL;
    fd = dial(url, &path);
    if (fd < 0)
        return NULL;
    put_request(&request, model, path, question);
    if (exchange(fd, &request, &answer))
        content = content_of(&answer);
    close(fd);
    text_free(&request);
    text_free(&answer);
    return content;
}
