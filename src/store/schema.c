#include "store/schema.h"

/* Times are ISO 8601 texts in UTC. Digests are SHA-256, 64 hexadecimal digits. NULL means unknown, never zero. */
const char mc_schema_sql[] =
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"

    /* What stands under objects/. A row is inserted only after its file is on the disk. */
    "CREATE TABLE objects (sha256 TEXT PRIMARY KEY, size INTEGER NOT NULL, kind TEXT NOT NULL, added TEXT NOT NULL)"
    " STRICT;"

    "CREATE TABLE corpora (digest TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, lives INTEGER NOT NULL,"
    " added TEXT NOT NULL) STRICT;"
    "CREATE TABLE corpus_files (corpus TEXT NOT NULL REFERENCES corpora(digest) ON DELETE CASCADE, path TEXT NOT NULL,"
    " size INTEGER NOT NULL, sha256 TEXT NOT NULL REFERENCES objects(sha256), PRIMARY KEY (corpus, path)) STRICT;"

    /* owner: host, boot id, pid and start time of the controller that drives the run. */
    "CREATE TABLE runs (id TEXT PRIMARY KEY, name TEXT NOT NULL, manifest TEXT NOT NULL REFERENCES objects(sha256),"
    " corpus TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN"
    " ('created','running','finished','interrupted','refused')), owner TEXT NOT NULL, created TEXT NOT NULL,"
    " ended TEXT, exit_code INTEGER, isolation TEXT NOT NULL) STRICT;"

    "CREATE TABLE trials (id TEXT PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id), ordinal INTEGER NOT NULL,"
    " life TEXT NOT NULL, harness TEXT NOT NULL, repetition INTEGER NOT NULL, ended TEXT CHECK (ended IN"
    " ('completed','failed','timeout','tool_policy','protocol_error','infrastructure','budget','cancelled')),"
    " reason TEXT, UNIQUE (run, life, harness, repetition)) STRICT;"
    "CREATE INDEX trials_of_run ON trials(run, ordinal);"

    "CREATE TABLE attempts (id TEXT PRIMARY KEY, trial TEXT NOT NULL REFERENCES trials(id), number INTEGER NOT NULL,"
    " started TEXT NOT NULL, ended_at TEXT, ended TEXT, reason TEXT, wall_ms INTEGER, engine_calls INTEGER,"
    " UNIQUE (trial, number)) STRICT;"

    "CREATE TABLE stages (attempt TEXT NOT NULL REFERENCES attempts(id), name TEXT NOT NULL, status TEXT NOT NULL CHECK"
    " (status IN ('started','done','failed')), started TEXT NOT NULL, ended TEXT, wall_ms INTEGER, detail TEXT,"
    " PRIMARY KEY (attempt, name)) STRICT;"

    /* One row a step of the schedule, written as planned before the step is acted on. */
    "CREATE TABLE steps (attempt TEXT NOT NULL REFERENCES attempts(id), ordinal INTEGER NOT NULL, kind TEXT NOT NULL"
    " CHECK (kind IN ('import','night','turn','probe')), ref TEXT NOT NULL, scenario_time TEXT NOT NULL, status TEXT "
    "NOT"
    " NULL CHECK (status IN ('planned','started','done','failed','skipped')), operation TEXT, started TEXT, wall_ms"
    " INTEGER, detail TEXT, PRIMARY KEY (attempt, ordinal)) STRICT;"

    /* Committed as planned before the engine is asked to create it. */
    "CREATE TABLE resources (name TEXT PRIMARY KEY, attempt TEXT NOT NULL REFERENCES attempts(id), kind TEXT NOT NULL "
    "CHECK"
    " (kind IN ('container','volume')), role TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN"
    " ('planned','created','removed')), engine_id TEXT, facts TEXT) STRICT;"
    "CREATE INDEX resources_of_attempt ON resources(attempt);"

    "CREATE TABLE answers (attempt TEXT NOT NULL REFERENCES attempts(id), checkpoint TEXT NOT NULL, ended TEXT NOT "
    "NULL,"
    " answer TEXT, reason TEXT, latency_ms INTEGER, calls INTEGER, input INTEGER, cached_input INTEGER, output INTEGER,"
    " reasoning INTEGER, PRIMARY KEY (attempt, checkpoint)) STRICT;"

    /* The grade of one answer, as the grader's canonical JSON object. */
    "CREATE TABLE grades (attempt TEXT NOT NULL, checkpoint TEXT NOT NULL, grader TEXT NOT NULL, graded TEXT NOT NULL,"
    " grade TEXT NOT NULL REFERENCES objects(sha256), PRIMARY KEY (attempt, checkpoint, grader), FOREIGN KEY (attempt,"
    " checkpoint) REFERENCES answers(attempt, checkpoint)) STRICT;"

    "CREATE TABLE model_calls (attempt TEXT NOT NULL REFERENCES attempts(id), call INTEGER NOT NULL, step TEXT NOT "
    "NULL,"
    " role TEXT NOT NULL, path TEXT NOT NULL, model TEXT, upstream TEXT NOT NULL, status INTEGER, request TEXT, "
    "response"
    " TEXT, input INTEGER, cached_input INTEGER, output INTEGER, reasoning INTEGER, cost_usd REAL, first_byte_ms"
    " INTEGER, duration_ms INTEGER, error TEXT, PRIMARY KEY (attempt, call)) STRICT;"

    /* Everything else that an attempt left: journals, stderr, databases. */
    "CREATE TABLE artifacts (attempt TEXT NOT NULL REFERENCES attempts(id), name TEXT NOT NULL, sha256 TEXT NOT NULL"
    " REFERENCES objects(sha256), size INTEGER NOT NULL, PRIMARY KEY (attempt, name)) STRICT;";
