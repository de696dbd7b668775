#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "run/recipe.h"
#include "run/runfile.h"
#include "support/folder.h"

/* A text that must be refused, and what is said of it: "%s" is the file's path. */
struct refusal {
    const char *text;
    const char *says;
    const char *hint; /* NULL: none */
};

static void check_error(const struct mc_err *err, const struct refusal *refusal, const char *path)
{
    MC_AUTOFREE char *says = mc_strf(refusal->says, path, path);
    assert_string_equal(err->text, says);
    assert_string_equal(err->hint, refusal->hint ? refusal->hint : "");
}

static char *json_of(json_t *json)
{
    assert_non_null(json);
    char *text = mc_json_text(json);
    json_decref(json);
    return text;
}

/* ---- Harnesses ---- */

#define HARNESS "name: h\nvia: hermes\nimage: i\nversion: \"1\"\n"

static void a_harness_has_defaults(void **state)
{
    (void)state;
    char *dir = test_folder();
    struct mc_err err;
    struct mc_harness harness;
    MC_AUTOFREE char *path = test_file(dir, "h.yaml", HARNESS);
    assert_int_equal(mc_harness_load(path, &harness, &err), 0);
    assert_string_equal(harness.digest.hex, mc_sha256_of(HARNESS, strlen(HARNESS)).hex);
    MC_AUTOFREE char *text = json_of(mc_harness_json(&harness));
    MC_AUTOFREE char *expected = mc_strf(
        "{\"config\":{},\"digest\":\"%s\",\"faked\":true,\"image\":\"i\",\"limits\":{\"context_tokens\":131072,"
        "\"memory_mb\":1024,\"pids\":256,\"start_s\":60,\"stop_s\":10,\"tool_calls\":20,\"turn_s\":120},\"model\":"
        "\"default\",\"name\":\"h\",\"provider\":null,\"version\":\"1\",\"via\":\"hermes\"}",
        harness.digest.hex);
    assert_string_equal(text, expected);
    mc_harness_release(&harness);
    mc_harness_release(&harness);
    test_folder_remove(dir);
}

static void a_harness_says_all_of_it(void **state)
{
    (void)state;
    char *dir = test_folder();
    struct mc_err err;
    struct mc_harness harness;
    MC_AUTOFREE char *path =
        test_file(dir, "h.yaml",
                  "name: my-agent_1.0\nvia: program\nimage: me/agent@sha256:00\nversion: \"2\"\nprovider: fts\nmodel: "
                  "big\nfaked: true\nlimits: {start_s: 1, turn_s: 2, stop_s: 3, tool_calls: 4, context_tokens: 1024, "
                  "memory_mb: 16, pids: 4}\nconfig: {deep: [1, {a: b}]}\n");
    assert_int_equal(mc_harness_load(path, &harness, &err), 0);
    assert_int_equal(harness.faked, 1);
    json_t *json = mc_harness_json(&harness);
    json_object_del(json, "digest");
    MC_AUTOFREE char *text = json_of(json);
    assert_string_equal(text,
                        "{\"config\":{\"deep\":[1,{\"a\":\"b\"}]},\"faked\":true,\"image\":\"me/agent@sha256:00\","
                        "\"limits\":{\"context_tokens\":1024,\"memory_mb\":16,\"pids\":4,\"start_s\":1,\"stop_s\":"
                        "3,\"tool_calls\":4,\"turn_s\":2},\"model\":\"big\",\"name\":\"my-agent_1.0\","
                        "\"provider\":\"fts\",\"version\":\"2\",\"via\":\"program\"}");
    mc_harness_release(&harness);
    MC_AUTOFREE char *program = test_file(dir, "p.yaml", "name: p\nvia: program\nimage: i\nversion: \"1\"\n");
    assert_int_equal(mc_harness_load(program, &harness, &err), 0);
    assert_int_equal(harness.faked, 0);
    mc_harness_release(&harness);
    test_folder_remove(dir);
}

