"""What a wheel has to hold, built as `make dist` builds it; that it works elsewhere, `make dist` tries."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from goldgate.cli.demo import SUITES, demo_files

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (path,) = folder.iterdir()
    return zipfile.ZipFile(path)


def test_a_wheel_holds_every_file_of_the_package_and_no_other(wheel: zipfile.ZipFile) -> None:
    source = ROOT / "src"
    files = [path for path in (source / "goldgate").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == {path.relative_to(source).as_posix() for path in files}
    data = {f"goldgate/demo/data/{suite}/{name}" for suite in SUITES for name in demo_files(suite)}
    assert data | {"goldgate/py.typed"} <= packed


def test_a_wheel_brings_the_command_and_the_plugin(wheel: zipfile.ZipFile) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    entries = wheel.read(name).decode()
    assert "goldgate = goldgate.cli.main:main" in entries
    assert "[pytest11]\ngoldgate = goldgate.pytest_plugin" in entries


def test_who_has_a_wheel_is_told_how_to_get_an_extra(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path / "installed" / "here")
    blocked = "import sys; sys.path.insert(0, 'installed/here'); sys.modules['h11'] = None; "
    program = blocked + "from goldgate.cli.main import main; main()"
    command = [sys.executable, "-c", program, "view", "report"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 2
    assert "with a wheel: pip install 'goldgate-….whl[view]'" in " ".join(done.stderr.split())
