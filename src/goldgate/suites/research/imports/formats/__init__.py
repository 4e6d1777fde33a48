"""The trace formats. A new one is a file here, its mapping beside it, and an entry in the list.

`records` is one object per run, in any form, for tools without spans: it needs a mapping and is never recognized.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldgate.suites.research.imports.formats.langsmith import LANGGRAPH, LANGSMITH
from goldgate.suites.research.imports.formats.openai_agents import OPENAI_AGENTS
from goldgate.suites.research.imports.formats.otel import OTEL
from goldgate.suites.research.imports.traces import InvalidSpan, TraceFormat, TraceSpan, id_text

_ID_KEYS = ("run_id", "id", "trace_id")


def _recognizes(record: dict[str, Any]) -> bool:
    return False  # any object could be one: it must be asked for


def _spans(record: dict[str, Any]) -> Iterator[TraceSpan | InvalidSpan]:
    identity = next((text for key in _ID_KEYS if (text := id_text(record.get(key))) is not None), None)
    if identity is None:
        yield InvalidSpan("a record needs a run_id, an id or a trace_id")
        return
    yield TraceSpan(identity, identity, None, "run", None, True, record)


RECORDS = TraceFormat("records", "one object per run, read by a mapping of your own", _recognizes, _spans)


# In the order in which a file is tried.
FORMATS: dict[str, TraceFormat] = {
    format.name: format for format in (OTEL, OPENAI_AGENTS, LANGSMITH, LANGGRAPH, RECORDS)
}
