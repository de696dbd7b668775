/* A run file, a harness and a provider manifest, parted by lines "%%": each is read, and what is read can be shown. */
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "run/runfile.h"

#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes what stands before the next "%%" line; gives what follows it. */
static const char *put_part(const char *name, const char *text, size_t *left)
{
    const char *mark = *left ? memmem(text, *left, "\n%%\n", 4) : NULL;
    size_t length = mark ? (size_t)(mark - text) + 1 : *left;
    size_t skip = mark ? length + 3 : length;
    fuzz_put(name, text, length);
    *left -= skip;
    return text + skip;
}

static void must_be_json(json_t *json)
{
    if (!json) {
        abort();
    }
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t left = size;
    struct mc_err err;
    /* A name without '/' stands in ../harnesses; these stand beside the run file. */
    text = put_part("run.yaml", text, &left);
    text = put_part("h.yaml", text, &left);
    put_part("p.yaml", text, &left);
    MC_AUTOFREE char *run_path = mc_path_join(fuzz_folder(), "run.yaml");
    MC_AUTOFREE char *harness_path = mc_path_join(fuzz_folder(), "h.yaml");
    MC_AUTOFREE char *provider_path = mc_path_join(fuzz_folder(), "p.yaml");
    struct mc_runfile run;
    if (mc_runfile_load(run_path, &run, &err) == 0) {
        for (size_t i = 0; i < run.model_count; i++) {
            MC_AUTOFREE char *source = mc_model_source(&run.models[i]);
        }
        for (size_t i = 0; i < run.entrant_count; i++) {
            must_be_json(mc_harness_json(&run.entrants[i].harness));
        }
        mc_runfile_release(&run);
    }
    struct mc_harness harness;
    if (mc_harness_load(harness_path, &harness, &err) == 0) {
        must_be_json(mc_harness_json(&harness));
        mc_harness_release(&harness);
    }
    struct mc_provider provider;
    if (mc_provider_load(provider_path, &provider, &err) == 0) {
        must_be_json(mc_provider_json(&provider));
        mc_provider_release(&provider);
    }
    return 0;
}
