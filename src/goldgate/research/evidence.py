"""One evidence record against the stored sources: valid up to a level, or a failure with its own name.

Levels: `structural` (nothing is stored to check it against), `verbatim` (the quote is in the stored chunk, at its
span), `chain` (and the chunk is in the stored artifact, whose hash is the recorded one).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from goldgate.research.contracts import Chunk
from goldgate.research.fold import fold, offset_in
from goldgate.research.run_files import Artifact, sha256_of

Level = Literal["structural", "verbatim", "chain"]
LEVELS: tuple[Level, ...] = ("structural", "verbatim", "chain")

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
    "malformed",
)

_SAYS_NOTHING = frozenset(("", "unknown", "n/a", "na", "none", "null", "nil", "-", "--", "?", "tbd", "todo"))
_SEARCH_BUDGET = 20_000_000_000  # characters a run: far more than honest runs need, and an end for those without one
_FOLDS_FOR_AN_OFFSET = 40
_WORDS_A_PIECE = 2  # at least, on average, in a splice: single words are in every text
_MOST_PIECES = 12
_ELLIPSES = ("[...]", "[…]", "(...)", "...", "…")
_GAP = "\x00"  # between chunks in the text of all chunks: no quote reaches across


class Checked(NamedTuple):
    """What became of a record: its level, or the failure with words about it."""

    level: Level | None
    failure: str | None = None
    message: str = ""


_STRUCTURAL, _VERBATIM = Checked("structural"), Checked("verbatim")


class Demands(NamedTuple):
    """What the protocol demands of a record beyond the default."""

    quote_and_span: bool = False
    verbatim: bool = False


class Sources:
    """The stored chunks and artifacts of one run, with what was found out about them."""

    def __init__(
        self,
        chunks: dict[str, Chunk],
        conflicting: frozenset[str] = frozenset(),
        artifacts: Mapping[str, Artifact] | None = None,
    ) -> None:
        self.chunks = chunks
        self.conflicting = conflicting
        self.artifacts = artifacts or {}
        self.searched = 0
        self._hash_problems: dict[str, str] = {}
        self._parts: dict[tuple[str, str], Checked] = {}
        self._folded: dict[str, str] = {}
        self._joined: _Joined | None = None

    def hash_problem(self, chunk: Chunk) -> str:
        """Empty, or how the chunk's text differs from its recorded hash."""
        name = chunk["chunk_id"]
        known = self._hash_problems.get(name)
        if known is None:
            real, recorded = sha256(chunk["text"].encode()).hexdigest(), chunk.get("text_hash")
            differs = recorded != real and sha256_of(recorded) not in (None, real)
            known = f"the text of chunk {name} does not have its recorded text_hash" if differs else ""
            self._hash_problems[name] = known
        return known

    def part(self, chunk: Chunk, artifact_name: str) -> Checked:
        """Whether the chunk is a part of the stored artifact."""
        key = chunk["chunk_id"], artifact_name
        if key not in self._parts:
            self._parts[key] = _part_of(chunk, artifact_name, self.artifacts[artifact_name])
        return self._parts[key]

    def may_search(self, characters: int) -> bool:
        """Whether so much text may still be searched; if so, it counts as searched."""
        if self.searched + characters > _SEARCH_BUDGET:
            return False
        self.searched += characters
        return True

    def folded(self, chunk: Chunk) -> str:
        """The chunk's text, folded once."""
        name = chunk["chunk_id"]
        if name not in self._folded:
            self._folded[name] = fold(chunk["text"])
        return self._folded[name]

    def joined(self) -> _Joined:
        """All chunks as one folded text."""
        if self._joined is None:
            self._joined = _Joined(self.chunks)
        return self._joined


def says_something(value: object) -> bool:
    """Whether an identifier says where something comes from: blank, "unknown" and "n/a" do not."""
    return type(value) is str and value not in _SAYS_NOTHING and value.strip().casefold() not in _SAYS_NOTHING


