"""One public name, one thing: no two modules define a class or a function of the same name."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import goldgate

ROOT = Path(goldgate.__file__).parent
STARTS_OF_PROCESSES = {"main"}  # called by the module's name, as in every program


def test_no_two_modules_define_the_same_public_name() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for path in ROOT.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] != "_":
                modules[node.name].append(str(path.relative_to(ROOT)))
    shared = {name: sorted(paths) for name, paths in modules.items() if len(paths) > 1}
    assert shared.keys() <= STARTS_OF_PROCESSES, f"rename all but one of each, or begin it with _: {shared}"


def test_there_are_at_most_250_modules() -> None:
    modules = [*ROOT.rglob("*.py")]
    assert len(modules) <= 250, "put it into the module that imports it, or merge two others"
