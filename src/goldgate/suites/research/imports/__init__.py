"""Imports traces of other tools as run folders that the research suite judges, all of them or none.

What a trace does not say is left out of the run's files and named with the reason.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson

from goldgate.core.evaluation import render_json
from goldgate.core.finding import Finding
from goldgate.core.page import count_text
from goldgate.core.suite import CheckResult, Options
from goldgate.errors import ConfigError, Place
from goldgate.files.writing import UNFINISHED_SUFFIX, write_failure
from goldgate.shape.validation import problems
from goldgate.suites.research.checks import check_json
from goldgate.suites.research.contracts import Chunk, ResearchOutput
from goldgate.suites.research.imports.mapping import (
    READY_MAPPINGS,
    ImportNotes,
    ManifestRule,
    Mapping,
    MissingPart,
    Rule,
    decode_nested,
    first_match,
    load_mapping,
    look_up,
    matches,
)
from goldgate.suites.research.imports.traces import SpanStore, Trace, TraceSpan, build_trace, folder_name
from goldgate.suites.research.run.files import CHUNKS, EVENTS, IMPORT_NOTES, MANIFEST_LINES, OUTPUT
from goldgate.suites.research.run.log import normalize_stop_reason

_PINS = ("corpus_id", "index_id", "chunker")
_ID_FIELDS = ("claim_id", "evidence_id", "chunk_id", "source_id", "artifact_id")
_MAX_CHARACTERS = 60
_MAX_NAMED = 20  # steps without a manifest, entries that do not fit


@dataclass(slots=True)
class ImportedRun:
    """The content of a run's files. `origin` says which span each part was found in."""

    run_id: str
    output: dict[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)
    manifests: list[dict[str, Any]] = field(default_factory=list)
    chunks: list[dict[str, Any]] = field(default_factory=list)
    origin: dict[str, str] = field(default_factory=dict)
    missing: list[MissingPart] = field(default_factory=list)

    def note_missing(self, what: str, why: str) -> None:
        self.missing.append(MissingPart(what=what, why=why))


def build_run(trace: Trace, mapping: Mapping) -> ImportedRun:
    """Build the files of a run from a trace, and note what the trace lacks."""
    run = ImportedRun(trace.id, {"run_id": trace.id})
    _add_part(run, trace, "objective", mapping.objective, _is_text)
    if _add_part(run, trace, "stop_reason", mapping.stop_reason, _is_stop_reason):
        run.output["stop_reason"] = normalize_stop_reason(run.output["stop_reason"])
    # Backwards: the first rules look for errors, and their word is `success`.
    elif (other := first_match(trace, mapping.stop_reason[::-1], _is_text)) is not None:
        why = f"{other.value[:_MAX_CHARACTERS]!r} is not one of the five reasons; map it with `words`"
        run.missing[-1] = MissingPart(what="stop_reason", why=why)
    # Lists only where the trace has them: an empty one would say that the agent claims nothing.
    _add_part(run, trace, "claims", mapping.claims, _is_list)
    without_claims = run.output.get("claims") == []  # then no evidence is needed
    _add_part(run, trace, "evidence", mapping.evidence, _is_list, is_needed=not without_claims)
    for name in ("claims", "evidence"):
        if name in run.output:
            run.output[name] = [_with_text_ids(item) for item in decode_nested(run.output[name])]
    for name in _PINS:
        _add_part(run, trace, name, getattr(mapping, name), _is_text, is_needed=False)
    _add_chunks(run, trace, mapping)
    _add_steps(run, trace, mapping)
    _note_misfits(run)
    return run


def _add_part(
    run: ImportedRun,
    trace: Trace,
    name: str,
    rules: Sequence[Rule],
    fits: Callable[[Any], bool],
    *,
    is_needed: bool = True,
) -> bool:
    """Put a value into the output; False if there is none, which is noted."""
    match = first_match(trace, rules, fits)
    if match is not None:
        run.output[name], run.origin[name] = match.value, match.span
    elif is_needed:
        run.note_missing(name, "no span gives it" if rules else "the mapping has no rule for it")
    return match is not None


def _add_chunks(run: ImportedRun, trace: Trace, mapping: Mapping) -> None:
    match = first_match(trace, mapping.chunks, _is_list)
    items = [] if match is None else [_with_text_ids(item) for item in decode_nested(match.value)]
    fitting = [item for item in items if next(iter(problems(Chunk, item)), None) is None]
    # A document that came up twice is stored once.
    run.chunks = [*{orjson.dumps(item, option=orjson.OPT_SORT_KEYS): item for item in fitting}.values()]
    if len(fitting) < len(items):
        why = f"{len(items) - len(fitting)} of {len(items)} have no id, no text or no source"
        run.note_missing("chunks", why)
    stored = {chunk["chunk_id"] for chunk in run.chunks}
    records = [record for record in run.output.get("evidence", ()) if isinstance(record, dict)]
    absent = sum(record.get("chunk_id") not in stored for record in records if isinstance(record.get("chunk_id"), str))
    if absent:
        why = f"the text behind {absent} of {len(records)} evidence records is not in the trace: not looked up"
        run.note_missing("chunks", why)


