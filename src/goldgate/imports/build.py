"""A trace and a mapping give a run's files; what the trace does not say is left out and named with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from goldgate.imports.mapping import ManifestRule, Mapping, Rule, chosen
from goldgate.imports.messages import answer, answer_json, question
from goldgate.imports.path import look_up, parsed
from goldgate.imports.span import Span
from goldgate.imports.trace import Trace
from goldgate.shape.problems import problems
from goldgate.suites.research.contracts import Chunk, ResearchOutput
from goldgate.suites.research.run.log import normal_stop_reason

_READ: dict[str, Callable[[Any], Any]] = {
    "value": lambda value: value,
    "question": question,
    "answer": answer,
    "answer_json": answer_json,
}
_PINS = ("corpus_id", "index_id", "chunker")
_IDS = ("claim_id", "evidence_id", "chunk_id", "source_id", "artifact_id")
ANY = "*"
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


class _Found(NamedTuple):
    value: Any
    span: str


def build_run(trace: Trace, mapping: Mapping) -> ImportedRun:
    """The run that a trace shows."""
    run = ImportedRun(trace.id, {"run_id": trace.id})
    _add_objective(run, trace, mapping)
    _add_stop_reason(run, trace, mapping)
    _add_list(run, trace, "claims", mapping.claims)
    if run.output.get("claims") != [] or _first(trace, mapping.evidence, _is_list):  # who claims nothing needs none
        _add_list(run, trace, "evidence", mapping.evidence)
    for name in _PINS:
        found = _first(trace, getattr(mapping, name), _is_text)
        if found is not None:
            run.output[name], run.origin[name] = found.value, found.span
    _add_chunks(run, trace, mapping)
    _add_steps(run, trace, mapping)
    _note_misfits(run)
    return run


def _add_objective(run: ImportedRun, trace: Trace, mapping: Mapping) -> None:
    found = _first(trace, mapping.objective, _is_text)
    if found is None:
        run.missing.append(Missing("objective", _why(trace, mapping.objective, "a text")))
        return
    run.output["objective"], run.origin["objective"] = found.value, found.span


def _add_stop_reason(run: ImportedRun, trace: Trace, mapping: Mapping) -> None:
    found = _first(trace, mapping.stop_reason, _is_reason)
    if found is not None:
        run.output["stop_reason"], run.origin["stop_reason"] = normal_stop_reason(found.value), found.span
        return
    other = _first(trace, mapping.stop_reason, _is_text)
    why = _why(trace, mapping.stop_reason, "a word")
    if other is not None:
        why = f"{other.value[:_SHOWN_CHARACTERS]!r} is none of the five reasons; say with `words` which one it is"
    run.missing.append(Missing("stop_reason", why))


def _add_list(run: ImportedRun, trace: Trace, name: str, rules: Sequence[Rule]) -> None:
    """A list only where the trace has one: an empty list would say that the agent claims nothing."""
    found = _first(trace, rules, _is_list)
    if found is None:
        run.missing.append(Missing(name, _why(trace, rules, "a list")))
        return
    run.output[name], run.origin[name] = [_with_text_ids(item) for item in _decoded(found.value)], found.span


def _add_chunks(run: ImportedRun, trace: Trace, mapping: Mapping) -> None:
    found = _first(trace, mapping.chunks, _is_list)
    listed = _decoded(found.value) if found is not None else []
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


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_reason(value: Any) -> bool:
    return isinstance(value, str) and normal_stop_reason(value) is not None


def _is_list(value: Any) -> bool:
    return isinstance(_decoded(value), list)


def _first(trace: Trace, rules: Sequence[Rule], fits: Callable[[Any], bool]) -> _Found | None:
    """What the first rule gives that gives something fitting."""
    return next((found for rule in rules if (found := _taken(trace, rule, fits)) is not None), None)


def _taken(trace: Trace, rule: Rule, fits: Callable[[Any], bool]) -> _Found | None:
    spans = [span for span in trace.spans if chosen(span, rule.where)]
    if rule.pick == "all":
        items = [(item, span.id) for span in spans for item in _items(_value(span, rule))]
        return _Found([item for item, _ in items], items[0][1]) if items else None
    if rule.pick == "last":
        spans = spans[-1:]
    elif spans:
        least = min(trace.depths[span.id] for span in spans)
        if rule.pick == "outermost":
            spans = [span for span in spans if trace.depths[span.id] == least][-1:]
        else:
            spans.sort(key=lambda span: trace.depths[span.id])
    values = ((_value(span, rule), span.id) for span in spans)
    return next((_Found(value, span) for value, span in values if fits(value)), None)


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def _value(span: Span, rule: Rule) -> Any:
    value = look_up(_READ[rule.read](look_up(span.fields, rule.take)), rule.at)
    if rule.each or rule.pick == "all":
        value = _decoded(value)
    if rule.words and type(value) in (str, int):
        return _word(value, rule)
    if rule.each:
        items = value if isinstance(value, list) else [value]
        return [_entry(item, rule) for item in items if isinstance(item, dict)] if value is not None else None
    return value


def _decoded(value: Any) -> Any:
    """A list or an object that an attribute holds as JSON text; any other value as it is."""
    found = parsed(value) if isinstance(value, str) else None
    return value if found is None else found


def _word(value: str | int, rule: Rule) -> str:
    return rule.words.get(str(value), rule.words.get(ANY, str(value)))


def _entry(item: dict[str, Any], rule: Rule) -> dict[str, Any]:
    """One of our records from one of theirs; a field that it lacks is left out."""
    entry: dict[str, Any] = {}
    for target, path in rule.each.items():
        found = look_up(item, path)
        if found is None:
            continue
        if rule.words and isinstance(found, str):
            found = rule.words.get(found, found)
        *outer, last = target.split(".")
        inside = entry
        for key in outer:
            inside = inside.setdefault(key, {})
        inside[last] = found
    return entry


def _with_text_ids(item: Any) -> Any:
    """A record whose ids are text, also where the trace has numbers."""
    if not isinstance(item, dict):
        return item
    return {key: str(value) if key in _IDS and type(value) is int else value for key, value in item.items()}


def _why(trace: Trace, rules: Sequence[Rule], wanted: str) -> str:
    if not rules:
        return "the mapping has no rule for it"
    spans = sum(any(chosen(span, rule.where) for rule in rules) for span in trace.spans)
    return f"none of the {spans} span(s) that the mapping names gives {wanted}"
