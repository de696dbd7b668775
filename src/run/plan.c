#include "run/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "corpus/validate.h"

/* "name@sha256:X". Engines know such a name of what a registry gave; what was built or loaded here has no digest but
 * its ID, and is found by that. */
static int find_pinned(struct mc_found_image *found, struct mc_engine *engine, const char *reference,
                       struct mc_until until, struct mc_err *err)
{
    const char *digest = strstr(reference, "@sha256:");
    int rc = mc_image_inspect(engine, reference, &found->image, until, err);
    if (rc != MC_NOT_FOUND || !digest) {
        return rc;
    }
    rc = mc_image_inspect(engine, digest + 1, &found->image, until, err);
    if (rc != MC_NOT_FOUND) {
        return rc;
    }
    MC_AUTOFREE char *name = mc_strndup(reference, (size_t)(digest - reference));
    MC_AUTOIMAGE struct mc_image other = {.raw = NULL};
    rc = mc_image_inspect(engine, name, &other, until, err);
    if (rc == 0) {
        mc_fail(err, MC_MISMATCH, "the image %s is pinned to %s, the engine has %s", name, digest + 1, other.id);
        rc = mc_hint(err, "load the one that is pinned, or pin the one that is there");
    }
    return rc;
}

int mc_found_image_load(struct mc_found_image *found, struct mc_engine *engine, const char *reference,
                        struct mc_until until, struct mc_err *err)
{
    int rc = find_pinned(found, engine, reference, until, err);
    if (rc == MC_NOT_FOUND) {
        mc_fail(err, MC_NOT_FOUND, "the image %s is not on the engine (%s at %s)", reference,
                mc_engine_about(engine)->kind_name, mc_engine_endpoint(engine)->host);
        return mc_hint(err, "build memcal's own with \"memcal image build\", or load it with \"docker load\"");
    }
    if (rc == 0) {
        found->reference = mc_strdup(reference);
        found->pinned = strstr(reference, "sha256:") != NULL;
    }
    return rc;
}

void mc_found_image_release(struct mc_found_image *found)
{
    if (found->reference) {
        mc_image_release(&found->image);
        free(found->reference);
    }
    memset(found, 0, sizeof *found);
}

static int is_among(const char *name, const char *const *names)
{
    if (!names) {
        return 1;
    }
    for (size_t i = 0; names[i]; i++) {
        if (mc_streq(names[i], name)) {
            return 1;
        }
    }
    return 0;
}

static int no_harness(const struct mc_runfile *runfile, const char *name, struct mc_err *err)
{
    struct mc_buf names = MC_BUF_OWN;
    for (size_t i = 0; i < runfile->entrant_count; i++) {
        mc_buf_putf(&names, "%s%s", i ? ", " : "", runfile->entrants[i].harness.name);
    }
    mc_fail(err, MC_INPUT, "%s names no harness \"%s\"", runfile->path, name);
    mc_hint(err, "it names %s", mc_buf_text(&names));
    mc_buf_release(&names);
    return err->code;
}

static int check_names(const struct mc_plan *plan, const struct mc_plan_options *options, struct mc_err *err)
{
    for (size_t i = 0; options->lives && options->lives[i]; i++) {
        int found = 0;
        for (size_t j = 0; j < plan->corpus->life_count; j++) {
            found |= mc_streq(plan->corpus->lives[j], options->lives[i]);
        }
        if (!found) {
            mc_fail(err, MC_INPUT, "the corpus %s has no life \"%s\"", plan->corpus->name, options->lives[i]);
            return mc_hint(err, "\"memcal corpus show %s\" lists them", plan->corpus->dir);
        }
    }
    for (size_t i = 0; options->harnesses && options->harnesses[i]; i++) {
        int found = 0;
        for (size_t j = 0; j < plan->runfile.entrant_count; j++) {
            found |= mc_streq(plan->runfile.entrants[j].harness.name, options->harnesses[i]);
        }
        if (!found) {
            return no_harness(&plan->runfile, options->harnesses[i], err);
        }
    }
    return 0;
}

static void list_trials(struct mc_plan *plan, const struct mc_plan_options *options)
{
    size_t lives = plan->corpus->life_count;
    size_t entrants = plan->runfile.entrant_count;
    plan->trials = mc_alloc(lives * entrants * (size_t)plan->runfile.repetitions, sizeof *plan->trials);
    for (int64_t repetition = 1; repetition <= plan->runfile.repetitions; repetition++) {
        for (size_t l = 0; l < lives; l++) {
            for (size_t e = 0; e < entrants; e++) {
                if (is_among(plan->corpus->lives[l], options->lives) &&
                    is_among(plan->runfile.entrants[e].harness.name, options->harnesses)) {
                    plan->trials[plan->trial_count++] =
                        (struct mc_planned_trial){plan->corpus->lives[l], e, repetition};
                }
            }
        }
    }
}

