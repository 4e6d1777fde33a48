"""One evidence record against the stored sources: valid up to a level, or a failure with a name.

Levels: `structural` (nothing is stored to check it against), `verbatim` (the quote is in the stored chunk, at its
span), `chain` (and the chunk is in the stored artifact, whose hash is the recorded one), `anchored` (and that hash
is in the evaluator's corpus: an agent can store a source of its own making).
"""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from collections.abc import Collection, Mapping
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from goldgate.suites.research.contracts import Chunk
from goldgate.suites.research.run.files import Artifact, sha256_of
from goldgate.suites.research.run.text import (
    LETTER_MARK,
    fold,
    has_letter_or_digit,
    has_several_sentences,
    has_single_blanks,
    is_meaningful_id,
    mark_letters,
    offset_of_quote,
)

Level = Literal["structural", "verbatim", "chain", "anchored"]
LEVELS: tuple[Level, ...] = ("structural", "verbatim", "chain", "anchored")

CHUNK_SEPARATOR = "\x00"  # between chunks in the text of all chunks: no quote reaches across
FOLD_COST = 40  # folding a character takes as long as searching so many
MARK_COST = 40  # marking a character as telling or not takes as long as searching so many
_FIRST_CHARACTERS = 64  # characters of a span that are looked at first

# Characters that a run may have searched, for each that it stores: far more than honest runs need, and an end for
# those without one.
_SEARCHES_PER_CHARACTER = 5_000
_MIN_BUDGET, _MAX_BUDGET = 10_000_000, 20_000_000_000
_MAX_LOCATED_CHARACTERS = (
    1_000_000  # characters in which places are looked for: each is folded up to twenty times, for a message
)
_MAX_ID_CHARACTERS = 100  # of an id in a message; a hash with its prefix has 71


class CheckResult(NamedTuple):
    """What became of a record: its level, or the failure with words about it."""

    level: Level | None
    failure: str | None = None
    message: str = ""


def short_id(name: object) -> str:
    """An id for a message: the beginning of one that is long, because very many records may be told about it."""
    text = str(name)
    return text if len(text) <= _MAX_ID_CHARACTERS else f"{text[:_MAX_ID_CHARACTERS]}…"


