"""One object a run, in whatever form: for tools that have no spans. A mapping says where in it what stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldgate.imports.span import Broken, Format, Span, text_of

_IDS = ("run_id", "id", "trace_id")


def _recognizes(record: dict[str, Any]) -> bool:
    return False  # any object could be one: it must be asked for


def _spans(record: dict[str, Any]) -> Iterator[Span | Broken]:
    identity = next((found for key in _IDS if (found := text_of(record.get(key))) is not None), None)
    if identity is None:
        yield Broken("a record needs a run_id, an id or a trace_id")
        return
    yield Span(identity, identity, None, "run", None, True, record)


RECORDS = Format("records", "one object a run, read by a mapping of your own", _recognizes, _spans)
