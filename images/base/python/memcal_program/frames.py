"""Frames on standard input and output, and the journal that makes them durable (docs/protocol.md)."""

import json
import os
import queue
import sys
import threading
import time
from datetime import datetime
from zoneinfo import ZoneInfo

MAX_FRAME = 8 * 1024 * 1024
OUT_DIR = "/memcal/out"


class FrameError(Exception):
    """A frame that breaks the protocol, ours or the controller's."""


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


def take_stdout():
    """Keep the real standard output for frames; whatever else prints, here or in a child process, goes to stderr."""
    real = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return real


class Journal:
    """The frames sent so far, over all starts of this program on the same volume."""

    def __init__(self, path):
        self.seq = 0
        self.outcomes = {}  # turn -> the frame that ended it
        self.ended = set()  # sessions ended and not begun again
        self._load(path)
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def _load(self, path):
        if not os.path.exists(path):
            return
        with open(path, "rb+") as file:
            whole = 0
            for line in file:
                if not line.endswith(b"\n"):
                    break  # the program died in the middle of this write
                whole += len(line)
                self.note(json.loads(line))
            file.truncate(whole)

    def note(self, frame):
        if frame["seq"] != self.seq + 1:
            raise FrameError(f"journal: seq {frame['seq']} after {self.seq}")
        self.seq = frame["seq"]
        if frame["type"] in ("turn.completed", "turn.failed"):
            self.outcomes[frame["turn"]] = frame
        elif frame["type"] == "session.ended":
            self.ended.add(frame["session"])

    def append(self, frame, line):
        write_all(self._fd, line)
        os.fsync(self._fd)
        self.note(frame)


class Frames:
    """Numbers, dates, journals and sends frames, from any thread."""

    def __init__(self, fd, timezone, out_dir=OUT_DIR):
        self._fd = fd
        self._zone = ZoneInfo(timezone)
        self._lock = threading.Lock()
        self.journal = Journal(os.path.join(out_dir, "frames.jsonl"))

    def send(self, type_, **keys):
        with self._lock:
            at = datetime.now(self._zone).isoformat(timespec="milliseconds")
            frame = {"type": type_, "seq": self.journal.seq + 1, "at": at, **keys}
            # "replace": a lone surrogate from a model's broken output is not UTF-8.
            line = json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
            if len(line) > MAX_FRAME:
                raise FrameError(f"{type_} frame of {len(line)} bytes is over the limit of {MAX_FRAME}")
            self.journal.append(frame, line)
            self._write(line)

    def event(self, kind, data, turn=None):
        self.send("event", **({"turn": turn} if turn else {}), kind=kind, data=data)

    def log(self, level, text, turn=None):
        self.event("log", {"level": level, "text": text}, turn)

    def _write(self, line):
        if self._fd is None:
            return
        try:
            write_all(self._fd, line)
        except OSError:
            self._fd = None  # the controller is gone; the journal keeps what it will ask for


class Inbox:
    """The controller's frames. Reads on its own thread, so that turn.cancel reaches a turn that is running."""

    def __init__(self, fd=0, on_cancel=None):
        self._queue = queue.Queue()
        self._fd = fd
        self._on_cancel = on_cancel
        threading.Thread(target=self._read, name="inbox", daemon=True).start()

    def get(self):
        """The next frame, or None at the end of standard input; FrameError for a line that is no frame."""
        item = self._queue.get()
        if isinstance(item, FrameError):
            raise item
        return item

    def _read(self):
        try:
            for line in self._lines():
                frame = parse(line)
                if frame["type"] == "turn.cancel" and self._on_cancel:
                    self._on_cancel(need(frame, "turn", str))
                else:
                    self._queue.put(frame)
        except FrameError as error:
            self._queue.put(error)
        self._queue.put(None)

    def _lines(self):
        """Whole lines. Read from the descriptor: a thread waiting in sys.stdin holds a lock that exit dies on."""
        rest = bytearray()
        while data := os.read(self._fd, 1 << 16):
            start = len(rest)
            rest += data
            while (end := rest.find(b"\n", start)) >= 0:
                yield bytes(rest[:end])
                del rest[:end + 1]
                start = 0
            if len(rest) >= MAX_FRAME:
                raise FrameError(f"frame over {MAX_FRAME} bytes")


def parse(line):
    try:
        frame = json.loads(line)
    except ValueError as error:
        raise FrameError(f"not JSON: {error}") from error
    if not isinstance(frame, dict) or not isinstance(frame.get("type"), str):
        raise FrameError("a frame is an object with a type")
    return frame


def need(frame, key, kind):
    """frame[key], which must be there and of that kind."""
    value = frame.get(key)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise FrameError(f"{frame.get('type', 'frame')}: {key} is missing or of the wrong type")
    return value


def initialize(inbox, role):
    """Wait for the first frame, check what every program needs of it, and take on the life's time zone."""
    frame = inbox.get()
    if frame is None:
        sys.exit(0)
    if frame["type"] != "initialize" or frame.get("protocol") != 1 or frame.get("role") != role:
        raise FrameError(f"the first frame must be initialize, protocol 1, role {role}")
    for key in ("trial", "namespace", "timezone"):
        need(frame, key, str)
    need(frame, "config", dict)
    os.environ["TZ"] = frame["timezone"]
    time.tzset()
    return frame