static int find_image(struct mc_found_image *found, const struct mc_plan_options *options, struct mc_engine *engine,
                      const char *reference, struct mc_until until, struct mc_err *err)
{
    int rc = mc_found_image_load(found, engine, reference, until, err);
    if (rc == 0 && options->require_pinned && !found->pinned) {
        mc_fail(err, MC_INPUT, "the image %s is not pinned by digest, and --require-pinned is set", reference);
        return mc_hint(err, "write it as %s@%s", reference, found->image.id);
    }
    return rc;
}

static int find_images(struct mc_plan *plan, const struct mc_plan_options *options, struct mc_engine *engine,
                       struct mc_until until, struct mc_err *err)
{
    size_t count = plan->runfile.entrant_count;
    plan->harness_images = mc_alloc(count, sizeof *plan->harness_images);
    plan->provider_images = mc_alloc(count, sizeof *plan->provider_images);
    int rc = find_image(&plan->sidecar, options, engine, plan->runfile.sidecar, until, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct mc_entrant *entrant = &plan->runfile.entrants[i];
        if (!is_among(entrant->harness.name, options->harnesses)) {
            continue;
        }
        rc = find_image(&plan->harness_images[i], options, engine, entrant->harness.image, until, err);
        if (rc == 0 && entrant->has_provider) {
            rc = find_image(&plan->provider_images[i], options, engine, entrant->provider.image, until, err);
        }
        if (rc != 0) {
            mc_wrap(err, "harness %s", entrant->harness.name);
        }
    }
    return rc;
}

struct mc_sandbox_images mc_plan_images(const struct mc_plan *plan, size_t entrant)
{
    struct mc_sandbox_images images = {.roles = {NULL}};
    images.roles[MC_SIDECAR] = &plan->sidecar;
    images.roles[MC_HARNESS] = &plan->harness_images[entrant];
    images.roles[MC_PROVIDER] = plan->runfile.entrants[entrant].has_provider ? &plan->provider_images[entrant] : NULL;
    return images;
}

static json_t *texts_json(const char *const *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; texts[i]; i++) {
        json_array_append_new(list, json_string(texts[i]));
    }
    return list;
}

static json_t *image_json(const struct mc_found_image *found)
{
    if (!found->reference) {
        return json_null();
    }
    const struct mc_image *image = &found->image;
    return json_pack("{ss ss sb so so ss ss}", "reference", found->reference, "id", image->id, "pinned", found->pinned,
                     "digests", texts_json(image->digests), "layers", texts_json(image->layers), "os", image->os,
                     "arch", image->arch);
}

static json_t *model_json(const struct mc_model *model)
{
    MC_AUTOFREE char *source = mc_model_source(model);
    json_t *prices = model->prices ? json_deep_copy(model->prices) : json_null();
    return json_pack("{ss ss ss ss? ss? ss so}", "key", model->key, "name", model->name, "source", source, "base_url",
                     model->base_url, "secret", model->secret, "network", model->network, "prices", prices);
}

json_t *mc_models_json(const struct mc_runfile *runfile)
{
    json_t *list = json_array();
    for (size_t i = 0; i < runfile->model_count; i++) {
        json_array_append_new(list, model_json(&runfile->models[i]));
    }
    return list;
}

static json_t *limit_json(double value)
{
    return value < 0 ? json_null() : json_real(value);
}

static json_t *entrants_json(const struct mc_plan *plan)
{
    json_t *list = json_array();
    for (size_t i = 0; i < plan->runfile.entrant_count; i++) {
        const struct mc_entrant *entrant = &plan->runfile.entrants[i];
        if (!plan->harness_images[i].reference) {
            continue;
        }
        json_t *provider = entrant->has_provider ? mc_provider_json(&entrant->provider) : json_null();
        json_array_append_new(list, json_pack("{so so so so so}", "harness", mc_harness_json(&entrant->harness),
                                              "harness_image", image_json(&plan->harness_images[i]), "provider",
                                              provider, "provider_image", image_json(&plan->provider_images[i]),
                                              "model", model_json(entrant->model)));
    }
    return list;
}

static json_t *corpus_json(const struct mc_plan *plan)
{
    json_t *lives = json_array();
    for (size_t i = 0; i < plan->corpus->life_count; i++) {
        json_array_append_new(lives, json_string(plan->corpus->lives[i]));
    }
    return json_pack("{ss ss ss so}", "name", plan->corpus->name, "version", plan->corpus->version, "digest",
                     plan->listing.digest.hex, "lives", lives);
}

static json_t *trials_json(const struct mc_plan *plan)
{
    json_t *list = json_array();
    for (size_t i = 0; i < plan->trial_count; i++) {
        const struct mc_planned_trial *trial = &plan->trials[i];
        json_array_append_new(list, json_pack("{ss ss sI}", "life", trial->life, "harness",
                                              plan->runfile.entrants[trial->entrant].harness.name, "repetition",
                                              (json_int_t)trial->repetition));
    }
    return list;
}

static json_t *engine_json(const struct mc_engine_about *about)
{
    return json_pack("{ss ss ss ss ss ss ss sb}", "kind", about->kind_name, "version", about->version, "api",
                     about->api_spoken, "os", about->os, "arch", about->arch, "storage", about->storage, "cgroup",
                     about->cgroup, "rootless", about->rootless);
}

