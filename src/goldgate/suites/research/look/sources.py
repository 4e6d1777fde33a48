"""The sources that a run cites, with each quote marked where it stands; and quotes that do not stand there, named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldgate.core.excerpt import marked_text
from goldgate.core.finding import cut
from goldgate.core.page import Block, Paragraph
from goldgate.core.unit_page import Mark, MarkedText
from goldgate.suites.research.look.quoted import QuotedText, Span
from goldgate.suites.research.look.run import CheckedRecord, LookedAtRun
from goldgate.suites.research.run.fold import fold

QUOTE = "quote"
MOST_SOURCES = 50
_MOST_CHARACTERS = 4_000  # of one source: a run may cite many
_MOST_NAMED = 20
_LONGEST = 200  # characters of a quote that is not there


def marked_sources(run: LookedAtRun) -> Iterator[Block | MarkedText]:
    """A title and a text for each chunk that evidence names, in the order of the evidence."""
    by_chunk: dict[str, list[CheckedRecord]] = {}
    for each in run.evidence:
        by_chunk.setdefault(str(each.record.get("chunk_id")), []).append(each)
    for each in run.evidence:
        if (other := _where_it_is(run, each)) is not None:
            by_chunk.setdefault(other, []).append(each)
    for number, (chunk_id, cited) in enumerate(by_chunk.items()):
        if number == MOST_SOURCES:
            yield Paragraph(f"And {len(by_chunk) - MOST_SOURCES:,} more sources.")
            return
        title, text = _source(run, chunk_id, cited)
        yield Paragraph(title)
        if text is not None:
            yield _marked(text, cited)


def _where_it_is(run: LookedAtRun, each: CheckedRecord) -> str | None:
    """The chunk that a quote is from, where that is not the one it names."""
    quote = each.record.get("quote")
    if each.checked.failure != "misattributed" or type(quote) is not str:
        return None
    other = run.sources.joined().find(fold(quote))
    return other if other != each.record.get("chunk_id") else None


def _source(run: LookedAtRun, chunk_id: str, cited: list[CheckedRecord]) -> tuple[str, str | None]:
    """The chunk that was cited, or else the stored artifact that a record names."""
    chunk = run.sources.chunks.get(chunk_id)
    if chunk is not None:
        return f"Chunk {cut(chunk_id, 100)} of source {cut(chunk['source_id'], 100)}", chunk["text"]
    for each in cited:
        for name in _artifact_names(each.record.get("provenance")):
            stored = run.sources.artifacts.get(run.sources.hash_in(name) or name)
            if stored is not None and (text := _text(stored.data)) is not None:
                return f"Chunk {cut(chunk_id, 100)} is not stored; this is the artifact {cut(name, 100)}", text
    return f"Chunk {cut(chunk_id, 100)} is not stored: its quotes cannot be looked up", None


def _text(data: bytes) -> str | None:
    """None for what is no text: a PDF, an image."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _artifact_names(provenance: Any) -> list[str]:
    if type(provenance) is not dict:
        return []
    return [name for key in ("content_hash", "artifact_id") if type(name := provenance.get(key)) is str]


def _marked(text: str, cited: list[CheckedRecord]) -> MarkedText:
    source, marks, missing = QuotedText(text), [], []
    for each in cited:
        quote = each.record.get("quote")
        places = source.places(quote if type(quote) is str else None, _span(each.record.get("span")))
        marks += [Mark(*place, QUOTE, cut(each.id, 100), each.checked.failure or "") for place in places]
        if not places and type(quote) is str:
            missing.append(f"“{cut(quote, _LONGEST)}” ({cut(each.id, 100)}, {each.checked.failure or 'not checked'})")
    more = [f"and {len(missing) - _MOST_NAMED} more"] if len(missing) > _MOST_NAMED else []
    notes = [f"Not in this text: {'; '.join([*missing[:_MOST_NAMED], *more])}."] if missing else []
    return marked_text(text, marks, notes, _MOST_CHARACTERS)


def _span(span: Any) -> Span | None:
    if type(span) is not dict or type(span.get("start")) is not int or type(span.get("end")) is not int:
        return None
    return Span(span["start"], span["end"])
