"""Checks one evidence record against the stored sources: the level that it reaches, or the name of its failure.

Levels: `structural` (nothing is stored to check it against), `verbatim` (the quote is in the stored chunk, at its
span), `chain` (and the chunk, or the quote where its chunk is not stored, is in the stored artifact, whose hash is the
recorded one), `anchored` (and that hash is in the evaluator's corpus: an agent can store a source of its own making).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from hashlib import sha256
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeVar, cast

from goldgate.core.finding import limit_length
from goldgate.suites.research.contracts import Chunk
from goldgate.suites.research.run.files import Artifact
from goldgate.suites.research.text import (
    LETTER_MARK,
    MAX_NEAREST_QUOTE,
    MAX_SEEDS,
    TextRange,
    fold,
    has_letter_or_digit,
    has_several_sentences,
    html_text,
    is_html,
    is_meaningful_id,
    mark_letters,
    nearest_text,
    offset_of_quote,
    sha256_of,
    text_range,
)

Level = Literal["structural", "verbatim", "chain", "anchored"]
LEVELS: tuple[Level, ...] = ("structural", "verbatim", "chain", "anchored")

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
    "dangling_chunk",
    "hash_mismatch",
    "conflicting_id",
    "text_missing",
    "not_anchored",
    "malformed",
)

CHUNK_SEPARATOR = "\x00"  # between chunks in the text of all chunks: no quote reaches across
FOLD_COST = 40  # folding a character takes as long as searching 40
MARK_COST = 40  # marking a character as a letter or not takes as long as searching 40
_FIRST_CHARACTERS = 64  # characters of a span that are looked at first

# Characters that a run may have searched, for each that it stores: far more than honest runs need, and an end for
# those without one.
_SEARCHES_PER_CHARACTER = 5_000
_MIN_BUDGET, _MAX_BUDGET = 10_000_000, 20_000_000_000
_MAX_LOCATED = 1_000_000  # characters in which offsets are looked for: it is slow, and only for a message
_MAX_NEAREST = 50_000_000  # characters in which text like a quote is looked for: only for a message
_MAX_ID_CHARACTERS = 100  # of an id in a message; a hash with its prefix has 71

_Method = TypeVar("_Method", bound=Callable[..., Any])


class EvidenceCheck(NamedTuple):
    """What became of a record: its level, or the failure with words about it."""

    level: Level | None
    failure: str | None = None
    message: str = ""


def _failed(failure: str, message: str) -> EvidenceCheck:
    return EvidenceCheck(None, failure, message)


_STRUCTURAL, _VERBATIM, _CHAIN, _ANCHORED = map(EvidenceCheck, LEVELS)
_SEARCH_LIMIT_REACHED = _failed("fabricated", "the quote was not found: there was too much text to search in this run")


def short_id(name: object) -> str:
    """An id for a message: the beginning of one that is long, because very many records may be told about it."""
    text = str(name)
    return text if len(text) <= _MAX_ID_CHARACTERS else f"{text[:_MAX_ID_CHARACTERS]}…"


def _once(method: _Method) -> _Method:
    """Remember what the method gives for its arguments: texts and ids can be long, and many records name them."""

    def remembered(self: Sources, *args: str) -> Any:
        key = (method, *args)
        if key not in self._results:
            self._results[key] = method(self, *args)
        return self._results[key]

    return cast(_Method, remembered)


class Sources:
    """What a run stores, and the hashes of artifacts that the evaluator vouches for."""

    def __init__(
        self,
        chunks: dict[str, Chunk],
        conflicting: frozenset[str] = frozenset(),
        artifacts: Mapping[str, Artifact] | None = None,
        anchors: frozenset[str] = frozenset(),
        *,
        stores_chunks: bool = False,
        broken: str | None = None,
    ) -> None:
        self.chunks = chunks
        self.conflicting = conflicting
        # By their real hashes as well: a file under another name is the artifact all the same.
        self.artifacts = {stored.sha256: stored for stored in (artifacts or {}).values()} | dict(artifacts or {})
        self.anchors = anchors
        self.stores_chunks = stores_chunks or bool(chunks)  # lines that are not chunks count: they may have been all
        self.broken = broken  # why not all of them are known
        self.folded_characters = 0  # for tests of how much is folded
        self._searched = 0
        self._located = 0
        self._compared = 0
        self._results: dict[tuple[object, ...], Any] = {}  # of methods that are called once for their arguments
        self.is_meaningful = cache(is_meaningful_id)
        self.hash_in = cache(sha256_of)

    def chunk_of(self, record: Mapping[str, Any]) -> Chunk | None:
        """The stored chunk that a record names; where it names none, the one of its source that has its quote."""
        name, provenance, quote = record.get("chunk_id"), record.get("provenance"), record.get("quote")
        if not is_meaningful_id(name):
            source_id = provenance.get("source_id") if type(provenance) is dict else None
            name = self._chunk_with(source_id, quote) if type(quote) is str and type(source_id) is str else None
        return self.chunks.get(str(name)) if name is not None else None

    @_once
    def _chunk_with(self, source_id: str, quote: str) -> str | None:
        """The chunk of a source that has a quote; None where no chunk has it, or too much was searched."""
        of_source = self.joined_by_source.get(source_id)
        return of_source.find(fold(quote)) if of_source is not None and self.may_search(len(of_source.text)) else None

    @_once
    def hash_problem(self, chunk_id: str) -> str:
        """Empty, or how the chunk's text differs from its recorded hash."""
        text, recorded = self.chunks[chunk_id]["text"], self.chunks[chunk_id].get("text_hash")
        real = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        differs = recorded != real and sha256_of(recorded) not in (None, real)
        return f"the text of chunk {short_id(chunk_id)} does not have its recorded text_hash" if differs else ""

    @_once
    def folded(self, chunk_id: str) -> str:
        """The chunk's text, folded."""
        return self._fold(self.chunks[chunk_id]["text"])

    @_once
    def has_several_sentences(self, chunk_id: str) -> bool:
        """Whether quoting all of the chunk points at nothing."""
        return has_several_sentences(self.chunks[chunk_id]["text"])

    def folded_span(self, chunk_id: str, start: int, end: int) -> str | None:
        """A part of the chunk, folded; None if there was too much to fold in this run."""
        text = self.chunks[chunk_id]["text"]
        if start == 0 and end == len(text):
            return self.folded(chunk_id)
        return self._fold(text[start:end]) if self.may_search((end - start) * FOLD_COST) else None

    def has_letter_or_digit(self, chunk_id: str, start: int, end: int) -> bool | None:
        """Whether there is a letter or a digit at the span; None if there was too much to look through in this run."""
        if has_letter_or_digit(self.chunks[chunk_id]["text"][start : min(end, start + _FIRST_CHARACTERS)]):
            return True  # as nearly always
        marks = self._letter_marks(chunk_id)
        return marks.find(LETTER_MARK, start, end) >= 0 if marks is not None and self.may_search(end - start) else None

    def offset(self, text: str, folded_quote: str) -> int | None:
        """Where in the unfolded text the folded quote begins; None if there was too much to look through."""
        self._located += len(text)
        return offset_of_quote(text, folded_quote) if self._located <= _MAX_LOCATED else None

    @cached_property
    def joined(self) -> JoinedChunks:
        """All chunks as one folded text."""
        return JoinedChunks({name: self.folded(name) for name in self.chunks})

    @cached_property
    def joined_by_source(self) -> dict[str, JoinedChunks]:
        """The chunks of each source as one folded text, without those that are stored with different contents."""
        texts: dict[str, dict[str, str]] = {}
        for name in self.chunks.keys() - self.conflicting:
            texts.setdefault(self.chunks[name]["source_id"], {})[name] = self.folded(name)
        return {source_id: JoinedChunks(folded) for source_id, folded in texts.items()}

    def nearest(self, folded_quote: str, text: str) -> str | None:
        """The part of the folded text that is most like the quote; None if nothing is, or too much was compared."""
        self._compared += len(text) * MAX_SEEDS
        return nearest_text(folded_quote, text) if self._compared <= _MAX_NEAREST else None

    def may_search(self, characters: int) -> bool:
        """Whether so much text may still be searched; if so, it counts as searched."""
        if self._searched + characters > self.budget:
            return False
        self._searched += characters
        return True

    @cached_property
    def budget(self) -> int:
        """How many characters may be searched in this run."""
        stored = sum(len(chunk["text"]) for chunk in self.chunks.values())
        stored += sum(len(artifact.data) for artifact in self.artifacts.values())
        return max(_MIN_BUDGET, min(stored * _SEARCHES_PER_CHARACTER, _MAX_BUDGET))

    def _in_artifact(self, name: str) -> EvidenceCheck:
        """The level of what is in this artifact: whether that is one of the evaluator's."""
        return _ANCHORED if self.artifacts[name].sha256 in self.anchors else _CHAIN

    def check_quote(self, quote: str, artifact_name: str) -> EvidenceCheck | None:
        """Whether the quote is in the stored artifact; None if that is not text."""
        text = self.artifact_text(artifact_name)
        if text is None:
            return None
        if not self.may_search(2 * len(text)):
            return _SEARCH_LIMIT_REACHED
        folded = fold(quote)
        if quote in text or folded in self._folded_artifact(artifact_name):
            return self._in_artifact(artifact_name)
        where = f"the stored artifact {short_id(artifact_name)}"
        return _fabricated(folded, f"not in {where}", self.nearest(folded, self._folded_artifact(artifact_name)))

    @_once
    def check_artifact(self, chunk_id: str, artifact_name: str) -> EvidenceCheck:
        """Whether the chunk is a part of the stored artifact, and that artifact one of the evaluator's."""
        source, chunk = self._plain_text(artifact_name), self.chunks[chunk_id]
        if source is None:
            return _VERBATIM  # its hash is right, and no more can be said
        text, start, end = chunk["text"], chunk.get("start_offset"), chunk.get("end_offset")
        if start is not None and end is not None and 0 <= start <= end <= len(source):
            part = source[start:end]
            if part == text or (self.may_search(len(part) * FOLD_COST) and self._fold(part) == self.folded(chunk_id)):
                return self._in_artifact(artifact_name)
        if not self.may_search(2 * len(source)):
            return _failed("fabricated", "the chunk was not found: there was too much text to search in this run")
        at: int | None = source.find(text)
        if at == -1 and self.folded(chunk_id) not in self._folded_artifact(artifact_name):
            words = f"chunk {short_id(chunk_id)} is not in the stored artifact {artifact_name}"
            return _failed("fabricated", words)
        if start is None or end is None or (at == -1 and self.artifact_text(artifact_name) is not source):
            return self._in_artifact(artifact_name)  # offsets in HTML may count its text or its characters
        if at == -1:
            at = self.offset(source, self.folded(chunk_id))
        place = "elsewhere in its artifact" if at is None else f"at {at} of its artifact"
        return _failed("span_shifted", f"chunk {short_id(chunk_id)} begins {place}, not at {start}")

    @_once
    def _plain_text(self, name: str) -> str | None:
        return self.artifacts[name].text

    @_once
    def artifact_text(self, name: str) -> str | None:
        """The text of a stored artifact, HTML as what it shows; None if it is not text."""
        text = self._plain_text(name)
        return html_text(text) if text is not None and is_html(text) else text

    def named_artifact(self, provenance: object) -> str | None:
        """The stored artifact that a record's provenance names, if it is text."""
        values = [provenance.get(key) for key in ("content_hash", "artifact_id")] if type(provenance) is dict else []
        names = [self.hash_in(name) or name for name in values if type(name) is str]
        return next((name for name in names if name in self.artifacts and self.artifact_text(name) is not None), None)

    @_once
    def _folded_artifact(self, name: str) -> str:
        return self._fold(self.artifact_text(name) or "")

    @_once
    def _letter_marks(self, chunk_id: str) -> str | None:
        """`mark_letters` of the chunk; None if there was too much to look through in this run."""
        text = self.chunks[chunk_id]["text"]
        return mark_letters(text) if self.may_search(len(text) * MARK_COST) else None

    def _fold(self, text: str) -> str:
        self.folded_characters += len(text)
        return fold(text)


