"""The stored chunks and artifacts of one run, with what was found out about them: each text is folded once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from typing import Literal, NamedTuple

from goldgate.suites.research.contracts import Chunk
from goldgate.suites.research.run.files import Artifact, sha256_of
from goldgate.suites.research.run.fold import fold, has_single_blanks, offset_in
from goldgate.suites.research.run.telling import TELLING, has_several_sentences, mark_telling, says_something, telling

Level = Literal["structural", "verbatim", "chain", "anchored"]
LEVELS: tuple[Level, ...] = ("structural", "verbatim", "chain", "anchored")

GAP = "\x00"  # between chunks in the text of all chunks: no quote reaches across
FOLD_COST = 40  # folding a character takes as long as searching so many
MARK_COST = 40  # marking a character as telling or not takes as long as searching so many
_GLANCE = 64  # characters of a span that are looked at first

# Characters that a run may have searched, for each that it stores: far more than honest runs need, and an end for
# those without one.
_SEARCHES = 5_000
_LEAST_BUDGET, _MOST_BUDGET = 10_000_000, 20_000_000_000
_MOST_PLACED = 1_000_000  # characters in which places are looked for: each is folded up to twenty times, for a message
_SHOWN_CHARACTERS = 100  # of an id in a message; a hash with its prefix has 71


class Checked(NamedTuple):
    """What became of a record: its level, or the failure with words about it."""

    level: Level | None
    failure: str | None = None
    message: str = ""


def shown(name: object) -> str:
    """An id for a message: the beginning of one that is long, because very many records may be told about it."""
    text = str(name)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


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
        self._parts: dict[tuple[str, str], Checked] = {}
        self._folded: dict[str, str] = {}
        self._texts: dict[str, str | None] = {}
        self._folded_texts: dict[str, str] = {}
        self._marks: dict[str, str] = {}
        self._placed = 0
        self._several_sentences: dict[str, bool] = {}
        self._joined: Joined | None = None

    def says_something(self, name: object) -> bool:
        """Whether a chunk's identifier says anything: found out once, for it can be long, and many records name it."""
        if type(name) is not str:
            return False
        known = self._telling.get(name)
        if known is None:
            known = self._telling[name] = says_something(name)
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
            known = f"the text of chunk {shown(name)} does not have its recorded text_hash" if differs else ""
            self._hash_problems[name] = known
        return known

    def part(self, chunk: Chunk, artifact_name: str) -> Checked:
        """Whether the chunk is a part of the stored artifact, and that artifact one of the evaluator's."""
        key = chunk["chunk_id"], artifact_name
        if key not in self._parts:
            found = self._part(chunk, artifact_name)
            if found.level == "chain" and self.artifacts[artifact_name].sha256 in self.anchors:
                found = Checked("anchored")
            self._parts[key] = found
        return self._parts[key]

    def may_search(self, characters: int) -> bool:
        """Whether so much text may still be searched; if so, it counts as searched."""
        if self._budget is None:
            stored = sum(len(chunk["text"]) for chunk in self.chunks.values())
            stored += sum(len(artifact.data) for artifact in self.artifacts.values())
            self._budget = max(_LEAST_BUDGET, min(stored * _SEARCHES, _MOST_BUDGET))
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
        if telling(text[start : min(end, start + _GLANCE)]):  # as nearly always
            return True
        name = chunk["chunk_id"]
        if name not in self._marks:  # looked through once, however many spans lie in it
            if not self.may_search(len(text) * MARK_COST):
                return None
            self._marks[name] = mark_telling(text)
        return self._marks[name].find(TELLING, start, end) >= 0 if self.may_search(end - start) else None

    def offset(self, text: str, folded_quote: str) -> int | None:
        """Where in the unfolded text the folded quote begins; None if there was too much to look through."""
        self._placed += len(text)
        return offset_in(text, folded_quote) if self._placed <= _MOST_PLACED else None

    def has_several_sentences(self, chunk: Chunk) -> bool:
        """Whether quoting all of the chunk points at nothing, found out once."""
        name = chunk["chunk_id"]
        if name not in self._several_sentences:
            self._several_sentences[name] = has_several_sentences(chunk["text"])
        return self._several_sentences[name]

    def joined(self) -> Joined:
        """All chunks as one folded text."""
        if self._joined is None:
            texts = {name: chunk["text"] for name, chunk in self.chunks.items()}
            if not all_folded(texts.values()):
                texts = {name: self.folded(chunk) for name, chunk in self.chunks.items()}
            self._joined = Joined(texts)
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

    def _part(self, chunk: Chunk, artifact_name: str) -> Checked:
        source = self._text(artifact_name)
        if source is None:
            return Checked("verbatim")  # its hash is right, and no more can be said
        text, start, end = chunk["text"], chunk.get("start_offset"), chunk.get("end_offset")
        if start is not None and end is not None and 0 <= start <= end <= len(source):
            there = source[start:end]
            if there == text:
                return Checked("chain")
            if self.may_search(len(there) * FOLD_COST) and self._fold(there) == self.folded(chunk):
                return Checked("chain")
        if not self.may_search(2 * len(source)):
            return Checked(None, "fabricated", "the chunk was not found: there was too much text to search in this run")
        at = source.find(text)
        within = at >= 0 or self.folded(chunk) in self._folded_text(artifact_name, source)
        if within and (start is None or end is None):
            return Checked("chain")
        if within:
            return Checked(None, "span_shifted", self._shifted(chunk, source, at))
        return Checked(
            None, "fabricated", f"chunk {shown(chunk['chunk_id'])} is not in the stored artifact {artifact_name}"
        )

    def _shifted(self, chunk: Chunk, source: str, at: int) -> str:
        offset = at if at >= 0 else self.offset(source, self.folded(chunk))
        place = "elsewhere in its artifact" if offset is None else f"at {offset} of its artifact"
        return f"chunk {shown(chunk['chunk_id'])} begins {place}, not at {chunk.get('start_offset')}"


def all_folded(texts: Collection[str]) -> bool:
    """Whether folding leaves all texts as they are, fast; False is no answer."""
    outer = [text[:1] for text in texts] + [text[-1:] for text in texts]
    return " " not in outer and has_single_blanks(GAP.join(texts))


class Joined:
    """All chunks as one folded text, and which chunk a place in it belongs to."""

    def __init__(self, folded: Mapping[str, str]) -> None:
        self._folded = folded
        self._names = sorted(folded)
        self.text = GAP.join([folded[name] for name in self._names])

    def find(self, folded_quote: str) -> str | None:
        """The chunk that holds the quote."""
        at = self.text.find(folded_quote) if folded_quote else -1
        return None if at < 0 else self._names[bisect_right(self._starts, at) - 1]

    @cached_property
    def _starts(self) -> list[int]:
        """Where each chunk begins."""
        sizes = [len(self._folded[name]) + len(GAP) for name in self._names]
        return [0, *accumulate(sizes[:-1])]
