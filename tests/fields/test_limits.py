"""Limits of an answer: what lies beyond them is counted, and costs neither time nor memory."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.core.metric import Rate
from goldgate.suites.fields import limits, list_pairing
from goldgate.suites.fields.limits import Census
from goldgate.suites.fields.scorer import FieldFacts
from tests.examples import examples

from .helpers import NUMBER, TEXT, array, counts, metrics_of, obj, score, scorer_for, verdicts
from .test_laws import SCHEMA, documents, shuffled
from .test_reference import make_schema, make_value, spoil

ROW = obj(sku=TEXT, qty=NUMBER, tags=array(TEXT))
INVOICE = obj(vendor=TEXT, items=array(ROW), names=array(TEXT), more={"type": "object", "additionalProperties": NUMBER})


def fraction(facts: FieldFacts, name: str) -> tuple[int, int]:
    rate = metrics_of(facts)[name]
    assert isinstance(rate, Rate)
    return rate.numerator, rate.denominator


def test_items_beyond_the_limit_are_predicted_and_wrong_by_their_number() -> None:
    gold = {"vendor": "a", "names": ["z8", "z9"], "items": [{"sku": "z"}]}
    answer = {
        "names": [f"n{n}" for n in range(2_500)] + ["z9", "z8"],
        "items": [{"sku": f"s{n}", "qty": n} for n in range(2_100)] + [{"sku": "z"}],
    }
    facts = score(gold, answer, INVOICE, text="only z8, z9 and z")
    assert counts(facts) == (3, 2_502 + 2 * 2_100 + 1, 4)  # equal values are kept whatever they are sorted after
    assert (len(facts.predicted.leaves), len(facts.predicted.items)) == (2_000 + 2 * 1_999 + 1, 2_000)
    assert fraction(facts, "item_precision") == (1, 2_101)
    assert fraction(facts, "field_precision") == (3, 6_703)
    assert fraction(facts, "hallucination_rate") == (1, 1)
    unsupported, checked = fraction(facts, "hallucination_entity_rate")
    assert (unsupported, checked) == (6_698, 6_703)  # supported are z8, z9, z and the numbers 8 and 9
    assert facts.compliant is False
    beyond = {"names[]": 502, "items[].sku": 101, "items[].qty": 101}
    assert facts.beyond.by_path == beyond
    assert facts.beyond.items == {"items[]": 101}
    assert score(gold, gold, INVOICE).compliant is True


def test_lists_may_be_twice_as_long_as_those_of_gold() -> None:
    gold = {"names": [f"n{n}" for n in range(1_500)]}
    for count, beyond in ((3_000, 0), (3_001, 1)):
        facts = score(gold, {"names": [f"n{n}" for n in range(count)]}, INVOICE)
        assert (counts(facts), facts.beyond.leaves.total()) == ((1_500, count, 1_500), beyond)
        assert facts.compliant is (beyond == 0)


def test_paths_that_nothing_has_are_limited_and_those_of_gold_are_not() -> None:
    keys = {f"k{n}": n for n in range(1_500)}
    facts = score({"vendor": "a"}, {"vendor": "a", **keys}, INVOICE)
    assert (counts(facts), facts.beyond.by_path) == ((1, 1_501, 1), {"(undeclared)": 500})
    nested = {f"a{one}": {f"b{two}": [1, 1]} for one in range(40) for two in range(40)}
    assert score({"vendor": "a"}, nested, INVOICE).beyond.by_path == {}  # one key of each a: 40 paths
    deep = {f"a{one}": {f"b{two}": [1, 1] for two in range(40)} for one in range(40)}
    assert score({"vendor": "a"}, deep, INVOICE).beyond.by_path == {"(undeclared)": 1_200}
    counted = score(keys, keys, INVOICE, outside_schema="count")
    assert counts(counted) == (1_500, 1_500, 1_500)
    entries = score({"more": {"k7": 7}}, {"more": {f"k{n}": n for n in range(2_500)}}, INVOICE)
    assert (counts(entries), entries.beyond.by_path) == ((1, 2_500, 1), {"more.*": 500})


def test_of_an_answer_with_too_many_lists_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_PATHS", 2)
    monkeypatch.setattr(limits, "MAX_CONTAINERS", 3)
    gold = {"vendor": "a", "names": ["b"]}  # two containers, so that four are allowed
    for lists, counted in ((2, (2, 4, 2)), (3, (0, 5, 2))):
        facts = score(gold, {"vendor": "a", "names": ["b", *([["x"]] * lists)]}, INVOICE)
        assert (facts.hits, facts.predicted_count, len(facts.gold.leaves)) == counted
        assert (facts.beyond.leaves.total() > 0) is (lists == 3)


def sums(facts: FieldFacts) -> Any:
    """Every number that the limits may change."""
    metrics = metrics_of(facts)
    names = [name for name in metrics if isinstance(metrics[name], Rate)]
    return counts(facts), facts.beyond.by_path, facts.beyond.items, [str(metrics[name]) for name in names]


@examples(40)
@given(documents, documents, st.integers(0, 1000))
def test_any_order_gives_the_same_numbers_beyond_the_limits_too(gold: Any, answer: Any, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "MAX_ITEMS", 1)
        patch.setattr(limits, "MAX_PATHS", 1)
        patch.setattr(limits, "MAX_LEAVES", 4)
        patch.setattr(limits, "_SMALLER", (1,))
        facts, other = (score(gold, shuffled(answer, random.Random(each)), SCHEMA) for each in (seed, seed + 1))
        assert sums(facts) == sums(other)
        of_gold, of_answer = verdicts(facts)
        beyond = facts.beyond.leaves.total()
        assert facts.predicted_count == of_answer.total() + beyond
        assert of_gold["hit"] == of_answer["hit"]
    whole = score(gold, answer, SCHEMA)
    assert facts.predicted_count == len(whole.predicted.leaves)
    assert facts.hits <= whole.hits or beyond == 0


def census(value: Any, schema: Any) -> tuple[Counter[str], Counter[str]]:
    made = scorer_for(None, schema)
    counted = Census(lambda text: not text.strip())
    if isinstance(value, dict | list):
        counted.add(value, made.schema.root)
    names: Counter[str] = Counter()
    for shape, leaves in counted.leaves.items():
        names[shape.name] += leaves
    return names, counted.items


def of_tree(facts: FieldFacts) -> tuple[Counter[str], Counter[str]]:
    leaves, items = facts.predicted.leaves, facts.predicted.items
    return Counter(leaf.shape.name for leaf in leaves), Counter(item.shape.name for item in items)


def test_a_census_counts_what_is_built_of_spoiled_answers() -> None:
    chance = random.Random(5)
    for _ in range(300):
        schema = make_schema(chance, chance.choice([0, 1, 2]))
        answer = make_value(chance, schema)
        for _ in range(chance.choice([0, 2, 5, 9])):
            spoil(chance, answer)
        assert census(answer, schema) == of_tree(score({}, answer, schema)), (answer, schema)


def nested_orders(chance: random.Random, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    if not sizes:
        return [{"y": f"y{chance.randrange(4)}"} for _ in range(3)]
    return [{"x": f"x{chance.randrange(4)}", "in": nested_orders(chance, sizes[1:])} for _ in range(sizes[0])]


def test_lists_in_items_are_compared_for_a_limited_number_of_pairs() -> None:
    chance = random.Random(2)
    schema = obj(orders=array(obj(x=TEXT, **{"in": array(obj(x=TEXT, **{"in": array(obj(y=TEXT))}))})))
    gold, answer = ({"orders": nested_orders(chance, (30, 10))} for _ in range(2))
    begin = process_time()
    facts = score(gold, answer, schema)
    assert process_time() - begin < 6
    assert facts.alignment.pairs_left_out > 0
    assert facts.compliant is False
    again = score(gold, {"orders": shuffled(answer, chance)["orders"]}, schema)
    assert sums(facts) == sums(again)
    assert score(gold, shuffled(gold, chance), schema).alignment.pairs_left_out == 0


def test_leaving_out_pairs_that_cannot_be_made_changes_no_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)
    schema = obj(orders=array(obj(x=TEXT, **{"in": array(obj(y=TEXT))})))
    for share in (0, Fraction(1, 2)):
        for _ in range(30):
            gold, answer = ({"orders": nested_orders(chance, (5,))} for _ in range(2))
            exact = score(gold, answer, schema, pair_share=float(share))
            monkeypatch.setattr(list_pairing, "MANY_ITEM_PAIRS", 0)
            pruned = score(gold, answer, schema, pair_share=float(share))
            assert (counts(pruned), pruned.alignment.pairs_left_out) == (counts(exact), 0)
            monkeypatch.undo()
    assert list_pairing.MAX_LIST_PAIRS == 20_000


BIG = obj(
    vendor=TEXT,
    items=array(obj(sku=TEXT, price={**NUMBER, "x-goldgate": {"compare": "number", "rel": 0.01}})),
    amounts=array({**NUMBER, "x-goldgate": {"compare": "number", "abs": 0.5}}),
    names=array({**TEXT, "x-goldgate": {"compare": "fuzzy"}}),
    notes=array({**TEXT, "x-goldgate": {"compare": "contains"}}),
    keyed=array(obj(k={**TEXT, "x-goldgate": {"compare": "fuzzy"}}, l=array(TEXT)), **{"x-goldgate": {"key": ["k"]}}),
    free={},
)
HOSTILE: dict[str, Any] = {  # a fifth of what takes 5 seconds at most
    "numbers within a share": {"items": [{"price": n / 7} for n in range(30_000)]},
    "numbers within a distance": {"amounts": [n / 7 for n in range(50_000)]},
    "scalars where objects belong": {"items": [1] * 200_000},
    "fuzzy texts": {"names": [f"{n:020}" for n in range(30_000)]},
    "fuzzy keys": {"keyed": [{"k": f"{n:020}", "l": ["q"]} for n in range(10_000)]},
    "long texts": {"notes": [f"{n} " + "word " * 99 for n in range(2_000)]},
    "keys": {f"k{n}": n for n in range(60_000)},
    "objects": {"items": [{"sku": str(n)} for n in range(50_000)]},
    "lists where objects belong": {"items": [[1]] * 100_000},
    "lists in lists": {"free": [[n % 9 for n in range(700)] for _ in range(500)]},
    "empty objects": {"items": [{}] * 200_000},
    "one long text": {"vendor": "x" * 1_000_000},
    "lists in lists, deep": {"free": [json.loads("[" * 90 + "1" + "]" * 90) for _ in range(5_000)]},
    "marks in texts": {"names": ["a" + "\u0301\u0316" * 600 + str(n) for n in range(400)]},
    "letters that become many": {"names": ["\ufdfa" * 800 + str(n) for n in range(400)]},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_an_answer_has_it_takes_seconds_at_most(name: str) -> None:
    gold = {"vendor": "a", "items": [{"sku": f"s{n}", "price": n} for n in range(200)], "amounts": [1, 2, 3]}
    gold["keyed"] = [{"k": f"{n:020}x", "l": ["q"]} for n in range(400)]
    gold["names"] = gold["notes"] = [f"name number {n}" for n in range(100)]
    answer = json.dumps(HOSTILE[name])
    begin = process_time()
    facts = score(gold, answer, BIG, text=json.dumps(gold))
    assert process_time() - begin < 5
    assert len(facts.predicted.leaves) <= limits.MAX_LEAVES


def test_what_lies_beyond_the_limits_is_not_absent() -> None:
    words: Any = [f"w{n}" for n in range(20)]
    for _ in range(3):
        words = [words] * 20
    facts = score({"qty": 1}, {"vendor": words}, obj(vendor=TEXT, buyer=TEXT, qty=NUMBER))
    assert (len(facts.predicted.leaves), facts.predicted_count) == (0, 160_000)
    assert facts.absent == (1, 2)
    assert metrics_of(facts)["document_exact_rate"].value == 0
