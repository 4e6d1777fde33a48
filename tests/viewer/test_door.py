"""Who may ask: every reason to refuse, and no more than these."""

from __future__ import annotations

import pytest

from goldgate.viewer.server import AccessControl, HttpRequest
from tests.cases import cases

PORT = 8642
NAME = f"goldgate-view-{PORT}"


def request(path: str = "/", query: str = "", method: str = "GET", **headers: str) -> HttpRequest:
    given = {"host": f"127.0.0.1:{PORT}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return HttpRequest(method, path, query, [*given.items()])


def cookie_of(door: AccessControl) -> str:
    cookie = door.admit(request(query=f"token={door.token}"))
    assert cookie is not None
    return cookie.split(";")[0]


def refused(door: AccessControl, asked: HttpRequest) -> int | None:
    refusal = door.refuse(asked)
    return None if refusal is None else refusal.status


@pytest.fixture
def door() -> AccessControl:
    return AccessControl(PORT)


def test_with_the_cookie_a_page_is_shown(door: AccessControl) -> None:
    assert refused(door, request("/0/samples", cookie=cookie_of(door))) is None
    assert refused(door, request(method="HEAD", cookie=f"other=1; {cookie_of(door)}; third=3")) is None


def test_the_cookie_is_for_this_site_and_no_script(door: AccessControl) -> None:
    parts = str(door.admit(request(query=f"token={door.token}"))).split("; ")
    assert parts[1:] == ["Path=/", "HttpOnly", "SameSite=Strict"]
    assert parts[0].startswith(f"goldgate-view-{PORT}=")
    assert door.token not in parts[0]


@pytest.mark.parametrize(
    "cookie", ["", "x", "=", ";;;", "\x00", "é=ü", f"goldgate-view-{PORT}=", f"goldgate-view-{PORT}=x"]
)
def test_without_it_the_page_says_what_is_missing(door: AccessControl, cookie: str) -> None:
    refusal = door.refuse(request(cookie=cookie))
    assert refusal is not None
    assert refusal.status == 403
    assert refusal.lacks_token
    assert "goldgate view printed" in refusal.message


@pytest.mark.parametrize(
    "others",
    ['prefs={"a":1}; {}', "a b=1; {}", "x=(1,2); {}; y", '{}; z="\\\\', f"{NAME}=x; {{}}", f"{{}}; {NAME}=x", ";{};"],
)
def test_cookies_of_other_programs_of_this_machine_do_not_hide_it(door: AccessControl, others: str) -> None:
    """Cookies do not know ports: whatever else runs here may have set some, well made or not."""
    assert refused(door, request(cookie=others.replace("{}", cookie_of(door)))) is None


def test_a_cookie_of_another_door_is_none(door: AccessControl) -> None:
    assert refused(door, request(cookie=cookie_of(AccessControl(PORT)))) == 403


@pytest.mark.parametrize("query", ["", "token=", "token=x", "token", "tok=1", "&" * 5_000, "token=%FF", "token=%00"])
def test_only_the_token_opens(door: AccessControl, query: str) -> None:
    assert door.admit(request(query=query)) is None
    assert door.admit(request("/0/", query=f"token={door.token}")) is None  # and only at the entrance
    assert door.admit(request("//elsewhere.example/", query=f"token={door.token}")) is None


def test_the_address_for_the_browser_is_good_once(door: AccessControl) -> None:
    query = door.address_once().partition("?")[2]
    assert door.token not in query
    assert door.admit(request(query=query)) is not None
    assert door.admit(request(query=query)) is None
    assert door.admit(request(query=door.address.partition("?")[2])) is not None  # the printed one stays


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "X"])
def test_nothing_but_reading(door: AccessControl, method: str) -> None:
    refusal = door.refuse(request(method=method, cookie=cookie_of(door)))
    assert refusal is not None
    assert (refusal.status, refusal.headers, refusal.lacks_token) == (405, {"Allow": "GET, HEAD"}, False)


@pytest.mark.parametrize("target", ["*", "http://127.0.0.1/", "elsewhere", ""])
def test_nothing_but_a_path(door: AccessControl, target: str) -> None:
    assert refused(door, request(target, cookie=cookie_of(door))) == 400