static void wrong_harnesses_are_refused(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"", "harness manifest: %s: the file is empty", NULL},
        {"~\n", "%s:1: .: must be an object, is null", NULL},
        {"- a\n", "%s:1: .: must be an object, is a list", NULL},
        {"name: [\n", "harness manifest: %s:2: not valid YAML: did not find expected node content", NULL},
        {"via: hermes\nimage: i\nversion: \"1\"\n", "%s:1: .: \"name\" is missing", NULL},
        {"name: h\nimage: i\nversion: \"1\"\n", "%s:1: .: \"via\" is missing", NULL},
        {"name: h\nvia: hermes\nversion: \"1\"\n", "%s:1: .: \"image\" is missing", NULL},
        {"name: h\nvia: hermes\nimage: i\n", "%s:1: .: \"version\" is missing", NULL},
        {"name: h\nvia: hermes\nimage: i\nversion: 1\n", "%s:4: .version: must be text, is a whole number", NULL},
        {"name: h\nvia: magic\nimage: i\nversion: \"1\"\n", "%s:2: .via: must be one of hermes, program, is \"magic\"",
         NULL},
        {"name: a|b\nvia: hermes\nimage: i\nversion: \"1\"\n",
         "%s:1: .name: must be 1 to 100 letters, digits, \".\", \"_\" or \"-\", the first a letter or digit", NULL},
        {"name: ../h\nvia: hermes\nimage: i\nversion: \"1\"\n",
         "%s:1: .name: must be 1 to 100 letters, digits, \".\", \"_\" or \"-\", the first a letter or digit", NULL},
        {"name: h\nvia: hermes\nimage: \"\"\nversion: \"1\"\n", "%s:3: .image: must have 1 to 200 characters, has 0",
         NULL},
        {HARNESS "imgae: x\n", "%s:5: .imgae: unknown key", "did you mean \"image\"?"},
        {HARNESS "something: x\n", "%s:5: .something: unknown key", NULL},
        {HARNESS "limits: 5\n", "%s:5: .limits: must be an object, is a whole number", NULL},
        {HARNESS "limits:\n  turn_s: 0\n", "%s:6: .limits.turn_s: must be 1 to 86400, is 0", NULL},
        {HARNESS "limits: {turns: 1}\n", "%s:5: .limits.turns: unknown key", "did you mean \"turn_s\"?"},
        {HARNESS "limits: {pids: many}\n", "%s:5: .limits.pids: must be a whole number, is text", NULL},
        {HARNESS "limits: {context_tokens: 4096}\n",
         "%s:1: .: Hermes needs limits.context_tokens of 64000 or more, is 4096", NULL},
        {HARNESS "faked: 1\n", "%s:5: .faked: must be true or false, is a whole number", NULL},
        {HARNESS "config: text\n", "%s:5: .config: must be an object, is text", NULL},
    };
    char *dir = test_folder();
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err;
        struct mc_harness harness;
        MC_AUTOFREE char *path = test_file(dir, "h.yaml", cases[i].text);
        assert_int_equal(mc_harness_load(path, &harness, &err), MC_INPUT);
        check_error(&err, &cases[i], path);
    }
    struct mc_err err;
    struct mc_harness harness;
    MC_AUTOFREE char *absent = mc_path_join(dir, "absent.yaml");
    assert_int_equal(mc_harness_load(absent, &harness, &err), MC_NOT_FOUND);
    check_error(&err, &(struct refusal){"", "harness manifest: opening %s: No such file or directory", NULL}, absent);
    struct mc_buf large = MC_BUF_OWN;
    while (large.len <= (size_t)1 << 20) {
        mc_buf_puts(&large, "# a comment that goes on and on\n");
    }
    MC_AUTOFREE char *path = test_file(dir, "h.yaml", mc_buf_text(&large));
    assert_int_equal(mc_harness_load(path, &harness, &err), MC_LIMIT);
    check_error(
        &err, &(struct refusal){"", "harness manifest: reading %s: larger than the 1048576 bytes allowed for it", NULL},
        path);
    mc_buf_release(&large);
    test_folder_remove(dir);
}

/* ---- Providers ---- */

