"""Runs as LangSmith exports them, and as LangGraph's tracers write them: a run has an id, a type, inputs and outputs.

Flat, with `parent_run_id` and `trace_id`, or as a tree under `child_runs`; alone, or as the `runs` or `items` of an
API's answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldgate.imports.span import Broken, Format, Span, nanoseconds, text_of


def _recognizes(record: dict[str, Any]) -> bool:
    runs = _listed(record)
    if runs is not None:
        return any(isinstance(run, dict) and "run_type" in run and "id" in run for run in runs)
    return "run_type" in record and "id" in record


def _spans(record: dict[str, Any]) -> Iterator[Span | Broken]:
    runs = _listed(record)
    waiting: list[tuple[Any, str | None, str | None]] = [
        (run, None, None) for run in reversed([record] if runs is None else runs)
    ]
    while waiting:
        run, parent, trace = waiting.pop()
        if not isinstance(run, dict):
            yield Broken("a run is an object")
            continue
        identity = text_of(run.get("id"))
        if identity is None:
            yield Broken("a run needs an id")
            continue
        parent = text_of(run.get("parent_run_id")) or _parent_in(run.get("dotted_order")) or parent
        trace = text_of(run.get("trace_id")) or trace
        fields = {key: value for key, value in run.items() if key != "child_runs"}
        if isinstance(run.get("run_type"), str):
            fields["run_type"] = run["run_type"].lower()  # the second edition of the API writes LLM
        children = run.get("child_runs")
        for child in reversed(children) if isinstance(children, list) else ():
            waiting.append((child, identity, trace))
        start, end = nanoseconds(run.get("start_time")), nanoseconds(run.get("end_time"))
        name = run.get("name")
        yield Span(identity, trace, parent, name if isinstance(name, str) else "", start, end is not None, fields)


def _listed(record: dict[str, Any]) -> list[Any] | None:
    """The runs in the answer of an API, old or new."""
    for key in ("runs", "items"):
        if isinstance(record.get(key), list) and "run_type" not in record:
            found: list[Any] = record[key]
            return found
    return None


def _parent_in(dotted_order: Any) -> str | None:
    """The parent that the order of runs names: `<time>Z<id>.<time>Z<id>`, the run itself at the end."""
    if not isinstance(dotted_order, str):
        return None
    above = dotted_order.split(".")[:-1]
    return text_of(above[-1].partition("Z")[2]) if above else None


LANGSMITH = Format("langsmith", "runs exported from LangSmith", _recognizes, _spans)
LANGGRAPH = Format("langgraph", "runs of LangGraph, as LangSmith exports them", _recognizes, _spans)