HOSTS = [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"LOCALHOST:{PORT}"]
OTHERS = [
    "",
    "127.0.0.1",
    "localhost",
    "127.0.0.1:1",
    f"evil.example:{PORT}",
    f"127.0.0.1.evil.example:{PORT}",
    f"localhost.evil.example:{PORT}",
    f"localhost:{PORT}.evil.example",
    f"192.168.1.5:{PORT}",
    f"::1:{PORT}",
    f"[127.0.0.1]:{PORT}",
    f"[evil.example]:{PORT}",
    f"user@127.0.0.1:{PORT}",
    f"127.0.0.1:{PORT}, evil.example:{PORT}",
    f"0.0.0.0:{PORT}",
    f"127.0.0.1:٨{PORT}",
    "[::1]",
    f"[::1]:{PORT}",
    f"127.0.0.2:{PORT}",
    "[",
    "]",
    ":",
]


@pytest.mark.parametrize("host", HOSTS)
def test_its_own_names(door: AccessControl, host: str) -> None:
    assert refused(door, request(host=host, cookie=cookie_of(door))) is None


@pytest.mark.parametrize("host", OTHERS)
def test_no_other_name_even_with_the_token(door: AccessControl, host: str) -> None:
    """Another name is how a page elsewhere would come in by DNS rebinding."""
    refusal = door.refuse(request(host=host, cookie=cookie_of(door), query=f"token={door.token}"))
    assert refusal is not None
    assert (refusal.status, refusal.lacks_token) == (403, False)


def test_one_name_and_not_two(door: AccessControl) -> None:
    host, cookie = ("host", f"127.0.0.1:{PORT}"), ("cookie", cookie_of(door))
    assert refused(door, HttpRequest("GET", "/", "", [host, cookie])) is None
    assert refused(door, HttpRequest("GET", "/", "", [host, host, cookie])) == 403
    assert refused(door, HttpRequest("GET", "/", "", [cookie])) == 403


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", f"https://127.0.0.1:{PORT}", "http://127.0.0.1", f"http://localhost:{PORT}"],
)
def test_other_origins_are_refused(door: AccessControl, origin: str) -> None:
    assert refused(door, request(cookie=cookie_of(door), origin=origin)) == 403
    assert refused(door, request(cookie=cookie_of(door), origin=f"http://127.0.0.1:{PORT}")) is None


@pytest.mark.parametrize(
    ("site", "mode", "dest", "allowed"),
    [
        ("same-origin", "navigate", "document", True),
        ("none", "navigate", "document", True),
        ("cross-site", "navigate", "document", True),  # a link that a person follows: without the cookie it is no use
        ("cross-site", "navigate", "iframe", False),
        ("cross-site", "no-cors", "image", False),
        ("cross-site", "no-cors", "script", False),
        ("same-site", "cors", "empty", False),  # another port of this machine
        ("same-site", "no-cors", "style", False),
    ],
)
def test_what_other_sites_load_is_refused(door: AccessControl, site: str, mode: str, dest: str, allowed: bool) -> None:
    asked = request(cookie=cookie_of(door), sec_fetch_site=site, sec_fetch_mode=mode, sec_fetch_dest=dest)
    assert (refused(door, asked) is None) is allowed


FORM = {"origin": f"http://127.0.0.1:{PORT}", "sec_fetch_site": "same-origin"}


@cases(
    ("headers", "status"),
    [
        ({}, None),
        ({"sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}, None),
        ({"origin": None}, 403),  # a browser names it
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:1", "sec_fetch_site": "same-site"}, 403),  # its cookie would come with it
        ({"sec_fetch_site": "none"}, 403),
        ({"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}, 403),
    ],
)
def test_a_site_with_forms_takes_its_own_alone(headers: dict[str, str | None], status: int | None) -> None:
    door = AccessControl(PORT, "label", takes_forms=True)
    given = {name: value for name, value in {**FORM, **headers}.items() if value is not None}
    assert refused(door, request(method="POST", cookie=cookie_of(door), **given)) == status
    assert refused(door, request(method="POST", **given)) == 403  # without the cookie
    assert refused(AccessControl(PORT), request(method="POST", **given)) == 405
