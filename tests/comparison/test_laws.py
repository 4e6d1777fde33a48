"""What holds of every comparison: a system equals itself, exchange flips signs only, order and split are nothing."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from goldgate.comparison import Comparison, compare
from goldgate.stats.interval import Interval
from goldgate.stats.paired import difference_interval, paired_sums

from .runs import GOLD, MODELS, store_counts, store_extraction


def entries(found: Comparison) -> list[dict[str, Any]]:
    return [*found.report["comparisons"], *found.report["parts"]]


def without_names(report: dict[str, Any]) -> str:
    """The comparison but for what names its files."""
    kept = {key: value for key, value in report.items() if key not in ("gold", "systems")}
    metrics = [(system["name"], system["best_in"], system["metrics"]) for system in report["systems"]]
    return json.dumps([kept, metrics], sort_keys=True)


@pytest.mark.parametrize("name", ["a", "b", "passing", "failing"])
def test_a_system_does_not_differ_from_itself(stored: Path, name: str) -> None:
    found = compare(stored / name, stored / name)
    compared = [entry for entry in entries(found) if entry["difference"] is not None]
    assert compared
    for entry in compared:
        bounds = (entry["difference"][key] for key in ("value", "low", "high"))
        assert [*bounds, entry["p"], entry["p_adjusted"]] == [0.0, 0.0, 0.0, 1.0, 1.0]
        assert entry.get("wins", 0) == entry.get("losses", 0) == 0
    assert list(found.changed_lines()) == []
    assert [system["best_in"] for system in found.report["systems"]] == [[], []]


@pytest.mark.parametrize("names", [("a", "b"), ("passing", "failing")])
def test_exchanging_the_systems_flips_signs_and_nothing_else(stored: Path, names: tuple[str, str]) -> None:
    one, other = names
    there, back = compare(stored / one, stored / other), compare(stored / other, stored / one)
    for mine, theirs in zip(entries(there), entries(back), strict=True):
        assert (mine["metric"], mine.get("part")) == (theirs["metric"], theirs.get("part"))
        assert (mine["p"], mine["p_adjusted"], mine["test"]) == (theirs["p"], theirs["p_adjusted"], theirs["test"])
        if mine["difference"] is None:
            continue
        first, second = mine["difference"], theirs["difference"]
        assert (first["value"], first["low"], first["high"]) == (-second["value"], -second["high"], -second["low"])
        assert [mine.get(key) for key in ("wins", "ties", "losses")] == [
            theirs.get(key) for key in ("losses", "ties", "wins")
        ]
        same = ("units", "detectable", "units_for_one_point")
        assert [mine.get(key) for key in same] == [theirs.get(key) for key in same]
    changes = [[json.loads(line) for line in found.changed_lines()] for found in (there, back)]
    assert [(line["id"], line["change"]) for line in changes[0]] == [
        (line["id"], -line["change"]) for line in changes[1]
    ]
    best = [{s["name"]: s["best_in"] for s in found.report["systems"]} for found in (there, back)]
    assert best[0] == best[1]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_order_of_records_changes_nothing(stored: Path, tmp_path: Path, seed: int, a_and_b: Comparison) -> None:
    for name in ("a", "b"):
        lines = (stored / name / "samples.jsonl").read_bytes().splitlines(keepends=True)
        random.Random(f"{seed} {name}").shuffle(lines)
        (tmp_path / name).mkdir()
        (tmp_path / name / "samples.jsonl").write_bytes(b"".join(lines))
        (tmp_path / name / "report.json").write_bytes((stored / name / "report.json").read_bytes())
    plain, shuffled = a_and_b, compare(tmp_path / "a", tmp_path / "b")
    assert shuffled.to_json() == plain.to_json()
    assert [*shuffled.changed_lines()] == [*plain.changed_lines()]


def test_splits_and_workers_change_nothing_but_digests(tmp_path: Path, a_and_b: Comparison) -> None:
    lines = GOLD.read_bytes().splitlines(keepends=True)
    halves = [tmp_path / "gold-1.jsonl", tmp_path / "gold-2.jsonl"]
    halves[0].write_bytes(b"".join(lines[50:]))
    halves[1].write_bytes(b"".join(lines[:50]))
    for workers, name in enumerate(MODELS, start=1):
        store_extraction(tmp_path / name, MODELS[name], halves, workers)  # type: ignore[arg-type]  # or several
    plain, split = a_and_b, compare(tmp_path / "a", tmp_path / "b")
    assert without_names(split.report) == without_names(plain.report)
    assert [*split.changed_lines()] == [*plain.changed_lines()]


def test_predictions_and_folders_give_the_same(a_and_b: Comparison) -> None:
    from .runs import SCHEMA

    scored = compare(f"a={MODELS['a']}", f"b={MODELS['b']}", gold=GOLD, schema=SCHEMA, workers=2)
    assert scored.to_json() == a_and_b.to_json()


def test_changes_add_up_to_the_difference(a_and_b: Comparison) -> None:
    found = a_and_b
    lines = [json.loads(line) for line in found.changed_lines()]
    assert sum(line["change"] for line in lines) == pytest.approx(found["strict_f1"]["difference"]["value"], abs=1e-12)
    sizes = [abs(line["change"]) for line in lines]
    assert sizes == sorted(sizes, reverse=True)
    assert len(lines) == found.report["changed"]["units"]["b"]
    assert lines[:10] == found.report["changed"]["first"]


def test_units_of_a_group_count_as_one(stored: Path, tmp_path: Path) -> None:
    """Two documents of each group; with them added up by hand the comparison is the same."""
    rng = random.Random(5)
    apart: dict[str, list[dict[str, Any]]] = {"a": [], "b": []}
    together: dict[str, list[dict[str, Any]]] = {"a": [], "b": []}
    for number in range(30):
        for name in apart:
            two = [[rng.randint(0, 3), 3, rng.randint(3, 5), 4] for _ in range(2)]
            for part, counts in enumerate(two):
                apart[name].append({"id": f"{number}-{part}", "counts": counts, "group": f"g{number}"})
            together[name].append({"id": f"g{number}", "counts": [sum(pair) for pair in zip(*two, strict=True)]})
    for name in apart:
        store_counts(tmp_path / "apart" / name, stored / "a", apart[name])
        store_counts(tmp_path / "together" / name, stored / "a", together[name])
    grouped, plain = (compare(tmp_path / kind / "a", tmp_path / kind / "b") for kind in ("apart", "together"))
    assert grouped.report["comparisons"] == plain.report["comparisons"]
    assert (grouped.report["unit"], grouped.report["units"]) == ("group", 30)
    assert len([*grouped.changed_lines()]) > 30  # by document all the same


def test_systems_that_came_out_alike_may_still_differ(stored: Path, tmp_path: Path) -> None:
    """Ten documents with equal counts, of predictions with other bytes: no difference is seen, and some may be."""
    units = [{"id": f"d{number}", "counts": (1, 1, 2, 2)} for number in range(10)]
    for name, like in (("one", "a"), ("two", "b")):
        store_counts(tmp_path / name, stored / like, units)
    few = compare(tmp_path / "one", tmp_path / "two")["strict_f1"]
    assert (few["difference"]["value"], few["p"], few["p_adjusted"]) == (0.0, 1.0, 1.0)
    assert few["difference"]["low"] == -few["difference"]["high"] < -0.1
    assert few["difference"]["method"] == "paired-plus-two-t"
    many = [{"id": f"d{number}", "counts": (1, 1, 2, 2)} for number in range(1_000)]
    for name, like in (("three", "a"), ("four", "b")):
        store_counts(tmp_path / name, stored / like, many)
    wider = compare(tmp_path / "three", tmp_path / "four")["strict_f1"]["difference"]
    assert -0.01 < wider["low"] == -wider["high"] < 0


def test_the_same_runs_in_another_order_are_the_same_answers() -> None:
    one, two = (MODELS[name] for name in "ab")
    found = compare(f"x={one},{two}", f"y={two},{one}", gold=GOLD)["strict_f1"]
    assert [found["difference"][name] for name in ("value", "low", "high", "method")] == [0, 0, 0, "equal"]


def test_the_room_is_that_of_a_gate(stored: Path, tmp_path: Path) -> None:
    """A comparison and a gate that asks for no drop say the same of two runs in which two documents differ."""
    before = [{"id": f"d{number}", "counts": (2, 2, 2, 2)} for number in range(40)]
    after = [*before[:-2], *({**unit, "counts": (1, 1, 2, 2)} for unit in before[-2:])]
    store_counts(tmp_path / "one", stored / "a", before)
    store_counts(tmp_path / "two", stored / "b", after)
    told = compare(tmp_path / "one", tmp_path / "two")["strict_f1"]["difference"]
    sums = paired_sums({(2 * 2, 4, 2 * 2, 4): 38, (2, 4, 4, 4): 2})
    wanted = difference_interval(sums)
    assert isinstance(wanted, Interval)
    assert (told["low"], told["high"]) == (wanted.low, wanted.high)
