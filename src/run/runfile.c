#include "run/runfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "run/judge.h"

enum { RUNFILE_MAX = 1 << 20, HARNESSES_MAX = 100, SECRETS_MAX = 100 };

char *mc_model_source(const struct mc_model *model)
{
    return model->kind == MC_UPSTREAM_SCRIPT ? mc_strf("script/%s", model->script)
                                             : mc_strdup(mc_upstream_kind_names[model->kind]);
}

char *mc_manifest_path(const char *from, const char *folder, const char *name)
{
    MC_AUTOFREE char *dir = mc_path_dir(from);
    if (strchr(name, '/')) {
        return mc_path_join(dir, name);
    }
    return mc_strf("%s/../%s/%s.yaml", dir, folder, name);
}

/* What each kind of upstream has; a key of another kind would be without effect, and is refused. */
static const char *const openai_keys[] = {"kind", "base_url", "secret", "network", NULL};
static const char *const script_keys[] = {"kind", "name", "network", NULL};
static const char *const replay_keys[] = {"kind", "network", NULL};

static int read_openai(const struct mc_view *upstream, struct mc_model *out, struct mc_err *err)
{
    int rc = mc_only_keys(upstream, openai_keys, err);
    rc = rc ? rc : mc_read_string(upstream, "base_url", MC_REQUIRED, &out->base_url, err);
    rc = rc ? rc : mc_read_id(upstream, "secret", MC_OPTIONAL, &out->secret, err);
    if (rc == 0 && !mc_starts_with(out->base_url, "http://") && !mc_starts_with(out->base_url, "https://")) {
        rc = mc_view_fail(upstream, err, "\"base_url\" must start with http:// or https://");
    }
    return rc;
}

static int read_script(const struct mc_view *upstream, struct mc_model *out, struct mc_err *err)
{
    static const char *const scripts[] = {"extractive", "redteam", NULL};
    int script = 0;
    int rc = mc_only_keys(upstream, script_keys, err);
    rc = rc ? rc : mc_read_choice(upstream, "name", MC_OPTIONAL, scripts, &script, err);
    out->script = scripts[script];
    return rc;
}

static int read_upstream(const struct mc_view *model, struct mc_model *out, struct mc_err *err)
{
    static const char *const networks[] = {"none", "default", "host", NULL};
    struct mc_view upstream;
    int kind = 0;
    int rc = mc_read_object(model, "upstream", MC_REQUIRED, &upstream, err);
    rc = rc ? rc : mc_read_choice(&upstream, "kind", MC_REQUIRED, mc_upstream_kind_names, &kind, err);
    if (rc != 0) {
        return rc;
    }
    out->kind = (enum mc_upstream_kind)kind;
    int network = 0;
    switch (out->kind) {
    case MC_UPSTREAM_OPENAI:
        network = 1;
        rc = read_openai(&upstream, out, err);
        break;
    case MC_UPSTREAM_SCRIPT:
        rc = read_script(&upstream, out, err);
        break;
    case MC_UPSTREAM_REPLAY:
        rc = mc_only_keys(&upstream, replay_keys, err);
        break;
    }
    rc = rc ? rc : mc_read_choice(&upstream, "network", MC_OPTIONAL, networks, &network, err);
    out->network = networks[network];
    return rc;
}

static int read_prices(const struct mc_view *model, struct mc_model *out, struct mc_err *err)
{
    static const char *const keys[] = {"input", "cached_input", "output", "reasoning", NULL};
    struct mc_view prices;
    int rc = mc_read_object(model, "prices", MC_OPTIONAL, &prices, err);
    if (rc != 0 || !prices.value) {
        return rc;
    }
    rc = mc_only_keys(&prices, keys, err);
    for (size_t i = 0; rc == 0 && keys[i]; i++) {
        double price = 0;
        rc = mc_read_number(&prices, keys[i], MC_OPTIONAL, &price, err);
        if (rc == 0 && price < 0) {
            rc = mc_view_fail(&prices, err, "\"%s\" must not be negative", keys[i]);
        }
    }
    out->prices = prices.value;
    return rc;
}

static int read_model(const struct mc_view *view, const char *key, struct mc_model *out, struct mc_err *err)
{
    static const char *const keys[] = {"upstream", "name", "prices", NULL};
    out->key = key;
    int rc = mc_view_is_object(view, err);
    rc = rc ? rc : mc_only_keys(view, keys, err);
    rc = rc ? rc : read_upstream(view, out, err);
    out->name = out->script ? out->script : out->name;
    enum mc_need need = out->kind == MC_UPSTREAM_SCRIPT ? MC_OPTIONAL : MC_REQUIRED;
    rc = rc ? rc : mc_read_id(view, "name", need, &out->name, err);
    return rc ? rc : read_prices(view, out, err);
}

