"""A loopback server that sends exactly the bytes a test wants: no HTTP of its own, nothing put right."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

Reply = bytes | Iterable[bytes]  # pieces are sent one by one
MOST_CONNECTIONS = 500


class Raw:
    """`with Raw(reply) as server: … server.url`. `reply` gets the number of the request and its head and body."""

    def __init__(self, reply: Callable[[int, bytes, bytes], Reply], *, close: bool = True, pause: float = 0.0) -> None:
        self.reply, self.close, self.pause = reply, close, pause
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._listening.settimeout(0.1)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"

    def __enter__(self) -> Raw:
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(5)
        self._listening.close()

    def _accept(self) -> None:
        for _ in range(100 * MOST_CONNECTIONS):
            if self._stopped.is_set():
                return
            with suppress(TimeoutError):
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(5)
        with connection, suppress(OSError):
            while (asked := _request(connection)) is not None:
                with self._lock:
                    number = len(self.heads)
                    self.heads.append(asked[0])
                    self.bodies.append(asked[1])
                reply = self.reply(number, *asked)
                for piece in [reply] if isinstance(reply, bytes) else reply:
                    if self._stopped.is_set():
                        return
                    connection.sendall(piece)
                    if self.pause:
                        time.sleep(self.pause)
                if self.close:
                    return


def _request(connection: socket.socket) -> tuple[bytes, bytes] | None:
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            return None
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
    while len(body) < length:
        piece = connection.recv(65536)
        if not piece:
            return None
        body += piece
    return head, body


def http(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None, keep: bool = False) -> bytes:
    """A reply; `length` is what it claims to be long, `keep` whether the connection stays open."""
    size = f"Content-Length: {len(body) if length is None else length}"
    more = headers if keep else ("Connection: close", *headers)
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", size, *more, "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + body


def completion(text: str = '{"events": []}', **more: Any) -> bytes:
    """The body of an answer."""
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    choices = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]
    return json.dumps({"model": "m", "choices": choices, "usage": usage, **more}).encode()
