/* What an attempt does and uses: stages, steps, resources. */
#include <string.h>

#include "store/records.h"
#include "store/sql.h"

int mc_stages_begin(struct mc_store *store, const char *attempt, const char *name, struct mc_err *err)
{
    return mc_sql_run(store, err,
                      "INSERT INTO stages (attempt, name, status, started) VALUES (?, ?, 'started', ?)"
                      " ON CONFLICT DO UPDATE SET status = 'started', started = excluded.started, ended = NULL,"
                      " wall_ms = NULL, detail = NULL",
                      "sss", attempt, name, mc_store_now().text);
}

int mc_stages_end(struct mc_store *store, const char *attempt, const struct mc_stage_record *stage, struct mc_err *err)
{
    return mc_sql_change(
        store, err, "stage",
        "UPDATE stages SET status = ?, ended = ?, wall_ms = ?, detail = ? WHERE attempt = ? AND name = ?", "ssnsss",
        stage->status, mc_store_now().text, stage->wall_ms, stage->detail, attempt, stage->name);
}

int mc_stages_list(struct mc_store *store, const char *attempt,
                   int (*each)(void *payload, const struct mc_stage_record *stage), void *payload, struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT name, status, started, wall_ms, detail FROM stages WHERE attempt = ? ORDER BY rowid",
                          "s", attempt);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_stage_record stage = {mc_row_text(&rows, 0), mc_row_text(&rows, 1), mc_row_text(&rows, 2),
                                        mc_row_int(&rows, 3), mc_row_text(&rows, 4)};
        rc = each(payload, &stage);
    }
    return rc;
}

int mc_steps_plan(struct mc_store *store, const char *attempt, const struct mc_step_record *steps, size_t count,
                  struct mc_err *err)
{
    int rc = mc_store_begin(store, err);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = mc_sql_run(store, err,
                        "INSERT INTO steps (attempt, ordinal, kind, ref, scenario_time, status) VALUES (?, ?, ?, ?, ?,"
                        " 'planned')",
                        "sisss", attempt, steps[i].ordinal, steps[i].kind, steps[i].ref, steps[i].scenario_time);
    }
    if (rc == 0) {
        return mc_store_commit(store, err);
    }
    mc_store_rollback(store);
    return rc;
}

int mc_steps_begin(struct mc_store *store, const char *attempt, int64_t ordinal, struct mc_err *err)
{
    return mc_sql_change(
        store, err, "step",
        "UPDATE steps SET status = 'started', started = ?, wall_ms = NULL, detail = NULL WHERE attempt = ? AND"
        " ordinal = ?",
        "ssi", mc_store_now().text, attempt, ordinal);
}

int mc_steps_operation(struct mc_store *store, const char *attempt, int64_t ordinal, const char *operation,
                       struct mc_err *err)
{
    return mc_sql_change(store, err, "step", "UPDATE steps SET operation = ? WHERE attempt = ? AND ordinal = ?", "ssi",
                         operation, attempt, ordinal);
}

int mc_steps_end(struct mc_store *store, const char *attempt, const struct mc_step_record *step, struct mc_err *err)
{
    return mc_sql_change(store, err, "step",
                         "UPDATE steps SET status = ?, wall_ms = ?, detail = ? WHERE attempt = ? AND ordinal = ?",
                         "snssi", step->status, step->wall_ms, step->detail, attempt, step->ordinal);
}

int mc_steps_list(struct mc_store *store, const char *attempt,
                  int (*each)(void *payload, const struct mc_step_record *step), void *payload, struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT ordinal, kind, ref, scenario_time, status, operation, started, wall_ms, detail FROM"
                          " steps WHERE attempt = ? ORDER BY ordinal",
                          "s", attempt);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_step_record step = {mc_row_int(&rows, 0),  mc_row_text(&rows, 1), mc_row_text(&rows, 2),
                                      mc_row_text(&rows, 3), mc_row_text(&rows, 4), mc_row_text(&rows, 5),
                                      mc_row_text(&rows, 6), mc_row_int(&rows, 7),  mc_row_text(&rows, 8)};
        rc = each(payload, &step);
    }
    return rc;
}

/* One statement for each, all of them or none. */
static int write_resources(struct mc_store *store, const struct mc_resource_record *resources, size_t count,
                           int (*write)(struct mc_store *, const struct mc_resource_record *, struct mc_err *),
                           struct mc_err *err)
{
    int rc = mc_store_begin(store, err);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = write(store, &resources[i], err);
    }
    if (rc == 0) {
        return mc_store_commit(store, err);
    }
    mc_store_rollback(store);
    return rc;
}

static int insert_resource(struct mc_store *store, const struct mc_resource_record *resource, struct mc_err *err)
{
    return mc_sql_run(store, err,
                      "INSERT INTO resources (name, attempt, kind, role, state) VALUES (?, ?, ?, ?, 'planned')", "ssss",
                      resource->name, resource->attempt, resource->kind, resource->role);
}

static int update_resource(struct mc_store *store, const struct mc_resource_record *resource, struct mc_err *err)
{
    if (resource->state && strcmp(resource->state, "removed") == 0) {
        return mc_sql_run(store, err, "UPDATE resources SET state = 'removed' WHERE name = ?", "s", resource->name);
    }
    return mc_sql_change(store, err, "resource",
                         "UPDATE resources SET state = coalesce(?, state), engine_id = coalesce(?, engine_id),"
                         " facts = coalesce(?, facts) WHERE name = ?",
                         "ssss", resource->state, resource->engine_id, resource->facts, resource->name);
}

int mc_resources_plan(struct mc_store *store, const struct mc_resource_record *resources, size_t count,
                      struct mc_err *err)
{
    return write_resources(store, resources, count, insert_resource, err);
}

int mc_resources_set(struct mc_store *store, const struct mc_resource_record *resources, size_t count,
                     struct mc_err *err)
{
    return write_resources(store, resources, count, update_resource, err);
}

int mc_resources_list(struct mc_store *store, const char *attempt,
                      int (*each)(void *payload, const struct mc_resource_record *resource), void *payload,
                      struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err,
                          "SELECT name, attempt, kind, role, state, engine_id, facts FROM resources WHERE attempt = ?"
                          " ORDER BY rowid",
                          "s", attempt);
    while (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        struct mc_resource_record resource = {mc_row_text(&rows, 0), mc_row_text(&rows, 1), mc_row_text(&rows, 2),
                                              mc_row_text(&rows, 3), mc_row_text(&rows, 4), mc_row_text(&rows, 5),
                                              mc_row_text(&rows, 6)};
        rc = each(payload, &resource);
    }
    return rc;
}
