"""`goldgate label` as a process: who may label, what a kill leaves, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from goldgate.cli.main import goldgate
from tests.viewer.asking import SECONDS, parsed

from .labelling import WORDS, Labeller, form, made_up_items, read_lines, write_lines

pytest.importorskip("h11", reason="the extra `view` is not installed: pip install -e '.[view]'")

COUNT = 400


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lines(tmp_path_factory.mktemp("items") / "items.jsonl", made_up_items(COUNT))


@pytest.fixture(scope="module")
def running(items: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labeller]:
    folder = tmp_path_factory.mktemp("labels")
    labeller = Labeller(items, folder / "labels.jsonl", "--labels", WORDS, "--by", "ann", cache=folder)
    labeller.enter()
    yield labeller
    labeller.interrupt()
    status, errors = labeller.ended()
    assert (status, errors) == (0, "")  # whatever was sent to it in these tests


def labels_of(running: Labeller) -> set[str]:
    return {line["id"] for line in read_lines(running.out)}


def test_the_form_of_the_page_labels_and_leads_to_the_next_item(running: Labeller) -> None:
    reply = running.post(1)
    assert (reply.status, reply.headers["location"], reply.body) == (303, "/items/2?saved=1", b"")
    assert "claim-0" in labels_of(running)
    page = running.ask("/items/2?saved=1")
    assert b"Saved item 1: supported." in page.body
    assert b"Item 2 of 400" in page.body


def test_browsers_are_told_to_name_the_origin_of_forms_and_to_run_nothing_else(running: Labeller) -> None:
    for reply in (running.ask("/items/2"), running.post(1), running.ask("/nowhere"), running.post(1, b"")):
        assert reply.headers["referrer-policy"] == "same-origin"  # else a form's origin is null
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "form-action 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["cache-control"] == "no-store"


REFUSED = {
    "no cookie": {"Cookie": ""},
    "another cookie": {"Cookie": "goldgate-label-1=x"},
    "no origin": {"Origin": ""},
    "no origin of its own": {"Origin": "null"},
    "another origin": {"Origin": "http://evil.example"},
    "another port of this machine": {"Origin": "http://127.0.0.1:9", "Sec_Fetch_Site": "same-site"},
    "by another name": {"Origin": "http://localhost:1"},
    "sent by another site": {"Sec_Fetch_Site": "cross-site"},
    "a click on another site": {
        "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"
    },
    "typed": {"Sec_Fetch_Site": "none"},
    "another host": {"Host": "evil.example"},
}  # fmt: skip


def test_nobody_else_can_label(running: Labeller) -> None:
    before = labels_of(running)
    for name, headers in REFUSED.items():
        assert (name, running.post(7, None, **headers).status) == (name, 403)
    host = running.host.replace("127.0.0.1", "localhost")
    assert running.post(7, Host=host).status == 403  # its origin names it otherwise
    assert running.ask(f"/?token={running.token}", "POST", Cookie="", Origin=f"http://{running.host}").status != 200
    assert labels_of(running) == before
    assert running.post(7, Host=host, Origin=f"http://{host}").status == 303
    assert running.post(8, Sec_Fetch_Site="").status == 303  # an older browser


def test_labels_come_by_post_alone(running: Labeller) -> None:
    before = labels_of(running)
    assert running.ask("/items/9?do=1&note=").status == 200
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "get"):
        reply = running.ask("/items/9", method, Origin=f"http://{running.host}")
        assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, POST")
    assert running.ask("/items/9", "HEAD").body == b""
    assert labels_of(running) == before


def test_a_form_has_a_limit(running: Labeller) -> None:
    fitting = form(do="1", note="")
    assert running.post(10, fitting + b"&x=" + b"y" * (64 << 10)).status == 413
    for length in ("-1", "x", "1" * 30, "5, 6"):
        assert running.post(10, fitting, Content_Length=length).status in (400, 413)
    head = f"POST /items/10 HTTP/1.1\r\nHost: {running.host}\r\nCookie: {running.cookie}\r\n"
    head += f"Origin: http://{running.host}\r\nTransfer-Encoding: chunked\r\n\r\n"
    endless = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    assert parsed(running.send(head.encode(), *[endless] * 20)).status == 413
    assert "claim-9" not in labels_of(running)
    pieces = [f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in (fitting[:3], fitting[3:])]
    assert parsed(running.send(head.encode(), *pieces, b"0\r\n\r\n")).status == 303
    assert "claim-9" in labels_of(running)


def test_a_form_that_ends_too_soon_labels_nothing(running: Labeller) -> None:
    body = form(do="1", note="")
    head = f"POST /items/11 HTTP/1.1\r\nHost: {running.host}\r\nCookie: {running.cookie}\r\n"
    head += f"Origin: http://{running.host}\r\nContent-Length: {len(body) + 5}\r\n\r\n"
    with socket.create_connection(running.address, SECONDS) as connection:
        connection.sendall(head.encode() + body)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 400")
    assert "claim-10" not in labels_of(running)


def test_the_same_form_many_times_at_once_is_one_label(running: Labeller) -> None:
    with ThreadPoolExecutor(8) as threads:
        replies = [*threads.map(lambda number: running.post(20 + number % 2), range(24))]
    assert {reply.status for reply in replies} == {303}
    ids = [line["id"] for line in read_lines(running.out)]
    assert (ids.count("claim-19"), ids.count("claim-20")) == (1, 1)


KILLED = {
    "before anything is written": "os.open = at('.unfinished', os.open)",
    "before it is flushed": "os.fsync = at(None, os.fsync)",
    "before it takes its place": "os.replace = at(None, os.replace)",
    "before the answer": "after(os.replace)",
}
KILLER = """
import os, signal, sys
armed = sys.argv.pop(1)
def die():
    if os.path.exists(armed): os.kill(os.getpid(), signal.SIGKILL)
