"""A test-only server of the chat API that breaks as it is told: raw sockets, a thread each."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable

Step = Callable[["Exchange"], bool | None]

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


class Exchange:
    """One request on a connection; a step writes its reply, and says True to keep the line open."""

    def __init__(self, server: FaultyServer, line: socket.socket, text: str):
        self.server, self.line, self.text, self.is_open = server, line, text, True

    def send(self, data: bytes) -> None:
        self.end()
        self.line.sendall(data)

    def end(self) -> None:
        """It counts as under way no longer than its client can know of it."""
        with self.server.guard:
            self.server.now -= self.is_open
            self.is_open = False


def whole(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    """A reply with its length."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


def completion(text: object = "A", **fields: object) -> dict:
    """The payload of a good answer; `fields` replace parts of its only choice."""
    choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop", **fields}
    return {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}


# ------------------------------------------------------------------------------------- steps


def good(exchange: Exchange) -> bool:
    exchange.send(whole(json.dumps(completion(f"answer to {exchange.text}")).encode()))
    return True


def body(content: object) -> Step:
    """A reply of code 200 with this body: bytes, or what becomes JSON."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()

    def step(exchange: Exchange) -> bool:
        exchange.send(whole(data))
        return True

    return step


def status(code: int, **headers: str) -> Step:
    """A refusal whose message, type and code repeat the prompt."""

    def step(exchange: Exchange) -> bool:
        said = {"type": exchange.text, "code": f"\x1b[31m{exchange.text}", "message": exchange.text}
        exchange.send(whole(json.dumps({"error": said}).encode(), f"{code} No", **headers))
        return True

    return step


def drop(exchange: Exchange) -> None:
    """Hang up without a word."""


def reset(exchange: Exchange) -> None:
    exchange.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def half_body(exchange: Exchange) -> None:
    exchange.send(HEAD + b"Content-Length: 500\r\n\r\n" + json.dumps(completion()).encode()[:40])


def half_chunk(exchange: Exchange) -> None:
    exchange.send(HEAD + b'Transfer-Encoding: chunked\r\n\r\n8\r\n{"choice\r\n20\r\ns": [')


def half_head(exchange: Exchange) -> None:
    exchange.send(HEAD[:25])


def short_length(exchange: Exchange) -> None:
    """The body goes on after what its length says."""
    exchange.send(HEAD + b"Content-Length: 20\r\n\r\n" + json.dumps(completion()).encode())


def no_http(exchange: Exchange) -> None:
    exchange.send(b"\x00\x01\x02 what is this\r\n\r\n")


def gzip_garbage(exchange: Exchange) -> None:
    exchange.send(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 7\r\n\r\ngarbage")


def gzip_cut(exchange: Exchange) -> None:
    data = gzip.compress(json.dumps(completion("A" * 2000)).encode(), mtime=0)[:40]
    exchange.send(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 40\r\n\r\n" + data)


def silent(exchange: Exchange) -> None:
    exchange.server.over.wait(3)


def drip(exchange: Exchange) -> None:
    """A body that never ends, a byte at a time."""
    exchange.send(HEAD + b"Content-Length: 100000\r\n\r\n")
    while not exchange.server.over.is_set():
        exchange.send(b" ")
        time.sleep(0.02)


def flood(exchange: Exchange) -> None:
    """A body that never ends, as fast as the line takes it."""
    exchange.send(HEAD + b"\r\n")
    while not exchange.server.over.is_set():
        exchange.send(b" " * 65536)


class FaultyServer:
    """Serves model `m`; `script(text, n)` gives the step for the n-th post of a prompt.

    `entry` is added to what it lists of the model; `most` is how many posts it had at once.
    """

    def __init__(self, script: Callable[[str, int], Step], port: int = 0, **entry: object):
        self.entry = {"id": "m", **entry}
        self.now = self.most = 0
        self.script, self.over, self.guard = script, threading.Event(), threading.Lock()
        self.posts: Counter[str] = Counter()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}/v1"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while not self.over.is_set():
            try:
                line, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        # The client hangs up whenever it has waited long enough.
        with line, line.makefile("rb") as lines, contextlib.suppress(OSError):
            while self._answer(line, lines):
                pass

    def _answer(self, line: socket.socket, lines) -> bool | None:
        verb = lines.readline()
        length = 0
        while (header := lines.readline()) not in (b"\r\n", b""):
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        if not verb or self.over.is_set():
            return False
        if verb.startswith(b"GET"):
            listed = {"data": [self.entry], "version": self.entry.get("version")}
            line.sendall(whole(json.dumps(listed).encode()))
            return True
        text = json.loads(lines.read(length))["messages"][0]["content"]
        with self.guard:
            self.posts[text] += 1
            n = self.posts[text]
            self.now += 1
            self.most = max(self.most, self.now)
        exchange = Exchange(self, line, text)
        try:
            return self.script(text, n)(exchange)
        finally:
            exchange.end()

    def close(self) -> None:
        self.over.set()
        # Wakes the thread that waits for a connection.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Patience:
    """A clock that does not wait: sleeping moves the thread's own time on, and is written down."""

    def __init__(self) -> None:
        self.local, self.waits = threading.local(), []

    def sleep(self, seconds: float) -> None:
        self.local.slept = getattr(self.local, "slept", 0.0) + seconds
        self.waits.append(seconds)

    def clock(self) -> float:
        return time.monotonic() + getattr(self.local, "slept", 0.0)
