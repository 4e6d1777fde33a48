"""A profile adds its measures to everything that reads measures, and without one nothing changes."""

from __future__ import annotations

import importlib
import json
import pkgutil
from inspect import isabstract
from pathlib import Path
from typing import Any, get_args

import pytest
from click import Command
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import goldgate
from goldgate.cli.stored_results import power_command, verify_command
from goldgate.cli.suite_command import suite_command
from goldgate.core.evaluation import render_json
from goldgate.core.measure import RatioMeasure
from goldgate.errors import ConfigError
from goldgate.report import RENDERERS, VERDICT_FORMATS, render, render_page
from goldgate.runs.comparison_page import describe_comparison
from goldgate.suites import load_suite
from goldgate.suites.extraction import papers
from goldgate.suites.extraction.papers import ALL, PROFILES
from goldgate.suites.extraction.settings import ExtractionSettings, Profile
from tests.cases import cases, error_from

from .made import event, judge, settings, triple

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "extraction"
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_every_profile_is_a_setting_and_every_measure_of_the_folder_is_in_one() -> None:
    assert {*get_args(Profile)} == {*PROFILES, ALL}
    submodules = [
        importlib.import_module(f"{papers.__name__}.{each.name}") for each in pkgutil.iter_modules(papers.__path__)
    ]
    defined = {
        kind
        for module in (papers, *submodules)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, RatioMeasure) and not isabstract(kind)
    }
    assert defined == {make for made in PROFILES.values() for make in made}


def test_every_metric_of_a_profile_is_documented() -> None:
    suite = load_suite("extraction")
    known, usual = (
        suite.known_metrics(settings) for settings in (ExtractionSettings(profile="all"), ExtractionSettings())
    )
    added = known.keys() - usual.keys()
    assert len(added) == 18 + 3 + 2 * 10 + 6 + 3
    families = {name.removesuffix("_precision").removesuffix("_recall").removesuffix("_f1") for name in added}
    assert {name for name in families if f"`{name}" not in PAGE} == set()


def test_without_a_profile_there_are_no_such_numbers() -> None:
    report = goldgate.evaluate(
        [{"id": "1", "events": []}], [], protocol={"metrics": {"schema": {"mode": "syntax_only"}}}, allow_empty=True
    ).report
    assert "papers" not in report["metrics"]
    assert "profile" not in report["signature"]


def test_the_signature_names_the_profile_and_its_version() -> None:
    assert "|profile:duee-fin.v3" in judge("duee-fin", [], []).report["signature"]


def test_an_unknown_profile_is_refused_with_those_there_are() -> None:
    error = error_from(ConfigError, judge, "text-ee", [], [])
    assert "textee or doc2edag or duee-fin or values or all" in str(error.as_json())


@cases("format", [name for name in RENDERERS if name not in VERDICT_FORMATS])
def test_every_renderer_shows_what_a_profile_adds(format: Any) -> None:
    names = ("textee_ac_plus_f1", "doc2edag_multi_f1", "duee_fin_record_f1", "values_f1", "duee_fin_below_best")
    events = [event("T", ("A", "a")), event("T", ("A", "b"))]
    protocol = settings(ALL) | {"gates": {name: {"min": 0} for name in names}}  # some renderers show gates only
    records = [{"id": "1", "events": events}]
    shown = render(goldgate.evaluate(records, records, protocol=protocol).report, format)
    for name in names:
        assert name.removesuffix("_f1") in shown.replace("\\_", "_")


def test_a_report_with_a_profile_fits_its_contract() -> None:
    report = judge(ALL, [event("T", ("A", "a"), trigger=("x", 0, 1))], [event("T", ("A", "b"))]).report
    schema = json.loads((ROOT / "contracts" / "extraction_report.schema.json").read_bytes())
    Draft202012Validator(schema).validate(json.loads(render_json(report)))


def test_it_stands_out_where_a_number_is_not_the_published_one() -> None:
    gold = [event("T", ("A", "a"), ("B", "c")), event("T", ("A", "z"), ("B", "b"))]
    answer = [event("T", ("A", "a"), ("B", "b")), event("T", ("A", "a"), ("B", "c"))]
    found = {each["code"]: each["counts"] for each in judge(ALL, gold, answer).report["stands_out"]}
    assert found["compared_by_text"] == {"samples": 1, "of": 1}
    assert found["below_best"] == {"below": 1, "of": 1}
    placed = [event("T", ("A", "a", 0, 1))]
    assert {each["code"] for each in judge(ALL, placed, placed).report["stands_out"]} == {"no_gates"}


