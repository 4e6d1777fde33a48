"""One evidence record against the stored sources: valid up to a level, or a failure with its own name.

Levels: `structural` (nothing is stored to check it against), `verbatim` (the quote is in the stored chunk, at its
span), `chain` (and the chunk is in the stored artifact, whose hash is the recorded one), `anchored` (and that hash is
one of those that the evaluator gave: an agent can store a source of its own making).
"""

from __future__ import annotations

import string
from typing import Any, NamedTuple

from goldgate.suites.research.contracts import Chunk
from goldgate.suites.research.run.files import sha256_of
from goldgate.suites.research.run.fold import fold
from goldgate.suites.research.run.sources import Checked, Sources, shown
from goldgate.suites.research.run.splice import MOST_PIECES, is_spliced
from goldgate.suites.research.run.telling import says_something, telling

# What can be wrong with a record; `dangling_ref` is what can be wrong with a claim's reference to one.
FAILURES = (
    "provenance_missing",
    "blank_quote",
    "span_missing",
    "span_out_of_range",
    "span_shifted",
    "misattributed",
    "spliced",
    "fabricated",
    "hash_mismatch",
    "conflicting_id",
    "text_missing",
    "not_anchored",
    "malformed",
)

_PLAIN = frozenset(string.ascii_letters + string.digits)
_FURTHER = frozenset({"artifact_id", "content_hash"})  # of a provenance that leads to an artifact
_DIGITS = frozenset(string.digits)
_TOO_MUCH = Checked(None, "fabricated", "the quote was not found: there was too much text to search in this run")

_STRUCTURAL, _VERBATIM = Checked("structural"), Checked("verbatim")


class Demands(NamedTuple):
    """What the protocol demands of a record beyond the default."""

    quote_and_span: bool = False
    verbatim: bool = False
    anchored: bool = False


def check_record(record: dict[str, Any], sources: Sources, demands: Demands) -> Checked:
    """The level that the record reached, or what is wrong with it."""
    checked = _check(record, sources, demands)
    if demands.anchored and checked.level not in (None, "anchored"):
        words = f"it reaches {checked.level}, and the protocol demands an artifact of the evaluator's corpus"
        return Checked(None, "not_anchored", words)
    return checked


def is_plainly_verbatim(record: dict[str, Any], sources: Sources) -> bool:
    """Whether the quote stands at its span of a stored chunk, and nothing leads further, fast; False is no answer."""
    try:
        chunk_id, quote, span, provenance = record["chunk_id"], record["quote"], record["span"], record["provenance"]
        start, end, source_id = span["start"], span["end"], provenance["source_id"]
        chunk = sources.chunks[chunk_id]
    except (KeyError, TypeError):  # something is missing, or of another kind
        return False
    return (
        type(quote) is str
        and type(start) is int
        and type(end) is int
        and end - start == len(quote)
        and start >= 0
        and chunk["text"].startswith(quote, start)
        and quote[:1] in _PLAIN
        and source_id == chunk["source_id"]
        and sources.says_something(source_id)
        and (chunk_id[-1:] in _DIGITS or says_something(chunk_id))
        and chunk_id not in sources.conflicting
        and _FURTHER.isdisjoint(provenance)
        and chunk.get("artifact_id") is None
        and (chunk.get("text_hash") is None or not sources.hash_problem(chunk))
    )


def _check(record: dict[str, Any], sources: Sources, demands: Demands) -> Checked:
    chunk_id, provenance = record.get("chunk_id"), record.get("provenance")
    if type(provenance) is not dict:
        return Checked(None, "provenance_missing", "there is no provenance")
    if not says_something(chunk_id):
        return Checked(None, "provenance_missing", "the chunk_id is blank")
    if not says_something(provenance.get("source_id")) and not says_something(provenance.get("artifact_id")):
        return Checked(None, "provenance_missing", "neither source_id nor artifact_id is given")

    quote, span = record.get("quote"), record.get("span")
    if quote is not None and type(quote) is not str:
        return Checked(None, "malformed", "the quote is not a string")
    if quote is not None and quote[:1] not in _PLAIN and not telling(quote):
        return Checked(None, "blank_quote", "the quote has no letter and no digit")
    if span is not None:
        if (
            type(span) is not dict
            or type(start := span.get("start")) is not int
            or type(end := span.get("end")) is not int
        ):
            return Checked(None, "malformed", "the span needs the integers start and end")
        if not 0 <= start < end:
            return Checked(None, "span_out_of_range", f"the span {start} to {end} holds nothing")
    else:
        start = end = -1
    if quote is None and (span is None or demands.quote_and_span):
        return Checked(None, "blank_quote", "there is no quote with a letter or a digit")
    if span is None and demands.quote_and_span:
        return Checked(None, "span_missing", "there is no span, and the protocol demands quote_and_span")

    assert type(chunk_id) is str  # says_something has seen to it
    if chunk_id in sources.conflicting:
        return Checked(None, "conflicting_id", f"chunk {shown(chunk_id)} is stored with different contents")
    chunk = sources.chunks.get(chunk_id)
    if chunk is None:
        if demands.verbatim:
            return Checked(
                None, "text_missing", f"the text of chunk {shown(chunk_id)} is not stored, and the protocol demands it"
            )
        return _chain(_STRUCTURAL, provenance, None, sources)
    text = chunk["text"]
    if span is not None and end > len(text):
        return Checked(None, "span_out_of_range", f"the span ends at {end}, the chunk at {len(text)}")
    if quote is not None:
        # The two plain comparisons decide nearly all records; folding is for the rest.
        if span is not None:
            there = end - start == len(quote) and text[start:end] == quote
        else:
            there = sources.may_search(len(text)) and quote in text
        if not there and (wrong := _not_there(quote, start, end, chunk, sources)) is not None:
            return wrong
    elif not (told := sources.tells(chunk, start, end)):
        blank = Checked(None, "blank_quote", "there is no letter or digit at the span")
        return _TOO_MUCH if told is None else blank
    return _chain(_VERBATIM, provenance, chunk, sources)


