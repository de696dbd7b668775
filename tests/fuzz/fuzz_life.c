/* A whole life: life.yaml, observations, turns, checkpoints and rubric, parted by lines "%%", loaded and validated. */
#include <stdint.h>
#include <string.h>

#include "corpus/schedule.h"
#include "corpus/validate.h"

#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char head[] = "name: fuzz\nversion: \"1\"\ndescription: d\nlicense: l\nchannels: [email, imessage]\n";

static void load(const char *dir)
{
    struct mc_err err;
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    MC_AUTOLIFE struct mc_life *life = NULL;
    if (mc_corpus_open(dir, &corpus, &err) != 0 || mc_life_load(corpus, "a", &life, &err) != 0) {
        return;
    }
    MC_AUTOSCHEDULE struct mc_schedule schedule;
    mc_life_schedule(life, &schedule);
    size_t delivered = 0;
    for (size_t i = 0; i < schedule.count; i++) {
        delivered += schedule.steps[i].count;
    }
    if (delivered != life->observation_count) {
        abort();
    }
    for (size_t i = 0; i < life->observation_count; i++) {
        MC_AUTOJSON json_t *value = mc_life_observation_json(life, i, &err);
        if (!value) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"lives/a/life.yaml", "lives/a/observations.jsonl", "lives/a/turns.jsonl",
                                        "lives/a/checkpoints.jsonl", "lives/a/rubric.yaml"};
    MC_AUTOFREE char *lives = mc_path_join(fuzz_folder(), "lives/a");
    struct mc_err err;
    if (mc_fs_mkdirs(lives, &err) != 0) {
        abort();
    }
    fuzz_put("corpus.yaml", head, sizeof head - 1);
    const char *from = (const char *)data;
    const char *end = from + size;
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        const char *mark = i + 1 < MC_COUNT(names) && from < end ? memmem(from, (size_t)(end - from), "%%\n", 3) : NULL;
        const char *stop = mark ? mark : end;
        fuzz_put(names[i], from, (size_t)(stop - from));
        from = mark ? mark + 3 : end;
    }
    MC_AUTOPROBLEMS struct mc_problems problems = {.count = 0};
    mc_corpus_validate(fuzz_folder(), 1, &problems);
    MC_AUTOJSON json_t *report = mc_problems_json(&problems);
    load(fuzz_folder());
    return report ? 0 : -1;
}
