"""One request to an OpenAI-compatible endpoint, on aiohttp (the extra `api`). Every fault becomes a NoAnswer.

Proxies and certificates come from the environment: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY,
SSL_CERT_FILE, SSL_CERT_DIR, REQUESTS_CA_BUNDLE. They are looked up once: aiohttp's own `trust_env` does
it for every request, and reads ~/.netrc, which could send a second key.
"""

from __future__ import annotations

import asyncio
import base64
import os
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import goldgate
from goldgate.core.missing_extra import missing_extra
from goldgate.errors import ConfigError, Place
from goldgate.generation.answerers.openai.body import ACCEPTED, LARGE_AT_ONCE, MAX_BODY, read_body, readable
from goldgate.generation.answerers.openai.reply import read_reply
from goldgate.generation.answerers.openai.waiting import asked_pause
from goldgate.generation.outcome import Answer, NoAnswer
from goldgate.generation.secret import Secret, shown_address

if TYPE_CHECKING:
    import aiohttp

CONNECT_SECONDS = 30.0
# The first is what servers that keep answers by request look at (a draft of the IETF), the second what one vendor logs.
REQUEST_ID_HEADERS = ("Idempotency-Key", "X-Client-Request-Id")

Send = Callable[[bytes, str], Awaitable[Answer | NoAnswer]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask, and how patiently."""

    base_url: str
    secret: Secret
    concurrency: int = 32
    timeout: float = 600.0

    @property
    def address(self) -> str:
        """Of the chat completions; a query (`?api-version=…`) stays at the end."""
        parts = urlsplit(self.base_url)
        path = parts.path.rstrip("/")
        path = path if path.endswith("/chat/completions") else f"{path}/chat/completions"
        return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


class Proxy(NamedTuple):
    """A proxy, its user and password apart from its address."""

    address: str
    user: str | None
    password: str


def require_aiohttp() -> None:
    """An error that says what to install, before anything is done."""
    try:
        import aiohttp  # noqa: F401
    except ModuleNotFoundError:
        raise missing_extra("api", "asking an endpoint") from None


@asynccontextmanager
async def connect(endpoint: Endpoint) -> AsyncIterator[Send]:
    """A function that sends a body under a request id and gives what came of it; connections are kept and shared."""
    import aiohttp

    proxy = find_proxy(endpoint.address)
    certificates = find_certificates() if endpoint.address.startswith("https:") or proxy is not None else None
    headers, options = _headers(endpoint), _proxy_options(proxy)
    if proxy is not None and not endpoint.address.startswith("https:"):
        headers |= options.pop("proxy_headers", {})  # a proxy without TLS reads the request itself
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, ssl=certificates or True),
        headers=headers,
        timeout=aiohttp.ClientTimeout(total=endpoint.timeout, sock_connect=min(CONNECT_SECONDS, endpoint.timeout)),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    ) as session:
        large = asyncio.Semaphore(LARGE_AT_ONCE)

        async def send(body: bytes, request_id: str) -> Answer | NoAnswer:
            named = dict.fromkeys(REQUEST_ID_HEADERS, request_id)
            try:
                async with session.post(endpoint.address, data=body, headers=named, **options) as reply:
                    return await _outcome(reply, endpoint, large)
            except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as problem:
                return _fault(problem, endpoint)

        yield send


def find_proxy(address: str) -> Proxy | None:
    """The proxy that the environment names for an address."""
    parts = urlsplit(address)
    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    if not named or proxy_bypass(parts.netloc):
        return None
    try:
        found = urlsplit(named if "://" in named else f"http://{named}")
        usable = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
    except ValueError:  # no number, or a port above 65535
        usable = False
    if not usable:
        raise ConfigError(
            "proxy.unusable",
            "the proxy that the environment names cannot be used",
            expected="http://host:port, with a port from 1 to 65535",
            advice=f"look at {parts.scheme.upper()}_PROXY and ALL_PROXY; NO_PROXY names hosts that need none",
        )
    host = f"[{found.hostname}]" if ":" in str(found.hostname) else found.hostname
    port = f":{found.port}" if found.port else ""
    user = unquote(found.username) if found.username is not None else None
    return Proxy(f"{found.scheme}://{host}{port}", user, unquote(found.password or ""))


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
            reason = getattr(problem, "strerror", None) or type(problem).__name__
            raise ConfigError(
                "certificates.unusable", f"the certificates that {variable} names cannot be read",
                place=Place(path), found=reason,
            ) from None  # fmt: skip
    return None


def _headers(endpoint: Endpoint) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": ACCEPTED,
        "User-Agent": f"goldgate/{goldgate.__version__}",
        **endpoint.secret.headers(),
    }


def _proxy_options(proxy: Proxy | None) -> dict[str, Any]:
    """How a request goes through the proxy. The proxy's own password goes to it, and not through it."""
    options: dict[str, Any] = {"allow_redirects": False}
    if proxy is not None:
        options["proxy"] = proxy.address
        if proxy.user is not None:
            password = base64.b64encode(f"{proxy.user}:{proxy.password}".encode()).decode()
            options["proxy_headers"] = {"Proxy-Authorization": f"Basic {password}"}
    return options


async def _outcome(reply: aiohttp.ClientResponse, endpoint: Endpoint, large: asyncio.Semaphore) -> Answer | NoAnswer:
    asked = asked_pause(reply.headers, datetime.now(UTC))
    encoding = reply.headers.get("Content-Encoding", "")
    if not readable(encoding):
        return NoAnswer("hopeless", "encoding", "the endpoint compresses in a way that nobody asked for", billed=True)
    body = await read_body(reply.content.iter_any(), encoding, large)
    if body.too_large:
        return NoAnswer("final", "too_large", f"a body of more than {MAX_BODY:,} bytes", billed=True)
    outcome = read_reply(reply.status, reply.content_type, body.content, endpoint.secret, asked)
    if body.problem is None or isinstance(outcome, Answer):  # a whole answer in spite of a wrong length or no end
        return outcome
    return _fault(body.problem, endpoint)


def _fault(problem: Exception, endpoint: Endpoint) -> NoAnswer:
    """A fault of the connection, in our own words: a library's text may hold an address with a password."""
    import aiohttp

    where = shown_address(endpoint.base_url)
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
            reason = problem.os_error.strerror or type(problem.os_error).__name__
            return NoAnswer("again", "unreachable", f"no connection with {where}: {endpoint.secret.hide(reason)}")
        case TimeoutError():
            told = f"no answer in {endpoint.timeout:g} seconds"
            return NoAnswer("again", "timeout", told, billed=True, undecided=True)
        case aiohttp.ClientPayloadError() | zlib.error():
            told = "the connection ended in the middle of the answer"
            return NoAnswer("again", "half_answer", told, billed=True, undecided=True)
        case aiohttp.InvalidURL():
            return NoAnswer("hopeless", "address", "the address cannot be used")
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError() | ConnectionError():
            return NoAnswer("again", "reset", "the connection was reset", billed=True, undecided=True)
        case aiohttp.ClientResponseError():
            return NoAnswer("again", "bad_http", "the reply is not HTTP", billed=True, undecided=True)
    return NoAnswer("again", "connection", type(problem).__name__, billed=True, undecided=True)
