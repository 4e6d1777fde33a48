"""A trace and a mapping give a run's files; what the trace does not say is left out and named with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from goldgate.imports.mapping import ManifestRule, Mapping, Rule, chosen
from goldgate.imports.path import look_up
from goldgate.imports.rules import decoded, first, is_list, is_text
from goldgate.imports.span import Span
from goldgate.imports.trace import Trace
from goldgate.shape.problems import problems
from goldgate.suites.research.contracts import Chunk, ResearchOutput
from goldgate.suites.research.run.log import normal_stop_reason

_PINS = ("corpus_id", "index_id", "chunker")
_IDS = ("claim_id", "evidence_id", "chunk_id", "source_id", "artifact_id")
_SHOWN_CHARACTERS = 60
_SHOWN = 20  # steps without a manifest, entries that do not fit


class Missing(NamedTuple):
    """Something that a run's files need and the trace does not give."""

    what: str
    why: str

    @property
    def fails(self) -> bool:
        """Whether the research suite counts it against the run; without texts it only checks less."""
        return self.what != "chunks"


@dataclass(slots=True)
class ImportedRun:
    """The content of a run's files. `origin` says which span each part was found in."""

    run_id: str
    output: dict[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)
    manifests: list[dict[str, Any]] = field(default_factory=list)
    chunks: list[dict[str, Any]] = field(default_factory=list)
    origin: dict[str, str] = field(default_factory=dict)
    missing: list[Missing] = field(default_factory=list)


def build_run(trace: Trace, mapping: Mapping) -> ImportedRun:
    """The run that a trace shows."""
    run = ImportedRun(trace.id, {"run_id": trace.id})
    _add_objective(run, trace, mapping)
    _add_stop_reason(run, trace, mapping)
    _add_list(run, trace, "claims", mapping.claims)
    if run.output.get("claims") != [] or first(trace, mapping.evidence, is_list):  # who claims nothing needs none
        _add_list(run, trace, "evidence", mapping.evidence)
    for name in _PINS:
        found = first(trace, getattr(mapping, name), is_text)
        if found is not None:
            run.output[name], run.origin[name] = found.value, found.span
    _add_chunks(run, trace, mapping)
    _add_steps(run, trace, mapping)
    _note_misfits(run)
    return run


def _add_objective(run: ImportedRun, trace: Trace, mapping: Mapping) -> None:
    found = first(trace, mapping.objective, is_text)
    if found is None:
        run.missing.append(Missing("objective", _why(trace, mapping.objective, "a text")))
        return
    run.output["objective"], run.origin["objective"] = found.value, found.span


def _add_stop_reason(run: ImportedRun, trace: Trace, mapping: Mapping) -> None:
    found = first(trace, mapping.stop_reason, _is_reason)
    if found is not None:
        run.output["stop_reason"], run.origin["stop_reason"] = normal_stop_reason(found.value), found.span
        return
    other = first(trace, mapping.stop_reason[::-1], is_text)  # the first rules look for errors: their word is `success`
    why = _why(trace, mapping.stop_reason, "a word")
    if other is not None:
        why = f"{other.value[:_SHOWN_CHARACTERS]!r} is none of the five reasons; say with `words` which one it is"
    run.missing.append(Missing("stop_reason", why))


def _add_list(run: ImportedRun, trace: Trace, name: str, rules: Sequence[Rule]) -> None:
    """A list only where the trace has one: an empty list would say that the agent claims nothing."""
    found = first(trace, rules, is_list)
    if found is None:
        run.missing.append(Missing(name, _why(trace, rules, "a list")))
        return
    run.output[name], run.origin[name] = [_with_text_ids(item) for item in decoded(found.value)], found.span


def _add_chunks(run: ImportedRun, trace: Trace, mapping: Mapping) -> None:
    found = first(trace, mapping.chunks, is_list)
    listed = decoded(found.value) if found is not None else []
    seen: set[bytes] = set()
    unfit = 0
    for item in listed:
        item = _with_text_ids(item)
        if next(iter(problems(Chunk, item)), None) is not None:
            unfit += 1
            continue
        key = orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
        if key not in seen:  # a document that came up twice is stored once
            seen.add(key)
            run.chunks.append(item)
    if unfit:
        run.missing.append(Missing("chunks", f"{unfit} of {len(listed)} have no id, no text or no source"))
    stored = {chunk["chunk_id"] for chunk in run.chunks}
    records = [record for record in run.output.get("evidence", ()) if isinstance(record, dict)]
    absent = sum(record.get("chunk_id") not in stored for record in records if isinstance(record.get("chunk_id"), str))
    if absent:
        why = f"the text behind {absent} of {len(records)} evidence records is not in the trace: not looked up"
        run.missing.append(Missing("chunks", why))


