"""Which requests the server answers: for the right host name, from its own pages, with the token."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from ipaddress import IPv4Address, IPv6Address, ip_address

from goldgate.viewer.query import query_fields

READING = ("GET", "HEAD")
POST = "POST"
TOKEN = "token"  # its name in an address
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

    host: str
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
        """An address that a browser on this machine can open."""
        host = self.host
        if is_everywhere(host):
            host = "::1" if ":" in host else "127.0.0.1"
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?{TOKEN}={token}"

    def refuse(self, request: HttpRequest) -> Refusal | None:
        """Why a request is refused; None if it may see the page."""
        methods = (*READING, POST) if self.takes_forms else READING
        if request.method not in methods:
            only = " and ".join(", ".join(methods).rsplit(", ", 1))
            return Refusal(405, f"Only {only}: nothing else can be done here.", {"Allow": ", ".join(methods)})
        if not request.path.startswith("/"):
            return Refusal(400, "This is not a request that can be read.")
        hosts = request.header("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return Refusal(403, "This server does not go by that name.")
        if any(origin != f"http://{hosts[0]}" for origin in request.header("origin")):
            return Refusal(403, "Pages of other sites may not ask this server.")
        if not _is_own_site(request):
            return Refusal(403, "Pages of other sites may not load from this server.")
        if request.method == POST and not _is_own_form(request):
            return Refusal(403, "Forms are taken only from the pages of this server.")
        if self._has_cookie(request):
            return None
        return Refusal(
            403, f"Open the address that goldgate {self.command} printed: it has a token in it.", lacks_token=True
        )

    def admit(self, request: HttpRequest) -> str | None:
        """The cookie to set for a request that lacked nothing else, and comes with the token; None for any other."""
        token = query_fields(request.query).get(TOKEN)
        if request.path != "/" or token is None or not self._is_token(token):
            return None
        return f"{self._name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"

    @property
    def _name(self) -> str:
        return (
            f"goldgate-{self.command}-{self.port}"  # cookies do not know ports: two servers must not take each other's
        )

    def _is_token(self, text: str) -> bool:
        if any(_equal_in_constant_time(text, once) for once in self._once):
            self._once.clear()
            return True
        return _equal_in_constant_time(text, self.token)

    def _has_cookie(self, request: HttpRequest) -> bool:
        """Whether it is among the cookies, which may be anyone's: those of this machine do not know ports.

        They are read by hand: Python's reader gives up at one that is not well made, and takes long over some.
        """
        pairs = [pair.strip().partition("=") for value in request.header("cookie") for pair in value.split(";")]
        return any(_equal_in_constant_time(value, self._cookie) for name, _, value in pairs if name == self._name)

    def _is_ours(self, authority: str) -> bool:
        """Whether a Host header names this server: by its address, or as localhost where it listens there."""
        name, port = _split(authority)
        if port != self.port or name is None:
            return False
        if name == self.host.lower():
            return True
        if is_everywhere(self.host):
            return (
                name == "localhost" or _address(name) is not None
            )  # an address cannot be rebound, any other name could
        return is_loopback(self.host) and (name == "localhost" or is_loopback(name))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def is_everywhere(host: str) -> bool:
    """Whether it stands for every address of this machine."""
    address = _address(host)
    return address is not None and address.is_unspecified


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None


def _split(authority: str) -> tuple[str | None, int | None]:
    """Name and port of a Host header; an IPv6 address has brackets around it."""
    name, colon, port = authority.lower().rpartition(":")
    if not colon or authority.endswith("]"):
        name, port = authority.lower(), "80"
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
        if not isinstance(_address(name), IPv6Address):
            return None, None
    elif ":" in name:
        return None, None
    return name, int(port) if port.isascii() and port.isdigit() and len(port) < 6 else None


def _is_own_site(request: HttpRequest) -> bool:
    """Not what another site loads into its own page; a link on it that a person follows is none of that."""
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
