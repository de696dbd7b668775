"""memcal grade --corpus DIR --answers FILE."""
import json

from support import ANSWERS, SMALL, Commands, slot_of


class GradeFile(Commands):
    def grade(self, answers, **options):
        return self.json("grade", "--corpus", SMALL, "--answers", self.lines("answers.jsonl", answers), **options)

    def test_answers_come_in_the_order_given_with_everything_that_is_promised(self):
        graded = self.grade(ANSWERS)
        self.assertEqual([(a["life"], a["checkpoint"], a["harness"]) for a in graded["answers"]],
                         [(a["life"], a["checkpoint"], a["harness"]) for a in ANSWERS])
        for answer in graded["answers"]:
            for key in ("ended", "slots", "complete", "abstained", "options_found", "options_total", "traps",
                        "repetition"):
                self.assertIn(key, answer)
            for slot in answer["slots"]:
                self.assertLessEqual({"id", "verdict", "explanation", "source"}, set(slot))
        self.assertEqual([a["complete"] for a in graded["answers"]],
                         [True, True, False, True, True, False, False, False])
        self.assertEqual(slot_of(graded["answers"], "after/plan", "time")["verdict"], "correct")
        self.assertTrue(graded["answers"][3]["abstained"])
        self.assertEqual(graded["answers"][6]["ended"], "timeout")

    def test_summary_keeps_how_it_ended_apart_from_what_was_right(self):
        summary = self.grade(ANSWERS)["summary"]
        self.assertEqual(summary["answers"], 8)
        good, bad = summary["harnesses"]
        self.assertEqual((good["name"], bad["name"]), ("good", "bad"))
        self.assertEqual((good["tally"]["answers"], good["tally"]["complete"]), (5, 4))
        self.assertEqual((bad["tally"]["answers"], bad["tally"]["complete"]), (2, 0))
        self.assertEqual(bad["tally"]["ended"]["infrastructure"], 1)
        self.assertEqual(bad["tally"]["slots"], {"correct": 0, "missed": 4, "misrepresented": 1, "ungraded": 1})
        # choir-stays is the control of choir-move: one base life, each of the two weighs half.
        self.assertEqual(good["lives"], 1)
        self.assertAlmostEqual(good["metrics"]["success"]["value"], (3 / 4 + 1) / 2)
        split = sum(good["metrics"][m]["value"] for m in ("correct", "missed", "misrepresented"))
        self.assertAlmostEqual(split, 1)

    def test_the_same_file_gives_the_same_bytes(self):
        path = self.lines("answers.jsonl", ANSWERS)
        arguments = ("grade", "--corpus", SMALL, "--answers", path, "--json")
        self.assertEqual(self.memcal(*arguments), self.memcal(*arguments))

    def test_table(self):
        text = self.memcal("grade", "--corpus", SMALL, "--answers", self.lines("answers.jsonl", ANSWERS))
        rows = {line[:28].strip(): line[28:].split() for line in text.splitlines()}
        self.assertEqual(rows[""], ["good", "bad"])
        self.assertEqual(rows["task success"], ["87.5%", "0.0%"])
        self.assertEqual(rows["ended timeout"], ["0", "1"])
        self.assertNotIn("ended budget", rows)
        unnamed = [{k: v for k, v in a.items() if k != "harness"} for a in ANSWERS[:4]]
        text = self.memcal("grade", "--corpus", SMALL, "--answers", self.lines("answers.jsonl", unnamed))
        self.assertEqual(text.splitlines()[0].split(), ["all"])

    def test_errors_name_file_line_and_path(self):
        good = json.dumps(ANSWERS[0])
        for line, message in (
                ('{"life":"nobody","checkpoint":"x","answer":"y"}',
                 '{path}:2: .life: the corpus small has no life "nobody": "memcal corpus show DIR" lists its lives'),
                ('{"life":"choir-move","checkpoint":"x","answer":"y"}',
                 '{path}:2: .checkpoint: the life choir-move has no checkpoint "x": checkpoints.jsonl of the life lists '
                 "them"),
                ('{"life":"choir-move","answer":"y"}', '{path}:2: .: "checkpoint" is missing'),
                ('{"life":', "{path}:2: not valid JSON"),
                ('{"life":"choir-move","checkpoint":"before/where","answer":"y","ended":"late"}',
                 "{path}:2: .ended: ")):
            path = self.file("answers.jsonl", f"{good}\n{line}\n")
            error = self.fails("grade", "--corpus", SMALL, "--answers", path)
            self.assertTrue(error.startswith(message.format(path=path)), error)
        error = self.fails("grade", "--corpus", SMALL, "--answers", self.folder / "none.jsonl")
        self.assertIn("none.jsonl", error)

    def test_usage(self):
        self.assertEqual(self.fails("grade"), "there is nothing to grade: name a run, or --corpus DIR and --answers FILE")
        self.assertIn("leave out --corpus", self.fails("grade", "last", "--corpus", SMALL))
        self.assertIn("an answers file has no earlier verdicts",
                      self.fails("grade", "--corpus", SMALL, "--answers", "x", "--as-of", "2026-01-01T00:00:00Z"))
        self.assertIn("--models RUNFILE", self.fails("grade", "--corpus", SMALL, "--answers", "x", "--judge", "m"))
        self.assertIn("usage: memcal grade RUN", self.memcal("grade", "--help"))
