"""A verification as a page: the verdict, where the first difference is, and which input changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldgate.core.page import Column, Name, Notes, Page, Pair, Pairs, Section, Table

SHOWN_DIGEST = 12  # hex digits


def describe_verification(found: Mapping[str, Any]) -> Page:
    """From the JSON of a verification."""
    verified = found["status"] == "verified"
    compared = ", ".join(found["compared"]) or "nothing could be compared"
    sections = (
        Section("First difference", _differences(found["differences"][:1])),
        Section(_others(found["differences"]), _differences(found["differences"][1:])),
        Section("It cannot be made again", _error(found["error"])),
        Section("Changed since", _settings(found["settings"])),
        Section("Inputs", _inputs(found["inputs"])),
        Section("Not compared", (Notes(tuple((words,) for words in found["not_compared"])),)),
    )
    return Page(
        suite="verify",
        verdict=found["status"],
        subject=f"{found['of']} of the {found['suite']} suite, {compared}",
        stands_out=() if verified else tuple(_causes(found)),
        sections=tuple(section for section in sections if section.blocks and _has_items(section)),
    )


def _others(differences: list[Mapping[str, Any]]) -> str:
    one_each = len({difference["file"] for difference in differences}) == len(differences)
    return "First difference of the other files" if one_each else "Further differences"


def _causes(found: Mapping[str, Any]) -> Iterator[str]:
    """Why it may differ, in a sentence each."""
    changed = [entry["input"] for entry in found["inputs"] if entry["changed"]]
    for name in changed:
        yield f"{name}: other bytes than the {found['of']} was made from"
    names = [entry["name"] for entry in found["settings"]]
    if names:
        yield f"made with another value of {', '.join(names)}"
    if not changed and not names and found["of"] == "records":
        yield "report and records do not belong together: one of them was changed after it was made"
    elif not changed and not names:
        yield "the inputs are the same: a stored file was changed after it was made"


def _differences(differences: list[Mapping[str, Any]]) -> tuple[Pairs, ...]:
    return tuple(Pairs(tuple(_lines(difference))) for difference in differences)


def _lines(difference: Mapping[str, Any]) -> Iterator[Pair]:
    line = "" if difference["line"] is None else f", line {difference['line']}"
    yield Pair("file", (difference["file"] + line,))
    for label in ("id", "pointer"):
        if difference[label] is not None:
            yield Pair(label, (difference[label],))
    yield Pair("stored", (difference["stored"],))
    yield Pair("made again", (difference["recomputed"],))
    if difference["note"] is not None:
        yield Pair("note", (difference["note"],))


def _error(error: Mapping[str, Any] | None) -> tuple[Pairs, ...]:
    if error is None:
        return ()
    where = ":".join(str(part) for part in (error["file"], error["line"]) if part is not None)
    return (Pairs((Pair("error", (error["message"],)), Pair("where", (where,)))),)


def _settings(settings: list[Mapping[str, Any]]) -> tuple[Table, ...]:
    rows = tuple((Name(entry["name"]), entry["stored"] or "none", entry["now"] or "none") for entry in settings)
    return (Table((Column("setting"), Column("stored"), Column("now")), rows),) if rows else ()


def _inputs(inputs: list[Mapping[str, Any]]) -> tuple[Pairs, ...]:
    return (Pairs(tuple(Pair(Name(entry["input"]), tuple(_used(entry))) for entry in inputs)),) if inputs else ()


def _used(entry: Mapping[str, Any]) -> Iterator[str]:
    stored, now = _short(entry["stored"]), _short(entry["now"])
    yield f"CHANGED from sha256 {stored} to {now}" if entry["changed"] else f"same, sha256 {stored}"
    if entry["files"]:
        yield ", ".join(entry["files"])


def _short(digests: list[str]) -> str:
    return ", ".join(digest[:SHOWN_DIGEST] for digest in digests) or "none"


def _has_items(section: Section) -> bool:
    return not all(isinstance(block, Notes) and not block.items for block in section.blocks)