def _chain(reached: Checked, provenance: dict[str, Any], chunk: Chunk | None, sources: Sources) -> Checked:
    """What provenance, chunk and artifact say of each other."""
    artifact_id, content_hash = provenance.get("artifact_id"), provenance.get("content_hash")
    chunk_artifact = None
    if chunk is not None:
        source_id, chunk_source = provenance.get("source_id"), chunk["source_id"]
        if source_id != chunk_source and sources.says_something(chunk_source) and says_something(source_id):
            return Checked(
                None, "misattributed", f"the chunk is of source {shown(chunk_source)}, not of {shown(source_id)}"
            )
        if chunk.get("text_hash") is not None and (problem := sources.hash_problem(chunk)):
            return Checked(None, "hash_mismatch", problem)
        chunk_artifact = chunk.get("artifact_id")
    if artifact_id is None and chunk_artifact is None and content_hash is None:
        return reached
    names = [str(name) for name in (artifact_id, chunk_artifact) if sources.says_something(name)]
    if len({sources.hash_in(name) or name for name in names}) > 1:
        return Checked(
            None, "misattributed", f"the chunk is of artifact {shown(chunk_artifact)}, not of {shown(artifact_id)}"
        )
    recorded = sha256_of(content_hash)
    if recorded is not None:
        names.insert(0, recorded)
    if not names or not sources.artifacts:
        return reached
    hashes = {digits for name in names if (digits := sources.hash_in(name)) is not None}
    if len(hashes) > 1:
        return Checked(None, "hash_mismatch", "the record names two different hashes for its artifact")
    stored = next((as_file for name in names if (as_file := sources.hash_in(name) or name) in sources.artifacts), None)
    if stored is None:
        return reached
    real = sources.artifacts[stored].sha256
    if real != stored or (hashes and real not in hashes):
        return Checked(None, "hash_mismatch", f"the stored artifact {stored} has the hash {real}")
    if chunk is None:
        return reached
    return sources.part(chunk, stored)


def _not_there(quote: str, start: int, end: int, chunk: Chunk, sources: Sources) -> Checked | None:
    """Why the quote is not where the record says; None if it is, once both are folded."""
    text, folded = chunk["text"], fold(quote)
    with_span = start >= 0
    if with_span:
        there = sources.folded_span(chunk, start, end)
        if there == folded:
            return None
        if there is None:
            return _TOO_MUCH
    if not sources.may_search(len(text)):
        return _TOO_MUCH
    folded_text = sources.folded(chunk)
    if folded in folded_text:
        if not with_span:
            return None
        at: int | None = text.find(quote)
        if at == -1:
            at = sources.offset(text, folded)
        place = "elsewhere in the chunk" if at is None else f"at {at} of the chunk"
        return Checked(None, "span_shifted", f"the quote is {place}, not at {start}")
    joined = sources.joined()
    scans = len(folded).bit_length() * MOST_PIECES
    if sources.may_search(len(joined.text)):
        other = joined.find(folded)
        if other is not None:
            return Checked(
                None, "misattributed", f"the quote is in chunk {shown(other)}, not in {shown(chunk['chunk_id'])}"
            )
    if sources.may_search(len(folded_text) * scans) and is_spliced(folded, folded_text):
        return Checked(None, "spliced", f"the quote joins separate parts of chunk {shown(chunk['chunk_id'])}")
    if sources.may_search(len(joined.text) * scans) and is_spliced(folded, joined.text):
        return Checked(None, "spliced", "the quote joins parts of several stored chunks")
    return Checked(None, "fabricated", "the quote is in no stored chunk")
