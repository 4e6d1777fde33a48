"""The type language: the same type tests a value, explains it, and is written down as a schema."""

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.shape import AtLeast, Distinct, Matching, NotEmpty, kind_of, schema_of
from goldgate.shape.validation import problems, type_test
from tests.cases import cases
from tests.contract.referee import accepts
from tests.spoiling import spoiled

Name = Annotated[str, Matching(r"^[a-z]+(?![\s\S])", "a name")]


class Leaf(TypedDict):
    name: Name
    size: NotRequired[float | None]


class Twig(TypedDict):
    a: object
    B: NotRequired[Leaf | None]


class Oak(TypedDict):
    leaves: Annotated[list[Leaf], NotEmpty("at least one leaf")]
    kind: Literal["oak", "ash"]
    rings: Annotated[int, AtLeast(1)]
    by_name: Annotated[dict[Name, Leaf], NotEmpty("an entry for each leaf")]
    place: tuple[str, int]
    tags: Annotated[list[str], Distinct("every tag once")]
    more: NotRequired[object]
    either: Leaf | list[int] | None


RIGHT: dict[str, Any] = {
    "leaves": [{"name": "a", "size": 1}, {"name": "b", "size": 1.5}],
    "kind": "oak",
    "rings": 3,
    "by_name": {"a": {"name": "a"}},
    "place": ["here", 4],
    "tags": ["x", "y"],
    "more": None,
    "either": {"name": "c"},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from([0.5, "", "a", "oak", "B"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "size", "a", "B"]), inner),
)


def test_all_who_walk_over_a_type_are_of_one_mind() -> None:
    schema = schema_of(Oak, "a test")
    assert type_test(Oak)(RIGHT)
    more = [
        {**RIGHT, "tags": ["x", "x"]},
        {**RIGHT, "place": ["here", 4, 5]},
        {**RIGHT, "place": ["here"]},
        {**RIGHT, "by_name": {"A": {"name": "a"}}},
        {**RIGHT, "by_name": {}},
        {**RIGHT, "either": [1]},
        {**RIGHT, "either": ["x"]},
    ]
    for case in [RIGHT, *more, *spoiled(RIGHT)]:
        assert type_test(Oak)(case) == accepts(schema, case) == (not list(problems(Oak, case))), case


@given(JSON)
def test_of_one_mind_on_anything(value: Any) -> None:
    unions = (Leaf | Twig, Leaf | list[Leaf])
    for kind in (Leaf, Twig, *unions, dict[Name, object], tuple[str, Leaf | None], list[Name | int], object):
        found = list(problems(kind, value))
        assert type_test(kind)(value) == accepts(schema_of(kind, "a test"), value) == (not found)


@cases(
    ("change", "pointer", "message"),
    [
        ({"kind": "elm"}, "/kind", 'expected one of oak, ash, found the string "elm"'),
        ({"rings": 0}, "/rings", "expected an integer from 1, found the number 0"),
        ({"leaves": []}, "/leaves", "expected at least one leaf, found an empty list"),
        ({"leaves": [{"name": "A"}]}, "/leaves/0/name", 'expected a name, found the string "A"'),
        ({"leaves": [{}]}, "/leaves/0/name", "expected a name, found nothing: the field is missing"),
        ({"place": ["x"]}, "/place", "expected a list of 2, found a list"),
        ({"place": ["x", "y"]}, "/place/1", 'expected an integer, found the string "y"'),
        ({"by_name": {"a/~": {"name": "a"}}}, "/by_name/a~1~0", 'expected a name as the key, found the string "a/~"'),
        ({"either": {"name": 1}}, "/either/name", "expected a name, found the number 1"),
        ({"either": 1}, "/either", "expected an object or a list or null, found the number 1"),
        ({"tags": ["x", "x"]}, "/tags", "expected every tag once, found a list"),
    ],
)
def test_problem_has_a_pointer_and_words(change: dict[str, Any], pointer: str, message: str) -> None:
    assert [(problem.pointer, problem.message) for problem in problems(Oak, {**RIGHT, **change})] == [
        (pointer, message)
    ]


def test_of_several_objects_the_nearest_was_meant() -> None:
    class Other(TypedDict):
        title: str
        pages: int

    found = list(problems(Leaf | Other, {"title": "x", "pages": "y"}))
    assert [problem.pointer for problem in found] == ["/pages"]


def test_options_keep_the_order_in_which_they_are_written() -> None:
    assert schema_of(str | int, "a")["type"] == ["string", "integer"]
    assert schema_of(int | str, "a")["type"] == ["integer", "string"]


@cases("kind", [set[str], bytes, complex])
def test_type_that_the_language_lacks_is_refused(kind: Any) -> None:
    with pytest.raises(TypeError):
        kind_of(kind)
