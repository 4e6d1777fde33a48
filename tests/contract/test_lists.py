"""The lists of the package beside its suites: public names, renderers, errors, the metrics of the specification."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.core.metric import Count, Rate
from goldgate.core.suite import Measure
from goldgate.core.tally import Tally
from goldgate.report import RENDERERS, render
from goldgate.suites import load_suite
from goldgate.suites.extraction.measures import extraction_measures
from goldgate.suites.extraction.settings import CotSettings, ExtractionSettings
from tests.cases import cases

SETTINGS = ExtractionSettings(cot=CotSettings(enabled=True))


@pytest.mark.parametrize("measure", extraction_measures(SETTINGS), ids=lambda measure: type(measure).__name__)
def test_measure_of_nothing_is_zero_or_undefined_with_a_reason(measure: Measure[Any]) -> None:
    for metric in measure.metrics(Tally()).values():
        if isinstance(metric, Rate):
            assert metric.value is None
            assert metric.reason
        else:
            assert metric == Count(0)


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


@cases("format", RENDERERS)
def test_every_renderer_shows_an_error_report(format: str) -> None:
    from goldgate.core.evaluation import error_report
    from goldgate.errors import InputError, Place

    error = InputError("gold.bad_id", "no id", place=Place("gold.jsonl", 3, "id"), expected="an id", found="nothing")
    shown = render(error_report("extraction", error), format)  # type: ignore[arg-type]  # one of the three
    for part in ("SYSTEM", "gold.jsonl", "3"):
        assert part in shown


def test_an_error_keeps_its_place_on_the_way_from_another_process() -> None:
    from goldgate.errors import InputError, Place

    error = InputError("gold.bad_id", "no id", place=Place("g", 3, "id"), expected="x", found="y", advice="z")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.as_json()) == (InputError, error.as_json())


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
