"""Every false positive and false negative has one name."""

from __future__ import annotations

import pytest

from tests.cases import cases

from ..helpers import Json, event, gold, score

Named = set[tuple[str, str, tuple[str, str, str]]]


def named(predicted: list[Json], record: Json) -> Named:
    """(error, side, unit) of each."""
    errors = score(predicted, record).record["errors"]
    listed = [(str(e["error"]), e["side"], tuple(e["unit"])) for e in errors]
    assert len(listed) == len(set(listed))
    return set(listed)


P, G = "predicted", "gold"


@cases(
    ("predicted", "wanted", "text", "expected"),
    [
        pytest.param([("T", "r", "x")], [("T", "r", "x")], "x", set(), id="no-error"),
        pytest.param(
            [("T", "r", "ab")],
            [("T", "r", "abc")],
            "abc",
            {("boundary", P, ("T", "r", "ab")), ("boundary", G, ("T", "r", "abc"))},
            id="boundary-on-both-sides",
        ),
        pytest.param(
            [("T", "r", "x")],
            [("T", "s", "x")],
            "x",
            {("wrong_role", P, ("T", "r", "x")), ("wrong_role", G, ("T", "s", "x"))},
            id="wrong-role",
        ),
        pytest.param(
            [("T", "r", "x")],
            [("U", "r", "x")],
            "x",
            {("wrong_type", P, ("T", "r", "x")), ("wrong_type", G, ("U", "r", "x"))},
            id="wrong-type",
        ),
        pytest.param(
            [("T", "r", "x")],
            [("U", "s", "x")],
            "x",
            {("spurious", P, ("T", "r", "x")), ("missing", G, ("U", "s", "x"))},
            id="both-wrong-is-neither",
        ),
        pytest.param([("T", "r", "zz")], [], "x", {("hallucinated", P, ("T", "r", "zz"))}, id="hallucinated"),
        pytest.param([("T", "r", "zz")], [], "a ZZ b", {("spurious", P, ("T", "r", "zz"))}, id="spurious"),
        pytest.param([("T", "r", "zz")], [], None, {("spurious", P, ("T", "r", "zz"))}, id="no-text-no-hallucination"),
        pytest.param([], [("T", "r", "x")], "x", {("missing", G, ("T", "r", "x"))}, id="missing"),
        pytest.param(
            # boundary comes first: ab is not also a wrong role
            [("T", "r", "ab")],
            [("T", "r", "abc"), ("T", "s", "ab")],
            "abc",
            {
                ("boundary", P, ("T", "r", "ab")),
                ("boundary", G, ("T", "r", "abc")),
                ("missing", G, ("T", "s", "ab")),
            },
            id="boundary-before-wrong-role",
        ),
        pytest.param(
            [("T", "r", "x")],
            [("T", "s", "x"), ("U", "r", "x")],
            "x",
            {
                ("wrong_role", P, ("T", "r", "x")),
                ("wrong_role", G, ("T", "s", "x")),
                ("missing", G, ("U", "r", "x")),
            },
            id="wrong-role-before-wrong-type",
        ),
        pytest.param(
            # the one gold unit can be blamed for one prediction only
            [("T", "q", "x"), ("T", "r", "x")],
            [("T", "s", "x")],
            "x",
            {
                ("wrong_role", P, ("T", "q", "x")),
                ("wrong_role", G, ("T", "s", "x")),
                ("spurious", P, ("T", "r", "x")),
            },
            id="each-side-once",
        ),
        pytest.param(
            # a wrong role that is not in the text is a wrong role: hallucinated is for the spurious
            [("T", "r", "x")],
            [("T", "s", "x")],
            "y",
            {("wrong_role", P, ("T", "r", "x")), ("wrong_role", G, ("T", "s", "x"))},
            id="wrong-role-before-hallucinated",
        ),
        pytest.param(
            # rerouted: ab is right and has no name; b and a are the boundary
            [("T", "r", "ab"), ("T", "r", "b")],
            [("T", "r", "ab"), ("T", "r", "a")],
            "ab",
            {("boundary", P, ("T", "r", "b")), ("boundary", G, ("T", "r", "a"))},
            id="rerouted-exact-hit-is-no-error",
        ),
        pytest.param(
            [("T", "r", "ab")],
            [("T", "s", "abc")],
            "abc",
            {("wrong_role", P, ("T", "r", "ab")), ("wrong_role", G, ("T", "s", "abc"))},
            id="wrong-role-and-boundary",
        ),
        pytest.param(
            [("T", "r", "ab")],
            [("U", "r", "abc")],
            "abc",
            {("wrong_type", P, ("T", "r", "ab")), ("wrong_type", G, ("U", "r", "abc"))},
            id="wrong-type-and-boundary",
        ),
        pytest.param(
            # an equal value of another type comes before one of another role that is only alike
            [("T", "r", "abc")],
            [("T", "s", "ab"), ("U", "r", "abc")],
            "abc",
            {
                ("wrong_type", P, ("T", "r", "abc")),
                ("wrong_type", G, ("U", "r", "abc")),
                ("missing", G, ("T", "s", "ab")),
            },
            id="equal-before-alike",
        ),
        pytest.param(
            # as many as possible: abc must leave ab to a
            [("T", "r", "abc"), ("T", "r", "a")],
            [("T", "s", "ab"), ("T", "q", "bc")],
            "abc",
            {
                ("wrong_role", P, ("T", "r", "abc")),
                ("wrong_role", G, ("T", "q", "bc")),
                ("wrong_role", P, ("T", "r", "a")),
                ("wrong_role", G, ("T", "s", "ab")),
            },
            id="as-many-alike-as-possible",
        ),
        pytest.param(
            [("T", "r", "ab")],
            [("U", "s", "abc")],
            "abc",
            {("spurious", P, ("T", "r", "ab")), ("missing", G, ("U", "s", "abc"))},
            id="alike-with-both-wrong-is-neither",
        ),
    ],
)
def test_errors_are_named(
    predicted: list[tuple[str, str, str]], wanted: list[tuple[str, str, str]], text: str | None, expected: Named
) -> None:
    def events(units: list[tuple[str, str, str]]) -> list[Json]:
        return [event(event_type, (role, value)) for event_type, role, value in units]

    assert named(events(predicted), gold(*events(wanted), text=text)) == expected
    assert named(events(predicted[::-1]), gold(*events(wanted[::-1]), text=text)) == expected


