#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "store/schema.h"
#include "store/sql.h"
#include "store/store_internal.h"

int mc_sql_fail(struct mc_store *store, struct mc_err *err, int sqlite_code, const char *what)
{
    int which = store->db ? sqlite3_extended_errcode(store->db) : sqlite_code;
    int twice = which == SQLITE_CONSTRAINT_PRIMARYKEY || which == SQLITE_CONSTRAINT_UNIQUE;
    enum mc_code code = sqlite_code != SQLITE_CONSTRAINT ? MC_IO : twice ? MC_EXISTS : MC_INTERNAL;
    mc_fail(err, code, "%s in %s/memcal.db: %s", what, store->dir, sqlite3_errmsg(store->db));
    int is_full = sqlite_code == SQLITE_FULL || (store->db && sqlite3_system_errno(store->db) == ENOSPC);
    if (is_full) {
        mc_hint(err, "free some space on that disk, then run the same command again");
    } else if (sqlite_code == SQLITE_BUSY) {
        mc_hint(err, "another memcal is writing to this store: try again");
    } else if (sqlite_code == SQLITE_CORRUPT || sqlite_code == SQLITE_NOTADB) {
        mc_hint(err, "the database is damaged: restore it from a backup, or use another store with --store DIR");
    }
    return code;
}

static int bind_all(sqlite3_stmt *statement, const char *types, va_list args)
{
    int rc = SQLITE_OK;
    for (int i = 1; rc == SQLITE_OK && *types; i++, types++) {
        if (*types == 's') {
            const char *text = va_arg(args, const char *);
            rc = text ? sqlite3_bind_text(statement, i, text, -1, SQLITE_TRANSIENT) : sqlite3_bind_null(statement, i);
        } else if (*types == 'd') {
            double value = va_arg(args, double);
            rc = isnan(value) ? sqlite3_bind_null(statement, i) : sqlite3_bind_double(statement, i, value);
        } else {
            int64_t value = va_arg(args, int64_t);
            rc = *types == 'n' && value < 0 ? sqlite3_bind_null(statement, i) : sqlite3_bind_int64(statement, i, value);
        }
    }
    return rc;
}

static int prepare(struct mc_store *store, sqlite3_stmt **out, struct mc_err *err, const char *sql, const char *types,
                   va_list args)
{
    int rc = sqlite3_prepare_v2(store->db, sql, -1, out, NULL);
    if (rc == SQLITE_OK) {
        rc = bind_all(*out, types, args);
    }
    if (rc != SQLITE_OK) {
        mc_sql_fail(store, err, rc, "preparing a statement");
        sqlite3_finalize(*out);
        *out = NULL;
        return err->code;
    }
    return 0;
}

static int run(struct mc_store *store, struct mc_err *err, const char *sql, const char *types, va_list args)
{
    sqlite3_stmt *statement = NULL;
    int rc = prepare(store, &statement, err, sql, types, args);
    if (rc != 0) {
        return rc;
    }
    int step = sqlite3_step(statement);
    if (step != SQLITE_DONE && step != SQLITE_ROW) {
        rc = mc_sql_fail(store, err, step, "writing");
    }
    sqlite3_finalize(statement);
    return rc;
}

int mc_sql_run(struct mc_store *store, struct mc_err *err, const char *sql, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    int rc = run(store, err, sql, types, args);
    va_end(args);
    return rc;
}

int mc_sql_change(struct mc_store *store, struct mc_err *err, const char *what, const char *sql, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    int rc = run(store, err, sql, types, args);
    va_end(args);
    return rc == 0 && sqlite3_changes(store->db) == 0
               ? mc_fail(err, MC_NOT_FOUND, "writing in %s/memcal.db: there is no such %s", store->dir, what)
               : rc;
}

int mc_sql_query(struct mc_store *store, struct mc_rows *rows, struct mc_err *err, const char *sql, const char *types,
                 ...)
{
    *rows = (struct mc_rows){.statement = NULL, .store = store};
    va_list args;
    va_start(args, types);
    int rc = prepare(store, &rows->statement, err, sql, types, args);
    va_end(args);
    return rc;
}

int mc_rows_next(struct mc_rows *rows, struct mc_err *err)
{
    int step = sqlite3_step(rows->statement);
    if (step == SQLITE_ROW) {
        return 1;
    }
    return step == SQLITE_DONE ? 0 : mc_sql_fail(rows->store, err, step, "reading");
}

void mc_rows_close(struct mc_rows *rows)
{
    sqlite3_finalize(rows->statement);
    rows->statement = NULL;
}

