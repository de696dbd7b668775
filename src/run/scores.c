#include "run/scores.h"

#include <math.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "grade/verdict.h"
#include "run/verdicts.h"
#include "store/objects.h"

const char *const mc_score_sources[] = {"official", "verifier", "imported", NULL};

static const char *const verdicts[] = {"correct", "missed", "misrepresented", NULL};

struct importing {
    struct mc_store *store;
    const struct mc_stored_run *run;
    const char *path;
    const char *source;
    struct mc_digest file;
    struct mc_grading_in_force grading;
    int line;
    struct mc_scores_result *result;
};

/* The trial that a line names by life, harness and repetition. */
struct wanted {
    const char *life;
    const char *harness;
    int64_t repetition;
    char *trial;
};

static int match(void *payload, const struct mc_trial_record *trial)
{
    struct wanted *wanted = payload;
    if (!wanted->trial && mc_streq(trial->life, wanted->life) && mc_streq(trial->harness, wanted->harness) &&
        trial->repetition == wanted->repetition) {
        wanted->trial = mc_strdup(trial->id);
    }
    return 0;
}

static int find_trial(struct importing *importing, const struct mc_view *view, char **trial, struct mc_err *err)
{
    const char *named = NULL;
    struct wanted wanted = {.repetition = 1};
    int rc = mc_read_id(view, "trial", MC_OPTIONAL, &named, err);
    if (rc != 0 || named) {
        *trial = named ? mc_strdup(named) : NULL;
        return rc;
    }
    rc = mc_read_id(view, "life", MC_REQUIRED, &wanted.life, err);
    rc = rc ? rc : mc_read_id(view, "harness", MC_REQUIRED, &wanted.harness, err);
    rc = rc ? rc : mc_read_int(view, "repetition", MC_OPTIONAL, 1, 1000000, &wanted.repetition, err);
    rc = rc ? rc : mc_trials_list(importing->store, importing->run->id, match, &wanted, err);
    if (rc == 0 && !wanted.trial) {
        mc_view_fail(view, err, "the run has no trial of \"%s\" by \"%s\", repetition %lld", wanted.life,
                     wanted.harness, (long long)wanted.repetition);
        rc = mc_hint(err, "\"memcal show %s\" lists its trials", importing->run->id);
    }
    *trial = wanted.trial;
    return rc;
}

static int check_slot(struct importing *importing, const struct mc_view *view, const struct mc_answer_id *id,
                      const char *slot, struct mc_err *err)
{
    MC_AUTOJUDGED struct mc_judged judged;
    int rc = mc_judged_load(importing->store, importing->grading.id, id->attempt, id->checkpoint, &judged, err);
    if (rc == 0 && (!judged.object || !mc_answer_grade_slot(&judged.grade, slot))) {
        struct mc_view member = mc_view_member(view, "slot");
        rc = mc_view_fail(&member, err, "the answer %s has no slot \"%s\"", id->id, slot);
    }
    return rc;
}

/* A verdict, or a score from 0 to 1: exactly one of them. */
static int read_value(const struct mc_view *view, struct mc_score_record *score, struct mc_err *err)
{
    int verdict = -1;
    int rc = mc_read_choice(view, "verdict", MC_OPTIONAL, verdicts, &verdict, err);
    score->score = NAN;
    rc = rc ? rc : mc_read_number(view, "score", MC_OPTIONAL, &score->score, err);
    if (rc != 0) {
        return rc;
    }
    score->verdict = verdict < 0 ? NULL : verdicts[verdict];
    if ((verdict >= 0) == !isnan(score->score)) {
        mc_view_fail(view, err, "needs either \"verdict\" or \"score\"");
        return mc_hint(err, "write one of them");
    }
    if (score->score < 0 || score->score > 1) {
        struct mc_view member = mc_view_member(view, "score");
        mc_view_fail(&member, err, "the score %g is not between 0 and 1", score->score);
        return mc_hint(err, "scale it to 0 ... 1");
    }
    return 0;
}

