"""Hermes memory provider "fts": one search tool over the reference provider's store.

prefetch returns nothing: the tool is the only road, so that what the model saw is what it asked for.
"""

import hashlib
import json
import urllib.error
import urllib.request

from agent.memory_provider import MemoryProvider

URL = "http://127.0.0.1:7001"
TIMEOUT_S = 30

SEARCH = {
    "name": "fts_search",
    "description": (
        "Search everything the owner has received and told: emails, messages of all channels, and what the owner told the"
        " assistant. Finds records with any of the words and puts the best first, one a line:"
        " date and time | channel | sender | thread | text. Later records may correct earlier ones."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "words to look for"},
            "limit": {"type": "integer", "description": "most records to return, 1 to 50; 10 if not given"},
            "channel": {"type": "string", "description": "email, imessage, whatsapp, groupme or assistant"},
            "before": {"type": "string", "description": "only records before this date or time (2026-08-07)"},
            "after": {"type": "string", "description": "only records from this date or time on"},
        },
        "required": ["query"],
    },
}


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {"Content-Type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=TIMEOUT_S) as answer:
        return json.load(answer)


class FtsProvider(MemoryProvider):
    name = "fts"

    def is_available(self):
        return True

    def initialize(self, session_id, **kwargs):
        call("/health")

    def system_prompt_block(self):
        return (
            "# Memory\nThe owner's messages of all channels are in memory, word for word. Before you answer anything about"
            " people, plans, dates or places, look it up with fts_search; say so when it is not there."
        )

    def get_tool_schemas(self):
        return [SEARCH]

    def handle_tool_call(self, tool_name, args, **kwargs):
        wanted = {key: args[key] for key in SEARCH["parameters"]["properties"] if args.get(key) not in (None, "")}
        try:
            lines = call("/search", wanted)["lines"]
        except urllib.error.HTTPError as error:
            if error.code != 400:
                raise
            return json.load(error)["error"]  # the model's own mistake, such as a date that is none
        return "\n".join(lines) or "nothing found"

    def sync_turn(self, user_content, assistant_content, *, session_id="", messages=None):
        # Known by session, place in it and words: a turn told twice to the store is stored once.
        turns = sum(message.get("role") == "user" for message in messages or [])
        words = hashlib.sha256(user_content.encode()).hexdigest()[:16]
        call("/turns", {"source_id": f"turn:{session_id}:{turns}:{words}", "session": session_id, "text": user_content})

    def shutdown(self):
        pass


def register(ctx):
    ctx.register_memory_provider(FtsProvider())