const char *mc_row_text(const struct mc_rows *rows, int column)
{
    return (const char *)sqlite3_column_text(rows->statement, column);
}

int64_t mc_row_int(const struct mc_rows *rows, int column)
{
    return sqlite3_column_type(rows->statement, column) == SQLITE_NULL ? -1
                                                                       : sqlite3_column_int64(rows->statement, column);
}

double mc_row_real(const struct mc_rows *rows, int column)
{
    return sqlite3_column_type(rows->statement, column) == SQLITE_NULL ? (double)NAN
                                                                       : sqlite3_column_double(rows->statement, column);
}

static int exec(struct mc_store *store, const char *sql, struct mc_err *err)
{
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : mc_sql_fail(store, err, rc, "working");
}

int mc_store_begin(struct mc_store *store, struct mc_err *err)
{
    return exec(store, "BEGIN IMMEDIATE", err);
}

int mc_store_commit(struct mc_store *store, struct mc_err *err)
{
    int rc = exec(store, "COMMIT", err);
    if (rc != 0) {
        mc_store_rollback(store);
    }
    return rc;
}

void mc_store_rollback(struct mc_store *store)
{
    if (!sqlite3_get_autocommit(store->db)) {
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

struct mc_time_text mc_store_now(void)
{
    return mc_time_format(mc_time_now());
}

static int one_int(struct mc_store *store, const char *sql, int64_t *out, struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err, sql, "");
    if (rc == 0 && (rc = mc_rows_next(&rows, err)) > 0) {
        *out = mc_row_int(&rows, 0);
        rc = 0;
    }
    return rc;
}

/* A random UUID, version 4 (RFC 9562, section 5.4). */
static int make_uuid(char out[37], struct mc_err *err)
{
    unsigned char raw[16];
    if (getrandom(raw, sizeof raw, 0) != (ssize_t)sizeof raw) {
        return mc_fail_errno(err, errno, "asking the system for random bytes");
    }
    raw[6] = (unsigned char)((raw[6] & 0x0fU) | 0x40U);
    raw[8] = (unsigned char)((raw[8] & 0x3fU) | 0x80U);
    size_t at = 0;
    for (size_t i = 0; i < sizeof raw; i++) {
        static const char digits[] = "0123456789abcdef";
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            out[at++] = '-';
        }
        out[at++] = digits[raw[i] >> 4];
        out[at++] = digits[raw[i] & 15U];
    }
    out[at] = '\0';
    return 0;
}

static int create_schema(struct mc_store *store, struct mc_err *err)
{
    char uuid[37];
    int rc = make_uuid(uuid, err);
    for (size_t i = 0; rc == 0 && mc_schema_sql[i]; i++) {
        rc = exec(store, mc_schema_sql[i], err);
    }
    if (rc == 0) {
        rc = mc_sql_run(store, err, "INSERT INTO meta VALUES ('uuid', ?)", "s", uuid);
    }
    MC_AUTOFREE char *marks =
        mc_strf("PRAGMA application_id=%d; PRAGMA user_version=%d;", MC_APPLICATION_ID, MC_SCHEMA_VERSION);
    return rc == 0 ? exec(store, marks, err) : rc;
}

