"""The lists of the package beside its suites: public names, renderers, errors, the metrics of the specification."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import goldgate
from goldgate.suites import load_suite


def test_the_specification_names_are_all_there() -> None:
    families = [f"{kind}_{rate}" for kind in ("strict", "relaxed", "type") for rate in ("precision", "recall", "f1")]
    parse = ["parse_raw_success", "parse_repair_success", "parse_errors", "parse_extraction_failures"]
    rates = ["schema_compliance_rate", "hallucination_rate", "hallucination_entity_rate"]
    cot = ["cot_type_consistency", "cot_argument_consistency", "cot_faithfulness", "cot_coverage_rate"]
    assert {*families, *parse, *rates, *cot} <= _known("extraction")


def test_every_public_name_can_be_imported() -> None:
    for name in goldgate.__all__:
        assert getattr(goldgate, name) is not None
    assert sorted(goldgate.__all__) == goldgate.__all__


def _known(name: str) -> set[str]:
    """The metrics of a suite."""
    suite = load_suite(name)
    return {*suite.known_metrics(suite.settings())}


# What users import by these names is of one suite.
_SUITE_API = {"__init__.py", "rewards.py", "inspect_scorer.py"}


def test_nothing_outside_its_folder_names_a_suite() -> None:
    package = Path(goldgate.__file__).parent
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        if not name.startswith("suites/") and name not in _SUITE_API:
            text = path.read_text(encoding="utf-8").replace("parse_extraction_failures", "")  # a metric of every reader
            match = re.search(r"(?i:extraction|research)|suites\.(?:fields|judged)", text)  # fields is a word
            assert match is None, f"{name} says {match[0]}: let the suite say it (core/suite.py), or use another word"


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
