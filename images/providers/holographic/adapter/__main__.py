import os
from datetime import datetime

from memcal_program.adapter import MEMORY_DIR, Backend, run


class Holographic(Backend):
    name, version, tools = "holographic", "0.19.0", ("fact_store", "fact_feedback")
    capabilities = {
        "stores": "each observation as one fact, its date in the text", "maintenance": "none of its own",
        "prefetch": "the five best facts, by Hermes's plugin",
    }

    def start(self, initialize):
        from plugins.memory.holographic.store import MemoryStore

        self._store = MemoryStore(os.path.join(MEMORY_DIR, "memory_store.db"))

    def import_batch(self, boundary, observations):
        # The same text is the same fact, so a batch done again adds nothing.
        facts = {self._store.add_fact(fact_of(o), category="general", tags=o["channel"]) for o in observations}
        return f"{len(facts)} facts from {len(observations)} observations"

    def maintain(self, night):
        return "holographic has no maintenance of its own: nothing to do"

    def stop(self):
        self._store.close()


def fact_of(observation):
    """The store has no field for a time, a sender or a thread: they go into the text."""
    written = datetime.fromisoformat(observation["written_at"])
    subject = f", {observation['subject']}" if observation.get("subject") else ""
    return (f"{written:%A %Y-%m-%d %H:%M}, {observation['channel']}, {observation['thread']}{subject}: "
            f"{observation['sender']} wrote: {observation['text']}")


run(Holographic())
