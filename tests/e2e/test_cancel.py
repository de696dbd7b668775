"""Ctrl-C, twice, and the death of the controller in the middle of a turn."""

import pathlib
import signal
import tempfile
import time
import unittest

import e2e
import manifests

EXIT_CANCELLED = 6
KEYS = ("store", "run", "trial", "attempt", "role", "owner")


class Cancel:
    def start(self, slow_ms, stop_s):
        """A run that is in its first turn, which takes so long."""
        self.store = e2e.new_store(self, self.engine)
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="memcal-e2e-"))
        limits = {"turn_s": 60, "stop_s": stop_s}
        beside = manifests.provider(folder, "plain", limits={"stop_s": stop_s})
        runfile = manifests.run(folder, manifests.harness(folder, "slow", f"slow_ms:{slow_ms}", limits, beside))
        self.decoys = e2e.Decoys(self.engine, self.store.uuid())
        self.addCleanup(self.decoys.close)
        self.before = self.engine.holds(self.store.uuid())
        self.running = e2e.Running("run", runfile, "--json", engine=self.engine, store=self.store.path)
        self.addCleanup(self.running.close)
        self.run_id = e2e.wait_for("the run", lambda: self.store.rows("SELECT id FROM runs"))[0]["id"]
        events = self.store.path / "runs" / self.run_id / "events.jsonl"
        # The clock is set for the turn, and then the turn is the harness's.
        e2e.wait_for("the turn", lambda: events.exists() and '"step":"turn-1","type":"clock"' in events.read_text())
        time.sleep(0.3)

    def left(self):
        return (self.engine.containers(store=self.store.uuid(), run=self.run_id),
                self.engine.volumes(store=self.store.uuid(), run=self.run_id))

    def check_cancelled(self, number):
        self.start(60000, 1)
        began = time.monotonic()
        self.running.signal(number)
        done = self.running.end()
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(done.code, EXIT_CANCELLED, done)
        self.assertEqual(self.engine.holds(self.store.uuid()), self.before)
        self.assertEqual(self.decoys.look(), self.decoys.before)
        row = self.store.one("SELECT state, exit_code, ended FROM runs")
        self.assertEqual((row["state"], row["exit_code"]), ("interrupted", EXIT_CANCELLED))
        trial, = done.json["trials"]
        self.assertEqual((trial["ended"], [a["ended"] for a in trial["answers"]]), ("cancelled", ["cancelled"] * 2))
        self.assertEqual(done.json["run"]["state"], "interrupted")
        slots = done.json["harnesses"][0]["results"]["tally"]["slots"]
        self.assertEqual((slots["missed"], slots["misrepresented"]), (0, 0), "cancelled is never wrong")
        last = self.store.events(self.run_id)[-1]
        self.assertEqual((last["type"], last["state"], last["exit_code"]), ("run.ended", "interrupted", EXIT_CANCELLED))

    def test_interrupt(self):
        self.check_cancelled(signal.SIGINT)

    def test_terminate(self):
        self.check_cancelled(signal.SIGTERM)

    def test_interrupt_twice(self):
        self.start(60000, 30)
        self.running.signal(signal.SIGINT)
        time.sleep(1)
        self.assertIsNone(self.running.process.poll(), "it waits for the programs")
        began = time.monotonic()
        self.running.signal(signal.SIGINT)
        done = self.running.end()
        self.assertLess(time.monotonic() - began, 1)
        self.assertEqual(done.code, EXIT_CANCELLED, done)
        self.check_labels()

    def test_killed_controller(self):
        self.start(3000, 5)
        self.running.signal(signal.SIGKILL)
        self.assertEqual(self.running.end().code, -signal.SIGKILL)
        self.check_labels()
        # The end of standard input ends the programs, which finish what they have in hand.
        def ended():
            states = [self.engine.inspect(c["Id"])["State"] for c in self.left()[0]]
            return [s["ExitCode"] for s in states if s["Status"] == "exited"] if all(
                s["Status"] == "exited" for s in states) else None
        self.assertEqual(e2e.wait_for("the end of the programs", ended), [0, 0, 0])
        self.assertEqual(self.decoys.look(), self.decoys.before)
        listed = e2e.memcal("runs", "--json", store=self.store.path)
        self.assertEqual([(r["id"], r["state"]) for r in listed.json], [(self.run_id, "running")])
        shown = e2e.memcal("show", "last", store=self.store.path)
        self.assertEqual((shown.code, shown.out.splitlines()[0]), (0, f"run {self.run_id} has no report yet"))

    def check_labels(self):
        containers, volumes = self.left()
        self.assertEqual(len(containers), 3)
        self.assertEqual(len(volumes), 9)
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        attempt = self.store.one("SELECT id, trial FROM attempts")
        for thing in containers + volumes:
            labels = {k.removeprefix(e2e.LABEL): v for k, v in thing["Labels"].items() if k.startswith(e2e.LABEL)}
            labels.pop("recipe", None)  # the image's
            self.assertEqual(sorted(labels), sorted(KEYS), thing)
            self.assertEqual((labels["store"], labels["run"], labels["trial"], labels["attempt"]),
                             (self.store.uuid(), self.run_id, attempt["trial"], attempt["id"]))
            host, boot_id, pid, ticks = labels["owner"].split("/")
            self.assertTrue(host and ticks.isdigit())
            self.assertEqual((boot_id, int(pid)), (boot, self.running.process.pid))
        names = {c["Names"][0].lstrip("/") for c in containers} | {v["Name"] for v in volumes}
        rows = {r["name"] for r in self.store.rows("SELECT name FROM resources WHERE state = 'created'")}
        self.assertEqual(names, rows, "the store knows all that is left")


e2e.on_each_engine(Cancel)

if __name__ == "__main__":
    e2e.main()