def at(name, function):
    def called(*arguments, **keywords):
        if name is None or str(arguments[0]).endswith(name): die()
        return function(*arguments, **keywords)
    return called
def after(function):
    def called(*arguments, **keywords):
        function(*arguments, **keywords)
        die()
    os.replace = called
"""


@pytest.mark.parametrize("moment", KILLED)
def test_a_kill_at_any_moment_loses_nothing_and_doubles_nothing(moment: str, items: Path, tmp_path: Path) -> None:
    """The process ends itself in the midst of a label, and is started again: only that label may be missing."""
    out, armed = tmp_path / "labels.jsonl", tmp_path / "armed"
    arguments = [str(items), "--out", str(out), "--labels", WORDS, "--by", "ann", "--no-browser"]
    start = f"{KILLER}\n{KILLED[moment]}\nfrom goldgate.cli.main import main\nmain()"
    process = subprocess.Popen(
        [sys.executable, "-c", start, str(armed), "label", *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    labeller = Labeller.__new__(Labeller)
    labeller.process, address = process, process.stdout.readline().split()[-1]
    labeller.host, labeller.token = address[len("http://") :].split("/?token=")
    labeller.address, labeller.cookie = ("127.0.0.1", int(labeller.host.rpartition(":")[2])), ""
    labeller.enter()
    assert [labeller.post(number).status for number in (1, 2)] == [303, 303]
    armed.touch()
    with pytest.raises((IndexError, OSError)):  # no answer
        labeller.post(3, form(do="2", note="the last one"))
    process.communicate(timeout=SECONDS)
    assert process.returncode == -signal.SIGKILL
    written = [line["id"] for line in read_lines(out)]  # whole lines
    assert written == ["claim-0", "claim-1"] + (["claim-2"] if moment == "before the answer" else [])
    again = Labeller(items, out, "--labels", WORDS, cache=tmp_path)
    try:
        again.enter()
        assert again.ask("/").headers["location"] == f"/items/{len(written) + 1}"
        assert again.post(3, form(do="2", note="the last one")).status == 303  # the person, who saw no answer, again
        assert [line["id"] for line in read_lines(out)] == ["claim-0", "claim-1", "claim-2"]
        again.interrupt()
        assert again.ended() == (0, "")
    finally:
        again.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["armed", "labels.jsonl"]


def test_a_second_page_for_the_same_labels_is_refused_until_the_first_is_gone(items: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels.jsonl"
    first = Labeller(items, out, "--by", "ann", cache=tmp_path)
    try:
        done = CliRunner().invoke(goldgate, ["label", str(items), "--out", str(out), "--no-browser"])
        assert done.exit_code == 2
        assert "label.in_use" in done.stderr
        assert f"process {first.process.pid}" in done.stderr
    finally:
        os.kill(first.process.pid, signal.SIGKILL)  # what it leaves behind locks nothing
        first.close()
    second = Labeller(items, out, "--by", "ann", cache=tmp_path)
    second.interrupt()
    assert second.ended() == (0, "")
    second.close()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_ends_when_it_is_asked_to_and_says_how_far_it_came(
    items: Path, tmp_path: Path, number: int, status: int
) -> None:
    labeller = Labeller(items, tmp_path / "labels.jsonl", "--labels", WORDS, cache=tmp_path)
    try:
        labeller.enter()
        labeller.post(1)
        labeller.interrupt(number)
        assert labeller.process.stdout is not None
        printed = labeller.process.stdout.read()
        assert labeller.ended()[0] == status
    finally:
        labeller.close()
    if status == 0:
        assert printed.endswith(f"1 of {COUNT} items labelled in {tmp_path / 'labels.jsonl'}\n")
    assert not (tmp_path / ".labels.jsonl.lock").exists()


def test_mistakes_are_errors_without_a_traceback(items: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "labels.jsonl")
    (tmp_path / "broken.jsonl").write_text('{"id": "a"\n')
    for arguments, code in (
        ([str(tmp_path / "none.jsonl"), "--out", out], "items.missing"),
        ([str(tmp_path / "broken.jsonl"), "--out", out], "items.not_json"),
        ([str(tmp_path), "--out", out], "items."),
        ([str(items), "--out", str(items)], "out.is_an_input"),
        ([str(items), "--out", out, "--judge", out], "out.is_an_input"),
        ([str(items), "--out", out, "--judge", str(tmp_path / "none.jsonl")], "labels.missing"),
        ([str(items), "--out", out, "--protocol", str(tmp_path / "none.yaml")], "protocol."),
        ([str(items), "--out", f"{items}/labels.jsonl"], "out.unwritable"),
    ):
        done = CliRunner().invoke(goldgate, ["label", *arguments, "--no-browser"])
        assert (done.exit_code, code in done.stderr) == (2, True), (arguments, done.stderr, done.exception)
        assert "Traceback" not in done.stderr
    assert not Path(out).exists()
    assert json.loads(items.read_text().splitlines()[0])["id"] == "claim-0"
