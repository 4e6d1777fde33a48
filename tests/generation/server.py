"""A loopback endpoint that speaks as much of the OpenAI protocol as goldgate asks for, and misbehaves on demand.

It is a bare asyncio protocol, cheap enough to stand behind a benchmark. `python server.py --help` starts
one by hand; tests start it in a thread. What it was asked can be read from `GET /stats`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
import ssl
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson


@dataclass
class Behaviour:
    """How the endpoint behaves. Shares are of attempts, drawn with a seed; the faults do not overlap."""

    latency: float = 0.0
    busy: float = 0.0  # 429
    retry_after: str | None = "0.05"  # with a 429
    retry_after_ms: str | None = None
    broken: float = 0.0  # 500
    reset: float = 0.0  # the connection is cut before an answer
    half: float = 0.0  # the connection is cut in the middle of an answer
    not_json: float = 0.0  # a 200 whose body is cut JSON
    wrong_type: float = 0.0  # a 200 with a page of HTML
    slow_body: float = 0.0  # seconds between the two halves of a body
    status: int | None = None  # every request gets this
    message: str = "as you asked for"  # of the error
    key: str | None = None  # any other key gets a 401 that quotes it
    refuse_formats: tuple[str, ...] = ()
    vague: bool = False  # refusals do not say why
    refuse_text: str | None = None  # a request with this in it gets a 400
    refusal: str = "this is against our policy"  # with these words
    without_usage: bool = False
    version: str = "0001"  # of the model, in its name
    seed: int = 1
    gold: dict[str, list[Any]] = field(default_factory=dict)  # by text
    answer: Callable[[str], str] | None = None  # to the last message, in place of the gold


@dataclass
class Seen:
    """What the endpoint was asked."""

    requests: int = 0
    answered: Counter[str] = field(default_factory=Counter)  # by a hash of the body
    formats: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    headers: list[bytes] = field(default_factory=list)


class Endpoint(asyncio.Protocol):
    """One connection."""

    def __init__(self, behaviour: Behaviour, seen: Seen, rng: random.Random, keep: bool) -> None:
        self.behaviour, self.seen, self.rng, self.keep = behaviour, seen, rng, keep
        self.buffer = bytearray()
        self.need = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            if self.need < 0:
                end = self.buffer.find(b"\r\n\r\n")
                if end < 0:
                    return
                self.head = bytes(self.buffer[:end])
                del self.buffer[: end + 4]
                lowered = self.head.lower()
                at = lowered.find(b"content-length:")
                self.need = int(lowered[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.buffer) < self.need:
                return
            body = bytes(self.buffer[: self.need])
            del self.buffer[: self.need]
            self.need = -1
            self.answer(self.head, body)

    def answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET"):
            self.reply(200, orjson.dumps(self.stats()))
            return
        behaviour, seen = self.behaviour, self.seen
        seen.requests += 1
        seen.at_once += 1
        seen.most_at_once = max(seen.most_at_once, seen.at_once)
        if self.keep:
            seen.headers.append(head)
            seen.bodies.append(orjson.loads(body))
        loop = asyncio.get_running_loop()
        drawn = self.rng.random()
        for share, fault in (
            (behaviour.busy, self.busy),
            (behaviour.broken, lambda: self.error(500, "something broke")),
            (behaviour.reset, self.transport.abort),
            (behaviour.half, lambda: self.half(body)),
            (behaviour.not_json, lambda: self.reply(200, b'{"choices": [{"mess')),
            (behaviour.wrong_type, lambda: self.reply(200, b"<html>Welcome</html>", "text/html")),
        ):
            if drawn < share:
                seen.at_once -= 1
                fault()
                return
            drawn -= share
        loop.call_later(behaviour.latency, self.complete, head, body)

    def complete(self, head: bytes, body: bytes) -> None:
        self.seen.at_once -= 1
        if self.transport.is_closing():
            return
        behaviour = self.behaviour
        if behaviour.status is not None:
            self.error(behaviour.status, behaviour.message)
            return
        if behaviour.key is not None:
            given = head.lower().partition(b"authorization: bearer ")[2].split(b"\r\n", 1)[0].decode()
            if given != behaviour.key.lower():
                quoted = head.partition(b"Bearer ")[2].split(b"\r\n", 1)[0].decode()
                self.error(401, f"Incorrect API key provided: {quoted}. Also {quoted[:9]}***{quoted[-4:]}.")
                return
        asked = orjson.loads(body)
        form = asked.get("response_format", {}).get("type", "text")
        self.seen.formats[form] += 1
        if form in behaviour.refuse_formats:
            self.error(400, "bad request" if behaviour.vague else f"response_format {form} is not supported")
            return
        if behaviour.refuse_text is not None and behaviour.refuse_text in asked["messages"][-1]["content"]:
            self.error(400, behaviour.refusal)
            return
        self.seen.answered[hashlib.sha256(body).hexdigest()[:16]] += 1
        whole = self.completion(asked)
        if behaviour.slow_body:
            self.start(200, "application/json", len(whole))
            self.transport.write(whole[:20])
            asyncio.get_running_loop().call_later(behaviour.slow_body, self.transport.write, whole[20:])
            return
        self.reply(200, whole)

    def completion(self, asked: dict[str, Any]) -> bytes:
        """An answer that depends on the question alone: the gold, less an argument now and then."""
        prompt = asked["messages"][-1]["content"]
        text = prompt.partition(">\n")[2].rpartition("\n</")[0]
        digest = hashlib.sha256(orjson.dumps([prompt, asked.get("seed")])).digest()
        events = orjson.loads(orjson.dumps(self.behaviour.gold.get(text, [])))
        for event in events:
            event.pop("trigger", None)
            event["arguments"] = [{"role": a["role"], "argument": a["argument"]} for a in event["arguments"]]
        if digest[0] % 3 == 0 and events and events[0]["arguments"]:
            del events[0]["arguments"][digest[1] % len(events[0]["arguments"])]
        content = orjson.dumps({"events": events}).decode()
        if self.behaviour.answer is not None:
            content = self.behaviour.answer(prompt)
        value: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": f"{asked['model']}-{self.behaviour.version}",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        }
        if not self.behaviour.without_usage:
            tokens = {"prompt_tokens": len(prompt) // 2, "completion_tokens": len(content) // 2}
            value["usage"] = {**tokens, "completion_tokens_details": {"reasoning_tokens": 3}}
        return orjson.dumps(value)

    def busy(self) -> None:
        extra = ""
        if self.behaviour.retry_after is not None:
            extra += f"Retry-After: {self.behaviour.retry_after}\r\n"
        if self.behaviour.retry_after_ms is not None:
            extra += f"retry-after-ms: {self.behaviour.retry_after_ms}\r\n"
        self.error(429, "too many requests", extra)

    def half(self, body: bytes) -> None:
        whole = self.completion(orjson.loads(body))
        self.start(200, "application/json", len(whole))
        self.transport.write(whole[: len(whole) // 2])
        self.transport.close()

    def error(self, status: int, message: str, extra: str = "") -> None:
        self.reply(status, orjson.dumps({"error": {"message": message, "type": "error"}}), extra=extra)

    def reply(self, status: int, body: bytes, kind: str = "application/json", extra: str = "") -> None:
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
        self.transport.write(head.encode() + body)

    def start(self, status: int, kind: str, length: int) -> None:
        self.transport.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n".encode()
        )

    def stats(self) -> dict[str, Any]:
        answered = self.seen.answered
        return {
            "requests": self.seen.requests,
            "answers": answered.total(),
            "different": len(answered),
            "most_at_once": self.seen.most_at_once,
            "answered": dict(answered),
        }


class Running:
    """An endpoint in a thread: `with Running(Behaviour()) as server: … server.url … server.seen`."""

    def __init__(self, behaviour: Behaviour, tls: ssl.SSLContext | None = None) -> None:
        self.behaviour, self.seen, self.tls = behaviour, Seen(), tls
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.server = self.loop.run_until_complete(listen(self.behaviour, self.seen, 0, keep=True, tls=self.tls))
        self.port = self.server.sockets[0].getsockname()[1]
        self.ready.set()
        self.loop.run_forever()
        self.server.close()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Running:
        self.thread.start()
        self.ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)


async def listen(
    behaviour: Behaviour, seen: Seen, port: int, *, keep: bool, tls: ssl.SSLContext | None = None
) -> asyncio.Server:
    rng = random.Random(behaviour.seed)
    loop = asyncio.get_running_loop()
    return await loop.create_server(
        lambda: Endpoint(behaviour, seen, rng, keep), "127.0.0.1", port, backlog=2048, ssl=tls
    )


def load_gold(path: Path) -> dict[str, list[Any]]:
    """Events by text: what the endpoint answers with."""
    records = [orjson.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {record["text"]: record["events"] for record in records}


async def main() -> None:
    parser = argparse.ArgumentParser(description="A loopback endpoint; prints its address and serves until killed.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--gold", type=Path)
    for name in ("latency", "busy", "broken", "reset", "half", "not-json", "wrong-type", "slow-body"):
        parser.add_argument(f"--{name}", type=float, default=0.0)
    parser.add_argument("--refuse", default="", help="response formats, with commas")
    parser.add_argument("--key", help="refuse every other one")
    options = parser.parse_args()
    behaviour = Behaviour(
        options.latency,
        busy=options.busy,
        broken=options.broken,
        reset=options.reset,
        half=options.half,
        not_json=options.not_json,
        wrong_type=options.wrong_type,
        slow_body=options.slow_body,
        refuse_formats=tuple(filter(None, options.refuse.split(","))),
        key=options.key,
        gold=load_gold(options.gold) if options.gold else {},
    )
    server = await listen(behaviour, Seen(), options.port, keep=False)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
