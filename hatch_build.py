"""Compiles the inner loop while a wheel is built, where GOLDGATE_COMPILE is set. Without it the wheel is plain Python.

Both have the same sources: the compiled modules stand beside those that they were made of, and Python prefers them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "src"
_EXTRACTION = "goldgate/suites/extraction"
# Functions that every sample passes through. What travels to workers and back, and what others make subclasses of, is
# left as it is: compiled classes are not pickled as plain ones are (docs/decisions/0012-compiled.md).
COMPILED = (
    f"{_EXTRACTION}/events/event.py",
    f"{_EXTRACTION}/events/largest_matching.py",
    f"{_EXTRACTION}/events/match.py",
    f"{_EXTRACTION}/events/mistakes.py",
    f"{_EXTRACTION}/events/normalize.py",
    f"{_EXTRACTION}/events/occurrences.py",
    f"{_EXTRACTION}/events/read_events.py",
    f"{_EXTRACTION}/events/relaxed_rule.py",
    f"{_EXTRACTION}/events/spelling.py",
    f"{_EXTRACTION}/events/usual_events.py",
    f"{_EXTRACTION}/response/read.py",
    f"{_EXTRACTION}/response/template.py",
    f"{_EXTRACTION}/thought/copied_thought.py",
    f"{_EXTRACTION}/thought/named_in_thought.py",
)

# Types are checked by `make check`; those of packages that are not here are not needed.
_SETUP = """
from mypyc.build import mypycify
from setuptools import setup

options = ["--python-version", "3.11", "--ignore-missing-imports", "--config-file="]
setup(name="goldgate", packages=[], ext_modules=mypycify([*options, *{modules!r}], opt_level="3", debug_level="0"))
"""


class CompiledModules(BuildHookInterface):  # type: ignore[type-arg]
    """Adds compiled modules to a wheel."""

    def dependencies(self) -> list[str]:
        return ["mypy", "setuptools"] if _wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not _wanted() or version == "editable":  # a library beside sources that change would hide the changes
            return
        folder = Path(self.directory).absolute() / "compiled"
        try:
            for library in compile_modules(Path(self.root), folder):
                build_data["force_include"][str(folder / library)] = str(library)
        except subprocess.CalledProcessError:
            compiler = sysconfig.get_config_var("CC") or "cc"
            raise SystemExit(
                "goldgate could not be compiled, see above. It takes a C compiler"
                f" ({compiler.split()[0]}), the headers of Python, mypy and setuptools.\n"
                "Without GOLDGATE_COMPILE it is installed as plain Python and does the same."
            ) from None
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(Path(self.directory, "compiled"), ignore_errors=True)


def compile_modules(root: Path, folder: Path) -> list[Path]:
    """Compile into the folder; the result is the names of the libraries, as they stand beside the sources."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd"))
    (folder / "setup.py").write_text(_SETUP.format(modules=COMPILED), encoding="utf-8")
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    subprocess.run(command, cwd=folder, env={**os.environ, "MYPYPATH": "."}, check=True)
    shutil.rmtree(folder / "build")
    suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
    return sorted(path.relative_to(folder) for path in folder.rglob(f"*{suffix}"))


def _wanted() -> bool:
    return bool(os.environ.get("GOLDGATE_COMPILE"))


if __name__ == "__main__":  # python hatch_build.py FOLDER: to look at what it makes, or to measure it
    compile_modules(Path(__file__).parent, Path(sys.argv[1]).absolute())