static int take(struct importing *importing, const struct mc_view *view, struct mc_err *err)
{
    static const char *const keys[] = {"trial",   "life",  "harness", "repetition", "checkpoint", "slot",
                                       "verdict", "score", "by",      "reason",     NULL};
    struct mc_score_record score = {
        .run = importing->run->id, .source = importing->source, .file = importing->file.hex, .line = importing->line};
    MC_AUTOANSWERID struct mc_answer_id id = {.id = NULL};
    MC_AUTOFREE char *trial = NULL;
    int rc = mc_view_is_object(view, err);
    rc = rc ? rc : mc_only_keys(view, keys, err);
    rc = rc ? rc : mc_read_id(view, "checkpoint", MC_REQUIRED, &score.checkpoint, err);
    rc = rc ? rc : mc_read_id(view, "slot", MC_OPTIONAL, &score.slot, err);
    rc = rc ? rc : mc_read_string(view, "by", MC_OPTIONAL, &score.by, err);
    rc = rc ? rc : mc_read_string(view, "reason", MC_OPTIONAL, &score.reason, err);
    rc = rc ? rc : read_value(view, &score, err);
    rc = rc ? rc : find_trial(importing, view, &trial, err);
    if (rc != 0) {
        return rc;
    }
    MC_AUTOFREE char *answer = mc_strf("%s/%s", trial, score.checkpoint);
    if (mc_answer_id_find(importing->store, importing->run->id, answer, &id, err) != 0) {
        MC_AUTOFREE char *place = mc_view_place(view);
        return mc_wrap_place(err, place);
    }
    rc = score.slot ? check_slot(importing, view, &id, score.slot, err) : 0;
    struct mc_time_text now = mc_store_now();
    score.trial = id.trial;
    score.at = now.text;
    int added = rc ? rc : mc_scores_add(importing->store, &score, err);
    importing->result->added += added == 1;
    importing->result->known += added == 0;
    return added < 0 ? added : 0;
}

static int take_line(struct importing *importing, const char *bytes, size_t length, struct mc_err *err)
{
    struct mc_source source = {.name = importing->path, .line = importing->line};
    if (length > MC_SCORES_LINE) {
        return mc_fail(err, MC_LIMIT, "%s:%d: the line is longer than %d bytes", importing->path, importing->line,
                       MC_SCORES_LINE);
    }
    MC_AUTOJSON json_t *json = mc_json_parse(bytes, length, &source, err);
    if (!json) {
        return err->code;
    }
    struct mc_view view = mc_view_root(&source, json);
    return take(importing, &view, err);
}

static int take_lines(struct importing *importing, const struct mc_buf *bytes, struct mc_err *err)
{
    const char *at = mc_buf_text(bytes);
    const char *end = at + bytes->len;
    int rc = 0;
    while (rc == 0 && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        importing->line++;
        size_t length = (size_t)(stop - at);
        length -= length > 0 && at[length - 1] == '\r';
        if (length > 0) {
            rc = take_line(importing, at, length, err);
        }
        at = newline ? newline + 1 : end;
    }
    if (rc == 0 && importing->result->added + importing->result->known == 0) {
        rc = mc_fail(err, MC_INPUT, "%s holds no scores", importing->path);
    }
    return rc;
}

int mc_scores_import(struct mc_store *store, const struct mc_stored_run *run, const char *path, const char *source,
                     struct mc_scores_result *out, struct mc_err *err)
{
    *out = (struct mc_scores_result){.added = 0};
    struct importing importing = {.store = store, .run = run, .path = path, .source = source, .result = out};
    MC_AUTOBUF struct mc_buf bytes = MC_BUF_INIT(MC_SCORES_MAX);
    int rc = mc_fs_read(path, &bytes, err);
    rc = rc ? rc : mc_grading_find(store, run->id, NULL, &importing.grading, err);
    rc = rc ? rc : mc_object_put(store, "scores", mc_buf_text(&bytes), bytes.len, &importing.file, err);
    if (rc == 0) {
        rc = mc_store_begin(store, err);
        rc = rc ? rc : take_lines(&importing, &bytes, err);
        rc = rc ? rc : mc_store_commit(store, err);
        if (rc != 0) {
            mc_store_rollback(store);
        }
    }
    mc_grading_release(&importing.grading);
    return rc;
}
