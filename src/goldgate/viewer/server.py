"""A small server for pages on this machine, and the site of stored results.

One request per connection, each within its limits. Who may ask is said by `AccessControl`.
"""

from __future__ import annotations

import asyncio
import errno
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from goldgate.errors import ConfigError, GoldgateError, Place, missing_extra
from goldgate.viewer.access import POST, AccessControl, HttpRequest
from goldgate.viewer.comparison import KINDS, FolderComparison, change_page, changes_page, home_page
from goldgate.viewer.folder import ViewedFolder
from goldgate.viewer.pages import report_page, single_unit_page, site_error_page, site_policy, units_page
from goldgate.viewer.query import SiteLinks, UnitQuery, parse_query

OK, BAD_REQUEST, NOT_FOUND, SERVER_ERROR = 200, 400, 404, 500
_NUMBER, _KIND = r"(0|[1-9][0-9]{0,9})", f"({'|'.join(KINDS)})"
_REPORT = re.compile(rf"/{_NUMBER}/")
_UNITS = re.compile(rf"/{_NUMBER}/samples")
_UNIT = re.compile(rf"/{_NUMBER}/samples/{_NUMBER}")
_CHANGES = re.compile(rf"/compare/{_NUMBER}/{_KIND}")
_CHANGE = re.compile(rf"/compare/{_NUMBER}/{_KIND}/{_NUMBER}")


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


class Site:
    """The pages of these folders. An address is only ever compared with patterns, and gives numbers of a list."""

    def __init__(self, folders: Sequence[ViewedFolder], compared: FolderComparison | None) -> None:
        self._folders = folders
        self._compared = compared
        self._links = SiteLinks()

    @property
    def policy(self) -> str:
        return site_policy()

    def respond(self, request: HttpRequest) -> SiteResponse:
        return self.answer(request.path, request.query)

    def answer(self, path: str, query: str) -> SiteResponse:
        """The page at a path, as it was sent: nothing in it is decoded."""
        try:
            html = self._page(path, parse_query(query))
        except GoldgateError as error:
            return SiteResponse(SERVER_ERROR, self.error_page(str(error)))
        if html is None:
            return SiteResponse(NOT_FOUND, self.error_page(NO_SUCH_PAGE))
        return SiteResponse(OK, html)

    def error_page(self, message: str) -> str:
        return site_error_page(message, "/")

    def _page(self, path: str, choice: UnitQuery) -> str | None:
        folders, compared, links = self._folders, self._compared, self._links
        if path == "/":
            return home_page(folders, compared, links) if len(folders) > 1 else report_page(folders, 0, links)
        if match := _REPORT.fullmatch(path):
            number = int(match[1])
            return report_page(folders, number, links) if number < len(folders) else None
        if match := _UNITS.fullmatch(path):
            number = int(match[1])
            return units_page(folders, number, choice, links) if number < len(folders) else None
        if match := _UNIT.fullmatch(path):
            number, unit = int(match[1]), int(match[2])
            exists = number < len(folders) and unit < len(folders[number].index)
            return single_unit_page(folders, number, unit, choice, links) if exists else None
        return None if compared is None else self._comparison_page(compared, path, choice.page)

    def _comparison_page(self, compared: FolderComparison, path: str, page: int) -> str | None:
        pairs = compared.pairs
        if match := _CHANGES.fullmatch(path):
            pair, kind = int(match[1]), match[2]
            exists = pair < len(pairs)
            return changes_page(self._folders, compared, pair, kind, page, self._links) if exists else None
        if match := _CHANGE.fullmatch(path):
            pair, kind, place = int(match[1]), match[2], int(match[3])
            exists = pair < len(pairs) and place < len(pairs[pair])
            return change_page(self._folders, compared, pair, kind, place, self._links) if exists else None
        return None


NO_SUCH_PAGE = "There is no such page."


def redirect(location: str, headers: Mapping[str, str] = MappingProxyType({})) -> SiteResponse:
    """The answer that leads a browser to another page of the site."""
    return SiteResponse(303, "", {"Location": location, **headers})


try:
    import h11
except ImportError:  # the extra is not installed: `require_extra` says so
    if TYPE_CHECKING:
        raise

MAX_HEAD_BYTES = 16 << 10  # bytes of a request's first line and headers
MAX_BODY_BYTES = 64 << 10  # of a form
MAX_CONNECTIONS = 64
READ_SECONDS = 10.0  # for all of a request
WRITE_SECONDS = 30.0  # for all of an answer
_LINGER_SECONDS, _LINGER_BYTES = 1.0, 1 << 20  # for what a client still sends while it is answered
_CHUNK = 1 << 16
_NO_PORT = (errno.EADDRINUSE, errno.EACCES)
_PORT_ADVICE = "choose another --port, or leave it out for any that is free"

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


def require_extra() -> None:
    """A ConfigError with the command that installs it, where the extra `view` is missing."""
    try:
        import h11  # noqa: F401
    except ImportError:
        raise missing_extra("view", "a page in a browser") from None


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(MAX_CONNECTIONS)
        except BaseException:
            listening.close()
            raise
    except (OSError, UnicodeError, OverflowError) as problem:
        is_port = getattr(problem, "errno", None) in _NO_PORT
        raise ConfigError(
            "view.cannot_listen",
            "the server cannot listen there",
            place=Place(f"{host}:{port}"),
            found=getattr(problem, "strerror", None) or type(problem).__name__,
            advice=_PORT_ADVICE if is_port else "name an address of this machine with --host",
        ) from None
    return listening


def host_name(host: str, listening: socket.socket) -> str:
    """How a browser names the server: a number in any form is the address it stands for, a name is small."""
    try:
        socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return host.lower()
    return str(listening.getsockname()[0])


def serve_site(site: ServedSite, access: AccessControl, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Answer until the process is interrupted. `ready` is called when requests are taken."""
    with ThreadPoolExecutor(1, "pages") as pages:  # one: pages of a site share what they have found
        server = _Server(site, access, pages)
        try:
            with _stop_on_signals(server.stop):
                asyncio.run(server.run(listening, ready))
        except KeyboardInterrupt:
            pass  # this is how it is meant to end
    if server.stopped_by is not None:
        signal.raise_signal(server.stopped_by)


@contextmanager
def _stop_on_signals(stop: Callable[[int], None]) -> Iterator[None]:
    """What would end the process stops the server first: an exception would be lost in one of its tasks."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    replaced = {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}
    for number in replaced:
        signal.signal(number, lambda number, _: stop(number))
    try:
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)


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
        may_enter = refusal is None or refusal.lacks_token
        if (
            may_enter and (cookie := self._access.admit(request)) is not None
        ):  # also with a cookie: no token stays in an address
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
