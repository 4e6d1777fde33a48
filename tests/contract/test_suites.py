"""What holds for every suite of the list, and for one that is in no list of ours: the toy suite of the tests."""

from __future__ import annotations

import importlib
import io
import json
import pkgutil
import random
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from inspect import isabstract
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from goldgate.cli.prepare import all_schemas
from goldgate.core.evaluation import Evaluation, error_report
from goldgate.core.gate import Gate
from goldgate.core.metric import Count, Metrics, Rate
from goldgate.core.suite import Measure, Suite
from goldgate.core.tally import Tally
from goldgate.engines import start_engine
from goldgate.errors import ConfigError, GoldgateError, InputError, Place
from goldgate.pipeline import evaluate_suite
from goldgate.protocol import Protocol
from goldgate.report import RENDERERS, render
from goldgate.response.reading_report import ParseRates
from goldgate.suites import SUITES, all_suites, load_suite
from goldgate.suites.plan import load_plan
from tests.examples import is_quick
from tests.unit.helpers import count_units

from .inputs import HOSTILE, NAMES, ROOT, SEVERAL_SHARDS, TOY, given, write_inputs

every_suite = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True)
def _with_the_toy_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, place in TOY.items():
        monkeypatch.setitem(SUITES, name, place)


def measures_of(suite: Suite) -> list[Measure[Any]]:
    return [*suite.measures(suite.settings())]


def judged(suite: Suite, folder: Path, workers: int = 1) -> tuple[Evaluation, bytes]:
    """An evaluation of the suite's example, and the records."""
    records = io.BytesIO()
    paths = given(write_inputs(suite.name, folder, samples=SEVERAL_SHARDS))
    return evaluate_suite(suite, paths, workers=workers, records=records), records.getvalue()


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Evaluation, bytes]]]:
    """The same for all suites, made once."""
    with pytest.MonkeyPatch.context() as patch:
        for name, place in TOY.items():
            patch.setitem(SUITES, name, place)
        yield {name: judged(load_suite(name), tmp_path_factory.mktemp(name)) for name in NAMES}


def facts_of(suite: Suite, folder: Path) -> list[Any]:
    """What its measures count."""
    plan = load_plan(suite, None)
    paths = given(write_inputs(suite.name, folder))
    with start_engine(1, suite.preload) as engine, suite.open(paths, plan) as source:
        work = source.work()
        return [*source.finalize((facts for shard in source.shards() for facts in work.score(shard)), engine)]


@pytest.mark.parametrize(("name", "title"), [("extraction", "Scores"), ("qa", "Metrics")])
def test_where_no_gate_decides_the_shortest_page_has_the_numbers(
    name: str, title: str, evaluated: dict[str, tuple[Evaluation, bytes]]
) -> None:
    suite = load_suite(name)
    for gates, titles in ((evaluated["qa"][0].report["gates"], []), ([], [title])):
        report: Any = {**evaluated[name][0].report, "gates": gates}
        page = suite.describe(report).brief()
        assert [section.title for section in page.sections] == titles


@every_suite
def test_it_is_listed_under_its_own_name(name: str) -> None:
    suite = load_suite(name)
    assert suite.name == name
    assert [other.name for other in all_suites()].count(name) == 1
    importlib.import_module(suite.preload)


@every_suite
def test_no_two_measures_give_a_metric_of_the_same_name(name: str) -> None:
    suite = load_suite(name)
    names = [metric for measure in measures_of(suite) for metric in measure.metrics(Tally())]
    assert sorted(names) == sorted({*names}) == sorted(suite.known_metrics(suite.settings()))


@every_suite
def test_what_it_names_is_there(name: str) -> None:
    suite = load_suite(name)
    main = [metric for each in measures_of(suite) if each.section == "main" for metric in each.metrics(Tally())]
    assert {*suite.headline} <= {*main}
    assert {*suite.default_gates} <= {*suite.known_metrics(suite.settings())}
    assert suite.headline


def test_no_two_suites_share_a_section_or_a_contract() -> None:
    suites = all_suites()
    for names in ([s.section for s in suites], [file for s in suites for file in s.contracts]):
        assert len(names) == len({*names})


