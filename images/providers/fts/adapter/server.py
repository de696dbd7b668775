"""What the plugin in Hermes talks to: JSON over HTTP on 127.0.0.1:7001."""

import json
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .store import line_of

PORT = 7001


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store = None

    def do_GET(self):
        self._answer(200, {"status": "ok"}) if self.path == "/health" else self._answer(404, {"error": "no such path"})

    def do_POST(self):
        road = {"/search": self._search, "/turns": self._turn}.get(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if road is None:
            self._answer(404, {"error": "no such path"})
            return
        try:
            self._answer(200, road(json.loads(body)))
        except (KeyError, TypeError, ValueError) as error:
            self._answer(400, {"error": f"{type(error).__name__}: {error}"})
        except Exception as error:
            self._answer(500, {"error": f"{type(error).__name__}: {error}"})
            raise

    def _search(self, request):
        limit = max(1, min(int(request.get("limit") or 10), 50))
        rows = self.store.search(
            str(request["query"]), limit, request.get("channel"), request.get("before"), request.get("after")
        )
        return {"lines": [line_of(row) for row in rows]}

    def _turn(self, request):
        """What the owner told the assistant in an ordinary turn, at the hour that this container's clock shows."""
        new = self.store.add([{
            "source_id": request["source_id"], "channel": "assistant", "sender": "owner", "thread": request["session"],
            "text": request["text"], "from_owner": True,
            "written_at": datetime.now().astimezone().isoformat(timespec="seconds"),
        }])
        return {"stored": new}

    def _answer(self, status, body):
        data = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


def serve(store):
    """Listen; the caller runs serve_forever. The port is bound when this returns."""
    handler = type("StoreHandler", (Handler,), {"store": store})
    return ThreadingHTTPServer(("127.0.0.1", PORT), handler)