def _add_steps(run: ImportedRun, trace: Trace, mapping: Mapping) -> None:
    """A line of the log for each step, and its manifest. A step that has steps inside it is these."""
    known = {name: run.output[name] for name in ("objective", "stop_reason") if name in run.output}
    run.events.append({"run_id": run.run_id, "step_id": None, "event_type": "imported", "payload": known})
    types: dict[str, str] = {}
    for rule in mapping.steps:
        for span in trace.spans:
            if span.id not in types and chosen(span, rule.where):
                found = span.name if rule.event_type == "name" else look_up(span.fields, rule.event_type)
                types[span.id] = found if isinstance(found, str) and found else "step"
    steps = trace.innermost(span for span in trace.spans if span.id in types)
    without = []
    for number, span in enumerate(steps, 1):
        payload = {"span_id": span.id, "parent_id": span.parent, "name": span.name}
        run.events.append({"run_id": run.run_id, "step_id": number, "event_type": types[span.id], "payload": payload})
        context = next((found for rule in mapping.manifests if (found := _context(span, rule)) is not None), None)
        if context is None:
            without.append(f"{number} ({span.name})")
        else:
            run.manifests.append({"run_id": run.run_id, "step_id": number, **context})
    if not steps:
        run.missing.append(Missing("steps", "no span is a step by the mapping"))
    if trace.lost:
        run.missing.append(Missing("steps", f"{trace.lost} span(s) have the id of another one: what they did is lost"))
    if without:
        shown = ", ".join(without[:_SHOWN]) + (", …" if len(without) > _SHOWN else "")
        why = f"{len(without)} of {len(steps)} steps lack a query or the ids of what came up: {shown}"
        run.missing.append(Missing("manifests", why))


def _context(span: Span, rule: ManifestRule) -> dict[str, Any] | None:
    """What a manifest says; None if the span lacks a part of it, for half a manifest would be made up."""
    if not chosen(span, rule.where):
        return None
    query = look_up(span.fields, rule.retrieval_query)
    lists = {}
    for name in ("candidate_chunk_ids", "selected_chunk_ids"):
        found = look_up(span.fields, getattr(rule, name))
        if not isinstance(found, list) or any(type(item) not in (str, int) for item in found):
            return None
        lists[name] = [str(item) for item in found]
    return {"retrieval_query": query, **lists} if isinstance(query, str) else None


def _note_misfits(run: ImportedRun) -> None:
    """Claims and records that lack something: they stay as they are, and the suite judges them so."""
    absent = {missing.what for missing in run.missing}
    listed = [
        Missing(problem.pointer.removeprefix("/"), problem.message)
        for problem in problems(ResearchOutput, run.output)
        if problem.pointer and problem.pointer.split("/")[1] not in absent
    ]
    run.missing += listed[:_SHOWN]
    if len(listed) > _SHOWN:
        run.missing.append(Missing("…", f"{len(listed) - _SHOWN} more entries do not fit"))


def _is_reason(value: Any) -> bool:
    return isinstance(value, str) and normal_stop_reason(value) is not None


def _with_text_ids(item: Any) -> Any:
    """A record whose ids are text, also where the trace has numbers."""
    if not isinstance(item, dict):
        return item
    return {key: str(value) if key in _IDS and type(value) is int else value for key, value in item.items()}


def _why(trace: Trace, rules: Sequence[Rule], wanted: str) -> str:
    if not rules:
        return "the mapping has no rule for it"
    spans = sum(any(chosen(span, rule.where) for rule in rules) for span in trace.spans)
    if not spans:
        return "no span is one that the mapping names"
    which = (
        "the span that the mapping names does not give"
        if spans == 1
        else f"none of the {spans} spans that the mapping names gives"
    )
    return f"{which} {wanted}"
