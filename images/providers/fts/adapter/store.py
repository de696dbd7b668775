"""The store: each observation as it came, with all its clocks, and a full-text index over it."""

import json
import re
import sqlite3
import threading
from datetime import datetime

SCHEMA = """
CREATE TABLE IF NOT EXISTS observations (
    id INTEGER PRIMARY KEY,
    source_id TEXT NOT NULL UNIQUE,
    channel TEXT NOT NULL, sender TEXT NOT NULL, thread TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL,
    recipients TEXT, structured TEXT, from_owner INTEGER NOT NULL,
    written_at TEXT NOT NULL, arrived_at TEXT NOT NULL, collected_at TEXT NOT NULL, stored_at TEXT NOT NULL,
    written_epoch REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS observations_written ON observations (written_epoch);
CREATE VIRTUAL TABLE IF NOT EXISTS observations_fts USING fts5 (
    text, subject, sender, thread, content='observations', content_rowid='id', tokenize='porter unicode61'
);
CREATE TRIGGER IF NOT EXISTS observations_added AFTER INSERT ON observations BEGIN
    INSERT INTO observations_fts (rowid, text, subject, sender, thread)
    VALUES (new.id, new.text, new.subject, new.sender, new.thread);
END;
"""

INSERT = """
INSERT OR IGNORE INTO observations (source_id, channel, sender, thread, subject, text, recipients, structured, from_owner,
    written_at, arrived_at, collected_at, stored_at, written_epoch)
VALUES (:source_id, :channel, :sender, :thread, :subject, :text, :recipients, :structured, :from_owner,
    :written_at, :arrived_at, :collected_at, :stored_at, :written_epoch)
"""


class Store:
    def __init__(self, path):
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.executescript(SCHEMA)

    def add(self, observations):
        """Store them all or none; those whose source_id is known are left as they are. Returns how many were new."""
        rows = [row_of(observation) for observation in observations]
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                new = sum(self._db.execute(INSERT, row).rowcount for row in rows)
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        return new

    def count(self, source_ids=None):
        query, values = "SELECT count(*) FROM observations", ()
        if source_ids is not None:
            query, values = query + " WHERE source_id IN (SELECT value FROM json_each(?))", (json.dumps(source_ids),)
        with self._lock:
            return self._db.execute(query, values).fetchone()[0]

    def search(self, query, limit=10, channel=None, before=None, after=None):
        words = match_of(query)
        where, values = ["observations_fts MATCH ?"], [words]
        if channel:
            where.append("channel = ?")
            values.append(channel)
        if before:
            where.append("written_epoch < ?")
            values.append(epoch_of(before))
        if after:
            where.append("written_epoch >= ?")
            values.append(epoch_of(after))
        if not words:
            return []
        with self._lock:
            return [dict(row) for row in self._db.execute(
                "SELECT o.* FROM observations_fts JOIN observations o ON o.id = observations_fts.rowid WHERE "
                + " AND ".join(where) + " ORDER BY bm25(observations_fts), written_epoch DESC LIMIT ?",
                (*values, limit))]

    def optimize(self):
        """Merge the index and check it against the table, word by word; sqlite3.DatabaseError when it differs."""
        with self._lock:
            self._db.execute("INSERT INTO observations_fts (observations_fts) VALUES ('optimize')")
            self._db.execute("INSERT INTO observations_fts (observations_fts, rank) VALUES ('integrity-check', 1)")
            result = self._db.execute("PRAGMA quick_check").fetchone()[0]
        if result != "ok":
            raise sqlite3.DatabaseError(result)

    def close(self):
        with self._lock:
            self._db.close()


def row_of(observation):
    written = observation["written_at"]
    return {
        **{key: observation[key] for key in ("source_id", "channel", "sender", "thread", "text")},
        **{key: observation.get(key, written) for key in ("written_at", "arrived_at", "collected_at")},
        "subject": observation.get("subject") or "",
        "recipients": packed(observation.get("to")), "structured": packed(observation.get("structured")),
        "from_owner": int(observation.get("from_owner", False)),
        "stored_at": datetime.now().astimezone().isoformat(timespec="milliseconds"),
        "written_epoch": datetime.fromisoformat(written).timestamp(),
    }


def packed(value):
    return None if value is None else json.dumps(value, ensure_ascii=False)


def match_of(query):
    """Any of the query's words: FTS5 ranks by how many and how rare."""
    return " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))


def epoch_of(text):
    """A date or a time as people and models write them; without offset it is in the life's zone. ValueError if neither."""
    return datetime.fromisoformat(text.strip()).timestamp()


def line_of(row):
    """One observation as the model reads it: date, channel, sender, thread, text."""
    written = datetime.fromisoformat(row["written_at"])
    where = row["thread"] + (f": {row['subject']}" if row["subject"] else "")
    text = " ".join(row["text"].split("\n"))
    return f"{written:%Y-%m-%d %H:%M} | {row['channel']} | {row['sender']} | {where} | {text}"
