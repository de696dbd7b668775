"""A provider adapter: the protocol on one side, a Backend on the other, durable operations between them.

Each import and each night is one operation, kept in SQLite beside the provider's data until it is completed. A batch or
night that is already known is the same operation and does no second work; one that was interrupted is done again at the
next start, so a backend's work must be safe to repeat.
"""

import json
import os
import queue
import sqlite3
import sys
import threading
import traceback

from . import frames as f

MEMORY_DIR = "/memcal/memory"


class Backend:
    """What an adapter gives for its memory system. Both kinds of work return a line of detail, and raise on failure."""

    name = version = ""
    tools = ()
    capabilities = {}

    def start(self, initialize):
        """Open the store and whatever listens; return only when it serves."""

    def import_batch(self, boundary, observations):
        raise NotImplementedError

    def maintain(self, night):
        raise NotImplementedError

    def stop(self):
        """Flush and close."""


class Operations:
    """The operations of this provider, in SQLite; used from the protocol's and the worker's thread."""

    def __init__(self, path):
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS operations (n INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL,"
            " frame TEXT, state TEXT NOT NULL, detail TEXT, UNIQUE (kind, key)) STRICT"
        )

    def _row(self, where, *values):
        with self._lock:
            return self._db.execute(f"SELECT n, kind, state, detail FROM operations WHERE {where}", values).fetchone()

    def open(self, kind, key, frame):
        """The operation's number for this key, and whether it is new."""
        with self._lock:
            cursor = self._db.execute(
                "INSERT OR IGNORE INTO operations (kind, key, frame, state) VALUES (?, ?, ?, 'running')",
                (kind, key, json.dumps(frame)),
            )
            fresh = cursor.rowcount == 1
        return self._row("kind = ? AND key = ?", kind, key)[0], fresh

    def close(self, number, state, detail):
        with self._lock:
            self._db.execute(
                "UPDATE operations SET state = ?, detail = ?, frame = NULL WHERE n = ?", (state, detail, number)
            )

    def frame(self, number):
        with self._lock:
            return json.loads(self._db.execute("SELECT frame FROM operations WHERE n = ?", (number,)).fetchone()[0])

    def running(self):
        with self._lock:
            return [n for (n,) in self._db.execute("SELECT n FROM operations WHERE state = 'running' ORDER BY n")]

    def status(self, number):
        """The keys of an operation frame, or None for one that is not known."""
        row = self._row("n = ?", number)
        if row is None:
            return None
        n, kind, state, detail = row
        return {"operation": f"{kind}-{n}", "state": state, **({"detail": detail} if detail else {})}


class Adapter:
    def __init__(self, backend, frames, operations):
        self._backend = backend
        self._frames = frames
        self._operations = operations
        self._work = queue.Queue()
        self._worker = threading.Thread(target=self._run_work, name="worker")

    def start(self):
        for number in self._operations.running():
            self._work.put(number)
        self._worker.start()

    def handle(self, frame):
        """Answer one frame; False after shutdown."""
        kind = frame["type"]
        if kind == "import":
            f.need(frame, "boundary", str)
            f.need(frame, "observations", list)
            self._accept("import", "batch", frame)
        elif kind == "maintain":
            self._accept("maintain", "night", frame)
        elif kind == "operation.status":
            self._status(f.need(frame, "operation", str))
        elif kind == "shutdown":
            return False
        else:
            raise f.FrameError(f"a provider does not take {kind}")
        return True

    def finish(self):
        """Do what was accepted, then stop."""
        self._work.put(None)
        self._worker.join()
        self._backend.stop()

    def _accept(self, kind, key_name, frame):
        key = f.need(frame, key_name, str)
        number, fresh = self._operations.open(kind, key, frame)
        status = self._operations.status(number)
        self._frames.send("accepted", **{key_name: key}, operation=status["operation"])
        if fresh:
            self._work.put(number)
        elif status["state"] != "running":
            self._frames.send("operation", **status)

    def _status(self, operation):
        number = operation.rpartition("-")[2]
        status = self._operations.status(int(number)) if number.isdecimal() else None
        if status is None or status["operation"] != operation:
            status = {"operation": operation, "state": "failed", "detail": "unknown operation"}
        self._frames.send("operation", **status)

    def _run_work(self):
        while (number := self._work.get()) is not None:
            frame = self._operations.frame(number)
            try:
                if frame["type"] == "import":
                    detail = self._backend.import_batch(frame["boundary"], frame["observations"])
                else:
                    detail = self._backend.maintain(frame["night"])
                state = "completed"
            except Exception as error:  # whatever a memory system raises is that operation's failure
                traceback.print_exc()
                state, detail = "failed", f"{type(error).__name__}: {error}"
            self._operations.close(number, state, detail)
            self._frames.send("operation", **self._operations.status(number))


def run(backend):
    """A provider's whole main program."""
    stdout = f.take_stdout()
    inbox = f.Inbox()
    try:
        init = f.initialize(inbox, "provider")
        frames = f.Frames(stdout, init["timezone"])
        backend.start(init)
        adapter = Adapter(backend, frames, Operations(os.path.join(MEMORY_DIR, "memcal-operations.db")))
        adapter.start()
        frames.send(
            "ready", name=backend.name, version=backend.version, protocol=1, tools=list(backend.tools),
            capabilities=backend.capabilities,
        )
        while (frame := inbox.get()) is not None and adapter.handle(frame):
            pass
        adapter.finish()
        if frame is not None:
            frames.send("bye")
    except f.FrameError as error:
        sys.exit(f"memcal program: {error}")
