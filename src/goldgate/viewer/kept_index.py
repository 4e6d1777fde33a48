"""An index that is kept: made the first time, then loaded as long as the records and the report are the same."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from goldgate.core.gate import Verdict
from goldgate.core.plan import Plan
from goldgate.core.suite import Suite
from goldgate.files.text_file import cannot_read
from goldgate.readers.stored_result import StoredResult
from goldgate.report import describe
from goldgate.results.inputs import known_settings
from goldgate.suites.worst import gate_costs
from goldgate.viewer import cache
from goldgate.viewer.index import Explained, Having, Index, Progress, build_index

_KIND = "index"
_OFFSETS, _NUMBERS = "Q", "I"


def load_index(result: StoredResult, progress: Progress | None = None) -> Index:
    """The index of a result's records; the first time all of them are read."""
    result.require_records()
    try:
        of = cache.identity((result.records, result.file))
    except OSError as problem:
        raise cannot_read(str(result.records), "records", problem) from None
    stored = cache.load(_KIND, of)
    if stored is not None:
        try:
            return _unpacked(stored)
        except (ValueError, LookupError, TypeError):
            pass  # as good as none
    index = build_index(result.suite, result.records, explained_gates(result), progress)
    if cache.identity((result.records, result.file)) == of:  # nothing was written while it was read
        cache.keep(_KIND, of, _head(index), _body(index))
    return index


def explained_gates(result: StoredResult) -> Explained:
    """Which gates that did not pass a unit costs something, by its record."""
    suite: Suite = result.suite
    settings = known_settings(result) or suite.settings()
    gates = describe(result.report).gates or ()
    costs = gate_costs(suite, Plan(settings), [gate for gate in gates if gate.verdict != Verdict.PASS])

    def explained(record: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple([metric for metric, cost in costs.items() if cost(record) > 0])

    return explained


def _head(index: Index) -> dict[str, Any]:
    return {
        "units": len(index),
        "wrong": index.wrong,
        "left_out": index.left_out,
        "facets": [
            [facet, [[value, having.units, having.bits is not None] for value, having in values.items()]]
            for facet, values in index.facets.items()
        ],
    }


def _body(index: Index) -> Iterator[bytes]:
    yield from (index.offsets.tobytes(), index.by_weight.tobytes(), index.rank.tobytes())
    for values in index.facets.values():
        for having in values.values():
            if having.bits is not None:
                yield from having.bits
            elif having.numbers is not None:
                yield having.numbers.tobytes()


def _unpacked(stored: cache.Stored) -> Index:
    head = stored.head
    units = head["units"]

    def numbers(code: str, count: int) -> array[int]:
        found: array[int] = array(code)
        found.frombytes(stored.take(count * found.itemsize))
        return found

    offsets, by_weight, rank = numbers(_OFFSETS, units + 1), numbers(_NUMBERS, units), numbers(_NUMBERS, units)
    length = units // 8 + 1
    facets: dict[str, dict[str, Having]] = {}
    for facet, values in head["facets"]:
        known = facets.setdefault(facet, {})
        for value, count, dense in values:
            bits = (bytes(stored.take(length)), bytes(stored.take(length))) if dense else None
            known[value] = Having(count, bits, None if dense else numbers(_NUMBERS, count))
    return Index(offsets, by_weight, rank, head["wrong"], facets, head["left_out"])
