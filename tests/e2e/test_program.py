"""Programs that break: each ends within its bounds, as what it is, with its evidence kept and nothing left on the engine."""

import contextlib
import tempfile
import threading
import unittest

import e2e
import manifests

GRACE_MS = 2 * 5000  # what a program gets to end a turn itself, and then to stop it when told to
OVERHEAD_MS = 15000  # starting, stopping and clearing three containers on a busy host

# behaviour: how the trial ends, its reason, how its probes end, its own bound beyond OVERHEAD_MS
FAULTS = {
    "silent": ("timeout", "turn turn-1: no answer within 1000 ms, and the harness did not stop when told to",
               "timeout", 1000 + GRACE_MS),
    "endless": ("timeout", "turn turn-1: no answer within 1000 ms, and the harness did not stop when told to",
                "timeout", 1000 + GRACE_MS),
    "nonsense": ("protocol_error", "the harness broke the protocol: not valid JSON at column 4: invalid token near 'this'",
                 "protocol_error", 0),
    "big_line": ("protocol_error",
                 "the harness broke the protocol: a line is longer than the 8388608 bytes allowed",
                 "protocol_error", 0),
    "exit": ("failed", "the harness ended by itself with exit code 3", "failed", 0),
    "oom": ("failed", None, "failed", 0),
    "ignore_term": ("completed", None, "completed", 5000),
    "fork": ("completed", None, "completed", 0),
    "call_model": ("completed", None, "completed", 0),
    "slow_ms:500": ("completed", None, "completed", 1500),
    "slow_ms:60000": ("completed", None, "timeout", 5000),
}
PROVIDERS = {
    "silent": ("timeout", "import 2026-03-02T12:00:00+01:00: provider: no answer in the time allowed", "timeout", 2000),
    "exit": ("failed", "the provider ended by itself with exit code 3", "failed", 0),
    "nonsense": ("protocol_error",
                 "import 2026-03-02T12:00:00+01:00: the provider broke the protocol: not valid JSON at column 4: invalid token near 'this'",
                 "protocol_error", 0),
    "normal": ("completed", None, "completed", 0),
}


def plain(behaviour):
    return behaviour.replace("_", "-").replace(":", "-")


