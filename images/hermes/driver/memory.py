"""The provider's plugin under watch. Hermes hides every failure of a memory provider; here each one is noted."""

import functools
import logging
import threading
import time

WATCHED = ("initialize", "prefetch", "queue_prefetch", "sync_turn", "handle_tool_call", "on_session_end",
           "on_pre_compress", "on_session_switch", "on_turn_start", "system_prompt_block", "get_tool_schemas", "shutdown")
WRITES = ("sync_turn", "queue_prefetch", "on_session_end")


class Memory:
    """One provider instance of one agent."""

    def __init__(self, provider, may_write):
        self.provider = provider
        self.errors = []
        self.initialized = False
        self._may_write = may_write
        self._prefetches = 0  # running now
        self._lock = threading.Lock()
        for name in WATCHED:
            setattr(provider, name, self._watch(name, getattr(provider, name)))

    def _watch(self, name, method):
        @functools.wraps(method)
        def call(*args, **kwargs):
            if name in WRITES and not self._may_write():
                return None
            self._count(name, 1)
            try:
                value = method(*args, **kwargs)
            except BaseException as error:
                self.errors.append(f"{self.provider.name}: {name}: {type(error).__name__}: {error}")
                raise
            finally:
                self._count(name, -1)
            if name == "initialize":
                self.initialized = True
            return value

        return call

    def _count(self, name, step):
        if name == "prefetch":
            with self._lock:
                self._prefetches += step

    def recall_cut(self):
        """Whether a prefetch still runs after the turn: Hermes stopped waiting and went on without recall."""
        with self._lock:
            return self._prefetches > 0

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
    """Catches what a provider catches itself and only logs, often at debug level: a record that carries an exception."""

    def __init__(self, provider, errors):
        super().__init__(logging.DEBUG)
        self._name, self._errors = provider.name, errors
        logger = logging.getLogger(type(provider).__module__)
        for old in [h for h in logger.handlers if isinstance(h, SwallowedErrors)]:
            logger.removeHandler(old)
        logger.setLevel(logging.DEBUG)
        logger.addHandler(self)

    def emit(self, record):
        args = record.args if isinstance(record.args, tuple) else ()
        if record.exc_info or any(isinstance(arg, BaseException) for arg in args):
            self._errors.append(f"{self._name}: {record.getMessage()}")


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
