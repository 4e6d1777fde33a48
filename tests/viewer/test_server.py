"""The server over real sockets: what it says, whom it refuses, and that nothing brings it down."""

from __future__ import annotations

import asyncio
import select
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from goldgate.viewer import server
from goldgate.viewer.server import MAX_CONNECTIONS, MAX_HEAD_BYTES, OK, AccessControl, HttpRequest, SiteResponse
from goldgate.viewer.site import Site

from .asking import SECONDS, Viewer, parsed, received
from .stored import require_harmless

pytest.importorskip("h11", reason="the extra `view` is not installed: pip install -e '.[view]'")


@pytest.fixture(scope="module")
def running(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    viewer = Viewer(stored / "a", stored / "b", cache=tmp_path_factory.mktemp("cache"))
    viewer.enter()
    yield viewer
    viewer.interrupt()
    status, errors = viewer.ended()
    assert (status, errors) == (0, "")  # whatever was sent to it in these tests


PAGES = ["/", "/0/", "/1/", "/1/samples", "/1/samples?in.error=boundary", "/1/samples/3", "/compare/0/lost"]


@pytest.mark.parametrize("target", PAGES)
def test_pages_are_shown(running: Viewer, target: str) -> None:
    reply = running.ask(target)
    assert reply.status == 200
    assert len(reply.body) == int(reply.headers["content-length"])
    require_harmless(reply.body.decode())


HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cache-control": "no-store",
    "connection": "close",
}


@pytest.mark.parametrize(
    ("target", "method", "status"),
    [
        ("/", "GET", 200),
        ("/nowhere", "GET", 404),
        ("/", "POST", 405),
        ("/", "HEAD", 200),
        ("x", "GET", 400),
        ("*", "HEAD", 400),
        ("http://127.0.0.1/", "HEAD", 400),
    ],
)
def test_every_answer_has_every_header(running: Viewer, target: str, method: str, status: int) -> None:
    reply = running.ask(target, method)
    assert reply.status == status
    assert HEADERS.items() <= reply.headers.items()
    assert "server" not in reply.headers


def test_the_policy_allows_our_script_and_style_alone(running: Viewer) -> None:
    reply = running.ask("/")
    policy = reply.headers["content-security-policy"]
    parts = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    assert parts["default-src"] == parts["base-uri"] == parts["frame-ancestors"] == "'none'"
    assert parts["form-action"] == "'self'"
    for kind in ("style-src", "script-src"):
        assert parts[kind].startswith("'sha256-")
        assert " " not in parts[kind]
    assert "unsafe" not in policy
    own = require_harmless(reply.body.decode()).policy()
    assert own in policy  # the page says the same of itself


def test_the_token_is_in_the_address_once(running: Viewer) -> None:
    reply = running.ask(f"/?token={running.token}", Cookie="")
    assert (reply.status, reply.headers["location"], reply.body) == (303, "/", b"")
    assert reply.headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert running.token not in reply.headers["set-cookie"]
    assert running.ask("/", Cookie="").status == 403
    assert running.ask("/", Cookie=reply.headers["set-cookie"].split(";")[0]).status == 200


@pytest.mark.parametrize("target", [*PAGES, "/?token=", "/?token=wrong", "/0/?token=", "/nowhere"])
def test_without_the_token_nothing_is_shown(running: Viewer, target: str) -> None:
    reply = running.ask(target, Cookie="")
    assert reply.status == 403
    assert "set-cookie" not in reply.headers
    assert "zh-0" not in reply.body.decode()


def test_head_is_get_without_its_page(running: Viewer) -> None:
    whole, head = running.ask("/1/samples"), running.ask("/1/samples", "HEAD")
    assert head.body == b""
    assert head.headers == whole.headers


OUTSIDE = [
    "/../../../../etc/passwd",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/%252e%252e/etc/passwd",
    "//etc/passwd",
    "/etc/passwd",
    "/0/../../etc/passwd",
    "/0/samples.jsonl",
    "/0/report.json",
    "/0/run.json",
    "/0/samples/..%5c..%5cetc",
    "/0/samples/0%00.html",
    "/file:///etc/passwd",
    "/proc/self/environ",
    "/page.js",
    "/favicon.ico",
]


@pytest.mark.parametrize("target", OUTSIDE)
def test_there_is_nothing_outside(running: Viewer, target: str) -> None:
    reply = running.ask(target)
    assert reply.status == 404
    assert b"root:" not in reply.body
    assert b"There is no such page." in reply.body


MALFORMED = [
    b"\r\n\r\n",
    b"\x00\x01\x02\x03\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET /\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET  /  HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost x\r\n\r\n",
    b"GET / HTTP/1.1\r\n: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nX: \x00\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzzz",
    b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: strange\r\n\r\n",
    b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET * HTTP/1.1\r\nHost: x\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),  # TLS
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
]