/* Under BEGIN IMMEDIATE, so that two processes that open a new store at once make one schema. */
static int check_schema(struct mc_store *store, struct mc_err *err)
{
    int64_t application = 0;
    int64_t version = 0;
    int64_t tables = 0;
    int rc = one_int(store, "PRAGMA application_id", &application, err);
    rc = rc ? rc : one_int(store, "PRAGMA user_version", &version, err);
    rc = rc ? rc : one_int(store, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (rc != 0) {
        return rc;
    }
    if (version == 0 && application == 0 && tables == 0) {
        return create_schema(store, err);
    }
    if (application != MC_APPLICATION_ID || version < 1) {
        mc_fail(err, MC_INPUT, "%s/memcal.db is not a memcal store", store->dir);
        return mc_hint(err, "use another store with --store DIR");
    }
    if (version > MC_SCHEMA_VERSION) {
        mc_fail(err, MC_INPUT, "the store %s was written by a newer memcal (schema %lld, this one knows %d)",
                store->dir, (long long)version, MC_SCHEMA_VERSION);
        return mc_hint(err, "update memcal, or use another store with --store DIR");
    }
    return 0;
}

static int read_uuid(struct mc_store *store, struct mc_err *err)
{
    MC_AUTOROWS struct mc_rows rows;
    int rc = mc_sql_query(store, &rows, err, "SELECT value FROM meta WHERE key = 'uuid'", "");
    if (rc == 0 && (rc = mc_rows_next(&rows, err)) == 1) {
        store->uuid = mc_strdup(mc_row_text(&rows, 0));
        return 0;
    }
    return rc < 0 ? rc : mc_fail(err, MC_INPUT, "the store %s has no identity", store->dir);
}

static int open_database(struct mc_store *store, struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_path_join(store->dir, "memcal.db");
    int rc =
        sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL);
    if (rc != SQLITE_OK) {
        return mc_sql_fail(store, err, rc, "opening the database");
    }
    sqlite3_busy_timeout(store->db, 10000);
    /* Checkpoints happen at close and under the exclusive lock only: SQLite before 3.51.3 can corrupt a database
     * when two connections checkpoint and write at one instant (sqlite.org/wal.html, "walresetbug"). */
    int failed = exec(store,
                      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
                      "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA wal_autocheckpoint=0;",
                      err);
    if (failed == 0) {
        failed = mc_store_begin(store, err);
    }
    if (failed == 0) {
        failed = check_schema(store, err);
        failed = failed == 0 ? mc_store_commit(store, err) : failed;
        mc_store_rollback(store);
    }
    return failed == 0 ? read_uuid(store, err) : failed;
}

static int take_lock(struct mc_store *store, struct mc_err *err)
{
    MC_AUTOFREE char *path = mc_path_join(store->dir, "lock");
    store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->lock_fd < 0) {
        mc_fail_errno(err, errno, "opening the store %s", store->dir);
        return mc_hint(err, "choose a folder that you may write to with --store DIR");
    }
    if (flock(store->lock_fd, LOCK_SH) != 0) {
        return mc_fail_errno(err, errno, "locking %s", path);
    }
    return 0;
}

/* One at a time: SQLite waits for nobody while it turns a new database to WAL, and says that it is locked. The lock is
 * another than the one on the whole file, which readers and writers hold for as long as they work. */
static int open_alone(struct mc_store *store, struct mc_err *err)
{
    struct flock alone = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    while (fcntl(store->lock_fd, F_OFD_SETLKW, &alone) != 0) {
        if (errno != EINTR) {
            return mc_fail_errno(err, errno, "locking %s/lock", store->dir);
        }
    }
    int rc = open_database(store, err);
    alone.l_type = F_UNLCK;
    if (fcntl(store->lock_fd, F_OFD_SETLK, &alone) != 0 && rc == 0) {
        rc = mc_fail_errno(err, errno, "unlocking %s/lock", store->dir);
    }
    return rc;
}

int mc_store_open(const char *dir, struct mc_store **out, struct mc_err *err)
{
    MC_AUTOFREE char *objects = mc_path_join(dir, "objects/tmp");
    MC_AUTOFREE char *runs = mc_path_join(dir, "runs");
    int rc = mc_fs_mkdirs(objects, err);
    if (rc == 0) {
        rc = mc_fs_mkdirs(runs, err);
    }
    if (rc != 0) {
        mc_wrap(err, "opening the store %s", dir);
        return err->hint[0] ? rc : mc_hint(err, "choose a folder that you may write to with --store DIR");
    }
    struct mc_store *store = mc_alloc(1, sizeof *store);
    store->dir = mc_strdup(dir);
    store->lock_fd = -1;
    rc = take_lock(store, err);
    if (rc == 0) {
        rc = open_alone(store, err);
    }
    if (rc != 0) {
        mc_store_close(store);
        return rc;
    }
    *out = store;
    return 0;
}

void mc_store_close(struct mc_store *store)
{
    if (!store) {
        return;
    }
    if (store->db) {
        if (store->uuid && flock(store->lock_fd, LOCK_EX | LOCK_NB) == 0) {
            sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
        }
        sqlite3_close(store->db);
    }
    mc_close_at(&store->lock_fd);
    free(store->uuid);
    free(store->dir);
    free(store);
}

const char *mc_store_dir(const struct mc_store *store)
{
    return store->dir;
}

const char *mc_store_uuid(const struct mc_store *store)
{
    return store->uuid;
}

int mc_store_run_dir(struct mc_store *store, const char *run, char **out, struct mc_err *err)
{
    *out = mc_strf("%s/runs/%s", store->dir, run);
    int rc = mc_fs_mkdirs(*out, err);
    if (rc != 0) {
        free(mc_steal(out));
    }
    return rc;
}
