"""A model to drive containers by hand: answers chat completions from what the user's last message commands.

    tool NAME {json}   call that tool, then answer with its result
    both NAME          call fts_search and that tool at once
    loop               call fts_search for ever, until no tools are offered
    sleep N            answer after N seconds
    prompt             answer with the system prompt
    fail               HTTP 500
    anything else      echo it
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def decide(messages, tools):
    last = messages[-1]
    asked = [message["content"] for message in messages if message["role"] == "user"][-1 if tools else 0]
    if asked == "loop":
        if not tools:
            return {"content": "enough"}
        call = {"id": f"call_{len(messages)}", "type": "function"}
        query = json.dumps({"query": f"poker {len(messages)}"})
        return {"content": None, "tool_calls": [{**call, "function": {"name": "fts_search", "arguments": query}}]}
    if last["role"] == "tool":
        return {"content": f"found: {last['content']}"}
    text = last["content"] if isinstance(last["content"], str) else json.dumps(last["content"])
    command, _, rest = text.partition(" ")
    if command == "tool":
        name, _, arguments = rest.partition(" ")
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments.split("\n")[0] or "{}"}}
        return {"content": None, "tool_calls": [call]}
    if command == "both":
        calls = [("call_1", "fts_search", '{"query":"poker"}'), ("call_2", rest, "{}")]
        return {"content": None, "tool_calls": [
            {"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i, name, arguments in calls]}
    if command == "sleep":
        time.sleep(float(rest))
        return {"content": "slept"}
    if command == "prompt":
        return {"content": messages[0]["content"]}
    return {"content": f"echo of {len(messages)} messages: {text}"}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        print("GET", self.path, file=sys.stderr, flush=True)
        self._send(404, {"error": "no"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        print(json.dumps(body), file=sys.stderr, flush=True)
        if body["messages"][-1]["content"] == "fail":
            self._send(500, {"error": {"message": "the stub was told to fail"}})
            return
        message = {"role": "assistant", **decide(body["messages"], body.get("tools"))}
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        whole = {"id": "c1", "object": "chat.completion", "created": 1, "model": body["model"], "usage": usage}
        if not body.get("stream"):
            self._send(200, {**whole, "choices": [{"index": 0, "message": message, "finish_reason": finish}]})
            return
        for index, call in enumerate(message.get("tool_calls", [])):
            call["index"] = index
        chunk = {**whole, "object": "chat.completion.chunk"}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for choices in ([{"index": 0, "delta": message, "finish_reason": None}],
                        [{"index": 0, "delta": {}, "finish_reason": finish}], []):
            part = {**chunk, "choices": choices, "usage": None if choices else usage}
            self.wfile.write(f"data: {json.dumps(part)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", 8080), Handler).serve_forever()
