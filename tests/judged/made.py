"""Facts, tallies and paired tables of made-up items, as the source makes them of files."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from goldgate.core.measure import count_unit, table_forms
from goldgate.core.metric import Metric
from goldgate.core.sums import Counts
from goldgate.core.tally import TableKey, Tally
from goldgate.readers.draw import ItemKey
from goldgate.stats.label_counts import HALF, find_resolution, find_scale
from goldgate.suites.judged.measures import HumanAgreement, ItemFacts, LabelledRates, judged_measures

from .reference import Item

Pairs = dict[TableKey, dict[tuple[Counts | None, Counts | None], int]]


def exact(label: float | None) -> Fraction | None:
    return None if label is None else Fraction(repr(label))


def item_facts(items: Sequence[Item], *, older: bool = True) -> list[ItemFacts]:
    judges = [exact(item.judge) for item in items]
    scale = find_scale(judges)
    humans = [exact(item.human) for item in items if isinstance(item.human, (int, float))]
    numbers = [each for each in humans if each is not None]
    given = [HALF if judge is None else judge for judge in judges]
    steps = find_resolution(numbers), find_resolution([*given, *(scale(judge) for judge in judges)])
    facts = []
    for at, (item, judge) in enumerate(zip(items, judges, strict=True)):
        facts.append(
            ItemFacts(
                ItemKey(str(at)),
                str(at),
                *steps,
                item.human is not None,
                exact(item.human) if isinstance(item.human, (int, float)) else None,
                (),
                judge,
                (),
                scale(judge),
                item.stratum,
                older,
            )
        )
    return facts


def count(items: Sequence[Item], *, older: bool = True) -> Tally:
    measures = judged_measures()
    tally = Tally(table_forms(measures))
    for facts, item in zip(item_facts(items, older=older), items, strict=True):
        tally.add(count_unit(measures, facts, tally), item.group)
    return tally


def metrics(items: Sequence[Item], *, older: bool = True) -> dict[str, Metric]:
    tally = count(items, older=older)
    return {**LabelledRates().metrics(tally), **HumanAgreement().metrics(tally)}


def pair(first: Sequence[Item], second: Sequence[Item]) -> Pairs:
    """What both systems counted, item by item; of groups, their sums."""
    measure, sums = LabelledRates(), dict[tuple[TableKey, str], list[Counts | None]]()
    for run, items in enumerate((first, second)):
        for facts, item in zip(item_facts(items), items, strict=True):
            for key, counts in measure.count(facts).items():
                both = sums.setdefault((key, item.group or f"item {facts.id}"), [None, None])
                before = both[run]
                both[run] = counts if before is None else tuple(map(sum, zip(before, counts, strict=True)))
    tables: Pairs = {}
    for (key, _), (one, two) in sums.items():
        table = tables.setdefault(key, {})
        table[one, two] = table.get((one, two), 0) + 1
    return tables


def random_items(rng: random.Random, mode: str) -> list[Item]:
    """Items of any kind: few and many labels, judges good and bad, with scores, without a label, constant."""
    size = rng.choice([12, 20, 40, 120, 300])
    labelled, rate, skill = rng.randint(8, min(size, 60)), rng.choice([0.1, 0.5, 0.9, 1.0]), rng.random()
    kind, fractional = rng.choice(["binary", "binary", "score", "float", "constant"]), rng.random() < 0.2
    items = []
    for number in range(size):
        truth = int(rng.random() < rate)
        judge: Any = truth if rng.random() < skill else 1 - truth
        if kind == "score":
            judge = round(min(1, max(0, judge * 0.6 + rng.random() * 0.3)), 2)
        elif kind == "float":
            judge = rng.random()
        elif kind == "constant":
            judge = 1
        human: Any = None
        if number < labelled:
            human = "unsure" if rng.random() < 0.05 else rng.choice([0, 0.5, 1]) if fractional else truth
        group = rng.choice([None, *"abcdefghijklmnopqrstuvwxyzABCDEFG"]) if mode == "groups" else None
        stratum = rng.choice("xyz") if mode == "strata" else None
        items.append(Item(human, None if rng.random() < 0.05 else judge, group, stratum))
    return items
