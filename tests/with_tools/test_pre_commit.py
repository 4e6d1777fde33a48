"""The hook for pre-commit: installed by pre-commit itself from a repository, and run on changed gold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ("src", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")


def run(*command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def commit(folder: Path) -> None:
    """Everything in the folder, committed to a new repository of its own, with a tag."""
    name = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    for command in (("init", "-q"), ("add", "-A"), (*name, "commit", "-qm", "All"), ("tag", "v0.1.0")):
        done = run("git", *command, folder=folder)
        assert done.returncode == 0, done.stdout


def _repository_form(template: str) -> str:
    """The form of the template that is commented out, with a revision."""
    _, _, rest = template.partition("  # Or let pre-commit install")
    lines = [line.replace("  # ", "  ", 1) for line in rest.splitlines()[1:]]
    return "\n".join(["repos:", *lines, ""]).replace("REV ", "v0.1.0 ")


@pytest.fixture(params=["local", "repository"])
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A repository with gold and the template as its configuration, and goldgate's own repository inside it."""
    folder = tmp_path / "repository"
    (folder / "data").mkdir(parents=True)
    for name in ("gold.jsonl", "schema.json"):
        shutil.copy(ROOT / "examples" / "extraction" / name, folder / "data")
    template = (ROOT / "examples" / "ci" / "pre-commit-config.yaml").read_text(encoding="utf-8")
    text = template if request.param == "local" else _repository_form(template)
    (folder / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    (folder / ".gitignore").write_text("/goldgate/\n")
    commit(folder)
    (folder / "goldgate").mkdir()
    for name in PACKAGE:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / "goldgate" / name)
    commit(folder / "goldgate")
    return folder


def test_the_hook_stops_gold_with_a_mistake_and_no_other_file(repository: Path, tmp_path: Path) -> None:
    def pre_commit() -> subprocess.CompletedProcess[str]:
        assert run("git", "add", "-A", folder=repository).returncode == 0
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        home = str(tmp_path / "cache")
        return run(sys.executable, "-m", "pre_commit", "run", folder=repository, PRE_COMMIT_HOME=home, PATH=path)

    (repository / "golden_queries.json").write_text("not gold\n")
    untouched = pre_commit()
    assert untouched.returncode == 0, untouched.stdout
    assert "no files to check" in untouched.stdout
    gold = repository / "data" / "gold.jsonl"
    lines = gold.read_text(encoding="utf-8").splitlines(keepends=True)
    gold.write_text("".join([*lines, lines[0]]), encoding="utf-8")
    stopped = pre_commit()
    assert stopped.returncode == 1, stopped.stdout
    assert "gold.duplicate_id" in stopped.stdout
    gold.write_text("".join(lines[1:]), encoding="utf-8")
    passed = pre_commit()
    assert passed.returncode == 0, passed.stdout
    assert "Passed" in passed.stdout
