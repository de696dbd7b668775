#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "engine/container.h"
#include "engine/volume.h"

_Noreturn void bench_die(const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = mc_vstrf(format, args); /* the process ends here: not freed */
    va_end(args);
    fprintf(stderr, "bench: %s", text);
    if (hint && hint[0]) {
        fprintf(stderr, ": %s", hint);
    }
    fputc('\n', stderr);
    exit(1);
}

void bench_endpoint(struct mc_endpoint *out)
{
    const char *hosts = getenv("MEMCAL_TEST_ENGINES");
    hosts = hosts ? hosts + strspn(hosts, " ") : "";
    if (hosts[0] == '\0') {
        bench_die("set it to a DOCKER_HOST value, such as unix:///var/run/docker.sock",
                  "MEMCAL_TEST_ENGINES names no engine");
    }
    MC_AUTOFREE char *host = mc_strndup(hosts, strcspn(hosts, " "));
    struct mc_find_env env = mc_find_env();
    bench_ok(mc_endpoint_parse(host, &env, out, &fault));
}

/* No more than that: the benchmark may be on its way out already. */
static void told(int rc, const struct mc_err *err)
{
    if (rc != 0) {
        fprintf(stderr, "bench: %s\n", err->text);
    }
}

size_t bench_sweep(struct mc_engine *engine, struct mc_labels labels)
{
    struct mc_err err;
    struct mc_until until = mc_within(120000, NULL);
    MC_AUTOOBJECTS struct mc_objects containers = MC_OBJECTS_INIT;
    MC_AUTOOBJECTS struct mc_objects volumes = MC_OBJECTS_INIT;
    told(mc_container_list(engine, labels, &containers, until, &err), &err);
    for (size_t i = 0; i < containers.count; i++) {
        told(mc_container_remove(engine, containers.items[i].id, labels, until, &err), &err);
    }
    told(mc_volume_list(engine, labels, &volumes, until, &err), &err);
    for (size_t i = 0; i < volumes.count; i++) {
        told(mc_volume_remove(engine, volumes.items[i].id, labels, until, &err), &err);
    }
    return containers.count + volumes.count;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

struct bench_spread bench_spread_of(double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, by_size);
    double median = count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
    return (struct bench_spread){.median = median, .least = samples[0], .most = samples[count - 1]};
}

double bench_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