@cases(
    ("predicted", "wanted", "pairs"),
    [
        pytest.param(("T", "r", "ab"), ("T", "r", "abc"), "boundary", id="boundary"),
        pytest.param(("T", "r", "x"), ("T", "s", "x"), "wrong_role", id="wrong-role"),
        pytest.param(("T", "r", "x"), ("U", "r", "x"), "wrong_type", id="wrong-type"),
    ],
)
def test_record_names_the_unit_that_an_error_is_paired_with(
    predicted: tuple[str, str, str], wanted: tuple[str, str, str], pairs: str
) -> None:
    def one(unit: tuple[str, str, str]) -> Json:
        return event(unit[0], unit[1:])

    errors = score([one(predicted), event("V", ("r", "other"))], gold(one(wanted), event("W", ("q", "z")))).record[
        "errors"
    ]
    found = {(e["error"], e["side"]): (tuple(e["unit"]), e["paired_with"]) for e in errors}
    assert found[(pairs, P)] == (predicted, wanted)
    assert found[(pairs, G)] == (wanted, predicted)
    assert found[("spurious", P)] == (("V", "r", "other"), None)
    assert found[("missing", G)] == (("W", "q", "z"), None)


def test_rerouted_pair_names_what_it_was_matched_with() -> None:
    # ab–a and b–ab: the errors are b and a, and both were matched with ab, which is right itself
    predicted, wanted = [event("T", ("r", "ab"), ("r", "b"))], gold(event("T", ("r", "ab"), ("r", "a")))
    errors = score(predicted, wanted).record["errors"]
    assert {(e["unit"], e["paired_with"]) for e in errors} == {
        (("T", "r", "b"), ("T", "r", "ab")),
        (("T", "r", "a"), ("T", "r", "ab")),
    }


def test_worst_spelling_of_a_value_decides_whether_it_is_hallucinated() -> None:
    # Both spellings are one value; under exact_span only the second is in the text.
    predicted = [event("T", ("r", "A B"), ("r", "ab"))]
    record = score(predicted, gold(text="x ab y"), hallucination="exact_span").record
    assert [error["error"] for error in record["errors"]] == ["hallucinated"]
    assert record["hallucination"] == {"checked": 1, "unsupported": [("T", "r", "A B")]}


def test_value_supported_at_one_of_its_offsets_is_not_hallucinated() -> None:
    places = [{"role": "r", "argument": "ab", "start": start, "end": start + 2} for start in (0, 2)]
    predicted = [{"event_type": "T", "arguments": places}]
    record = score(predicted, gold(text="x ab y"), hallucination="exact_span").record
    assert [error["error"] for error in record["errors"]] == ["spurious"]
    assert record["hallucination"] == {"checked": 2, "unsupported": [("T", "r", "ab")]}


def test_missing_prediction_makes_all_gold_missing() -> None:
    record = score(None, gold(event("T", ("r", "x"), ("s", "y")))).record
    assert {(e["error"], tuple(e["unit"])) for e in record["errors"]} == {
        ("missing", ("T", "r", "x")),
        ("missing", ("T", "s", "y")),
    }
