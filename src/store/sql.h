/*
 * Prepared statements, for the store's own files only: all SQL of memcal stands in this folder.
 *
 * Ownership: a `struct mc_rows` owns its statement from mc_sql_query() until mc_rows_close(); texts read from a row
 * live until the next row.
 */
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

/*
 * Values are bound by `types`, one letter each, in order:
 *   s  const char *, NULL for NULL
 *   i  int64_t
 *   n  int64_t, negative for NULL
 *   d  double, NaN for NULL
 */
int mc_sql_run(struct mc_store *store, struct mc_err *err, const char *sql, const char *types, ...) MC_CHECKED;

/* The same for a statement that changes rows: MC_NOT_FOUND where there was none. `what` is what people call one. */
int mc_sql_change(struct mc_store *store, struct mc_err *err, const char *what, const char *sql, const char *types,
                  ...) MC_CHECKED;

struct mc_rows {
    sqlite3_stmt *statement;
    struct mc_store *store;
};

int mc_sql_query(struct mc_store *store, struct mc_rows *rows, struct mc_err *err, const char *sql, const char *types,
                 ...) MC_CHECKED;
/* 1 a row, 0 the end, negative an error. */
int mc_rows_next(struct mc_rows *rows, struct mc_err *err) MC_CHECKED;
void mc_rows_close(struct mc_rows *rows);

const char *mc_row_text(const struct mc_rows *rows, int column); /* NULL for NULL */
int64_t mc_row_int(const struct mc_rows *rows, int column);      /* -1 for NULL */
double mc_row_real(const struct mc_rows *rows, int column);      /* NaN for NULL */

int mc_sql_fail(struct mc_store *store, struct mc_err *err, int sqlite_code, const char *what);
#define MC_AUTOROWS MC_CLEANUP(mc_rows_close)
