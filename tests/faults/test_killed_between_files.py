"""A run that is killed between any two of its files: a result is of one run, or it has no verdict."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click import Command
from click.testing import CliRunner

from goldgate.cli.stored_results import baseline_command
from goldgate.cli.suite_command import suite_command
from goldgate.files.writing import LOCK_FILE, UNFINISHED_SUFFIX

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
STEPS = ("replace", "rename", "unlink", "remove")


def extraction(model: str, *more: object) -> list[str]:
    folder = EXAMPLES / "extraction"
    given = [
        "--gold",
        folder / "gold.jsonl",
        "--predictions",
        folder / model,
        "--schema",
        folder / "schema.json",
        *more,
    ]
    return [str(each) for each in given]


def research(kind: str, *more: object) -> list[str]:
    outputs = EXAMPLES / "research" / kind
    return [str(each) for each in ("--golden", ROOT / "eval" / "golden_queries.json", "--outputs", outputs, *more)]


def killed_after(steps: int, command: Command, arguments: list[str]) -> bool:
    """Run a command in a process that is killed before it changes a name for the n-th time; whether it was."""
    child = os.fork()
    if child == 0:
        try:
            count_down(steps, lambda: os.kill(os.getpid(), signal.SIGKILL))
            CliRunner().invoke(command, arguments)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def count_down(steps: int, then: Callable[[], None]) -> None:
    left = steps

    def counted(step: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object, **options: object) -> None:
            nonlocal left
            if left == 0:
                then()
            left -= 1
            step(*arguments, **options)

        return call

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a result; what is unfinished is none."""
    files = [path for path in folder.iterdir() if path.suffix not in (UNFINISHED_SUFFIX, Path(LOCK_FILE).suffix)]
    return {path.name: path.read_bytes() for path in files}


def kills(tmp_path: Path, command: Command, arguments: list[str], before: Path) -> Iterator[Path]:
    """The folder after each kill, one step later every time until the command is done. It begins as `before`."""
    for steps in range(40):
        out = tmp_path / "now"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(before, out)
        was_killed = killed_after(steps, command, arguments)
        yield out
        if not was_killed:
            assert steps > 1
            return
    raise AssertionError("it never ended")


@pytest.mark.parametrize(
    ("suite", "older", "newer"),
    [
        ("extraction", extraction("model-b.jsonl"), extraction("model-a.jsonl")),
        ("extraction", extraction("model-a.jsonl"), extraction("nowhere.jsonl")),
        ("research", research("failing"), research("passing")),
    ],
    ids=["extraction", "system error", "research"],
)
def test_a_verdict_stands_only_beside_its_own_records(
    tmp_path: Path, suite: str, older: list[str], newer: list[str]
) -> None:
    command, before, after = suite_command(suite), tmp_path / "before", tmp_path / "after"
    for folder, arguments in ((before, older), (after, newer)):
        CliRunner().invoke(command, [*arguments, "--out", str(folder)])
    seen = []
    for out in kills(tmp_path, command, [*newer, "--out", str(tmp_path / "now")], before):
        now = contents(out)
        if "report.json" not in now:
            seen.append("nothing")
            continue
        (whole,) = (folder for folder in (before, after) if contents(folder)["report.json"] == now["report.json"])
        seen.append(whole.name)
        assert {**now, "run.json": b""} == {**contents(whole), "run.json": b""}  # which has the time
    assert list(dict.fromkeys(seen)) == ["before", "nothing", "after"]


def test_a_report_that_is_named_is_never_of_another_run_than_the_folder(tmp_path: Path) -> None:
    command, before = suite_command("research"), tmp_path / "before"
    places = ["--out", str(tmp_path / "now"), "--report", str(tmp_path / "now.json")]
    for kind in ("passing", "failing"):
        CliRunner().invoke(command, [*research(kind), *places])
        (tmp_path / "now").rename(tmp_path / kind)
        (tmp_path / "now.json").rename(tmp_path / f"{kind}.json")
    (tmp_path / "passing").rename(before)
    for steps in range(40):
        shutil.rmtree(tmp_path / "now", ignore_errors=True)
        shutil.copytree(before, tmp_path / "now")
        shutil.copy(tmp_path / "passing.json", tmp_path / "now.json")
        was_killed = killed_after(steps, command, [*research("failing"), *places])
        found = {
            (path.exists() and path.read_bytes()) or None
            for path in (tmp_path / "now.json", tmp_path / "now" / "report.json")
        }
        assert len(found - {None}) < 2
        if not was_killed:
            assert found == {(tmp_path / "failing.json").read_bytes()}
            return
    raise AssertionError("it never ended")


def test_a_baseline_is_whole_or_not_there(tmp_path: Path) -> None:
    for model in ("a", "b"):
        CliRunner().invoke(
            suite_command("extraction"), [*extraction(f"model-{model}.jsonl"), "--out", str(tmp_path / model)]
        )
    make = [str(tmp_path / "a"), "--out", str(tmp_path / "before")]
    assert CliRunner().invoke(baseline_command, make).exit_code == 0
    old = contents(tmp_path / "before")
    names = []
    for out in kills(
        tmp_path, baseline_command, [str(tmp_path / "b"), "--out", str(tmp_path / "now")], tmp_path / "before"
    ):
        now = contents(out)
        names.append("baseline.json" in now)
        is_new = now.get("baseline.json") not in (None, old["baseline.json"])
        assert "baseline.json" not in now or (now["units.bin"] != old["units.bin"]) == is_new
    assert False in names


@pytest.mark.parametrize("problem", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_step_that_fails_leaves_the_older_result_or_no_verdict(tmp_path: Path, problem: int) -> None:
    command, before = suite_command("extraction"), tmp_path / "before"
    CliRunner().invoke(command, [*extraction("model-a.jsonl"), "--out", str(before)])
    whole = contents(before)
    for steps in range(1, 12):
        out = tmp_path / str(steps)
        shutil.copytree(before, out)

        def fail() -> None:
            raise OSError(problem, os.strerror(problem))

        with pytest.MonkeyPatch.context() as patch:
            for name in STEPS:
                patch.setattr(os, name, getattr(os, name))
            count_down(steps, fail)
            found = CliRunner().invoke(command, [*extraction("model-b.jsonl"), "--out", str(out)])
        assert "Traceback" not in found.output
        now = contents(out)
        if found.exit_code == 2:
            assert "report.json" not in now or now == whole
            assert "out.unwritable" in found.output
