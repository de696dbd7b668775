import os
import threading

from memcal_program.adapter import MEMORY_DIR, Backend, run

from .server import PORT, serve
from .store import Store


class Fts(Backend):
    name, version, tools = "fts", "1", ("fts_search",)
    capabilities = {
        "port": PORT, "stores": "observations and ordinary turns, word for word", "maintenance": "optimize, integrity-check",
        "prefetch": "none",
    }

    def start(self, initialize):
        self._store = Store(os.path.join(MEMORY_DIR, "fts.db"))
        self._server = serve(self._store)
        threading.Thread(target=self._server.serve_forever, name="http", daemon=True).start()

    def import_batch(self, boundary, observations):
        new = self._store.add(observations)
        there = self._store.count([observation["source_id"] for observation in observations])
        if there != len({observation["source_id"] for observation in observations}):
            raise RuntimeError(f"{there} of {len(observations)} observations can be read back")
        return f"{new} new, {len(observations) - new} known"

    def maintain(self, night):
        self._store.optimize()
        return f"index merged and checked over {self._store.count()} observations"

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
        self._store.close()


run(Fts())
