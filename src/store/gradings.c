/* Gradings, grades, revisions of verdicts, scores from elsewhere, and what the judge was asked. */
#include "store/gradings.h"

#include <sqlite3.h>
#include <string.h>

#include "store/sql.h"
#include "store/store_internal.h"

int mc_gradings_add(struct mc_store *store, const struct mc_grading_record *grading, int64_t *id, int64_t *number,
                    struct mc_err *err)
{
    int rc = mc_sql_run(store, err,
                        "INSERT INTO gradings (run, number, rules, judge, at) SELECT ?1, 1 + count(*), ?2, ?3, ?4 FROM"
                        " gradings WHERE run = ?1",
                        "ssss", grading->run, grading->rules, grading->judge, grading->at);
    if (rc != 0) {
        return rc;
    }
    *id = sqlite3_last_insert_rowid(store->db);
    MC_AUTOROWS struct mc_rows rows;
    rc = mc_sql_query(store, &rows, err, "SELECT number FROM gradings WHERE id = ?", "i", *id);
    if (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        *number = mc_row_int(&rows, 0);
        rc = 0;
    }
    return rc;
}

int mc_gradings_list(struct mc_store *store, const char *run,
                     int (*each)(void *payload, const struct mc_grading_record *grading), void *payload,
                     struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc =
        mc_sql_query(store, &rows, err,
                     "SELECT id, run, number, rules, judge, at FROM gradings WHERE run = ? ORDER BY number", "s", run);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_grading_record grading = {mc_row_int(&rows, 0),  mc_row_text(&rows, 1), mc_row_int(&rows, 2),
                                            mc_row_text(&rows, 3), mc_row_text(&rows, 4), mc_row_text(&rows, 5)};
        rc = each(payload, &grading);
    }
    return rc;
}

int mc_grades_add(struct mc_store *store, const struct mc_grade_record *grade, struct mc_err *err)
{
    return mc_sql_run(store, err, "INSERT INTO grades VALUES (?, ?, ?, ?)", "isss", grade->grading, grade->attempt,
                      grade->checkpoint, grade->grade);
}

static void copy_digest(struct mc_digest *out, const char *hex)
{
    size_t length = strlen(hex);
    length = length < sizeof out->hex ? length : sizeof out->hex - 1;
    memcpy(out->hex, hex, length);
    out->hex[length] = '\0';
}

int mc_grades_find(struct mc_store *store, int64_t grading, const char *attempt, const char *checkpoint,
                   struct mc_digest *grade, struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc =
        mc_sql_query(store, &rows, err, "SELECT grade FROM grades WHERE grading = ? AND attempt = ? AND checkpoint = ?",
                     "iss", grading, attempt, checkpoint);
    if (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        copy_digest(grade, mc_row_text(&rows, 0));
    }
    return rc;
}

int mc_revisions_add(struct mc_store *store, const struct mc_revision_record *revision, struct mc_err *err)
{
    int rc = mc_sql_run(store, err,
                        "INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                        "sssiissssssn", revision->attempt, revision->checkpoint, revision->slot, revision->number,
                        revision->number - 1, revision->verdict, revision->source, revision->rule, revision->reason,
                        revision->by, revision->at, revision->grading);
    if (rc == 0 && sqlite3_changes(store->db) == 0) {
        rc = mc_fail(err, MC_EXISTS, "the verdict on %s of %s has a revision %lld already", revision->slot,
                     revision->checkpoint, (long long)revision->number);
    }
    return rc;
}

int mc_revisions_list(struct mc_store *store, const char *attempt, const char *checkpoint,
                      int (*each)(void *payload, const struct mc_revision_record *revision), void *payload,
                      struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc =
        mc_sql_query(store, &rows, err,
                     "SELECT attempt, checkpoint, slot, number, verdict, source, rule, reason, by, at, grading FROM"
                     " revisions WHERE attempt = ? AND checkpoint = ? ORDER BY slot, number",
                     "ss", attempt, checkpoint);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_revision_record revision = {mc_row_text(&rows, 0), mc_row_text(&rows, 1), mc_row_text(&rows, 2),
                                              mc_row_int(&rows, 3),  mc_row_text(&rows, 4), mc_row_text(&rows, 5),
                                              mc_row_text(&rows, 6), mc_row_text(&rows, 7), mc_row_text(&rows, 8),
                                              mc_row_text(&rows, 9), mc_row_int(&rows, 10)};
        rc = each(payload, &revision);
    }
    return rc;
}

