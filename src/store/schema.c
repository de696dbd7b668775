#include "store/schema.h"

#include <stddef.h>

/* Times are ISO 8601 texts in UTC. Digests are SHA-256, 64 hexadecimal digits. NULL means unknown, never zero. */
const char *const mc_schema_sql[] = {
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;",

    /* What stands under objects/. A row is inserted only after its file is on the disk. */
    "CREATE TABLE objects (sha256 TEXT PRIMARY KEY, size INTEGER NOT NULL, kind TEXT NOT NULL, added TEXT NOT NULL)"
    " STRICT;",

    "CREATE TABLE corpora (digest TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, lives INTEGER NOT NULL,"
    " added TEXT NOT NULL) STRICT;",
    "CREATE TABLE corpus_files (corpus TEXT NOT NULL REFERENCES corpora(digest) ON DELETE CASCADE, path TEXT NOT NULL,"
    " size INTEGER NOT NULL, sha256 TEXT NOT NULL REFERENCES objects(sha256), PRIMARY KEY (corpus, path)) STRICT;",

    /* owner: host, boot id, pid and start time of the controller that drives the run. */
    "CREATE TABLE runs (id TEXT PRIMARY KEY, name TEXT NOT NULL, manifest TEXT NOT NULL REFERENCES objects(sha256),"
    " corpus TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN"
    " ('created','running','finished','interrupted','refused')), owner TEXT NOT NULL, created TEXT NOT NULL,"
    " ended TEXT, exit_code INTEGER, isolation TEXT NOT NULL) STRICT;",

    "CREATE TABLE trials (id TEXT PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id), ordinal INTEGER NOT NULL,"
    " life TEXT NOT NULL, harness TEXT NOT NULL, repetition INTEGER NOT NULL, ended TEXT CHECK (ended IN"
    " ('completed','failed','timeout','tool_policy','protocol_error','infrastructure','budget','cancelled')),"
    " reason TEXT, UNIQUE (run, life, harness, repetition)) STRICT;",
    "CREATE INDEX trials_of_run ON trials(run, ordinal);",

    "CREATE TABLE attempts (id TEXT PRIMARY KEY, trial TEXT NOT NULL REFERENCES trials(id), number INTEGER NOT NULL,"
    " started TEXT NOT NULL, ended_at TEXT, ended TEXT, reason TEXT, wall_ms INTEGER, engine_calls INTEGER,"
    " UNIQUE (trial, number)) STRICT;",

    "CREATE TABLE stages (attempt TEXT NOT NULL REFERENCES attempts(id), name TEXT NOT NULL, status TEXT NOT NULL CHECK"
    " (status IN ('started','done','failed')), started TEXT NOT NULL, ended TEXT, wall_ms INTEGER, detail TEXT,"
    " PRIMARY KEY (attempt, name)) STRICT;",

    /* One row a step of the schedule, written as planned before the step is acted on. */
    "CREATE TABLE steps (attempt TEXT NOT NULL REFERENCES attempts(id), ordinal INTEGER NOT NULL, kind TEXT NOT NULL"
    " CHECK (kind IN ('import','night','turn','probe')), ref TEXT NOT NULL, scenario_time TEXT NOT NULL, status TEXT "
    "NOT"
    " NULL CHECK (status IN ('planned','started','done','failed','skipped')), operation TEXT, started TEXT, wall_ms"
    " INTEGER, detail TEXT, PRIMARY KEY (attempt, ordinal)) STRICT;",

    /* Committed as planned before the engine is asked to create it. */
    "CREATE TABLE resources (name TEXT PRIMARY KEY, attempt TEXT NOT NULL REFERENCES attempts(id), kind TEXT NOT NULL "
    "CHECK"
    " (kind IN ('container','volume')), role TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN"
    " ('planned','created','removed')), engine_id TEXT, facts TEXT) STRICT;",
    "CREATE INDEX resources_of_attempt ON resources(attempt);",

    "CREATE TABLE answers (attempt TEXT NOT NULL REFERENCES attempts(id), checkpoint TEXT NOT NULL, ended TEXT NOT "
    "NULL,"
    " answer TEXT, reason TEXT, latency_ms INTEGER, calls INTEGER, input INTEGER, cached_input INTEGER, output INTEGER,"
    " reasoning INTEGER, PRIMARY KEY (attempt, checkpoint)) STRICT;",

    /* A grading is one pass over all answers of a run; earlier ones stay. rules: version of the matchers. */
    "CREATE TABLE gradings (id INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id), number INTEGER NOT NULL,"
    " rules TEXT NOT NULL, judge TEXT, at TEXT NOT NULL, UNIQUE (run, number)) STRICT;",

    /* What a grading gave for one answer: the question as asked and the grader's verdicts, as a canonical JSON object.
     */
    "CREATE TABLE grades (grading INTEGER NOT NULL REFERENCES gradings(id), attempt TEXT NOT NULL, checkpoint TEXT NOT"
    " NULL, grade TEXT NOT NULL REFERENCES objects(sha256), PRIMARY KEY (grading, attempt, checkpoint), FOREIGN KEY"
    " (attempt, checkpoint) REFERENCES answers(attempt, checkpoint)) STRICT;",

    /* The verdicts of one slot, from the grader's first one on; the last one is in force. Nothing here is ever changed:
     * a new verdict is a new row that names the one it replaces. grading: the one that gave it, NULL for a review. */
    "CREATE TABLE revisions (attempt TEXT NOT NULL, checkpoint TEXT NOT NULL, slot TEXT NOT NULL, number INTEGER NOT"
    " NULL, replaces INTEGER NOT NULL, verdict TEXT NOT NULL CHECK (verdict IN"
    " ('correct','missed','misrepresented','ungraded')), source TEXT NOT NULL CHECK (source IN"
    " ('matcher','judge','runner','review')), rule TEXT, reason TEXT NOT NULL, by TEXT, at TEXT NOT NULL, grading"
    " INTEGER REFERENCES gradings(id), PRIMARY KEY (attempt, checkpoint, slot, number), CHECK (replaces = number - 1),"
    " CHECK ((source = 'review') = (grading IS NULL)), FOREIGN KEY (attempt, checkpoint) REFERENCES answers(attempt,"
    " checkpoint)) STRICT;",
    "CREATE TRIGGER revisions_stay BEFORE UPDATE ON revisions"
    " BEGIN SELECT RAISE(ABORT, 'a verdict is never changed'); END;",
    "CREATE TRIGGER revisions_remain BEFORE DELETE ON revisions"
    " BEGIN SELECT RAISE(ABORT, 'a verdict is never removed'); END;",

    /* Scores that others gave, beside our verdicts and never among them. slot NULL: of the whole answer. */
    "CREATE TABLE scores (id INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id), trial TEXT NOT NULL REFERENCES"
    " trials(id), checkpoint TEXT NOT NULL, slot TEXT, source TEXT NOT NULL CHECK (source IN"
    " ('official','verifier','imported')), verdict TEXT CHECK (verdict IN ('correct','missed','misrepresented')), score"
    " REAL, by TEXT, reason TEXT, file TEXT NOT NULL REFERENCES objects(sha256), line INTEGER NOT NULL, at TEXT NOT"
    " NULL, UNIQUE (run, file, line)) STRICT;",

    /* What the grader asked a model. Not among model_calls: nothing of it is the harness's. attempt NULL: an answer
     * that is not of a run. */
    "CREATE TABLE judge_calls (id INTEGER PRIMARY KEY, run TEXT REFERENCES runs(id), attempt TEXT, checkpoint TEXT NOT"
    " NULL, role TEXT NOT NULL CHECK (role = 'judge'), vote INTEGER NOT NULL, model TEXT NOT NULL, upstream TEXT NOT"
    " NULL, status INTEGER, request TEXT NOT NULL REFERENCES objects(sha256), response TEXT REFERENCES objects(sha256),"
    " input INTEGER, cached_input INTEGER, output INTEGER, reasoning INTEGER, cost_usd REAL, duration_ms INTEGER, error"
    " TEXT, at TEXT NOT NULL) STRICT;",
    "CREATE INDEX judge_calls_by_request ON judge_calls(request);",
    "CREATE INDEX judge_calls_of_run ON judge_calls(run);",

    "CREATE TABLE model_calls (attempt TEXT NOT NULL REFERENCES attempts(id), call INTEGER NOT NULL, step TEXT NOT "
    "NULL,"
    " role TEXT NOT NULL, path TEXT NOT NULL, model TEXT, upstream TEXT NOT NULL, status INTEGER, request TEXT, "
    "response"
    " TEXT, input INTEGER, cached_input INTEGER, output INTEGER, reasoning INTEGER, cost_usd REAL, first_byte_ms"
    " INTEGER, duration_ms INTEGER, error TEXT, PRIMARY KEY (attempt, call)) STRICT;",

    /* Everything else that an attempt left: journals, stderr, databases. */
    "CREATE TABLE artifacts (attempt TEXT NOT NULL REFERENCES attempts(id), name TEXT NOT NULL, sha256 TEXT NOT NULL"
    " REFERENCES objects(sha256), size INTEGER NOT NULL, PRIMARY KEY (attempt, name)) STRICT;",
    NULL};