def _add_steps(run: ImportedRun, trace: Trace, mapping: Mapping) -> None:
    """A line of the log for each step, and its manifest. A step that has steps inside it is these."""
    task = {name: run.output[name] for name in ("objective", "stop_reason") if name in run.output}
    run.events.append({"run_id": run.run_id, "step_id": None, "event_type": "imported", "payload": task})
    chosen = [span for span in trace.spans if any(matches(span.fields, where) for where in mapping.steps)]
    without = []
    for number, span in enumerate(steps := trace.innermost(chosen), 1):
        step = {"run_id": run.run_id, "step_id": number}
        payload = {"span_id": span.id, "parent_id": span.parent, "name": span.name}
        run.events.append({**step, "event_type": span.name or "step", "payload": payload})
        context = next(filter(None, (_manifest_fields(span, rule) for rule in mapping.manifests)), None)
        if context is None:
            without.append(f"{number} ({span.name})")
        else:
            run.manifests.append({**step, **context})
    if not steps:
        run.note_missing("steps", "no span is a step by the mapping")
    if trace.lost:
        run.note_missing("steps", f"{trace.lost} span(s) have the id of another one: what they did is lost")
    if without:
        names = ", ".join(without[:_MAX_NAMED]) + (", …" if len(without) > _MAX_NAMED else "")
        why = f"{len(without)} of {len(steps)} steps lack a query or the ids of what came up: {names}"
        run.note_missing("manifests", why)


def _manifest_fields(span: TraceSpan, rule: ManifestRule) -> dict[str, Any] | None:
    """What a manifest says; None if the span lacks a part of it, for half a manifest would be made up."""
    if not matches(span.fields, rule.where):
        return None
    query = look_up(span.fields, rule.retrieval_query)
    candidates = look_up(span.fields, rule.candidate_chunk_ids)
    selected = candidates if rule.selected_chunk_ids is None else look_up(span.fields, rule.selected_chunk_ids)
    for ids in (candidates, selected):
        if not isinstance(ids, list) or any(type(item) not in (str, int) for item in ids):
            return None
    lists = {"candidate_chunk_ids": [*map(str, candidates)], "selected_chunk_ids": [*map(str, selected)]}
    return {"retrieval_query": query, **lists} if isinstance(query, str) else None


def _note_misfits(run: ImportedRun) -> None:
    """Claims and records that lack something: they stay as they are, and the suite judges them so."""
    absent = {missing["what"] for missing in run.missing}
    misfits = [
        MissingPart(what=problem.pointer.removeprefix("/"), why=problem.message)
        for problem in problems(ResearchOutput, run.output)
        if problem.pointer and problem.pointer.split("/")[1] not in absent
    ]
    run.missing += misfits[:_MAX_NAMED]
    if len(misfits) > _MAX_NAMED:
        run.note_missing("…", f"{len(misfits) - _MAX_NAMED} more entries do not fit")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_list(value: Any) -> bool:
    return isinstance(decode_nested(value), list)


def _is_stop_reason(value: Any) -> bool:
    return isinstance(value, str) and normalize_stop_reason(value) is not None


def _with_text_ids(item: Any) -> Any:
    """A record whose ids are text, also where the trace has numbers."""
    if not isinstance(item, dict):
        return item
    return {key: str(value) if key in _ID_FIELDS and type(value) is int else value for key, value in item.items()}


NOTES_FORMAT_VERSION = 1  # of import.json
_OUT_ADVICE = "--out needs the name of a folder that can be made, with room for the runs"


def _check_out_folder(path: str) -> None:
    """Refuse anything but an empty folder, or a new one, before any work is done."""
    if path and not os.path.lexists(path):
        return
    if not os.path.isdir(path):
        raise ConfigError("out.is_a_file", "--out names no folder", place=Place(path), expected="a folder")
    if os.path.samefile(path, os.curdir):  # it is replaced as a whole: a shell in it would see nothing
        message = "--out is the current folder"
        raise ConfigError("out.unwritable", message, place=Place(path), expected="a folder in it, or another")
    if os.listdir(path):
        raise ConfigError(
            "out.not_empty",
            "the folder for the runs is not empty: runs of another import would be judged with these",
            place=Place(path),
            expected="an empty folder, or one that is not there yet",
            advice="choose another folder for --out, or remove this one",
        )


