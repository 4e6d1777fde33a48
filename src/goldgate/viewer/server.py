"""A small server for pages on this machine: one request per connection, each within its limits.

`AccessControl` says which requests are answered: for the right host name, from its own pages, with the token.
"""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import parse_qsl

from goldgate.core.process import handle_signals
from goldgate.errors import ConfigError, Place

try:
    import h11
except ImportError:  # the extra is not installed: `require_extra` says so
    if TYPE_CHECKING:
        raise

OK, BAD_REQUEST, NOT_FOUND, SERVER_ERROR = 200, 400, 404, 500


class SiteResponse(NamedTuple):
    """A page, with the status and the headers of HTTP that go with it."""

    status: int
    html: str
    headers: Mapping[str, str] = MappingProxyType({})


class ServedSite(Protocol):
    """What is served. Its pages are made one at a time."""

    @property
    def policy(self) -> str:
        """The Content-Security-Policy of every page."""

    def respond(self, request: HttpRequest) -> SiteResponse:
        """The answer to a request that access control let pass."""

    def error_page(self, message: str) -> str:
        """A page that says what went wrong."""


NO_SUCH_PAGE = "There is no such page."


def redirect(location: str, headers: Mapping[str, str] = MappingProxyType({})) -> SiteResponse:
    """The answer that leads a browser to another page of the site."""
    return SiteResponse(303, "", {"Location": location, **headers})


LOOPBACK = "127.0.0.1"
MAX_HEAD_BYTES = 16 << 10  # bytes of a request's first line and headers
MAX_BODY_BYTES = 64 << 10  # of a form
MAX_CONNECTIONS = 64
READ_SECONDS = 10.0  # for all of a request
WRITE_SECONDS = 30.0  # for all of an answer
_LINGER_SECONDS, _LINGER_BYTES = 1.0, 1 << 20  # for what a client still sends while it is answered
_CHUNK = 1 << 16

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cache-Control": "no-store",
    "Connection": "close",
}


def listen(port: int) -> socket.socket:
    """A socket that listens on this machine alone; port 0 is any that is free."""
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen(MAX_CONNECTIONS)
    except OSError as problem:
        listening.close()
        raise ConfigError(
            "view.cannot_listen",
            "the server cannot listen there",
            place=Place(f"{LOOPBACK}:{port}"),
            found=problem.strerror,
            advice="choose another --port, or leave it out for any that is free",
        ) from None
    return listening


