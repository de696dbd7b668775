#include "corpus/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *mc_step_name(enum mc_step_kind kind)
{
    static const char *const names[] = {"import", "night", "turn", "probe"};
    return names[kind];
}

static int compare_steps(const void *a, const void *b)
{
    const struct mc_step *left = a;
    const struct mc_step *right = b;
    if (left->at.ms != right->at.ms) {
        return left->at.ms < right->at.ms ? -1 : 1;
    }
    if (left->kind != right->kind) {
        return left->kind < right->kind ? -1 : 1;
    }
    return (left->index > right->index) - (left->index < right->index);
}

/* Collections and the index of observations are both in order of time: one walk pairs them. */
static size_t add_imports(const struct mc_life *life, struct mc_step *steps)
{
    size_t next = 0;
    for (size_t i = 0; i < life->collection_count; i++) {
        struct mc_time at = life->collections[i];
        size_t first = next;
        while (next < life->observation_count && life->observations[next].collected_at.ms <= at.ms) {
            next++;
        }
        steps[i] =
            (struct mc_step){.kind = MC_STEP_IMPORT, .at = at, .index = i, .first = first, .count = next - first};
    }
    return life->collection_count;
}

void mc_life_schedule(const struct mc_life *life, struct mc_schedule *out)
{
    size_t total = life->collection_count + life->night_count + life->turn_count + life->checkpoint_count;
    struct mc_step *steps = mc_alloc(total, sizeof *steps);
    size_t count = add_imports(life, steps);
    for (size_t i = 0; i < life->night_count; i++) {
        steps[count++] = (struct mc_step){.kind = MC_STEP_NIGHT, .at = life->nights[i], .index = i};
    }
    for (size_t i = 0; i < life->turn_count; i++) {
        steps[count++] = (struct mc_step){.kind = MC_STEP_TURN, .at = life->turns[i].at, .index = i};
    }
    for (size_t i = 0; i < life->checkpoint_count; i++) {
        steps[count++] = (struct mc_step){.kind = MC_STEP_PROBE, .at = life->checkpoints[i].at, .index = i};
    }
    qsort(steps, count, sizeof *steps, compare_steps);
    *out = (struct mc_schedule){.steps = steps, .count = count};
}

void mc_schedule_release(struct mc_schedule *schedule)
{
    free(schedule->steps);
    memset(schedule, 0, sizeof *schedule);
}
