"""memcal corpus validate, vary, import."""
import json
import shutil

from support import CORPORA, SMALL, Commands


class Validate(Commands):
    def corpus(self):
        copy = self.folder / "corpus"
        shutil.copytree(SMALL, copy)
        return copy

    def test_corpora_of_ours_have_no_problem(self):
        for corpus in (SMALL, CORPORA / "quickstart", CORPORA / "pilot"):
            self.assertEqual(self.json("corpus", "validate", corpus)["errors"], 0, corpus)
        self.assertIn("0 errors, ", self.memcal("corpus", "validate", SMALL))

    def test_the_graders_problems_stand_among_the_others(self):
        corpus = self.corpus()
        rubric = corpus / "lives" / "choir-move" / "rubric.yaml"
        text = rubric.read_text()
        text = text.replace('expected: "19:00"', 'expected: "half past never"').replace("match: date", "match: dote")
        rubric.write_text(text.replace("supported_by: [wa-boiler, em-confirm]", "supported_by: [wa-boiler, em-none]"))
        found = self.json("corpus", "validate", corpus, code=2)
        problems = {(p["line"], p["path"]): p for p in found["problems"] if p["severity"] == "error"}
        self.assertEqual(found["errors"], len(problems), "each place is reported once")
        texts = sorted(p["text"] for p in problems.values())
        self.assertEqual(len(problems), 3, texts)
        for problem in problems.values():
            self.assertEqual(problem["file"], str(rubric))
            self.assertTrue(problem["mend"], problem)
        time = problems[(31, '.checkpoints."after/plan".slots[2].expected')]
        self.assertIn("half past never", time["text"])
        text = self.memcal("corpus", "validate", corpus, code=2)
        self.assertIn(f"error: {rubric}:31: ", text)
        self.assertIn("3 errors, ", text)

    def test_a_corpus_with_a_problem_of_the_grader_is_not_added(self):
        corpus = self.corpus()
        rubric = corpus / "lives" / "choir-move" / "rubric.yaml"
        rubric.write_text(rubric.read_text().replace('expected: "19:00"', 'expected: "half past never"'))
        self.assertIn("rubric.yaml:31", self.fails("corpus", "add", corpus))
        self.assertEqual(self.json("corpus", "list"), [])

    def test_a_folder_that_is_not_there(self):
        self.assertIn("nowhere", self.memcal("corpus", "validate", self.folder / "nowhere", code=2))


class Vary(Commands):
    def test_every_kind_gives_the_same_bytes_twice_and_validates(self):
        for kind in ("wording", "distractor", "duplicate", "reorder"):
            outs = [self.folder / f"{kind}-{i}" for i in (1, 2)]
            for out in outs:
                text = self.memcal("corpus", "vary", CORPORA / "quickstart", "trivia-night", "--kind", kind, "--seed",
                                   "7", "--out", out)
                self.assertEqual(text, f"trivia-night-{kind}-7 written to {out}\n")
            self.assertEqual(*(self.json("corpus", "show", out)["digest"] for out in outs))
            self.assertEqual(self.json("corpus", "validate", outs[0])["errors"], 0)
            shown = self.json("corpus", "show", outs[0])
            self.assertEqual({life["id"] for life in shown["lives"]}, {"trivia-night", f"trivia-night-{kind}-7"})

    def test_sparse_follows_the_rubric_or_is_refused(self):
        out = self.folder / "sparse"
        made = self.json("corpus", "vary", CORPORA / "quickstart", "trivia-night", "--kind", "sparse", "--seed", "3",
                         "--out", out)
        self.assertEqual(made, {"corpus": str(out), "kind": "sparse", "life": "trivia-night-sparse-3",
                                "of": "trivia-night", "seed": 3})
        self.assertEqual(self.json("corpus", "validate", out)["errors"], 0)

    def test_what_cannot_be_expected_any_more_is_refused(self):
        error = self.fails("corpus", "vary", CORPORA / "quickstart", "trivia-night", "--kind", "batch", "--seed", "7",
                           "--out", self.folder / "out")
        self.assertIn('life "trivia-night": a checkpoint is asked after each collection', error)
        self.assertFalse((self.folder / "out" / "lives" / "trivia-night-batch-7").exists())

    def test_errors(self):
        base = ("corpus", "vary", SMALL, "choir-move")
        out = ("--out", self.folder / "out")
        self.assertEqual(self.fails(*base, "--kind", "rhyme", "--seed", "1", *out),
                         'there is no kind of variant "rhyme": it is one of wording, distractor, duplicate, reorder, '
                         "batch, sparse")
        self.assertIn("--kind is missing", self.fails(*base, "--seed", "1", *out))
        self.assertIn("--seed is missing", self.fails(*base, "--kind", "batch", *out))
        self.assertIn("--out is missing", self.fails(*base, "--kind", "batch", "--seed", "1"))
        self.assertIn("--seed 5000000000 is larger than 4294967295",
                      self.fails(*base, "--kind", "batch", "--seed", "5000000000", *out))
        self.assertIn("nobody", self.fails("corpus", "vary", SMALL, "nobody", "--kind", "batch", "--seed", "1", *out))
        self.assertIn("usage: memcal corpus vary DIR LIFE", self.memcal("corpus", "vary", "--help"))


