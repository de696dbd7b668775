"""The guard: Hermes's plugin hooks, which deny forbidden tools before they run and report what passes.

Hermes swallows what a hook raises and goes on, for a tool call by running the tool. So no hook here raises: what goes
wrong is noted, the turn is interrupted, and the driver fails it.
"""

import functools
import json
import re

DENIED = "denied: only the memory provider's tools may be used here"
OVER_LIMIT = "the limit of tool calls for this turn is reached: answer with what you have"
CONTEXT = re.compile(r"<memory-context>.*?</memory-context>", re.DOTALL)
HOOKS = ("pre_api_request", "post_api_request", "pre_tool_call", "post_tool_call")


def guarded(hook):
    @functools.wraps(hook)
    def call(self, **kwargs):
        try:
            return hook(self, **kwargs)
        except BaseException as error:  # anything let through would be fail-open
            self.fail(f"guard: {hook.__name__}: {type(error).__name__}: {error}")
            return {"action": "block", "message": DENIED} if hook.__name__ == "pre_tool_call" else None

    return call


class Guard:
    def __init__(self):
        self.allow = frozenset()
        self.limit = 0  # tool calls in a turn
        self.source = ""
        self._emit = lambda kind, data: None
        self._interrupt = lambda reason: None
        self.begin(None, None)

    def configure(self, allow, limit, source):
        self.allow, self.limit, self.source = frozenset(allow), limit, source

    def register(self, ctx):
        for name in HOOKS:
            ctx.register_hook(name, getattr(self, name))

    def begin(self, emit, interrupt):
        """A turn starts: emit(kind, data) sends its events, interrupt(reason) stops the agent."""
        self._emit = emit or self._emit
        self._interrupt = interrupt or self._interrupt
        self.violation = None
        self.errors = []
        self.calls = 0  # model calls answered
        self.tool_calls = 0
        self.usage = Usage()
        self._injected = False
        self._response = None

    def fail(self, text):
        self.errors.append(text)
        self._interrupt(text)

    def note_usage(self, response):
        """Called by Hermes, more than once, for each response; keeps the endpoint's own numbers."""
        if response is not None and response is not self._response:
            self._response = response
            self.usage.add(getattr(response, "usage", None))

    def deny(self, name, call_id=None):
        self.violation = self.violation or f"the model called {name}, which is not one of this harness's tools"
        data = {"name": name, "rule": "allow", "layer": "dispatch", **({"id": call_id} if call_id else {})}
        self._emit("tool.denied", data)
        self._interrupt(self.violation)

    @guarded
    def pre_api_request(self, request_messages=(), **_):
        if self._injected or not request_messages:
            return
        self._injected = True
        users = [m for m in request_messages if m.get("role") == "user"]
        for block in CONTEXT.findall(text_of(users[-1].get("content"))) if users else []:
            self._emit("context.injected", {"source": self.source, "content": block})

    @guarded
    def post_api_request(self, assistant_message=None, session_id="", **_):
        self.calls += 1
        if assistant_message.content:
            content = text_of(assistant_message.content)
            self._emit("message", {"role": "assistant", "content": content, "session": session_id})
        for call in assistant_message.tool_calls or []:
            name, arguments = call.function.name or "", call.function.arguments
            if not isinstance(arguments, str):
                arguments = json.dumps(arguments)
            self._emit("tool.call", {"id": call.id or "", "name": name, "arguments": arguments})
            if name not in self.allow:
                self.deny(name, call.id)

    @guarded
    def pre_tool_call(self, tool_name="", **_):
        if tool_name not in self.allow and not self.violation:
            self.deny(tool_name)  # a name that was not in the model's own answer
        if self.violation or self.errors:
            return {"action": "block", "message": DENIED}
        self.tool_calls += 1
        if self.tool_calls > self.limit:
            self._emit("log", {"level": "warning", "text": f"{tool_name}: over {self.limit} tool calls"})
            return {"action": "block", "message": OVER_LIMIT}
        return None

    @guarded
    def post_tool_call(self, tool_name="", tool_call_id="", result=None, **_):
        content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
        self._emit("tool.result", {"id": tool_call_id or "", "name": tool_name, "content": content})


def text_of(content):
    """The text of a message's content, which may be a list of parts."""
    if isinstance(content, list):
        return "\n".join(p.get("text", "") for p in content if isinstance(p, dict))
    return content or ""


class Usage:
    """What a turn's model calls used, as the endpoint said, in disjoint classes; a number that any call left out is
    unknown. Where an endpoint does not tell a share (cached, reasoning) apart, the whole stands in the class that
    includes it."""

    FIELDS = {
        "input": ("prompt_tokens",), "cached_input": ("prompt_tokens_details", "cached_tokens"),
        "output": ("completion_tokens",), "reasoning": ("completion_tokens_details", "reasoning_tokens"),
    }
    SHARES = {"input": "cached_input", "output": "reasoning"}

    def __init__(self):
        self.calls = 0
        self._sums = dict.fromkeys(self.FIELDS, 0)

    def add(self, raw):
        self.calls += 1
        counts = {field: self._count(raw, path) for field, path in self.FIELDS.items()}
        for whole, share in self.SHARES.items():
            if counts[whole] is not None and counts[share] is not None:
                counts[whole] = max(0, counts[whole] - counts[share])
        for field, count in counts.items():
            known = count is not None and self._sums[field] is not None
            self._sums[field] = self._sums[field] + count if known else None

    @staticmethod
    def _count(raw, path):
        value = raw
        for key in path:
            value = value.get(key) if isinstance(value, dict) else getattr(value, key, None)
        return value if isinstance(value, int) else None

    def tokens(self):
        return dict(self._sums) if self.calls else dict.fromkeys(self.FIELDS)


GUARD = Guard()
