"""The driver's main program: role harness of the protocol."""

import logging
import sys
import traceback

from memcal_program import frames as f

from . import HERMES_VERSION, home
from .sessions import TurnFailed


def check(init):
    for key, kind in (("model", dict), ("tools", dict), ("limits", dict)):
        f.need(init, key, kind)
    for key in ("base_url", "token", "name"):
        f.need(init["model"], key, str)
    f.need(init["tools"], "allow", list)
    for key in ("tool_calls", "context_tokens"):
        f.need(init["limits"], key, int)
    if init.get("provider") is not None:
        f.need(f.need(init, "provider", dict), "name", str)


class Driver:
    def __init__(self, host, frames):
        self._host, self._frames = host, frames

    def handle(self, frame):
        """Answer one frame; False after shutdown."""
        if frame["type"] == "turn.start":
            self._turn(frame)
        elif frame["type"] == "session.end":
            self._end_session(f.need(frame, "session", str))
        elif frame["type"] == "shutdown":
            return False
        else:
            raise f.FrameError(f"a harness does not take {frame['type']}")
        return True

    def _turn(self, frame):
        turn = f.need(frame, "turn", str)
        for key, kind in (("session", str), ("text", str), ("deadline_ms", int)):
            f.need(frame, key, kind)
        if frame.get("kind") not in ("turn", "probe"):
            raise f.FrameError("turn.start: kind is turn or probe")
        if turn in self._frames.journal.outcomes:
            self._again(self._frames.journal.outcomes[turn])
            return
        self._frames.journal.ended.discard(frame["session"])
        try:
            session = self._host.session(frame["session"])
            answer = session.run(frame, lambda kind, data: self._frames.event(kind, data, turn))
            self._frames.send("turn.completed", turn=turn, answer=answer, usage=session.usage)
        except TurnFailed as failure:
            self._frames.send("turn.failed", turn=turn, reason=failure.reason, message=str(failure))
        except Exception as error:
            traceback.print_exc()
            self._frames.send("turn.failed", turn=turn, reason="error", message=f"{type(error).__name__}: {error}")
        self._host.store.end_turn()

    def _again(self, outcome):
        keys = {key: value for key, value in outcome.items() if key not in ("type", "seq", "at")}
        self._frames.send(outcome["type"], **keys)

    def _end_session(self, name):
        if name not in self._frames.journal.ended:
            self._host.end_session(name)
        self._frames.send("session.ended", session=name)


class Cancels:
    """turn.cancel frames, from the inbox's thread; those that come before Hermes is there wait for it."""

    def __init__(self):
        self._early, self._stopper = [], None

    def __call__(self, turn):
        if self._stopper:
            self._stopper.cancel(turn)
        else:
            self._early.append(turn)

    def connect(self, stopper):
        self._stopper = stopper
        for turn in self._early:
            stopper.cancel(turn)


def run(stdout):
    cancels = Cancels()
    inbox = f.Inbox(on_cancel=cancels)
    home.clean_environment()
    import openai  # noqa: F401  A third of Hermes's start; it needs nothing from initialize, so it need not wait for it.

    init = f.initialize(inbox, "harness")
    check(init)
    home.prepare(init)
    frames = f.Frames(stdout, init["timezone"])
    from .host import Host  # imports Hermes, which reads what home.prepare wrote

    host = Host(init, frames)
    host.rehearse()
    cancels.connect(host.stopper)
    frames.send("ready", name="hermes", version=HERMES_VERSION, protocol=1, tools=host.allow,
                capabilities=host.capabilities())
    driver = Driver(host, frames)
    while (frame := inbox.get()) is not None and driver.handle(frame):
        pass
    host.close(ended=frame is not None)
    if frame is not None:
        frames.send("bye")


def main():
    stdout = f.take_stdout()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        run(stdout)
    except Exception as error:
        if not isinstance(error, f.FrameError):
            traceback.print_exc()
        sys.exit(f"hermes driver: {error}")


main()