class Import(Commands):
    conversation = {
        "conversation": {
            "speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "I adopted a cat called Miso."},
                          {"speaker": "Ben", "dia_id": "D1:2", "text": "Lovely!"}]},
        "sample_id": "conv-1",
        "qa": [{"question": "What is the cat called?", "answer": "Miso", "evidence": ["D1:1"], "category": 4},
               {"question": "What is the dog called?", "adversarial_answer": "Rex", "evidence": ["D9:9"], "category": 5},
               {"question": "Is Miso the cat's name?", "answer": "Miso", "evidence": ["D1:1"], "category": 4}]}

    def test_locomo_accounts_for_every_question(self):
        source = self.file("one.json", json.dumps([self.conversation]))
        out = self.folder / "out"
        report = self.json("corpus", "import", "locomo", source, "--out", out)
        questions = [entry for entry in report["left_out"] if entry["kind"] == "question"]
        self.assertEqual((report["lives"], report["observations"], report["questions"]), (1, 2, 3))
        self.assertEqual(report["questions"], report["carried"] + len(questions))
        self.assertEqual(self.json("corpus", "validate", out)["errors"], 0)
        text = self.memcal("corpus", "import", "locomo", source, "--out", self.folder / "again")
        self.assertIn(f"1 lives, 2 observations, 3 questions ({report['carried']} carried over) written to ", text)
        self.assertIn(f"left out ({len(report['left_out'])}):", text)
        for entry in report["left_out"]:
            self.assertIn(entry["reason"], text)
        self.assertIn("exists already: name a folder that does not exist yet",
                      self.fails("corpus", "import", "locomo", source, "--out", out))

    def test_longmemeval(self):
        source = self.file("lme.json", json.dumps([{
            "question_id": "q1", "question_type": "single-session-user", "question": "What is the cat called?",
            "answer": "Miso", "question_date": "2023/05/30 (Tue) 23:40", "haystack_dates": ["2023/05/20 (Sat) 02:21"],
            "haystack_session_ids": ["s1"], "answer_session_ids": ["s1"],
            "haystack_sessions": [[{"role": "user", "content": "My cat Miso sleeps.", "has_answer": True},
                                   {"role": "assistant", "content": "Good."}]]}]))
        out = self.folder / "out"
        report = self.json("corpus", "import", "longmemeval", source, "--out", out)
        self.assertEqual((report["lives"], report["questions"], report["carried"]), (1, 1, 1))
        self.assertEqual(self.json("corpus", "validate", out)["errors"], 0)

    def test_jsonl(self):
        source = self.lines("own.jsonl", [{"id": "m1", "at": "2026-05-01T10:00:00+02:00", "sender": "Ana",
                                           "text": "The keys are with Ben."}])
        out = self.folder / "out"
        arguments = ["corpus", "import", "jsonl", source, "--life", "ana", "--owner", "Ana", "--timezone",
                     "Europe/Berlin", "--out", out]
        report = self.json(*arguments)
        self.assertEqual((report["lives"], report["observations"], report["questions"]), (1, 1, 0))
        self.assertEqual(self.json("corpus", "show", out)["lives"][0]["timezone"], "Europe/Berlin")
        self.assertIn("--timezone is missing", self.fails(*arguments[:8], "--out", self.folder / "other"))
        source.write_text("{not json}\n" + source.read_text())
        report = self.json(*arguments[:-1], self.folder / "bad")
        self.assertEqual((report["lives"], report["observations"], len(report["left_out"])), (1, 1, 1))
        self.assertEqual(report["left_out"][0]["where"], "line 1")
        self.assertIn("not valid JSON at column 4", report["left_out"][0]["reason"])

    def test_errors(self):
        self.assertIn('there is no command "corpus import csv"', self.fails("corpus", "import", "csv", "x"))
        self.assertIn("--out is missing: name a folder", self.fails("corpus", "import", "locomo", "x"))
        self.assertIn("nowhere.json", self.fails("corpus", "import", "locomo", self.folder / "nowhere.json", "--out",
                                                 self.folder / "o"))
        self.assertIn("jsonl", self.memcal("corpus", "import", "--help"))
        for kind in ("locomo", "longmemeval", "jsonl"):
            self.assertIn(f"usage: memcal corpus import {kind} ", self.memcal("corpus", "import", kind, "--help"))
