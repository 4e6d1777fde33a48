"""Nothing in the working directory is ever executed, by the command or by its workers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "extraction"
TRAPS = ("socket", "orjson", "random", "click", "yaml", "struct", "pickle", "selectors", "json", "hashlib", "tempfile")
RESEARCH: list[str | Path] = [
    "--golden",
    ROOT / "eval" / "golden_queries.json",
    "--outputs",
    ROOT / "examples" / "research" / "passing",
]
EXTRACTION: list[str | Path] = [
    *("--gold", EXAMPLES / "gold.jsonl", "--predictions", EXAMPLES / "model-a.jsonl"),
    *("--schema", EXAMPLES / "schema.json"),
]
COMMANDS: dict[str, list[str | Path]] = {
    "goldgate": [Path(sys.executable).with_name("goldgate"), "extraction", *EXTRACTION],
    "python -m goldgate": [sys.executable, "-m", "goldgate", "extraction", *EXTRACTION],
    "evaluate.py": [sys.executable, ROOT / "evaluate.py", *EXTRACTION],
    "research": [sys.executable, "-m", "goldgate", "research", *RESEARCH, "--report", "report.json"],
    "scripts/eval.py": [sys.executable, ROOT / "scripts" / "eval.py", *RESEARCH, "--report", "report.json"],
}


SLOW = ("python -m goldgate", "scripts/eval.py")  # `research` starts the same module, `evaluate.py` is the other script


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in COMMANDS])
def test_files_named_like_libraries_are_not_imported(tmp_path: Path, name: str) -> None:
    for trap in TRAPS:
        (tmp_path / f"{trap}.py").write_text(f"open('sprung', 'a').write('{trap} ')\nraise SystemExit(7)\n")
    line = [str(word) for word in (*COMMANDS[name], "--workers", "2", "--quiet")]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()
    assert (done.returncode, done.stderr.removeprefix("NO_GATES  no gates set; scores only\n")) == (0, "")


def test_workers_do_not_import_from_the_working_directory_even_if_the_path_names_it(tmp_path: Path) -> None:
    """A path that the first process was given (`PYTHONPATH=:/more`): it has its libraries when a worker begins."""
    (tmp_path / "socket.py").write_text("open('sprung', 'a').write('socket')\n")
    code = "import sys, socket, orjson, subprocess, tempfile, gzip; sys.path[:0] = ['', '.', sys.argv[1]]; "
    code += "import goldgate; goldgate.evaluate_files(*sys.argv[2:], workers=2)"
    files = [str(EXAMPLES / name) for name in ("gold.jsonl", "model-a.jsonl", "schema.json")]
    line = [sys.executable, "-P", "-c", code, str(tmp_path), *files]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "sprung").exists()
