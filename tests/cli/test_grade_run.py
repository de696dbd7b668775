"""A stored run: grade, review, audit, score, compare, report, show."""
import json
import pathlib
import shlex
import time

from support import ANSWERS, SMALL, Commands, slot_of


class StoredRun(Commands):
    def setUp(self):
        super().setUp()
        self.run_id = self.stored_run()

    def graded(self):
        return self.json("grade", self.run_id)

    def now(self):
        """A time that is after everything so far and before everything to come."""
        time.sleep(0.01)
        moment = time.time()
        time.sleep(0.01)
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment * 1000) % 1000:03d}Z"

    def review(self, slot="where", answer="t1/after/scarf", verdict="correct", code=0, **options):
        arguments = {"reason": "the car is what one drives home", "by": "ana", **options}
        words = [w for key, value in arguments.items() for w in (f"--{key}", value)]
        return self.memcal("review", self.run_id, "--answer", answer, "--slot", slot, "--verdict", verdict, *words,
                           code=code)

    def success(self, *arguments):
        report = self.json("report", self.run_id, *arguments)
        return report["harnesses"][0]["results"]["tally"]["complete"]


class Grade(StoredRun):
    def test_grading_needs_the_store_alone_and_is_the_same_again(self):
        first = self.graded()
        self.assertEqual(first["run"], "run-1")
        self.assertEqual((first["grading"]["number"], first["grading"]["changes"]), (1, []))
        self.assertEqual([a["id"] for a in first["answers"]][:2], ["run-1-t1/before/where", "run-1-t1/after/plan"])
        self.assertEqual(slot_of(first["answers"], "after/scarf", "where")["verdict"], "missed")
        again = self.graded()
        self.assertEqual(again["grading"]["number"], 2)
        self.assertEqual(again["grading"]["changes"], [])
        self.assertEqual(again["answers"], first["answers"])
        self.assertEqual(again["summary"], first["summary"])
        self.assertEqual(self.left_behind(), [])
        self.assertIn("grading 3: 8 answers, nothing changed", self.memcal("grade", "last"))

    def test_the_same_verdicts_as_from_the_answers_file(self):
        file = self.json("grade", "--corpus", SMALL, "--answers", self.lines("a.jsonl", ANSWERS))
        stored = {(a["life"], a["checkpoint"], a["harness"]): a for a in self.graded()["answers"]}
        for answer in file["answers"]:
            other = stored[(answer["life"], answer["checkpoint"], answer["harness"])]
            self.assertEqual([(s["id"], s["verdict"], s["explanation"]) for s in answer["slots"]],
                             [(s["id"], s["verdict"], s["explanation"]) for s in other["slots"]])

    def test_report_files(self):
        path = pathlib.Path(self.graded()["report"])
        report = json.loads(path.with_suffix(".json").read_text())
        self.assertEqual(report["grading"]["number"], 1)
        self.assertEqual([h["name"] for h in report["harnesses"]], ["good", "bad"])
        text = path.read_text()
        self.assertIn("- **after/plan** at 2026-11-02T09:00:00-05:00 (completed, 0.2 s), answer run-1-t1/after/plan\n", text)

    def test_an_object_that_was_changed_is_noticed(self):
        self.graded()
        listing = self.json("corpus", "list")[0]["digest"]
        path = self.store / "objects" / listing[:2] / listing[2:]
        path.chmod(0o600)
        path.write_bytes(path.read_bytes().replace(b"corpus.yaml", b"corpus.yamm"))
        self.fails("grade", self.run_id, code=7)
        self.assertEqual(self.left_behind(), [])

    def test_errors(self):
        self.assertIn('there is no run "nope"', self.fails("grade", "nope"))
        self.assertIn('the manifest of the run run-1 has no model "big": it has none',
                      self.fails("grade", self.run_id, "--judge", "big"))
        self.assertIn("the run run-1 has not been graded", self.fails("report", self.run_id))
        self.assertIn("run run-1 has no report yet", self.memcal("show", self.run_id))


