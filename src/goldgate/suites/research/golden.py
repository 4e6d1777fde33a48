"""What the evaluator knows: golden queries, and the corpus as hashes of its sources.

A golden file is read strictly, and every problem in it is listed. Objectives that are nearly equal are hints, never
a match. Evidence from an artifact of the corpus is anchored.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from unicodedata import normalize

from goldgate.core.finding import Finding, Problem
from goldgate.errors import ConfigError, InputError, Place, describe_value
from goldgate.files.address import is_url, public_url, resolved_path
from goldgate.files.parsing import decode_strictly
from goldgate.files.reading import read_failure, read_text_file
from goldgate.files.remote import open_remote
from goldgate.readers.records import bounded_lines
from goldgate.shape.validation import problems, type_test
from goldgate.suites.research.contracts import GoldenFile, GoldenQuery, Pins, Queries
from goldgate.suites.research.text import is_invisible, nfc, sha256_of

GOLDEN_KIND = "golden"
_SCHEMA_VERSION = "1"  # major version of `schema_version`
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
    by_objective: dict[str, int] = field(default_factory=dict)  # numbers of queries by `match_key`
    anchors: frozenset[str] = frozenset()  # hashes of artifacts that stand beside the ids


class GoldenError(InputError):
    """A golden file that cannot be used: the first problem as the error, and all of them listed."""

    def __init__(self, file: str, problems: list[Problem]) -> None:
        first = problems[0]
        count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(
            "golden.malformed",
            f"the golden queries have {count}",
            place=Place(file, None, first.pointer or "(the whole file)"),
            expected=first.expected,
            found=first.found,
        )
        self.problems = problems

    def __reduce__(self) -> tuple[object, ...]:
        return (GoldenError, (self.place.file, self.problems))

    def as_json(self) -> dict[str, object]:
        return {**super().as_json(), "problems": [problem._asdict() for problem in self.problems[:_SHOWN_PROBLEMS]]}


def load_golden(path: str | Path) -> Golden:
    """Read a golden queries file; whatever is wrong with it is a GoldenError that lists all of it."""
    file = public_url(str(path))
    try:
        text, sha256 = read_text_file(path, GOLDEN_KIND)
    except InputError as error:  # without a golden file, the reader needs to know what one is
        error.expected = (
            "a JSON file of golden queries: objective, required_evidence_ids, evidence_sufficient (--golden)"
        )
        raise
    parsed = parse_golden(text, file)
    merged, contradictions, findings = _merge_queries(parsed, PurePath(file).name)
    if parsed.problems or contradictions:
        raise GoldenError(file, [*parsed.problems, *contradictions])
    hashes = [text for query in parsed.queries.values() for text in query.get("artifact_hashes", ())]
    return Golden(
        merged,
        parsed.pins,
        findings,
        sha256,
        str(path) if is_url(path) else os.path.abspath(path),
        PurePath(file).name,
        {match_key(query.objective): number for number, query in enumerate(merged)},
        frozenset(filter(None, map(sha256_of, hashes))),
    )


@dataclass(frozen=True, slots=True)
class ParsedGolden:
    """The queries that can be read, by JSON pointer, and the problems of the file."""

    queries: dict[str, GoldenQuery]
    pins: dict[str, str]
    problems: list[Problem]


def parse_golden(text: str, file: str) -> ParsedGolden:
    """What the file holds; a GoldenError only where it is no JSON at all."""
    decoded = decode_strictly(text)
    value, flaws = decoded.value, [flaw.problem for flaw in decoded.flaws]
    if decoded.broken is not None and decoded.broken.msg == "Extra data" and text.lstrip()[:1] == "{":
        lines = "JSON Lines, one object per line; jq -s . FILE makes one array of them"
        raise GoldenError(file, [Problem("", "one JSON array of golden queries", lines)])
    if value is None and flaws:  # there is nothing to look at
        raise GoldenError(file, flaws)
    shape = GoldenFile if isinstance(value, dict) else Queries  # the form that was meant
    flaws += problems(shape, value)
    pins: dict[str, str] = {}
    start, queries = "", value
    if isinstance(value, dict):
        flaws += _version_problems(value)
        start, queries = "/queries", value.get("queries")
        if type_test(Pins)(value.get("pins")):
            pins = dict(value["pins"])
    numbered = enumerate(queries if isinstance(queries, list) else ())
    valid = {f"{start}/{number}": query for number, query in numbered if type_test(GoldenQuery)(query)}
    flaws += _invisible_texts(valid)
    return ParsedGolden(valid, pins, flaws)


def match_key(objective: str) -> str:
    """Objectives are the same after NFC and collapse of white space; case and compatibility forms stay distinct."""
    return " ".join(nfc(objective).split())


def _invisible_texts(queries: dict[str, GoldenQuery]) -> Iterator[Problem]:
    """Texts that are there and cannot be seen: no rule of a contract finds them."""
    for pointer, query in queries.items():
        if is_invisible(query["objective"]):
            yield Problem(f"{pointer}/objective", "a text that is not blank", "characters that cannot be seen")
        for number, identity in enumerate(query["required_evidence_ids"]):
            if is_invisible(identity):
                where = f"{pointer}/required_evidence_ids/{number}"
                yield Problem(where, "an id that is not blank", "characters that cannot be seen")


def _version_problems(value: dict[str, Any]) -> list[Problem]:
    version = value.get("schema_version")
    if type(version) not in (str, int) or str(version).partition(".")[0] == _SCHEMA_VERSION:
        return []
    return [
        Problem("/schema_version", f"{_SCHEMA_VERSION}, the version that this goldgate reads", describe_value(version))
    ]


def _merge_queries(parsed: ParsedGolden, file: str) -> tuple[list[Query], list[Problem], list[Finding]]:
    """Queries with every objective once; equal copies are merged, contradicting ones are problems."""
    merged: dict[str, tuple[str, Query]] = {}
    contradictions: list[Problem] = []
    findings: list[Finding] = []
    names: dict[str, str] = {}
    for pointer, raw in parsed.queries.items():
        ids = raw["required_evidence_ids"]
        query = Query(raw["objective"], frozenset(ids), raw["evidence_sufficient"], raw.get("id"), pointer)
        for repeated in sorted(identity for identity, count in Counter(ids).items() if count > 1):
            message = f'duplicate id "{repeated}", counted once'
            where = f"{pointer}/required_evidence_ids"
            findings.append(Finding("golden.repeated_id", "warning", file, None, where, message))
        first, same = merged.setdefault(match_key(query.objective), (pointer, query))
        if first == pointer:
            if query.id is not None and names.setdefault(query.id, pointer) != pointer:
                contradictions.append(
                    Problem(f"{pointer}/id", "every query id once", f"the id of {names[query.id]} again")
                )
        elif (same.required, same.sufficient) == (query.required, query.sufficient):
            message = f"the same query as {first}; the two are merged"
            findings.append(Finding("golden.merged", "warning", file, None, pointer, message))
        else:
            label = same.sufficient != query.sufficient
            contradictions.append(
                Problem(
                    f"{pointer}/{'evidence_sufficient' if label else 'required_evidence_ids'}",
                    f"the same as in {first}, which has the same objective",
                    describe_value(query.sufficient) if label else "other ids",
                )
            )
    return [query for _, query in merged.values()], contradictions, findings


MIN_SIMILARITY = 0.9  # of all characters
_MAX_OBJECTIVE = 1_000  # characters of an objective that is compared
_MAX_COMPARED = 10_000_000  # characters of queries, which take up to 3 s; a hint is a hint

_NON_WORD = re.compile(r"[\W_]+")


def plain_objective(objective: str) -> str:
    """The objective without case, punctuation and compatibility forms."""
    return _NON_WORD.sub(" ", normalize("NFKC", nfc(objective)).casefold()).strip()


def nearly_equal(one: str, other: str) -> bool:
    """Whether two bare objectives have nearly all characters in common, in their order."""
    if one == other:
        return True
    size = len(one) + len(other)
    if max(len(one), len(other)) > _MAX_OBJECTIVE or 2 * min(len(one), len(other)) < MIN_SIMILARITY * size:
        return False
    return 2 * _common_length(one, other) >= MIN_SIMILARITY * size


def _common_length(one: str, other: str) -> int:
    """The length of the longest common subsequence, one row in one integer (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for number, sign in enumerate(one):
        places[sign] = places.get(sign, 0) | 1 << number
    row = whole = (1 << len(one)) - 1
    for sign in other:
        both = row & places.get(sign, 0)
        row = (row + both) | (row - both)
    return len(one) - (row & whole).bit_count()


class NearQueries(NamedTuple):
    """The number of the query that may be meant, for objectives that have one; and how many were not compared."""

    queries: dict[str, int]
    not_compared: int


def near_queries(objectives: Iterable[str], golden: Golden) -> NearQueries:
    """Compare objectives of no query with all queries, until that would take too long."""
    queries = [plain_objective(query.objective[:_MAX_OBJECTIVE]) for query in golden.queries]
    exact = {text: number for number, text in reversed(list(enumerate(queries)))}
    size = sum(map(len, queries)) + len(queries)
    near: dict[str, int] = {}
    compared = not_compared = 0
    for objective in dict.fromkeys(objectives):
        if len(objective) > _MAX_OBJECTIVE:
            not_compared += 1
            continue
        plain = plain_objective(objective)
        if plain in exact:
            near[objective] = exact[plain]
            continue
        compared += size
        if compared > _MAX_COMPARED:
            not_compared += 1
            continue
        number = next((number for number, text in enumerate(queries) if nearly_equal(plain, text)), None)
        if number is not None:
            near[objective] = number
    return NearQueries(near, not_compared)


CORPUS_KIND = "corpus"
_CORPUS_EXPECTED = (
    "a file with one SHA-256 hash per line, as sha256sum writes it, or a directory of source files (--corpus)"
)


class Corpus(NamedTuple):
    """Hashes of sources, and one digest of them all: the order of lines and files changes nothing."""

    hashes: frozenset[str]
    sha256: str


def load_corpus(path: str | Path) -> Corpus:
    """Read a list of hashes, or hash every file of a directory and of the directories in it."""
    file = public_url(str(path))
    try:
        hashes = _directory_hashes(file) if os.path.isdir(path) else _listed_hashes(path, file)
    except OSError as problem:
        error = read_failure(file, CORPUS_KIND, problem)
        error.expected = _CORPUS_EXPECTED
        raise error from None
    if not hashes:
        raise InputError(
            "corpus.empty",
            "the corpus has no source: nothing could be anchored",
            place=Place(file),
            expected=_CORPUS_EXPECTED,
        )
    return Corpus(hashes, hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest())


def check_corpus_apart(corpus: str | Path, outputs: str | Path) -> None:
    """A corpus in the outputs, or around them, is the agent's to write: then it anchors nothing."""
    if is_url(str(corpus)) != is_url(str(outputs)):
        return
    corpus_path, outputs_path = resolved_path(corpus), resolved_path(outputs)
    if os.path.commonpath((corpus_path, outputs_path)) in (corpus_path, outputs_path):
        raise ConfigError(
            "corpus.holds_outputs",
            "the corpus and the outputs overlap: the agent could add to its own sources",
            place=Place(public_url(str(corpus))),
            expected="a list or a folder that the agent does not write to (--corpus)",
        )


def _listed_hashes(path: str | Path, file: str) -> frozenset[str]:
    """The first word of each line; what follows it is a name, and a line that begins with # a remark."""
    hashes: set[str] = set()
    with open_remote(str(path), CORPUS_KIND).stream() if is_url(path) else open(path, "rb") as stream:
        for number, line in enumerate(bounded_lines(stream, CORPUS_KIND, file), 1):
            words = line.decode("utf-8-sig", "replace").split(maxsplit=1)
            if not words or words[0].startswith("#"):
                continue
            digits = sha256_of(words[0].removeprefix("\\"))  # sha256sum marks names that it had to escape
            if digits is None:
                raise InputError(
                    "corpus.not_a_hash",
                    "this line does not begin with a SHA-256 hash",
                    place=Place(file, number),
                    expected=_CORPUS_EXPECTED,
                    found=describe_value(words[0]),
                )
            hashes.add(digits)
    return frozenset(hashes)


def _directory_hashes(folder: str) -> frozenset[str]:
    hashes: set[str] = set()
    for inner, _, names in os.walk(folder, onerror=_reraise):
        for name in names:
            path = os.path.join(inner, name)
            if os.path.isfile(path):  # no pipe and no socket: reading one could wait for ever
                with open(path, "rb") as stream:
                    hashes.add(hashlib.file_digest(stream, "sha256").hexdigest())
    return frozenset(hashes)


def _reraise(problem: OSError) -> None:
    raise problem
