#include "run/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "run/conduct.h"

/* The life that every check runs. */
static const struct {
    const char *path;
    const char *text;
} life_files[] = {
    {"corpus/corpus.yaml", "name: check\nversion: \"1\"\ndescription: One life of one step of each kind.\n"
                           "license: CC0-1.0\nchannels: [email]\n"},
    {"corpus/lives/check/life.yaml",
     "id: check\ntitle: One of each\nowner: Sam Reed\ntimezone: UTC\nstarts: \"2026-03-02T08:00:00+00:00\"\n"
     "ends: \"2026-03-03T20:00:00+00:00\"\nfamily: check\nbet: The program does every kind of step.\n"
     "role: development\ncollections: [\"2026-03-02T12:00:00+00:00\"]\nnights: [\"2026-03-03T02:00:00+00:00\"]\n"},
    {"corpus/lives/check/observations.jsonl",
     "{\"source_id\":\"em-1\",\"channel\":\"email\",\"written_at\":\"2026-03-02T09:00:00+00:00\",\"arrived_at\":"
     "\"2026-03-02T09:00:05+00:00\",\"collected_at\":\"2026-03-02T12:00:00+00:00\",\"sender\":\"Library\",\"thread\":"
     "\"t-1\",\"subject\":\"Your book\",\"text\":\"The book you ordered waits at desk 14.\"}\n"},
    {"corpus/lives/check/turns.jsonl", "{\"id\":\"turn-1\",\"at\":\"2026-03-02T13:00:00+00:00\",\"session\":\"day-1\","
                                       "\"text\":\"I will fetch the book tomorrow.\"}\n"},
    {"corpus/lives/check/checkpoints.jsonl",
     "{\"id\":\"check/desk\",\"at\":\"2026-03-03T10:00:00+00:00\",\"session\":\"ask-1\",\"question\":\"At which desk "
     "does the book wait?\",\"deadline_s\":120}\n"},
    {"corpus/lives/check/rubric.yaml",
     "checkpoints:\n  check/desk:\n    mode: fact\n    slots:\n      - id: desk\n        kind: current\n"
     "        match: number\n        expected: \"14\"\n        supported_by: [em-1]\n"},
};

static void add(json_t *checks, const char *check, const char *expected, const char *seen, int passed)
{
    json_array_append_new(checks, json_pack("{ss ss ss sb}", "check", check, "expected", expected, "seen",
                                            seen ? seen : "nothing", "passed", passed));
}

static int write_text(const char *dir, const char *name, const char *text, struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_path_join(dir, name);
    MC_AUTOFREE char *folder = mc_path_dir(path);
    int rc = mc_fs_mkdirs(folder, err);
    return rc ? rc : mc_fs_write(path, text, strlen(text), 0600, err);
}

/* A YAML double-quoted text: JSON's is one. */
static char *quoted(const char *text)
{
    MC_AUTOJSON json_t *value = json_string(text);
    return value ? mc_json_text(value) : mc_strdup("\"\"");
}

static int write_inputs(const char *dir, const char *manifest, int is_provider, struct mc_err *err)
{
    for (size_t i = 0; i < MC_COUNT(life_files); i++) {
        int rc = write_text(dir, life_files[i].path, life_files[i].text, err);
        if (rc != 0) {
            return rc;
        }
    }
    MC_AUTOFREE char *full = realpath(manifest, NULL);
    if (!full) {
        return mc_fail_errno(err, errno, "reading the manifest %s", manifest);
    }
    MC_AUTOFREE char *name = quoted(full);
    MC_AUTOFREE char *beside = mc_path_join(dir, "harness.yaml");
    MC_AUTOFREE char *beside_name = quoted(beside);
    if (is_provider) {
        MC_AUTOFREE char *harness = mc_strf("name: check\nvia: hermes\nimage: memcal/hermes:0.19.0\n"
                                            "version: \"0.19.0\"\nprovider: %s\n",
                                            name);
        int rc = write_text(dir, "harness.yaml", harness, err);
        if (rc != 0) {
            return rc;
        }
    }
    MC_AUTOFREE char *run = mc_strf("name: check\ncorpus: corpus\nharnesses: [%s]\nmodel:\n"
                                    "  upstream: {kind: script, name: extractive}\n",
                                    is_provider ? beside_name : name);
    return write_text(dir, "run.yaml", run, err);
}

struct reading {
    struct mc_store *store;
    json_t *checks;
    struct mc_err *err;
    char *attempt;
};

static int take_attempt(void *payload, const struct mc_attempt_record *attempt)
{
    struct reading *reading = payload;
    free(reading->attempt);
    reading->attempt = mc_strdup(attempt->id);
    return 0;
}

static int take_trial(void *payload, const struct mc_trial_record *trial)
{
    struct reading *reading = payload;
    return mc_attempts_list(reading->store, trial->id, take_attempt, reading, reading->err);
}

static int take_stage(void *payload, const struct mc_stage_record *stage)
{
    struct reading *reading = payload;
    static const struct {
        const char *name;
        const char *expected;
    } stages[] = {{"provision", "every program starts and is ready, with the version and tools of the manifest"},
                  {"collect", "every program ends when told to, and leaves its journal"},
                  {"teardown", "nothing is left on the engine"}};
    for (size_t i = 0; i < MC_COUNT(stages); i++) {
        if (mc_streq(stages[i].name, stage->name)) {
            int done = mc_streq(stage->status, "done");
            add(reading->checks, stage->name, stages[i].expected, done ? "as expected" : stage->detail, done);
        }
    }
    return 0;
}