static void make_manifest(struct mc_plan *plan, const struct mc_engine_about *about)
{
    const struct mc_runfile *runfile = &plan->runfile;
    json_t *budget = json_pack("{so so so}", "usd", limit_json(runfile->budget_usd), "tokens",
                               mc_count_json(runfile->budget_tokens), "wall_s", mc_count_json(runfile->budget_wall_s));
    plan->manifest = json_pack(
        "{si ss s{ss ss} so so so so so so so sI s{sI} s{ss sI} ss}", "format", 1, "memcal", MEMCAL_VERSION, "run_file",
        "name", runfile->name, "digest", runfile->digest.hex, "corpus", corpus_json(plan), "entrants",
        entrants_json(plan), "models", mc_models_json(runfile), "sidecar_image", image_json(&plan->sidecar), "trials",
        trials_json(plan), "budget", budget, "engine", engine_json(about), "repetitions",
        (json_int_t)runfile->repetitions, "retries", "infrastructure", (json_int_t)runfile->infrastructure_retries,
        "grader", "judge", runfile->judge ? runfile->judge : "none", "votes", (json_int_t)runfile->votes, "isolation",
        plan->verified ? "verified" : "not verified");
    MC_AUTOFREE char *text = mc_json_text(plan->manifest);
    plan->digest = mc_sha256_of(text, strlen(text));
}

/* The whole of it, rubrics too: a fault found after a night of trials would cost that night. */
static int check_corpus(const char *dir, struct mc_err *err)
{
    MC_AUTOPROBLEMS struct mc_problems problems = {.items = NULL};
    mc_corpus_validate(dir, 1, &problems);
    return mc_problems_check(&problems, err);
}

int mc_plan_make(struct mc_plan *plan, const struct mc_plan_options *options, struct mc_engine *engine,
                 struct mc_until until, struct mc_err *err)
{
    memset(plan, 0, sizeof *plan);
    int rc = mc_runfile_load(options->runfile, &plan->runfile, err);
    if (rc != 0) {
        return rc;
    }
    if (options->repetitions > 0) {
        plan->runfile.repetitions = options->repetitions;
    }
    if (options->budget_usd >= 0) {
        plan->runfile.budget_usd = options->budget_usd;
    }
    rc = check_corpus(plan->runfile.corpus, err);
    rc = rc ? rc : mc_corpus_open(plan->runfile.corpus, &plan->corpus, err);
    rc = rc ? rc : mc_listing_scan(plan->runfile.corpus, &plan->listing, err);
    rc = rc ? rc : check_names(plan, options, err);
    rc = rc ? rc : find_images(plan, options, engine, until, err);
    if (rc == 0) {
        list_trials(plan, options);
        plan->verified = 0;
        make_manifest(plan, mc_engine_about(engine));
    }
    return rc;
}

void mc_plan_release(struct mc_plan *plan)
{
    for (size_t i = 0; i < plan->runfile.entrant_count && plan->harness_images; i++) {
        mc_found_image_release(&plan->harness_images[i]);
        mc_found_image_release(&plan->provider_images[i]);
    }
    mc_found_image_release(&plan->sidecar);
    free(plan->harness_images);
    free(plan->provider_images);
    free(plan->trials);
    json_decref(plan->manifest);
    mc_listing_release(&plan->listing);
    mc_corpus_free(plan->corpus);
    mc_runfile_release(&plan->runfile);
    memset(plan, 0, sizeof *plan);
}

/* The specifications need a life's zone: the first life's, as an example. */
static int specs_json(const struct mc_plan *plan, const char *store, json_t *list, struct mc_err *err)
{
    for (size_t i = 0; i < plan->trial_count; i++) {
        const struct mc_planned_trial *trial = &plan->trials[i];
        if (trial->repetition > 1 || !mc_streq(trial->life, plan->trials[0].life)) {
            continue;
        }
        MC_AUTOLIFE struct mc_life *life = NULL;
        int rc = mc_life_load(plan->corpus, trial->life, &life, err);
        if (rc != 0) {
            return rc;
        }
        const struct mc_entrant *entrant = &plan->runfile.entrants[trial->entrant];
        struct mc_sandbox_names names = {store, "RUN", "RUN-t1", "RUN-t1-a1", "OWNER"};
        struct mc_sandbox_images images = mc_plan_images(plan, trial->entrant);
        struct mc_sandbox sandbox;
        mc_sandbox_plan(&sandbox, &names, &images, entrant, life->timezone);
        json_array_append_new(list, json_pack("{ss ss so}", "harness", entrant->harness.name, "life", trial->life,
                                              "sandbox", mc_sandbox_json(&sandbox)));
        mc_sandbox_release(&sandbox);
    }
    return 0;
}

int mc_plan_json(const struct mc_plan *plan, const char *store, json_t **out, struct mc_err *err)
{
    json_t *specs = json_array();
    int rc = specs_json(plan, store, specs, err);
    if (rc != 0) {
        json_decref(specs);
        return rc;
    }
    *out = json_pack("{ss sO so}", "digest", plan->digest.hex, "manifest", plan->manifest, "containers", specs);
    return 0;
}