@contextmanager
def _new_folder(path: str) -> Iterator[str]:
    """A folder to write into, which gets its name when it is complete, and is not there otherwise."""
    path = os.path.realpath(path)  # a link to an empty folder stays one
    unfinished = f"{path}.{os.getpid()}{UNFINISHED_SUFFIX}"
    try:
        os.makedirs(unfinished)
        try:
            yield unfinished
            os.replace(unfinished, path)  # also in place of an empty folder
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    except OSError as problem:
        raise write_failure(path, problem, _OUT_ADVICE, "the folder of the runs cannot be written") from None


def _write_run(folder: str, trace: Trace, run: ImportedRun, mapping: Mapping) -> None:
    """The files of one run; those that have nothing to hold are not there."""
    notes: ImportNotes = {
        "format_version": NOTES_FORMAT_VERSION,
        "run_id": run.run_id,
        "mapping": mapping.name,
        "spans": len(trace.spans),
        "steps": len(run.events) - 1,
        "origin": run.origin,
        "missing": run.missing,
        "problems": list(trace.problems),
    }
    os.mkdir(folder)
    _write_file(folder, OUTPUT, [render_json(run.output)])
    for name, records in ((EVENTS, run.events), (MANIFEST_LINES, run.manifests), (CHUNKS, run.chunks)):
        if records:
            _write_file(folder, name, (orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records))
    _write_file(folder, IMPORT_NOTES, [render_json(notes)])


def _write_file(folder: str, name: str, parts: Iterable[bytes]) -> None:
    with open(os.path.join(folder, name), "xb") as stream:
        stream.writelines(parts)


_MAX_RUNS_WITH_FINDINGS = 1000  # runs with their findings; of the rest the counts are enough


@dataclass(slots=True)
class ImportResult:
    """What was read and written."""

    mapping: Mapping
    spans: int = 0
    flaws: int = 0
    runs: int = 0
    complete: int = 0
    lacking: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return self.complete == self.runs and not self.flaws

    def as_json(self) -> dict[str, Any]:
        parts = {
            "mapping": self.mapping.name,
            "spans": self.spans,
            "unread": self.flaws,
            "runs": self.runs,
            "complete": self.complete,
            "lacking": dict(sorted(self.lacking.items())),
            "findings": [finding.as_json() for finding in self.findings],
        }
        return check_json("import-runs", self.passed, parts)


def import_runs(paths: Sequence[str], out: str, mapping: Mapping | None = None) -> ImportResult:
    """Write a run folder for every trace. Without a mapping: the ready one that the first known record shows."""
    _check_out_folder(out)
    with closing(SpanStore([mapping] if mapping is not None else [*map(load_mapping, READY_MAPPINGS)])) as store:
        result = ImportResult(store.read(paths), store.spans, store.flaws, findings=store.findings)
        with _new_folder(out) as folder:
            _write_runs(store, folder, result)
    return result


def _write_runs(store: SpanStore, folder: str, result: ImportResult) -> None:
    for identity, spans in store.traces():
        trace = build_trace(identity, spans)
        run = build_run(trace, result.mapping)
        name = folder_name(identity)
        _write_run(os.path.join(folder, name), trace, run, result.mapping)
        result.runs += 1
        result.complete += not any(map(_fails, run.missing))
        result.lacking.update({missing["what"].split("/")[0] for missing in run.missing})
        if result.runs <= _MAX_RUNS_WITH_FINDINGS:
            result.findings += _run_findings(name, trace, run)


def _run_findings(name: str, trace: Trace, run: ImportedRun) -> list[Finding]:
    findings = []
    for missing in run.missing:
        what, is_part = missing["what"], missing["what"].isidentifier()
        code, pointer = (f"missing_{what}", "") if is_part else ("misfit", f"/{what}")
        findings.append(Finding(code, "error" if _fails(missing) else "warning", name, None, pointer, missing["why"]))
    return findings + [Finding("odd_spans", "hint", name, None, "", problem) for problem in trace.problems]


def run_import(traces: Sequence[str], out: str, options: Options) -> CheckResult:
    """`goldgate import-runs`: a run folder for every trace."""
    mapping = options.get("mapping")
    result = import_runs(traces, out, None if mapping is None else load_mapping(mapping))
    summary = (
        f"{count_text(result.runs, 'run')} of {count_text(result.spans, 'span')} ({result.mapping.name}), "
        f"{result.complete} complete"
    )
    lacking = ", ".join(f"{name} in {count}" for name, count in sorted(result.lacking.items()))
    summary += f"; missing: {lacking}" if lacking else ""
    summary += f"; {count_text(result.flaws, 'part')} of the files not read" if result.flaws else ""
    return CheckResult(result.as_json(), summary)


def _fails(missing: MissingPart) -> bool:
    """Whether the research suite counts it against the run; without texts it only checks less."""
    return missing["what"] != "chunks"