/* `model:` is the one called "default"; `models:` names more. */
static int read_models(const struct mc_view *root, struct mc_runfile *out, struct mc_err *err)
{
    struct mc_view one;
    struct mc_view many;
    int rc = mc_read_object(root, "model", MC_OPTIONAL, &one, err);
    rc = rc ? rc : mc_read_object(root, "models", MC_OPTIONAL, &many, err);
    if (rc != 0) {
        return rc;
    }
    size_t count = (one.value ? 1 : 0) + (many.value ? json_object_size(many.value) : 0);
    if (count == 0) {
        return mc_view_fail(root, err, "\"model\" is missing");
    }
    out->models = mc_alloc(count, sizeof *out->models);
    if (one.value) {
        rc = read_model(&one, "default", &out->models[out->model_count++], err);
    }
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)many.value, key, value) {
        struct mc_view view = mc_view_member(&many, key);
        if (rc == 0 && !mc_is_name(key)) {
            rc = mc_view_fail(&view, err, "a model's name must be letters, digits, \".\", \"_\" or \"-\"");
        } else if (rc == 0 && one.value && mc_streq(key, "default")) {
            rc = mc_view_fail(&view, err, "\"model\" is the one called \"default\" already");
        }
        rc = rc ? rc : read_model(&view, key, &out->models[out->model_count++], err);
    }
    return rc;
}

static int read_budget(const struct mc_view *root, struct mc_runfile *out, struct mc_err *err)
{
    static const char *const keys[] = {"usd", "tokens", "wall_s", NULL};
    out->budget_usd = -1;
    out->budget_tokens = -1;
    out->budget_wall_s = -1;
    struct mc_view budget;
    int rc = mc_read_object(root, "budget", MC_OPTIONAL, &budget, err);
    if (rc != 0 || !budget.value) {
        return rc;
    }
    rc = mc_only_keys(&budget, keys, err);
    double usd = 0;
    rc = rc ? rc : mc_read_number(&budget, "usd", MC_OPTIONAL, &usd, err);
    if (rc == 0 && usd < 0) {
        rc = mc_view_fail(&budget, err, "\"usd\" must not be negative");
    }
    if (rc == 0 && mc_view_member(&budget, "usd").value) {
        out->budget_usd = usd;
    }
    rc = rc ? rc : mc_read_int(&budget, "tokens", MC_OPTIONAL, 0, INT64_MAX, &out->budget_tokens, err);
    return rc ? rc : mc_read_int(&budget, "wall_s", MC_OPTIONAL, 1, 31536000, &out->budget_wall_s, err);
}

static int read_retries(const struct mc_view *root, struct mc_runfile *out, struct mc_err *err)
{
    static const char *const keys[] = {"infrastructure", NULL};
    struct mc_view retries;
    int rc = mc_read_object(root, "retries", MC_OPTIONAL, &retries, err);
    if (rc != 0 || !retries.value) {
        return rc;
    }
    rc = mc_only_keys(&retries, keys, err);
    return rc ? rc : mc_read_int(&retries, "infrastructure", MC_OPTIONAL, 0, 100, &out->infrastructure_retries, err);
}

/* As environments have them; a name stands in the place of its secret, so it must not break any text. */
static int is_variable(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    size_t length = strspn(name, letters);
    return length >= 1 && length <= 100 && !name[length] && !(name[0] >= '0' && name[0] <= '9');
}

static int is_listed(const struct mc_runfile *runfile, const char *name)
{
    size_t i = 0;
    while (runfile->secrets[i] && !mc_streq(runfile->secrets[i], name)) {
        i++;
    }
    return runfile->secrets[i] != NULL;
}

