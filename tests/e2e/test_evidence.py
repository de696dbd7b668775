"""What the quickstart left in its store: scenario time where it belongs, real durations, and bytes under every claim."""

import datetime
import hashlib
import json
import os
import pathlib
import stat
import unittest

import e2e

WORK = pathlib.Path(os.environ.get("MEMCAL_E2E_WORK", "/nonexistent"))
SPENT_PER_STEP = datetime.timedelta(seconds=60)  # what a step's own work may add to its scenario time
WITH_PROVIDER = ("hermes-fts", "hermes-holographic")


def moment(text):
    time = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return time if time.tzinfo else time.replace(tzinfo=datetime.timezone.utc)


def at_epoch(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


class Evidence:
    @classmethod
    def setUpClass(cls):
        number = [engine.host for engine in e2e.engines()].index(cls.engine.host)
        cls.store = e2e.Store(WORK / f"quickstart-{number}")
        cls.run_row = cls.store.one("SELECT * FROM runs")
        cls.run_id = cls.run_row["id"]
        cls.report = cls.store.report(cls.run_id)
        cls.events = cls.store.events(cls.run_id)
        cls.attempts = {row["id"]: row for row in cls.store.rows(
            "SELECT attempts.*, life, harness FROM attempts JOIN trials ON trials.id = trial ORDER BY ordinal")}
        cls.steps = cls.store.rows("SELECT * FROM steps ORDER BY attempt, ordinal")
        cls.calls = cls.store.rows("SELECT * FROM model_calls ORDER BY attempt, call")

    def attempts_of(self, *harnesses):
        found = [key for key, row in self.attempts.items() if row["harness"] in harnesses]
        self.assertEqual(len(found), 2 * len(harnesses))
        return found

    def frames(self, attempt, role):
        return [e["frame"] for e in self.events
                if e["type"] == "frame" and e["attempt"] == attempt and e["role"] == role]

    def step(self, attempt, ref):
        found = [s for s in self.steps if s["attempt"] == attempt and s["ref"] == ref]
        self.assertEqual(len(found), 1, f"{attempt}: step {ref}")
        return found[0]

    def assert_during(self, time, step, what):
        """The scenario time of what happened in a step is the step's own, and what its work took in real time."""
        began = moment(step["scenario_time"])
        self.assertTrue(began <= time <= began + SPENT_PER_STEP, f"{what}: {time} in a step at {began}")

    # -- the scenario clock --

    def test_system_prompt_has_the_scenario_date(self):
        seen = 0
        for call in self.calls:
            body = json.loads(self.store.object(call["request"]))
            prompt = "\n".join(m["content"] for m in body["messages"] if m["role"] == "system")
            if call["role"] != "harness" or not prompt:
                continue
            day = moment(self.step(call["attempt"], call["step"])["scenario_time"])
            self.assertIn(f"Conversation started: {day:%A, %B %d, %Y}\n", prompt)
            seen += 1
        self.assertGreaterEqual(seen, 9 * 6, "each of nine turns and probes of six attempts has a call")

    def test_state_db_reads_scenario_time(self):
        for attempt in self.attempts:
            with self.store.database(attempt, "harness/home/state.db") as db:
                sessions = db.execute("SELECT id, started_at, ended_at FROM sessions").fetchall()
                messages = db.execute("SELECT session_id, role, content, timestamp FROM messages ORDER BY id").fetchall()
            self.assertEqual(len(sessions), 9, attempt)
            frames = [f for f in self.frames(attempt, "harness") if f["type"] == "event" and f["kind"] == "message"]
            by_session = {f["data"]["session"]: self.step(attempt, f["turn"]) for f in frames}
            for session in sessions:
                step = by_session[session["id"]]
                self.assert_during(at_epoch(session["started_at"]), step, "a session's start")
                self.assert_during(at_epoch(session["ended_at"]), step, "a session's end")
            self.assertGreaterEqual(len(messages), 18)
            for message in messages:
                self.assert_during(at_epoch(message["timestamp"]), by_session[message["session_id"]], "a message")

    def test_fts_stamps_scenario_time(self):
        for attempt in self.attempts_of("hermes-fts"):
            with self.store.database(attempt, "provider/memory/fts.db") as db:
                rows = db.execute("SELECT * FROM observations").fetchall()
            imported = [row for row in rows if not row["source_id"].startswith("turn:")]
            told = [row for row in rows if row["source_id"].startswith("turn:")]
            self.assertEqual(len(imported), self.observations(attempt))
            self.assertGreaterEqual(len(told), 3, "the owner's own turns are remembered too")
            for row in imported:
                self.assert_during(moment(row["stored_at"]), self.step(attempt, row["collected_at"]), "stored_at")
            days = {s["scenario_time"][:10] for s in self.steps if s["attempt"] == attempt}
            for row in told:
                self.assertIn(row["stored_at"][:10], days)

    def observations(self, attempt):
        """How many the imports of the attempt delivered, by the run's own corpus."""
        path = f"lives/{self.attempts[attempt]['life']}/observations.jsonl"
        digest = self.store.one("SELECT sha256 FROM corpus_files WHERE corpus = ? AND path = ?", self.run_row["corpus"],
                                path)["sha256"]
        return len(self.store.object(digest).splitlines())

    def test_holographic_stamps_scenario_time(self):
        for attempt in self.attempts_of("hermes-holographic"):
            with self.store.database(attempt, "provider/memory/memory_store.db") as db:
                facts = db.execute("SELECT content, created_at FROM facts").fetchall()
            imports = [moment(s["scenario_time"]) for s in self.steps if s["attempt"] == attempt and s["kind"] == "import"]
            self.assertGreaterEqual(len(facts), self.observations(attempt))
            for fact in facts:
                made = moment(fact["created_at"])
                self.assertTrue(any(at <= made <= at + SPENT_PER_STEP for at in imports), dict(fact))

    def test_frames_carry_scenario_time_and_events_real_time(self):
        run = moment(self.run_row["created"]), moment(self.run_row["ended"])
        for event in self.events:
            self.assertTrue(run[0] - datetime.timedelta(seconds=1) <= moment(event["at"])
                            <= run[1] + datetime.timedelta(seconds=1), event)
        for attempt in self.attempts:
            life = [moment(s["scenario_time"]) for s in self.steps if s["attempt"] == attempt]
            for role in ("harness", "provider"):
                for frame in self.frames(attempt, role):
                    if "at" in frame:
                        self.assertTrue(life[0] - datetime.timedelta(hours=1) <= moment(frame["at"])
                                        <= life[-1] + SPENT_PER_STEP, frame)

    def test_durations_are_real(self):
        for attempt in self.attempts.values():
            took = moment(attempt["ended_at"]) - moment(attempt["started"])
            self.assertAlmostEqual(attempt["wall_ms"] / 1000, took.total_seconds(), delta=1)
            stages = self.store.rows("SELECT * FROM stages WHERE attempt = ? ORDER BY rowid", attempt["id"])
            self.assertEqual([s["name"] for s in stages if s["status"] == "done"],
                             ["provision", "schedule", "collect", "teardown"])
            self.assertLessEqual(sum(s["wall_ms"] for s in stages), attempt["wall_ms"])
            steps = [s for s in self.steps if s["attempt"] == attempt["id"]]
            self.assertLessEqual(sum(s["wall_ms"] for s in steps), stages[1]["wall_ms"])
            self.assertLess(attempt["wall_ms"], 120000, "three days of scenario time")
        for answer in self.store.rows("SELECT * FROM answers"):
            step = self.step(answer["attempt"], answer["checkpoint"])
            self.assertTrue(0 < answer["latency_ms"] <= step["wall_ms"], answer)
        for call in self.calls:
            self.assertTrue(0 <= call["first_byte_ms"] <= call["duration_ms"]
                            <= self.step(call["attempt"], call["step"])["wall_ms"], call)

    # -- bytes under every claim --

    def test_model_calls_have_their_bodies(self):
        self.assertGreaterEqual(len(self.calls), 54)
        for call in self.calls:
            request = json.loads(self.store.object(call["request"]))
            self.assertEqual(request["model"], "extractive")
            self.assertEqual((call["status"], call["error"], call["upstream"]), (200, None, "script/extractive"))
            response = self.store.object(call["response"]).decode()
            self.assertTrue(response.rstrip().endswith("data: [DONE]") if request.get("stream")
                            else json.loads(response)["choices"])
        for attempt in self.attempts:
            numbers = [c["call"] for c in self.calls if c["attempt"] == attempt]
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
            on_wire = [f["data"] for f in self.frames(attempt, "sidecar") if f["type"] == "event"]
            self.assertEqual([(d["call"], d["request"], d["response"]) for d in on_wire if "call" in d],
                             [(c["call"], c["request"], c["response"]) for c in self.calls if c["attempt"] == attempt])

    def test_every_object_hashes_to_its_name(self):
        rows = self.store.rows("SELECT * FROM objects")
        for row in rows:
            self.assertEqual(len(self.store.object(row["sha256"])), row["size"])
        on_disk = {p.parent.name + p.name for p in (self.store.path / "objects").glob("??/*")}
        self.assertEqual(on_disk, {row["sha256"] for row in rows})

    def test_verdicts_can_be_followed_to_bytes(self):
        graded = 0
        for trial in self.report["trials"]:
            attempt = trial["attempts"][-1]["id"]
            completed = {f["turn"]: f["answer"] for f in self.frames(attempt, "harness") if f["type"] == "turn.completed"}
            sources = self.sources(trial["life"])
            for answer in trial["answers"]:
                row = self.store.one("SELECT answers.answer, grade FROM answers JOIN grades USING (attempt, checkpoint) "
                                     "WHERE attempt = ? AND checkpoint = ?", attempt, answer["checkpoint"])
                kept = json.loads(self.store.object(row["grade"]))
                for slot in (s for key in ("slots", "options", "trap_slots") for s in answer["grade"][key]):
                    self.assertEqual(slot.pop("revision"), 1)
                self.assertEqual(kept["grade"], answer["grade"])
                self.assertEqual((kept["question"], kept["life"]), (answer["question"], trial["life"]))
                self.assertEqual((row["grade"], row["answer"]), (answer["grade_object"], answer["answer"]))
                self.assertEqual(completed[answer["checkpoint"]], answer["answer"], "as Hermes sent it")
                text = answer["answer"].encode()
                for slot in answer["grade"]["slots"]:
                    self.assertIn(slot["verdict"], ("correct", "missed", "misrepresented"))
                    self.assertTrue(slot["explanation"] and slot["rule"] and slot["source"] == "matcher", slot)
                    for quote in slot["quotes"]:
                        self.assertEqual(text[quote["start"]:quote["end"]].decode(), quote["text"])
                    self.assertEqual([e for e in slot["evidence"] if e not in sources], [])
                    graded += 1
        self.assertGreater(graded, 6 * 6)

    def sources(self, life):
        found = set()
        for name, key in (("observations", "source_id"), ("turns", "id")):
            digest = self.store.one("SELECT sha256 FROM corpus_files WHERE corpus = ? AND path = ?",
                                    self.run_row["corpus"], f"lives/{life}/{name}.jsonl")["sha256"]
            found |= {json.loads(line)[key] for line in self.store.object(digest).splitlines()}
        return found

    def test_manifest_is_pinned_before_the_first_container(self):
        digest = self.run_row["manifest"]
        self.assertEqual(self.report["run"]["manifest"], digest)
        manifest = json.loads(self.store.object(digest))
        self.assertEqual(self.events[0]["type"], "run.started")
        self.assertEqual(self.events[0]["manifest"], digest)
        added = moment(self.store.one("SELECT added FROM objects WHERE sha256 = ?", digest)["added"])
        started = [moment(facts["started_at"]) for attempt in self.attempts for facts in self.store.facts(attempt).values()]
        self.assertEqual(len(started), 2 * 2 + 4 * 3)
        # Containers' times are the engine's; its clock is this host's.
        self.assertLess(added, min(started))
        self.assertEqual(manifest["corpus"]["digest"], self.run_row["corpus"])
        self.assertEqual(len(manifest["trials"]), 6)
        images = {e["harness"]["name"]: (e["harness_image"]["id"], (e["provider_image"] or {}).get("id"))
                  for e in manifest["entrants"]}
        for key, attempt in self.attempts.items():
            facts = self.store.facts(key)
            self.assertEqual(facts["sidecar"]["image"], manifest["sidecar_image"]["id"])
            self.assertEqual((facts["harness"]["image"], facts.get("provider", {}).get("image")),
                             images[attempt["harness"]])

    def test_manifest_cannot_be_written_again(self):
        digest = self.run_row["manifest"]
        path = self.store.path / "objects" / digest[:2] / digest[2:]
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o444)
        self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), digest)

    def test_containers_ended_by_themselves(self):
        for attempt in self.attempts:
            for role, facts in self.store.facts(attempt).items():
                self.assertEqual((facts["exit_code"], facts["killed_by_memcal"], facts["oom"]), (0, False, "no"),
                                 f"{attempt} {role}")
            self.assertEqual(self.store.rows("SELECT * FROM resources WHERE attempt = ? AND state != 'removed'", attempt),
                             [])

    # -- events --

    def test_events_are_whole(self):
        self.assertEqual([e["seq"] for e in self.events], list(range(1, len(self.events) + 1)))
        self.assertEqual((self.events[0]["type"], self.events[-1]["type"]), ("run.started", "run.ended"))
        self.assertEqual([e for e in self.events if e["type"] in ("bad_frame", "trouble")], [])
        for attempt, row in self.attempts.items():
            roles = ["harness", "sidecar"] + (["provider"] if row["harness"] in WITH_PROVIDER else [])
            for role in roles:
                frames = self.frames(attempt, role)
                self.assertEqual([f["seq"] for f in frames], list(range(1, len(frames) + 1)), f"{attempt} {role}")
                self.assertEqual((frames[0]["type"], frames[-1]["type"]), ("ready", "bye"))
                journal = self.store.artifact(attempt, f"{role}/frames.jsonl").decode().splitlines()
                self.assertEqual([json.loads(line) for line in journal], frames, "live and durable say the same")

    def test_events_tell_what_happened_inside(self):
        for attempt, row in self.attempts.items():
            kinds = [f["kind"] for f in self.frames(attempt, "harness") if f["type"] == "event"]
            self.assertGreaterEqual(kinds.count("message"), 18)
            tools = [f["data"] for f in self.frames(attempt, "harness")
                     if f["type"] == "event" and f["kind"] in ("tool.call", "tool.result")]
            if row["harness"] == "hermes-none":
                self.assertEqual(tools, [])
                continue
            allowed = ("fts_search",) if row["harness"] == "hermes-fts" else ("fact_store", "fact_feedback")
            self.assertGreaterEqual(len(tools), 12)
            self.assertEqual({t["name"] for t in tools} - set(allowed), set())
            called = {t["id"] for t in tools if "arguments" in t}
            self.assertEqual({t["id"] for t in tools if "content" in t}, called, "each call has its result")
        for attempt in self.attempts_of("hermes-holographic"):
            injected = [f["data"] for f in self.frames(attempt, "harness")
                        if f["type"] == "event" and f["kind"] == "context.injected"]
            self.assertTrue(injected and all(i["source"] and i["content"] for i in injected))


e2e.on_each_engine(Evidence)

if __name__ == "__main__":
    e2e.main()