class Sources:
    """What a run stores, and the hashes of artifacts that the evaluator vouches for."""

    def __init__(
        self,
        chunks: dict[str, Chunk],
        conflicting: frozenset[str] = frozenset(),
        artifacts: Mapping[str, Artifact] | None = None,
        anchors: frozenset[str] = frozenset(),
    ) -> None:
        self.chunks = chunks
        self.conflicting = conflicting
        self.artifacts = artifacts or {}
        self.anchors = anchors
        self.searched = 0
        self.folded_characters = 0
        self._budget: int | None = None
        self._hash_problems: dict[str, str] = {}
        self._telling: dict[str, bool] = {}
        self._hashes: dict[str, str | None] = {}
        self._parts: dict[tuple[str, str], CheckResult] = {}
        self._folded: dict[str, str] = {}
        self._texts: dict[str, str | None] = {}
        self._folded_texts: dict[str, str] = {}
        self._marks: dict[str, str] = {}
        self._placed = 0
        self._several_sentences: dict[str, bool] = {}
        self._joined: JoinedChunks | None = None

    def says_something(self, name: object) -> bool:
        """Whether a chunk's identifier says anything: found out once, for it can be long, and many records name it."""
        if type(name) is not str:
            return False
        known = self._telling.get(name)
        if known is None:
            known = self._telling[name] = is_meaningful_id(name)
        return known

    def hash_in(self, name: str) -> str | None:
        """The hash that an artifact's name is, found out once; None if it is no hash."""
        if name not in self._hashes:
            self._hashes[name] = sha256_of(name)
        return self._hashes[name]

    def hash_problem(self, chunk: Chunk) -> str:
        """Empty, or how the chunk's text differs from its recorded hash."""
        name = chunk["chunk_id"]
        known = self._hash_problems.get(name)
        if known is None:
            text, recorded = chunk["text"], chunk.get("text_hash")
            data = text.encode() if text.isascii() else text.encode("utf-8", "surrogatepass")
            real = sha256(data).hexdigest()
            differs = recorded != real and sha256_of(recorded) not in (None, real)
            known = f"the text of chunk {short_id(name)} does not have its recorded text_hash" if differs else ""
            self._hash_problems[name] = known
        return known

    def part(self, chunk: Chunk, artifact_name: str) -> CheckResult:
        """Whether the chunk is a part of the stored artifact, and that artifact one of the evaluator's."""
        key = chunk["chunk_id"], artifact_name
        if key not in self._parts:
            found = self._part(chunk, artifact_name)
            if found.level == "chain" and self.artifacts[artifact_name].sha256 in self.anchors:
                found = CheckResult("anchored")
            self._parts[key] = found
        return self._parts[key]

    def may_search(self, characters: int) -> bool:
        """Whether so much text may still be searched; if so, it counts as searched."""
        if self._budget is None:
            stored = sum(len(chunk["text"]) for chunk in self.chunks.values())
            stored += sum(len(artifact.data) for artifact in self.artifacts.values())
            self._budget = max(_MIN_BUDGET, min(stored * _SEARCHES_PER_CHARACTER, _MAX_BUDGET))
        if self.searched + characters > self._budget:
            return False
        self.searched += characters
        return True

    def folded(self, chunk: Chunk) -> str:
        """The chunk's text, folded once."""
        name = chunk["chunk_id"]
        if name not in self._folded:
            self._folded[name] = self._fold(chunk["text"])
        return self._folded[name]

    def folded_span(self, chunk: Chunk, start: int, end: int) -> str | None:
        """A part of the chunk, folded; None if there was too much to fold in this run."""
        if start == 0 and end == len(chunk["text"]):
            return self.folded(chunk)
        return self._fold(chunk["text"][start:end]) if self.may_search((end - start) * FOLD_COST) else None

    def tells(self, chunk: Chunk, start: int, end: int) -> bool | None:
        """Whether there is a letter or a digit at the span; None if there was too much to look through in this run."""
        text = chunk["text"]
        if has_letter_or_digit(text[start : min(end, start + _FIRST_CHARACTERS)]):  # as nearly always
            return True
        name = chunk["chunk_id"]
        if name not in self._marks:  # looked through once, however many spans lie in it
            if not self.may_search(len(text) * MARK_COST):
                return None
            self._marks[name] = mark_letters(text)
        return self._marks[name].find(LETTER_MARK, start, end) >= 0 if self.may_search(end - start) else None

    def offset(self, text: str, folded_quote: str) -> int | None:
        """Where in the unfolded text the folded quote begins; None if there was too much to look through."""
        self._placed += len(text)
        return offset_of_quote(text, folded_quote) if self._placed <= _MAX_LOCATED_CHARACTERS else None

    def has_several_sentences(self, chunk: Chunk) -> bool:
        """Whether quoting all of the chunk points at nothing, found out once."""
        name = chunk["chunk_id"]
        if name not in self._several_sentences:
            self._several_sentences[name] = has_several_sentences(chunk["text"])
        return self._several_sentences[name]

    def joined(self) -> JoinedChunks:
        """All chunks as one folded text."""
        if self._joined is None:
            texts = {name: chunk["text"] for name, chunk in self.chunks.items()}
            if not are_folded(texts.values()):
                texts = {name: self.folded(chunk) for name, chunk in self.chunks.items()}
            self._joined = JoinedChunks(texts)
        return self._joined

    def _fold(self, text: str) -> str:
        self.folded_characters += len(text)  # so that a test can count
        return fold(text)

    def _text(self, name: str) -> str | None:
        """An artifact's text, decoded once; None if it is no UTF-8: a PDF, an image."""
        if name not in self._texts:
            try:
                self._texts[name] = self.artifacts[name].data.decode("utf-8-sig")
            except UnicodeDecodeError:
                self._texts[name] = None
        return self._texts[name]

    def _folded_text(self, name: str, text: str) -> str:
        if name not in self._folded_texts:
            self._folded_texts[name] = self._fold(text)
        return self._folded_texts[name]

    def _part(self, chunk: Chunk, artifact_name: str) -> CheckResult:
        source = self._text(artifact_name)
        if source is None:
            return CheckResult("verbatim")  # its hash is right, and no more can be said
        text, start, end = chunk["text"], chunk.get("start_offset"), chunk.get("end_offset")
        if start is not None and end is not None and 0 <= start <= end <= len(source):
            there = source[start:end]
            if there == text:
                return CheckResult("chain")
            if self.may_search(len(there) * FOLD_COST) and self._fold(there) == self.folded(chunk):
                return CheckResult("chain")
        if not self.may_search(2 * len(source)):
            return CheckResult(
                None, "fabricated", "the chunk was not found: there was too much text to search in this run"
            )
        at = source.find(text)
        within = at >= 0 or self.folded(chunk) in self._folded_text(artifact_name, source)
        if within and (start is None or end is None):
            return CheckResult("chain")
        if within:
            return CheckResult(None, "span_shifted", self._shifted(chunk, source, at))
        return CheckResult(
            None, "fabricated", f"chunk {short_id(chunk['chunk_id'])} is not in the stored artifact {artifact_name}"
        )

    def _shifted(self, chunk: Chunk, source: str, at: int) -> str:
        offset = at if at >= 0 else self.offset(source, self.folded(chunk))
        place = "elsewhere in its artifact" if offset is None else f"at {offset} of its artifact"
        return f"chunk {short_id(chunk['chunk_id'])} begins {place}, not at {chunk.get('start_offset')}"