int mc_scores_add(struct mc_store *store, const struct mc_score_record *score, struct mc_err *err)
{
    int rc = mc_sql_run(store, err,
                        "INSERT INTO scores (run, trial, checkpoint, slot, source, verdict, score, by, reason, file,"
                        " line, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                        "ssssssdsssis", score->run, score->trial, score->checkpoint, score->slot, score->source,
                        score->verdict, score->score, score->by, score->reason, score->file, score->line, score->at);
    return rc ? rc : sqlite3_changes(store->db);
}

int mc_scores_list(struct mc_store *store, const char *run,
                   int (*each)(void *payload, const struct mc_score_record *score), void *payload, struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT run, trial, checkpoint, slot, source, verdict, score, by, reason, file, line, at FROM"
                          " scores WHERE run = ? ORDER BY id",
                          "s", run);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_score_record score = {mc_row_text(&rows, 0), mc_row_text(&rows, 1), mc_row_text(&rows, 2),
                                        mc_row_text(&rows, 3), mc_row_text(&rows, 4), mc_row_text(&rows, 5),
                                        mc_row_real(&rows, 6), mc_row_text(&rows, 7), mc_row_text(&rows, 8),
                                        mc_row_text(&rows, 9), mc_row_int(&rows, 10), mc_row_text(&rows, 11)};
        rc = each(payload, &score);
    }
    return rc;
}

int mc_judge_calls_add(struct mc_store *store, const struct mc_judge_call_record *call, struct mc_err *err)
{
    return mc_sql_run(store, err,
                      "INSERT INTO judge_calls (run, attempt, checkpoint, role, vote, model, upstream, status, request,"
                      " response, input, cached_input, output, reasoning, cost_usd, duration_ms, error, at) VALUES"
                      " (?, ?, ?, 'judge', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      "sssissnssnnnndnss", call->run, call->attempt, call->checkpoint, call->vote, call->model,
                      call->upstream, call->status, call->request, call->response, call->usage.input,
                      call->usage.cached_input, call->usage.output, call->usage.reasoning, call->cost_usd,
                      call->duration_ms, call->error, mc_store_now().text);
}

int mc_judge_calls_find(struct mc_store *store, const char *request, const char *upstream, struct mc_digest *response,
                        struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT response FROM judge_calls WHERE request = ? AND upstream = ? AND error IS NULL AND"
                          " response IS NOT NULL ORDER BY id LIMIT 1",
                          "ss", request, upstream);
    if (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        copy_digest(response, mc_row_text(&rows, 0));
    }
    return rc;
}

/* SUM skips NULL; where any part is unknown the count of parts and the count of known parts differ. */
#define KNOWN_SUM(column) "CASE WHEN count(*) = count(" column ") THEN coalesce(sum(" column "), 0) END"

int mc_judge_calls_total(struct mc_store *store, const char *run, struct mc_call_totals *out, struct mc_err *err)
{
    static const char sql[] = "SELECT count(*), " KNOWN_SUM("input") ", " KNOWN_SUM("cached_input") ", " KNOWN_SUM(
        "output") ", " KNOWN_SUM("reasoning") ", " KNOWN_SUM("cost_usd") " FROM judge_calls WHERE run = ?";
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err, sql, "s", run);
    if (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        out->calls = mc_row_int(&rows, 0);
        out->usage =
            (struct mc_usage){mc_row_int(&rows, 1), mc_row_int(&rows, 2), mc_row_int(&rows, 3), mc_row_int(&rows, 4)};
        out->cost_usd = mc_row_real(&rows, 5);
        rc = 0;
    }
    return rc;
}
