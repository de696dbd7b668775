"""The quickstart with the real Hermes on every engine: it completes, says the same everywhere, and leaves nothing behind.

The stores are kept for test_evidence.py.
"""

import os
import pathlib
import shutil
import unittest

import e2e

WORK = pathlib.Path(os.environ.get("MEMCAL_E2E_WORK", "/nonexistent"))


class Quickstart(unittest.TestCase):
    def run_on(self, number, engine):
        path = WORK / f"quickstart-{number}"
        shutil.rmtree(path, ignore_errors=True)
        made = e2e.memcal("runs", store=path)
        self.assertEqual(made.code, 0, made)
        store = e2e.Store(path)
        decoys = e2e.Decoys(engine, store.uuid())
        self.addCleanup(decoys.close)
        before = engine.holds(store.uuid())
        done = e2e.memcal("run", "manifests/runs/quickstart.yaml", "--json", engine=engine, store=path)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(engine.holds(store.uuid()), before, "the engine holds exactly what it held before")
        self.assertEqual(decoys.look(), decoys.before, "decoys are untouched")
        report = done.json
        self.assertEqual(report, store.report(report["run"]["id"]), "what is printed is what is kept")
        return report

    def check_completed(self, report):
        trials = [(t["life"], t["harness"], t["ended"]) for t in report["trials"]]
        self.assertEqual(trials, [(life, harness, "completed") for life in ("trivia-night", "trivia-night-control")
                                  for harness in ("hermes-none", "hermes-fts", "hermes-holographic")])
        self.assertEqual([t["life"] for t in report["trials"] for a in t["attempts"] if a["number"] != 1], [])
        self.assertEqual({len(t["answers"]) for t in report["trials"]}, {6})
        self.assertEqual({a["ended"] for t in report["trials"] for a in t["answers"]}, {"completed"})
        self.assertEqual({h["model"]["source"] for h in report["harnesses"]}, {"script/extractive"})

    def test_same_answers_and_verdicts_everywhere(self):
        seen = []
        for number, engine in enumerate(e2e.engines()):
            with self.subTest(engine=engine.host):
                report = self.run_on(number, engine)
                self.check_completed(report)
                seen.append([(t["life"], t["harness"], a["checkpoint"], a["answer"], a["grade_object"])
                             for t in report["trials"] for a in t["answers"]])
        self.assertEqual(len(seen), len(e2e.engines()))
        for other in seen[1:]:
            self.assertEqual(other, seen[0])
        # A memory that answers: the comparison is not one of empty columns.
        answers = {(harness, checkpoint): answer for life, harness, checkpoint, answer, grade in seen[0]
                   if life == "trivia-night"}
        for harness in ("hermes-fts", "hermes-holographic"):
            self.assertIn("Delmar's", answers[harness, "trivia-night/plan"])
        self.assertIn("I don't know", answers["hermes-none", "trivia-night/plan"])


if __name__ == "__main__":
    e2e.main()