def are_folded(texts: Collection[str]) -> bool:
    """Whether folding leaves all texts as they are, fast; False is no answer."""
    outer = [text[:1] for text in texts] + [text[-1:] for text in texts]
    return " " not in outer and has_single_blanks(CHUNK_SEPARATOR.join(texts))


class JoinedChunks:
    """All chunks as one folded text, and which chunk a place in it belongs to."""

    def __init__(self, folded: Mapping[str, str]) -> None:
        self._folded = folded
        self._names = sorted(folded)
        self.text = CHUNK_SEPARATOR.join([folded[name] for name in self._names])

    def find(self, folded_quote: str) -> str | None:
        """The chunk that holds the quote."""
        at = self.text.find(folded_quote) if folded_quote else -1
        return None if at < 0 else self._names[bisect_right(self._starts, at) - 1]

    @cached_property
    def _starts(self) -> list[int]:
        """Where each chunk begins."""
        sizes = [len(self._folded[name]) + len(CHUNK_SEPARATOR) for name in self._names]
        return [0, *accumulate(sizes[:-1])]


MAX_PIECES = 12
_WORDS_A_PIECE = 2  # at least, on average, in a splice: single words are in every text
_ELLIPSES = ("[...]", "[…]", "(...)", "...", "…")
_WORD = re.compile("[0-9A-Za-z]+")

_USUAL_PIECE = 8  # characters that most pieces have
_MOST_STEPS = 8  # from one place to the next where more of a piece stands, before we halve


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
    if word is not None and word[0] not in text:  # nothing of it up to the end of a word, which is seen in one search
        return ""
    piece = rest[: longest_prefix(rest, text)]
    following = rest[len(piece) : len(piece) + 1]
    if piece[-1:].isascii() and piece[-1:].isalnum() and following.isalnum():
        return piece.rpartition(" ")[0]
    return piece


def longest_prefix(part: str, text: str) -> int:
    """How many characters of the part, from its beginning, are somewhere in the text.

    More of it can only stand further on than less of it: what is found says where the next search begins.
    """
    size, at = min(_USUAL_PIECE, len(part)), -1
    for _ in range(_MOST_STEPS):
        at = text.find(part[:size], at + 1)
        if at < 0:
            return size - 1 if size > _USUAL_PIECE else _bisect_prefix(part, text, 0, size - 1, 0)
        size = _common_prefix(part, text, at, size) + 1
        if size > len(part):
            return len(part)
    return _bisect_prefix(part, text, size - 1, len(part), at)


def _bisect_prefix(part: str, text: str, low: int, high: int, at: int) -> int:
    """The same from `low` to `high` characters, of which `low` stand at `at` or further on."""
    while low < high:
        middle = (low + high + 1) // 2
        found = text.find(part[:middle], at)
        if found < 0:
            high = middle - 1
        else:
            at, low = found, middle
    return low