def serve_site(site: ServedSite, access: AccessControl, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Answer until the process is interrupted. `ready` is called when requests are taken."""
    with ThreadPoolExecutor(1, "pages") as pages:  # one: pages of a site share what they have found
        server = _Server(site, access, pages)
        try:
            # An exception would be lost in one of the server's tasks: what would end the process stops it first.
            with handle_signals(server.stop, (signal.SIGTERM, signal.SIGHUP)):
                asyncio.run(server.run(listening, ready))
        except KeyboardInterrupt:
            pass  # this is how it is meant to end
    if server.stopped_by is not None:
        signal.raise_signal(server.stopped_by)


class _Server:
    def __init__(self, site: ServedSite, access: AccessControl, pages: ThreadPoolExecutor) -> None:
        self._site = site
        self._access = access
        self._pages = pages
        self._open = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = asyncio.Event()
        self.stopped_by: int | None = None  # the number of a signal

    def stop(self, number: int) -> None:
        """Stop serving on a signal."""
        self.stopped_by = number
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._ended.set)

    async def run(self, listening: socket.socket, ready: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._connected, sock=listening)
        ready()
        try:
            if self.stopped_by is None:
                await self._ended.wait()
        finally:
            server.close()  # open connections are not waited for

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= MAX_CONNECTIONS:
                await self._converse(reader, writer)
        except (OSError, TimeoutError, asyncio.CancelledError):
            pass  # the client is gone or too slow, or the server ends: Python 3.11 prints what is cancelled
        finally:
            self._open -= 1
            writer.transport.abort()  # what was not sent by now is dropped

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
        head_only = False
        try:
            async with asyncio.timeout(READ_SECONDS):
                request = await _read(connection, reader)
                reply = None if request is None else self._refuse(request)
                if request is not None and reply is None and request.method == POST:
                    request = replace(request, body=await _read_body(connection, reader))
            if request is None:
                return
            head_only = request.method == "HEAD"
            reply = await self._answer(request) if reply is None else reply
        except TimeoutError:
            reply = self._error(408, "The request took too long.")
        except h11.RemoteProtocolError as problem:
            reply = self._error(problem.error_status_hint, _UNREADABLE)
        except _TooLargeError:
            reply = self._error(413, "The form is too large.")
        except ValueError:
            reply = self._error(BAD_REQUEST, _UNREADABLE)
        async with asyncio.timeout(WRITE_SECONDS):
            await _write(connection, writer, reply, self._site.policy, head_only=head_only)
        await _linger(reader, writer)

    def _refuse(self, request: HttpRequest) -> SiteResponse | None:
        """The answer to a request that is refused, or that comes to get its cookie; None for any other."""
        refusal = self._access.refuse(request)
        cookie = self._access.admit(request) if refusal is None or refusal.lacks_token else None
        if cookie is not None:  # also for a request that had one: no token stays in an address
            return redirect("/", {"Set-Cookie": cookie})
        return None if refusal is None else self._error(refusal.status, refusal.message, refusal.headers)

    async def _answer(self, request: HttpRequest) -> SiteResponse:
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pages, self._site.respond, request)
        except Exception as problem:  # a fault of our own must not end the server
            return self._error(
                SERVER_ERROR, f"This page cannot be shown, which is a fault of goldgate: {type(problem).__name__}."
            )

    def _error(self, status: int, message: str, headers: Mapping[str, str] = MappingProxyType({})) -> SiteResponse:
        return SiteResponse(status, self._site.error_page(message), headers)


class _TooLargeError(Exception):
    """A request has a body of more than MAX_BODY_BYTES."""


_UNREADABLE = "This is not a request that can be read."


async def _read(connection: h11.Connection, reader: asyncio.StreamReader) -> HttpRequest | None:
    """The head of a request; None where there is none. What comes behind it is read only where it is a form."""
    left = MAX_HEAD_BYTES + 1  # with one byte too many h11 refuses it
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            data = await reader.read(left)
            left -= len(data)
            connection.receive_data(data)
        elif isinstance(event, h11.Request):
            path, _, query = event.target.decode("ascii").partition("?")
            headers = [(name.decode("ascii"), value.decode("latin-1")) for name, value in event.headers]
            return HttpRequest(event.method.decode("ascii"), path, query, headers)
        else:
            return None


async def _read_body(connection: h11.Connection, reader: asyncio.StreamReader) -> bytes:
    parts, left = list[bytes](), MAX_BODY_BYTES
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_CHUNK))
        elif isinstance(event, h11.Data):
            parts.append(bytes(event.data))
            left -= len(event.data)
            if left < 0:
                raise _TooLargeError
        else:  # the end: a connection that closes before it is a RemoteProtocolError
            return b"".join(parts)


async def _write(
    connection: h11.Connection, writer: asyncio.StreamWriter, reply: SiteResponse, policy: str, *, head_only: bool
) -> None:
    writer.transport.set_write_buffer_limits(0)  # it is waited for until all is sent
    body = reply.html.encode("utf-8", "backslashreplace")
    headers = {**HEADERS, "Content-Security-Policy": policy, **reply.headers, "Content-Length": str(len(body))}
    events: list[h11.Event] = [h11.Response(status_code=reply.status, headers=[*headers.items()])]
    events += [] if head_only else [h11.Data(data=body)]
    for event in (*events, h11.EndOfMessage()):
        writer.write(connection.send(event) or b"")
    await writer.drain()


async def _linger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Let the client read the answer: a connection closed on unread bytes would take it away."""
    writer.write_eof()
    left = _LINGER_BYTES
    async with asyncio.timeout(_LINGER_SECONDS):
        while left > 0 and (data := await reader.read(_CHUNK)):
            left -= len(data)


READING = ("GET", "HEAD")
POST = "POST"
TOKEN = "token"  # its name in an address
_MAX_FIELDS = 100
_OWN_SITES = ("same-origin", "none")  # what a browser calls our own pages, and what a person typed or opened


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What is known of a request. Names of headers are small."""

    method: str
    path: str  # as it was sent
    query: str
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""  # of a form, read when the request is not refused

    def header(self, name: str) -> list[str]:
        """Every header of this name."""
        return [value for key, value in self.headers if key == name]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request gets no page."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    lacks_token: bool = False  # and nothing else


@dataclass
class AccessControl:
    """The token is in the address that is printed; a request with it gets a cookie, which is enough from then on.

    A site that takes forms also takes POST, which must say that it comes from a page of this site.
    """

    port: int
    command: str = "view"  # which printed the address
    takes_forms: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _once: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """The address of the site with the token."""
        return self._address(self.token)

    def address_once(self) -> str:
        """The address with a token for one use: other users can see the command line of a browser."""
        self._once.append(secrets.token_urlsafe(32))
        return self._address(self._once[-1])

    def _address(self, token: str) -> str:
        return f"http://{LOOPBACK}:{self.port}/?{TOKEN}={token}"

    def refuse(self, request: HttpRequest) -> Refusal | None:
        """Why a request is refused; None if it may see the page."""
        methods = (*READING, POST) if self.takes_forms else READING
        if request.method not in methods:
            only = " and ".join(", ".join(methods).rsplit(", ", 1))
            return Refusal(405, f"Only {only}: nothing else can be done here.", {"Allow": ", ".join(methods)})
        if not request.path.startswith("/"):
            return Refusal(400, "This is not a request that can be read.")
        hosts = request.header("host")
        if len(hosts) != 1 or hosts[0].lower() not in (f"{LOOPBACK}:{self.port}", f"localhost:{self.port}"):
            return Refusal(403, "This server does not go by that name.")
        if any(origin != f"http://{hosts[0]}" for origin in request.header("origin")):
            return Refusal(403, "Pages of other sites may not ask this server.")
        if not _is_own_site(request):
            return Refusal(403, "Pages of other sites may not load from this server.")
        if request.method == POST and not _is_own_form(request):
            return Refusal(403, "Forms are taken only from the pages of this server.")
        if self._has_cookie(request):
            return None
        message = f"Open the address that goldgate {self.command} printed: it has a token in it."
        return Refusal(403, message, lacks_token=True)

    def admit(self, request: HttpRequest) -> str | None:
        """The cookie to set for a request that lacked nothing else, and comes with the token; None for any other."""
        token = query_fields(request.query).get(TOKEN)
        if request.path != "/" or token is None or not self._is_token(token):
            return None
        return f"{self._name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"

    @property
    def _name(self) -> str:
        return f"goldgate-{self.command}-{self.port}"  # cookies know no ports, and two servers must not share them

    def _is_token(self, text: str) -> bool:
        if any(_equal_in_constant_time(text, once) for once in self._once):
            self._once.clear()
            return True
        return _equal_in_constant_time(text, self.token)

    def _has_cookie(self, request: HttpRequest) -> bool:
        """Whether our cookie is among those of the request, which may be of any server on this machine.

        They are read by hand: Python's reader gives up at one that is not well made, and takes long over some.
        """
        pairs = [pair.strip().partition("=") for value in request.header("cookie") for pair in value.split(";")]
        return any(_equal_in_constant_time(value, self._cookie) for name, _, value in pairs if name == self._name)


def _is_own_site(request: HttpRequest) -> bool:
    """Whether our own page asks, or a person who follows a link; False for what another site loads into its pages."""
    sites = request.header("sec-fetch-site")
    followed = request.header("sec-fetch-mode") == ["navigate"] and request.header("sec-fetch-dest") == ["document"]
    return all(site in _OWN_SITES for site in sites) or followed


def _is_own_form(request: HttpRequest) -> bool:
    """Whether it names its origin, which was compared before, and no page elsewhere sent it, not even by a click."""
    return len(request.header("origin")) == 1 and all(
        site == "same-origin" for site in request.header("sec-fetch-site")
    )


def _equal_in_constant_time(text: str, secret: str) -> bool:
    """Whether they are equal; it takes the same time, wherever they differ."""
    return compare_digest(text.encode("utf-8", "replace"), secret.encode())


def query_fields(query: str, most: int = _MAX_FIELDS) -> dict[str, str]:
    """The fields of an address's query, or of a form; none where there are too many."""
    try:
        return dict(parse_qsl(query, keep_blank_values=True, max_num_fields=most, errors="replace"))
    except ValueError:
        return {}