static void a_provider_has_defaults_and_sorted_lists(void **state)
{
    (void)state;
    char *dir = test_folder();
    struct mc_err err;
    struct mc_provider provider;
    MC_AUTOFREE char *path = test_file(dir, "p.yaml", "name: p\nimage: i\n");
    assert_int_equal(mc_provider_load(path, &provider, &err), 0);
    assert_false(mc_provider_is_faked(&provider));
    json_t *json = mc_provider_json(&provider);
    json_object_del(json, "digest");
    MC_AUTOFREE char *text = json_of(json);
    assert_string_equal(text, "{\"config\":{},\"egress\":[],\"expose\":[],\"faked\":[],\"image\":\"i\",\"limits\":{"
                              "\"import_s\":300,\"memory_mb\":1024,\"night_s\":600,\"pids\":256,\"start_s\":60,"
                              "\"stop_s\":10},\"maintenance\":\"native\",\"memory_volume\":\"private\",\"name\":\"p\","
                              "\"plugin\":null,\"tools\":[],\"version\":null}");
    mc_provider_release(&provider);
    MC_AUTOFREE char *full = test_file(
        dir, "q.yaml",
        "name: q\nimage: i\nversion: \"3\"\nplugin: {name: q, from: /opt/plugin}\ntools: [z, a]\nexpose: [7001, 1]\n"
        "memory_volume: shared\nmaintenance: none\nfaked: [all]\negress: []\nconfig: {k: 1}\n"
        "limits: {start_s: 1, import_s: 2, night_s: 3, stop_s: 4, memory_mb: 16, pids: 5}\n");
    assert_int_equal(mc_provider_load(full, &provider, &err), 0);
    assert_true(mc_provider_is_faked(&provider));
    json = mc_provider_json(&provider);
    json_object_del(json, "digest");
    MC_AUTOFREE char *all = json_of(json);
    assert_string_equal(all, "{\"config\":{\"k\":1},\"egress\":[],\"expose\":[7001,1],\"faked\":[\"all\"],\"image\":"
                             "\"i\",\"limits\":{\"import_s\":2,\"memory_mb\":16,\"night_s\":3,\"pids\":5,\"start_s\":1,"
                             "\"stop_s\":4},\"maintenance\":\"none\",\"memory_volume\":\"shared\",\"name\":\"q\","
                             "\"plugin\":{\"from\":\"/opt/plugin\",\"name\":\"q\"},\"tools\":[\"a\",\"z\"],"
                             "\"version\":\"3\"}");
    mc_provider_release(&provider);
    test_folder_remove(dir);
}

#define PROVIDER "name: p\nimage: i\n"

