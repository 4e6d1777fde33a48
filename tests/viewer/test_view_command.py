"""`goldgate view` as a user meets it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.main import goldgate
from tests.cases import cases

from .asking import Viewer


def run_process(*arguments: object, code: str) -> subprocess.CompletedProcess[str]:
    """The command, after a line of Python."""
    start = f"import sys\n{code}\nfrom goldgate.cli.main import main\nsys.argv = ['goldgate', *sys.argv[1:]]\nmain()"
    return subprocess.run(
        [sys.executable, "-c", start, "view", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def run(*arguments: object) -> Result:
    return CliRunner().invoke(goldgate, ["view", *map(str, arguments)])


NO_H11 = "sys.modules['h11'] = None"


def test_without_the_extra_it_says_what_to_install(stored: Path) -> None:
    done = run_process(stored / "no such folder", "--no-browser", code=NO_H11)  # before anything is read
    assert done.returncode == 2
    assert "needs the extra `view`" in done.stderr
    assert "pip install -e '.[view]'" in done.stderr
    assert "Traceback" not in done.stderr


@cases(
    ("arguments", "code"),
    [
        (["nowhere", "--no-browser"], "report.not_found"),
        ([__file__, "--no-browser"], "report."),
    ],
)
def test_what_is_no_result_is_an_error(arguments: list[str], code: str) -> None:
    pytest.importorskip("h11")
    done = run(*arguments)
    assert done.exit_code == 2
    assert code.split(".")[0] in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_an_error(stored: Path) -> None:
    pytest.importorskip("h11")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run(stored / "a", "--no-browser", "--port", taken.getsockname()[1])
    assert done.exit_code == 2
    assert "view.cannot_listen" in done.stderr
    assert "--port" in done.stderr


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_ends_when_it_is_asked_to(stored: Path, tmp_path: Path, number: int, status: int) -> None:
    pytest.importorskip("h11")
    viewer = Viewer(stored / "a", cache=tmp_path)
    try:
        viewer.enter()
        with socket.create_connection(viewer.address, 60):  # also while somebody holds a connection
            viewer.interrupt(number)
            ended = viewer.ended()
    finally:
        viewer.close()
    assert ended == (status, "" if status == 0 else "ended by SIGTERM\n")


def test_on_this_machine_alone_it_cannot_be_reached_from_elsewhere(stored: Path, tmp_path: Path) -> None:
    pytest.importorskip("h11")
    viewer = Viewer(stored / "a", cache=tmp_path)
    try:
        own = Path(f"/proc/{viewer.process.pid}/net/tcp")
        if own.exists():
            rows = [line.split() for line in own.read_text().splitlines()[1:]]
            port = f"{viewer.address[1]:04X}"
            listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{port}")]
            assert listening == [f"0100007F:{port}"]  # 127.0.0.1, in the order of its bytes
        viewer.interrupt()
        assert viewer.ended()[0] == 0
    finally:
        viewer.close()


def test_the_browser_is_opened_with_a_token_of_its_own(stored: Path, tmp_path: Path) -> None:
    """Other users see with which address a browser was started: it is good once, and not the printed one."""
    pytest.importorskip("h11")
    said = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {said}.new\nmv {said}.new {said}\n', encoding="utf-8")
    browser.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "goldgate", "view", str(stored / "a")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "BROWSER": f"{browser} %s", "XDG_CACHE_HOME": str(tmp_path)},
    )
    try:
        assert process.stdout is not None
        printed = process.stdout.readline().split()[-1]
        for _ in range(600):
            if said.exists():
                break
            signal.sigtimedwait([], 0.1)
        opened = said.read_text().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert opened.partition("?")[0] == printed.partition("?")[0]
    assert opened != printed
