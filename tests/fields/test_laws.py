"""Laws of the fields suite, on whatever hypothesis makes: against trying every pairing, in any order, with damage."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.core.assignment import best_pairs
from goldgate.core.value_text import Blanks, normalizer
from tests.examples import examples

from .helpers import array, counts, metrics_of, obj, score, verdicts

QUICK = examples(80)

scalars = st.sampled_from(["a", "B", "b ", "c", "a b", "A  B", "ab", "", None, 1, 1.0, 2, True, "1"])
kinds_of_blanks = st.sampled_from(["remove", "keep"])
inner = st.dictionaries(st.sampled_from(["p", "q"]), scalars, max_size=2)
rows = st.fixed_dictionaries(
    {}, optional={"x": scalars, "y": scalars, "tags": st.lists(scalars, max_size=3), "sub": st.lists(inner, max_size=2)}
)
documents = st.fixed_dictionaries({}, optional={"name": scalars, "rows": st.lists(rows, max_size=3), "more": inner})
ANY: dict[str, Any] = {"type": ["string", "number", "boolean"]}
PAIR = obj(p=ANY, q=ANY)
ROW = obj(x=ANY, y=ANY, tags=array(ANY), sub=array(PAIR))
SCHEMA = obj(name=ANY, rows=array(ROW), more=PAIR)


def key_of(value: Any, blanks: Blanks = "remove") -> str | None:
    """What a scalar is compared by, written from the specification; None for one that is absent."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return normalizer(blanks)(value) if isinstance(value, str) else str(int(value))


def size(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(size, value.values()))
    return sum(map(size, value)) if isinstance(value, list) else int(key_of(value) is not None)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def most_hits(gold: Any, predicted: Any, share: Fraction, blanks: Blanks = "remove") -> int:
    """H by trying every pairing of the items of every list."""
    if isinstance(gold, dict) and isinstance(predicted, dict):
        return sum(most_hits(gold[key], predicted[key], share, blanks) for key in gold.keys() & predicted.keys())
    if isinstance(gold, list) or isinstance(predicted, list):
        # What is no list is a list of one; where gold has one value, a list of several hits nothing.
        one, other = ([item for item in as_list(each) if size(item)] for each in (gold, predicted))
        if not isinstance(gold, list) and (len(other) > 1 or (not isinstance(gold, dict) and size(other) > 1)):
            return 0
        return every_pairing(one, other, share, blanks)
    if isinstance(gold, dict) or isinstance(predicted, dict):
        return 0
    return int(key_of(gold) is not None and key_of(gold, blanks) == key_of(predicted, blanks))


def every_pairing(gold: list[Any], predicted: list[Any], share: Fraction, blanks: Blanks) -> int:
    values = [[pair_value(g, p, share, blanks) for p in predicted] for g in gold]
    if len(gold) > len(predicted):  # the rules of a pair are not the same both ways
        values = [list(column) for column in zip(*values, strict=True)]
    best = 0
    for chosen in permutations(range(max(len(gold), len(predicted))), len(values)):
        best = max(best, sum(values[row][column] for row, column in enumerate(chosen)))
    return best


def pair_value(gold: Any, predicted: Any, share: Fraction, blanks: Blanks) -> int:
    hits = most_hits(gold, predicted, share, blanks)
    if isinstance(gold, dict) and isinstance(predicted, dict) and hits < share * min(size(gold), size(predicted)):
        return 0
    return hits


@QUICK
@given(documents, documents, kinds_of_blanks)
def test_hits_are_those_of_trying_every_pairing(gold: Any, answer: Any, blanks: Blanks) -> None:
    facts = score(gold, answer, SCHEMA, pair_share=0, blanks=blanks)
    assert counts(facts) == (most_hits(gold, answer, Fraction(0), blanks), size(answer), size(gold))


mixed = st.recursive(
    st.sampled_from(["a", "b", 1]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
    max_leaves=8,
)


@QUICK
@given(mixed, mixed)
def test_mixed_lists_follow_the_same_rules(gold: Any, answer: Any) -> None:
    facts = score({"k": gold}, {"k": answer}, {"type": "object", "properties": {"k": {}}}, pair_share=0)
    assert counts(facts) == (most_hits(gold, answer, Fraction(0)), size(answer), size(gold))


amounts = st.lists(st.sampled_from([12, "12", "12 USD", "12 EUR", "$12", "12 CAD", 5, "5 EUR", "5 kg"]), max_size=6)
AMOUNT = {"type": ["string", "number"], "x-goldgate": {"compare": "number"}}


@QUICK
@given(amounts, amounts)
def test_amounts_are_paired_for_most_hits(gold: Any, answer: Any) -> None:
    """A number without a unit is alike two that are not alike each other."""
    short, long = sorted((gold, answer), key=len)
    alike = [[score({"v": one}, {"v": other}, obj(v=AMOUNT)).hits for other in long] for one in short]
    chosen = permutations(range(len(long)), len(short))
    most = max(sum(row[column] for row, column in zip(alike, columns, strict=True)) for columns in chosen)
    assert score({"v": gold}, {"v": answer}, obj(v=array(AMOUNT))).hits == most


@QUICK
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=3))
def test_an_assignment_is_that_of_trying_all(weights: list[tuple[int, ...]]) -> None:
    rows = [[(w, sum(1 << c for c in range(3) if row[c] == w)) for w in (1, 2, 3) if w in row] for row in weights]
    chosen = best_pairs(rows, 3)
    assert len({*chosen.values()}) == len(chosen)
    table = [[*row, 0, 0, 0] for row in weights]  # a row may stay alone
    best = max(sum(table[r][c] for r, c in enumerate(order)) for order in permutations(range(6), len(table)))
    assert sum(weights[row][column] for row, column in chosen.items()) == best