static int read_secrets(const struct mc_view *root, struct mc_runfile *out, struct mc_err *err)
{
    struct mc_view list;
    int rc = mc_read_array(root, "secrets", MC_OPTIONAL, &list, err);
    if (rc != 0) {
        return rc;
    }
    size_t count = mc_view_count(&list);
    if (count > SECRETS_MAX) {
        return mc_view_fail(&list, err, "has %zu items, at most %d are allowed", count, SECRETS_MAX);
    }
    out->secrets = mc_alloc(count + 1, sizeof *out->secrets);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct mc_view item = mc_view_item(&list, i);
        const char *name = NULL;
        rc = mc_view_string(&item, &name, err);
        if (rc == 0 && !is_variable(name)) {
            rc = mc_view_fail(&item, err, "must be the name of an environment variable: letters, digits and \"_\"");
        } else if (rc == 0 && is_listed(out, name)) {
            rc = mc_view_fail(&item, err, "\"%s\" stands here twice", name);
        }
        out->secrets[i] = rc == 0 ? name : NULL;
    }
    for (size_t i = 0; rc == 0 && i < out->model_count; i++) {
        if (out->models[i].secret && !is_listed(out, out->models[i].secret)) {
            rc = mc_view_fail(root, err, "the model \"%s\" uses the secret %s, which \"secrets\" does not name",
                              out->models[i].key, out->models[i].secret);
        }
    }
    return rc;
}

int mc_entrant_load(const char *path, struct mc_entrant *out, struct mc_err *err)
{
    memset(out, 0, sizeof *out);
    int rc = mc_harness_load(path, &out->harness, err);
    if (rc == 0 && out->harness.provider) {
        MC_AUTOFREE char *provider = mc_manifest_path(path, "providers", out->harness.provider);
        rc = mc_provider_load(provider, &out->provider, err);
        out->has_provider = rc == 0;
    }
    if (rc != 0) {
        mc_entrant_release(out);
    }
    return rc;
}

void mc_entrant_release(struct mc_entrant *entrant)
{
    mc_harness_release(&entrant->harness);
    if (entrant->has_provider) {
        mc_provider_release(&entrant->provider);
    }
    entrant->has_provider = 0;
}

static int choose_model(const struct mc_runfile *runfile, const struct mc_view *item, struct mc_entrant *entrant,
                        struct mc_err *err)
{
    for (size_t i = 0; i < runfile->model_count; i++) {
        if (mc_streq(runfile->models[i].key, entrant->harness.model)) {
            entrant->model = &runfile->models[i];
            return 0;
        }
    }
    mc_view_fail(item, err, "the harness %s wants the model \"%s\", which the run file does not name",
                 entrant->harness.name, entrant->harness.model);
    return mc_hint(err, "add it under \"models\", or set the harness's \"model\" to one that is there");
}

static int read_entrants(const struct mc_view *root, struct mc_runfile *out, struct mc_err *err)
{
    struct mc_view list;
    int rc = mc_read_array(root, "harnesses", MC_REQUIRED, &list, err);
    if (rc != 0) {
        return rc;
    }
    size_t count = mc_view_count(&list);
    if (count < 1 || count > HARNESSES_MAX) {
        return mc_view_fail(&list, err, "must name 1 to %d harnesses, names %zu", HARNESSES_MAX, count);
    }
    out->entrants = mc_alloc(count, sizeof *out->entrants);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct mc_view item = mc_view_item(&list, i);
        const char *name = NULL;
        rc = mc_view_string(&item, &name, err);
        if (rc != 0) {
            break;
        }
        MC_AUTOFREE char *path = mc_manifest_path(out->path, "harnesses", name);
        rc = mc_entrant_load(path, &out->entrants[i], err);
        if (rc != 0) {
            MC_AUTOFREE char *place = mc_view_place(&item);
            return mc_wrap_place(err, place);
        }
        out->entrant_count++;
        rc = choose_model(out, &item, &out->entrants[i], err);
        for (size_t j = 0; rc == 0 && j < i; j++) {
            if (mc_streq(out->entrants[j].harness.name, out->entrants[i].harness.name)) {
                rc = mc_view_fail(&item, err, "the harness \"%s\" stands here twice", out->entrants[i].harness.name);
            }
        }
    }
    return rc;
}