class Programs:
    """Three runs at once, each with a store of its own: they do not meet on the engine."""

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        folder = cls.stack.enter_context(tempfile.TemporaryDirectory(prefix="memcal-e2e-"))
        groups = [["silent", "nonsense", "big_line"], ["endless", "exit", "fork"],
                  ["oom", "ignore_term", "call_model", "slow_ms:500", "slow_ms:60000"]]
        files = [manifests.run(folder, *[manifests.harness(folder, plain(b), b) for b in group], name=f"run-{n}")
                 for n, group in enumerate(groups)]
        beside = [manifests.harness(folder, "beside-" + b, beside=manifests.provider(folder, b, b)) for b in PROVIDERS]
        files.append(manifests.run(folder, *beside, name="run-providers"))
        cls.before = cls.engine.holds("")
        cls.done, cls.trials = [None] * len(files), {}

        def work(n):
            cls.done[n] = e2e.memcal("run", files[n], "--json", engine=cls.engine, store=f"{folder}/store-{n}")
        threads = [threading.Thread(target=work, args=(n,)) for n in range(len(files))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        cls.after = cls.engine.holds("")
        for n, done in enumerate(cls.done):
            if done.code != 0:
                raise AssertionError(f"{files[n].name}: {done}")
            for trial in done.json["trials"]:
                cls.trials[trial["harness"]] = (trial, e2e.Store(f"{folder}/store-{n}"), done.json["run"]["id"])

    def trial(self, behaviour):
        trial, store, run = self.trials[plain(behaviour)]
        attempt = trial["attempts"][-1]["id"]
        return trial, store, attempt, [e for e in store.events(run) if e.get("attempt") == attempt]

    def check(self, name, expected):
        trial, store, attempt, events = self.trial(name)
        ended, reason, probes, bound = expected
        if name == "oom":
            # Docker says so; Podman 4.3 on the first version of control groups does not.
            self.assertIn(trial["reason"], ("the harness ran out of its memory limit", "the harness was killed, probably "
                                            "because it ran out of its memory limit"))
            reason = trial["reason"]
        self.assertEqual((trial["ended"], trial["reason"]), (ended, reason))
        self.assertEqual([a["ended"] for a in trial["answers"]], [probes, probes])
        self.assertEqual(len(trial["attempts"]), 1, "what a program does to itself is never tried again")
        self.assertLess(trial["attempts"][0]["wall_ms"], bound + OVERHEAD_MS)
        ends = [e for e in events if e["type"] == "attempt.ended"]
        self.assertEqual([(e["ended"], e.get("reason")) for e in ends], [(ended, reason)])
        left = store.rows("SELECT name, state FROM resources WHERE attempt = ? AND state != 'removed'", attempt)
        self.assertEqual(left, [])

    def test_each_ends_as_what_it_is(self):
        for behaviour, expected in FAULTS.items():
            with self.subTest(behaviour=behaviour):
                self.check(behaviour, expected)

    def test_each_provider_ends_as_what_it_is(self):
        for behaviour, expected in PROVIDERS.items():
            with self.subTest(behaviour=behaviour):
                self.check("beside-" + behaviour, expected)

    def test_nothing_is_left(self):
        self.assertEqual(self.after, self.before)

    def test_exit_codes_and_oom_are_kept(self):
        def facts(behaviour):
            _, store, attempt, _ = self.trial(behaviour)
            return store.facts(attempt)["harness"]
        self.assertEqual((facts("exit")["exit_code"], facts("exit")["oom"]), (3, "no"))
        self.assertIn(facts("oom")["oom"], ("yes", "probable"))
        self.assertEqual((facts("oom")["exit_code"], facts("oom")["killed_by_memcal"]), (137, False))
        stubborn = facts("ignore_term")
        self.assertEqual((stubborn["exit_code"], stubborn["killed_by_memcal"], stubborn["oom"]), (137, True, "no"))
        self.assertEqual(facts("call_model")["exit_code"], 0)

    def test_bad_frames_are_kept(self):
        for behaviour, size in (("nonsense", 16), ("big_line", 8 << 20)):
            with self.subTest(behaviour=behaviour):
                trial, store, _, events = self.trial(behaviour)
                bad = [e for e in events if e["type"] == "bad_frame"]
                self.assertEqual([(e["role"], e["why"]) for e in bad], [("harness", trial["reason"])])
                data = store.object(bad[0]["bytes"])
                self.assertEqual(len(data), size)
                self.assertEqual(data, b"this is no frame" if size == 16 else b"x" * size)

    def test_standard_error_and_journals_are_kept(self):
        for behaviour in FAULTS:
            _, store, attempt, events = self.trial(behaviour)
            with self.subTest(behaviour=behaviour):
                for role in ("harness", "sidecar"):
                    self.assertIsInstance(store.artifact(attempt, f"{role}/stderr.txt"), bytes)
                self.assertIn(b'"type":"ready"', store.artifact(attempt, "harness/frames.jsonl"))
                self.assertEqual([e["frame"]["type"] for e in events if e["type"] == "frame"
                                  and e["role"] == "harness"][0], "ready")

    def test_endless_frames_were_all_read(self):
        _, _, _, events = self.trial("endless")
        frames = [e["frame"] for e in events if e["type"] == "frame" and e["role"] == "harness"]
        self.assertGreater(len(frames), 100)
        self.assertEqual([f["seq"] for f in frames], list(range(1, len(frames) + 1)))

    def test_answers(self):
        answers = {b: [a["answer"] for a in self.trial(b)[0]["answers"]] for b in FAULTS}
        for answer in answers["fork"]:
            self.assertRegex(answer, "^started [0-9]+ children, then: Resource temporarily unavailable$")
            self.assertLess(int(answer.split()[1]), 16, "the limit of 16 processes holds")
        self.assertTrue(all(a.startswith("I don't know") for a in answers["call_model"]))
        _, store, attempt, _ = self.trial("call_model")
        calls = store.rows("SELECT step, status FROM model_calls WHERE attempt = ?", attempt)
        self.assertEqual([(c["step"], c["status"]) for c in calls],
                         [("turn-1", 200), ("brief/desk", 200), ("brief/when", 200)])
        self.assertEqual(answers["silent"], [None, None])
        slow = self.trial("slow_ms:500")[0]["answers"]
        self.assertTrue(all(500 <= a["latency_ms"] <= 2000 for a in slow), slow)
        late = self.trial("slow_ms:60000")[0]["answers"]
        self.assertEqual({(a["answer"], a["reason"]) for a in late}, {(None, "still thinking")})

    def test_verdicts(self):
        def verdicts(trial):
            return [(s["verdict"], a["ended"]) for a in trial["answers"] for s in a["grade"]["slots"]]
        self.assertEqual(verdicts(self.trial("slow_ms:500")[0]), [("correct", "completed")] * 2)
        self.assertEqual(verdicts(self.trial("exit")[0]), [("missed", "failed")] * 2)


class Killed:
    """A container killed by somebody else is nobody's answer."""

    def attack(self, role, retries):
        store = e2e.new_store(self, self.engine)
        with tempfile.TemporaryDirectory(prefix="memcal-e2e-") as folder:
            harness = manifests.harness(folder, "slow", "slow_ms:4000", {"turn_s": 20})
            runfile = manifests.run(folder, harness, retries={"infrastructure": retries})
            running = e2e.Running("run", runfile, "--json", engine=self.engine, store=store.path)
            self.addCleanup(running.close)

            def in_turn():
                return store.rows("SELECT * FROM steps WHERE kind = 'turn' AND status = 'started'")
            attempt = e2e.wait_for("the turn", in_turn)[0]["attempt"]
            found = self.engine.containers(attempt=attempt, role=role)
            self.assertEqual(len(found), 1)
            self.engine.kill(found[0]["Id"])
            done = running.end()
        self.assertEqual(self.engine.containers(store=store.uuid()) + self.engine.volumes(store=store.uuid()), [])
        return store, done

    def test_harness_is_tried_again(self):
        store, done = self.attack("harness", 1)
        self.assertEqual(done.code, 0, done)
        trial, = done.json["trials"]
        self.assertEqual([(a["ended"], a["reason"]) for a in trial["attempts"]],
                         [("infrastructure", "the harness was ended from outside by signal 9 (exit code 137)"), ("completed", None)])
        self.assertEqual(trial["ended"], "completed")
        first, second = (a["id"] for a in trial["attempts"])
        self.assertEqual(store.facts(first)["harness"]["exit_code"], 137)
        self.assertFalse(store.facts(first)["harness"]["killed_by_memcal"])
        for attempt in (first, second):
            self.assertIn(b'"type":"ready"', store.artifact(attempt, "harness/frames.jsonl"))
            self.assertEqual(len(store.rows("SELECT * FROM steps WHERE attempt = ?", attempt)), 5)
        self.assertEqual({a["ended"] for a in store.rows("SELECT ended FROM answers WHERE attempt = ?", first)},
                         {"infrastructure"}, "the first attempt's probes stay, as missing")

    def test_sidecar_without_retries(self):
        store, done = self.attack("sidecar", 0)
        self.assertEqual(done.code, 4, done)
        trial, = done.json["trials"]
        self.assertEqual((trial["ended"], len(trial["attempts"])), ("infrastructure", 1))
        self.assertIn("sidecar", trial["reason"])
        tally = done.json["harnesses"][0]["results"]["tally"]
        self.assertEqual((tally["ended"]["infrastructure"], tally["slots"]["missed"]), (2, 0), "missing, never wrong")


e2e.on_each_engine(Programs)
e2e.on_each_engine(Killed)

if __name__ == "__main__":
    e2e.main()