@pytest.mark.parametrize("data", MALFORMED)
def test_what_is_no_request_gets_an_answer_or_none(running: Viewer, data: bytes) -> None:
    with socket.create_connection(running.address, SECONDS) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = received(connection)
    if answer:
        assert parsed(answer).status in (400, 403, 405, 501)
    assert running.ask("/").status == 200  # and it goes on


@pytest.mark.parametrize(
    "data",
    [
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 30_000 + b"\r\n",
        b"a" * 500_000,
    ],
)
def test_a_huge_head_is_refused(running: Viewer, data: bytes) -> None:
    answer = running.send(data)
    assert parsed(answer).status in (400, 431)
    assert running.ask("/").status == 200


def test_a_head_has_as_many_bytes_as_is_said(running: Viewer) -> None:
    """Also where all of it comes at once."""
    start = f"GET / HTTP/1.1\r\nHost: {running.host}\r\nCookie: {running.cookie}\r\nX: ".encode()
    for length, status in ((MAX_HEAD_BYTES, 200), (MAX_HEAD_BYTES + 2, 431)):
        whole = start + b"a" * (length - len(start) - 4) + b"\r\n\r\n"
        assert (len(whole), parsed(running.send(whole)).status) == (length, status)


def test_a_request_in_pieces_is_put_together(running: Viewer) -> None:
    whole = f"GET /1/samples HTTP/1.1\r\nHost: {running.host}\r\nCookie: {running.cookie}\r\n\r\n".encode()
    assert parsed(running.send(*(whole[at : at + 7] for at in range(0, len(whole), 7)))).status == 200


def test_a_second_request_on_a_connection_is_not_read(running: Viewer) -> None:
    one = f"GET /nowhere HTTP/1.1\r\nHost: {running.host}\r\nCookie: {running.cookie}\r\n\r\n".encode()
    assert running.send(one * 3).count(b"HTTP/1.1 404") == 1


def test_whoever_hangs_up_disturbs_nobody(running: Viewer) -> None:
    for data in (b"", b"GET", f"GET / HTTP/1.1\r\nHost: {running.host}\r\nCookie: {running.cookie}\r\n\r\n".encode()):
        for _ in range(20):
            with socket.create_connection(running.address, SECONDS) as connection:
                connection.sendall(data)
    assert running.ask("/").status == 200


def test_many_who_say_nothing_do_not_stay(running: Viewer) -> None:
    """More connections than are taken: those beyond are closed, and when they are gone everything is as before."""
    for _ in range(20):  # one of an earlier test may still be open
        with ExitStack() as stack:
            idle = [stack.enter_context(socket.create_connection(running.address, SECONDS)) for _ in range(80)]
            assert [received(connection) for connection in idle[MAX_CONNECTIONS:]] == [b""] * 16  # closed at once
            closed, _, _ = select.select(idle[:MAX_CONNECTIONS], [], [], 0)
        if not closed:
            break
        time.sleep(0.1)
    assert not closed
    for _ in range(200):  # the server hears of it in its own time
        try:
            assert running.ask("/").status == 200
            return
        except (IndexError, OSError):
            continue
    pytest.fail("the server does not answer any more")


def test_whoever_is_slow_is_told_so(running: Viewer) -> None:
    with socket.create_connection(running.address, SECONDS) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")  # and no more
        reply = parsed(received(connection))
    assert reply.status == 408
    assert HEADERS.items() <= reply.headers.items()


class _Endless(Site):
    """More than any buffer on the way takes."""

    def answer(self, path: str, query: str) -> SiteResponse:
        return SiteResponse(OK, "x" * (64 << 20))


def test_whoever_does_not_read_the_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "WRITE_SECONDS", 0.1)
    listening = server.listen(0)
    door = AccessControl(listening.getsockname()[1])
    ready = threading.Event()
    with ThreadPoolExecutor(2) as threads:
        running = server._Server(_Endless([], None), door, threads)
        served = threads.submit(lambda: asyncio.run(running.run(listening, ready.set)))
        try:
            assert ready.wait(SECONDS)
            cookie = str(door.admit(HttpRequest("GET", "/", f"token={door.token}"))).split(";")[0]
            with socket.create_connection(listening.getsockname(), SECONDS) as connection:
                head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{door.port}\r\nCookie: {cookie}\r\n\r\n"
                connection.sendall(head.encode())
                connection.recv(1)  # it has begun
                for _ in range(600):
                    if running._open == 0:
                        break
                    time.sleep(0.1)
                assert len(received(connection)) < 64 << 20  # what was left is not kept for it
        finally:
            running.stop(0)
            served.result(SECONDS)
