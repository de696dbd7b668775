/* What an attempt gave: answers, model calls, artifacts. */
#include "store/records.h"
#include "store/sql.h"

int mc_answers_put(struct mc_store *store, const struct mc_answer_record *answer, struct mc_err *err)
{
    return mc_sql_run(store, err, "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "sssssnnnnnn",
                      answer->attempt, answer->checkpoint, answer->ended, answer->answer, answer->reason,
                      answer->latency_ms, answer->calls, answer->usage.input, answer->usage.cached_input,
                      answer->usage.output, answer->usage.reasoning);
}

int mc_answers_list(struct mc_store *store, const char *attempt,
                    int (*each)(void *payload, const struct mc_answer_record *answer), void *payload,
                    struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT attempt, checkpoint, ended, answer, reason, latency_ms, calls, input, cached_input,"
                          " output, reasoning FROM answers WHERE attempt = ? ORDER BY rowid",
                          "s", attempt);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_answer_record answer = {
            mc_row_text(&rows, 0),
            mc_row_text(&rows, 1),
            mc_row_text(&rows, 2),
            mc_row_text(&rows, 3),
            mc_row_text(&rows, 4),
            mc_row_int(&rows, 5),
            mc_row_int(&rows, 6),
            {mc_row_int(&rows, 7), mc_row_int(&rows, 8), mc_row_int(&rows, 9), mc_row_int(&rows, 10)}};
        rc = each(payload, &answer);
    }
    return rc;
}

int mc_calls_put(struct mc_store *store, const struct mc_call_record *call, struct mc_err *err)
{
    return mc_sql_run(
        store, err,
        "INSERT INTO model_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        "sisssssnssnnnndnns", call->attempt, call->call, call->step, call->role, call->path, call->model,
        call->upstream, call->status, call->request, call->response, call->usage.input, call->usage.cached_input,
        call->usage.output, call->usage.reasoning, call->cost_usd, call->first_byte_ms, call->duration_ms, call->error);
}

/* SUM skips NULL; where any part is unknown the count of parts and the count of known parts differ. */
#define KNOWN_SUM(column) "CASE WHEN count(*) = count(" column ") THEN coalesce(sum(" column "), 0) END"

int mc_calls_total(struct mc_store *store, const char *attempt, const char *step, struct mc_call_totals *out,
                   struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT count(*), " KNOWN_SUM("input") ", " KNOWN_SUM("cached_input") ", " KNOWN_SUM(
                              "output") ", " KNOWN_SUM("reasoning") ", " KNOWN_SUM("cost_usd") " FROM model_calls"
                                                                                               " WHERE attempt = ?1"
                                                                                               " AND (?2 IS NULL OR"
                                                                                               " step = ?2)",
                          "ss", attempt, step);
    if (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        out->calls = mc_row_int(&rows, 0);
        out->usage =
            (struct mc_usage){mc_row_int(&rows, 1), mc_row_int(&rows, 2), mc_row_int(&rows, 3), mc_row_int(&rows, 4)};
        out->cost_usd = mc_row_real(&rows, 5);
        rc = 0;
    }
    return rc;
}

int mc_artifacts_put(struct mc_store *store, const struct mc_artifact_record *artifact, struct mc_err *err)
{
    return mc_sql_run(store, err,
                      "INSERT INTO artifacts VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET sha256 = excluded.sha256,"
                      " size = excluded.size",
                      "sssi", artifact->attempt, artifact->name, artifact->sha256, artifact->size);
}

int mc_artifacts_list(struct mc_store *store, const char *attempt,
                      int (*each)(void *payload, const struct mc_artifact_record *artifact), void *payload,
                      struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc =
        mc_sql_query(store, &rows, err,
                     "SELECT attempt, name, sha256, size FROM artifacts WHERE attempt = ? ORDER BY name", "s", attempt);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_artifact_record artifact = {mc_row_text(&rows, 0), mc_row_text(&rows, 1), mc_row_text(&rows, 2),
                                              mc_row_int(&rows, 3)};
        rc = each(payload, &artifact);
    }
    return rc;
}
