"""A run in a list: what is wrong with it in few words, how much, and by what it can be found. From its record alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldgate.core.page import counted
from goldgate.core.unit_page import UnitSummary

MISSING, BROKEN = "missing", "broken"
_SHOWN_CODES = 3
_WRONG_ABSTENTION = "no abstention where there is no evidence"

# The findings that counts of the record tell better.
_COUNTED = frozenset({"claim_not_covered", "manifest_missing"})


def summary(record: Mapping[str, Any]) -> UnitSummary:
    """Trials that are missing are named by what was asked; a run that only has warnings weighs one."""
    if record["run"] is None:
        facets = {"outcome": (MISSING,), **_query(record)}
        return UnitSummary(record["objective"], counted(record["trials"], "run is", "runs are") + " missing", 1, facets)
    said = [*_wrong(record)]
    words, weight = [words for words, _ in said], sum(count for _, count in said)
    codes = [code for code in record["findings"] if code not in record["failures"] and code not in _COUNTED]
    if codes and record["status"] != BROKEN:
        more = len(codes) - _SHOWN_CODES
        words.append(", ".join(codes[:_SHOWN_CODES]) + (f" and {more} more" if more > 0 else ""))
        weight = weight or 1
    return UnitSummary(record["run"], "; ".join(words), weight, _facets(record))


def _wrong(record: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """What is wrong in words, and how often."""
    if record["status"] == BROKEN:
        yield f"broken: {record['reason']}", 1
    failures = record["failures"]
    if failures:
        yield ", ".join(f"{name} {count}" for name, count in failures.items()), sum(failures.values())
    for thing, what, wanted, there in (
        ("claim", "not covered", "verified_claims", "covered_claims"),
        ("required id", "not found", "required_ids", "found_ids"),
        ("step", "without manifest", "steps", "steps_with_manifest"),
    ):
        lacking = record[wanted] - record[there]
        if lacking > 0:
            yield f"{counted(lacking, thing)} {what}", lacking
    if record["units"].get("abstention", [1])[0] == 0:
        yield _WRONG_ABSTENTION, 1


def _facets(record: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    facets: dict[str, tuple[str, ...]] = {"outcome": (record["status"],), **_query(record)}
    if record["findings"]:
        facets["finding"] = (*record["findings"],)
    if record["stop_reason"] is not None:
        facets["stop reason"] = (record["stop_reason"],)
    abstention = record["units"].get("abstention")
    if abstention is not None:
        facets["abstention"] = ("right" if abstention[0] else "wrong",)
    return facets


def _query(record: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """What was asked: the id of the query, or else its words."""
    asked = record["query_id"] or record["objective"]
    return {} if asked is None else {"query": (asked,)}
