"""A web server on loopback that can be told to behave badly."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ENDLESS = 256 << 20
SECRET = "X-Amz-Signature=2c1743a391305fbf367df8e4f069f9f9"


@dataclass
class Site:
    """What the server has, and how it behaves."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    etags: bool = True
    says_size: bool = True
    status: int = 200  # of every answer
    cut: int = 0  # so many answers end in the middle
    stall: float = 0.0  # seconds before an answer
    endless: bool = False  # answers go on after the file's end, for ENDLESS bytes
    denies: bool = False  # asked about a file, it says that there are no bytes
    garbage: bytes = b""  # in place of every answer
    shift: int = 0  # ranges are given from so many bytes before
    version: int = 1
    other: dict[str, bytes] = field(default_factory=dict)  # files of another version, for answers after the first
    trickle: float = 0.0  # seconds between two bytes of an answer
    page: bytes = b""  # in answer to whoever lists a bucket of S3
    served: list[tuple[str, str]] = field(default_factory=list)  # path, range
    sent: int = 0  # bytes of endless answers

    def url(self, name: str) -> str:
        return f"{self.address}/{name}"


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
    server.daemon_threads = True
    site.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self, *, with_body: bool) -> None:
            name = self.path.partition("?")[0].lstrip("/")
            time.sleep(site.stall)
            if site.garbage:
                self.wfile.write(site.garbage)
                self.close_connection = True
                return
            if site.page and "list-type=2" in self.path:
                site.served.append(("list", ""))
                self._head(200, {"Content-Type": "application/xml", "Content-Length": str(len(site.page))})
                self.wfile.write(site.page)
                return
            if site.status != 200 or name not in site.files:
                self._head(site.status if site.status != 200 else 404, {"Content-Length": "0"})
                return
            changed = name in site.other and any(served == name for served, _ in site.served)
            data = site.other[name] if changed and with_body else site.files[name]
            status, headers = 200, {"Accept-Ranges": "bytes" if site.ranges else "none"}
            if site.etags:
                headers["ETag"] = f'"{site.version + (changed and with_body)}"'
            wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            if wanted and site.ranges:
                begin, end = int(wanted[1]) - site.shift, int(wanted[2]) + 1 - site.shift
                headers["Content-Range"] = f"bytes {begin}-{min(end, len(data)) - 1}/{len(data)}"
                data, status = data[begin:end], 206
            if with_body:
                site.served.append((name, wanted[0] if wanted else ""))
            if site.endless and with_body:
                self._head(status, {**headers, "Connection": "close"})
                self._go_on()
                return
            if site.denies and not with_body:
                data = b""
            if site.says_size or status == 206:
                headers["Content-Length"] = str(len(data))
            else:
                headers["Connection"] = "close"
            self._head(status, headers)
            if not with_body:
                return
            if site.trickle:
                self._trickle(data)
                return
            if site.cut > 0:
                site.cut -= 1
                self.wfile.write(data[: len(data) // 2])
                self.close_connection = True
                return
            self.wfile.write(data)

        def _trickle(self, data: bytes) -> None:
            with suppress(OSError):  # the client has closed the connection
                for at in range(len(data)):
                    self.wfile.write(data[at : at + 1])
                    self.wfile.flush()
                    time.sleep(site.trickle)

        def _go_on(self) -> None:
            with suppress(OSError):  # nobody listens any more
                while site.sent < ENDLESS:
                    site.sent += self.wfile.write(b" " * (1 << 20))

        def _head(self, status: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if headers.get("Connection") == "close":
                self.close_connection = True

    return Handler