class Review(StoredRun):
    def test_a_review_replaces_and_the_first_verdict_stays(self):
        self.graded()
        before = self.now()
        self.assertEqual(self.success(), 4)
        self.assertEqual(self.review(expect="1"),
                         "run-1-t1/after/scarf where: missed -> correct (revision 2 replaces 1)\n")
        self.assertEqual(self.success(), 5)
        slot = slot_of(self.json("grade", self.run_id, "--as-of", self.now())["answers"], "after/scarf", "where")
        self.assertEqual((slot["verdict"], slot["source"], slot["revision"]), ("correct", "review", 2))
        self.assertEqual([(r["number"], r["replaces"], r["verdict"], r["source"], r["by"]) for r in slot["revisions"]],
                         [(1, 0, "missed", "matcher", None), (2, 1, "correct", "review", "ana")])
        # Everything that counts follows, and any earlier state can be seen.
        self.assertEqual(self.success("--as-of", before), 4)
        self.assertEqual(self.json("show", self.run_id)["harnesses"][0]["results"]["tally"]["complete"], 5)
        shown = self.json("show", self.run_id, "--as-of", before)
        self.assertEqual(shown["harnesses"][0]["results"]["tally"]["complete"], 4)
        cells = ("last/small/good", "last/small/bad")
        self.assertEqual(self.json("compare", *cells)["cells"][0]["tally"]["complete"], 5)
        self.assertEqual(self.json("compare", *cells, "--as-of", before)["cells"][0]["tally"]["complete"], 4)
        self.assertIn("the car is what one drives home", self.memcal("report", self.run_id))
        self.assertNotIn("the car is what one drives home", self.memcal("report", self.run_id, "--as-of", before))

    def test_a_review_stays_in_force_over_later_gradings(self):
        self.graded()
        self.review()
        self.assertEqual(self.graded()["grading"]["changes"], [])
        self.assertEqual(self.success(), 5)

    def test_refused(self):
        self.graded()
        self.review()
        self.review(verdict="misrepresented", expect="1", code=7)
        self.assertEqual(self.errors,
                         "memcal: run-1-t1/after/scarf where: revision 1 was expected, but 2 is in force: look at the "
                         "verdict as it is now, then review it with --expect 2\n")
        self.review(code=2)
        self.assertIn("the verdict is correct already (revision 2)", self.errors)
        self.review(reason=" ", verdict="missed", code=2)
        self.assertIn("a review needs a reason", self.errors)
        self.review(slot="when", code=2)
        self.assertIn('the answer run-1-t1/after/scarf has no slot "when": it has where', self.errors)
        self.review(answer="t9/after/scarf", code=2)
        self.assertIn('the run run-1 has no attempt of a trial "t9"', self.errors)
        self.review(answer="t1/after/never", code=2)
        self.assertIn('run-1-t1-a1 has no answer to "after/never"', self.errors)
        self.review(answer="scarf", code=2)
        self.assertIn('"scarf" is no answer\'s ID: write it as TRIAL/CHECKPOINT', self.errors)
        self.review(verdict="fine", code=2)
        self.assertIn("it is one of correct, missed, misrepresented", self.errors)
        self.review(expect="two", verdict="missed", code=2)
        self.assertIn("--expect needs a revision's number", self.errors)
        self.assertIn("--answer is missing", self.fails("review", self.run_id))
        self.assertEqual(self.success(), 5)

    def test_before_any_grading(self):
        self.review(code=2)
        self.assertIn("the run run-1 has not been graded: grade it with", self.errors)

    def test_as_of(self):
        self.assertIn("--as-of: ", self.fails("report", self.run_id, "--as-of", "yesterday"))
        self.graded()
        self.assertIn("was not graded at 2001-01-01T00:00:00",
                      self.fails("report", self.run_id, "--as-of", "2001-01-01T00:00:00Z"))


class Audit(StoredRun):
    def test_the_page_has_what_one_needs(self):
        self.graded()
        page = self.folder / "audit.md"
        self.memcal("audit", self.run_id, "--sample", "13", "--seed", "5", "--out", page)
        text = page.read_text()
        self.assertIn("# Audit of run run-1", text)
        self.assertIn("> At the **Larch Street chapel**.", text)
        self.assertIn("> Do you know where my scarf is?", text)
        self.assertIn("    memcal review run-1 --answer 'run-1-t1/after/scarf' --slot 'where' --verdict VERDICT", text)
        self.assertIn("We rehearse on Tuesdays at 7pm in the Larch Street chapel, as every year.", text)
        self.assertIn("> (no answer: ended timeout)", text)

    def test_passes_and_failures_are_drawn_and_the_seed_decides(self):
        self.graded()
        drawn = self.json("audit", self.run_id, "--sample", "4", "--seed", "2")
        self.assertEqual(len(drawn["items"]), 4)
        self.assertEqual(drawn["of"], 13)
        verdicts = {item["verdict"] for item in drawn["items"]}
        self.assertIn("correct", verdicts)
        self.assertTrue(verdicts - {"correct"})
        self.assertEqual(drawn, self.json("audit", self.run_id, "--sample", "4", "--seed", "2"))
        for item in drawn["items"]:
            for evidence in item["evidence"]:
                self.assertTrue(evidence["text"])
        self.assertEqual(self.left_behind(), [])
        self.assertIn("--sample needs a number from 1 on", self.fails("audit", self.run_id, "--sample", "0"))

    def test_the_command_on_the_page_works(self):
        self.graded()
        item = self.json("audit", self.run_id, "--sample", "13")["items"][0]
        words = shlex.split(item["command"].replace("VERDICT", "missed").replace("NAME", "ana"))
        self.memcal(*words[1:])


