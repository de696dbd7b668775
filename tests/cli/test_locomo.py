"""LoCoMo, whole: imported, checked, and graded with its own gold answers. The data is read where it lies; where CI is
not set, a machine without it says so and the test counts as skipped."""
import collections
import json
import os
import pathlib
import random
import re
import zipfile

from support import TESTS, Commands

DATA = pathlib.Path(os.environ.get("MEMCAL_LOCOMO", TESTS.parent.parent / "shared" / "data" / "locomo10.zip"))
QUESTIONS = 1986
UNKNOWN = "I don't know; that was never mentioned."
WORDS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8"}


def questions_of(path):
    """[(life, checkpoint, category, gold)] of every question."""
    found = []
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".json"):
                life = "locomo-" + pathlib.PurePath(name).stem
                for i, qa in enumerate(json.loads(archive.read(name))["qa"]):
                    gold = qa.get("answer")
                    found.append((life, f"qa-{i:03d}", qa["category"], UNKNOWN if gold is None else str(gold)))
    return found


def same(one, other):
    """Whether two golds say the same: alike but for case, marks and number words, or with the same yes or no."""
    def words(text):
        return [WORDS.get(w, w) for w in re.findall(r"\w+", text.lower())]
    a, b = words(one), words(other)
    return a == b or (a[:1] == b[:1] and a[:1] in (["yes"], ["no"]))


class Locomo(Commands):
    def setUp(self):
        super().setUp()
        if not DATA.exists():
            missing = f"no LoCoMo data at {DATA}: name locomo10.zip in the environment variable MEMCAL_LOCOMO"
            self.assertNotIn("CI", os.environ, missing)
            print(missing)
            self.skipTest(missing)
        self.corpus = self.folder / "locomo"
        self.report = self.json("corpus", "import", "locomo", DATA, "--out", self.corpus)
        self.questions = questions_of(DATA)

    def grade(self, pairs):
        path = self.lines("answers.jsonl", [{"life": q[0], "checkpoint": q[1], "answer": a} for q, a in pairs])
        answers = self.json("grade", "--corpus", self.corpus, "--answers", path)["answers"]
        self.assertEqual(len(answers), len(pairs))
        return [answer["slots"][0] for answer in answers]

    def test_nothing_is_dropped_and_gold_grades_correct(self):
        report = self.report
        left = [entry for entry in report["left_out"] if entry["kind"] == "question"]
        self.assertEqual(len(self.questions), QUESTIONS)
        self.assertEqual((report["lives"], report["questions"]), (10, QUESTIONS))
        self.assertEqual(report["carried"] + len(left), QUESTIONS)
        for entry in left:
            self.assertTrue(entry["reason"])
            print(f"  left out: {entry['where']}: {entry['what']}: {entry['reason']}")
        self.assertEqual(self.json("corpus", "validate", self.corpus)["errors"], 0)
        kept = {(life, json.loads(line)["id"]) for life in {q[0] for q in self.questions}
                for line in (self.corpus / "lives" / life / "checkpoints.jsonl").read_text().splitlines()}
        self.assertEqual(len(kept), report["carried"])
        carried = [q for q in self.questions if (q[0], q[1]) in kept]
        self.assertEqual(len(carried), report["carried"], "checkpoints keep the questions' numbers")

        slots = self.grade([(q, q[3]) for q in carried])
        kinds = collections.Counter("abstain" if s["kind"] == "abstain" else s["match"] for s in slots)
        fixed = [(q, s) for q, s in zip(carried, slots) if s["match"] != "text" or s["kind"] == "abstain"]
        wrong = [(q, s) for q, s in fixed if s["verdict"] != "correct"]
        for question, slot in wrong:
            print(f"  gold fails: {question}: {slot['verdict']}: {slot['explanation']}")
        print(f"  {len(carried)} questions: {dict(kinds)}")
        print(f"  gold grades correct: {len(fixed) - len(wrong)} of {len(fixed)}"
              f" ({100 * (1 - len(wrong) / len(fixed)):.2f}%)")
        self.assertGreater(len(fixed), 800)
        self.assertLessEqual(len(wrong) * 100, len(fixed))

        self.shuffled([q for q, s in zip(carried, slots) if s["match"] != "text" and s["kind"] != "abstain"], carried)

    def shuffled(self, fixed, carried):
        """Each deterministic question gets the golds of five others of its category."""
        draw = random.Random(1)
        by_category = collections.defaultdict(list)
        for question in carried:
            by_category[question[2]].append(question)
        pairs = []
        for question in fixed:
            others = [q for q in by_category[question[2]] if not same(q[3], question[3])]
            pairs += [(question, q[3]) for q in draw.sample(others, min(5, len(others)))]
        slots = self.grade(pairs)
        passed = [(q, a, s) for (q, a), s in zip(pairs, slots) if s["verdict"] == "correct"]
        for question, answer, slot in passed:
            print(f"  another's gold passes: {answer!r} against {question[3]!r} ({slot['match']}, {slot['rule']})")
        print(f"  another's gold does not: {len(pairs) - len(passed)} of {len(pairs)}"
              f" ({100 * (1 - len(passed) / len(pairs)):.2f}%)")
        self.assertGreater(len(pairs), 1500)
        self.assertLessEqual(len(passed) * 100, len(pairs))
