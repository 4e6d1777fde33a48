"""Compiles the inner loop while a wheel is built, where GOLDGATE_COMPILE is set and a C compiler is there.

Without it the wheel is plain Python. Both have the same sources; the compiled modules stand beside theirs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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

setup(name="goldgate", packages=[], ext_modules=mypycify({arguments!r}, opt_level="3", debug_level="0"))
"""


class CompiledModules(BuildHookInterface):  # type: ignore[type-arg]
    """Adds compiled modules to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not os.environ.get("GOLDGATE_COMPILE") or self.target_name != "wheel" or version == "editable":
            return
        folder = Path(self.directory, "compiled")
        shutil.rmtree(folder, ignore_errors=True)
        for module in compile_modules(Path(self.root), folder):
            build_data["force_include"][str(folder / module)] = str(module)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True


def modules(source: Path) -> list[str]:
    """The modules to compile, in the order of their names."""
    found = [path for name in COMPILED for path in ([source / name] if name.endswith(".py") else (source / name).glob("*.py"))]
    return sorted(str(path.relative_to(source)) for path in found if path.name != "__init__.py")


def compile_modules(root: Path, folder: Path) -> list[Path]:
    """Compile into the folder; the result is the names of the libraries, as they stand beside the sources."""
    shutil.copytree(root / SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    arguments = ["--config-file", str(root / "pyproject.toml"), *modules(folder)]
    (folder / "setup.py").write_text(_SETUP.format(arguments=arguments), encoding="utf-8")
    environment = {**os.environ, "MYPYPATH": "."}
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    return sorted(path.relative_to(folder) for path in folder.rglob("*.so") if "build" not in path.relative_to(folder).parts)


if __name__ == "__main__":
    compile_modules(Path(__file__).parent, Path(sys.argv[1]))