static void wrong_providers_are_refused(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"image: i\n", "%s:1: .: \"name\" is missing", NULL},
        {"name: p\n", "%s:1: .: \"image\" is missing", NULL},
        {PROVIDER "tool: [a]\n", "%s:3: .tool: unknown key", "did you mean \"tools\"?"},
        {PROVIDER "tools: a\n", "%s:3: .tools: must be a list, is text", NULL},
        {PROVIDER "tools: [a, b, a]\n", "%s:3: .tools: \"a\" stands here twice", NULL},
        {PROVIDER "tools: [\"\"]\n", "%s:3: .tools[0]: must have 1 to 200 characters, has 0", NULL},
        {PROVIDER "tools: [7]\n", "%s:3: .tools[0]: must be text, is a whole number", NULL},
        {PROVIDER "tools: [~]\n", "%s:3: .tools[0]: must be text, is null", NULL},
        {PROVIDER "expose: [8080]\n", "%s:3: .expose[0]: must be a port from 1 to 65535 other than 8080", NULL},
        {PROVIDER "expose:\n  - 1\n  - 65536\n", "%s:5: .expose[1]: must be a port from 1 to 65535 other than 8080",
         NULL},
        {PROVIDER "expose: [1, 1]\n", "%s:3: .expose: 1 stands here twice", NULL},
        {PROVIDER "plugin: {name: x, from: here}\n",
         "%s:3: .plugin: \"from\" must be an absolute path in the provider's image, without \":\"", NULL},
        {PROVIDER "plugin: {name: x, from: \"/a:rw\"}\n",
         "%s:3: .plugin: \"from\" must be an absolute path in the provider's image, without \":\"", NULL},
        {PROVIDER "plugin: {name: x, from: /}\n",
         "%s:3: .plugin: \"from\" must be an absolute path in the provider's image, without \":\"", NULL},
        {PROVIDER "plugin: {from: /here}\n", "%s:3: .plugin: \"name\" is missing", NULL},
        {PROVIDER "plugin: {name: x, form: /here}\n", "%s:3: .plugin.form: unknown key", "did you mean \"from\"?"},
        {PROVIDER "memory_volume: mine\n", "%s:3: .memory_volume: must be one of private, shared, is \"mine\"", NULL},
        {PROVIDER "maintenance: dream\n", "%s:3: .maintenance: must be one of native, none, is \"dream\"", NULL},
        {PROVIDER "limits: {import_s: 0}\n", "%s:3: .limits.import_s: must be 1 to 86400, is 0", NULL},
        {PROVIDER "egress: [api.example.com:443]\n",
         "%s:1: .: egress to \"api.example.com:443\": this version reaches no host but the model",
         "use a provider that works without a network of its own"},
        {"name: p\nname: q\n", "provider manifest: %s:2: the key \"name\" stands here a second time", NULL},
        {PROVIDER "tools: &a [x]\n", "provider manifest: %s:3: anchors and tags are not allowed", NULL},
    };
    char *dir = test_folder();
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err;
        struct mc_provider provider;
        MC_AUTOFREE char *path = test_file(dir, "p.yaml", cases[i].text);
        assert_int_equal(mc_provider_load(path, &provider, &err), MC_INPUT);
        check_error(&err, &cases[i], path);
    }
    struct mc_buf many = MC_BUF_OWN;
    mc_buf_puts(&many, PROVIDER "expose: [");
    for (int port = 1; port < 100; port++) {
        mc_buf_putf(&many, "%d,", port);
    }
    mc_buf_puts(&many, "]\n");
    struct mc_err err;
    struct mc_provider provider;
    MC_AUTOFREE char *path = test_file(dir, "p.yaml", mc_buf_text(&many));
    assert_int_equal(mc_provider_load(path, &provider, &err), MC_INPUT);
    check_error(&err, &(struct refusal){"", "%s:3: .expose: has 99 items, at most 64 are allowed", NULL}, path);
    mc_buf_release(&many);
    test_folder_remove(dir);
}

/* ---- Run files ---- */

#define MODEL "model:\n  upstream: {kind: script}\n"
#define RUN "corpus: ../c\nharnesses: [h]\n" MODEL

/* A folder with a harness h, one with a provider that is not there, and one that wants another model. */
static char *manifests(void)
{
    char *dir = test_folder();
    free(test_file(dir, "harnesses/h.yaml", HARNESS "provider: p\n"));
    free(test_file(dir, "harnesses/same.yaml", HARNESS));
    free(test_file(dir, "harnesses/lost.yaml", "name: lost\nvia: hermes\nimage: i\nversion: \"1\"\nprovider: none\n"));
    free(test_file(dir, "harnesses/big.yaml", "name: big\nvia: hermes\nimage: i\nversion: \"1\"\nmodel: big\n"));
    free(test_file(dir, "harnesses/bad.yaml", "name: bad\n"));
    free(test_file(dir, "runs/mine.yaml", "name: mine\nvia: program\nimage: i\nversion: \"1\"\n"));
    free(test_file(dir, "providers/p.yaml", "name: p\nimage: i\ntools: [x]\n"));
    return dir;
}

