"""Send one request with aiohttp and read the body of its reply, at most 16 MiB. Every fault becomes a `NoAnswer`.

Proxies and certificates come from the environment: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY,
SSL_CERT_FILE, SSL_CERT_DIR, REQUESTS_CA_BUNDLE. They are looked up once: aiohttp's own `trust_env` does
it for every request, and reads ~/.netrc, which could send a second key. Bodies are decompressed here, because
aiohttp decompresses before the size can be checked (1 MB of gzip can be 1 GB).
"""

from __future__ import annotations

import asyncio
import base64
import os
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import goldgate
from goldgate.errors import ConfigError, Place, system_reason
from goldgate.generation.limits import EndpointLimits
from goldgate.generation.reply import read_reply, retry_after_header
from goldgate.generation.request import ModelAnswer, NoAnswer
from goldgate.generation.secret import Secret, read_secret, redact_address

if TYPE_CHECKING:
    import aiohttp


MAX_BODY = 16 * 1024 * 1024  # bytes of a decompressed reply: 10,000 tokens with 20 logprobs each have about as much
LARGE_BODY = 256 * 1024  # a body above this waits for the other large ones, so that memory is bounded for all together
MAX_LARGE_BODIES = 4
ACCEPTED_ENCODINGS = "gzip, deflate"  # what can be decompressed piece by piece without another library

_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_RAW_DEFLATE = -zlib.MAX_WBITS
_PART = 64 * 1024  # decompressed at a time
_MAX_MEMBERS = 100  # gzip members in a row: each takes time and may be empty


@dataclass(frozen=True, slots=True)
class ReplyBody:
    """The body of a reply. After a `problem` it may be cut off, or complete although its length or end was wrong."""

    content: bytes = b""
    problem: Exception | None = None
    too_large: bool = False


async def read_body(pieces: AsyncIterator[bytes], encoding: str, large: asyncio.Semaphore) -> ReplyBody:
    """Read to the end, to the limit, or to where it breaks off. `large` is shared by all replies of a session."""
    content = bytearray()
    received = 0
    holding = False
    unpack = _Unpacker(encoding)
    try:
        async for piece in pieces:
            received += len(piece)
            for part in unpack.feed(piece):
                content += part
                if max(len(content), received) > MAX_BODY:
                    return ReplyBody(too_large=True)
            if len(content) > LARGE_BODY and not holding:
                await large.acquire()
                holding = True
    except Exception as problem:  # in connection, framing or compression: the bytes received are checked
        return ReplyBody(bytes(content), problem)
    finally:
        if holding:
            large.release()
    return ReplyBody(bytes(content))


class _Unpacker:
    """Decompresses into parts of bounded size. What only claims to be compressed comes as it is."""

    def __init__(self, encoding: str) -> None:
        self._deflate = encoding == "deflate"
        self._plain = encoding in ("", "identity")
        self._stream = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._first = True
        self._members = 1

    def feed(self, piece: bytes) -> Iterator[bytes]:
        if self._first and piece and not self._plain:
            self._first = False
            self._plain = piece.lstrip(b" \t\r\n")[:1] in (b"{", b"[")  # neither gzip nor zlib begins so
            if self._deflate and piece[0] & 0x0F != 8:  # without zlib's header, as some servers send it
                self._stream = zlib.decompressobj(_RAW_DEFLATE)
        if self._plain:
            yield piece
            return
        more = False  # zlib has taken all of the piece, and holds back what did not fit into the last part
        while piece or more:
            if self._stream.eof:  # another gzip member may follow
                self._members += 1
                if self._members > _MAX_MEMBERS:
                    raise zlib.error("too many members")
                self._stream = zlib.decompressobj(_GZIP_OR_ZLIB)
            part = self._stream.decompress(piece, _PART)
            yield part
            more = len(part) == _PART and not self._stream.eof
            piece = self._stream.unconsumed_tail or self._stream.unused_data


CONNECT_SECONDS = 30.0
# The first is what servers that keep answers by request look at (a draft of the IETF), the second what one vendor logs.
REQUEST_ID_HEADERS = ("Idempotency-Key", "X-Client-Request-Id")

