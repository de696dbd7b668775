"""What the tests of commands share: running memcal, a folder of their own, corpora and stored runs."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

MEMCAL = os.environ.get("MEMCAL", "build/memcal")
MAKE_RUN = os.environ.get("MEMCAL_MAKE_RUN", "build/tests/make_run")
TESTS = pathlib.Path(__file__).resolve().parent.parent
SMALL = TESTS / "data" / "corpora" / "small"
CORPORA = TESTS.parent / "manifests" / "corpora"

ANSWERS = [
    {"life": "choir-move", "checkpoint": "before/where", "answer": "At the Larch Street chapel.", "harness": "good"},
    {"life": "choir-move", "checkpoint": "after/plan", "harness": "good",
     "answer": "Mercer Hall, this Tuesday at 7pm. It used to be the Larch Street chapel."},
    {"life": "choir-move", "checkpoint": "after/scarf", "answer": "You left it where you drove home.", "harness": "good"},
    {"life": "choir-move", "checkpoint": "after/solo", "answer": "I don't know.", "harness": "good"},
    {"life": "choir-stays", "checkpoint": "before/where", "answer": "Larch Street chapel", "harness": "good"},
    {"life": "choir-move", "checkpoint": "before/where", "answer": "Mercer Hall.", "harness": "bad"},
    {"life": "choir-move", "checkpoint": "after/plan", "ended": "timeout", "harness": "bad"},
    {"life": "choir-stays", "checkpoint": "before/where", "ended": "infrastructure", "harness": "bad"},
]


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="memcal-cli-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.store = self.folder / "store"
        self.environment = {}

    def memcal(self, *arguments, code=0):
        """Standard output; the exit code is asserted. Standard error is left in self.errors."""
        environment = {**os.environ, "MEMCAL_STORE": str(self.store), "TMPDIR": str(self.folder), **self.environment}
        for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            environment.pop(proxy, None)
        done = subprocess.run([MEMCAL, *map(str, arguments)], env=environment, capture_output=True, text=True,
                              timeout=300, check=False)
        self.errors = done.stderr
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout[-2000:]}\n{done.stderr}")
        return done.stdout

    def json(self, *arguments, code=0):
        return json.loads(self.memcal(*arguments, "--json", code=code))

    def fails(self, *arguments, code=2):
        """The message of a command that must fail, without "memcal: "."""
        self.memcal(*arguments, code=code)
        first = self.errors.splitlines()[0]
        self.assertTrue(first.startswith("memcal: "), self.errors)
        return first[len("memcal: "):]

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def lines(self, name, items):
        return self.file(name, "".join(json.dumps(item) + "\n" for item in items))

    def stored_run(self, run="run-1", answers=None, corpus=SMALL, judge=None, secret=None):
        path = self.lines(f"{run}.jsonl", ANSWERS if answers is None else answers)
        arguments = [MAKE_RUN, self.store, run, corpus, path]
        if judge:
            arguments += [judge] + ([secret] if secret else [])
        subprocess.run([str(a) for a in arguments], check=True, timeout=60)
        return run

    def left_behind(self):
        """Temporary folders of memcal's that are still there."""
        return [p.name for p in self.folder.iterdir() if p.name.startswith("memcal-")]


def slot_of(answers, checkpoint, slot, harness="good"):
    for answer in answers:
        if answer["checkpoint"] == checkpoint and answer["harness"] == harness:
            for one in answer["slots"]:
                if one["id"] == slot:
                    return one
    raise AssertionError(f"no {slot} of {checkpoint}")