class Score(StoredRun):
    lines_of = [
        {"trial": "run-1-t1", "checkpoint": "after/plan", "slot": "place", "verdict": "correct", "by": "official-1"},
        {"life": "choir-move", "harness": "good", "checkpoint": "after/scarf", "score": 0.5, "by": "official-1"},
        {"life": "choir-move", "harness": "bad", "checkpoint": "before/where", "verdict": "missed"},
    ]

    def test_scores_stand_beside_ours(self):
        self.graded()
        ours = self.json("report", self.run_id)["harnesses"][0]["results"]
        path = self.lines("scores.jsonl", self.lines_of)
        self.assertEqual(self.json("score", "import", self.run_id, path, "--source", "official"),
                         {"added": 3, "known": 0, "run": "run-1", "source": "official"})
        self.assertIn("0 scores added to the run run-1, 3 were there",
                      self.memcal("score", "import", self.run_id, path, "--source", "official"))
        report = self.json("report", self.run_id)
        self.assertEqual(report["harnesses"][0]["results"], ours)
        self.assertEqual(report["harnesses"][0]["outside_scores"], [
            {"source": "official", "by": "official-1", "count": 2, "scores": 1, "mean": 0.5,
             "verdicts": {"correct": 1, "missed": 0, "misrepresented": 0}}])
        text = self.memcal("report", self.run_id)
        self.assertIn("## Scores from elsewhere", text)
        self.assertIn("| good | official | official-1 | 1 | 0 | 0 | 1 | 0.500 |", text)

    def test_errors(self):
        self.graded()
        good = self.lines_of[0]
        for line, message in (
                ({**good, "trial": "run-1-t7"}, 'the run run-1 has no attempt of a trial "run-1-t7"'),
                ({**good, "checkpoint": "never"}, 'run-1-t1-a1 has no answer to "never"'),
                ({**good, "slot": "never"}, '.slot: the answer run-1-t1/after/plan has no slot "never"'),
                ({**good, "score": 1}, 'needs either "verdict" or "score"'),
                ({"trial": "run-1-t1", "checkpoint": "after/plan", "score": 7}, ".score: the score 7 is not between"),
                ({**good, "verdict": "good"}, ".verdict"),
                ({**good, "extra": 1}, "extra"),
                ({"life": "choir-move", "harness": "none", "checkpoint": "after/plan", "score": 1},
                 'the run has no trial of "choir-move" by "none", repetition 1')):
            path = self.lines("scores.jsonl", [good, line])
            error = self.fails("score", "import", self.run_id, path, "--source", "verifier")
            self.assertTrue(error.startswith(f"{path}:2"), error)
            self.assertIn(message, error)
        self.assertNotIn("outside_scores", self.json("report", self.run_id)["harnesses"][0], "none of a bad file")
        empty = self.file("empty.jsonl", "\n")
        self.assertIn("holds no scores", self.fails("score", "import", self.run_id, empty, "--source", "imported"))
        self.assertIn("--source is missing", self.fails("score", "import", self.run_id, empty))
        self.assertIn('there is no source "mine"', self.fails("score", "import", self.run_id, empty, "--source", "mine"))


class Compare(StoredRun):
    def test_few_lives_tell_nothing(self):
        self.graded()
        compared = self.json("compare", "run-1/small/good", "last/small/bad")
        self.assertEqual([c["cell"] for c in compared["cells"]], ["run-1/small/good", "run-1/small/bad"])
        success = compared["comparisons"][0]
        self.assertEqual((success["metric"], success["lives"], success["told"]), ("success", 1, False))
        text = self.memcal("compare", "run-1/small/good", "last/small/bad")
        self.assertIn("too few for the difference to be told from chance", text)
        self.assertIn("task success", text)

    def test_runs_of_other_names(self):
        self.graded()
        self.stored_run("run-2")
        self.json("grade", "run-2")
        compared = self.json("compare", "run-1/small/good", "run-2/small/good")
        self.assertEqual([c["name"] for c in compared["cells"]], ["run-1/good", "run-2/good"])
        self.assertTrue(compared["same_corpus"])
        self.assertEqual(compared["comparisons"][0]["difference"], 0)

    def test_errors(self):
        self.graded()
        self.assertIn('"last" is no cell: write it as RUN/CORPUS/HARNESS', self.fails("compare", "last", "last"))
        good = "last/small/good"
        self.assertIn('is of the corpus "small", not of "pilot"', self.fails("compare", "last/pilot/good", good))
        self.assertIn('the run run-1 has no harness "x"', self.fails("compare", good, "last/small/x"))


class Help(Commands):
    def test_every_command_has_a_page(self):
        for command in ("grade", "review", "audit", "compare", "report", "show", "score import"):
            text = self.memcal(*command.split(), "--help")
            self.assertTrue(text.startswith(f"usage: memcal {command} "), text)
            self.assertIn("--json", text)
        listed = self.memcal("help")
        for command in ("grade", "review", "audit", "compare", "report", "score"):
            self.assertIn(f"  {command} ", listed)