static void a_run_file_has_defaults(void **state)
{
    (void)state;
    char *dir = manifests();
    struct mc_err err;
    struct mc_runfile run;
    MC_AUTOFREE char *path = test_file(dir, "runs/r.yaml", RUN);
    if (mc_runfile_load(path, &run, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(run.name, "run");
    MC_AUTOFREE char *corpus = mc_strf("%s/runs/../c", dir);
    assert_string_equal(run.corpus, corpus);
    assert_int_equal(run.repetitions, 1);
    assert_int_equal(run.jobs, 1);
    assert_int_equal(run.infrastructure_retries, 0);
    assert_true(run.budget_usd < 0);
    assert_int_equal(run.budget_tokens, -1);
    assert_int_equal(run.budget_wall_s, -1);
    assert_string_equal(run.sidecar, "memcal/sidecar:" MEMCAL_VERSION);
    assert_null(run.secrets[0]);
    assert_int_equal(run.model_count, 1);
    assert_string_equal(run.models[0].key, "default");
    assert_string_equal(run.models[0].name, "extractive");
    assert_string_equal(run.models[0].network, "none");
    assert_null(run.models[0].prices);
    assert_int_equal(run.entrant_count, 1);
    assert_true(run.entrants[0].has_provider);
    assert_string_equal(run.entrants[0].provider.tools[0], "x");
    assert_ptr_equal(run.entrants[0].model, &run.models[0]);
    MC_AUTOFREE char *source = mc_model_source(&run.models[0]);
    assert_string_equal(source, "script/extractive");
    mc_runfile_release(&run);
    mc_runfile_release(&run);
    test_folder_remove(dir);
}

static void a_run_file_says_all_of_it(void **state)
{
    (void)state;
    char *dir = manifests();
    struct mc_err err;
    struct mc_runfile run;
    MC_AUTOFREE char *path = test_file(
        dir, "runs/r.yaml",
        "name: full\ncorpus: /abs\nharnesses: [h, big, ./mine.yaml]\nrepetitions: 3\njobs: 2\nsidecar: s:1\n"
        "model:\n  upstream: {kind: openai, base_url: \"http://x/v1\", secret: KEY, network: host}\n  name: gpt\n"
        "  prices: {input: 1.5, output: 2}\n"
        "models:\n  big:\n    upstream: {kind: replay}\n    name: old\n"
        "secrets: [KEY, _OTHER2]\nretries: {infrastructure: 2}\nbudget: {usd: 0, tokens: 0, wall_s: 60}\n"
        "grader: {judge: default, votes: 5}\n");
    if (mc_runfile_load(path, &run, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(run.name, "full");
    assert_string_equal(run.judge, "default");
    assert_int_equal(run.votes, 5);
    assert_string_equal(run.corpus, "/abs");
    assert_int_equal(run.entrant_count, 3);
    assert_string_equal(run.entrants[2].harness.name, "mine");
    assert_false(run.entrants[2].has_provider);
    assert_string_equal(run.entrants[1].model->name, "old");
    assert_string_equal(run.models[0].base_url, "http://x/v1");
    assert_string_equal(run.models[0].secret, "KEY");
    assert_string_equal(run.models[0].network, "host");
    assert_string_equal(run.models[1].network, "none");
    assert_true(json_real_value(json_object_get(run.models[0].prices, "input")) == 1.5);
    assert_string_equal(run.secrets[1], "_OTHER2");
    assert_null(run.secrets[2]);
    assert_int_equal(run.repetitions, 3);
    assert_int_equal(run.jobs, 2);
    assert_int_equal(run.infrastructure_retries, 2);
    assert_true(run.budget_usd == 0); /* a budget of nothing, not none */
    assert_int_equal(run.budget_tokens, 0);
    assert_int_equal(run.budget_wall_s, 60);
    MC_AUTOFREE char *source = mc_model_source(&run.models[0]);
    MC_AUTOFREE char *replay = mc_model_source(&run.models[1]);
    assert_string_equal(source, "openai");
    assert_string_equal(replay, "replay");
    mc_runfile_release(&run);
    test_folder_remove(dir);
}

static void wrong_run_files_are_refused(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"[]\n", "%s:1: .: must be an object, is a list", NULL},
        {"harnesses: [h]\n" MODEL, "%s:1: .: \"corpus\" is missing", NULL},
        {"corpus: c\n" MODEL, "%s:1: .: \"harnesses\" is missing", NULL},
        {"corpus: c\nharnesses: []\n" MODEL, "%s:2: .harnesses: must name 1 to 100 harnesses, names 0", NULL},
        {"corpus: c\nharnesses: [h]\n", "%s:1: .: \"model\" is missing", NULL},
        {RUN "harness: h\n", "%s:5: .harness: unknown key", "did you mean \"harnesses\"?"},
        {RUN "repetitions: 0\n", "%s:5: .repetitions: must be 1 to 10000, is 0", NULL},
        {RUN "jobs: 257\n", "%s:5: .jobs: must be 1 to 256, is 257", NULL},
        {RUN "name: \"a b\"\n",
         "%s:5: .name: must be 1 to 100 letters, digits, \".\", \"_\" or \"-\", the first a letter or digit", NULL},
        {RUN "budget: {usd: -1}\n", "%s:5: .budget: \"usd\" must not be negative", NULL},
        {RUN "budget: {usd: free}\n", "%s:5: .budget.usd: must be a number, is text", NULL},
        {RUN "budget: {tokens: -1}\n", "%s:5: .budget.tokens: must be 0 to 9223372036854775807, is -1", NULL},
        {RUN "budget: {wall_s: 0}\n", "%s:5: .budget.wall_s: must be 1 to 31536000, is 0", NULL},
        {RUN "budget: {euro: 1}\n", "%s:5: .budget.euro: unknown key", NULL},
        {RUN "retries: {infrastructure: 101}\n", "%s:5: .retries.infrastructure: must be 0 to 100, is 101", NULL},
        {RUN "retries: {harness: 1}\n", "%s:5: .retries.harness: unknown key", NULL},
        {RUN "grader: {judge: me}\n", "%s:5: .grader.judge: there is no model \"me\"",
         "add it under \"models\", or write \"none\""},
        {RUN "grader: {votes: 4}\n", "%s:5: .grader.votes: 4 votes can be split evenly",
         "ask for an odd number from 1 to 9"},
        {RUN "grader: {votes: 11}\n", "%s:5: .grader.votes: must be 1 to 9, is 11", NULL},
        {RUN "secrets: [A B]\n",
         "%s:5: .secrets[0]: must be the name of an environment variable: letters, digits and \"_\"", NULL},
        {RUN "secrets: [1A]\n",
         "%s:5: .secrets[0]: must be the name of an environment variable: letters, digits and"
         " \"_\"",
         NULL},
        {RUN "secrets: [A, A]\n", "%s:5: .secrets[1]: \"A\" stands here twice", NULL},
        {RUN "secrets: A\n", "%s:5: .secrets: must be a list, is text", NULL},
        {"corpus: c\nharnesses: [h]\nmodel: {upstream: {kind: openai, base_url: \"http://x\", secret: K}, name: m}\n",
         "%s:1: .: the model \"default\" uses the secret K, which \"secrets\" does not name", NULL},
        {"corpus: c\nharnesses: [h]\nmodel: {upstream: {kind: openai, base_url: \"ftp://x\"}, name: m}\n",
         "%s:3: .model.upstream: \"base_url\" must start with http:// or https://", NULL},
        {"corpus: c\nharnesses: [h]\nmodel: {upstream: {kind: openai}, name: m}\n",
         "%s:3: .model.upstream: \"base_url\" is missing", NULL},
        {"corpus: c\nharnesses: [h]\nmodel: {upstream: {kind: openai, base_url: \"http://x\"}}\n",
         "%s:3: .model: \"name\" is missing", NULL},
        {"corpus: c\nharnesses: [h]\nmodel: {upstream: {kind: magic}}\n",
         "%s:3: .model.upstream.kind: must be one of openai, script, replay, is \"magic\"", NULL},
        {"corpus: c\nharnesses: [h]\nmodel: {upstream: {kind: script, name: smart}}\n",
         "%s:3: .model.upstream.name: must be one of extractive, redteam, is \"smart\"", NULL},
        {"corpus: c\nharnesses: [h]\nmodel: {upstream: {kind: script, network: lan}}\n",
         "%s:3: .model.upstream.network: must be one of none, default, host, is \"lan\"", NULL},
        /* What another kind of upstream has would be without effect here. */
        {"corpus: c\nharnesses: [h]\nmodel: {upstream: {kind: script, base_url: \"http://x\"}}\n",
         "%s:3: .model.upstream.base_url: unknown key", NULL},
        {"corpus: c\nharnesses: [h]\nmodel: {upstream: {kind: replay, secret: K}, name: m}\n",
         "%s:3: .model.upstream.secret: unknown key", NULL},
        {"corpus: c\nharnesses: [h]\nmodel: {upstream: {kind: script}, prices: {input: -1}}\n",
         "%s:3: .model.prices: \"input\" must not be negative", NULL},
        {"corpus: c\nharnesses: [h]\nmodel: {upstream: {kind: script}, price: {}}\n", "%s:3: .model.price: unknown key",
         "did you mean \"prices\"?"},
        {RUN "models: {default: {upstream: {kind: script}}}\n",
         "%s:5: .models.default: \"model\" is the one called \"default\" already", NULL},
        {RUN "models: {a: ~}\n", "%s:5: .models.a: must be an object, is null", NULL},
        {RUN "models: {\"a b\": {upstream: {kind: script}}}\n",
         "%s:5: .models.\"a b\": a model's name must be letters, digits, \".\", \"_\" or \"-\"", NULL},
        {"corpus: c\nharnesses: [h, same]\n" MODEL, "%s:2: .harnesses[1]: the harness \"h\" stands here twice", NULL},
        {"corpus: c\nharnesses:\n  - h\n  - big\n" MODEL,
         "%s:4: .harnesses[1]: the harness big wants the model \"big\", which the run file does not name",
         "add it under \"models\", or set the harness's \"model\" to one that is there"},
        {"corpus: c\nharnesses: [7]\n" MODEL, "%s:2: .harnesses[0]: must be text, is a whole number", NULL},
    };
    char *dir = manifests();
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err;
        struct mc_runfile run;
        MC_AUTOFREE char *path = test_file(dir, "runs/r.yaml", cases[i].text);
        assert_int_equal(mc_runfile_load(path, &run, &err), MC_INPUT);
        check_error(&err, &cases[i], path);
        assert_null(run.path);
    }
    test_folder_remove(dir);
}

static void a_manifest_that_a_run_file_names_is_said_with_both_places(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int rc;
        const char *says; /* after the place in the run file; "%s" is the folder */
    } cases[] = {
        {"bad", MC_INPUT, "%s/runs/../harnesses/bad.yaml:1: .: \"via\" is missing"},
        {"absent", MC_NOT_FOUND,
         "harness manifest: opening %s/runs/../harnesses/absent.yaml: No such file or directory"},
        {"lost", MC_NOT_FOUND,
         "provider manifest: opening %s/runs/../harnesses/../providers/none.yaml: No such file or directory"},
        {"./here.yaml", MC_NOT_FOUND, "harness manifest: opening %s/runs/./here.yaml: No such file or directory"},
    };
    char *dir = manifests();
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err;
        struct mc_runfile run;
        MC_AUTOFREE char *text = mc_strf("corpus: c\n%sharnesses: [h, %s]\n", MODEL, cases[i].name);
        MC_AUTOFREE char *path = test_file(dir, "runs/r.yaml", text);
        assert_int_equal(mc_runfile_load(path, &run, &err), cases[i].rc);
        MC_AUTOFREE char *what = mc_strf(cases[i].says, dir);
        MC_AUTOFREE char *says = mc_strf("%s:4: .harnesses[1]: %s", path, what);
        assert_string_equal(err.text, says);
    }
    test_folder_remove(dir);
}

