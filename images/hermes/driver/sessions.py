"""One Hermes session: its agent, its history in state.db, and the turns run in it."""

import hashlib
import json
import os
import re
import threading

from .guarding import GUARD

FLUSH_S = 60  # what memory may take to write down one turn, after the answer


class TurnFailed(Exception):
    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


def hermes_id(session):
    """A session's ID as Hermes gets it: the same, unless it has characters that do not belong in a file name."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", session)
    return safe if safe == session else f"{safe[:100]}-{hashlib.sha256(session.encode()).hexdigest()[:12]}"


class Stopper:
    """Stops the turn that runs: at its deadline, when it is cancelled, or when the guard says so."""

    def __init__(self):
        self._lock = threading.Lock()
        self._turn = self._agent = self._timer = None
        self._cancelled = set()  # turns cancelled before they began
        self.cause = None

    def begin(self, turn, agent, deadline_ms):
        with self._lock:
            self._turn, self._agent, self.cause = turn, agent, None
            self._timer = threading.Timer(deadline_ms / 1000, self._stop, ("deadline", turn))
            self._timer.daemon = True
            self._timer.start()
            if turn in self._cancelled:
                self.cause = "cancelled"

    def cancel(self, turn):
        with self._lock:
            self._cancelled.add(turn)
        self._stop("cancelled", turn)

    def _stop(self, cause, turn):
        with self._lock:
            if turn == self._turn and self.cause is None:
                self.cause = cause
                self._agent.interrupt(cause)

    def end(self):
        """No interrupt may reach the agent after this: a late one would fall on the next turn."""
        with self._lock:
            self._timer.cancel()
            self._turn = None
            self._agent.clear_interrupt()


class Session:
    def __init__(self, host, name):
        self.name, self.id, self.usage, self._host = name, hermes_id(name), None, host
        if host.store.exists(self.id):
            host.store.reopen(self.id)
        self.agent, self.memory = host.build(self.id)
        self.history = host.store.history(self.id)

    def run(self, frame, emit):
        """Run one turn and return its answer; TurnFailed leaves the session as it was before."""
        host, turn = self._host, frame["turn"]
        host.check(self.agent, self.memory)
        before = host.store.snapshot(self.id)
        host.store.begin_turn(turn, before)
        prompt = self.agent._cached_system_prompt
        if self.memory:
            self.memory.errors.clear()
        host.kind = frame["kind"]
        GUARD.begin(emit, self.agent.interrupt)
        host.stopper.begin(turn, self.agent, frame["deadline_ms"])
        emit("message", {"role": "user", "content": frame["text"], "session": self.name})
        try:
            result = self._converse(frame["text"])
            answer = self._judge(result)
            self._settle(before)
        except Exception:
            host.store.restore(before)
            self.agent._cached_system_prompt = prompt
            self.history = host.store.history(self.id)
            raise
        finally:
            self.usage = GUARD.usage.tokens()
            emit("usage", {**self.usage, "calls": GUARD.usage.calls})
        if frame["kind"] == "turn":
            host.store.mark_ordinary(self.id)
        self.history = result["messages"]
        return answer

    def _converse(self, text):
        stopper = self._host.stopper
        if stopper.cause:
            stopper.end()
            return {}
        try:
            return self.agent.run_conversation(text, conversation_history=self.history)
        except Exception as error:
            raise TurnFailed("error", f"Hermes: {type(error).__name__}: {error}") from error
        finally:
            stopper.end()

    def _judge(self, result):
        """The answer of a turn that Hermes ended well. Its early returns lack most keys."""
        answer, cause = result.get("final_response"), self._host.stopper.cause
        whole = answer and not (result.get("failed") or result.get("partial") or result.get("interrupted"))
        if GUARD.violation:
            raise TurnFailed("tool_policy", GUARD.violation)
        if errors := GUARD.errors + (self.memory.errors if self.memory else []):
            raise TurnFailed("error", "; ".join(errors))
        if cause and not (whole and result.get("completed")):
            raise TurnFailed(cause, f"stopped: {cause}")
        if not whole:
            reason = result.get("error") or result.get("turn_exit_reason") or "no answer"
            raise TurnFailed("error", f"Hermes: {reason}")
        if GUARD.calls == 0:
            raise TurnFailed("error", "the guard saw no model call: its hooks do not run")
        return answer

    def _settle(self, before):
        """Wait for memory and see that the turn is in state.db; both fail without a word in Hermes."""
        if self.memory:
            late = self.memory.drain(self.agent._memory_manager, FLUSH_S)
            if late:
                raise TurnFailed("error", late)
            if self.memory.recall_cut():
                raise TurnFailed("error", "the provider's prefetch still runs: Hermes answered without recall")
            if self.memory.errors:
                raise TurnFailed("error", "; ".join(self.memory.errors))
        if self.agent.session_id != self.id:
            raise TurnFailed("error", f"Hermes changed the session's ID to {self.agent.session_id}")
        if not self._host.store.answered(before):
            raise TurnFailed("error", "the answer is not in state.db: Hermes did not store the turn")

    def close(self, ended):
        """Let go of the agent. Ended: the provider hears of the session's end; else it can be resumed later."""
        host, agent = self._host, self.agent
        host.kind = "turn" if host.store.is_ordinary(self.id) else "probe"
        manager = agent._memory_manager
        problem = None
        if manager:
            self.memory.errors.clear()
            problem = self.memory.drain(manager, FLUSH_S)
            if ended:
                agent.shutdown_memory_provider(self.history)
            else:
                manager.shutdown_all()
            drain = manager.shutdown_drain_state
            if drain["status"] != "drained" or drain["abandoned_writes"] or drain["abandoned_prefetches"]:
                problem = problem or f"memory did not shut down cleanly: {drain}"
            if self.memory.errors:
                problem = problem or "; ".join(self.memory.errors)
            self.memory.close()
        agent.close()
        if problem:
            raise RuntimeError(f"session {self.name}: {problem}")


