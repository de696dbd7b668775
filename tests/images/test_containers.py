"""The images at work: the real Hermes in its real container, a stub model, the real providers. Needs docker and the images.

    MEMCAL_TEST_IMAGES=1 python3 -m unittest discover -s tests/images
"""

import json
import os
import subprocess
import time
import unittest

from drive import Life, docker

FTS = {"name": "fts", "plugin": {"name": "fts", "path": "/memcal/plugin"}, "ports": [7001]}
HOLOGRAPHIC = {"name": "holographic", "memory_path": "/memcal/memory", "ports": []}
OBSERVATION = {
    "source_id": "gm-move", "channel": "groupme", "sender": "Sam", "thread": "poker",
    "text": "Poker moved to Jordan's, Friday 8pm", "written_at": "2026-08-06T10:00:00-04:00",
    "arrived_at": "2026-08-06T10:00:05-04:00", "collected_at": "2026-08-07T08:00:00-04:00",
}


@unittest.skipUnless(os.environ.get("MEMCAL_TEST_IMAGES"), "needs docker and the images: set MEMCAL_TEST_IMAGES=1")
class ContainerTest(unittest.TestCase):
    def life(self):
        life = Life()
        self.addCleanup(life.close)
        return life

    def provider(self, life, image, tools):
        program = life.provider(image)
        program.send("initialize", **life.initialize("provider"))
        self.assertEqual(program.until("ready")["tools"], tools)
        self.batch(program)
        return program

    def batch(self, program, key="b1", observations=(OBSERVATION,)):
        program.send("import", batch=key, boundary="2026-08-07T08:00:00-04:00", observations=list(observations))
        accepted, operation = program.until("accepted"), program.until("operation")
        self.assertEqual(operation["state"], "completed", operation)
        self.assertEqual(accepted["operation"], operation["operation"])
        return operation

    def with_fts(self, config=None):
        life = self.life()
        self.fts = self.provider(life, "memcal/provider-fts:1", ["fts_search"])
        hermes = life.hermes()
        hermes.send("initialize", **life.initialize("harness", ["fts_search"], FTS, config))
        self.assertEqual(hermes.until("ready")["version"], "0.19.0")
        return life, hermes

    def turn(self, hermes, turn, text, session="s1", kind="turn", deadline_ms=20000):
        start = len(hermes.frames)
        hermes.send("turn.start", turn=turn, session=session, kind=kind, scenario_time="2026-08-07T09:00:00-04:00",
                    deadline_ms=deadline_ms, text=text)
        outcome = hermes.until("turn.completed", "turn.failed")
        self.assertEqual(outcome["turn"], turn)
        return outcome, hermes.frames[start:]

    def kinds(self, frames):
        return [frame["kind"] for frame in frames if frame["type"] == "event"]

    def query(self, life, volume, database, sql):
        script = "import json,sqlite3,sys; print(json.dumps(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall()))"
        return json.loads(docker("run", "--rm", "--label", "org.memcal.dev=images", "--volume",
                                 f"{life.volumes[volume]}:/v", "memcal/base:13", "python3", "-c", script,
                                 f"/v/{database}", sql))

    def test_probes_that_only_read(self):
        life, hermes = self.with_fts({"probe_memory": "read"})
        self.turn(hermes, "t1", "prompt")
        self.turn(hermes, "p1", "prompt", session="probe", kind="probe")
        hermes.send("session.end", session="probe")
        hermes.until("session.ended")
        hermes.send("shutdown")
        hermes.until("bye")
        self.assertEqual(hermes.close(), 0)
        stored = self.query(life, "memory", "fts.db", "SELECT channel, sender FROM observations")
        self.assertEqual(stored, [["groupme", "Sam"], ["assistant", "owner"]], "the probe left no trace")

    def test_turns_tools_and_clock(self):
        life, hermes = self.with_fts()
        outcome, frames = self.turn(hermes, "t1", 'tool fts_search {"query":"poker"}')
        self.assertEqual(outcome["answer"],
                         "found: 2026-08-06 10:00 | groupme | Sam | poker | Poker moved to Jordan's, Friday 8pm")
        self.assertEqual(outcome["usage"], {"input": 200, "cached_input": None, "output": 20, "reasoning": None})
        self.assertEqual(self.kinds(frames), ["message", "tool.call", "tool.result", "message", "usage"])
        life.set_clock("2026-08-09T07:30:00-04:00")
        outcome, frames = self.turn(hermes, "p1", "prompt", session="probe", kind="probe")
        self.assertIn("Conversation started: Sunday, August 09, 2026", outcome["answer"])
        self.assertIn("fts_search", outcome["answer"])
        for bait in ("skill_view", "/root", "Host:", "AGENTS.md"):
            self.assertNotIn(bait, outcome["answer"])
        self.assertTrue(frames[-1]["at"].startswith("2026-08-09T07:30:"), frames[-1]["at"])
        hermes.send("session.end", session="probe")
        self.assertEqual(hermes.until("session.ended")["session"], "probe")
        hermes.send("shutdown")
        hermes.until("bye")
        self.assertEqual(hermes.close(), 0)
        rows = self.query(life, "home", "state.db",
                          "SELECT role, datetime(timestamp, 'unixepoch') FROM messages ORDER BY id")
        self.assertEqual([row[0] for row in rows], ["user", "assistant", "tool", "assistant", "user", "assistant"])
        self.assertTrue(rows[0][1].startswith("2026-08-07 13:00:") and rows[-1][1].startswith("2026-08-09 11:30:"), rows)
        stored = self.query(life, "memory", "fts.db", "SELECT channel, sender, written_at, stored_at FROM observations")
        self.assertEqual([row[:2] for row in stored], [["groupme", "Sam"], ["assistant", "owner"], ["assistant", "owner"]],
                         "the turn and the probe went through Hermes's normal hooks")
        self.assertTrue(stored[1][2].startswith("2026-08-07T09:00:") and stored[1][3].startswith("2026-08-07T09:00:"))
        for request in life.model_requests():
            self.assertEqual([tool["function"]["name"] for tool in request["tools"]], ["fts_search"])

    def test_forbidden_tool(self):
        life, hermes = self.with_fts()
        self.turn(hermes, "t1", "first")
        before = len(life.model_requests())
        asks = [f'tool {name} {{"query":"x"}}' for name in ("terminal", "fts_searc", "FTS_SEARCH", "memory", "session_search")]
        for number, text in enumerate([*asks, "both terminal"]):
            outcome, frames = self.turn(hermes, f"bad{number}", text)
            self.assertEqual((outcome["type"], outcome["reason"]), ("turn.failed", "tool_policy"), outcome)
            self.assertIn("tool.denied", self.kinds(frames))
            for frame in frames:
                if frame.get("kind") == "tool.result":
                    self.assertIn("cancelled", frame["data"]["content"])
            self.assertEqual(len(life.model_requests()), before + number + 1, "one call a turn, none after the denial")
        outcome, _ = self.turn(hermes, "t2", "second")
        self.assertEqual(outcome["answer"], "echo of 4 messages: second", "the failed turns left nothing in the session")
        texts = self.query(life, "memory", "fts.db", "SELECT text FROM observations WHERE channel = 'assistant'")
        self.assertEqual(texts, [["first"], ["second"]])

    def test_deadline_cancel_and_model_failure(self):
        _, hermes = self.with_fts()
        begun = time.monotonic()
        outcome, _ = self.turn(hermes, "slow", "sleep 30", deadline_ms=1500)
        self.assertEqual(outcome["reason"], "deadline", outcome)
        self.assertLess(time.monotonic() - begun, 5)
        hermes.send("turn.start", turn="c", session="s1", kind="turn", scenario_time="x", deadline_ms=30000, text="sleep 30")
        hermes.until("event")
        time.sleep(0.5)
        hermes.send("turn.cancel", turn="c")
        self.assertEqual(hermes.until("turn.completed", "turn.failed", seconds=10)["reason"], "cancelled")
        outcome, _ = self.turn(hermes, "e", "fail", deadline_ms=60000)
        self.assertEqual(outcome["reason"], "error", outcome)
        outcome, _ = self.turn(hermes, "ok", "hello")
        self.assertEqual(outcome["answer"], "echo of 2 messages: hello")

    def test_tool_call_limit(self):
        life, hermes = self.with_fts()
        outcome, frames = self.turn(hermes, "t1", "loop")
        self.assertEqual(outcome.get("answer"), "enough", outcome)
        results = [frame["data"]["content"] for frame in frames if frame.get("kind") == "tool.result"]
        self.assertEqual(len([content for content in results if "Jordan" in content]), 5, results)
        self.assertEqual([len(request.get("tools", [])) for request in life.model_requests()], [1] * 6 + [0])

    def test_restart_resumes(self):
        life, hermes = self.with_fts()
        self.turn(hermes, "t1", "one")
        first, _ = self.turn(hermes, "t2", "two")
        seq = hermes.frames[-1]["seq"]
        hermes.send("turn.start", turn="t3", session="s1", kind="turn", scenario_time="x", deadline_ms=60000, text="sleep 30")
        hermes.until("event")
        time.sleep(0.5)
        docker("kill", hermes.name)
        hermes.process.wait()
        hermes.start()
        hermes.send("initialize", **life.initialize("harness", ["fts_search"], FTS))
        hermes.frames.clear()
        self.assertGreater(hermes.until("ready")["seq"], seq)
        again, _ = self.turn(hermes, "t2", "two")
        self.assertEqual(again["answer"], first["answer"], "a turn that ended is answered from the journal")
        outcome, _ = self.turn(hermes, "t3", "three")
        self.assertEqual(outcome["answer"], "echo of 6 messages: three")
        self.assertEqual(hermes.close(), 0, "end of standard input")

    def test_provider_is_idempotent_and_durable(self):
        life = self.life()
        fts = self.provider(life, "memcal/provider-fts:1", ["fts_search"])
        first = self.batch(fts)
        self.assertEqual(first["operation"], self.batch(fts)["operation"])
        fts.send("maintain", night="n1")
        fts.until("accepted")
        night = fts.until("operation")
        self.assertEqual(night["state"], "completed", night)
        self.assertEqual(fts.close(), 0)
        fts.start()
        fts.send("initialize", **life.initialize("provider"))
        fts.until("ready")
        fts.send("maintain", night="n1")
        self.assertEqual(fts.until("accepted")["operation"], night["operation"])
        fts.until("operation")
        fts.send("operation.status", operation=first["operation"])
        self.assertEqual(fts.until("operation")["state"], "completed")
        fts.send("operation.status", operation="import-99")
        self.assertEqual(fts.until("operation")["state"], "failed")
        bad = {**OBSERVATION, "source_id": "x", "written_at": "yesterday"}
        fts.send("import", batch="bad", boundary="2026-08-07T08:00:00-04:00", observations=[bad])
        fts.until("accepted")
        self.assertEqual(fts.until("operation")["state"], "failed")

    def test_memory_that_dies_fails_the_turn(self):
        life, hermes = self.with_fts()
        self.turn(hermes, "t0", "hello")
        docker("kill", self.fts.name)
        outcome, _ = self.turn(hermes, "t1", "hello again")
        self.assertEqual(outcome["reason"], "error", outcome)
        self.assertIn("sync_turn", outcome["message"])
        outcome, _ = self.turn(hermes, "t2", 'tool fts_search {"query":"poker"}')
        self.assertIn("handle_tool_call", outcome["message"])

    def test_no_memory_at_start_is_refused(self):
        life = self.life()
        hermes = life.hermes()
        subprocess.run(["docker", "run", "--rm", "--label", "org.memcal.dev=images", "--volume",
                        f"{life.volumes['plugin']}:/memcal/plugin", "memcal/provider-fts:1", "true"], check=True)
        hermes.send("initialize", **life.initialize("harness", ["fts_search"], FTS))
        with self.assertRaisesRegex(AssertionError, "did not start"):
            hermes.until("ready")

    def test_holographic(self):
        life = self.life()
        self.provider(life, "memcal/provider-holographic:0.19.0", ["fact_store", "fact_feedback"])
        hermes = life.hermes(memory=True)
        hermes.send("initialize", **life.initialize("harness", ["fact_store", "fact_feedback"], HOLOGRAPHIC))
        hermes.until("ready")
        outcome, frames = self.turn(hermes, "t1", "poker")
        injected = [f["data"] for f in frames if f.get("kind") == "context.injected"]
        self.assertEqual(injected[0]["source"], "holographic")
        self.assertIn("Thursday 2026-08-06 10:00, groupme, poker: Sam wrote: Poker moved", injected[0]["content"])
        outcome, _ = self.turn(hermes, "t2", 'tool fact_store {"action":"search","query":"Jordan"}')
        self.assertIn("Poker moved to Jordan's", outcome["answer"])

    def test_without_memory(self):
        life = self.life()
        hermes = life.hermes()
        hermes.send("initialize", **life.initialize("harness"))
        self.assertEqual(hermes.until("ready")["tools"], [])
        outcome, _ = self.turn(hermes, "t1", "hello")
        self.assertEqual(outcome["answer"], "echo of 2 messages: hello")
        outcome, _ = self.turn(hermes, "t2", "tool memory {}")
        self.assertEqual(outcome["reason"], "tool_policy")
        self.assertEqual({"tools": request.get("tools") for request in life.model_requests()}, {"tools": None})


if __name__ == "__main__":
    unittest.main()