@every_suite
def test_every_measure_in_its_folder_is_listed(name: str) -> None:
    suite = load_suite(name)
    package = type(suite).__module__.rpartition(".")[0]
    listed = {type(measure) for measure in measures_of(suite)} - {ParseRates}  # which several suites have
    assert measures_in(package) - {ParseRates} == listed, f"what measures() of the suite {name} gives lacks a class"


def measures_in(package: str) -> set[type]:
    """The measures that the modules of a package define; those of its `measures`, a folder or a file, if it has one."""
    folder = importlib.import_module(package)
    if "measures" in [module.name for module in pkgutil.iter_modules(folder.__path__)]:
        folder = importlib.import_module(f"{package}.measures")
    names = [
        module.name for module in pkgutil.iter_modules(getattr(folder, "__path__", [])) if module.name != "__main__"
    ]
    modules = [importlib.import_module(f"{folder.__name__}.{name}") for name in names] or [folder]
    contents = [value for module in modules for value in vars(module).values()]
    return {
        kind
        for kind in contents
        if isinstance(kind, type) and hasattr(kind, "section") and hasattr(kind, "count") and not isabstract(kind)
    }


@every_suite
def test_measures_of_nothing_are_zero_or_undefined_with_a_reason(name: str) -> None:
    for measure in measures_of(load_suite(name)):
        for metric in measure.metrics(Tally()).values():
            if isinstance(metric, Rate):
                assert metric.value is None
                assert metric.reason
            else:
                assert metric == Count(0) or metric.reason


@every_suite
def test_measures_count_what_they_divide_by(name: str, tmp_path: Path) -> None:
    """Counting with one measure alone gives it the same metrics as counting with all."""
    suite = load_suite(name)
    facts = facts_of(suite, tmp_path)
    measures = measures_of(suite)
    together = count_units(measures, facts)
    assert together != Tally()
    for measure in measures:
        alone: Metrics = measure.metrics(count_units([measure], facts))
        assert alone == measure.metrics(together), type(measure).__name__


@every_suite
def test_any_split_of_the_facts_gives_the_same_sum(name: str, tmp_path: Path) -> None:
    suite = load_suite(name)
    facts = facts_of(suite, tmp_path)
    whole = count_units(measures_of(suite), facts)
    random.Random(0).shuffle(facts)
    parts = count_units(measures_of(suite), facts[::2])
    parts += count_units(measures_of(suite), facts[1::2])
    assert parts == whole


@every_suite
def test_its_contracts_hold_for_what_it_writes(name: str, evaluated: dict[str, tuple[Evaluation, bytes]]) -> None:
    suite = load_suite(name)
    evaluation, records = evaluated[name]
    assert objections(suite, f"Report of the {name} suite", json.loads(evaluation.to_json())) == []
    error = error_report(name, InputError("gold.bad_id", "no id"))
    assert objections(suite, f"Report of the {name} suite", error) == []
    lines = records.splitlines()
    assert len(lines) > 5
    for line in lines[:: 7 if is_quick() else 1]:  # answers of every kind come again, by other numbers than seven
        assert objections(suite, f", a line of {suite.records}", json.loads(line)) == []


@every_suite
def test_its_schemas_are_written(name: str) -> None:
    suite, schemas = load_suite(name), all_schemas()
    assert {*suite.contracts} < {*schemas}
    for file in suite.contracts:
        Draft202012Validator.check_schema(schemas[file])
    protocol = Draft202012Validator(schemas["protocol.schema.json"])
    assert protocol.is_valid({suite.section: {}})
    assert not protocol.is_valid({f"{suite.section}s": {}})


def objections(suite: Suite, title: str, value: Any) -> list[str]:
    """What the suite's schema with this title has against a value."""
    (file,) = (file for file, (found, _) in suite.contracts.items() if found.endswith(title))
    return [error.message for error in validator(file).iter_errors(value)]


@cache
def validator(file: str) -> Draft202012Validator:
    return Draft202012Validator(all_schemas()[file])


