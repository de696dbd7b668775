/* What a run is going to be, from a run file, a corpus and an engine's images. */
#include "support/fake_engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "run/plan.h"
#include "support/folder.h"

#define MANIFESTS TEST_SOURCE_DIR "/../manifests/"

struct fixture {
    struct fake fake;
    struct mc_engine *engine;
    char *dir;
    char *runfile;
};

static int set_up(void **state)
{
    struct fixture *f = mc_alloc(1, sizeof *f);
    fake_start(&f->fake);
    f->engine = fake_open(&f->fake);
    f->dir = test_folder();
    MC_AUTOFREE char *text = mc_strf("name: r\ncorpus: %s\nharnesses: [%s, %s]\nrepetitions: 2\nmodel:\n  upstream: "
                                     "{kind: script}\n",
                                     MANIFESTS "corpora/quickstart", MANIFESTS "harnesses/hermes-none.yaml",
                                     MANIFESTS "harnesses/hermes-fts.yaml");
    f->runfile = test_file(f->dir, "r.yaml", text);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    mc_engine_close(f->engine);
    fake_stop(&f->fake);
    test_folder_remove(f->dir);
    free(f->runfile);
    free(f);
    return 0;
}

static void say_image(struct fixture *f, const char *id)
{
    MC_AUTOFREE char *body = mc_strf("{\"Id\":\"sha256:%s\",\"Os\":\"linux\",\"Architecture\":\"amd64\",\"Config\":{"
                                     "\"Entrypoint\":[\"run\"],\"Cmd\":null}}",
                                     id);
    fake_say(&f->fake, "200 OK", body);
}

/* The engine is asked for the sidecar's image, then for each harness's and its provider's. */
static int make(struct fixture *f, struct mc_plan *plan, const struct mc_plan_options *options, struct mc_err *err)
{
    static const char *const ids[] = {"51de", "4a51", "4a52", "f75"};
    fake_clear(&f->fake);
    for (size_t i = 0; i < MC_COUNT(ids); i++) {
        say_image(f, ids[i]);
    }
    return mc_plan_make(plan, options, f->engine, mc_within(20000, NULL), err);
}

static struct mc_plan_options defaults(const struct fixture *f)
{
    return (struct mc_plan_options){.runfile = f->runfile, .budget_usd = -1};
}

static void trials_go_repetition_by_repetition(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_plan plan;
    struct mc_plan_options options = defaults(f);
    if (make(f, &plan, &options, &err) != 0) {
        fail_msg("%s", err.text);
    }
    size_t lives = plan.corpus->life_count;
    assert_true(lives >= 1);
    assert_int_equal(plan.trial_count, 2 * lives * 2);
    for (size_t i = 0; i < plan.trial_count; i++) {
        assert_int_equal(plan.trials[i].repetition, 1 + i / (lives * 2));
        assert_string_equal(plan.trials[i].life, plan.corpus->lives[i / 2 % lives]);
        assert_int_equal(plan.trials[i].entrant, i % 2);
    }
    mc_plan_release(&plan);
}

static void the_same_plan_has_the_same_digest(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_plan plans[3];
    struct mc_plan_options options = defaults(f);
    for (size_t i = 0; i < 3; i++) {
        options.repetitions = i == 2 ? 3 : 0;
        assert_int_equal(make(f, &plans[i], &options, &err), 0);
    }
    assert_string_equal(plans[0].digest.hex, plans[1].digest.hex);
    assert_string_not_equal(plans[0].digest.hex, plans[2].digest.hex);
    MC_AUTOFREE char *text = mc_json_text(plans[0].manifest);
    assert_string_equal(mc_sha256_of(text, strlen(text)).hex, plans[0].digest.hex);
    /* What pins it: images by ID, harnesses, providers and corpus by digest. */
    assert_non_null(strstr(text, "\"id\":\"sha256:f75\""));
    assert_non_null(strstr(text, plans[0].runfile.entrants[1].provider.digest.hex));
    assert_non_null(strstr(text, plans[0].listing.digest.hex));
    for (size_t i = 0; i < 3; i++) {
        mc_plan_release(&plans[i]);
        mc_plan_release(&plans[i]);
    }
}

static void only_what_is_asked_for_is_run(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_plan plan;
    struct mc_plan_options options = defaults(f);
    const char *const harnesses[] = {"hermes-fts", NULL};
    options.harnesses = harnesses;
    options.repetitions = 1;
    options.budget_usd = 2.5;
    if (make(f, &plan, &options, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(plan.trial_count, plan.corpus->life_count);
    assert_int_equal(plan.trials[0].entrant, 1);
    assert_true(plan.runfile.budget_usd == 2.5);
    assert_int_equal(json_array_size(json_object_get(plan.manifest, "entrants")), 1);
    mc_plan_release(&plan);
}

static void what_is_not_there_is_said(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_plan plan;
    struct mc_plan_options options = defaults(f);
    const char *const lives[] = {"nobody", NULL};
    const char *const harnesses[] = {"nothing", NULL};
    options.lives = lives;
    assert_int_equal(make(f, &plan, &options, &err), MC_INPUT);
    assert_string_equal(err.text, "the corpus quickstart has no life \"nobody\"");
    mc_plan_release(&plan);
    options.lives = NULL;
    options.harnesses = harnesses;
    assert_int_equal(make(f, &plan, &options, &err), MC_INPUT);
    MC_AUTOFREE char *text = mc_strf("%s names no harness \"nothing\"", f->runfile);
    assert_string_equal(err.text, text);
    mc_plan_release(&plan);
    options.harnesses = NULL;
    options.require_pinned = 1;
    assert_int_equal(make(f, &plan, &options, &err), MC_INPUT);
    assert_non_null(strstr(err.text, " is not pinned by digest, and --require-pinned is set"));
    assert_non_null(strstr(err.hint, "@sha256:51de"));
    mc_plan_release(&plan);
    options.require_pinned = 0;
    fake_clear(&f->fake);
    say_image(f, "51de");
    fake_say(&f->fake, "404 Not Found", "{\"message\":\"No such image: memcal/hermes:0.19.0\"}");
    assert_int_equal(mc_plan_make(&plan, &options, f->engine, mc_within(20000, NULL), &err), MC_NOT_FOUND);
    assert_true(mc_starts_with(err.text, "harness hermes-none: the image memcal/hermes:0.19.0 is not on the engine ("));
    assert_string_equal(err.hint, "build memcal's own with \"memcal image build\", or load it with \"docker load\"");
    mc_plan_release(&plan);
}

static void the_plan_shows_every_container(void **state)
{
    struct fixture *f = *state;
    struct mc_err err;
    struct mc_plan plan;
    struct mc_plan_options options = defaults(f);
    assert_int_equal(make(f, &plan, &options, &err), 0);
    json_t *json = NULL;
    assert_int_equal(mc_plan_json(&plan, "STORE", &json, &err), 0);
    assert_string_equal(json_string_value(json_object_get(json, "digest")), plan.digest.hex);
    const json_t *containers = json_object_get(json, "containers");
    assert_int_equal(json_array_size(containers), 2); /* one example for each harness */
    MC_AUTOFREE char *text = mc_json_text(containers);
    assert_non_null(strstr(text, "\"Image\":\"sha256:f75\""));
    assert_non_null(strstr(text, "\"org.memcal.store\":\"STORE\""));
    json_decref(json);
    mc_plan_release(&plan);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(trials_go_repetition_by_repetition), TEST(the_same_plan_has_the_same_digest),
        TEST(only_what_is_asked_for_is_run),      TEST(what_is_not_there_is_said),
        TEST(the_plan_shows_every_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
