"""Numbers of comparisons, worked out by hand or by other code."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from goldgate.comparison import Comparison, compare
from goldgate.report import render_page
from goldgate.runs.comparison_page import describe_comparison, p_value
from goldgate.stats.multiple_testing import benjamini_hochberg, holm
from tests.cases import cases

from .runs import store_counts


def units(*counts: tuple[int, int, int, int]) -> list[dict[str, Any]]:
    return [{"id": f"d{number}", "counts": four} for number, four in enumerate(counts)]


def test_two_documents_by_hand(stored: Path, tmp_path: Path) -> None:
    """F1 of A is 2·3/(4+4) = 3/4, of B 2·1/(4+4) = 1/4. Exchanged in one document or in both: 2 of 4 ways reach 1/2."""
    store_counts(tmp_path / "A", stored / "a", units((2, 2, 2, 2), (1, 1, 2, 2)))
    store_counts(tmp_path / "B", stored / "a", units((1, 1, 2, 2), (0, 0, 2, 2)))
    found = compare(tmp_path / "A", tmp_path / "B")
    entry = found["strict_f1"]
    assert Fraction(entry["difference"]["exact"]) == Fraction(-1, 2)
    assert entry["p"] == 0.5
    assert (entry["wins"], entry["ties"], entry["losses"]) == (0, 0, 2)
    assert [line["change"] for line in found.report["changed"]["first"]] == [-0.25, -0.25]
    assert found.report["changed"]["first"][0]["counts"]["A"] == {"strict": 2, "relaxed": 2, "predicted": 2, "gold": 2}


def test_p_values_of_the_main_metrics_are_adjusted_together(stored: Path) -> None:
    found = compare(stored / "a", stored / "b", f"c={stored / 'a'}").report
    main = [entry for entry in found["comparisons"] if entry["family"] == "main"]
    assert len(main) == 6
    assert [entry["p_adjusted"] for entry in main] == holm([entry["p"] for entry in main])
    parts = [entry for entry in found["parts"] if entry["p"] is not None]
    assert [entry["p_adjusted"] for entry in parts] == benjamini_hochberg([entry["p"] for entry in parts])
    assert {entry["adjustment"] for entry in main} == {"holm"}
    assert {entry["adjustment"] for entry in parts} == {"benjamini-hochberg"}


def test_the_best_is_marked_only_against_every_other(stored: Path, a_and_b: Comparison) -> None:
    two = a_and_b.report
    assert {system["name"]: system["best_in"] for system in two["systems"]} == {"a": two["headline"], "b": []}
    # With a twin of the best there is no best.
    three = compare(stored / "a", stored / "b", f"twin={stored / 'a'}").report
    assert [system["best_in"] for system in three["systems"]] == [[], [], []]


def test_against_another_than_the_first(stored: Path) -> None:
    there = compare(stored / "b", stored / "a")["strict_f1"]
    back = compare(stored / "a", stored / "b", against="b")["strict_f1"]
    assert there == back


def test_parts_have_both_values(stored: Path, a_and_b: Comparison) -> None:
    import json

    found = a_and_b.report
    report = json.loads((stored / "b" / "report.json").read_bytes())
    types = {entry["event_type"]: entry["strict_f1"]["value"] for entry in report["breakdown"]["event_types"]}
    mine = {
        e["part"][0]: e["values"]["b"] for e in found["parts"] if e["metric"] == "strict_f1" and len(e["part"]) == 1
    }
    assert {name: value for name, value in mine.items() if name in types} == types
    assert len({tuple(e["part"]) for e in found["parts"] if len(e["part"]) == 2}) > 20


@pytest.fixture
def seeds(stored: Path, tmp_path: Path) -> Path:
    """Two systems with three runs each over 60 documents; the runs of one differ."""
    for name, hits in (("old", 0.6), ("new", 0.8)):
        for seed in (1, 2, 3):
            rng = random.Random(f"{name} {seed}")
            sizes = random.Random(0)
            counts = []
            for _ in range(60):
                size = sizes.randint(1, 8)
                right = sum(rng.random() < hits for _ in range(size))
                counts.append((right, right, size, size))
            store_counts(tmp_path / name / f"seed-{seed}", stored / "a", units(*counts))
    return tmp_path


def test_several_runs_have_a_mean_and_both_spreads(seeds: Path) -> None:
    found = compare(seeds / "old", seeds / "new")
    old, new = (system["metrics"]["strict_f1"] for system in found.report["systems"])
    singles = [
        compare(seeds / "new" / f"seed-{seed}", seeds / "old" / "seed-1").report["systems"][0] for seed in (1, 2, 3)
    ]
    values = [single["metrics"]["strict_f1"]["value"] for single in singles]
    assert new["by_run"] == values
    assert new["value"] == pytest.approx(mean(values))
    assert new["between_runs"] == pytest.approx(stdev(values))
    assert new["interval"]["low"] < new["value"] < new["interval"]["high"]
    assert new["se_units"] > 0
    entry = found["strict_f1"]
    assert entry["difference"]["value"] == pytest.approx(new["value"] - old["value"])
    assert entry["test"] == {"method": "runs-t"}
    assert entry["p_adjusted"] < 0.05
    assert found.report["systems"][1]["best_in"] == ["strict_f1", "relaxed_f1"]
    shown = render_page(describe_comparison(found.report))
    assert "Several runs" in shown
    assert "new against old" in shown


def test_several_runs_against_one(seeds: Path) -> None:
    one, several = str(seeds / "old" / "seed-1"), f"new={seeds}/new/seed-*"
    there = compare(f"old={one}", several)["strict_f1"]
    back = compare(several, f"old={one}")["strict_f1"]
    assert there["difference"]["value"] == -back["difference"]["value"]
    assert there["p"] == back["p"]
    assert (there["wins"], there["losses"]) == (back["losses"], back["wins"])


@cases(
    ("p", "shown"),
    [
        (1.0, "1.0000"),
        (0.0001, "0.0001"),
        (0.00009, "<0.0001"),
        (0.04999, "0.04999"),
        (0.02496, "0.0250"),
        (0.05, "0.0500"),
        (None, "n/a"),
    ],
)
def test_p_values_are_rounded_and_stay_on_their_side_of_one_in_twenty(p: float | None, shown: str) -> None:
    assert str(p_value(p)) == shown


def typed(path: Path, *types: str) -> Path:
    """A file of records or predictions that name event types, and no arguments."""
    lines = [json.dumps({"id": str(n), "events": [{"event_type": t, "arguments": []}]}) for n, t in enumerate(types)]
    path.write_text("\n".join(lines))
    return path


def test_without_arguments_what_changed_are_the_types(tmp_path: Path) -> None:
    """strict_f1 is 0/0 for both, so the changes are those of type_f1: 3/3 against 1/3."""
    gold = typed(tmp_path / "gold.jsonl", "Hire", "Strike", "Hire")
    one = typed(tmp_path / "one.jsonl", "Hire", "Strike", "Hire")
    two = typed(tmp_path / "two.jsonl", "Hire", "Hire", "Strike")
    settings = {"metrics": {"schema": {"mode": "syntax_only"}, "cot": {"enabled": False}}}
    found = compare(one, two, gold=gold, protocol=settings)
    assert found.report["changed"]["metric"] == "type_f1"
    assert [(line["id"], line["change"]) for line in found.report["changed"]["first"]] == [("1", -1 / 3), ("2", -1 / 3)]
    shown = render_page(describe_comparison(found.report), "text")
    assert "strict_f1 and relaxed_f1 are undefined for every system" in shown
    assert "n/a" not in shown  # they are not shown as rows and columns of it


def test_equal_systems_have_no_negative_zero(stored: Path) -> None:
    found = compare(*(f"{name}={stored / 'a'}" for name in "abc"), against="c").report
    ends = [e["difference"][end] for e in found["comparisons"] if e["difference"] for end in ("low", "high")]
    assert {str(end) for end in ends} == {"0.0"}


def test_a_difference_above_one_is_never_shown(stored: Path) -> None:
    """Four queries could show a difference of 1.2: that is none at all."""
    found = compare(stored / "passing", stored / "failing")
    assert found["abstention_accuracy"]["detectable"] > 1
    assert "> 1" in render_page(describe_comparison(found.report), "text")


def test_what_all_runs_lack_is_said_once(stored: Path) -> None:
    found = compare(stored / "a", f"B={stored}/b,{stored}/b").report
    shown = render_page(describe_comparison(found), "text")
    assert " ".join(shown.split()).count("en-021, zh-034") == 1
    assert "B has runs that judge the same bytes" in shown


def test_metrics_are_never_shortened(stored: Path) -> None:
    report = compare(stored / "passing", stored / "failing").report
    shown = render_page(describe_comparison(report), "text", columns=80)
    assert "…" not in shown
    assert "manifest_integrity 1.0000 [0.712, 1.000]" in shown
    assert "1.0000 (" not in render_page(describe_comparison(report), "markdown")