Send = Callable[[bytes, str], Awaitable[ModelAnswer | NoAnswer]]


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """An endpoint with its limits. Without a `secret`, the key comes from the environment."""

    base_url: str
    limits: EndpointLimits = field(default_factory=EndpointLimits)
    timeout: float = 600.0
    key_variable: str | None = None
    secret: Secret | None = None

    @property
    def address(self) -> str:
        """The address without its query, as it is stored and printed."""
        return redact_address(self.base_url)

    def read_secret(self) -> Secret:
        return self.secret if self.secret is not None else read_secret(self.key_variable)

    @property
    def completions_url(self) -> str:
        """The URL of chat completions; a query (`?api-version=…`) stays at the end."""
        parts = urlsplit(self.base_url)
        path = parts.path.rstrip("/")
        path = path if path.endswith("/chat/completions") else f"{path}/chat/completions"
        return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))

    def advice(self, message: str) -> str | None:
        if "http_401" in message:
            secret = self.read_secret()
            where = f"the environment variable {secret.variable}"
            return f"check the key in {where}" if secret.is_set else f"{where} is not set: put the key into it"
        if "unreachable" in message or "unknown_host" in message:
            return f"is a server running at {self.address}? The same command asks for what is missing"
        if "http_404" in message:
            return "check --base-url (it often ends in /v1) and --model"
        if "http_400" in message:
            return "if the endpoint does not know a parameter, leave it out (--param NAME=null, --response-format text)"
        return None


class Proxy(NamedTuple):
    """A proxy, its user and password apart from its address."""

    address: str
    user: str | None
    password: str


@asynccontextmanager
async def open_session(endpoint: EndpointOptions) -> AsyncIterator[Send]:
    """A function that sends a body under a request id and gives what came of it; connections are kept and shared."""
    import aiohttp

    url = endpoint.completions_url
    secret = endpoint.read_secret().with_address(endpoint.base_url)
    proxy = find_proxy(url)
    certificates = find_certificates() if url.startswith("https:") or proxy is not None else None
    options = _proxy_options(proxy)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": ACCEPTED_ENCODINGS,
        "User-Agent": f"goldgate/{goldgate.__version__}",
        **secret.headers(),
    }
    if proxy is not None and not url.startswith("https:"):
        headers |= options.pop("proxy_headers", {})  # a proxy without TLS reads the request itself
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, ssl=certificates or True),
        headers=headers,
        timeout=aiohttp.ClientTimeout(total=endpoint.timeout, sock_connect=min(CONNECT_SECONDS, endpoint.timeout)),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    ) as session:
        large = asyncio.Semaphore(MAX_LARGE_BODIES)

        async def send(body: bytes, request_id: str) -> ModelAnswer | NoAnswer:
            headers = dict.fromkeys(REQUEST_ID_HEADERS, request_id)
            try:
                async with session.post(url, data=body, headers=headers, **options) as reply:
                    return await _outcome(reply, endpoint, secret, large)
            except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as problem:
                return _fault(problem, endpoint, secret)

        yield send


def find_proxy(address: str) -> Proxy | None:
    """The proxy that the environment names for an address."""
    parts = urlsplit(address)
    proxies = getproxies()
    proxy_url = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy_url or proxy_bypass(parts.netloc):
        return None
    try:
        proxy = urlsplit(proxy_url if "://" in proxy_url else f"http://{proxy_url}")
        usable = proxy.scheme in ("http", "https") and bool(proxy.hostname) and proxy.port != 0
    except ValueError:  # no number, or a port above 65535
        usable = False
    if not usable:
        raise ConfigError(
            "proxy.unusable",
            "the proxy that the environment names cannot be used",
            expected="http://host:port, with a port from 1 to 65535",
            advice=f"look at {parts.scheme.upper()}_PROXY and ALL_PROXY; NO_PROXY names hosts that need none",
        )
    host = f"[{proxy.hostname}]" if ":" in str(proxy.hostname) else proxy.hostname
    port = f":{proxy.port}" if proxy.port else ""
    user = unquote(proxy.username) if proxy.username is not None else None
    return Proxy(f"{proxy.scheme}://{host}{port}", user, unquote(proxy.password or ""))