def _common_prefix(part: str, text: str, at: int, size: int) -> int:
    """How many characters of the part stand at this place; `size` of them are known to."""
    most = min(len(part), len(text) - at)
    while size < most:
        middle = (size + most + 1) // 2
        if text.startswith(part[:middle], at):
            size = middle
        else:
            most = middle - 1
    return size


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

_LETTERS_AND_DIGITS = frozenset(string.ascii_letters + string.digits)
_ARTIFACT_FIELDS = frozenset({"artifact_id", "content_hash"})  # of a provenance that leads to an artifact
_DIGITS = frozenset(string.digits)
_SEARCH_LIMIT_REACHED = CheckResult(
    None, "fabricated", "the quote was not found: there was too much text to search in this run"
)

_STRUCTURAL, _VERBATIM = CheckResult("structural"), CheckResult("verbatim")


class EvidenceDemands(NamedTuple):
    """What the protocol demands of a record beyond the default."""

    quote_and_span: bool = False
    verbatim: bool = False
    anchored: bool = False


def check_evidence(record: dict[str, Any], sources: Sources, demands: EvidenceDemands) -> CheckResult:
    """The level that the record reached, or what is wrong with it."""
    checked = _check_quote(record, sources, demands)
    if demands.anchored and checked.level not in (None, "anchored"):
        words = f"it reaches {checked.level}, and the protocol demands an artifact of the evaluator's corpus"
        return CheckResult(None, "not_anchored", words)
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
        and quote[:1] in _LETTERS_AND_DIGITS
        and source_id == chunk["source_id"]
        and sources.says_something(source_id)
        and (chunk_id[-1:] in _DIGITS or is_meaningful_id(chunk_id))
        and chunk_id not in sources.conflicting
        and _ARTIFACT_FIELDS.isdisjoint(provenance)
        and chunk.get("artifact_id") is None
        and (chunk.get("text_hash") is None or not sources.hash_problem(chunk))
    )


def _check_quote(record: dict[str, Any], sources: Sources, demands: EvidenceDemands) -> CheckResult:
    chunk_id, provenance = record.get("chunk_id"), record.get("provenance")
    if type(provenance) is not dict:
        return CheckResult(None, "provenance_missing", "there is no provenance")
    if not is_meaningful_id(chunk_id):
        return CheckResult(None, "provenance_missing", "the chunk_id is blank")
    if not is_meaningful_id(provenance.get("source_id")) and not is_meaningful_id(provenance.get("artifact_id")):
        return CheckResult(None, "provenance_missing", "neither source_id nor artifact_id is given")

    quote, span = record.get("quote"), record.get("span")
    if quote is not None and type(quote) is not str:
        return CheckResult(None, "malformed", "the quote is not a string")
    if quote is not None and quote[:1] not in _LETTERS_AND_DIGITS and not has_letter_or_digit(quote):
        return CheckResult(None, "blank_quote", "the quote has no letter and no digit")
    if span is not None:
        if (
            type(span) is not dict
            or type(start := span.get("start")) is not int
            or type(end := span.get("end")) is not int
        ):
            return CheckResult(None, "malformed", "the span needs the integers start and end")
        if not 0 <= start < end:
            return CheckResult(None, "span_out_of_range", f"the span {start} to {end} holds nothing")
    else:
        start = end = -1
    if quote is None and (span is None or demands.quote_and_span):
        return CheckResult(None, "blank_quote", "there is no quote with a letter or a digit")
    if span is None and demands.quote_and_span:
        return CheckResult(None, "span_missing", "there is no span, and the protocol demands quote_and_span")

    assert type(chunk_id) is str  # says_something has seen to it
    if chunk_id in sources.conflicting:
        return CheckResult(None, "conflicting_id", f"chunk {short_id(chunk_id)} is stored with different contents")
    chunk = sources.chunks.get(chunk_id)
    if chunk is None:
        if demands.verbatim:
            return CheckResult(
                None,
                "text_missing",
                f"the text of chunk {short_id(chunk_id)} is not stored, and the protocol demands it",
            )
        return _check_chain(_STRUCTURAL, provenance, None, sources)
    text = chunk["text"]
    if span is not None and end > len(text):
        return CheckResult(None, "span_out_of_range", f"the span ends at {end}, the chunk at {len(text)}")
    if quote is not None:
        # The two plain comparisons decide nearly all records; folding is for the rest.
        if span is not None:
            there = end - start == len(quote) and text[start:end] == quote
        else:
            there = sources.may_search(len(text)) and quote in text
        if not there and (wrong := _quote_failure(quote, start, end, chunk, sources)) is not None:
            return wrong
    elif not (told := sources.tells(chunk, start, end)):
        blank = CheckResult(None, "blank_quote", "there is no letter or digit at the span")
        return _SEARCH_LIMIT_REACHED if told is None else blank
    return _check_chain(_VERBATIM, provenance, chunk, sources)


