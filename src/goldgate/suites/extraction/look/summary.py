"""A sample in a list: its errors in few words, how many, and by what it can be found. From its record alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.page import counted
from goldgate.core.unit_page import UnitSummary
from goldgate.suites.extraction.events.event import Violation
from goldgate.suites.extraction.response.parsed import Method, Status

MISSING = "missing"  # how an answer was read that is not there

_NO_PREDICTION = "no prediction"
_NO_JSON = "no answer read: nothing in it looks like one"
_NOT_DECODED = "no answer read: it did not decode"


def summary(record: Mapping[str, Any]) -> UnitSummary:
    """Its weight is the number of errors, and one more for each of: no answer, violations, unsupported values."""
    parse, errors = record["parse"], record["errors"]
    violations = {entry["violation"] for entry in record["violations"]}
    unsupported = (record["hallucination"] or _NOT_CHECKED)["unsupported"]
    facets: dict[str, tuple[str, ...]] = {"read": (MISSING if parse is None else parse["status"],)}
    words, weight = [], len(errors)
    if parse is None or parse["status"] == Status.ERROR:
        words.append(_why_unread(parse))
        weight += 1
        violations.discard(Violation.NOT_PARSED)  # it says the same
    if parse is not None:
        facets["found"] = (parse["method"],)
        if parse["repairs"]:
            facets["repair"] = (*parse["repairs"],)
    if errors:
        names = _named(errors)
        words.append(", ".join([f"{name} {count}" for name, count in names.items()]))
        facets["error"] = (*names,)
    bare = _bare_types(record["gold"], record["predicted"])
    if bare:
        words.append(bare[0])
        weight += bare[1]
    if violations:
        facets["violation"] = (*sorted(violations),)
        weight += 1
        words += [] if errors else [counted(len(record["violations"]), "violation")]
    if unsupported:
        facets["unsupported"] = ("yes",)
        weight += 1
        words += [] if errors else [counted(len(unsupported), "unsupported value")]
    _add_names(facets, record["gold"], record["predicted"])
    return UnitSummary(record["id"], "; ".join(words), weight, facets)


_NOT_CHECKED: dict[str, list[Any]] = {"unsupported": []}


def _why_unread(parse: Mapping[str, Any] | None) -> str:
    if parse is None:
        return _NO_PREDICTION
    return _NO_JSON if parse["method"] == Method.NO_JSON_FOUND else _NOT_DECODED


def _named(errors: list[Mapping[str, Any]]) -> dict[str, int]:
    """How often each error was made: a pair of a predicted and a gold unit is one error."""
    predicted: dict[str, int] = {}
    gold: dict[str, int] = {}
    for error in errors:
        side, name = predicted if error["side"] == "predicted" else gold, error["error"]
        side[name] = side.get(name, 0) + 1
    for name, count in gold.items():
        if count > predicted.get(name, 0):
            predicted[name] = count
    return predicted


def _bare_types(gold: Mapping[str, Any], predicted: Mapping[str, Any]) -> tuple[str, int] | None:
    """Event types that one side lacks and that no error names, because they have no arguments."""
    if gold.keys() == predicted.keys():
        return None
    missing = sum([1 for name, pairs in gold.items() if not pairs and name not in predicted])
    extra = sum([1 for name, pairs in predicted.items() if not pairs and name not in gold])
    said = [f"event type {word} {count}" for word, count in (("spurious", extra), ("missing", missing)) if count]
    return (", ".join(said), missing + extra) if said else None


def _add_names(facets: dict[str, tuple[str, ...]], gold: Mapping[str, Any], predicted: Mapping[str, Any]) -> None:
    """The event types and roles of both sides."""
    types = {**gold, **predicted}
    if types:
        facets["event type"] = (*types,)
    roles = {pair[0]: None for units in (gold, predicted) for pairs in units.values() for pair in pairs}
    if roles:
        facets["role"] = (*roles,)
