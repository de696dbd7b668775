"""What a new user meets in the first ten minutes, word for word: "memcal: what was wrong: what to do", and the exit code."""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

import e2e
import manifests

QUICKSTART = "manifests/runs/quickstart.yaml"
START_IT = ("install and start Docker ('sudo systemctl start docker') or Podman ('systemctl --user start podman.socket'), "
            "or set DOCKER_HOST")
NOBODY = 65534


def without_run():
    """In the child: a /run without any socket in it, and nobody else's is touched."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, private, recursive = 0x20000, 1 << 18, 1 << 14
    for made in (libc.unshare(new_mounts), libc.mount(b"none", b"/", None, private | recursive, None),
                 libc.mount(b"none", b"/run", b"tmpfs", 0, None)):
        if made != 0:
            raise OSError(ctypes.get_errno(), "a mount namespace needs root")


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


@contextlib.contextmanager
def serving(path, answer):
    """Answers every connection with the same bytes."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()

    def work():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                with connection, contextlib.suppress(OSError):
                    connection.recv(65536)
                    connection.sendall(answer)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


class Errors(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="memcal-e2e-")))
        self.folder.chmod(0o755)
        self.store = self.folder / "store"
        self.engine = e2e.engines()[0]

    def expect(self, args, code, kind, text, hint=None, engine=None, env=None, before=None, cwd=e2e.ROOT):
        """The sentence as a person reads it, and the same for machines."""
        engine = self.engine if engine is None else engine
        for form in ([], ["--json"]):
            seen = e2e.memcal(*args, *form, engine=engine or None, store=self.store, env=env, before=before, cwd=cwd)
            with self.subTest(args=args, form=form):
                self.assertEqual(seen.code, code, seen)
                self.assertEqual(seen.out, "", "nothing but the error")
                last = seen.err.splitlines()[-1]
                if form:
                    error = {"code": kind, "text": text, "exit": code, **({"hint": hint} if hint else {})}
                    self.assertEqual(json.loads(last), {"error": error})
                else:
                    self.assertEqual(last, f"memcal: {text}" + (f": {hint}" if hint else ""))
                    self.assertEqual(len(seen.err.splitlines()), 1, seen)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    # -- the engine --

    def test_no_engine_anywhere(self):
        self.expect(["run", QUICKSTART], 4, "engine", "no container engine was found",
                    f"{START_IT}; 'memcal doctor' shows what was tried", engine="", before=without_run)
        doctor = e2e.memcal("doctor", store=self.store, before=without_run)
        self.assertEqual(doctor.code, 4, doctor)
        self.assertIn("BAD  engine is found", doctor.out)
        for place in ("DOCKER_HOST", "docker context", "unix:///var/run/docker.sock", "unix:///run/podman/podman.sock"):
            self.assertIn(place, doctor.out, "every place that was tried is named")
        self.assertEqual(doctor.out.splitlines()[-1], "something is missing")

    def test_socket_without_permission(self):
        path = self.folder / "engine.sock"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            server.listen()
            path.chmod(0o600 if os.geteuid() == 0 else 0)
            before = None
            if os.geteuid() == 0:
                self.store.mkdir()
                os.chown(self.store, NOBODY, NOBODY)
                before = as_nobody
            self.expect(["run", QUICKSTART], 4, "engine",
                        f"asking for the engine: you may not use the container engine at unix://{path}: permission denied",
                        "add yourself to the socket's group ('sudo usermod -aG docker $USER', then log in again), use a "
                        "rootless engine, or run memcal with sudo", engine=f"unix://{path}", before=before)

    def test_wrong_docker_host(self):
        missing = self.folder / "none.sock"
        self.expect(["run", QUICKSTART], 4, "engine",
                    f"asking for the engine: no container engine at unix://{missing}: the socket is not there",
                    f"{START_IT} to where the engine is; 'memcal doctor' shows what was tried", engine=f"unix://{missing}")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(missing))
        self.expect(["run", QUICKSTART], 4, "engine",
                    f"asking for the engine: nothing listens at unix://{missing}: connection refused",
                    "the engine is not running: start it ('sudo systemctl start docker', or 'systemctl --user start "
                    "podman.socket'), or set DOCKER_HOST to where one runs", engine=f"unix://{missing}")
        plain = self.write("plain", "")
        self.expect(["run", QUICKSTART], 2, "input", f"asking for the engine: unix://{plain} is not a socket",
                    "set DOCKER_HOST to the engine's own, as unix:///var/run/docker.sock", engine=f"unix://{plain}")
        self.expect(["run", QUICKSTART], 2, "input", 'DOCKER_HOST: "ssh://me@host": memcal does not speak SSH itself',
                    "let ssh carry the socket: 'ssh -nNT -L /tmp/docker-remote.sock:/var/run/docker.sock me@host' in another "
                    "terminal, then set DOCKER_HOST=unix:///tmp/docker-remote.sock", engine="ssh://me@host")
        self.expect(["run", QUICKSTART], 2, "input", 'DOCKER_HOST: "nonsense": not an address of an engine',
                    "it begins with unix:// or tcp://", engine="nonsense")

    def test_engine_that_answers_garbage(self):
        path = self.folder / "engine.sock"
        host = f"unix://{path}"
        with serving(path, b"SSH-2.0-OpenSSH_9.2\r\n"):
            self.expect(["run", QUICKSTART], 4, "engine", f"asking for the engine: what answers at {host} does not speak "
                        "HTTP: it is no container engine",
                        "check DOCKER_HOST: 2375 is an engine's plain port, 2376 the one with TLS", engine=host)
        path.unlink()
        page = b"<html>hello</html>"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page)
        with serving(path, head + page):
            seen = e2e.memcal("run", QUICKSTART, engine=host, store=self.store)
            self.assertEqual((seen.code, seen.out), (4, ""), seen)
            self.assertRegex(seen.err, rf"\Amemcal: .*{path}.*: .+\n\Z")

    # -- the store --

    def test_no_space(self):
        if os.geteuid() != 0:
            self.fail("mounting a small disk needs root")
        self.store.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "none", self.store], check=True)
        self.addCleanup(subprocess.run, ["umount", self.store], check=True)
        # The first thing that does not fit, and then the disk that fills in the middle of a turn.
        free = "free some space on that disk, then run the same command again"
        runfile = manifests.run(self.folder, manifests.harness(self.folder, "endless", "endless", {"turn_s": 30}))
        before = self.engine.holds("")
        seen = e2e.memcal("run", runfile, engine=self.engine, store=self.store)
        self.assertEqual((seen.code, seen.out), (1, ""), seen)
        last = seen.err.splitlines()[-1]
        self.assertRegex(last, rf"^memcal: run [0-9a-f-]+: .*{self.store}/.*: No space left on device: {free}$")
        self.assertEqual(self.engine.holds(""), before, "nothing is left on the engine all the same")
        (self.store / "rest").write_bytes(b"")
        with contextlib.suppress(OSError), open(self.store / "rest", "wb", buffering=0) as rest:
            while True:
                rest.write(b"x" * 4096)
        seen = e2e.memcal("corpus", "add", "manifests/corpora/quickstart", store=self.store)
        self.assertEqual((seen.code, seen.out), (1, ""), seen)
        self.assertRegex(seen.err, rf"\Amemcal: .*{self.store}.*: {free}\n\Z")

    def test_store_that_cannot_be(self):
        self.store = self.write("plain", "")
        self.expect(["runs"], 2, "not_found", f"opening the store {self.store}: making the folder {self.store}/objects/tmp: "
                    "Not a directory", "choose a folder that you may write to with --store DIR")
        self.store = ""
        self.expect(["runs"], 2, "input", "there is no folder for the store: neither XDG_DATA_HOME nor HOME is set",
                    "name one with --store DIR", env={"HOME": ""})

    # -- files --

    def test_wrong_files(self):
        hint = "give the path of a run file in YAML: docs/runs.md describes one"
        missing = self.folder / "none.yaml"
        self.expect(["run", missing], 2, "not_found", f"run file: opening {missing}: No such file or directory", hint)
        self.expect(["run", self.folder], 2, "input", f"run file: reading {self.folder}: it is not a regular file", hint)
        broken = self.write("broken.yaml", "harnesses: [a\n")
        self.expect(["run", broken], 2, "input",
                    f"run file: {broken}:2: not valid YAML: did not find expected ',' or ']'", hint)
        binary = self.write("binary.yaml", b"\x7fELF\x00\x01")
        self.expect(["run", binary], 2, "input",
                    f"run file: {binary}:1: not valid YAML: control characters are not allowed", hint)
        self.expect(["run", self.write("empty.yaml", "")], 2, "input",
                    f"run file: {self.folder}/empty.yaml: the file is empty", hint)

    def test_wrong_keys(self):
        run = self.write("run.yaml", "corpus: c\nharneses: [a]\n")
        self.expect(["run", run], 2, "input", f"{run}:2: .harneses: unknown key", 'did you mean "harnesses"?')
        harness = self.write("harness.yaml", "name: x\nvia: program\nimage: i\nversion: '1'\nlimits:\n  turns_s: 1\n")
        self.expect(["harness", "show", harness], 2, "input", f"{harness}:6: .limits.turns_s: unknown key",
                    'did you mean "turn_s"?')
        provider = self.write("provider.yaml", "name: x\nimage: i\nexposed: [1]\n")
        self.expect(["provider", "show", provider], 2, "input", f"{provider}:3: .exposed: unknown key",
                    'did you mean "expose"?')
        run = self.write("run.yaml", "corpus: c\nharnesses: [./harness.yaml]\nmodel: {upstream: {kind: script}}\n")
        self.expect(["run", run], 2, "input", f"{run}:2: .harnesses[0]: {self.folder}/./harness.yaml:6: .limits.turns_s: "
                    "unknown key", 'did you mean "turn_s"?')

    def test_unknown_names(self):
        corpus = "manifests/runs/../corpora/quickstart"
        self.expect(["run", QUICKSTART, "--life", "nope"], 2, "input", 'the corpus quickstart has no life "nope"',
                    f'"memcal corpus show {corpus}" lists them')
        self.expect(["run", QUICKSTART, "--harness", "nope"], 2, "input", f'{QUICKSTART} names no harness "nope"',
                    "it names hermes-none, hermes-fts, hermes-holographic")
        self.expect(["harness", "show", "nope"], 2, "not_found",
                    "harness manifest: opening manifests/harnesses/nope.yaml: No such file or directory",
                    '"memcal harness list" names those in manifests/harnesses')
        self.expect(["provider", "check", "nope"], 2, "not_found",
                    "there is no provider manifest manifests/providers/nope.yaml",
                    '"memcal provider list" names those that there are')
        self.expect(["show", "nope"], 2, "input", f'there is no run "nope" in the store {self.store}',
                    '"memcal runs" lists them')
        self.expect(["corpus", "show", "nope"], 2, "input", f'the store {self.store} has no corpus "nope"',
                    '"memcal corpus list" names them; "memcal corpus add DIR" adds one')
        self.expect(["image", "build", "nope"], 2, "input", 'there is no recipe for an image "nope"',
                    '"memcal image list" names them')
        self.expect(["image", "load", self.folder / "none.tar"], 2, "not_found",
                    f"reading {self.folder}/none.tar: No such file or directory", '"memcal image save FILE" writes one')
        self.expect(["image", "list"], 2, "not_found", "image recipes: opening images/images.yaml: No such file or directory",
                    "say where memcal's images/ folder is with --images DIR", cwd=self.folder)

    def test_wrong_words(self):
        usage = "usage: memcal run RUNFILE [options]"
        for args, text, hint in (
                (["rum"], 'there is no command "rum"', '"memcal help" lists them'),
                (["help", "rum"], 'there is no command "rum"', '"memcal help" lists them'),
                (["corpus"], '"memcal corpus" needs a command', "it is one of validate, add, list, show, export, rm"),
                (["corpus", "nope"], 'there is no command "corpus nope"',
                 "it is one of validate, add, list, show, export, rm"),
                (["run"], "an argument is missing", usage),
                (["run", "a", "b"], 'one argument too many: "b"', usage),
                (["run", "a", "--nope"], 'unknown option "--nope"', usage),
                (["run", "a", "-x"], 'unknown option "-x"', usage),
                (["run", "a", "-k", "many"], '--repetitions needs a whole number, not "many"', usage),
                (["run", "a", "--budget=-1"], '--budget needs a number, not "-1"', usage),
                (["run", "a", "--sandbox", "vm"], 'there is no sandbox "vm"',
                 'the one there is is "docker", which serves Docker and Podman'),
                (["run", "a", "--jobs", "3"], "--jobs 3: this version runs one trial at a time",
                 "leave it out, or say --jobs 1"),
                (["run", QUICKSTART, "--expect-plan", "abc"],
                 '--expect-plan: "abc" is not a SHA-256 digest (64 hexadecimal digits)',
                 '"memcal run --plan" prints a plan\'s digest')):
            self.expect(args, 2, "input", text, hint)
        seen = e2e.memcal("run", "a", "--life", store=self.store)
        self.assertEqual((seen.code, seen.err), (2, f"memcal: --life needs a value: ID: {usage}\n"))

    # -- images, digests, secrets, corpora --

    def harness(self, image):
        path = manifests.harness(self.folder, "one")
        content = json.loads(path.read_text())
        return manifests.write(self.folder, path.name, {**content, "image": image})

    def test_image_that_is_not_built(self):
        run = manifests.run(self.folder, self.harness("memcal/nowhere:1"))
        kind = {"docker": "Docker", "podman": "Podman"}[self.engine.name()]
        self.expect(["run", run], 2, "not_found",
                    f"harness one: the image memcal/nowhere:1 is not on the engine ({kind} at {self.engine.host})",
                    'build memcal\'s own with "memcal image build", or load it with "docker load"')

    def test_pinned_digests(self):
        tiny = next(i["id"] for i in e2e.memcal("image", "list", "--json", engine=self.engine).json
                    if i["name"] == "program-tiny")
        wrong = "sha256:" + "0" * 64
        run = manifests.run(self.folder, self.harness(f"memcal/program-tiny:1@{wrong}"))
        self.expect(["run", run], 7, "mismatch",
                    f"harness one: the image memcal/program-tiny:1 is pinned to {wrong}, the engine has {tiny}",
                    "load the one that is pinned, or pin the one that is there")
        run = manifests.run(self.folder, self.harness("memcal/program-tiny:1"))
        sidecar = next(i for i in e2e.memcal("image", "list", "--json", engine=self.engine).json if i["name"] == "sidecar")
        pinned = f"{sidecar['tag']}@{sidecar['id']}"
        self.expect(["run", run, "--require-pinned"], 2, "input",
                    f"the image {sidecar['tag']} is not pinned by digest, and --require-pinned is set",
                    f"write it as {pinned}")
        # The advice works.
        run = manifests.run(self.folder, self.harness(f"memcal/program-tiny:1@{tiny}"), sidecar=pinned)
        planned = e2e.memcal("run", run, "--require-pinned", "--plan", engine=self.engine, store=self.store)
        self.assertEqual(planned.code, 0, planned)
        self.assertTrue(planned.json["manifest"]["entrants"][0]["harness_image"]["pinned"])

    def test_another_plan(self):
        run = manifests.run(self.folder, self.harness("memcal/program-tiny:1"))
        digest = e2e.memcal("run", run, "--plan", engine=self.engine, store=self.store).json["digest"]
        other = "0" * 64
        self.expect(["run", run, "--expect-plan", other], 7, "mismatch",
                    f"this plan's digest is {digest}, --expect-plan says {other}",
                    'compare the two with "memcal run --plan"')

    def test_secret_that_is_not_set(self):
        upstream = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1", "secret": "EXAMPLE_KEY"}
        run = manifests.run(self.folder, self.harness("memcal/program-tiny:1"), secrets=["EXAMPLE_KEY"],
                            model={"upstream": upstream, "name": "m"})
        before = self.engine.holds("")
        for env, text, hint in (({}, "the secret EXAMPLE_KEY is not set",
                                 'set it in the environment: the run file names it under "secrets"'),
                                ({"EXAMPLE_KEY": "short"}, "the secret EXAMPLE_KEY is shorter than 6 characters: it could "
                                 "not be kept out of what is recorded", "use a longer one")):
            for form in ([], ["--json"]):
                seen = e2e.memcal("run", run, *form, engine=self.engine, store=self.store, env=env)
                self.assertEqual((seen.code, seen.out), (2, ""), seen)
                last = seen.err.splitlines()[-1]
                self.assertEqual(last if not form else json.loads(last)["error"]["text"],
                                 text if form else f"memcal: {text}: {hint}")
        self.assertEqual(self.engine.holds(""), before)
        self.assertEqual(e2e.memcal("runs", "--json", store=self.store).json, [], "no run was begun")

    def test_bad_corpus(self):
        corpus = self.folder / "corpus"
        shutil.copytree(manifests.CORPUS, corpus)
        turns = corpus / "lives" / "brief" / "turns.jsonl"
        turns.write_text('{"id":"turn-1","at":"2026-03-02T13:00:00+01:00","session":"day-1"}\n')
        run = manifests.run(self.folder, self.harness("memcal/program-tiny:1"), corpus=str(corpus))
        for args in (["run", run], ["corpus", "add", corpus]):
            seen = e2e.memcal(*args, engine=self.engine, store=self.store)
            self.assertEqual((seen.code, seen.out), (2, ""), seen)
            self.assertRegex(seen.err, r'\Amemcal: [^\n]*lives/brief/turns.jsonl:1: [^\n]*"?text"?[^\n]*\n\Z')
        valid = e2e.memcal("corpus", "validate", corpus, "--json")
        self.assertEqual(valid.code, 2)
        found = [(p["file"], p["line"]) for p in valid.json["problems"] if p["severity"] == "error"]
        self.assertIn(("lives/brief/turns.jsonl", 1), found)


if __name__ == "__main__":
    e2e.main()