def check_record(record: dict[str, Any], sources: Sources, demands: Demands) -> Checked:
    """The level that the record reached, or what is wrong with it."""
    chunk_id, provenance = record.get("chunk_id"), record.get("provenance")
    if type(provenance) is not dict:
        return Checked(None, "provenance_missing", "there is no provenance")
    if not says_something(chunk_id):
        return Checked(None, "provenance_missing", "the chunk_id says nothing")
    if not says_something(provenance.get("source_id")) and not says_something(provenance.get("artifact_id")):
        return Checked(None, "provenance_missing", "neither source_id nor artifact_id says anything")

    quote, span = record.get("quote"), record.get("span")
    if quote is not None and type(quote) is not str:
        return Checked(None, "malformed", "the quote is no string")
    telling = quote is not None and any(map(str.isalnum, quote))
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
    if not telling and (span is None or demands.quote_and_span):
        return Checked(None, "blank_quote", "there is no quote with a letter or a digit")
    if span is None and demands.quote_and_span:
        return Checked(None, "span_missing", "there is no span, and the protocol demands quote_and_span")

    assert type(chunk_id) is str  # says_something has seen to it
    if chunk_id in sources.conflicting:
        return Checked(None, "conflicting_id", f"chunk {chunk_id} is stored with different contents")
    chunk = sources.chunks.get(chunk_id)
    if chunk is None:
        if demands.verbatim:
            return Checked(
                None, "text_missing", f"the text of chunk {chunk_id} is not stored, and the protocol demands it"
            )
        return _chain(_STRUCTURAL, provenance, None, sources)
    text = chunk["text"]
    if span is not None and end > len(text):
        return Checked(None, "span_out_of_range", f"the span ends at {end}, the chunk at {len(text)}")
    if quote is not None and (telling or not quote.isspace()) and quote:
        # The two plain comparisons decide nearly all records; folding is for the rest.
        if (text[start:end] != quote) if span is not None else (not sources.may_search(len(text)) or quote not in text):
            wrong = _not_there(quote, start, end, chunk, sources)
            if wrong is not None:
                return wrong
    elif not any(map(str.isalnum, text[start:end])):
        return Checked(None, "blank_quote", "there is no letter or digit at the span")
    return _chain(_VERBATIM, provenance, chunk, sources)


def _chain(reached: Checked, provenance: dict[str, Any], chunk: Chunk | None, sources: Sources) -> Checked:
    """What provenance, chunk and artifact say of each other."""
    artifact_id, content_hash = provenance.get("artifact_id"), provenance.get("content_hash")
    chunk_artifact = None
    if chunk is not None:
        source_id, chunk_source = provenance.get("source_id"), chunk["source_id"]
        if source_id != chunk_source and says_something(source_id) and says_something(chunk_source):
            return Checked(None, "misattributed", f"the chunk is of source {chunk_source}, not of {source_id}")
        if chunk.get("text_hash") is not None and (problem := sources.hash_problem(chunk)):
            return Checked(None, "hash_mismatch", problem)
        chunk_artifact = chunk.get("artifact_id")
    if artifact_id is None and chunk_artifact is None and content_hash is None:
        return reached
    names = [str(name) for name in (artifact_id, chunk_artifact) if says_something(name)]
    if len(set(map(_name, names))) > 1:
        return Checked(None, "misattributed", f"the chunk is of artifact {chunk_artifact}, not of {artifact_id}")
    recorded = sha256_of(content_hash)
    if recorded is not None:
        names.insert(0, recorded)
    if not names or not sources.artifacts:
        return reached
    hashes = {digits for name in names if (digits := sha256_of(name)) is not None}
    if len(hashes) > 1:
        return Checked(None, "hash_mismatch", "the record names two different hashes for its artifact")
    stored = next((name for name in map(_name, names) if name in sources.artifacts), None)
    if stored is None:
        return reached
    real = sources.artifacts[stored].sha256
    if real != stored or (hashes and real not in hashes):
        return Checked(None, "hash_mismatch", f"the stored artifact {stored} has the hash {real}")
    if chunk is None:
        return reached
    return sources.part(chunk, stored)


def _name(name: str) -> str:
    """An artifact's name as its file has it."""
    return sha256_of(name) or name


