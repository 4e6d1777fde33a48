"""The content of a run without its ids and times: runs with the same content are one run under several names.

Two digests: `answer` is what the run verifies and quotes for it, `content` also all else that is judged. What tells two
runs of a query apart must be something that is judged: a field that nobody reads, another order, blanks or new ids
are no other run. Runs that answer nothing are alike by their nature, so for them everything that they recorded
counts, ids and times left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from goldgate.suites.research.run.claims import Claims, ReadClaim
from goldgate.suites.research.run.decode import BadLine, decode_lines
from goldgate.suites.research.run.files import RunFiles
from goldgate.suites.research.run.fold import fold, visible
from goldgate.suites.research.run.ledger import Ledger, records
from goldgate.suites.research.run.letters import sketch_of_all
from goldgate.suites.research.run.sources import Sources

_BETWEEN, _APART = "\x1f", "\x1e"
_NO_WORD = re.compile(r"[\W_]+")
_NOT_BETWEEN_DIGITS = re.compile(r"(?<!\d) | (?!\d)")
_ID_OR_TIME = re.compile(
    r"(?:^|_)(?:id|ids|uuid|guid|key|nonce|seed|trial|attempt|host|pid|time|times|timestamp|ts|date|at|ms|secs?|"
    r"seconds|millis|duration|elapsed|latency|started|ended|finished|created|updated)$"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}",
    re.IGNORECASE,
)
_EPOCH = 1_000_000_000  # seconds; a number from here on is a time


class Content(NamedTuple):
    """Digests of 16 bytes; `answer` is empty for a run that verifies nothing."""

    answer: bytes
    content: bytes


class Material(NamedTuple):
    """What a run's content is made of. `head` is its task and its end, and the counts that it came to."""

    head: tuple[object, ...]
    output: dict[str, Any]
    claims: Claims
    ledger: Ledger
    sources: Sources
    required: frozenset[str]
    manifests: Sequence[dict[str, Any]]
    files: RunFiles

    @property
    def verified(self) -> list[ReadClaim]:
        return [claim for claim in self.claims.read if claim.status == "verified"]


def fingerprints(run: Material) -> tuple[bytes, bytes]:
    """Of what is verified and of the whole run, fast: equal runs have the same, others nearly never.

    Comparing contents takes as long as judging, so it is done only where these are equal. A run that verifies nothing
    has one fingerprint.
    """
    verified = [claim.statement for claim in run.claims.read if claim.status == "verified"]
    answer = _short((run.head[:2], len(verified), sketch_of_all(verified)))
    texts = [claim.statement for claim in run.claims.read if claim.status != "verified"] if run.claims.candidate else []
    for record in run.output.get("evidence") or ():
        if type(record) is dict and type(quote := record.get("quote")) is str:
            texts.append(quote)
    texts += [manifest["retrieval_query"] for manifest in run.manifests]
    whole = _short((answer, run.head, len(run.manifests), sketch_of_all(texts)))
    return answer if verified else whole, whole


def content_of(run: Material) -> Content:
    """The digests of a run."""
    filed = dict(_filed(run.output, run.sources, run.required))
    claims: dict[str, list[str]] = {claim.status: [] for claim in run.claims.read}
    for claim in run.claims.read:
        quotes = sorted(filed.get(name, "") for name in claim.cited)
        claims[claim.status].append(_BETWEEN.join((_plain(claim.statement), *quotes)))
    answer = [*map(str, run.head[:2]), _APART, *sorted(claims.get("verified", ()))]
    rest = [*map(str, run.head), _APART]
    rest += [*sorted(claims.get("candidate", ())), _APART, *sorted(claims.get("retracted", ()))]
    rest += [_APART, *sorted(filed.values()), _APART, *(_path(manifest) for manifest in run.manifests)]
    if not (run.claims.read or len(run.ledger)):
        rest += [_APART, *_recorded(run.output, run.files)]
    return Content(_digest(answer) if run.verified else b"", _digest([*answer, _APART, *rest]))


def _filed(output: dict[str, Any], sources: Sources, required: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Each record's id and what it files: the quoted words, and its id only where a query asks for that."""
    for _, _, record in records(output):
        identity = record.get("evidence_id") if type(record) is dict else None
        if type(identity) is str:
            yield identity, _BETWEEN.join((_quoted(record, sources), identity if identity in required else ""))


def _quoted(record: dict[str, Any], sources: Sources) -> str:
    quote, span, chunk_id = record.get("quote"), record.get("span"), record.get("chunk_id")
    if type(quote) is str:
        return _plain(quote)
    chunk = sources.chunks.get(chunk_id) if type(chunk_id) is str else None
    if type(span) is not dict:
        return ""
    start, end = span.get("start"), span.get("end")
    there = None
    if chunk is not None and type(start) is int and type(end) is int and 0 <= start < end <= len(chunk["text"]):
        there = sources.folded_span(chunk, start, end)
    return f"{start}-{end}" if there is None else _plain(there)


def _path(manifest: dict[str, Any]) -> str:
    counts = f"{len(manifest['candidate_chunk_ids'])}{_BETWEEN}{len(manifest['selected_chunk_ids'])}"
    return f"{_plain(manifest['retrieval_query'])}{_BETWEEN}{counts}"


def _plain(text: str) -> str:
    """The letters and digits of a text: case, punctuation, blanks, width and what nobody sees make no other one."""
    words = _NO_WORD.sub(" ", fold(visible(text)).casefold()).strip()
    return _NOT_BETWEEN_DIGITS.sub("", words)  # 1.5 is not 15


def _recorded(output: dict[str, Any], files: RunFiles) -> list[str]:
    """Everything in the output and the log but ids and times."""
    try:
        parts = [_bare(output)]
        parts += sorted(_bare(event) for _, event in decode_lines(files.events or b""))
    except (RecursionError, TypeError):
        return [files.digest.hex()]  # too deep, or no text at all: equal only where the bytes are
    return parts


def _bare(value: Any) -> str:
    return orjson.dumps(_stripped(value), option=orjson.OPT_SORT_KEYS).decode()


def _stripped(value: Any) -> Any:
    if isinstance(value, BadLine):
        return ""
    if type(value) is str:
        return _plain(_STAMP.sub("", value.encode("utf-8", "replace").decode()))
    if type(value) is dict:
        return {key: _stripped(item) for key, item in value.items() if not _names_id_or_time(key)}
    if type(value) is list:
        return [_stripped(item) for item in value]
    if type(value) in (int, float) and value >= _EPOCH:
        return 0
    return value


def _names_id_or_time(key: str) -> bool:
    return _ID_OR_TIME.search(_HUMP.sub("_", key).lower()) is not None


def _digest(parts: list[str]) -> bytes:
    return blake2b("\n".join(parts).encode("utf-8", "replace"), digest_size=16).digest()


def _short(value: object) -> bytes:
    return blake2b(repr(value).encode("utf-8", "replace"), digest_size=8).digest()
