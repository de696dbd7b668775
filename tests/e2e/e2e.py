"""What the end-to-end tests share: the built memcal, the engines, the store. Nothing of memcal's own code is used to look.

The engines under test are the DOCKER_HOST values in MEMCAL_TEST_ENGINES, separated by spaces; without any, tests fail.
"""

import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEMCAL = os.environ.get("MEMCAL_PROGRAM", "")
LABEL = "org.memcal."
IMAGES = ("sidecar", "hermes", "provider-fts", "provider-holographic", "program-tiny")


def engines():
    hosts = os.environ.get("MEMCAL_TEST_ENGINES", "").split()
    if not hosts:
        raise AssertionError("MEMCAL_TEST_ENGINES is empty: set it to the DOCKER_HOST values of the engines to test")
    if not MEMCAL:
        raise AssertionError("MEMCAL_PROGRAM is not set: run the tests with ctest")
    return [Engine(host) for host in hosts]


def main():
    """Each test case that takes an engine runs on every engine."""
    unittest.main(verbosity=2)


def on_each_engine(case):
    """Class decorator: one subclass of `case` for each engine, in the module of the case, with `engine` set."""
    import sys
    module = sys.modules[case.__module__]
    case.__test__ = False
    for engine in engines():
        name = f"{case.__name__}_{engine.name()}"
        while hasattr(module, name):
            name += "_"
        setattr(module, name, type(name, (case, unittest.TestCase), {"engine": engine, "__module__": case.__module__}))
    return case


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Engine:
    """The Docker API as Python's own HTTP client speaks it."""

    def __init__(self, host):
        self.host = host
        url = urllib.parse.urlsplit(host)
        if url.scheme not in ("unix", "tcp"):
            raise AssertionError(f"MEMCAL_TEST_ENGINES: {host} is neither unix:// nor tcp://")
        self.url = url
        self._name = None

    def name(self):
        if not self._name:
            version = self.get("/version")
            parts = [part["Name"] for part in version.get("Components", [])]
            self._name = "podman" if any("Podman" in part for part in parts) else "docker"
        return self._name

    def call(self, method, path, body=None, ok=(200, 201, 204)):
        connection = (UnixConnection(self.url.path, 120) if self.url.scheme == "unix"
                      else http.client.HTTPConnection(self.url.netloc, timeout=120))
        with contextlib.closing(connection):
            data = None if body is None else json.dumps(body)
            connection.request(method, "/v1.41" + path, data, {"Content-Type": "application/json"} if data else {})
            answer = connection.getresponse()
            text = answer.read()
        if answer.status not in ok:
            raise AssertionError(f"{method} {path}: {answer.status} {text[:300]!r}")
        return answer.status, text

    def get(self, path):
        return json.loads(self.call("GET", path)[1])

    def containers(self, **labels):
        return self.labelled(self.get("/containers/json?all=1"), labels)

    def volumes(self, **labels):
        return self.labelled(self.get("/volumes").get("Volumes") or [], labels)

    @staticmethod
    def labelled(things, labels):
        """With all of these labels. Asked to filter by several, Podman 4.3 gives volumes that have any of them."""
        return [t for t in things if all((t.get("Labels") or {}).get(key) == value for key, value in
                                         ((LABEL + k, v) for k, v in labels.items()))]

    def inspect(self, container):
        return self.get(f"/containers/{container}/json")

    def holds(self, store):
        """All that there is, but for what carries the label of another store: its owner may work here meanwhile."""
        def ours(labels):
            return (labels or {}).get(LABEL + "store", store) == store
        networks = {(n["Id"], n["Name"]) for n in self.get("/networks") if ours(n.get("Labels"))}
        return {"containers": {(c["Id"], c["Names"][0]) for c in self.get("/containers/json?all=1") if ours(c["Labels"])},
                "volumes": {v["Name"] for v in self.get("/volumes").get("Volumes") or [] if ours(v.get("Labels"))},
                "networks": networks,
                "images": {i["Id"] for i in self.get("/images/json?all=1")}}

    def create(self, name, labels, image="memcal/program-tiny:1"):
        """A running container that waits on its standard input."""
        body = {"Image": image, "Labels": labels, "OpenStdin": True, "HostConfig": {
            "NetworkMode": "none", "Ulimits": [{"Name": n, "Soft": 1024, "Hard": 1024} for n in ("nofile", "nproc")]}}
        created = json.loads(self.call("POST", f"/containers/create?name={name}", body)[1])["Id"]
        self.call("POST", f"/containers/{created}/start", ok=(204,))
        return created

    def remove(self, container):
        self.call("DELETE", f"/containers/{container}?force=1&v=1", ok=(200, 204, 404))

    def create_volume(self, name, labels):
        self.call("POST", "/volumes/create", {"Name": name, "Labels": labels})

    def remove_volume(self, name):
        self.call("DELETE", f"/volumes/{name}?force=1", ok=(204, 404))

    def kill(self, container, name="KILL"):
        self.call("POST", f"/containers/{container}/kill?signal={name}", ok=(204, 409, 500))

    def clear(self, store):
        """Removes what a killed memcal left of one store."""
        for container in self.containers(store=store):
            self.remove(container["Id"])
        for volume in self.volumes(store=store):
            self.remove_volume(volume["Name"])


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit {self.code}\n--- out\n{self.out[-3000:]}\n--- err\n{self.err[-3000:]}"


