"""Tries what was built: installs each file of `dist/` into an empty environment of its own, outside the checkout, and
runs `goldgate demo` there, and a program that uses it, which mypy checks first. Exit status 0 if all work.

Nothing of the checkout can be imported there: the working directory is a new one, and PYTHONPATH is not handed on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PROGRAM = ROOT / "examples" / "python" / "judge.py"
PROBE = "import goldgate, sys; print(goldgate.__file__); sys.exit(not goldgate.__file__.startswith(sys.prefix))"


def main() -> int:
    wheels, sdists = [*DIST.glob("*.whl")], [*DIST.glob("*.tar.gz")]
    if (len(wheels), len(sdists)) != (1, 1):
        names = sorted(path.name for path in DIST.iterdir())
        print(f"dist has to hold one wheel and one sdist; it holds {names}", file=sys.stderr)
        return 2
    for path in [*wheels, *sdists]:
        with tempfile.TemporaryDirectory() as folder:
            status = install_and_run(path, Path(folder))
        if status:
            print(f"{path.name} does not work", file=sys.stderr)
            return 1
        print(f"{path.name} works: installed into an empty environment, {path.stat().st_size // 1024} KB\n")
    return 0


def install_and_run(path: Path, folder: Path) -> int:
    """Install the file into a new environment and run the demo; the first exit status that is not 0, else 0."""
    venv.create(folder / "env", with_pip=True)
    bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    work = folder / "work"
    work.mkdir()
    shutil.copy(PROGRAM, work)
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    commands = (
        [str(bin / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(path)],
        [str(bin / "python"), "-c", PROBE],
        [str(bin / "goldgate"), "demo", "--out", "demo"],
        [str(bin / "goldgate"), "verify", "demo/report-b", "--records"],
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(bin / "python"), PROGRAM.name],
        [str(bin / "python"), PROGRAM.name],
    )
    for command in commands:
        print("$", *(part.replace(str(folder), "…").replace(sys.executable, "python") for part in command), flush=True)
        demo = command[1:2] == ["demo"]
        done = subprocess.run(command, cwd=work, env=environment, stdout=subprocess.PIPE if demo else None, text=True)
        if demo:
            print("…\n" + "\n".join(done.stdout.splitlines()[-4:]), flush=True)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