def test_rates_have_intervals_and_gates_can_be_set_on_them_their_parts_and_their_average() -> None:
    golds = [[event("T", ("A", str(n))), event("U", ("A", str(n)))] for n in range(6)]
    answers = [[event("T", ("A", str(n))), event("U", ("A", str(n % 2)))] for n in range(6)]
    protocol = settings("doc2edag") | {
        "gates": {
            "doc2edag_f1": {"min": 0.6},
            "doc2edag_f1[T]": {"min": 1},
            "doc2edag_best_recall[U]": {"max": 0.4},  # 2 of 6
            "doc2edag_f1_macro": {"min": 0.66},
            "doc2edag_below_best": {"max": 0},
            "doc2edag_multi_f1": {"min": 0.6},
            "doc2edag_role_f1[U/A]": {"max": 0.4},
            "doc2edag_role_f1_macro_roles": {"min": 0.66},
        }
    }
    found = goldgate.evaluate(
        [{"id": str(n), "events": events} for n, events in enumerate(golds)],
        [{"id": str(n), "events": events} for n, events in enumerate(answers)],
        protocol=protocol,
    )
    assert [gate["verdict"] for gate in found.report["gates"]] == ["PASS"] * 8
    assert found.report["metrics"]["papers"]["doc2edag_f1"]["interval"]
    breakdown = found.report["breakdown"]
    assert {e["event_type"]: e["metrics"]["doc2edag_f1"]["value"] for e in breakdown["papers"]} == {"T": 1, "U": 1 / 3}
    assert breakdown["macro"]["papers"]["doc2edag_f1"]["value"] == 2 / 3
    assert "As papers report, by event type" in render(found.report, "markdown")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Results of two models under all profiles."""
    base = tmp_path_factory.mktemp("results")
    protocol = base / "protocol.yaml"
    protocol.write_text(json.dumps(settings(ALL)), encoding="utf-8")
    made = []
    for model in ("model-a", "model-b"):
        given: list[str | Path] = ["--gold", EXAMPLES / "gold.jsonl", "--predictions", EXAMPLES / f"{model}.jsonl"]
        run(suite_command("extraction"), *given, "--protocol", protocol, "--out", base / model, "--quiet")
        made.append(base / model)
    return made


def run(command: Command, *words: str | Path) -> str:
    result = CliRunner().invoke(command, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_records_give_the_numbers_of_the_report(folders: list[Path]) -> None:
    assert "doc2edag" not in run(verify_command, folders[0], "--records")  # neither different nor unknown


def test_two_results_are_compared_in_the_numbers_of_their_profile(folders: list[Path]) -> None:
    comparison = goldgate.compare(*folders).report
    names = {entry["metric"] for entry in comparison["comparisons"]}
    assert {"textee_tc_f1", "doc2edag_best_f1", "duee_fin_f1", "values_f1"} <= names
    page = describe_comparison(comparison)
    for format in ("text", "markdown", "latex", "html"):
        text = render_page(page, format).replace("\\_", "_")
        for name in ("textee_ac_plus_f1", "doc2edag_multi_f1", "duee_fin_best_f1", "values_f1"):
            assert name in text, format


def test_more_samples_can_be_planned_for_a_number_of_a_profile(folders: list[Path]) -> None:
    assert "duee_fin_f1" in run(power_command, folders[0], "--metric", "duee_fin_f1")


KEYS = ("event_type", "trigger", "start", "end", "arguments", "role", "argument", "text", "trigger_start_index")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 40) | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)
PLACES = {"start": st.integers(-1, 5) | st.none(), "end": st.integers(0, 6)}
ARGUMENTS = st.fixed_dictionaries(
    {"role": st.sampled_from("AB"), "argument": st.sampled_from(("5%", "6 %", "百分之五", ["x", "5%"])) | JSON},
    optional=PLACES,
)
EVENTS = st.fixed_dictionaries(
    {"event_type": st.sampled_from("TU"), "arguments": st.lists(ARGUMENTS, max_size=3)},
    optional={"trigger": st.sampled_from("xy") | JSON, "trigger_start_index": st.integers(0, 4), **PLACES},
)


@given(st.lists(EVENTS | JSON, max_size=4))
def test_whatever_a_model_writes_is_scored(events: list[Any]) -> None:
    gold = [event("T", ("A", "5%", 0, 2), trigger=("x", 3, 4))]
    found = judge(ALL, gold, events)
    again = judge(ALL, gold, [*events, *events])
    for family in ("ti", "tc", "ai", "ac", "ai_plus", "ac_plus"):
        assert triple(found, f"textee_{family}") == triple(again, f"textee_{family}")  # sets: repeats say nothing
    assert triple(found, "strict")[0] <= triple(found, "values")[0]
    for name in ("doc2edag", "duee_fin"):
        hits, predicted, gold_arguments = triple(found, f"{name}_best")
        assert triple(found, name)[0] <= hits <= min(predicted, gold_arguments)


def test_a_gate_can_compare_a_number_of_a_profile_with_a_stored_run(folders: list[Path]) -> None:
    gates = {"duee_fin_best_f1": {"max_drop": 0.01, "against": str(folders[0])}}
    gold, predictions = EXAMPLES / "gold.jsonl", EXAMPLES / "model-b.jsonl"
    found = goldgate.evaluate_files(gold, predictions, protocol=settings(ALL) | {"gates": gates}).report
    assert [gate["verdict"] for gate in found["gates"]] == ["FAIL"]


def test_a_stored_result_is_made_again_from_its_inputs(folders: list[Path]) -> None:
    assert run(verify_command, folders[0]).startswith("verified")


def test_one_answer_has_a_profile_s_numbers_too() -> None:
    scorer = goldgate.load_scorer(None, settings("values"))
    assert scorer.score([event("T", ("A", "百分之五"))], {"events": [event("T", ("A", "5%"))]})["values_f1"] == 1


def test_records_of_one_group_count_as_one_unit() -> None:
    golds = [{"id": str(n), "group": str(n // 2), "events": [event("T", ("A", str(n)))]} for n in range(8)]
    answers = [{"id": str(n), "events": [event("T", ("A", str(n % 3)))]} for n in range(8)]
    report = goldgate.evaluate(golds, answers, protocol=settings(ALL)).report
    found = report["metrics"]["papers"]["doc2edag_f1"]
    assert (found["numerator"], found["denominator"], found["interval"]["units"]) == (6, 16, 4)
    assert report["breakdown"]["macro"]["papers"]["doc2edag_f1"]["value"] == 6 / 16