def find_certificates() -> ssl.SSLContext | None:
    """The certificates that the environment names instead of the system's; None for the system's."""
    for variable in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_DIR"):
        path = os.environ.get(variable)
        if not path:
            continue
        try:
            if Path(path).is_dir():
                return ssl.create_default_context(capath=path)
            return ssl.create_default_context(cafile=path)
        except (OSError, ssl.SSLError) as problem:
            message, reason = f"the certificates that {variable} names cannot be read", system_reason(problem)
            raise ConfigError("certificates.unusable", message, place=Place(path), found=reason) from None
    return None


def _proxy_options(proxy: Proxy | None) -> dict[str, Any]:
    """How a request goes through the proxy. The proxy's own password goes to it, and not through it."""
    options: dict[str, Any] = {"allow_redirects": False}
    if proxy is not None:
        options["proxy"] = proxy.address
        if proxy.user is not None:
            password = base64.b64encode(f"{proxy.user}:{proxy.password}".encode()).decode()
            options["proxy_headers"] = {"Proxy-Authorization": f"Basic {password}"}
    return options


async def _outcome(
    reply: aiohttp.ClientResponse, endpoint: EndpointOptions, secret: Secret, large: asyncio.Semaphore
) -> ModelAnswer | NoAnswer:
    asked = retry_after_header(reply.headers, datetime.now(UTC))
    encoding = reply.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        return NoAnswer("hopeless", "encoding", "the endpoint compresses in a way that was not asked for", billed=True)
    body = await read_body(reply.content.iter_any(), encoding, large)
    if body.too_large:
        return NoAnswer("final", "too_large", f"a body of more than {MAX_BODY:,} bytes", billed=True)
    outcome = read_reply(reply.status, reply.content_type, body.content, secret, asked)
    if body.problem is None or isinstance(outcome, ModelAnswer):  # a whole answer in spite of a wrong length or no end
        return outcome
    return _fault(body.problem, endpoint, secret)


def _fault(problem: Exception, endpoint: EndpointOptions, secret: Secret) -> NoAnswer:
    """A fault of the connection, in our own words: a library's text may hold an address with a password."""
    import aiohttp

    where = endpoint.address
    match problem:
        case aiohttp.ClientConnectorCertificateError() | ssl.SSLCertVerificationError():
            return NoAnswer("hopeless", "certificate", f"the certificate of {where} is not trusted")
        case aiohttp.ClientConnectorDNSError():
            return NoAnswer("again", "unknown_host", f"the host of {where} cannot be found")
        case aiohttp.ClientProxyConnectionError():
            return NoAnswer("again", "proxy_unreachable", "the proxy cannot be reached")
        case aiohttp.ClientHttpProxyError():
            return NoAnswer("again", "proxy", f"the proxy answered {problem.status}")
        case aiohttp.ClientSSLError():
            return NoAnswer("hopeless", "tls", f"no TLS connection with {where}")
        case aiohttp.ConnectionTimeoutError():
            return NoAnswer("again", "connect_timeout", f"no connection with {where}")
        case aiohttp.ClientConnectorError():
            reason = secret.hide(system_reason(problem.os_error))
            return NoAnswer("again", "unreachable", f"no connection with {where}: {reason}")
        case TimeoutError():
            detail = f"no answer in {endpoint.timeout:g} seconds"
            return NoAnswer("again", "timeout", detail, billed=True, undecided=True)
        case aiohttp.ClientPayloadError() | zlib.error():
            detail = "the connection ended in the middle of the answer"
            return NoAnswer("again", "half_answer", detail, billed=True, undecided=True)
        case aiohttp.InvalidURL():
            return NoAnswer("hopeless", "address", "the address cannot be used")
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError() | ConnectionError():
            return NoAnswer("again", "reset", "the connection was reset", billed=True, undecided=True)
        case aiohttp.ClientResponseError():
            return NoAnswer("again", "bad_http", "the reply is not HTTP", billed=True, undecided=True)
    return NoAnswer("again", "connection", type(problem).__name__, billed=True, undecided=True)