/* The manifests of the house. */
static void our_own_manifests_can_be_read(void **state)
{
    (void)state;
    struct mc_err err;
    struct mc_runfile run;
    if (mc_runfile_load(TEST_SOURCE_DIR "/../manifests/runs/quickstart.yaml", &run, &err) != 0) {
        fail_msg("%s", err.text);
    }
    mc_runfile_release(&run);
    struct mc_recipes recipes;
    if (mc_recipes_load(TEST_SOURCE_DIR "/../images", &recipes, &err) != 0) {
        fail_msg("%s", err.text);
    }
    const struct mc_recipe *hermes = mc_recipes_find(&recipes, "hermes");
    assert_non_null(hermes);
    assert_ptr_equal(mc_recipes_find(&recipes, hermes->tag), hermes);
    assert_string_equal(hermes->wheels.python, "3.13");
    assert_non_null(hermes->wheels.platforms[0]);
    assert_null(mc_recipes_find(&recipes, "nothing"));
    mc_recipes_release(&recipes);
}

/* ---- Recipes ---- */

static void wrong_recipes_are_refused(void **state)
{
    (void)state;
#define ONE "images:\n  - {name: a, tag: \"a:1\", context: a}\n"
    static const struct refusal cases[] = {
        {"", "image recipes: %s: the file is empty", NULL},
        {"image: []\n", "%s:1: .image: unknown key", "did you mean \"images\"?"},
        {"{}\n", "%s:1: .: \"images\" is missing", NULL},
        {"images: [a]\n", "%s:1: .images[0]: must be an object, is text", NULL},
        {"images: [{tag: t, context: c}]\n", "%s:1: .images[0]: \"name\" is missing", NULL},
        {"images: [{name: a, context: c}]\n", "%s:1: .images[0]: \"tag\" is missing", NULL},
        {"images: [{name: a, tag: t}]\n", "%s:1: .images[0]: needs either \"context\" or \"import\"", NULL},
        {"images: [{name: a, tag: t, context: c, import: {pull: p}}]\n",
         "%s:1: .images[0]: needs either \"context\" or \"import\"", NULL},
        {"images: [{name: a, tag: t, import: {command: [x]}}]\n", "%s:1: .images[0].import: \"pull\" is missing", NULL},
        {"images: [{name: a, tag: t, context: c, wheels: {python: \"3\"}}]\n",
         "%s:1: .images[0].wheels: \"lock\" is missing", NULL},
        {"images: [{name: a, tag: t, context: c, file: []}]\n", "%s:1: .images[0].file: unknown key",
         "did you mean \"files\"?"},
        {"images: [{name: a, tag: t, context: c, files: [1]}]\n",
         "%s:1: .images[0].files[0]: must be text, is a whole number", NULL},
        {ONE "  - {name: a, tag: \"b:1\", context: b}\n",
         "%s:3: .images[1]: the name or tag of the image \"a\" stands here twice", NULL},
        {ONE "  - {name: b, tag: \"a:1\", context: b}\n",
         "%s:3: .images[1]: the name or tag of the image \"b\" stands here twice", NULL},
        {ONE "  - {name: b, tag: \"b:1\", context: b, from: \"c:1\"}\n",
         "%s:3: .images[1]: \"from\" must be \"scratch\" or the tag of an image before it, is \"c:1\"", NULL},
        {ONE "  - {name: b, tag: \"b:1\", context: b, from: a}\n",
         "%s:3: .images[1]: \"from\" must be \"scratch\" or the tag of an image before it, is \"a\"", NULL},
        {"images: [{name: a, tag: t, context: c, from: t}]\n",
         "%s:1: .images[0]: \"from\" must be \"scratch\" or the tag of an image before it, is \"t\"", NULL},
    };
    char *dir = test_folder();
    for (size_t i = 0; i < MC_COUNT(cases); i++) {
        struct mc_err err;
        struct mc_recipes recipes;
        MC_AUTOFREE char *path = test_file(dir, "images.yaml", cases[i].text);
        assert_int_equal(mc_recipes_load(dir, &recipes, &err), MC_INPUT);
        check_error(&err, &cases[i], path);
    }
    struct mc_err err;
    struct mc_recipes recipes;
    MC_AUTOFREE char *none = mc_path_join(dir, "none");
    assert_int_equal(mc_recipes_load(none, &recipes, &err), MC_NOT_FOUND);
    check_error(&err,
                &(struct refusal){"", "image recipes: opening %s/images.yaml: No such file or directory",
                                  "say where memcal's images/ folder is with --images DIR"},
                none);
    test_folder_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_harness_has_defaults),
        cmocka_unit_test(a_harness_says_all_of_it),
        cmocka_unit_test(wrong_harnesses_are_refused),
        cmocka_unit_test(a_provider_has_defaults_and_sorted_lists),
        cmocka_unit_test(wrong_providers_are_refused),
        cmocka_unit_test(a_run_file_has_defaults),
        cmocka_unit_test(a_run_file_says_all_of_it),
        cmocka_unit_test(wrong_run_files_are_refused),
        cmocka_unit_test(a_manifest_that_a_run_file_names_is_said_with_both_places),
        cmocka_unit_test(our_own_manifests_can_be_read),
        cmocka_unit_test(wrong_recipes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
