"""Schemas that are none, answers too large or too deep: a clear error or a counted failure, in bounded time."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from time import process_time
from typing import Any

import pytest

from goldgate.core.value_text import NumberText
from goldgate.errors import ConfigError, InputError
from goldgate.suites.fields import list_pairing
from goldgate.suites.fields.comparators import make_comparator
from goldgate.suites.fields.scorer import FieldsAnswer
from goldgate.suites.fields.source import parse_document
from goldgate.suites.fields.suite import PathSettings
from tests.cases import cases

from .helpers import NUMBER, TEXT, array, counts, obj, score, scorer_for, verdicts

ROW = obj(sku=TEXT, name=TEXT, qty=NUMBER, price=NUMBER, unit=TEXT, tax=NUMBER, total=NUMBER, note=TEXT)
INVOICE = obj(vendor=TEXT, items=array(ROW))

BAD_SCHEMAS: list[Any] = [
    {"type": 7},
    {"type": "strong"},
    {"properties": []},
    {"properties": {"a": 5}},
    {"anyOf": {"type": "string"}},
    {"$ref": "#/$defs/none"},
    {"$ref": "https://example.org/schema.json"},
    {"properties": {"a": {"type": "string", "x-goldgate": {"compare": "magic"}}}},
    {"properties": {"a": {"type": "string", "x-goldgate": 5}}},
]


@cases("schema", BAD_SCHEMAS)
def test_a_schema_that_is_none_is_an_error_with_a_place(schema: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        score({"a": "x"}, {"a": "x"}, schema)
    assert caught.value.place.field


def test_references_in_circles_end() -> None:
    circle = {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}
    for schema in ({"$ref": "#"}, {"$ref": "#/$defs/a", "$defs": circle}):
        assert counts(score({"a": "x"}, {"a": "x"}, schema)) == (1, 1, 1)
    endless = obj(a=TEXT)
    endless["properties"]["b"] = {"$ref": "#"}
    made = scorer_for(None, endless).schema
    assert [shape.name for shape in made.paths()] == ["$", "a", "b", "b.a", "b.b"]


def test_gold_that_is_too_deep_or_no_value_is_an_error() -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    for value in (deep, "text", 5, None):
        with pytest.raises(InputError):
            parse_document({"id": "1", "value": value}, "1")
    with pytest.raises(InputError) as caught:
        parse_document({"id": "1", "valu": {}}, "1")
    assert caught.value.code == "gold.no_value"


def deep_lists(depth: int, leaf: str) -> Any:
    value: Any = [leaf, "same"]
    for level in range(depth):
        value = [value, [f"x{level}", leaf]] if level % 2 else {"k": value, "n": f"{leaf}{level}"}
    return value


def test_gold_as_deep_as_it_may_be_is_aligned() -> None:
    gold, answer = deep_lists(97, "a"), deep_lists(97, "b")
    assert score(gold, gold).hits == len(score(gold, gold).gold.leaves)
    assert score(gold, answer, pair_share=0).hits > 0


def nested(depth: int, opening: str, closing: str) -> str:
    return opening * depth + "1" + closing * depth


@cases("text", [nested(10_000, "[", "]"), nested(10_000, '{"vendor":', "}"), nested(600, "[", "]")])
def test_an_answer_of_any_depth_is_an_answer_like_any_other(text: str) -> None:
    facts = score({"vendor": "a"}, text, INVOICE)
    assert facts.hits == 0
    assert len(facts.predicted.leaves) == int(facts.is_read)
    deep: Any = 1
    for _ in range(5_000):
        deep = {"vendor": deep}
    decoded = scorer_for(None, INVOICE).facts(parse_document({"value": {"vendor": "a"}}, "1"), FieldsAnswer(None, deep))
    assert (len(decoded.predicted.leaves), decoded.compliant) == (1, False)


@cases("count", [24, 64, 5_000])
def test_comments_behind_a_bracket_are_read_in_one_way(count: int) -> None:
    begin = process_time()
    facts = score({"vendor": "a"}, "{" + "/* x */" * count + "vendor", INVOICE)
    assert (facts.is_read, facts.hits) == (False, 0)
    assert process_time() - begin < 1
    assert score({"vendor": "a"}, "{" + "/* x */" * 60 + '"vendor": "a"}', INVOICE).hits == 1


def items(count: int, seed: int, choices: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)

    def word(letter: str) -> str:
        return f"{letter}{chance.randrange(choices)}"

    return [
        {"sku": word("s"), "name": word("n"), "qty": chance.randrange(3), "price": chance.randrange(choices),
         "unit": "kg", "tax": 19, "total": chance.randrange(choices), "note": word("t")}
        for _ in range(count)
    ]  # fmt: skip


def spoiled(rows: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    changed = [{**row, **{key: f"x{chance.randrange(50)}" for key in chance.sample(sorted(row), 3)}} for row in rows]
    return chance.sample(changed, len(changed))


def time_of(count: int, choices: int, answer_of: Any, **section: Any) -> float:
    gold = items(count, 1, choices)
    answer = answer_of(gold)
    begin = process_time()
    facts = score({"items": gold}, {"items": answer}, INVOICE, **section)
    assert not facts.alignment.equal_only
    assert len(facts.gold.leaves) == 8 * count
    return process_time() - begin


def test_long_lists_are_paired_exactly_in_seconds() -> None:
    assert time_of(300, 10**6, lambda gold: spoiled(gold, 2)) < 5
    assert time_of(300, 4, lambda gold: items(300, 3, 4), pair_share=0) < 5


def answer_with_keys(count: int) -> str:
    return json.dumps({f"k{number}": number for number in range(count)})


def test_an_answer_with_very_many_keys_costs_linear_time() -> None:
    facts = score({"vendor": "a"}, answer_with_keys(20_000), INVOICE, text="a 5 7")
    assert counts(facts) == (0, 20_000, 1)
    assert {leaf.shape.name for leaf in facts.predicted.leaves} == {"(undeclared)"}
    many = {"items": ["same value"] * 20_000, "vendor": ["same value"] * 20_000}
    assert score({"vendor": "same value", "items": [{"sku": "same value"}]}, many, INVOICE).hits == 0


def test_numbers_of_any_size_are_compared() -> None:
    exponents = ("1e400000", "-1e-400000", "1e9999999", "-1e99999999999", "1e-99999999")
    for text in ("1" * 5_000, "9" * 1_000_000, "1" + "0" * 400, *exponents):
        for path in ("total", "other"):
            facts = score({"total": 5}, f'{{"{path}": {text}}}', obj(total=NUMBER), text="5 pieces")
            assert counts(facts) == (0, 1, 1), (path, text[:20])


def test_numbers_with_many_digits_are_alike_by_their_value_and_their_hashes_cannot_be_made_to_collide() -> None:
    long = "123456789012345678901"
    exact, near = (
        make_comparator("number", PathSettings()),
        make_comparator("number", PathSettings(abs=Decimal("0.01"))),
    )
    assert exact is not None
    assert near is not None
    for gold, answer, alike, is_near in (
        (int(long), NumberText(long), True, True),
        (int(long), f"{long}.0", True, True),
        (int(long), NumberText(f"{long}.000"), True, True),
        (int(long), NumberText(f"{long}.001"), False, True),
        (int(long), NumberText(f"{long}.1"), False, False),
        (0, NumberText("0e99999999999999999"), True, True),
        (10**500, NumberText("1e500"), True, True),
        (0.1 + 0.2, NumberText("0.30000000000000004"), True, True),
    ):
        for comparator, expected in ((exact, alike), (near, is_near)):
            keys = comparator.key(gold), comparator.key(answer)
            assert comparator.alike(gold, keys[0], answer, keys[1]) is expected, answer
    prime = 2**61 - 1
    assert len({hash(exact.key(NumberText(str(n * prime)))) for n in range(1, 300)}) > 290


def keyed(count: int, sku: str, **odd: Any) -> list[dict[str, Any]]:
    rows = [{"sku": f"{sku}{n}", "name": f"thing {n}", "qty": n, "price": n + 0.5} for n in range(count)]
    return [{**rows[0], **odd}, *rows[1:]]


def test_an_odd_shape_does_not_turn_off_key_and_pair_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_pairing, "MANY_ITEM_PAIRS", 10)
    gold, lists = {"items": keyed(20, "S")}, [{"q": 1}, {"q": 2}]
    undeclared = score(gold, {"items": keyed(20, "S", zz=lists, price=7)}, INVOICE)
    assert (undeclared.hits, undeclared.alignment.equal_only) == (79, {})
    for odd in ({}, {"zz": lists}, {"note": lists, "name": lists}):
        answer = {"items": keyed(20, "WRONG", **odd)}
        assert score(gold, answer, INVOICE, paths={"items[]": {"key": ["sku"]}}).hits == 0, odd
        assert score(gold, answer, INVOICE, paths={"items[]": {"pair_share": 0.8}}).hits == 0, odd
        assert score(gold, answer, INVOICE).hits >= 57, odd


def test_an_item_without_brackets_earns_no_more_than_one_in_them() -> None:
    line = {"sku": "A", "name": "thing", "qty": 1, "price": 5}
    for answer in ({**line, "sku": "B"}, {**line, "sku": "B", "name": "other", "price": 7}, line):
        for rules in ({"key": ["sku"]}, {"pair_share": 0.5}, {"pair_share": 0}):
            for gold in ({"items": [line]}, {"items": line}):
                inside, bare = (
                    score(gold, {"items": value}, INVOICE, paths={"items[]": rules}) for value in ([answer], answer)
                )
                assert counts(inside) == counts(bare), (answer, rules, gold)


def test_fuzzy_lists_beyond_the_budget_of_a_document_are_paired_by_equal_values_and_it_is_said() -> None:
    chance = random.Random(1)

    def texts(count: int) -> list[str]:
        return ["".join(chance.choices("abcdefgh", k=200)) for _ in range(count)]

    schema = obj(f=array(TEXT), l=array(obj(n=array(TEXT), o=TEXT)))
    paths = {path: {"compare": "fuzzy"} for path in ("f[]", "l[].n[]", "l[].o")}
    gold: dict[str, Any] = {"f": texts(40), "l": [{"n": texts(4), "o": text} for text in texts(10)]}
    answer = {"f": [gold["f"][0], *texts(500)], "l": [{"n": texts(4), "o": text} for text in texts(20)]}
    begin = process_time()
    facts = score(gold, answer, schema, paths=paths)
    assert process_time() - begin < 5
    assert (facts.hits, [*facts.alignment.equal_only]) == (1, ["f", "l"])
    near = score({"f": ["abcdefghij"]}, {"f": ["abcdefghix"]}, schema, paths=paths)
    assert (near.hits, near.alignment.equal_only) == (1, {})


def test_a_spurious_value_is_read_once_for_all_paths_that_are_compared_alike() -> None:
    schema = obj(**{f"k{n}": TEXT for n in range(60)})
    gold = {f"k{n}": f"gold value {n}" for n in range(60)}
    answer = {f"z{n}": f"spurious value {n}" for n in range(20_000)} | {"z": "gold value 7"}
    begin = process_time()
    facts = score(gold, answer, schema)
    assert process_time() - begin < 5
    assert verdicts(facts)[0] == {"missing": 59, "misplaced": 1}
