"""images/program-tiny in its container: answers, faults, journal. Needs docker and memcal/program-tiny:1."""

import os
import time
import unittest

from drive import Life, docker


@unittest.skipUnless(os.environ.get("MEMCAL_TEST_IMAGES"), "needs docker and the images: set MEMCAL_TEST_IMAGES=1")
class TinyTest(unittest.TestCase):
    def setUp(self):
        self.life = Life()
        self.addCleanup(self.life.close)

    def tiny(self, role="harness", **config):
        program = self.life.program(role, "memcal/program-tiny:1", [("out", "/memcal/out", "rw")])
        self.begin(program, role, config)
        return program

    def begin(self, program, role, config):
        program.send("initialize", **self.life.initialize(role, config=config))
        return program.until("ready")

    def start(self, program, turn="t1", text="Where is poker?", deadline_ms=5000):
        program.send("turn.start", turn=turn, session="s", kind="probe", scenario_time="2026-08-07T09:00:00-04:00",
                     deadline_ms=deadline_ms, text=text)

    def ask(self, program, **keys):
        self.start(program, **keys)
        return program.until("turn.completed", "turn.failed")

    def test_answers_journal_and_shutdown(self):
        answers = {"Where is \"poker\"? \U0001F0CF": "At Jordan's\n☕"}
        program = self.tiny(answers=answers)
        question, answer = next(iter(answers.items()))
        self.assertEqual(self.ask(program, text=question)["answer"], answer)
        self.assertEqual(self.ask(program, turn="t2", text="other")["answer"], "I do not know")
        self.assertEqual(program.close(), 0)
        program.start()
        self.assertEqual(self.begin(program, "harness", {})["seq"], 4)
        self.assertEqual(self.ask(program, text=question)["answer"], answer, "from the journal")
        program.send("session.end", session="s")
        program.until("session.ended")
        program.send("shutdown")
        self.assertEqual(program.until("bye")["seq"], 7)
        self.assertEqual(program.close(), 0)

    def test_provider(self):
        program = self.tiny("provider")
        program.send("import", batch="b", boundary="x", observations=[])
        operation = program.until("accepted")["operation"]
        self.assertEqual(program.until("operation"), {**program.frames[-1], "operation": operation, "state": "completed"})
        program.send("import", batch="b", boundary="x", observations=[])
        self.assertEqual(program.until("accepted")["operation"], operation)
        program.send("maintain", night="b")
        self.assertNotEqual(program.until("accepted")["operation"], operation)

    def test_slow(self):
        program = self.tiny(behaviour="slow_ms:1500")
        begun = time.monotonic()
        self.assertEqual(self.ask(program)["type"], "turn.completed")
        self.assertGreater(time.monotonic() - begun, 1.4)
        self.assertEqual(self.ask(program, turn="t2", deadline_ms=200)["reason"], "deadline")
        self.start(program, turn="t3")
        program.send("turn.cancel", turn="t3")
        self.assertEqual(program.until("turn.failed")["reason"], "cancelled")
        self.start(program, turn="t4")
        self.assertEqual(program.close(), 0)
        program.start()
        self.begin(program, "harness", {})
        self.assertEqual(self.ask(program, turn="t4")["type"], "turn.completed", "finished after the controller went")

    def test_exit_and_oom(self):
        for behaviour, code in (("exit", 3), ("oom", 137)):
            program = self.tiny(behaviour=behaviour)
            self.start(program)
            with self.assertRaises(AssertionError):
                program.until("turn.completed")
            self.assertEqual(program.process.wait(), code)
            docker("rm", "--force", program.name)

    def test_fork_stops_at_the_limit(self):
        self.assertRegex(self.ask(self.tiny(behaviour="fork"))["answer"], r"started \d+ children, then: Resource temporarily")

    def test_ignores_term(self):
        program = self.tiny(behaviour="ignore_term")
        self.ask(program)
        begun = time.monotonic()
        docker("stop", "--time", "1", program.name)
        self.assertGreater(time.monotonic() - begun, 0.9)
        self.assertEqual(program.process.wait(), 137)

    def test_calls_the_model(self):
        self.assertEqual(self.ask(self.tiny(behaviour="call_model"), text="hello")["answer"], "echo of 1 messages: hello")


if __name__ == "__main__":
    unittest.main()
