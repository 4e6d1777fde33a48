"""Macro averages in a comparison: those of the reports, and differences that agree with the plain way of counting."""

from __future__ import annotations

import json
import random
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from goldgate.comparison import Comparison, compare
from goldgate.stats.distributions import t_quantile

from .runs import store_counts

NAMES = [f"{match}_{rate}" for match in ("strict", "relaxed") for rate in ("precision", "recall", "f1")]
Parts = dict[str, tuple[int, int, int, int]]


def store_parts(folder: Path, like: Path, documents: list[Parts]) -> Path:
    units: list[dict[str, Any]] = []
    for number, parts in enumerate(documents):
        counts = [sum(column) for column in zip((0, 0, 0, 0), *parts.values(), strict=True)]
        listed = [[["matching", name], list(found)] for name, found in sorted(parts.items())]
        units.append({"id": f"d{number}", "counts": counts} | ({"parts": listed} if listed else {}))
    return store_counts(folder, like, units)


def made_up(documents: int, seed: int, quality: float) -> list[Parts]:
    """Documents with one to three of four types; gold is the same whatever the quality."""
    gold, luck = random.Random(seed), random.Random(f"{seed} {quality}")
    found = []
    for _ in range(documents):
        parts: Parts = {}
        for name in gold.sample("ABCD", gold.randint(1, 3)):
            size = gold.randint(1, 6)
            hits = sum(luck.random() < quality for _ in range(size))
            parts[name] = (hits, hits, size - luck.randint(0, size - hits), size)
        found.append(parts)
    return found


def plainly(mine: list[Parts], theirs: list[Parts]) -> tuple[float, float]:
    """The difference of the macro averages of strict F1, and the standard error of it, unit by unit."""
    values, added = [], [0.0] * len(mine)
    for sign, documents in ((1, mine), (-1, theirs)):
        names = sorted({name for parts in documents for name in parts})
        sums = {
            name: [
                sum(2 * parts[name][0] for parts in documents if name in parts),
                sum(parts[name][2] + parts[name][3] for parts in documents if name in parts),
            ]
            for name in names
        }
        values.append(sum(a / b for a, b in sums.values()) / len(names))
        for number, parts in enumerate(documents):
            for name, (hits, _, predicted, gold) in parts.items():
                a, b = sums[name]
                added[number] += sign * (2 * hits - a / b * (predicted + gold)) / b / len(names)
    n = len(mine)
    return values[0] - values[1], sqrt(n / (n - 1) * sum(one * one for one in added))


def test_they_are_those_of_the_reports(stored: Path, a_and_b: Comparison) -> None:
    found = a_and_b.report
    for system in found["systems"]:
        report = json.loads((stored / system["name"] / "report.json").read_bytes())
        for name in NAMES:
            assert system["metrics"][f"{name}_macro"] == report["breakdown"]["macro"]["event_types"][name]


def test_a_difference_agrees_with_the_plain_way(stored: Path, tmp_path: Path) -> None:
    mine, theirs = made_up(200, 1, 0.7), made_up(200, 1, 0.8)
    store_parts(tmp_path / "one", stored / "a", mine)
    store_parts(tmp_path / "two", stored / "a", theirs)
    entry = compare(tmp_path / "one", tmp_path / "two")["strict_f1_macro"]
    value, se = plainly(theirs, mine)
    half = t_quantile(0.975, 199) * sqrt((200 * 199 * se**2 + 2) / (201 * 202))
    told = entry["difference"]
    assert told["value"] == pytest.approx(value)
    assert (told["low"], told["high"]) == (pytest.approx(value - half), pytest.approx(value + half))
    assert entry["detectable"] == pytest.approx((t_quantile(0.975, 199) + t_quantile(0.8, 199)) * se)
    assert (entry["p"] < 0.05) == (told["low"] > 0)
    assert "wins" not in entry


def test_a_type_that_only_one_system_names_is_averaged_where_it_is(stored: Path, tmp_path: Path) -> None:
    mine, theirs = made_up(60, 2, 0.7), made_up(60, 2, 0.8)
    theirs[0]["Z"] = (0, 0, 3, 0)
    store_parts(tmp_path / "one", stored / "a", mine)
    store_parts(tmp_path / "two", stored / "a", theirs)
    found = compare(tmp_path / "one", tmp_path / "two")
    entry, value = found["strict_f1_macro"], plainly(theirs, mine)[0]
    assert entry["difference"]["value"] == pytest.approx(value)
    assert entry["difference"]["low"] < value < entry["difference"]["high"]
    assert [system["metrics"]["strict_f1_macro"]["averaged"] for system in found.report["systems"]] == [4, 5]


def test_few_units_leave_an_average_open(stored: Path, tmp_path: Path) -> None:
    """Two systems that were alike on three documents may still differ; p says nothing against that."""
    documents = made_up(3, 3, 0.5)
    store_parts(tmp_path / "one", stored / "a", documents)
    store_parts(tmp_path / "two", stored / "b", documents)
    entry = compare(tmp_path / "one", tmp_path / "two")["strict_f1_macro"]
    assert (entry["difference"]["value"], entry["p"]) == (0.0, 1.0)
    assert entry["difference"]["low"] < -0.1 < 0.1 < entry["difference"]["high"]


def test_several_runs_have_an_average_without_an_interval(stored: Path) -> None:
    found = compare(f"one={stored / 'a'}", f"two={stored / 'a'},{stored / 'b'}")
    entry = found["strict_f1_macro"]
    assert entry["difference"]["low"] is None
    assert "several runs" in entry["difference"]["reason"]
    assert entry["p"] is None
    assert found.report["systems"][1]["metrics"]["strict_f1_macro"]["interval"] is None


def test_too_many_types_in_one_document_are_not_paired(stored: Path, tmp_path: Path) -> None:
    crowded = {f"T{number}": (1, 1, 1, 1) for number in range(50)}
    for name, like in (("one", "a"), ("two", "b")):
        store_parts(tmp_path / name, stored / like, [*made_up(5, 4, 0.5), crowded])
    entry = compare(tmp_path / "one", tmp_path / "two")["strict_f1_macro"]
    assert entry["difference"]["low"] is None
    assert "too many" in entry["difference"]["reason"]