@QUICK
@given(documents, kinds_of_blanks)
def test_gold_against_itself_is_right_in_everything(gold: Any, blanks: Blanks) -> None:
    facts = score(gold, gold, SCHEMA, blanks=blanks)
    assert counts(facts) == (size(gold),) * 3
    assert {leaf.state for tree in (facts.gold, facts.predicted) for leaf in tree.leaves} <= {"hit"}
    assert metrics_of(facts)["document_exact_rate"].value == 1


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same with keys and list items in another order."""
    if isinstance(value, dict):
        keys = chance.sample([*value], len(value))
        return {key: shuffled(value[key], chance) for key in keys}
    if isinstance(value, list):
        return [shuffled(item, chance) for item in chance.sample(value, len(value))]
    return value


@QUICK
@given(documents, documents, st.integers(0, 1000))
def test_any_order_of_keys_and_items_gives_the_same_numbers(gold: Any, answer: Any, seed: int) -> None:
    chance = random.Random(seed)

    def rows_of(one: Any, other: Any) -> tuple[Any, ...]:
        facts = score(one, other, SCHEMA)
        by_path = [Counter((leaf.shape.name, leaf.state) for leaf in t.leaves) for t in (facts.gold, facts.predicted)]
        return counts(facts), by_path, facts.alignment.pair_share_cost, facts.alignment.shape_mended

    assert rows_of(gold, answer) == rows_of(shuffled(gold, chance), shuffled(answer, chance))


@QUICK
@given(documents, documents)
def test_every_leaf_of_both_sides_has_one_name(gold: Any, answer: Any) -> None:
    facts = score(gold, answer, SCHEMA, text="a B 1")
    hits, predicted, wanted = counts(facts)
    of_gold, of_answer = verdicts(facts)
    assert hits <= min(predicted, wanted)
    assert {*of_gold} <= {"hit", "wrong", "misplaced", "missing"}
    assert {*of_answer} <= {"hit", "wrong", "misplaced", "hallucinated", "spurious"}
    assert of_gold["hit"] == of_answer["hit"] == hits
    assert of_gold["wrong"] == of_answer["wrong"]
    assert of_gold["misplaced"] == of_answer["misplaced"]
    for leaf in (*facts.gold.leaves, *facts.predicted.leaves):
        assert (leaf.partner is not None) == (leaf.state in ("hit", "wrong", "misplaced"))
        assert leaf.partner is None or leaf.partner.partner is leaf


def without_one(value: Any, chance: random.Random) -> Any:
    """The same without one of its leaves."""
    if isinstance(value, dict) and value:
        key = chance.choice(sorted(value))
        return {**value, key: without_one(value[key], chance)}
    if isinstance(value, list) and value:
        place = chance.randrange(len(value))
        return [*value[:place], without_one(value[place], chance), *value[place + 1 :]]
    return None


@QUICK
@given(documents, documents, st.integers(0, 1000))
def test_a_removed_leaf_never_raises_recall(gold: Any, answer: Any, seed: int) -> None:
    less = without_one(answer, random.Random(seed))
    assert (
        counts(score(gold, less or {}, SCHEMA, pair_share=0))[0] <= counts(score(gold, answer, SCHEMA, pair_share=0))[0]
    )


def most_cost(gold: Any, answer: Any) -> tuple[int, int]:
    facts = score(gold, answer, SCHEMA, pair_share=1)
    return counts(facts)[0], facts.alignment.pair_share_cost


few = st.sampled_from(["a", "b", "c"])
flat_rows = st.fixed_dictionaries({"rows": st.lists(st.fixed_dictionaries({"x": few, "y": few}), max_size=4)})


@QUICK
@given(flat_rows, flat_rows)
def test_the_cost_of_pair_share_is_what_is_lost_by_it(gold: Any, answer: Any) -> None:
    hits, cost = most_cost(gold, answer)
    assert hits + cost == counts(score(gold, answer, SCHEMA, pair_share=0))[0]


@pytest.mark.law
def test_any_split_into_shards_gives_the_same_sum() -> None:
    chance = random.Random(3)
    golds = [{"rows": [{"x": chance.randrange(4), "y": "b"} for _ in range(4)]} for _ in range(6)]
    answers = [shuffled(gold, chance) for gold in golds[:-1]] + [None]
    facts = [score(gold, answer, SCHEMA) for gold, answer in zip(golds, answers, strict=True)]
    assert str(metrics_of(*facts)) == str(metrics_of(*facts[::-1]))