def _part_of(chunk: Chunk, artifact_name: str, artifact: Artifact) -> Checked:
    try:
        source = artifact.data.decode()
    except UnicodeDecodeError:
        return Checked("verbatim")  # a PDF, an image: its hash is right, and no more can be said
    text, start, end = chunk["text"], chunk.get("start_offset"), chunk.get("end_offset")
    folded = ""
    if start is not None and end is not None:
        if 0 <= start <= end <= len(source):
            there = source[start:end]
            if there == text or fold(there) == (folded := fold(text)):
                return Checked("chain")
        at = source.find(text)
        if at < 0:
            at_folded = offset_in(source, folded or fold(text))
            at = -1 if at_folded is None else at_folded
        if at >= 0:
            message = f"chunk {chunk['chunk_id']} begins at {at} of its artifact, not at {start}"
            return Checked(None, "span_shifted", message)
    elif text in source or fold(text) in fold(source):
        return Checked("chain")
    return Checked(None, "fabricated", f"chunk {chunk['chunk_id']} is not in the stored artifact {artifact_name}")


def _not_there(quote: str, start: int, end: int, chunk: Chunk, sources: Sources) -> Checked | None:
    """Why the quote is not where the record says; None if it is, once both are folded."""
    text, folded = chunk["text"], fold(quote)
    with_span = start >= 0
    if with_span and fold(text[start:end]) == folded:
        return None
    if not sources.may_search(len(text)):
        return Checked(None, "fabricated", "the quote was not found: there was too much text to search in this run")
    folded_text = sources.folded(chunk)
    if folded in folded_text:
        if not with_span:
            return None
        at: int | None = text.find(quote)
        if at == -1:
            at = offset_in(text, folded) if sources.may_search(len(text) * _FOLDS_FOR_AN_OFFSET) else None
        place = "elsewhere in the chunk" if at is None else f"at {at} of the chunk"
        return Checked(None, "span_shifted", f"the quote is {place}, not at {start}")
    joined = sources.joined()
    scans = len(folded).bit_length() * _MOST_PIECES
    if sources.may_search(len(joined.text)):
        other = joined.find(folded)
        if other is not None:
            return Checked(None, "misattributed", f"the quote is in chunk {other}, not in {chunk['chunk_id']}")
    if sources.may_search(len(folded_text) * scans) and _is_spliced(folded, folded_text):
        return Checked(None, "spliced", f"the quote joins separate parts of chunk {chunk['chunk_id']}")
    if sources.may_search(len(joined.text) * scans) and _is_spliced(folded, joined.text):
        return Checked(None, "spliced", "the quote joins parts of several stored chunks")
    return Checked(None, "fabricated", "the quote is in no stored chunk")


class _Joined:
    """All chunks as one folded text, and which chunk a place in it belongs to."""

    def __init__(self, chunks: dict[str, Chunk]) -> None:
        names = sorted(chunks)
        folded = [fold(chunks[name]["text"]) for name in names]
        self.text = _GAP.join(folded)
        self._names = names
        self._starts: list[int] = []
        at = 0
        for part in folded:
            self._starts.append(at)
            at += len(part) + len(_GAP)

    def find(self, folded_quote: str) -> str | None:
        """The chunk that holds the quote."""
        at = self.text.find(folded_quote) if folded_quote else -1
        return None if at < 0 else self._names[bisect_right(self._starts, at) - 1]


def _is_spliced(quote: str, text: str) -> bool:
    """Whether the quote is made of few pieces that are all in the text: words left out, or sentences joined."""
    for ellipsis in _ELLIPSES:
        quote = quote.replace(ellipsis, _GAP)
    pieces = 0
    size = 0
    for part in quote.split(_GAP):
        rest = part.strip(" ,;:.")
        while rest:
            piece = rest[: _longest_prefix(rest, text)]
            following = rest[len(piece) : len(piece) + 1]
            if piece[-1:].isascii() and piece[-1:].isalnum() and following.isalnum():
                piece = piece.rpartition(" ")[0]  # cut between words, or not at all
            if not piece:
                return False
            pieces += 1
            size += len(piece.split()) if piece.isascii() else max(len(piece.split()), len(piece) // 2)
            if pieces > _MOST_PIECES:
                return False
            rest = rest[len(piece) :].strip(" ")
    return pieces > 1 and size >= _WORDS_A_PIECE * pieces


def _longest_prefix(part: str, text: str) -> int:
    """How many characters of the part, from its beginning, are somewhere in the text."""
    low, high = 0, len(part)
    while low < high:
        middle = (low + high + 1) // 2
        if part[:middle] in text:
            low = middle
        else:
            high = middle - 1
    return low