static int take_step(void *payload, const struct mc_step_record *step)
{
    struct reading *reading = payload;
    int good = mc_streq(step->status, "done") || mc_streq(step->status, "skipped");
    MC_AUTOFREE char *seen =
        mc_strf("%s%s%s", step->status, step->detail ? ": " : "", step->detail ? step->detail : "");
    add(reading->checks, step->kind, "done", seen, good);
    return 0;
}

static int take_answer(void *payload, const struct mc_answer_record *answer)
{
    struct reading *reading = payload;
    add(reading->checks, "answer", "an answer, right or wrong", answer->answer ? answer->answer : answer->reason,
        answer->answer != NULL);
    return 0;
}

static int take_resource(void *payload, const struct mc_resource_record *resource)
{
    struct reading *reading = payload;
    if (!mc_streq(resource->kind, "container")) {
        return 0;
    }
    MC_AUTOJSON json_t *facts = resource->facts ? json_loads(resource->facts, 0, NULL) : NULL;
    const json_t *code = json_object_get(facts, "exit_code");
    int good = json_integer_value(code) == 0 && json_is_integer(code) &&
               !json_is_true(json_object_get(facts, "killed_by_memcal"));
    MC_AUTOFREE char *check = mc_strf("exit of the %s", resource->role);
    MC_AUTOFREE char *seen = json_is_integer(code) ? mc_strf("exit code %lld%s", (long long)json_integer_value(code),
                                                             good ? "" : ", or it had to be stopped")
                                                   : mc_strdup("it was never started");
    add(reading->checks, check, "exit code 0 by itself", seen, good);
    return 0;
}

static int read_checks(struct mc_store *store, const char *run, json_t *checks, struct mc_err *err)
{
    struct reading reading = {.store = store, .checks = checks, .err = err, .attempt = NULL};
    int rc = mc_trials_list(store, run, take_trial, &reading, err);
    if (rc == 0 && reading.attempt) {
        rc = mc_stages_list(store, reading.attempt, take_stage, &reading, err);
        rc = rc ? rc : mc_steps_list(store, reading.attempt, take_step, &reading, err);
        rc = rc ? rc : mc_answers_list(store, reading.attempt, take_answer, &reading, err);
        rc = rc ? rc : mc_resources_list(store, reading.attempt, take_resource, &reading, err);
    }
    free(reading.attempt);
    return rc;
}

/* A manifest or image that is wrong is a check that failed; all else is an error of the check. */
static int is_finding(int rc)
{
    return rc == MC_INPUT || rc == MC_NOT_FOUND || rc == MC_MISMATCH || rc == MC_LIMIT;
}

static int check_in(const struct mc_check_options *options, const char *dir, json_t *checks, struct mc_err *err)
{
    MC_AUTOFREE char *runfile = mc_path_join(dir, "run.yaml");
    MC_AUTOFREE char *store_dir = mc_path_join(dir, "store");
    struct mc_store *store = NULL;
    struct mc_plan plan = {.manifest = NULL};
    struct mc_plan_options plan_options = {.runfile = runfile, .budget_usd = -1};
    int rc = write_inputs(dir, options->manifest, options->is_provider, err);
    rc = rc ? rc : mc_plan_make(&plan, &plan_options, options->engine, mc_within(120000, options->cancel), err);
    if (is_finding(rc)) {
        add(checks, "manifest", "it can be read, and its images are on the engine", err->text, 0);
        mc_plan_release(&plan);
        return 0;
    }
    if (rc == 0) {
        add(checks, "manifest", "it can be read, and its images are on the engine", "as expected", 1);
        rc = mc_store_open(store_dir, &store, err);
    }
    if (rc == 0) {
        struct mc_conduct_options conduct = {.store = store,
                                             .engine = options->engine,
                                             .plan = &plan,
                                             .cancel = options->cancel,
                                             .watch = options->watch};
        struct mc_conduct_result result;
        rc = mc_conduct(&conduct, &result, err);
        rc = rc ? rc : read_checks(store, result.run, checks, err);
        mc_conduct_result_release(&result);
    }
    mc_store_close(store);
    mc_plan_release(&plan);
    return rc;
}

int mc_check_manifest(const struct mc_check_options *options, json_t **checks, struct mc_err *err)
{
    if (!mc_fs_exists(options->manifest)) {
        const char *kind = options->is_provider ? "provider" : "harness";
        mc_fail(err, MC_NOT_FOUND, "there is no %s manifest %s", kind, options->manifest);
        return mc_hint(err, "\"memcal %s list\" names those that there are", kind);
    }
    const char *tmp = getenv("TMPDIR");
    MC_AUTOFREE char *dir = mc_strf("%s/memcal-check-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir)) {
        return mc_fail_errno(err, errno, "making a temporary folder %s", dir);
    }
    *checks = json_array();
    int rc = check_in(options, dir, *checks, err);
    struct mc_err second;
    int removed = mc_fs_remove_tree(dir, &second);
    if (rc == 0 && removed != 0) {
        *err = second;
        rc = removed;
    }
    if (rc != 0) {
        json_decref(*checks);
        *checks = NULL;
    }
    return rc;
}
