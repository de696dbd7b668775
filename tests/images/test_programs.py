"""The parts of the images' programs that need no container."""

import json
import logging
import os
import pathlib
import sqlite3
import tempfile
import threading
import types
import unittest

import programs  # noqa: F401
from fts_provider.store import Store, line_of
from hermes_driver import home, memory
from hermes_driver.guarding import DENIED, OVER_LIMIT, Guard
from hermes_driver.sessions import hermes_id
from memcal_program import adapter, frames


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class FramesTest(Folder):
    def frames(self, fd=None):
        return frames.Frames(fd, "America/New_York", str(self.folder))

    def journal(self):
        return (self.folder / "frames.jsonl").read_bytes()

    def test_journal_is_what_is_sent(self):
        with tempfile.TemporaryFile() as out:
            sender = self.frames(out.fileno())
            sender.send("turn.completed", turn="t1", answer="né\n")
            sender.event("log", {"level": "info", "text": "x"}, "t1")
            out.seek(0)
            self.assertEqual(out.read(), self.journal())
        lines = [json.loads(line) for line in self.journal().splitlines()]
        self.assertEqual([line["seq"] for line in lines], [1, 2])
        self.assertRegex(lines[0]["at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}-0[45]:00$")
        self.assertEqual(lines[1]["data"], {"level": "info", "text": "x"})

    def test_counts_on_and_drops_a_torn_line(self):
        self.frames().send("turn.failed", turn="t1", reason="error", message="m")
        whole = self.journal()
        with open(self.folder / "frames.jsonl", "ab") as file:
            file.write(b'{"type":"ready","seq":2')
        again = self.frames()
        self.assertEqual(self.journal(), whole)
        self.assertEqual(again.journal.outcomes["t1"]["message"], "m")
        again.send("bye")
        self.assertEqual(json.loads(self.journal().splitlines()[1])["seq"], 2)

    def test_gap_in_the_journal_is_an_error(self):
        (self.folder / "frames.jsonl").write_text('{"type":"bye","seq":2}\n')
        with self.assertRaisesRegex(frames.FrameError, "seq 2 after 0"):
            self.frames()

    def test_sessions_ended(self):
        sender = self.frames()
        sender.send("session.ended", session="s")
        self.assertEqual(self.frames().journal.ended, {"s"})

    def test_controller_gone_is_still_journalled(self):
        read, write = os.pipe()
        os.close(read)
        sender = self.frames(write)
        sender.send("bye")
        os.close(write)
        sender.send("bye")
        self.assertEqual(len(self.journal().splitlines()), 2)

    def test_broken_text_is_still_utf8(self):
        self.frames().send("turn.completed", turn="t", answer="\ud800")
        self.assertEqual(json.loads(self.journal())["answer"], "?")

    def test_oversize_is_refused_and_leaves_nothing(self):
        sender = self.frames()
        with self.assertRaisesRegex(frames.FrameError, "over the limit"):
            sender.send("turn.completed", turn="t", answer="x" * frames.MAX_FRAME)
        self.assertEqual(self.journal(), b"")


class InboxTest(unittest.TestCase):
    def inbox(self, data, on_cancel=None):
        read, write = os.pipe()
        self.addCleanup(os.close, read)

        def feed():
            with os.fdopen(write, "wb", buffering=0) as file:
                view = memoryview(data)
                while view:
                    view = view[file.write(view):]

        threading.Thread(target=feed).start()
        return frames.Inbox(read, on_cancel)

    def test_order_cancel_and_end(self):
        cancelled = []
        inbox = self.inbox(b'{"type":"a"}\n{"type":"turn.cancel","turn":"t"}\n{"type":"b"}\n{"type":"cut', cancelled.append)
        self.assertEqual([inbox.get()["type"], inbox.get()["type"], inbox.get()], ["a", "b", None])
        self.assertEqual(cancelled, ["t"])

    def test_not_a_frame(self):
        for line in (b"hello\n", b"[]\n", b'{"seq":1}\n', b'{"type":1}\n'):
            with self.assertRaises(frames.FrameError):
                self.inbox(line).get()

    def test_sizes(self):
        big = b'{"type":"x","t":"' + b"y" * (frames.MAX_FRAME - 21) + b'"}\n'
        self.assertEqual(self.inbox(big).get()["type"], "x")
        with self.assertRaisesRegex(frames.FrameError, "over"):
            self.inbox(b"x" * (frames.MAX_FRAME + 1)).get()

    def test_initialize(self):
        good = {"type": "initialize", "protocol": 1, "role": "harness", "trial": "t", "namespace": "n", "timezone": "UTC",
                "config": {}}
        self.assertEqual(frames.initialize(self.inbox(json.dumps(good).encode() + b"\n"), "harness"), good)
        for key, value in (("protocol", 2), ("role", "provider"), ("timezone", None), ("config", [])):
            with self.assertRaises(frames.FrameError):
                frames.initialize(self.inbox(json.dumps({**good, key: value}).encode() + b"\n"), "harness")

    def test_need_takes_no_bool_for_int(self):
        with self.assertRaises(frames.FrameError):
            frames.need({"n": True}, "n", int)


def call(name, arguments="{}", call_id="c"):
    return types.SimpleNamespace(id=call_id, function=types.SimpleNamespace(name=name, arguments=arguments))


def message(content=None, *calls):
    return types.SimpleNamespace(content=content, tool_calls=list(calls))


class GuardTest(unittest.TestCase):
    def setUp(self):
        self.guard, self.events, self.interrupts = Guard(), [], []
        self.guard.configure(["fts_search"], 2, "fts")
        self.guard.begin(lambda kind, data: self.events.append((kind, data)), self.interrupts.append)

    def kinds(self):
        return [kind for kind, _ in self.events]

    def test_allowed(self):
        self.guard.post_api_request(assistant_message=message("hm", call("fts_search")), session_id="s")
        self.assertIsNone(self.guard.pre_tool_call(tool_name="fts_search", args={}))
        self.guard.post_tool_call(tool_name="fts_search", tool_call_id="c", result="line")
        self.assertEqual(self.kinds(), ["message", "tool.call", "tool.result"])
        self.assertEqual((self.guard.violation, self.interrupts), (None, []))

    def test_any_other_name_is_denied_whole_batch(self):
        for name in ("terminal", "FTS_SEARCH", "fts_search ", "", "fts_searc"):
            self.setUp()
            self.guard.post_api_request(assistant_message=message(None, call("fts_search"), call(name)))
            self.assertIn("not one of", self.guard.violation)
            self.assertEqual(len(self.interrupts), 1)
            self.assertEqual(self.kinds(), ["tool.call", "tool.call", "tool.denied"])
            self.assertEqual(self.guard.pre_tool_call(tool_name="fts_search"), {"action": "block", "message": DENIED})

    def test_dispatch_alone_denies_too(self):
        self.assertEqual(self.guard.pre_tool_call(tool_name="terminal"), {"action": "block", "message": DENIED})
        self.assertTrue(self.guard.violation)

    def test_a_hook_that_breaks_denies_and_fails_the_turn(self):
        def broken(kind, data):
            raise RuntimeError("no")

        self.guard.begin(broken, self.interrupts.append)
        self.guard.post_api_request(assistant_message=message(None, call("fts_search")))
        self.assertEqual(self.guard.pre_tool_call(tool_name="fts_search")["action"], "block")
        self.assertEqual(self.guard.errors, ["guard: post_api_request: RuntimeError: no"])
        self.assertEqual(len(self.interrupts), 1)

    def test_limit(self):
        answers = [self.guard.pre_tool_call(tool_name="fts_search") for _ in range(3)]
        self.assertEqual(answers, [None, None, {"action": "block", "message": OVER_LIMIT}])
        self.assertIsNone(self.guard.violation)

    def test_injected_context_once_a_turn(self):
        block = "<memory-context>\nSam moved\n</memory-context>"
        request = [{"role": "system", "content": "x"}, {"role": "user", "content": f"hi\n\n{block}"}]
        self.guard.pre_api_request(request_messages=request)
        self.guard.pre_api_request(request_messages=request)
        self.assertEqual(self.events, [("context.injected", {"source": "fts", "content": block})])

    def test_usage(self):
        full = types.SimpleNamespace(usage=types.SimpleNamespace(
            prompt_tokens=10, completion_tokens=2, prompt_tokens_details={"cached_tokens": 4}, completion_tokens_details=None))
        self.assertEqual(self.guard.usage.tokens(), {"input": None, "cached_input": None, "output": None, "reasoning": None})
        self.guard.note_usage(full)
        self.guard.note_usage(full)
        self.assertEqual(self.guard.usage.tokens(), {"input": 6, "cached_input": 4, "output": 2, "reasoning": None})
        self.guard.note_usage(types.SimpleNamespace(usage=None))
        self.assertEqual(self.guard.usage.tokens()["input"], None)
        self.assertEqual(self.guard.usage.calls, 2)


class Provider:
    name = "p"

    def initialize(self, session_id): pass
    def prefetch(self, query): return "x"
    def queue_prefetch(self, query): pass
    def sync_turn(self, user, assistant): self.synced = user
    def handle_tool_call(self, name, args): raise ValueError("broken")
    def on_session_end(self, messages): pass
    def on_pre_compress(self, messages): return ""
    def on_session_switch(self, new): pass
    def on_turn_start(self, n, message): pass
    def system_prompt_block(self): return ""
    def get_tool_schemas(self): return []
    def shutdown(self): pass


class MemoryTest(unittest.TestCase):
    def test_errors_are_noted_and_still_raised(self):
        provider = Provider()
        watched = memory.Memory(provider, lambda: True)
        provider.initialize("s")
        self.assertTrue(watched.initialized)
        with self.assertRaises(ValueError):
            provider.handle_tool_call("x", {})
        self.assertEqual(watched.errors, ["p: handle_tool_call: ValueError: broken"])

    def test_probe_writes_nothing(self):
        provider = Provider()
        memory.Memory(provider, lambda: False)
        provider.sync_turn("u", "a")
        self.assertFalse(hasattr(provider, "synced"))

    def test_swallowed_errors(self):
        provider, logger = Provider(), logging.getLogger(Provider.__module__)
        provider.prefetch = lambda query: logger.debug("prefetch failed: %s", KeyError("k"))
        watched = memory.Memory(provider, lambda: True)
        provider.prefetch("q")
        self.assertEqual(watched.errors.pop(), "p: prefetch failed: 'k'")
        logger.debug("an optional part is missing: %s", ImportError("numpy"))
        logger.warning("slow: %s", 3)
        self.assertEqual(watched.errors, [])
        logger.warning("sync thread failed: %s", OSError("gone"))
        self.assertEqual(watched.errors, ["p: sync thread failed: gone"])
        watched.close()
        logger.warning("sync thread failed: %s", OSError("gone"))
        self.assertEqual(len(watched.errors), 1)

    def test_recall_over_the_limit(self):
        provider, limit = Provider(), memory.RECALL_S
        self.addCleanup(setattr, memory, "RECALL_S", limit)
        memory.RECALL_S = 0.0
        watched = memory.Memory(provider, lambda: True)
        self.assertEqual(provider.prefetch("q"), "x")
        self.assertIn("no recall", watched.errors[0])

    def test_drain(self):
        provider = Provider()
        watched = memory.Memory(provider, lambda: True)
        manager = types.SimpleNamespace(flush_pending=lambda timeout: True)
        self.assertIsNone(watched.drain(manager, 1))
        stop = threading.Event()
        provider._sync_thread = threading.Thread(target=stop.wait, daemon=True)
        provider._sync_thread.start()
        self.assertIn("did not finish", watched.drain(manager, 0.1))
        stop.set()
        self.assertIsNone(watched.drain(manager, 1))
        self.assertIn("did not finish", watched.drain(types.SimpleNamespace(flush_pending=lambda timeout: False), 1))


class HomeTest(unittest.TestCase):
    INIT = {"timezone": "UTC", "model": {"base_url": "http://127.0.0.1:8080/v1", "token": "t", "name": "m"},
            "limits": {"context_tokens": 70000}, "config": {"hermes": {"compression": {"threshold": 0.7}}}}

    def test_config(self):
        config = home.hermes_config({**self.INIT, "provider": {"name": "holographic", "memory_path": "/memcal/memory"}})
        self.assertEqual(config["memory"], {"provider": "holographic", "memory_enabled": False, "user_profile_enabled": False})
        self.assertEqual(config["plugins"]["hermes-memory-store"]["db_path"], "/memcal/memory/memory_store.db")
        self.assertEqual(config["compression"], {"threshold": 0.7})
        self.assertEqual(home.hermes_config(self.INIT)["memory"]["provider"], "")

    def test_unknown_config_is_refused(self):
        for config in ({"temprature": 0}, {"request": 1}, {"probe_memory": "maybe"}):
            with self.assertRaises(frames.FrameError):
                home.check_config(config)

    def test_session_ids(self):
        self.assertEqual(hermes_id("poker-move.1"), "poker-move.1")
        self.assertNotEqual(hermes_id("a/b"), hermes_id("a:b"))
        self.assertRegex(hermes_id("../" * 60), r"^[A-Za-z0-9._-]{1,113}$")


OBSERVATION = {"source_id": "a", "channel": "email", "sender": "Sam", "thread": "poker", "text": "It moved to Jordan's",
               "written_at": "2026-08-06T23:30:00-04:00", "arrived_at": "2026-08-06T23:31:00-04:00",
               "collected_at": "2026-08-07T08:00:00-04:00"}


class StoreTest(Folder):
    def setUp(self):
        super().setUp()
        self.store = Store(str(self.folder / "fts.db"))
        self.addCleanup(self.store.close)

    def test_search(self):
        other = {**OBSERVATION, "source_id": "b", "channel": "imessage", "text": "Jordan\nis here", "subject": "Hi",
                 "written_at": "2026-08-07T09:00:00-04:00"}
        self.assertEqual(self.store.add([OBSERVATION, other]), 2)
        self.assertEqual(self.store.add([OBSERVATION, other]), 0)
        found = [row["source_id"] for row in self.store.search("moved jordan?")]
        self.assertEqual(found, ["a", "b"])
        self.assertEqual([r["source_id"] for r in self.store.search("Jordan", channel="imessage")], ["b"])
        self.assertEqual([r["source_id"] for r in self.store.search("Jordan", before="2026-08-07T03:31:00+00:00")], ["a"])
        self.assertEqual([r["source_id"] for r in self.store.search("Jordan", after="2026-08-07T03:31:00Z")], ["b"])
        self.assertEqual(len(self.store.search("Jordan", limit=1)), 1)
        self.assertEqual(self.store.search('"; () *'), [])
        self.assertEqual(line_of(self.store.search("here")[0]), "2026-08-07 09:00 | imessage | Sam | poker: Hi | Jordan is here")
        with self.assertRaises(ValueError):
            self.store.search("x", before="soon")

    def test_all_or_nothing(self):
        with self.assertRaises(KeyError):
            self.store.add([OBSERVATION, {"source_id": "b"}])
        self.assertEqual(self.store.count(), 0)

    def test_optimize_finds_damage(self):
        self.store.add([OBSERVATION])
        self.store.optimize()
        self.store._db.execute("UPDATE observations SET text = 'other words'")
        with self.assertRaises(sqlite3.DatabaseError):
            self.store.optimize()


class Recorder(adapter.Backend):
    name, version = "recorder", "1"

    def __init__(self):
        self.imports, self.stopped = [], False

    def import_batch(self, boundary, observations):
        self.imports.append(observations)
        if observations == ["bad"]:
            raise RuntimeError("refused")
        return "done"

    def maintain(self, night):
        return night

    def stop(self):
        self.stopped = True


class AdapterTest(Folder):
    def adapter(self):
        self.backend = Recorder()
        operations = adapter.Operations(str(self.folder / "operations.db"))
        self.addCleanup(operations._db.close)
        return adapter.Adapter(self.backend, frames.Frames(None, "UTC", str(self.folder)), operations)

    def sent(self):
        return [json.loads(line) for line in (self.folder / "frames.jsonl").read_text().splitlines()]

    def batch(self, key, observations):
        return {"type": "import", "batch": key, "boundary": "x", "observations": observations}

    def test_operations(self):
        program = self.adapter()
        program.start()
        program.handle(self.batch("b", [1]))
        program.handle(self.batch("bad", ["bad"]))
        program.handle({"type": "maintain", "night": "b"})
        self.assertFalse(program.handle({"type": "shutdown"}))
        program.finish()
        ends = {frame["operation"]: (frame["state"], frame["detail"]) for frame in self.sent() if frame["type"] == "operation"}
        self.assertEqual(ends, {"import-1": ("completed", "done"), "import-2": ("failed", "RuntimeError: refused"),
                                "maintain-3": ("completed", "b")})
        self.assertTrue(self.backend.stopped)

    def test_known_batch_does_no_second_work(self):
        program = self.adapter()
        program.start()
        program.handle(self.batch("b", [1]))
        program.finish()
        program = self.adapter()
        program.start()
        program.handle(self.batch("b", [1]))
        program.finish()
        self.assertEqual(self.backend.imports, [])
        self.assertEqual([(f["type"], f["operation"]) for f in self.sent()],
                         [("accepted", "import-1"), ("operation", "import-1")] * 2)

    def test_interrupted_batch_is_done_at_the_next_start(self):
        program = self.adapter()
        program.handle(self.batch("b", [1]))  # accepted, and killed before the worker began
        program = self.adapter()
        program.start()
        program.finish()
        self.assertEqual(self.backend.imports, [[1]])
        self.assertEqual(self.sent()[-1]["state"], "completed")

    def test_unknown_operation(self):
        program = self.adapter()
        for name in ("import-7", "x", "maintain-1"):
            program.handle({"type": "operation.status", "operation": name})
            self.assertEqual((self.sent()[-1]["operation"], self.sent()[-1]["state"]), (name, "failed"))
        with self.assertRaises(frames.FrameError):
            program.handle({"type": "turn.start"})


if __name__ == "__main__":
    unittest.main()