def environment(engine=None, store=None, **more):
    """This process's environment without what could lead memcal elsewhere."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("DOCKER_", "MEMCAL_", "XDG_", "CONTAINER_HOST")) and k != "HOME"}
    env["HOME"] = "/nonexistent"
    if engine:
        env["DOCKER_HOST"] = engine.host if isinstance(engine, Engine) else engine
    if store:
        env["MEMCAL_STORE"] = str(store)
    env.update({k: str(v) for k, v in more.items()})
    return env


def memcal(*args, engine=None, store=None, env=None, cwd=ROOT, timeout=600, before=None):
    done = subprocess.run([MEMCAL, *map(str, args)], env=environment(engine, store, **(env or {})), cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, preexec_fn=before)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


class Running:
    """A memcal that is not waited for; its output goes to files, so that it never waits for a reader."""

    def __init__(self, *args, engine, store):
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen([MEMCAL, *map(str, args)], env=environment(engine, store), cwd=ROOT,
                                        stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err)

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, timeout=60):
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"memcal did not end within {timeout} s\n{self.result()}") from None
        return self.result()

    def result(self):
        texts = []
        for file in (self.out, self.err):
            file.seek(0)
            texts.append(file.read().decode())
        return Result(self.process.returncode, *texts)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.out.close()
        self.err.close()


class Store:
    def __init__(self, path):
        self.path = pathlib.Path(path)

    def rows(self, sql, *values):
        with contextlib.closing(sqlite3.connect(f"file:{self.path}/memcal.db?mode=ro", uri=True, timeout=10)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(sql, values)]

    def one(self, sql, *values):
        rows = self.rows(sql, *values)
        if len(rows) != 1:
            raise AssertionError(f"{len(rows)} rows: {sql} {values}")
        return rows[0]

    def uuid(self):
        return self.one("SELECT value FROM meta WHERE key = 'uuid'")["value"]

    def object(self, digest):
        """Its bytes, checked against their name."""
        data = (self.path / "objects" / digest[:2] / digest[2:]).read_bytes()
        if hashlib.sha256(data).hexdigest() != digest:
            raise AssertionError(f"the object {digest} has other bytes than its name says")
        return data

    def artifact(self, attempt, name):
        return self.object(self.one("SELECT sha256 FROM artifacts WHERE attempt = ? AND name = ?", attempt, name)["sha256"])

    @contextlib.contextmanager
    def database(self, attempt, name):
        """A database that the attempt left, opened from a copy with its write-ahead log where it left one."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "copy.db"
            path.write_bytes(self.artifact(attempt, name))
            if self.rows("SELECT 1 FROM artifacts WHERE attempt = ? AND name = ?", attempt, name + "-wal"):
                (path.parent / "copy.db-wal").write_bytes(self.artifact(attempt, name + "-wal"))
            with contextlib.closing(sqlite3.connect(path)) as db:
                db.row_factory = sqlite3.Row
                yield db

    def events(self, run):
        text = (self.path / "runs" / run / "events.jsonl").read_text()
        if not text.endswith("\n"):
            raise AssertionError("events.jsonl does not end with a whole line")
        return [json.loads(line) for line in text.splitlines()]

    def report(self, run):
        return json.loads((self.path / "runs" / run / "report.json").read_text())

    def facts(self, attempt):
        """{role: what the engine said of its container in the end}"""
        return {row["role"]: json.loads(row["facts"]) if row["facts"] else None for row in
                self.rows("SELECT role, facts FROM resources WHERE attempt = ? AND kind = 'container'", attempt)}


def new_store(case, engine=None):
    """A store of the test's own, known before anything runs; what a killed run leaves of it is removed."""
    folder = tempfile.TemporaryDirectory(prefix="memcal-e2e-")
    case.addCleanup(folder.cleanup)
    path = pathlib.Path(folder.name) / "store"
    made = memcal("runs", store=path)
    case.assertEqual(made.code, 0, made)
    store = Store(path)
    if engine:
        case.addCleanup(engine.clear, store.uuid())
    return store


def wait_for(what, probe, timeout=30):
    """The first true thing that `probe` gives."""
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        found = probe()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what}: not seen within {timeout} s")


class Decoys:
    """Containers and volumes that look like a run's own and are not: they must be untouched after it."""

    def __init__(self, engine, store):
        self.engine = engine
        attempt = "20260101-000000-dead-t1-a1"
        same = {LABEL + "run": "20260101-000000-dead", LABEL + "trial": "20260101-000000-dead-t1",
                LABEL + "attempt": attempt, LABEL + "role": "harness"}
        stranger = str(uuid.uuid4())
        tail = uuid.uuid4().hex[:6]
        self.containers, self.volumes = [], []
        for number, labels in enumerate(({**same, LABEL + "store": stranger}, {**same, LABEL + "store": store},
                                         {"org.example.role": "harness"}, {})):
            name = f"memcal-{attempt}-harness-{number}{tail}"
            self.containers.append(engine.create(name, labels))
            self.volumes.append(f"memcal-{attempt}-home-{number}{tail}")
            engine.create_volume(self.volumes[-1], labels)
        self.before = self.look()

    def look(self):
        states = [self.engine.inspect(c) for c in self.containers]
        return ([(s["Id"], s["Name"], s["State"]["Status"], s["State"]["StartedAt"]) for s in states],
                [self.engine.get(f"/volumes/{v}")["CreatedAt"] for v in self.volumes])

    def close(self):
        for container in self.containers:
            self.engine.remove(container)
        for volume in self.volumes:
            self.engine.remove_volume(volume)