class JoinedChunks:
    """All chunks as one folded text, in which the chunk of a quote is found with one search."""

    def __init__(self, folded: Mapping[str, str]) -> None:
        self._names = sorted(folded)
        self.text = CHUNK_SEPARATOR.join([folded[name] for name in self._names])
        self._ends = [*accumulate(len(folded[name]) + len(CHUNK_SEPARATOR) for name in self._names)]

    def find(self, folded_quote: str) -> str | None:
        """The chunk that holds the quote."""
        at = self.text.find(folded_quote) if folded_quote else -1
        return None if at < 0 else self._names[bisect_right(self._ends, at)]


MAX_PIECES = 12
_WORDS_A_PIECE = 2  # at least, on average, in a splice: single words are in every text
_WORD = re.compile("[0-9A-Za-z]+")
_ELLIPSES = ("[...]", "[…]", "(...)", "...", "…")


def is_spliced(quote: str, text: str) -> bool:
    """Whether the quote is made of few pieces that are all in the text. Both are folded."""
    for ellipsis in _ELLIPSES:
        quote = quote.replace(ellipsis, CHUNK_SEPARATOR)
    pieces = 0
    size = 0
    for part in quote.split(CHUNK_SEPARATOR):
        rest = part.strip(" ,;:.")
        while rest:
            piece = next_piece(rest, text)
            if not piece:
                return False
            pieces += 1
            size += len(piece.split()) if piece.isascii() else max(len(piece.split()), len(piece) // 2)
            if pieces > MAX_PIECES:
                return False
            rest = rest[len(piece) :].strip(" ")
    return pieces > 1 and size >= _WORDS_A_PIECE * pieces


def next_piece(rest: str, text: str) -> str:
    """The longest beginning of the rest that is in the text, cut between words or not at all."""
    word = _WORD.match(rest)
    if word is not None and word[0] not in text:  # one search decides: with the rest of this function, 4 % of judging
        return ""
    size, most, at = 0, len(rest), 0
    while size < most:  # more of the rest can only be found where less of it is, or further on
        middle = (size + most + 1) // 2
        place = text.find(rest[:middle], at)
        if place < 0:
            most = middle - 1
        else:
            size, at = middle, place
    piece = rest[:size]
    following = rest[len(piece) : len(piece) + 1]
    if piece[-1:].isascii() and piece[-1:].isalnum() and following.isalnum():
        return piece.rpartition(" ")[0]
    return piece


class EvidenceDemands(NamedTuple):
    """What a record needs to be valid, by the protocol, where that is not the default."""

    quote_and_span: bool = False
    verbatim: bool = False
    anchored: bool = False
    chunk: bool = True  # a chunk_id; False: a source is enough


def check_evidence(record: dict[str, Any], sources: Sources, demands: EvidenceDemands) -> EvidenceCheck:
    """The level that the record reached, or what is wrong with it."""
    checked = _form_failure(record, demands) or _check_sources(record, sources, demands)
    if demands.anchored and checked.level not in (None, "anchored"):
        words = f"it reaches {checked.level}, and the protocol demands an artifact of the evaluator's corpus"
        return _failed("not_anchored", words)
    return checked


def _form_failure(record: dict[str, Any], demands: EvidenceDemands) -> EvidenceCheck | None:
    """What is wrong with the record by itself: its provenance, its quote and its span."""
    provenance, quote, span = record.get("provenance"), record.get("quote"), record.get("span")
    if type(provenance) is not dict:
        return _failed("provenance_missing", "there is no provenance")
    has_chunk = is_meaningful_id(record.get("chunk_id"))
    if demands.chunk and not has_chunk:
        words = "the chunk_id is missing or blank; research.provenance: source takes records without one"
        return _failed("provenance_missing", words)
    if not is_meaningful_id(provenance.get("source_id")) and not is_meaningful_id(provenance.get("artifact_id")):
        return _failed("provenance_missing", "neither source_id nor artifact_id is given")
    if quote is not None:
        if type(quote) is not str:
            return _failed("malformed", "the quote is not a string")
        if not has_letter_or_digit(quote):
            return _failed("blank_quote", "the quote has no letter and no digit")
    if span is not None and (failure := _span_failure(text_range(span))) is not None:
        return failure
    if quote is None and not has_chunk:
        return _failed("blank_quote", "there is no quote, and a span without a chunk_id cannot be located")
    if quote is None and (span is None or demands.quote_and_span):
        return _failed("blank_quote", "there is no quote with a letter or a digit")
    if span is None and demands.quote_and_span:
        return _failed("span_missing", "there is no span, and the protocol demands quote_and_span")
    return None


def _span_failure(span: TextRange | None) -> EvidenceCheck | None:
    if span is None:
        return _failed("malformed", "the span needs the integers start and end")
    if not 0 <= span.start < span.end:
        return _failed("span_out_of_range", f"the span {span.start} to {span.end} holds nothing")
    return None


def _check_sources(record: dict[str, Any], sources: Sources, demands: EvidenceDemands) -> EvidenceCheck:
    """The level of a record whose form is right, or how the stored sources contradict it."""
    chunk_id, provenance = record.get("chunk_id"), record["provenance"]
    if type(chunk_id) is not str or not is_meaningful_id(chunk_id):
        return _check_source(record, sources, demands)
    if chunk_id in sources.conflicting:
        return _failed("conflicting_id", f"chunk {short_id(chunk_id)} is stored with different contents")
    chunk = sources.chunks.get(chunk_id)
    if chunk is None:
        return _check_unstored(record, f"chunk {short_id(chunk_id)}", sources, demands)
    failure = _text_failure(record.get("quote"), record.get("span"), chunk, sources)
    return failure or _attribution_failure(provenance, chunk, sources) or _check_chain(provenance, chunk, sources)


def _check_source(record: dict[str, Any], sources: Sources, demands: EvidenceDemands) -> EvidenceCheck:
    """The level of a record without a chunk_id: its quote is looked for in all stored chunks of its source."""
    quote, provenance = record["quote"], record["provenance"]
    source_id = provenance.get("source_id")
    of_source = sources.joined_by_source.get(source_id) if is_meaningful_id(source_id) else None
    if of_source is None:
        text_name = f"source {short_id(source_id)}" if source_id is not None else "a source that is not named"
        return _check_unstored(record, f"a chunk of {text_name}", sources, demands)
    if (chunk := sources.chunk_of(record)) is not None:
        return _attribution_failure(provenance, chunk, sources) or _check_chain(provenance, chunk, sources)
    if not sources.may_search(len(of_source.text)):
        return _SEARCH_LIMIT_REACHED
    checked = _check_by_artifact(record, sources)
    if checked is not None and checked.failure != "fabricated":
        return checked
    return _foreign_quote(fold(quote), of_source.text, f"source {short_id(source_id)}", sources)


def _check_unstored(
    record: dict[str, Any], text_name: str, sources: Sources, demands: EvidenceDemands
) -> EvidenceCheck:
    """The level of a record of which no chunk is stored: its quote is held against the artifact that it names."""
    if (checked := _check_by_artifact(record, sources)) is not None:
        return checked
    if sources.stores_chunks:
        words = f"{text_name} is not among the chunks that the run stores, and no stored artifact shows the quote"
        return _failed("dangling_chunk", words)
    if demands.verbatim:
        return _failed("text_missing", f"the text of {text_name} is not stored, and the protocol demands it")
    return _STRUCTURAL


def _check_by_artifact(record: dict[str, Any], sources: Sources) -> EvidenceCheck | None:
    """What the stored artifact says of a record's quote; None if the record names none that is text, or no quote."""
    stored, quote = _stored_artifact(record["provenance"], None, sources), record.get("quote")
    if not isinstance(stored, str):
        return stored
    return None if quote is None else sources.check_quote(quote, stored)


def _text_failure(
    quote: str | None, span: dict[str, int] | None, chunk: Chunk, sources: Sources
) -> EvidenceCheck | None:
    """Why the quote is not where the record says, or there is no text at its span."""
    text = chunk["text"]
    start, end = (span["start"], span["end"]) if span is not None else (-1, -1)
    if end > len(text):
        return _failed("span_out_of_range", f"the span ends at {end}, the chunk at {len(text)}")
    if quote is None:
        has_letter = sources.has_letter_or_digit(chunk["chunk_id"], start, end)
        if has_letter is None:
            return _SEARCH_LIMIT_REACHED
        return None if has_letter else _failed("blank_quote", "there is no letter or digit at the span")
    # The two plain comparisons decide nearly all records; folding is for the rest.
    if span is not None:
        is_there = end - start == len(quote) and text[start:end] == quote
    else:
        is_there = sources.may_search(len(text)) and quote in text
    return None if is_there else _quote_failure(quote, start, end, chunk, sources)


def _quote_failure(quote: str, start: int, end: int, chunk: Chunk, sources: Sources) -> EvidenceCheck | None:
    """Why the quote is not where the record says; None if it is, once both are folded. Without a span, start is -1."""
    chunk_id, text, folded = chunk["chunk_id"], chunk["text"], fold(quote)
    with_span = start >= 0
    if with_span:
        span_text = sources.folded_span(chunk_id, start, end)
        if span_text == folded:
            return None
        if span_text is None:
            return _SEARCH_LIMIT_REACHED
    if not sources.may_search(len(text)):
        return _SEARCH_LIMIT_REACHED
    if folded not in sources.folded(chunk_id):
        return _foreign_quote(folded, sources.folded(chunk_id), f"chunk {short_id(chunk_id)}", sources)
    if not with_span:
        return None
    at: int | None = text.find(quote)
    if at == -1:
        at = sources.offset(text, folded)
    place = "elsewhere in the chunk" if at is None else f"at {at} of the chunk"
    return _failed("span_shifted", f"the quote is {place}, not at {start}")


def _foreign_quote(folded: str, own_text: str, own_name: str, sources: Sources) -> EvidenceCheck:
    """Where a folded quote may come from that is not in its own text: another chunk, several, none."""
    all_text, scans = sources.joined.text, len(folded).bit_length() * MAX_PIECES
    if sources.may_search(len(all_text)):
        other = sources.joined.find(folded)
        if other is not None:
            return _failed("misattributed", f"the quote is in chunk {short_id(other)}, not in {own_name}")
    for text, words in ((own_text, f"separate parts of {own_name}"), (all_text, "parts of several stored chunks")):
        if sources.may_search(len(text) * scans) and is_spliced(folded, text):
            return _failed("spliced", f"the quote joins {words}")
    return _fabricated(folded, "in no stored chunk", sources.nearest(folded, all_text))


def _fabricated(folded: str, where: str, nearest: str | None) -> EvidenceCheck:
    """The failure of a quote that is nowhere, with the stored text that is most like it."""
    words = f"the quote “{limit_length(folded, MAX_NEAREST_QUOTE)}” is {where}"
    return _failed("fabricated", f"{words}; the nearest stored text is “{nearest}”" if nearest else words)


def _attribution_failure(provenance: dict[str, Any], chunk: Chunk, sources: Sources) -> EvidenceCheck | None:
    """How provenance and chunk contradict each other, or the chunk its own hash."""
    source_id, chunk_source = provenance.get("source_id"), chunk["source_id"]
    if source_id != chunk_source and sources.is_meaningful(chunk_source) and is_meaningful_id(source_id):
        words = f"the chunk is of source {short_id(chunk_source)}, not of {short_id(source_id)}"
        return _failed("misattributed", words)
    if chunk.get("text_hash") is not None and (problem := sources.hash_problem(chunk["chunk_id"])):
        return _failed("hash_mismatch", problem)
    return None


def _check_chain(provenance: dict[str, Any], chunk: Chunk, sources: Sources) -> EvidenceCheck:
    """The level of a record whose quote is in its chunk: whether the artifact that they name is stored, and has it."""
    stored = _stored_artifact(provenance, chunk, sources)
    if stored is None or isinstance(stored, EvidenceCheck):
        return stored or _VERBATIM
    return sources.check_artifact(chunk["chunk_id"], stored)


def _stored_artifact(provenance: dict[str, Any], chunk: Chunk | None, sources: Sources) -> str | EvidenceCheck | None:
    """The stored artifact that provenance and chunk name, if any; or how they contradict each other or its hash."""
    artifact_id, content_hash = provenance.get("artifact_id"), provenance.get("content_hash")
    chunk_artifact = chunk.get("artifact_id") if chunk is not None else None
    if artifact_id is None and chunk_artifact is None and content_hash is None:
        return None
    names = [name for name in (artifact_id, chunk_artifact) if type(name) is str and sources.is_meaningful(name)]
    if len({sources.hash_in(name) or name for name in names}) > 1:
        words = f"the chunk is of artifact {short_id(chunk_artifact)}, not of {short_id(artifact_id)}"
        return _failed("misattributed", words)
    recorded = sha256_of(content_hash)
    if recorded is not None:
        names.insert(0, recorded)
    hashes = {digits for name in names if (digits := sources.hash_in(name)) is not None}
    if len(hashes) > 1 and sources.artifacts:
        return _failed("hash_mismatch", "the record names two different hashes for its artifact")
    stored = next((file for name in names if (file := sources.hash_in(name) or name) in sources.artifacts), None)
    if stored is None:
        return None
    real = sources.artifacts[stored].sha256
    if real != stored or (hashes and real not in hashes):
        return _failed("hash_mismatch", f"the stored artifact {stored} has the hash {real}")
    return stored
