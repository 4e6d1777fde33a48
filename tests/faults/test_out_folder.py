"""`--out` and `--report`: one run at a time, and an older report until the new one is complete."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.out_folder import REPORT_FILES as OTHERS
from goldgate.cli.out_folder import SAMPLES, OutFolder
from goldgate.cli.stored_results import baseline_command
from goldgate.cli.suite_command import suite_command
from goldgate.errors import ConfigError
from goldgate.files.writing import LOCK_FILE, FolderLock, write_file

NAMES = (SAMPLES, *OTHERS)

EXAMPLES = Path(__file__).parents[2] / "examples" / "extraction"


def run(out: Path, *more: str) -> Result:
    options = ["--gold", EXAMPLES / "gold.jsonl", "--predictions", EXAMPLES / "model-a.jsonl"]
    options += ["--schema", EXAMPLES / "schema.json", "--out", out, *more]
    return CliRunner().invoke(suite_command("extraction"), [str(option) for option in options])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_second_run_is_told_who_is_there_and_touches_nothing(tmp_path: Path) -> None:
    assert run(tmp_path).exit_code == 0
    before = contents(tmp_path)
    lock = FolderLock(tmp_path)
    result = run(tmp_path)
    assert result.exit_code == 2
    assert "out.in_use" in result.stderr
    assert f"process {os.getpid()} on " in result.stderr
    lock.release()
    assert contents(tmp_path) == before
    assert run(tmp_path).exit_code == 0


def test_run_in_a_folder_where_a_model_is_being_asked_is_refused(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"")
    with journal.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        result = run(tmp_path)
    assert (result.exit_code, contents(tmp_path)) == (2, {"journal.jsonl": b""})
    assert "out.in_use" in result.stderr
    assert run(tmp_path).exit_code == 0


def test_lock_of_a_killed_process_holds_nobody(tmp_path: Path) -> None:
    code = "from goldgate.files.writing import FolderLock; from pathlib import Path; import os\n"
    code += f"lock = FolderLock(Path({str(tmp_path)!r})); os.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert (tmp_path / LOCK_FILE).exists()
    (tmp_path / "samples.jsonl.unfinished").write_text("half a run")
    assert run(tmp_path).exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == set(NAMES)


def test_older_report_stays_while_a_run_goes_on(tmp_path: Path) -> None:
    assert run(tmp_path).exit_code == 0
    before = contents(tmp_path)
    folder = OutFolder(str(tmp_path), [])
    folder.open_samples().write(b"half")
    assert {name: content for name, content in contents(tmp_path).items() if name in NAMES} == before
    folder.close()  # as after an interrupt
    assert contents(tmp_path) == before


def test_older_report_stays_if_the_new_one_cannot_be_written(tmp_path: Path) -> None:
    assert run(tmp_path).exit_code == 0
    before = contents(tmp_path)
    folder = OutFolder(str(tmp_path), [])
    (tmp_path / "report.md.unfinished").mkdir()
    with pytest.raises(ConfigError, match="cannot be written"):
        folder.publish({"report.json": b"{}", "report.md": b""}, with_samples=False)
    (tmp_path / "report.md.unfinished").rmdir()
    folder.close()
    assert contents(tmp_path) == before


def test_folder_made_for_nothing_goes_again(tmp_path: Path) -> None:
    OutFolder(str(tmp_path / "a" / "b"), []).close()
    assert list(tmp_path.iterdir()) == []


def test_unfinished_name_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    out = tmp_path / "out"
    out.mkdir()
    for name in (*(f"{name}.unfinished" for name in NAMES), LOCK_FILE):
        (out / name).symlink_to(tmp_path / "victim")
    result = run(out)
    assert result.exit_code == 2  # the lock is a link
    (out / LOCK_FILE).unlink()
    assert run(out).exit_code == 0
    assert (tmp_path / "victim").read_text() == "precious"


@pytest.mark.parametrize("name", ["samples.jsonl.unfinished", LOCK_FILE])
def test_input_under_a_name_of_ours_is_not_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes((EXAMPLES / "gold.jsonl").read_bytes())
    result = run(tmp_path, "--gold", str(tmp_path / name))
    assert result.exit_code == 2
    assert "out.is_an_input" in result.stderr
    assert (tmp_path / name).read_bytes() == (EXAMPLES / "gold.jsonl").read_bytes()


def test_one_file_replaces_what_a_killed_process_left(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    (tmp_path / "report.json.unfinished").write_text("half of a much longer report")
    write_file(str(path), b"{}", "--report")
    assert contents(tmp_path) == {"report.json": b"{}"}


def test_one_file_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "report.json.unfinished").symlink_to(tmp_path / "victim")
    write_file(str(tmp_path / "report.json"), b"{}", "--report")
    assert contents(tmp_path) == {"report.json": b"{}", "victim": b"precious"}


def test_one_file_does_not_replace_a_device_or_a_pipe(tmp_path: Path) -> None:
    write_file(os.devnull, b"{}", "--report")
    assert not os.path.isfile(os.devnull)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_file(str(tmp_path / "pipe"), b"{}", "--report")
    assert os.read(reader, 10) == b"{}"
    os.close(reader)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_one_file_is_whole_however_many_write_it(tmp_path: Path) -> None:
    code = "import sys; from goldgate.files.writing import write_file\n"
    code += "for _ in range(30): write_file(sys.argv[1], sys.argv[2].encode() * 200_000, '--report')"
    path = tmp_path / "report.json"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), letter]) for letter in "ab"]
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            assert path.read_bytes() in (b"a" * 200_000, b"b" * 200_000)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_run_record_without_a_working_directory_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "getcwd", gone)
    assert run(tmp_path).exit_code == 0
    assert json.loads((tmp_path / "run.json").read_bytes())["folder"] is None


def test_on_a_file_system_without_locks_no_lock_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("goldgate.files.writing.fcntl.flock", refuse)
    assert run(tmp_path / "out").exit_code == 0
    assert sorted(contents(tmp_path / "out")) == sorted(NAMES)
    OutFolder(str(tmp_path / "other"), []).close()
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("name", ["a" * 300, "/".join(["a" * 200] * 30)])
def test_name_that_is_too_long_is_named_as_the_cause(tmp_path: Path, name: str) -> None:
    result = run(tmp_path / name)
    assert result.exit_code == 2
    assert "out.unwritable" in result.stderr
    assert os.strerror(errno.ENAMETOOLONG) in result.stderr


@pytest.mark.parametrize("content", ["my notes", "7 on a\nnext line", "7", "x" * 5_000])
@pytest.mark.parametrize("locks", [True, False])
def test_file_of_somebody_else_under_the_name_of_the_lock_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, locks: bool
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    if not locks:
        monkeypatch.setattr("goldgate.files.writing.fcntl.flock", refuse)
    (tmp_path / LOCK_FILE).write_text(content)
    result = run(tmp_path)
    assert result.exit_code == 2
    assert "out.not_ours" in result.stderr
    assert contents(tmp_path) == {LOCK_FILE: content.encode()}


@pytest.mark.parametrize("option", ["--out", "--report"])
@pytest.mark.parametrize("kind", ["results", "baseline"])
def test_what_a_gate_compares_with_stays_as_it_is(tmp_path: Path, option: str, kind: str) -> None:
    """Refused, and not even the refusal is written there."""
    main = tmp_path / "main"
    assert run(main).exit_code == 0
    if kind == "baseline":
        assert CliRunner().invoke(baseline_command, [str(main), "--out", str(tmp_path / "base")]).exit_code == 0
        main = tmp_path / "base"
    protocol = tmp_path / "protocol.yaml"
    protocol.write_text(f"gates: {{strict_f1: {{max_drop: 0.02, against: {main.name}}}}}")
    before = contents(main)
    given = [] if option == "--out" else ["--report", str(main / min(before))]
    found = run(main if option == "--out" else tmp_path / "new", "--protocol", str(protocol), *given)
    assert (found.exit_code, "against.overwritten" in found.output) == (2, True)
    assert {name: data for name, data in contents(main).items() if name != LOCK_FILE} == before


def test_a_baseline_does_not_go_among_results(tmp_path: Path) -> None:
    assert run(tmp_path / "main").exit_code == run(tmp_path / "other").exit_code == 0
    before = contents(tmp_path / "main")
    found = CliRunner().invoke(baseline_command, [str(tmp_path / "other"), "--out", str(tmp_path / "main")])
    assert (found.exit_code, "against.two_runs" in found.output) == (2, True)
    assert contents(tmp_path / "main") == before