@every_suite
def test_two_workers_write_the_same_bytes(
    name: str, evaluated: dict[str, tuple[Evaluation, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # workers import nothing from the working directory, and the toy suite is in ours
    evaluation, records = judged(load_suite(name), tmp_path / "two", workers=2)
    assert evaluation.to_json() == evaluated[name][0].to_json()
    assert records == evaluated[name][1]


@every_suite
def test_any_order_of_lines_gives_the_same_report(
    name: str, evaluated: dict[str, tuple[Evaluation, bytes]], tmp_path: Path
) -> None:
    paths = write_inputs(name, tmp_path / "in", samples=SEVERAL_SHARDS)
    for path in paths.values():
        if path.suffix == ".jsonl":
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            random.Random(7).shuffle(lines)
            path.write_text("".join(lines), encoding="utf-8")
    again = evaluate_suite(load_suite(name), given(paths)).report
    assert {**again, "inputs": 0} == {**evaluated[name][0].report, "inputs": 0}


@every_suite
def test_a_metric_of_another_suite_is_called_that(name: str) -> None:
    suite = load_suite(name)
    for other in all_suites():
        strange = {*other.known_metrics(other.settings())} - {*suite.known_metrics(suite.settings())}
        for metric in sorted(strange)[:2]:
            with pytest.raises(ConfigError) as caught:
                load_plan(suite, Protocol(gates={metric: Gate(min=0)}))  # type: ignore[arg-type]
            assert caught.value.message == f"{metric} is a metric of the {other.name} suite"
    with pytest.raises(ConfigError) as caught:
        load_plan(suite, Protocol(gates={f"{suite.headline[0]}x": Gate(min=Decimal(0))}))
    assert caught.value.advice == f"did you mean {suite.headline[0]}?"


@every_suite
def test_hostile_ids_and_texts_reach_no_terminal_and_no_page(name: str, tmp_path: Path) -> None:
    report = evaluate_suite(load_suite(name), given(write_inputs(name, tmp_path, HOSTILE))).report
    for format in RENDERERS:
        shown = render(report, format)  # type: ignore[arg-type]  # a name of a format
        if format == "json":
            assert json.loads(shown) == json.loads(json.dumps(report))
            continue
        assert [mark for mark in ("\x1b", "\u202e", "\r") if mark in shown] == [], format
        if format == "markdown":
            assert "<" not in re.sub(r"(`+).*?\1", "", shown).replace("\\<", "")  # in code it is text
        commands = [line for line in shown.splitlines() if line.lstrip().startswith("::")]
        pattern = rf"::(error|warning|notice) (file=[^:]*,)?title=goldgate {name}%3A [^:]*::"
        ours = [line for line in commands if re.match(pattern, line)]
        assert commands == (ours if format == "github" else []), format


@every_suite
def test_an_input_that_is_not_there_is_an_error_with_a_place(name: str, tmp_path: Path) -> None:
    suite = load_suite(name)
    paths = given(write_inputs(name, tmp_path))
    for missing in paths:
        with pytest.raises(GoldgateError) as caught:
            evaluate_suite(suite, {**paths, missing: [str(tmp_path / "nowhere")]})
        assert "nowhere" in str(caught.value.place)


@pytest.mark.parametrize(
    ("kind", "record", "code", "field"),
    [
        ("gold", {"answer": 7}, "gold.wrong_type", "answer"),
        ("gold", {"sources": ["a", None]}, "gold.wrong_type", "sources.1"),
        ("predictions", {"citations": "a"}, "predictions.wrong_type", "citations"),
        ("predictions", {"id": "nobody"}, "predictions.unknown_id", "id"),
    ],
)
def test_a_record_that_does_not_fit_its_type_is_an_error_with_its_line(
    kind: str, record: dict[str, Any], code: str, field: str, tmp_path: Path
) -> None:
    paths = write_inputs("qa", tmp_path)
    lines = paths[kind].read_text(encoding="utf-8").splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), **record})
    paths[kind].write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        evaluate_suite(load_suite("qa"), given(paths))
    assert (caught.value.code, caught.value.place) == (code, Place(str(paths[kind]), 3, field))


def test_the_toy_suite_is_small() -> None:
    """Its size is the proof of the contract: what a suite must write, and no more."""
    files = (ROOT / "tests" / "toy").glob("*.py")
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) < 150
