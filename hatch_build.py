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
# What a sample passes through. A module that is not worth it is not here: compiling it would only cost.
COMPILED = (
    "goldgate/suites/extraction/events",
    "goldgate/suites/extraction/response",
    "goldgate/suites/extraction/thought",
    "goldgate/suites/extraction/sample.py",
    "goldgate/suites/extraction/sample_record.py",
    "goldgate/suites/extraction/scorer.py",
    "goldgate/core/tally.py",
    "goldgate/core/sums.py",
    "goldgate/core/finding.py",
)

_SETUP = """
from mypyc.build import mypycify
from setuptools import setup

setup(name="goldgate", packages=[], ext_modules=mypycify({arguments!r}, opt_level={opt_level!r}, debug_level="0"))
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


def modules(source: Path) -> list[str]:
    """The files to compile, in the order of their names."""
    found: list[Path] = []
    for name in COMPILED:
        found += [source / name] if name.endswith(".py") else (source / name).glob("*.py")
    return sorted(path.relative_to(source).as_posix() for path in found if path.name != "__init__.py")


def compile_modules(root: Path, folder: Path, opt_level: str = "3") -> list[Path]:
    """Compile into the folder; the result is the names of the libraries, as they stand beside the sources."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd"))
    # Types are checked by `make check`; what a package that is not here has as types is not needed.
    options = ["--python-version", "3.11", "--ignore-missing-imports", "--config-file", os.devnull]
    setup = _SETUP.format(arguments=[*options, *modules(folder)], opt_level=opt_level)
    (folder / "setup.py").write_text(setup, encoding="utf-8")
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    subprocess.run(command, cwd=folder, env={**os.environ, "MYPYPATH": "."}, check=True)
    shutil.rmtree(folder / "build")
    suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
    return sorted(path.relative_to(folder) for path in folder.rglob(f"*{suffix}"))


def _wanted() -> bool:
    return bool(os.environ.get("GOLDGATE_COMPILE"))


if __name__ == "__main__":  # python hatch_build.py FOLDER: to look at what it makes, or to measure it
    compile_modules(Path(__file__).parent, Path(sys.argv[1]).absolute(), *sys.argv[2:])
