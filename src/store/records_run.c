/* Corpora, runs, trials and attempts. */
#include <sqlite3.h>

#include "store/records.h"
#include "store/sql.h"
#include "store/store_internal.h"

int mc_corpora_add(struct mc_store *store, const struct mc_corpus_record *corpus, const struct mc_corpus_file *files,
                   size_t count, struct mc_err *err)
{
    int rc = mc_store_begin(store, err);
    if (rc != 0) {
        return rc;
    }
    rc = mc_sql_run(store, err, "INSERT INTO corpora VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", "sssis",
                    corpus->digest, corpus->name, corpus->version, corpus->lives, mc_store_now().text);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = mc_sql_run(store, err, "INSERT INTO corpus_files VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", "ssis",
                        corpus->digest, files[i].path, files[i].size, files[i].sha256);
    }
    if (rc == 0) {
        return mc_store_commit(store, err);
    }
    mc_store_rollback(store);
    return rc;
}

int mc_corpora_list(struct mc_store *store, int (*each)(void *payload, const struct mc_corpus_record *corpus),
                    void *payload, struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT digest, name, version, lives, added FROM corpora ORDER BY name, added, digest", "");
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_corpus_record corpus = {mc_row_text(&rows, 0), mc_row_text(&rows, 1), mc_row_text(&rows, 2),
                                          mc_row_int(&rows, 3), mc_row_text(&rows, 4)};
        rc = each(payload, &corpus);
    }
    return rc;
}

int mc_corpora_files(struct mc_store *store, const char *digest,
                     int (*each)(void *payload, const struct mc_corpus_file *file), void *payload, struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT path, size, sha256 FROM corpus_files WHERE corpus = ? ORDER BY path", "s", digest);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_corpus_file file = {mc_row_text(&rows, 0), mc_row_int(&rows, 1), mc_row_text(&rows, 2)};
        rc = each(payload, &file);
    }
    return rc;
}

int mc_corpora_remove(struct mc_store *store, const char *digest, struct mc_err *err)
{
    int rc = mc_sql_run(store, err, "DELETE FROM corpora WHERE digest = ?", "s", digest);
    return rc == 0 ? sqlite3_changes(store->db) : rc;
}

int mc_runs_add(struct mc_store *store, const struct mc_run_record *run, struct mc_err *err)
{
    return mc_sql_run(store, err,
                      "INSERT INTO runs (id, name, manifest, corpus, state, owner, created, isolation)"
                      " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                      "ssssssss", run->id, run->name, run->manifest, run->corpus, run->state, run->owner,
                      mc_store_now().text, run->isolation);
}

int mc_runs_set_state(struct mc_store *store, const char *id, const char *state, struct mc_err *err)
{
    return mc_sql_change(store, err, "run", "UPDATE runs SET state = ? WHERE id = ?", "ss", state, id);
}

int mc_runs_end(struct mc_store *store, const char *id, const char *state, int exit_code, struct mc_err *err)
{
    return mc_sql_change(store, err, "run", "UPDATE runs SET state = ?, exit_code = ?, ended = ? WHERE id = ?", "siss",
                         state, (int64_t)exit_code, mc_store_now().text, id);
}

int mc_runs_list(struct mc_store *store, const char *id, int (*each)(void *payload, const struct mc_run_record *run),
                 void *payload, struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT id, name, manifest, corpus, state, owner, created, ended, exit_code, isolation FROM"
                          " runs WHERE ?1 IS NULL OR substr(id, 1, length(?1)) = ?1 ORDER BY created DESC, id DESC",
                          "s", id);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_run_record run = {mc_row_text(&rows, 0), mc_row_text(&rows, 1), mc_row_text(&rows, 2),
                                    mc_row_text(&rows, 3), mc_row_text(&rows, 4), mc_row_text(&rows, 5),
                                    mc_row_text(&rows, 6), mc_row_text(&rows, 7), mc_row_int(&rows, 8),
                                    mc_row_text(&rows, 9)};
        rc = each(payload, &run);
    }
    return rc;
}

int mc_trials_add(struct mc_store *store, const struct mc_trial_record *trial, struct mc_err *err)
{
    return mc_sql_run(store, err,
                      "INSERT INTO trials (id, run, ordinal, life, harness, repetition) VALUES (?, ?, ?, ?, ?, ?)",
                      "ssissi", trial->id, trial->run, trial->ordinal, trial->life, trial->harness, trial->repetition);
}

int mc_trials_end(struct mc_store *store, const char *id, const char *ended, const char *reason, struct mc_err *err)
{
    return mc_sql_change(store, err, "trial", "UPDATE trials SET ended = ?, reason = ? WHERE id = ?", "sss", ended,
                         reason, id);
}

int mc_trials_list(struct mc_store *store, const char *run,
                   int (*each)(void *payload, const struct mc_trial_record *trial), void *payload, struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT id, run, ordinal, life, harness, repetition, ended, reason FROM trials WHERE run = ?"
                          " ORDER BY ordinal",
                          "s", run);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_trial_record trial = {mc_row_text(&rows, 0), mc_row_text(&rows, 1), mc_row_int(&rows, 2),
                                        mc_row_text(&rows, 3), mc_row_text(&rows, 4), mc_row_int(&rows, 5),
                                        mc_row_text(&rows, 6), mc_row_text(&rows, 7)};
        rc = each(payload, &trial);
    }
    return rc;
}

int mc_attempts_add(struct mc_store *store, const struct mc_attempt_record *attempt, struct mc_err *err)
{
    return mc_sql_run(store, err, "INSERT INTO attempts (id, trial, number, started) VALUES (?, ?, ?, ?)", "ssis",
                      attempt->id, attempt->trial, attempt->number, mc_store_now().text);
}

int mc_attempts_end(struct mc_store *store, const struct mc_attempt_record *attempt, struct mc_err *err)
{
    return mc_sql_change(store, err, "attempt",
                         "UPDATE attempts SET ended_at = ?, ended = ?, reason = ?, wall_ms = ?, engine_calls = ? WHERE"
                         " id = ?",
                         "sssnns", mc_store_now().text, attempt->ended, attempt->reason, attempt->wall_ms,
                         attempt->engine_calls, attempt->id);
}

int mc_attempts_list(struct mc_store *store, const char *trial,
                     int (*each)(void *payload, const struct mc_attempt_record *attempt), void *payload,
                     struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT id, trial, number, started, ended_at, ended, reason, wall_ms, engine_calls FROM"
                          " attempts WHERE trial = ? ORDER BY number",
                          "s", trial);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_attempt_record attempt = {mc_row_text(&rows, 0), mc_row_text(&rows, 1), mc_row_int(&rows, 2),
                                            mc_row_text(&rows, 3), mc_row_text(&rows, 4), mc_row_text(&rows, 5),
                                            mc_row_text(&rows, 6), mc_row_int(&rows, 7),  mc_row_int(&rows, 8)};
        rc = each(payload, &attempt);
    }
    return rc;
}