def _check_chain(
    reached: CheckResult, provenance: dict[str, Any], chunk: Chunk | None, sources: Sources
) -> CheckResult:
    """What provenance, chunk and artifact say of each other."""
    artifact_id, content_hash = provenance.get("artifact_id"), provenance.get("content_hash")
    chunk_artifact = None
    if chunk is not None:
        source_id, chunk_source = provenance.get("source_id"), chunk["source_id"]
        if source_id != chunk_source and sources.says_something(chunk_source) and is_meaningful_id(source_id):
            return CheckResult(
                None, "misattributed", f"the chunk is of source {short_id(chunk_source)}, not of {short_id(source_id)}"
            )
        if chunk.get("text_hash") is not None and (problem := sources.hash_problem(chunk)):
            return CheckResult(None, "hash_mismatch", problem)
        chunk_artifact = chunk.get("artifact_id")
    if artifact_id is None and chunk_artifact is None and content_hash is None:
        return reached
    names = [str(name) for name in (artifact_id, chunk_artifact) if sources.says_something(name)]
    if len({sources.hash_in(name) or name for name in names}) > 1:
        return CheckResult(
            None,
            "misattributed",
            f"the chunk is of artifact {short_id(chunk_artifact)}, not of {short_id(artifact_id)}",
        )
    recorded = sha256_of(content_hash)
    if recorded is not None:
        names.insert(0, recorded)
    if not names or not sources.artifacts:
        return reached
    hashes = {digits for name in names if (digits := sources.hash_in(name)) is not None}
    if len(hashes) > 1:
        return CheckResult(None, "hash_mismatch", "the record names two different hashes for its artifact")
    stored = next((as_file for name in names if (as_file := sources.hash_in(name) or name) in sources.artifacts), None)
    if stored is None:
        return reached
    real = sources.artifacts[stored].sha256
    if real != stored or (hashes and real not in hashes):
        return CheckResult(None, "hash_mismatch", f"the stored artifact {stored} has the hash {real}")
    if chunk is None:
        return reached
    return sources.part(chunk, stored)


def _quote_failure(quote: str, start: int, end: int, chunk: Chunk, sources: Sources) -> CheckResult | None:
    """Why the quote is not where the record says; None if it is, once both are folded."""
    text, folded = chunk["text"], fold(quote)
    with_span = start >= 0
    if with_span:
        there = sources.folded_span(chunk, start, end)
        if there == folded:
            return None
        if there is None:
            return _SEARCH_LIMIT_REACHED
    if not sources.may_search(len(text)):
        return _SEARCH_LIMIT_REACHED
    folded_text = sources.folded(chunk)
    if folded in folded_text:
        if not with_span:
            return None
        at: int | None = text.find(quote)
        if at == -1:
            at = sources.offset(text, folded)
        place = "elsewhere in the chunk" if at is None else f"at {at} of the chunk"
        return CheckResult(None, "span_shifted", f"the quote is {place}, not at {start}")
    joined = sources.joined()
    scans = len(folded).bit_length() * MAX_PIECES
    if sources.may_search(len(joined.text)):
        other = joined.find(folded)
        if other is not None:
            return CheckResult(
                None, "misattributed", f"the quote is in chunk {short_id(other)}, not in {short_id(chunk['chunk_id'])}"
            )
    if sources.may_search(len(folded_text) * scans) and is_spliced(folded, folded_text):
        return CheckResult(None, "spliced", f"the quote joins separate parts of chunk {short_id(chunk['chunk_id'])}")
    if sources.may_search(len(joined.text) * scans) and is_spliced(folded, joined.text):
        return CheckResult(None, "spliced", "the quote joins parts of several stored chunks")
    return CheckResult(None, "fabricated", "the quote is in no stored chunk")
