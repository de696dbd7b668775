#include "support/stored_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "corpus/corpus.h"
#include "corpus/digest.h"
#include "grade/answers.h"
#include "run/keep.h"
#include "store/objects.h"
#include "store/records.h"

struct trial {
    char *life;
    char *harness;
    int64_t repetition;
};

struct making {
    struct mc_store *store;
    const struct stored_run *run;
    struct trial *trials;
    size_t count;
    size_t capacity;
    json_t *entrants;
};

static size_t find_trial(struct making *m, const struct mc_answer *answer)
{
    for (size_t i = 0; i < m->count; i++) {
        if (mc_streq(m->trials[i].life, answer->life) && mc_streq(m->trials[i].harness, answer->harness) &&
            m->trials[i].repetition == answer->repetition) {
            return i;
        }
    }
    m->trials = mc_grow(m->trials, m->count, &m->capacity, sizeof *m->trials);
    m->trials[m->count] = (struct trial){mc_strdup(answer->life), mc_strdup(answer->harness), answer->repetition};
    size_t i;
    const json_t *entrant;
    json_array_foreach (m->entrants, i, entrant) {
        if (mc_streq(json_string_value(json_object_get(json_object_get(entrant, "harness"), "name")),
                     answer->harness)) {
            return m->count++;
        }
    }
    json_array_append_new(m->entrants,
                          json_pack("{s{ss ss sn} s{sn sb} sn sn s{ss ss}}", "harness", "name", answer->harness, "via",
                                    "program", "provider", "harness_image", "reference", "pinned", 0, "provider",
                                    "provider_image", "model", "name", "extractive", "source", "script/extractive"));
    return m->count++;
}

static int note_answer(void *arg, const struct mc_answer *answer, struct mc_err *err)
{
    (void)err;
    find_trial(arg, answer);
    return 0;
}

static int put_answer(void *arg, const struct mc_answer *answer, struct mc_err *err)
{
    struct making *m = arg;
    MC_AUTOFREE char *attempt = mc_strf("%s-t%zu-a1", m->run->id, find_trial(m, answer) + 1);
    int done = answer->ended == MC_ENDED_COMPLETED;
    struct mc_answer_record row = {.attempt = attempt,
                                   .checkpoint = answer->checkpoint,
                                   .ended = mc_ended_name(answer->ended),
                                   .answer = done ? answer->answer : NULL,
                                   .latency_ms = done ? 100 + (int64_t)strlen(answer->answer) : MC_UNKNOWN,
                                   .calls = done ? 1 : MC_UNKNOWN,
                                   .usage = {10, 0, 5, 0}};
    return mc_answers_put(m->store, &row, err);
}

static int put_run(struct making *m, const struct mc_corpus *corpus, const struct mc_listing *listing,
                   struct mc_err *err)
{
    json_t *models = json_array();
    if (m->run->judge) {
        json_array_append_new(models, json_pack("{ss ss ss ss ss? s{si si}}", "key", "judge", "name", "judge-1",
                                                "source", "openai", "base_url", m->run->judge, "secret", m->run->secret,
                                                "prices", "input", 1, "output", 2));
    }
    MC_AUTOJSON json_t *manifest =
        json_pack("{si ss s{ss ss ss} sO so s{ss} s{ss si}}", "format", 1, "memcal", MEMCAL_VERSION, "corpus", "name",
                  corpus->name, "version", corpus->version, "digest", listing->digest.hex, "entrants", m->entrants,
                  "models", models, "engine", "kind", "none", "grader", "judge", "none", "votes", 3);
    MC_AUTOFREE char *text = mc_json_text(manifest);
    struct mc_digest digest;
    int rc = mc_keep_corpus(m->store, corpus, listing, err);
    rc = rc ? rc : mc_object_put(m->store, "manifest", text, strlen(text), &digest, err);
    struct mc_run_record run = {.id = m->run->id,
                                .name = "stored",
                                .manifest = digest.hex,
                                .corpus = listing->digest.hex,
                                .state = "running",
                                .owner = "test",
                                .isolation = "not verified"};
    rc = rc ? rc : mc_runs_add(m->store, &run, err);
    return rc ? rc : mc_runs_end(m->store, m->run->id, "finished", 0, err);
}

static int put_trials(struct making *m, struct mc_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->count; i++) {
        MC_AUTOFREE char *id = mc_strf("%s-t%zu", m->run->id, i + 1);
        MC_AUTOFREE char *attempt_id = mc_strf("%s-a1", id);
        struct mc_trial_record trial = {.id = id,
                                        .run = m->run->id,
                                        .ordinal = (int64_t)i + 1,
                                        .life = m->trials[i].life,
                                        .harness = m->trials[i].harness,
                                        .repetition = m->trials[i].repetition};
        struct mc_attempt_record attempt = {
            .id = attempt_id, .trial = id, .number = 1, .ended = "completed", .wall_ms = 1000, .engine_calls = 0};
        rc = mc_trials_add(m->store, &trial, err);
        rc = rc ? rc : mc_attempts_add(m->store, &attempt, err);
        rc = rc ? rc : mc_attempts_end(m->store, &attempt, err);
        rc = rc ? rc : mc_trials_end(m->store, id, "completed", NULL, err);
    }
    return rc;
}

int stored_run_make(struct mc_store *store, const struct stored_run *run, struct mc_err *err)
{
    struct making m = {.store = store, .run = run, .entrants = json_array()};
    MC_AUTOCORPUS struct mc_corpus *corpus = NULL;
    MC_AUTOLISTING struct mc_listing listing = {.files = NULL};
    int rc = mc_corpus_open(run->corpus, &corpus, err);
    rc = rc ? rc : mc_listing_scan(run->corpus, &listing, err);
    rc = rc ? rc : mc_answers_read(run->answers, mc_within(60000, NULL), note_answer, NULL, &m, err);
    rc = rc ? rc : put_run(&m, corpus, &listing, err);
    rc = rc ? rc : put_trials(&m, err);
    rc = rc ? rc : mc_answers_read(run->answers, mc_within(60000, NULL), put_answer, NULL, &m, err);
    for (size_t i = 0; i < m.count; i++) {
        free(m.trials[i].life);
        free(m.trials[i].harness);
    }
    free(m.trials);
    json_decref(m.entrants);
    return rc;
}
