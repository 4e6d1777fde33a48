"""The suite against the formulas that were worked out from the specification alone, on random labels."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from typing import Any, Literal

import pytest

from goldgate.pipeline import evaluate_suite
from goldgate.suites.judged.planning import sample_items
from goldgate.suites.judged.suite import SUITE

from . import reference

PROTOCOL = {"judged": {"sampling": "trusted"}}
CLOSE = 2e-9  # the ends of intervals are cut outwards at nine digits
STEPS_CLOSE = 1e-7  # scores and means that are not whole in any steps are rounded


@dataclass
class Labelled:
    """An item with the labels of all people and judges, as files have them."""

    people: list[float | Literal["unsure"]] = field(default_factory=list)
    judges: list[float | None] = field(default_factory=list)
    group: str | None = None
    stratum: str | None = None

    def as_item(self) -> reference.Item:
        numbers = [label for label in self.people if label != "unsure"]
        human: float | Literal["unsure"] | None = reference.mean(numbers) if numbers else None
        if self.people and not numbers:
            human = "unsure"
        return reference.Item(human, reference.mean_of_judges(self.judges), self.group, self.stratum)


def random_labels(chance: random.Random) -> list[Labelled]:
    """Items with some of: several people who disagree, unsure people, several judges, scores, no labels, groups."""
    size, rate, right = chance.randint(20, 150), chance.choice([0.5, 0.9, 1.0, chance.random()]), chance.uniform(0.4, 1)
    drawn = set(chance.sample(range(size), chance.randint(8, size)))
    several, unsure, nulls = (chance.choice([0, 0, 0.3]) for _ in range(3))
    judges, together = chance.choice([0, 1, 1, 1, 2, 3]), chance.choice([0, 0, 1, 2, 4])
    scores = chance.choice([None, None, (0, 0.5, 1), (0.25, 0.5, 0.75), tuple(k / 100 for k in range(101))])
    items = []
    for at in range(size):
        truth = float(chance.random() < rate)
        item = Labelled(group=f"g{at // together}" if together and chance.random() < 0.95 else None)
        for _ in range(judges):
            said = truth if chance.random() < right else 1 - truth
            said = said if scores is None else chance.choice([*scores, *(x for x in scores if abs(x - said) < 0.5)])
            item.judges.append(None if chance.random() < nulls else said)
        if at in drawn:
            people = chance.randint(2, 3) if chance.random() < several else 1
            for _ in range(people):
                wrong = several and chance.random() < 0.2
                item.people.append("unsure" if chance.random() < unsure else 1 - truth if wrong else truth)
        items.append(item)
    return items


def write_files(folder: Path, items: Sequence[Labelled]) -> dict[str, list[str]]:
    people: list[dict[str, Any]] = []
    judges: list[dict[str, Any]] = []
    for at, item in enumerate(items):
        people += [{"id": f"{at}", "label": x, "by": f"p{n}", "kind": "human"} for n, x in enumerate(item.people)]
        judges += [{"id": f"{at}", "label": x, "by": f"m{n}", "kind": "judge"} for n, x in enumerate(item.judges)]
    records = {
        "items": [{"id": f"{at}"} | ({"group": item.group} if item.group else {}) for at, item in enumerate(items)],
        "judges": judges,
        "people": people,
    }
    for name, lines in records.items():
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return {"items": [str(folder / "items")], "labels": [str(folder / n) for n in ("judges", "people") if records[n]]}


def check_share(found: dict[str, Any], expected: reference.Share | reference.Undefined, close: float) -> None:
    if isinstance(expected, reference.Undefined):
        assert found["value"] is None, (found, expected)
        return
    assert isclose(found["value"], expected.value, abs_tol=close), (found, expected)
    if found["interval"] is None:
        assert expected.of == 1  # one item shows no spread
        return
    assert isclose(found["interval"]["low"], expected.low, abs_tol=close), (found, expected)
    assert isclose(found["interval"]["high"], expected.high, abs_tol=close), (found, expected)


def compare(folder: Path, labelled: Sequence[Labelled]) -> bool:
    """Compare every number of the report; whether there is a corrected rate."""
    metrics: Any = evaluate_suite(SUITE, write_files(folder, labelled), PROTOCOL).report["metrics"]["main"]
    items, has_judge = [each.as_item() for each in labelled], any(each.judges for each in labelled)
    close = STEPS_CLOSE
    humans = [item for item in items if isinstance(item.human, float)]
    if humans:
        assert isclose(metrics["human_rate"]["value"], reference.human_rate(items), abs_tol=close)
    if has_judge:
        assert isclose(metrics["judge_rate"]["value"], reference.judge_rate(items), abs_tol=close)
    if has_judge and humans:
        assert isclose(metrics["judge_bias"]["value"], reference.judge_bias(items), abs_tol=close)
    check_share(metrics["agreement"], reference.agreement(items), close)
    check_share(metrics["judge_sensitivity"], reference.sensitivity(items), close)
    check_share(metrics["judge_specificity"], reference.specificity(items), close)
    check_share(metrics["cohens_kappa"], reference.cohens_kappa(items), close)
    people = [[label for label in each.people if label != "unsure"] for each in labelled]
    check_share(metrics["human_agreement"], reference.human_agreement(people), close)
    expected = reference.estimate(items)
    if isinstance(expected, reference.Undefined):
        assert metrics["rate"]["value"] is None, expected
        return False
    check_rate(metrics["rate"]["interval"], expected, close)
    middle = (expected.lower.rate + expected.upper.rate) / 2
    assert isclose(metrics["rate"]["value"], middle, abs_tol=close)
    worth = min(expected.lower.labels_worth, expected.upper.labels_worth)
    assert isclose(metrics["labels_worth"]["value"], worth, rel_tol=1e-6)
    return True


def check_rate(interval: dict[str, Any], expected: reference.Bounded, close: float) -> None:
    assert isclose(interval["low"], expected.interval[0], abs_tol=close), (interval, expected)
    assert isclose(interval["high"], expected.interval[1], abs_tol=close), (interval, expected)


def test_every_number_of_a_report(tmp_path: Path) -> None:
    chance = random.Random("reports")
    rates = sum(compare(tmp_path, random_labels(chance)) for _ in range(30))
    assert rates > 15


@pytest.mark.parametrize("by", ["judge", "part"])
def test_items_drawn_by_strata(tmp_path: Path, by: str) -> None:
    chance = random.Random(by)
    for _ in range(8):
        items = [Labelled(judges=[float(chance.random() < 0.7)]) for _ in range(chance.randint(40, 120))]
        for at, item in enumerate(items):
            item.stratum = f"{item.judges[0]:.0f}" if by == "judge" else chance.choice("aaaabbbc")
            item.group = f"{at}"  # each its own: no groups
        files = write_files(tmp_path, items)
        population = [json.loads(line) for line in Path(files["items"][0]).read_text().splitlines()]
        for item, record in zip(items, population, strict=True):
            record["part"] = item.stratum
        Path(files["items"][0]).write_text("".join(json.dumps(record) + "\n" for record in population))
        options = {"n": chance.randint(15, 40), "draw": 1, "by": by, "labels": files["labels"][0]}
        lines = sample_items(files["items"][0], options).lines
        (tmp_path / "drawn").write_bytes(b"".join(lines))
        people = []
        for line in lines[1:]:
            identity = json.loads(line)["id"]
            items[int(identity)].people = ["unsure" if chance.random() < 0.1 else float(chance.random() < 0.8)]
            people.append({"id": identity, "label": items[int(identity)].people[0], "by": "p", "kind": "human"})
        (tmp_path / "people").write_text("".join(json.dumps(label) + "\n" for label in people))
        files |= {"labels": [*files["labels"], str(tmp_path / "people")], "draw": [str(tmp_path / "drawn")]}
        metrics: Any = evaluate_suite(SUITE, files).report["metrics"]["main"]
        expected = reference.estimate([item.as_item() for item in items])
        assert isinstance(expected, reference.Bounded)
        check_rate(metrics["rate"]["interval"], expected, CLOSE)
        worth = min(expected.lower.labels_worth, expected.upper.labels_worth)
        assert isclose(metrics["labels_worth"]["value"], worth, rel_tol=1e-6)
