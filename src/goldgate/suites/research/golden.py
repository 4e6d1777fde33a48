"""Golden queries: read strictly, with every problem of the file listed, because a wrong one measures nothing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from goldgate.core.finding import Finding
from goldgate.core.problem import Problem
from goldgate.errors import InputError, Place, describe
from goldgate.files.strict_json import decode_strictly
from goldgate.files.text_file import TextFile, read_text
from goldgate.files.url import is_url, shown_url
from goldgate.shape.fits import fits
from goldgate.shape.problems import problems
from goldgate.suites.research.contracts import GoldenFile, GoldenQuery, Pins, Queries
from goldgate.suites.research.run.files import sha256_of
from goldgate.suites.research.run.fold import nfc
from goldgate.suites.research.run.telling import is_blank

KIND = "golden"
_FORMAT = "1"  # major version of `schema_version`
_SHOWN_PROBLEMS = 1_000


@dataclass(frozen=True, slots=True)
class Query:
    """One golden query."""

    objective: str
    required: frozenset[str]
    sufficient: bool
    id: str | None = None
    pointer: str = ""  # where in the file it stands


@dataclass(frozen=True, slots=True)
class Golden:
    """The queries in the order of the file, and how a run finds its own."""

    queries: list[Query]
    pins: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    sha256: str = ""
    path: str = ""  # from anywhere; it never goes into a report
    file: str = ""  # its name, without folders
    by_objective: dict[str, int] = field(default_factory=dict)
    anchors: frozenset[str] = frozenset()  # hashes of artifacts that stand beside the ids

    def find(self, objective: str) -> int | None:
        """The number of the query with this objective."""
        return self.by_objective.get(match_key(objective))


class GoldenError(InputError):
    """A golden file that cannot be used: the first problem as the error, and all of them listed."""

    def __init__(self, file: str, found: list[Problem]) -> None:
        first = found[0]
        count = "one problem" if len(found) == 1 else f"{len(found)} problems"
        super().__init__(
            "golden.malformed",
            f"the golden queries have {count}",
            place=Place(file, None, first.pointer or "(the whole file)"),
            expected=first.expected,
            found=first.found,
        )
        self.problems = found

    def __reduce__(self) -> tuple[object, ...]:
        return (GoldenError, (self.place.file, self.problems))

    def as_json(self) -> dict[str, object]:
        return {**super().as_json(), "problems": [problem._asdict() for problem in self.problems[:_SHOWN_PROBLEMS]]}


def load_golden(path: str | Path) -> Golden:
    """Read a golden queries file; whatever is wrong with it is a GoldenError that lists all of it."""
    file = shown_url(str(path))
    text, sha256 = _read(path)
    parsed = parse_golden(text, file)
    merged, contradictions, findings = _merge(parsed, PurePath(file).name)
    if parsed.problems or contradictions:
        raise GoldenError(file, [*parsed.problems, *contradictions])
    return Golden(
        merged,
        parsed.pins,
        findings,
        sha256,
        str(path) if is_url(path) else os.path.abspath(path),
        PurePath(file).name,
        {match_key(query.objective): number for number, query in enumerate(merged)},
        frozenset(filter(None, map(sha256_of, parsed.hashes))),
    )


@dataclass(frozen=True, slots=True)
class ParsedGolden:
    """The queries that can be read, by JSON pointer, and the problems of the file."""

    queries: dict[str, GoldenQuery]
    pins: dict[str, str]
    problems: list[Problem]
    hashes: list[str]  # of artifacts, as they are written


def parse_golden(text: str, file: str) -> ParsedGolden:
    """What the file holds; a GoldenError only where it is no JSON at all."""
    decoded = decode_strictly(text)
    value, found = decoded.value, [flaw.problem for flaw in decoded.flaws]
    if decoded.broken is not None and decoded.broken.msg == "Extra data" and text.lstrip()[:1] == "{":
        lines = "JSON Lines, an object a line; jq -s . FILE makes one array of them"
        raise GoldenError(file, [Problem("", "one JSON array of golden queries", lines)])
    if value is None and found:  # there is nothing to look at
        raise GoldenError(file, found)
    shape = GoldenFile if isinstance(value, dict) else Queries  # the form that was meant
    found += problems(shape, value)
    pins: dict[str, str] = {}
    start, queries = "", value
    if isinstance(value, dict):
        found += _wrong_version(value)
        start, queries = "/queries", value.get("queries")
        if fits(Pins)(value.get("pins")):
            pins = dict(value["pins"])
    numbered = enumerate(queries if isinstance(queries, list) else ())
    right = {f"{start}/{number}": query for number, query in numbered if fits(GoldenQuery)(query)}
    found += _invisible(right)
    hashes = [written for query in right.values() for written in query.get("artifact_hashes", ())]
    return ParsedGolden(right, pins, found, hashes)


def match_key(objective: str) -> str:
    """Objectives are the same after NFC and collapse of white space; case and compatibility forms stay distinct."""
    return " ".join(nfc(objective).split())


def _read(path: str | Path) -> TextFile:
    try:
        return read_text(path, KIND)
    except InputError as error:  # whoever has no golden file needs to know what one is
        error.expected = (
            "a JSON file of golden queries: objective, required_evidence_ids, evidence_sufficient (--golden)"
        )
        raise


def _invisible(queries: dict[str, GoldenQuery]) -> Iterator[Problem]:
    """Texts that are there and cannot be seen: no rule of a contract finds them."""
    for pointer, query in queries.items():
        if is_blank(query["objective"]):
            yield Problem(f"{pointer}/objective", "a text that is not blank", "characters that cannot be seen")
        for number, identity in enumerate(query["required_evidence_ids"]):
            if is_blank(identity):
                where = f"{pointer}/required_evidence_ids/{number}"
                yield Problem(where, "an id that is not blank", "characters that cannot be seen")


def _wrong_version(value: dict[str, Any]) -> list[Problem]:
    version = value.get("schema_version")
    if type(version) not in (str, int) or str(version).partition(".")[0] == _FORMAT:
        return []
    return [Problem("/schema_version", f"{_FORMAT}, the version that this goldgate reads", describe(version))]


def _merge(parsed: ParsedGolden, file: str) -> tuple[list[Query], list[Problem], list[Finding]]:
    """Queries with every objective once; equal copies are merged, contradicting ones are problems."""
    merged: dict[str, tuple[str, Query]] = {}
    found: list[Problem] = []
    findings: list[Finding] = []
    names: dict[str, str] = {}
    for pointer, raw in parsed.queries.items():
        ids = raw["required_evidence_ids"]
        query = Query(raw["objective"], frozenset(ids), raw["evidence_sufficient"], raw.get("id"), pointer)
        for twice in sorted(identity for identity, count in Counter(ids).items() if count > 1):
            message = f'duplicate id "{twice}", counted once'
            where = f"{pointer}/required_evidence_ids"
            findings.append(Finding("golden.repeated_id", "warning", file, None, where, message))
        first, same = merged.setdefault(match_key(query.objective), (pointer, query))
        if first == pointer:
            if query.id is not None and names.setdefault(query.id, pointer) != pointer:
                found.append(Problem(f"{pointer}/id", "every query id once", f"the id of {names[query.id]} again"))
        elif (same.required, same.sufficient) == (query.required, query.sufficient):
            message = f"the same query as {first}; the two are merged"
            findings.append(Finding("golden.merged", "warning", file, None, pointer, message))
        else:
            label = same.sufficient != query.sufficient
            found.append(
                Problem(
                    f"{pointer}/{'evidence_sufficient' if label else 'required_evidence_ids'}",
                    f"the same as in {first}, which has the same objective",
                    describe(query.sufficient) if label else "other ids",
                )
            )
    return [query for _, query in merged.values()], found, findings
