"""A chat-completions server on loopback whose answers are written by readers.

    python server.py BOX [--port 8899] [--patience 3600]

A request becomes the file `BOX/inbox/NNNNN.md`: its messages, then the JSON schema of the answer. Whoever reads it
writes the answer to `BOX/outbox/NNNNN.txt`, whole (written beside it, then renamed). Requests of one model with the
same messages and schema are one file and have one answer, also after a restart: `BOX/log.jsonl` has a line a request.
Counts of tokens are counts of characters. Standard library only; whatever key is sent is taken.
"""

import argparse
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LOOK_AGAIN_S = 0.3
LONGEST_BODY = 32_000_000


class Box:
    """The folder of requests and answers. Requests come from many threads at once."""

    def __init__(self, folder: Path, patience_s: float) -> None:
        self._inbox, self._outbox, self._patience_s = folder / "inbox", folder / "outbox", patience_s
        for place in (self._inbox, self._outbox):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._log = folder / "log.jsonl"
        self._lock = threading.Lock()
        known = self._log.read_text("utf-8").splitlines() if self._log.exists() else []
        self._numbers = {row["key"]: row["number"] for row in map(json.loads, known)}

    def put(self, body: dict[str, Any]) -> str:
        """The number of this request, which is written down where it is new."""
        asked = [body.get("model"), body["messages"], body.get("response_format")]
        key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        with self._lock:
            if key not in self._numbers:
                number = f"{len(self._numbers) + 1:05d}"
                parts = [
                    f"######## {one['role'].upper()} ########\n{one['content']}" for one in body["messages"]
                ]
                if schema := body.get("response_format"):
                    told = json.dumps(schema, ensure_ascii=False)
                    parts.append(f"######## THE ANSWER'S SCHEMA ########\n{told}")
                draft = self._inbox / f"{number}.tmp"  # whole at once: readers list the folder at any time
                draft.write_text("\n\n".join(parts), "utf-8")
                draft.replace(draft.with_suffix(".md"))
                with self._log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps({"number": number, "key": key, "model": body.get("model")}) + "\n")
                self._numbers[key] = number
            return self._numbers[key]

    def answer(self, number: str) -> str | None:
        """The answer to this request, waited for; None where nobody wrote one in time."""
        path, until = self._outbox / f"{number}.txt", time.monotonic() + self._patience_s
        while not path.exists():
            if time.monotonic() > until:
                return None
            time.sleep(LOOK_AGAIN_S)
        return path.read_text("utf-8")


class Handler(BaseHTTPRequestHandler):
    """A list of models for those who ask whether the server is there, and chat completions."""

    protocol_version = "HTTP/1.1"
    box: Box

    def do_GET(self) -> None:
        """The models."""
        self._send(200, {"object": "list", "data": [{"id": "reader", "object": "model"}]})

    def do_POST(self) -> None:
        """One completion, once its answer is there."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > LONGEST_BODY:
            self._send(413, {"error": {"message": "the request is too long"}})
            return
        try:
            body = json.loads(self.rfile.read(length))
            number = self.box.put(body)
        except (ValueError, KeyError, TypeError, AttributeError):
            self._send(400, {"error": {"message": "this is no chat completion's request"}})
            return
        text = self.box.answer(number)
        if text is None:
            self._send(503, {"error": {"message": "nobody answered"}})
            return
        read = sum(len(message["content"]) for message in body["messages"])
        about = {"id": f"by-hand-{number}", "object": "chat.completion", "created": 0}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": read, "completion_tokens": len(text), "total_tokens": read + len(text)}
        self._send(200, {**about, "model": body.get("model"), "choices": [choice], "usage": usage})

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal: the log has it."""

    def _send(self, status: int, content: dict[str, Any]) -> None:
        data = json.dumps(content).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:
            self.close_connection = True  # Whoever asked went away; the answer is kept.


class Server(ThreadingHTTPServer):
    """A thread for each waiting request, and room for many to arrive at once."""

    daemon_threads = True
    request_queue_size = 512


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("box", type=Path)
    parser.add_argument("--port", type=int, default=8899)
    parser.add_argument("--patience", type=float, default=3600, help="Seconds that a request waits.")
    given = parser.parse_args()
    Handler.box = Box(given.box, given.patience)
    with Server(("127.0.0.1", given.port), Handler) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
