"""Leaves, shapes, lists: what is aligned with what."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from goldgate.errors import ConfigError, Place
from goldgate.suites.fields.leaves import location
from goldgate.suites.fields.schema import FieldSchema
from tests.cases import cases

from .helpers import NUMBER, TEXT, array, counts, metrics_of, obj, score, scorer_for, verdicts

ITEM = obj(sku=TEXT, name=TEXT, qty=NUMBER, price=NUMBER)
INVOICE = obj(vendor=TEXT, items=array(ITEM))


def rows(facts: Any, verdict: str, side: str = "predicted") -> list[str]:
    tree = facts.predicted if side == "predicted" else facts.gold
    return sorted(leaf.shape.name for leaf in tree.leaves if leaf.state == verdict)


def test_absent_is_no_leaf_on_either_side() -> None:
    nothing: dict[str, Any] = {"a": None, "b": "", "c": [], "d": {}, "e": " ", "f": "n/a", "h": [None, {}]}
    gold = {**nothing, "g": "x", "i": False, "j": 0}
    names = {key: {"type": ["string", "number", "boolean", "array", "object"]} for key in gold}
    facts = score(gold, gold, obj(**names), null_words=["N/A"])
    assert sorted(str(leaf.value) for leaf in facts.gold.leaves) == ["0", "False", "x"]
    assert counts(facts) == (3, 3, 3)


def test_paths_are_keys_and_levels_of_lists() -> None:
    value = {"items": [{"price": 1}], "a.b": "x", 'q"': "y", "": "z", "grid": [[1]]}
    facts = score(value, value)
    assert {leaf.shape.name for leaf in facts.gold.leaves} == {"items[].price", '"a.b"', '"q\\""', '""', "grid[][]"}
    assert [location(leaf) for leaf in facts.gold.leaves][:2] == ["items[0].price", '"a.b"']


def test_a_list_at_the_root() -> None:
    facts = score([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}])
    assert counts(facts) == (2, 2, 2)
    assert {leaf.shape.name for leaf in facts.gold.leaves} == {"[].a"}


def test_keys_of_a_map_are_compared_after_normalization() -> None:
    schema = obj(skills={"type": "object", "additionalProperties": {"type": "number"}})
    facts = score({"skills": {"Go": 3, "C": 1}}, {"skills": {"go ": 3}}, schema)
    assert counts(facts) == (1, 1, 2)
    assert {leaf.shape.name for leaf in facts.gold.leaves} == {"skills.*"}
    beside = obj(skills={"type": "object", "properties": {"C": NUMBER}, "additionalProperties": NUMBER})
    assert counts(score({"skills": {"Go": 3, "C": 1}}, {"skills": {"go ": 3, "c": 1}}, beside)) == (1, 2, 2)


def test_a_key_twice_the_last_one_wins_and_it_is_counted() -> None:
    for answer in ('{"vendor": "b", "vendor": "a"}', "{'vendor': 'b', 'vendor': 'a'}"):
        facts = score({"vendor": "a"}, answer, INVOICE)
        assert (counts(facts), facts.repeated_keys) == ((1, 1, 1), True), answer
    lists = '{"items": [{"sku": "1"}], "vendor": "a", "items": [{"sku": "2"}]}'  # joined: both items are hits
    facts = score({"vendor": "a", "items": [{"sku": "1"}, {"sku": "2"}]}, lists, INVOICE)
    assert (counts(facts), facts.repeated_keys) == ((3, 3, 3), True)
    assert not score({"vendor": 'a":'}, '{"vendor": "a\\":"}', INVOICE).repeated_keys


def test_equal_items_are_paired_first_then_as_many_hits_as_can_be() -> None:
    one, other = {"sku": "1", "name": "a", "qty": 1, "price": 5}, {"sku": "2", "name": "b", "qty": 1, "price": 6}
    facts = score({"items": [one, other]}, {"items": [other, {**one, "qty": 2}]}, INVOICE)
    assert counts(facts) == (7, 8, 8)
    assert rows(facts, "wrong") == ["items[].qty"]


def test_items_that_share_too_little_are_not_paired() -> None:
    gold = {"items": [{"sku": "1", "name": "a", "qty": 1, "price": 5}]}
    made_up = {"items": [{"sku": "9", "name": "z", "qty": 1, "price": 8}]}
    facts = score(gold, made_up, INVOICE)
    assert (counts(facts), facts.alignment.pair_share_cost) == ((0, 4, 4), 1)
    assert verdicts(facts)[1] == {"spurious": 4}
    assert counts(score(gold, made_up, INVOICE, pair_share=0)) == (1, 4, 4)
    assert counts(score(gold, made_up, INVOICE, paths={"items": {"pair_share": 0}})) == (1, 4, 4)
    half = {"items": [{"sku": "1", "name": "a", "qty": 7, "price": 8}]}
    assert counts(score(gold, half, INVOICE)) == (2, 4, 4)
    smaller = {"items": [{"qty": 1, "name": "other"}]}
    assert counts(score(gold, smaller, INVOICE)) == (1, 2, 4)


def test_a_key_pairs_items_exactly() -> None:
    gold = {"items": [{"sku": "1", "name": "a"}, {"name": "c", "qty": 3}, {"name": "d", "qty": 4}]}
    answer = {"items": [{"sku": "1", "name": "z", "qty": 9, "price": 9}, {"name": "c"}, {"name": "d", "qty": 4}]}
    for path in ("items", "items[]"):
        facts = score(gold, answer, INVOICE, paths={path: {"key": ["sku"]}})
        assert counts(facts) == (3, 7, 6), path  # an item without its key is unpaired unless it is equal
    assert rows(facts, "wrong") == ["items[].name"]


def test_lists_of_scalars_are_never_wrong() -> None:
    facts = score({"tags": ["a", "a", "b"]}, {"tags": ["b", "a", "c", "c"]}, obj(tags=array(TEXT)))
    assert counts(facts) == (2, 4, 3)
    assert verdicts(facts) == ({"hit": 2, "missing": 1}, {"hit": 2, "spurious": 2})


def test_scalars_that_are_not_compared_by_keys_alone_have_the_largest_matching() -> None:
    schema = obj(n=array({**NUMBER, "x-goldgate": {"compare": "number", "abs": 1}}))
    assert counts(score({"n": [1, 2]}, {"n": [2, 3]}, schema)) == (2, 2, 2)


def test_lists_in_lists_count_the_most_hits_inside() -> None:
    schema = obj(o=array(obj(rows=array(obj(a=TEXT, b=TEXT)))))
    one = {"rows": [{"a": "1", "b": "1"}, {"a": "2", "b": "2"}]}
    other = {"rows": [{"a": "3", "b": "3"}, {"a": "4", "b": "4"}]}
    spoiled = {"rows": [{"a": "2", "b": "2"}, {"a": "1", "b": "x"}]}
    facts = score({"o": [one, other]}, {"o": [other, spoiled]}, schema)
    assert counts(facts) == (7, 8, 8)
    assert counts(score({"g": [["a", "b"], ["c"]]}, {"g": [["c"], ["b", "a"]]})) == (3, 3, 3)


def test_an_ordered_list_is_compared_place_by_place() -> None:
    for schema in (obj(t=array(TEXT, **{"x-goldgate": {"list": "ordered"}})), None):
        paths: dict[str, Any] = {} if schema else {"paths": {"t": {"list": "ordered"}}}
        assert counts(score({"t": ["a", "b"]}, {"t": ["b", "a"]}, schema, **paths)) == (0, 2, 2)
        assert counts(score({"t": ["a", None, "b"]}, {"t": ["a", "x", "b"]}, schema, **paths)) == (2, 3, 2)


MENDED = [  # schema, gold, predicted, hits, P, G, the path of the predicted leaves
    (obj(v=obj(a=TEXT)), {"v": {"a": "x"}}, {"v": [{"a": "x"}]}, (1, 1, 1), "v.a"),
    (obj(v=array(obj(a=TEXT))), {"v": [{"a": "x"}]}, {"v": {"a": "x"}}, (1, 1, 1), "v[].a"),
    (obj(v=TEXT), {"v": "x"}, {"v": ["x"]}, (1, 1, 1), "v"),
    (obj(v=TEXT), {"v": "x"}, {"v": [None, "x", [], " "]}, (1, 1, 1), "v"),
    (obj(v=array(TEXT)), {"v": ["x", "y"]}, {"v": "x"}, (1, 1, 2), "v[]"),
    (obj(v=array(obj(a=TEXT))), {"v": [{"a": "x"}, {"a": "y"}]}, {"v": {"a": "x"}}, (1, 1, 2), "v[].a"),
    # by pair_share: one of three leaves is too few
    (obj(v=obj(a=TEXT, b=TEXT, c=TEXT)), {"v": {"a": "x", "b": "y", "c": "z"}},
     {"v": [{"a": "x", "b": "1", "c": "2"}]}, (0, 3, 3), None),
    (obj(v=array(obj(a=TEXT))), {"v": [{"a": "x"}, {"a": "y"}]}, {"v": [[{"a": "y"}], [{"a": "x"}]]}, (2, 2, 2),
     "v[].a"),
    (obj(v=array(obj(a=TEXT))), {"v": [{"a": "x"}, {"a": "y"}]}, {"v": [[[{"a": "y"}, {"a": "x"}]], []]}, (2, 2, 2),
     "v[].a"),
    (obj(v=obj(a=TEXT)), {"v": {"a": "x"}}, {"v": [[{"a": "x"}]]}, (1, 1, 1), "v.a"),
]  # fmt: skip


HEDGED = [  # schema, gold, an answer with two candidates where gold has one value, P
    (obj(v=TEXT), {"v": "x"}, {"v": ["y", "x"]}, 2),
    (obj(v=TEXT), {"v": "x"}, {"v": [["y"], ["x"]]}, 2),
    (obj(v=TEXT), {"v": "x"}, {"v": [["y", "x"]]}, 2),
    (obj(v=TEXT), {"v": "x"}, {"v": {"value": ["x", "y"]}}, 2),
    (obj(v=TEXT), {"v": "x"}, {"v": [{"value": "x", "confidence": 1}, {"value": "y", "confidence": 0}]}, 2),
    (obj(v={"type": ["string", "array"]}), {"v": "x"}, {"v": ["x", "y"]}, 2),
    (obj(v={}), {"v": "x"}, {"v": ["x", "y"]}, 2),
    (None, {"v": "x"}, {"v": ["x", "y"]}, 2),
    (obj(v=obj(a=TEXT)), {"v": {"a": "x"}}, {"v": {"a": ["x", "y"]}}, 2),
    (obj(v=obj(a=TEXT)), {"v": {"a": "x"}}, {"v": [{"a": "x"}, {"a": "y"}]}, 2),
    (obj(v=array(obj(a=TEXT))), {"v": [{"a": "x"}]}, {"v": [{"a": ["x", "y"]}]}, 2),
    (obj(v=array(obj(a=TEXT, b=TEXT))), {"v": [{"a": "x", "b": "z"}] * 4},
     {"v": [{"a": ["x", "y"], "b": ["w", "z"]}] * 4}, 16),
    (obj(v=array(TEXT)), {"v": ["x", "z"]}, {"v": [["x", "y"], ["w", "z"]]}, 4),
]  # fmt: skip


@cases(("schema", "gold", "answer", "predicted"), HEDGED)
def test_a_list_of_candidates_where_gold_has_one_value_hits_nothing(
    schema: Any, gold: Any, answer: Any, predicted: int
) -> None:
    facts = score(gold, answer, schema)
    assert (facts.hits, len(facts.predicted.leaves), "wrong" in verdicts(facts)[1]) == (0, predicted, False)


def test_one_more_list_around_each_row_changes_nothing_but_compliance() -> None:
    lines = [{"sku": f"S{n}", "name": f"thing {n}", "qty": n, "price": 5} for n in range(9)]
    wrong = [{**line, "sku": "Z", "name": "other", "qty": 99} for line in lines]  # one hit of four
    for rows in (lines, wrong, [*lines[:5], *wrong[5:]], [{**line, "qty": [line["qty"], 7]} for line in lines]):
        for rules in ({"key": ["sku"]}, {"pair_share": 0.5}, {"pair_share": 0}, {"list": "ordered"}):
            plain, wrapped, nested = (
                score({"items": lines}, {"items": answer}, INVOICE, paths={"items": rules})
                for answer in (rows, [[row] for row in rows], [rows[:4], [[rows[4:]]]])
            )
            assert counts(wrapped) == counts(nested) == counts(plain), rules
            names = ("item_precision", "item_recall", "field_f1")
            for facts in (wrapped, nested):
                assert (facts.compliant, facts.alignment.shape_mended) == (False, 1)
                assert [metrics_of(facts)[n].value for n in names] == [metrics_of(plain)[n].value for n in names]
    facts = score({"items": lines}, {"items": [[lines[0], {"sku": ["a", "b"]}]]}, INVOICE)
    assert [location(leaf) for leaf in facts.predicted.leaves][-2:] == ["items[0][1].sku[0]", "items[0][1].sku[1]"]


def test_a_single_one_is_taken_as_a_list_of_one() -> None:
    for schema, gold, answer, expected, path in MENDED:
        facts = score(gold, answer, schema)
        assert (counts(facts), facts.alignment.shape_mended) == (expected, 1), (gold, answer)
        assert path is None or {leaf.shape.name for leaf in facts.predicted.leaves} == {path}
        assert facts.compliant is False
        assert score(gold, gold, schema).alignment.shape_mended == 0


A, B = {"sku": "A", "qty": 1}, {"sku": "B", "qty": 3}
ONE, TWO = json.dumps(A), json.dumps(B)
BESIDE = [  # a response, gold, (H, P, G), whether something was mended; the schema's root is a list
    (ONE, [A], (2, 2, 2), 1),
    (ONE, [A, B], (2, 2, 4), 1),
    (f"[{ONE}]", [A, B], (2, 2, 4), 0),
    (f"The only one:\n```json\n{ONE}\n```", [B, B, A], (2, 2, 6), 1),
    (ONE, [], (0, 2, 0), 0),
    (f"{ONE}\n{TWO}", [A, B], (4, 4, 4), 1),
    (f"{ONE}\n{ONE}", [A, A], (4, 4, 4), 1),
    (f"{ONE}, {ONE}", [A, A], (4, 4, 4), 1),
    (f"{ONE} {TWO} {ONE}", [A, A, B], (6, 6, 6), 1),
    (f"Row 1:\n```json\n{ONE}\n```\nRow 2:\n```json\n{ONE}\n```", [A, A], (4, 4, 4), 1),
    (f"{ONE} {ONE} {ONE}", [A], (2, 6, 2), 1),
    (f"{ONE}\nCorrected:\n{ONE}", [A, A], (2, 2, 4), 1),
    (f"{TWO}\n{TWO}\nOn reflection:\n{ONE}\n{ONE}", [A, A], (4, 4, 4), 1),
    (f"{ONE}\n{ONE}\n[{ONE}]", [A, A], (2, 2, 4), 0),  # a list is the whole answer
    (f'{ONE}\n{ONE}\n{{"sku": "B", "qt', [A, A], (4, 4, 4), 1),
    (f"{ONE}\n{ONE}<|im_end|>\n{ONE}", [A, A], (4, 4, 4), 1),
]  # fmt: skip


@cases(("response", "gold", "expected", "mended"), BESIDE)
def test_objects_beside_each_other_are_items_where_the_root_is_a_list(
    response: str, gold: Any, expected: tuple[int, int, int], mended: int
) -> None:
    facts = score(gold, response, array(obj(sku=TEXT, qty=NUMBER)))
    assert (counts(facts), facts.alignment.shape_mended) == (expected, mended)
    assert facts.compliant is response.endswith("]")


def test_the_last_object_is_the_answer_where_the_root_is_an_object() -> None:
    facts = score(B, f"{ONE}\n{ONE}\n{TWO}", obj(sku=TEXT, qty=NUMBER))
    assert (counts(facts), facts.alignment.shape_mended, facts.compliant) == ((2, 2, 2), 0, True)


def test_a_scalar_against_an_object_is_missing_and_spurious() -> None:
    facts = score({"v": {"a": "x"}}, {"v": "x"}, obj(v=obj(a=TEXT), w=TEXT))
    assert counts(facts) == (0, 1, 1)
    two = score({"v": {"a": "x"}}, {"v": [{"a": "x"}, {"a": "y"}]}, obj(v=obj(a=TEXT)))
    assert counts(two) == (0, 2, 1)
    deep = score({"v": [["x", "y"]]}, {"v": "y"}, obj(v=array(array(TEXT))))
    assert counts(deep) == (1, 1, 2)  # of a scalar against any list of gold


def test_leaves_of_unpaired_items_are_all_counted() -> None:
    answer = {"items": [{"sku": "2", "name": "b", "more": [1, [2]]}]}
    assert counts(score({"items": [{"sku": "1", "name": "a"}]}, answer, INVOICE)) == (0, 4, 2)


def test_gold_outside_the_schema_is_left_out_and_listed() -> None:
    gold, answer = {"vendor": "a", "vat": "7", "items": ["x"]}, {"vendor": "a", "vat": "7"}
    facts = score(gold, answer, INVOICE)
    assert counts(facts) == (1, 2, 1)
    assert sorted(facts.gold.left_out) == ["items[]", "vat"]
    assert rows(facts, "spurious") == ["(undeclared)"]
    counted = score(gold, answer, INVOICE, outside_schema="count")
    assert counts(counted) == (2, 2, 3)


def test_references_branches_and_recursion_in_a_schema_are_followed() -> None:
    schema = {
        "$defs": {"Node": obj(name=TEXT, children=array({"$ref": "#/$defs/Node"}))},
        "anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}],
    }
    value = {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}
    facts = score(value, value, schema)
    assert {leaf.shape.name for leaf in facts.gold.leaves} == {"name", "children[].name", "children[].children[].name"}


def test_a_path_that_nothing_has_is_an_error_with_the_nearest_name() -> None:
    for schema in (INVOICE, None):
        made = scorer_for({"items": [{"price": 1}]}, schema, paths={"items[].prize": {"compare": "number"}}).schema
        with pytest.raises(ConfigError) as caught:
            made.require_paths(partial(FieldSchema, made.document, made.settings), lambda field: Place(field=field))
        assert "items[].price" in str(caught.value)


def test_weights_change_no_alignment_and_no_plain_number() -> None:
    paths = {"items[].price": {"weight": 3}, "vendor": {"weight": 0.5}}
    gold = {"vendor": "v", "items": [{"sku": "1", "price": 5}]}
    answer = {"vendor": "w", "items": [{"sku": "1", "price": 5}]}
    metrics = metrics_of(score(gold, answer, INVOICE, paths=paths))
    assert str(metrics["field_f1"].exact) == "2/3"
    assert str(metrics["weighted_f1"].exact) == "8/9"  # (1 + 3) of 4.5
    assert metrics_of(score(gold, answer, INVOICE))["weighted_f1"].value is None


def test_answer_of_another_document_is_not_read() -> None:
    schema = obj(who={"type": "string"})
    for own, then in (('{"who": "Ann"}', "Text: Bob left.\n"), ("who: Ann", "Question 2: Bob left.\n")):
        facts = score({"who": "Bob"}, f'{own}\n\n{then}{{"who": "Bob"}}', schema)
        assert counts(facts)[0] == 0
    assert counts(score({"who": "Bob"}, '[f(who="Al", to=["x"])] {"who": "Bob"}', schema)) == (1, 1, 1)
    answer = '{"who": "Bob"}\nArticle 2: Al left.\n{"who": "Al"}'
    assert counts(score({"who": "Bob"}, answer, schema)) == (0, 1, 1)
    assert counts(score({"who": "Bob"}, answer, schema, next_example=["Article:"])) == (1, 1, 1)


def test_nothing_in_a_python_call_is_an_item() -> None:
    schema = array(obj(b=NUMBER))
    facts = score([{"b": 1}], 'f(a="x", stops=[{"b": 1}])', schema)
    assert counts(facts) == (0, 0, 1)