static int read_grader(const struct mc_view *root, struct mc_runfile *out, struct mc_err *err)
{
    static const char *const keys[] = {"judge", "votes", NULL};
    struct mc_view grader;
    const char *judge = "none";
    int rc = mc_read_object(root, "grader", MC_OPTIONAL, &grader, err);
    if (rc != 0 || !grader.value) {
        return rc;
    }
    rc = mc_only_keys(&grader, keys, err);
    rc = rc ? rc : mc_read_id(&grader, "judge", MC_OPTIONAL, &judge, err);
    rc = rc ? rc : mc_read_int(&grader, "votes", MC_OPTIONAL, 1, MC_JUDGE_MAX_VOTES, &out->votes, err);
    if (rc == 0 && out->votes % 2 == 0) {
        struct mc_view votes = mc_view_member(&grader, "votes");
        mc_view_fail(&votes, err, "%lld votes can be split evenly", (long long)out->votes);
        return mc_hint(err, "ask for an odd number from 1 to %d", MC_JUDGE_MAX_VOTES);
    }
    if (rc != 0 || mc_streq(judge, "none")) {
        return rc;
    }
    struct mc_view named = mc_view_member(&grader, "judge");
    for (size_t i = 0; i < out->model_count; i++) {
        if (mc_streq(out->models[i].key, judge) && out->models[i].kind == MC_UPSTREAM_OPENAI) {
            out->judge = judge;
            return 0;
        }
        if (mc_streq(out->models[i].key, judge)) {
            MC_AUTOFREE char *source = mc_model_source(&out->models[i]);
            mc_view_fail(&named, err, "the model \"%s\" cannot judge: its upstream is %s", judge, source);
            return mc_hint(err, "name a model with an \"openai\" upstream, or \"none\"");
        }
    }
    mc_view_fail(&named, err, "there is no model \"%s\"", judge);
    return mc_hint(err, "add it under \"models\", or write \"none\"");
}

static int read_fields(const struct mc_view *root, struct mc_runfile *out, struct mc_err *err)
{
    static const char *const keys[] = {"name",    "corpus",  "harnesses", "repetitions", "jobs",    "model", "models",
                                       "secrets", "retries", "budget",    "grader",      "sidecar", NULL};
    const char *corpus = NULL;
    int rc = mc_view_is_object(root, err);
    rc = rc ? rc : mc_only_keys(root, keys, err);
    rc = rc ? rc : mc_read_name(root, "name", MC_OPTIONAL, &out->name, err);
    rc = rc ? rc : mc_read_string(root, "corpus", MC_REQUIRED, &corpus, err);
    rc = rc ? rc : mc_read_int(root, "repetitions", MC_OPTIONAL, 1, 10000, &out->repetitions, err);
    rc = rc ? rc : mc_read_int(root, "jobs", MC_OPTIONAL, 1, 256, &out->jobs, err);
    rc = rc ? rc : mc_read_id(root, "sidecar", MC_OPTIONAL, &out->sidecar, err);
    rc = rc ? rc : read_models(root, out, err);
    rc = rc ? rc : read_secrets(root, out, err);
    rc = rc ? rc : read_retries(root, out, err);
    rc = rc ? rc : read_budget(root, out, err);
    rc = rc ? rc : read_grader(root, out, err);
    rc = rc ? rc : read_entrants(root, out, err);
    if (rc == 0) {
        MC_AUTOFREE char *dir = mc_path_dir(out->path);
        out->corpus = mc_path_join(dir, corpus);
    }
    return rc;
}

int mc_runfile_load(const char *path, struct mc_runfile *out, struct mc_err *err)
{
    memset(out, 0, sizeof *out);
    out->name = "run";
    out->repetitions = 1;
    out->jobs = 1;
    out->votes = MC_JUDGE_VOTES;
    out->sidecar = "memcal/sidecar:" MEMCAL_VERSION;
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(RUNFILE_MAX);
    int rc = mc_fs_read(path, &bytes, err);
    rc = rc ? rc : mc_yaml_parse(mc_buf_text(&bytes), bytes.len, path, &out->doc, err);
    if (rc != 0) {
        mc_wrap(err, "run file");
        return err->hint[0] ? rc : mc_hint(err, "give the path of a run file in YAML: docs/runs.md describes one");
    }
    out->path = mc_strdup(path);
    out->digest = mc_sha256_of(mc_buf_text(&bytes), bytes.len);
    struct mc_view root = mc_doc_view(&out->doc);
    rc = read_fields(&root, out, err);
    if (rc != 0) {
        mc_runfile_release(out);
    }
    return rc;
}

void mc_runfile_release(struct mc_runfile *runfile)
{
    for (size_t i = 0; i < runfile->entrant_count; i++) {
        mc_entrant_release(&runfile->entrants[i]);
    }
    free(runfile->entrants);
    free(runfile->models);
    free(runfile->secrets);
    free(runfile->corpus);
    free(runfile->path);
    mc_doc_release(&runfile->doc);
    memset(runfile, 0, sizeof *runfile);
}
