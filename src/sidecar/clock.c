#include "sidecar/clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"

void mc_clock_init(struct mc_clock *clock, const char *path)
{
    *clock = (struct mc_clock){.path = mc_strdup(path), .is_set = 0, .offset_ms = 0, .offset_min = 0};
}

void mc_clock_release(struct mc_clock *clock)
{
    free(clock->path);
    clock->path = NULL;
}

void mc_clock_resume(struct mc_clock *clock, int64_t offset_ms)
{
    clock->offset_ms = offset_ms;
    clock->is_set = 1;
}

int mc_clock_set(struct mc_clock *clock, struct mc_time scenario, struct mc_err *err)
{
    int64_t wanted = scenario.ms - mc_time_now().ms;
    int64_t offset = clock->is_set && clock->offset_ms > wanted ? clock->offset_ms : wanted;
    /* Put together from whole numbers: the decimal point must not depend on a locale. */
    int64_t size = offset < 0 ? -offset : offset;
    MC_AUTOFREE char *text =
        mc_strf("%c%lld.%03lld\n", offset < 0 ? '-' : '+', (long long)(size / 1000), (long long)(size % 1000));
    int rc = mc_fs_write(clock->path, text, strlen(text), 0644, err);
    if (rc != 0) {
        return mc_wrap(err, "setting the scenario clock");
    }
    clock->offset_ms = offset;
    clock->offset_min = scenario.offset_min;
    clock->is_set = 1;
    return 0;
}

struct mc_time mc_clock_now(const struct mc_clock *clock)
{
    return (struct mc_time){.ms = mc_time_now().ms + clock->offset_ms, .offset_min = clock->offset_min};
}

double mc_clock_offset_s(const struct mc_clock *clock)
{
    return (double)clock->offset_ms / 1000.0;
}