class Store:
    """What the driver asks of state.db, and the note of an open turn that survives a kill."""

    def __init__(self, path, outcomes):
        from hermes_state import SessionDB

        self.db = SessionDB()
        self._note = path
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                note = json.load(file)
            # Killed within a turn: its session goes back to where that turn began.
            if outcomes.get(note["turn"], {}).get("type") != "turn.completed":
                self.restore(note["before"])
            self.end_turn()

    def exists(self, session):
        return self.db.get_session(session) is not None

    def reopen(self, session):
        self.db.reopen_session(session)

    def mark_ordinary(self, session):
        """The session has ordinary turns: its end is the memory provider's business too."""
        self.db.set_meta(f"memcal-ordinary:{session}", "1")

    def is_ordinary(self, session):
        return self.db.get_meta(f"memcal-ordinary:{session}") == "1"

    def history(self, session):
        rows = self.db.get_messages_as_conversation(session, repair_alternation=True)
        return [row for row in rows if row["role"] != "session_meta"]

    def answered(self, before):
        """Whether the session's last message is an answer that came after that snapshot."""
        last = self.db.get_messages(before["session"])[-1:]
        return bool(last) and last[0]["role"] == "assistant" and last[0]["id"] not in before["rows"]

    def snapshot(self, session):
        row = self.db.get_session(session) or {}
        return {
            "session": session, "rows": [message["id"] for message in self.db.get_messages(session)],
            "system_prompt": row.get("system_prompt"), "message_count": row.get("message_count") or 0,
            "tool_call_count": row.get("tool_call_count") or 0,
        }

    def restore(self, before):
        """Exactly the rows that were live are live again, as after Hermes's own /undo; compaction is undone too."""
        session, rows = before["session"], json.dumps(before["rows"])

        def write(connection):
            connection.execute(
                "UPDATE messages SET compacted = 0, active = id IN (SELECT value FROM json_each(?1))"
                " WHERE session_id = ?2 AND (active = 1 OR id IN (SELECT value FROM json_each(?1)))", (rows, session))
            connection.execute(
                "UPDATE sessions SET system_prompt = ?, message_count = ?, tool_call_count = ? WHERE id = ?",
                (before["system_prompt"], before["message_count"], before["tool_call_count"], session))

        self.db._execute_write(write)

    def begin_turn(self, turn, before):
        with open(self._note + ".new", "w", encoding="utf-8") as file:
            json.dump({"turn": turn, "before": before}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self._note + ".new", self._note)

    def end_turn(self):
        """Called once the turn's outcome is in the journal."""
        if os.path.exists(self._note):
            os.unlink(self._note)
