"""The provider's plugin under watch. Hermes hides every failure of a memory provider; here each one is noted."""

import functools
import logging
import threading
import time

WATCHED = ("initialize", "prefetch", "queue_prefetch", "sync_turn", "handle_tool_call", "on_session_end",
           "on_pre_compress", "on_session_switch", "on_turn_start", "system_prompt_block", "get_tool_schemas", "shutdown")
WRITES = ("sync_turn", "queue_prefetch", "on_session_end")
RECALL_S = 8.0  # Hermes's own limit for prefetch; past it the turn goes on without recall


class Memory:
    """One provider instance of one agent."""

    def __init__(self, provider, may_write):
        self.provider = provider
        self.errors = []
        self.initialized = False
        self.inside = threading.local()  # .name: the provider's method that this thread is in
        self._may_write = may_write
        self._prefetches = 0  # running now
        self._lock = threading.Lock()
        for name in WATCHED:
            setattr(provider, name, self._watch(name, getattr(provider, name)))
        self._swallowed = SwallowedErrors(self)

    def _watch(self, name, method):
        @functools.wraps(method)
        def call(*args, **kwargs):
            if name in WRITES and not self._may_write():
                return None
            began = time.monotonic()
            self._enter(name, 1)
            try:
                value = method(*args, **kwargs)
            except BaseException as error:
                self.errors.append(f"{self.provider.name}: {name}: {type(error).__name__}: {error}")
                raise
            finally:
                self._enter(name, -1)
            if name == "prefetch" and time.monotonic() - began >= RECALL_S:
                self.errors.append(f"{self.provider.name}: prefetch took over {RECALL_S:.0f} s: no recall in that turn")
            if name == "initialize":
                self.initialized = True
            return value

        return call

    def _enter(self, name, step):
        self.inside.name = name if step > 0 else None
        if name == "prefetch":
            with self._lock:
                self._prefetches += step

    def recall_cut(self):
        """Whether a prefetch still runs after the turn: Hermes stopped waiting and went on without recall."""
        with self._lock:
            return self._prefetches > 0

    def close(self):
        self._swallowed.close()

    def drain(self, manager, seconds):
        """Wait until all that a turn owes to memory is written; the reason when it is not."""
        end = time.monotonic() + seconds
        if not manager.flush_pending(timeout=seconds):
            return f"memory did not finish writing within {seconds:.0f} s"
        # Threads and queues of the provider's own, which Hermes's barrier does not know (mem0, honcho; hindsight).
        thread = getattr(self.provider, "_sync_thread", None)
        queue = getattr(self.provider, "_retain_queue", None)
        while (thread and thread.is_alive()) or (queue and queue.unfinished_tasks):
            if time.monotonic() > end:
                return f"the provider's own writer did not finish within {seconds:.0f} s"
            time.sleep(0.02)
        return None


class SwallowedErrors(logging.Handler):
    """Catches what a provider catches itself and only logs: a record with an exception, as a warning or worse from any
    thread, at any level from within a call whose failure is a failure of memory."""

    CRITICAL = ("prefetch", "sync_turn", "handle_tool_call", "on_session_end")

    def __init__(self, memory):
        super().__init__(logging.DEBUG)
        self._memory = memory
        self._logger = logging.getLogger(type(memory.provider).__module__)
        self._logger.setLevel(logging.DEBUG)
        self._logger.addHandler(self)

    def close(self):
        self._logger.removeHandler(self)
        super().close()

    def emit(self, record):
        args = record.args if isinstance(record.args, tuple) else ()
        if not record.exc_info and not any(isinstance(arg, BaseException) for arg in args):
            return
        inside = getattr(self._memory.inside, "name", None)
        if record.levelno >= logging.WARNING or inside in self.CRITICAL:
            self._memory.errors.append(f"{self._memory.provider.name}: {record.getMessage()}")


class Loader:
    """Takes the place of Hermes's own loader, to put each provider instance under watch."""

    def __init__(self, may_write):
        import plugins.memory

        self._load = plugins.memory.load_memory_provider
        self._may_write = may_write
        self.last = None
        plugins.memory.load_memory_provider = self.load

    def load(self, name):
        self.last = None
        provider = self._load(name)
        if provider is not None:
            self.last = Memory(provider, self._may_write)
        return provider
