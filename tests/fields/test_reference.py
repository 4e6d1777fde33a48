"""The suite against a second scorer, which was written from the specification alone, on random documents."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

import pytest

from goldgate.suites.fields.scorer import FieldFacts

from .helpers import array, obj, score
from .reference import Result, TooManyError, count_rows, possible_results

WORDS = ["Anna", "anna ", "Acme", "Acme Ltd", "Oslo", "10²", "SK-1"]
SCALARS: dict[str, list[Any]] = {
    "string": WORDS,
    "number": [1, 2.5, 120, "120.0", "$ 1,240.50", "1,240", 1240],
    "integer": [1, 2, 120, 2024],
    "boolean": [True, False, "true"],
    "enum": ["open", "closed", "Open"],
}
RULES: dict[str, list[dict[str, Any]]] = {  # outside lists: comparators that are not equivalences too
    "string": [{"compare": "exact"}, {"compare": "fuzzy"}, {"compare": "ignore"}],
    "number": [{"compare": "number", "abs": 1}, {"compare": "text"}],
}


def make_schema(chance: random.Random, depth: int, *, in_list: bool = False) -> dict[str, Any]:
    """A JSON Schema of an object with scalars, objects and lists."""
    properties: dict[str, Any] = {}
    for key in chance.sample("abcdef", chance.randint(1, 4)):
        roll = chance.random() if depth else 1
        if roll < 0.15:
            properties[key] = make_schema(chance, depth - 1, in_list=in_list)
        elif roll < 0.45:
            item = make_schema(chance, depth - 1, in_list=True)
            rules = [{}, {}, {"list": "ordered"}, {"key": [min(item["properties"])]}, {"pair_share": 0.7}]
            properties[key] = array(item, **{"x-goldgate": chance.choice(rules)})
        elif roll < 0.6:
            item = make_scalar(chance, in_list=True)
            properties[key] = array(array(item) if chance.random() < 0.3 else item)
        else:
            properties[key] = make_scalar(chance, in_list=in_list)
    return obj(**properties)


def make_scalar(chance: random.Random, *, in_list: bool) -> dict[str, Any]:
    kind = chance.choice([*SCALARS])
    if kind == "enum":
        return {"type": "string", "enum": SCALARS["enum"]}
    rules = RULES.get(kind, [])
    return (
        {"type": kind, "x-goldgate": chance.choice(rules)}
        if rules and chance.random() < 0.3 and not in_list
        else {"type": kind}
    )


def make_value(chance: random.Random, schema: dict[str, Any]) -> Any:
    if schema["type"] == "object":
        below = schema["properties"].items()
        return {key: make_value(chance, entry) for key, entry in below if chance.random() < 0.85}
    if schema["type"] == "array":
        return [make_value(chance, schema["items"]) for _ in range(chance.choice([0, 1, 1, 2, 3]))]
    return chance.choice([*SCALARS["enum" if "enum" in schema else schema["type"]][: chance.choice([2, 7])], None, ""])


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a value with every key or position in it."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    listed = [(value, key) for key, _ in entries]
    return listed + [place for container, key in listed for place in places(container[key])]


def spoil(chance: random.Random, value: Any) -> None:
    """Change an answer in one of the ways that models do."""
    spots = places(value)
    if not spots:
        return
    (container, key), (other, place) = chance.choice(spots), chance.choice(spots)
    entry = container[key]
    match chance.choice(["drop", "value", "move", "wrap", "unwrap", "double", "shuffle", "extra", "nest"]):
        case "drop":
            container[key] = None
        case "value":
            container[key] = chance.choice(WORDS)
        case "move":
            container[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(entry)
        case "wrap":
            container[key] = [entry]
        case "unwrap" if isinstance(entry, list) and len(entry) == 1:
            container[key] = entry[0]
        case "double" if isinstance(entry, list) and 0 < len(entry) < 4:
            entry.append(copy.deepcopy(chance.choice(entry)))
        case "shuffle" if isinstance(entry, list):
            chance.shuffle(entry)
        case "extra" if isinstance(entry, dict):
            entry["extra"] = chance.choice(WORDS)
        case "nest" if not isinstance(entry, dict | list):
            container[key] = {"value": entry}


def result_of(facts: FieldFacts) -> Result:
    """What the suite counts, in the form of the reference."""
    gold, predicted = facts.gold, facts.predicted
    paired = Counter((leaf.shape.name, leaf.state) for leaf in gold.leaves if leaf.state in ("hit", "wrong"))
    right = [
        one.shape.name
        for one, other in facts.alignment.items
        if one.end - one.start == other.end - other.start
        and all(leaf.state == "hit" for leaf in gold.leaves[one.start : one.end])
    ]
    return Result(
        count_rows([leaf.shape.name for leaf in gold.leaves], [leaf.shape.name for leaf in predicted.leaves]),
        count_rows([item.shape.name for item in gold.items], [item.shape.name for item in predicted.items]),
        facts.absent,
        facts.alignment.pair_share_cost,
        tuple(sorted(paired.items())),
        tuple(sorted(right)),
        facts.alignment.shape_mended,
        sum(leaf.state == "misplaced" for leaf in gold.leaves),
    )


def check_documents(seed: int, count: int) -> None:
    chance, skipped = random.Random(seed), 0
    for number in range(count):
        schema = make_schema(chance, chance.choice([0, 1, 1, 2]))
        gold = make_value(chance, schema)
        answer = copy.deepcopy(gold)
        for _ in range(chance.choice([0, 1, 2, 3, 5])):
            spoil(chance, answer)
        try:
            possible = possible_results(gold, answer, schema)
        except TooManyError:
            skipped += 1
            continue
        result = result_of(score(gold, answer, schema))
        assert result in possible, (seed, number, gold, answer, schema, result, possible)
    assert skipped <= count // 20


def test_the_suite_agrees_with_a_second_reading_of_the_specification() -> None:
    """A few of the documents of `test_it_agrees_on_thousands_of_documents`."""
    check_documents(seed=1, count=300)


@pytest.mark.slow
def test_it_agrees_on_thousands_of_documents() -> None:
    """Its quick sibling is `test_the_suite_agrees_with_a_second_reading_of_the_specification`."""
    check_documents(seed=2, count=6_000)
