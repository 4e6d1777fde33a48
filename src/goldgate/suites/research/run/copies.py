"""Digests of a run's content, by which copies of a run are recognized.

Runs with the same content are one run under several names. `answer` digests the verified claims and what is quoted for
them, `content` also everything else that is judged. Unread fields, another order, blanks or new ids do not make
another run. Runs that answer nothing resemble each other, so for them everything recorded counts except ids and times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from goldgate.suites.research.golden import match_key
from goldgate.suites.research.run.claims import JudgedRun, evidence_records
from goldgate.suites.research.run.evidence import Sources
from goldgate.suites.research.run.files import BadLine, RunFiles, decode_lines
from goldgate.suites.research.run.log import STATUSES
from goldgate.suites.research.text import fold, letter_profile, visible_text

_FIELD_SEPARATOR, _GROUP_SEPARATOR = "\x1f", "\x1e"
_NON_WORD = re.compile(r"[\W_]+")
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


class ContentDigests(NamedTuple):
    """Digests of 16 bytes. `answer` is empty for a run that verifies nothing."""

    answer: bytes
    content: bytes


def fingerprints(run: JudgedRun) -> tuple[bytes, bytes]:
    """Fast digests of what is verified and of the whole run: equal runs have the same, others nearly never.

    Comparing contents takes as long as judging, so it is done only where these are equal. A run that verifies nothing
    has one fingerprint.
    """
    values, manifests = _gate_values(run), run.steps.manifests
    verified = [claim.statement for claim in run.claims.entries if claim.status == "verified"]
    answer = _short_digest((values[:2], len(verified), letter_profile("".join(verified))))
    others = run.claims.entries if run.claims.candidate else []
    texts = [claim.statement for claim in others if claim.status != "verified"]
    quotes = [record.get("quote") for record in run.output.get("evidence") or () if type(record) is dict]
    texts += [quote for quote in quotes if type(quote) is str]
    texts += map(_asked_text, manifests)
    whole = _short_digest((answer, values, len(manifests), letter_profile("".join(texts))))
    return answer if verified else whole, whole


def content_of(run: JudgedRun, files: RunFiles) -> ContentDigests:
    """Digests that are equal for copies of a run."""
    values, required = _gate_values(run), run.query.required if run.query is not None else frozenset()
    filed = dict(_record_contents(run.output, run.sources, required))
    claims: dict[str, list[str]] = {status: [] for status in STATUSES}
    for claim in run.claims.entries:
        quotes = sorted(filed.get(name, "") for name in claim.cited)
        claims[claim.status].append(_FIELD_SEPARATOR.join((_plain_text(claim.statement), *quotes)))
    answer = [*map(str, values[:2]), _GROUP_SEPARATOR, *sorted(claims["verified"])]
    content = [*answer, _GROUP_SEPARATOR, *map(str, values)]
    for group in (
        sorted(claims["candidate"]),
        sorted(claims["retracted"]),
        sorted(filed.values()),
        map(_manifest_content, run.steps.manifests),
    ):
        content += [_GROUP_SEPARATOR, *group]
    if not (run.claims.entries or len(run.ledger)):
        content += [_GROUP_SEPARATOR, *_all_recorded(run.output, files)]
    return ContentDigests(_digest(answer) if claims["verified"] else b"", _digest(content))


def _gate_values(run: JudgedRun) -> tuple[object, ...]:
    """The task and the end of a run, with the counts that gates are about.

    Without the counts, a run that failed could vanish as a copy of one that did not.
    """
    claims, steps = run.claims, run.steps
    counts = (claims.verified, claims.covered, claims.candidate, len(run.ledger), len(run.found_ids), run.uncited)
    return match_key(run.objective or ""), run.stop_reason, *counts, steps.total, steps.with_manifest, run.torn


def _record_contents(output: dict[str, Any], sources: Sources, required: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Each record's id and what it files: the quoted words, and its id only where a query asks for that."""
    for _, record in evidence_records(output):
        identity = record.get("evidence_id") if type(record) is dict else None
        if type(identity) is str:
            asked = identity if identity in required else ""
            yield identity, _FIELD_SEPARATOR.join((_quote_content(record, sources), asked))


def _quote_content(record: dict[str, Any], sources: Sources) -> str:
    quote, span = record.get("quote"), record.get("span")
    if type(quote) is str:
        return _plain_text(quote)
    chunk = sources.chunk_of(record)
    if type(span) is not dict:
        return ""
    start, end = span.get("start"), span.get("end")
    text = None
    if chunk is not None and type(start) is int and type(end) is int and 0 <= start < end <= len(chunk["text"]):
        text = sources.folded_span(chunk["chunk_id"], start, end)
    return f"{start}-{end}" if text is None else _plain_text(text)


def _manifest_content(manifest: dict[str, Any]) -> str:
    chunk_ids = (manifest.get(name) for name in ("candidate_chunk_ids", "selected_chunk_ids"))
    counts = [str(len(ids)) if type(ids) is list else "" for ids in chunk_ids]
    return _FIELD_SEPARATOR.join((_plain_text(_asked_text(manifest)), *counts))


def _asked_text(manifest: dict[str, Any]) -> str:
    """What a step asked; manifests that need not be complete may have anything in its place."""
    asked = manifest.get("retrieval_query")
    return asked if type(asked) is str else ""


def _plain_text(text: str) -> str:
    """The letters and digits of a text, without case, punctuation, blanks, width and invisible characters."""
    words = _NON_WORD.sub(" ", fold(visible_text(text)).casefold()).strip()
    return _NOT_BETWEEN_DIGITS.sub("", words)  # 1.5 is not 15


def _all_recorded(output: dict[str, Any], files: RunFiles) -> list[str]:
    """Everything in the output and the log but ids and times."""
    try:
        parts = [_bare_json(output)]
        parts += sorted(_bare_json(event) for _, event in decode_lines(files.events or b""))
    except (RecursionError, TypeError):
        return [files.digest.hex()]  # too deep, or no text at all: equal only where the bytes are
    return parts


def _bare_json(value: Any) -> str:
    return orjson.dumps(_without_ids_and_times(value), option=orjson.OPT_SORT_KEYS).decode()


def _without_ids_and_times(value: Any) -> Any:
    if isinstance(value, BadLine):
        return ""
    if type(value) is str:
        return _plain_text(_STAMP.sub("", value.encode("utf-8", "replace").decode()))
    if type(value) is dict:
        return {key: _without_ids_and_times(item) for key, item in value.items() if not _names_id_or_time(key)}
    if type(value) is list:
        return [_without_ids_and_times(item) for item in value]
    if type(value) in (int, float) and value >= _EPOCH:
        return 0
    return value


def _names_id_or_time(key: str) -> bool:
    return _ID_OR_TIME.search(_HUMP.sub("_", key).lower()) is not None


def _digest(parts: list[str]) -> bytes:
    return blake2b("\n".join(parts).encode("utf-8", "replace"), digest_size=16).digest()


def _short_digest(value: object) -> bytes:
    return blake2b(repr(value).encode("utf-8", "replace"), digest_size=8).digest()
