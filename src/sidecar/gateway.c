#include "sidecar/gateway.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "sidecar/exchange.h"

enum { FAREWELL_MS = 1000 }; /* for the errors with which calls are broken off to reach their clients */

struct mc_gateway {
    struct mc_gateway_parts parts;
    struct mc_cancel cancel;
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock;
    pthread_cond_t quiet;
    size_t active; /* requests under way */
};

static enum MHD_Result on_request(void *payload, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *upload, size_t *upload_size,
                                  void **context)
{
    struct mc_gateway *gateway = payload;
    (void)version;
    if (!*context) {
        pthread_mutex_lock(&gateway->lock);
        gateway->active++;
        pthread_mutex_unlock(&gateway->lock);
        *context = mc_exchange_new(&gateway->parts, &gateway->cancel, connection, method, path);
        return MHD_YES;
    }
    if (*upload_size > 0) {
        mc_exchange_take(*context, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    return mc_exchange_answer(*context);
}

static void on_end(void *payload, struct MHD_Connection *connection, void **context,
                   enum MHD_RequestTerminationCode code)
{
    struct mc_gateway *gateway = payload;
    (void)code;
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)MC_GATEWAY_IDLE_S);
    if (*context) {
        mc_exchange_free(*context);
        *context = NULL;
        pthread_mutex_lock(&gateway->lock);
        gateway->active--;
        pthread_cond_signal(&gateway->quiet);
        pthread_mutex_unlock(&gateway->lock);
    }
}

static int listen_at(const char *path, int *out, struct mc_err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return mc_fail(err, MC_INPUT, "the gateway's socket %s: the path is longer than %zu bytes", path,
                       sizeof address.sun_path - 1);
    }
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(path); /* left by an earlier life of this process */
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0666) != 0 ||
        listen(fd, MC_GATEWAY_CONNECTIONS_MAX) != 0) {
        mc_fail_errno(err, errno, "listening on the gateway's socket %s", path);
        mc_close_at(&fd);
        return err->code;
    }
    *out = fd;
    return 0;
}

int mc_gateway_start(const struct mc_gateway_parts *parts, struct mc_gateway **out, struct mc_err *err)
{
    int fd = -1;
    struct mc_gateway *gateway = mc_alloc(1, sizeof *gateway);
    gateway->parts = *parts;
    int rc = mc_cancel_init(&gateway->cancel, err);
    if (rc == 0 && (rc = listen_at(parts->socket, &fd, err)) != 0) {
        mc_cancel_release(&gateway->cancel);
    }
    if (rc != 0) {
        free(gateway);
        return rc;
    }
    pthread_mutex_init(&gateway->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&gateway->quiet, &monotonic);
    pthread_condattr_destroy(&monotonic);
    gateway->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC, 0, NULL, NULL,
        on_request, gateway, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, on_end, gateway,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MC_GATEWAY_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)MC_GATEWAY_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)128 << 10, MHD_OPTION_END);
    if (!gateway->daemon) {
        rc = mc_fail_errno(err, errno, "starting the gateway");
        close(fd);
        mc_cancel_release(&gateway->cancel);
        free(gateway);
        return rc;
    }
    *out = gateway;
    return 0;
}

static void await_quiet(struct mc_gateway *gateway, int64_t grace_ms)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += grace_ms / 1000;
    int late = 0;
    pthread_mutex_lock(&gateway->lock);
    while (gateway->active > 0 && !late) {
        late = pthread_cond_timedwait(&gateway->quiet, &gateway->lock, &end) == ETIMEDOUT;
    }
    pthread_mutex_unlock(&gateway->lock);
}

void mc_gateway_stop(struct mc_gateway *gateway, int64_t grace_ms)
{
    if (!gateway) {
        return;
    }
    int listening = MHD_quiesce_daemon(gateway->daemon);
    await_quiet(gateway, grace_ms);
    mc_cancel_raise(&gateway->cancel);
    await_quiet(gateway, FAREWELL_MS);
    MHD_stop_daemon(gateway->daemon);
    if (listening >= 0) {
        close(listening);
    }
    unlink(gateway->parts.socket);
    pthread_cond_destroy(&gateway->quiet);
    pthread_mutex_destroy(&gateway->lock);
    mc_cancel_release(&gateway->cancel);
    free(gateway);
}
