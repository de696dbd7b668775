#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/own.h"

/* What an engine's error says: the "message" of its JSON, or the text itself without the spaces around it. */
static char *message_of(const char *body, size_t length)
{
    struct mc_err ignored;
    struct mc_source source = {.name = "", .line = 0, .marks = NULL};
    MC_AUTOJSON json_t *json = mc_json_parse(body, length, &source, &ignored);
    const char *message = json ? mc_api_text(json, "message") : "";
    if (message[0] != '\0') {
        return mc_strdup(message);
    }
    while (length > 0 && strchr(" \r\n\t", body[length - 1])) {
        length--;
    }
    while (length > 0 && strchr(" \r\n\t", body[0])) {
        body++;
        length--;
    }
    return mc_strndup(body, length);
}

static void hint_for(struct mc_err *err, int status, const char *message)
{
    if (strcasestr(message, "no space left on device")) {
        mc_hint(err, "free disk space where the engine keeps its data ('docker system df' shows what takes it)");
    } else if (strcasestr(message, "no such image") || strcasestr(message, "image not known")) {
        mc_hint(err, "build it with 'memcal image build', or pull or load it; 'memcal image list' shows what is here");
    } else if (strcasestr(message, "RLIMIT_NOFILE") || strcasestr(message, "RLIMIT_NPROC")) {
        mc_hint(err, "the engine may not raise this limit: ask for less than its own hard limit (see 'ulimit -Hn' and "
                     "'ulimit -Hu' where it runs)");
    } else if (strcasestr(message, "cgroupv2") || strcasestr(message, "cgroup v2")) {
        mc_hint(err, "this Podman's runtime cannot use the host's cgroups: start it with 'podman --runtime runc system "
                     "service'");
    } else if (strcasestr(message, "toomanyrequests") || strcasestr(message, "rate limit")) {
        mc_hint(err, "the registry's rate limit is reached: log in, wait, or load the image from a file");
    } else if (status == 401 || strcasestr(message, "unauthorized") || strcasestr(message, "pull access denied")) {
        mc_hint(err, "fetch the image with 'docker pull' or 'podman pull', which know your logins, and run again");
    }
}

int mc_api_refused(struct mc_err *err, const char *what, int status, const char *body, size_t length)
{
    MC_AUTOFREE char *message = message_of(body, length);
    enum mc_code code = status == 404 ? MC_NOT_FOUND : MC_ENGINE;
    if (message[0] == '\0') {
        mc_fail(err, code, "%s: the engine answers with HTTP status %d and says nothing more", what, status);
    } else {
        mc_fail(err, code, "%s: the engine says: %s (HTTP %d)", what, message, status);
    }
    err->http = status;
    hint_for(err, status, message);
    return code;
}

int mc_api_refused_in_band(struct mc_err *err, const char *what, const char *message)
{
    mc_fail(err, MC_ENGINE, "%s: the engine says: %s", what, message);
    hint_for(err, 200, message);
    return MC_ENGINE;
}

int mc_api_no_socket(struct mc_err *err, const char *what, const char *where, int sys)
{
    int code;
    switch (sys) {
    case ENOENT:
    case ENOTDIR:
        code = mc_fail(err, MC_NOT_FOUND, "%s: no container engine at %s: the socket is not there", what, where);
        mc_hint(err,
                "install and start Docker ('sudo systemctl start docker') or Podman ('systemctl --user start "
                "podman.socket'), or set DOCKER_HOST to where the engine is; 'memcal doctor' shows what was tried");
        break;
    case EACCES:
    case EPERM:
        code =
            mc_fail(err, MC_DENIED, "%s: you may not use the container engine at %s: permission denied", what, where);
        mc_hint(err, "add yourself to the socket's group ('sudo usermod -aG docker $USER', then log in again), use a "
                     "rootless engine, or run memcal with sudo");
        break;
    case ECONNREFUSED:
        code = mc_fail(err, MC_CLOSED, "%s: nothing listens at %s: connection refused", what, where);
        mc_hint(err, "the engine is not running: start it ('sudo systemctl start docker', or 'systemctl --user start "
                     "podman.socket'), or set DOCKER_HOST to where one runs");
        break;
    default:
        code = mc_fail_errno(err, sys, "%s: connecting to %s", what, where);
        break;
    }
    err->sys = sys;
    return code;
}

static int is_no_socket(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISSOCK(found.st_mode);
}

int mc_api_unreachable(struct mc_err *err, const char *what, const struct mc_endpoint *endpoint, CURLcode result,
                       long sys)
{
    switch (result) {
    case CURLE_COULDNT_CONNECT:
        if (sys == ECONNREFUSED && endpoint->socket && is_no_socket(endpoint->socket)) {
            mc_fail(err, MC_INPUT, "%s: %s is not a socket", what, endpoint->host);
            return mc_hint(err, "set DOCKER_HOST to the engine's own, as unix:///var/run/docker.sock");
        }
        if (sys != 0) {
            return mc_api_no_socket(err, what, endpoint->host, (int)sys);
        }
        break;
    case CURLE_COULDNT_RESOLVE_HOST:
        mc_fail(err, MC_NOT_FOUND, "%s: the host name in %s is not known", what, endpoint->host);
        return mc_hint(err, "check DOCKER_HOST or the docker context");
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_CONTENT_ENCODING:
        mc_fail(err, MC_PROTOCOL, "%s: what answers at %s does not speak HTTP: it is no container engine", what,
                endpoint->host);
        return mc_hint(err, "check DOCKER_HOST: 2375 is an engine's plain port, 2376 the one with TLS");
    case CURLE_SEND_ERROR:
        mc_fail(err, MC_CLOSED, "%s: %s took no more of what was sent and ended the connection", what, endpoint->host);
        return mc_hint(err,
                       "its log says why ('journalctl -u docker', 'journalctl --user -u podman'); often its disk is "
                       "full");
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
        return mc_fail(err, MC_CLOSED, "%s: %s ended the connection before its answer was whole", what, endpoint->host);
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
        mc_fail(err, MC_DENIED, "%s: TLS with %s failed: %s", what, endpoint->host, curl_easy_strerror(result));
        return mc_hint(err, "check the certificates in DOCKER_CERT_PATH (ca.pem, cert.pem, key.pem) and the port");
    case CURLE_OPERATION_TIMEDOUT:
        return mc_fail(err, MC_TIMEOUT, "%s: no connection to %s in the time allowed", what, endpoint->host);
    default:
        break;
    }
    return mc_fail(err, MC_CLOSED, "%s: the call to %s failed: %s", what, endpoint->host, curl_easy_strerror(result));
}
