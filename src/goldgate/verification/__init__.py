"""Stored results, comparisons and baselines recomputed and compared with what is stored.

Here is the outcome of a verification: the first difference of each file, changed inputs and settings, and its page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from goldgate.core.finding import child_pointer
from goldgate.core.page import Column, LabelList, LabelRow, Name, Notes, Page, Section, Table
from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED
from goldgate.runs.sources import short_digests

if TYPE_CHECKING:
    from goldgate.core.contracts import ErrorValue
    from goldgate.verification.inputs import UsedInput

SHOWN_CHARACTERS = 100  # of a value
ABSENT = "nothing"


@dataclass(frozen=True, slots=True)
class FileDifference:
    """The first difference of a file: where it is, what is stored there, and what there should be."""

    file: str
    stored: str
    recomputed: str
    pointer: str | None = None  # RFC 6901, inside the file's value or the record on this line
    line: int | None = None
    id: str | None = None  # id of the record that differs
    note: str | None = None


_MISSING = object()  # in place of a value that is not there


def compare_values(file: str, stored: Any, recomputed: Any, pointer: str = "") -> FileDifference | None:
    """The first difference of two JSON values at a place of a file, in the order of the stored one.

    None if they are the same but for the order of keys.
    """
    return next(_value_differences(file, stored, recomputed, pointer), None)


def compare_json(file: str, stored: Any, recomputed: bytes, last: str | None = None) -> FileDifference | None:
    """The first difference of a decoded file and the JSON that it should be, in the part `last` only if no other."""
    again = json.loads(recomputed)
    return compare_values(file, _without(stored, last), _without(again, last)) or compare_values(file, stored, again)


def compare_records(file: str, stored: Iterable[bytes], recomputed: Iterable[bytes]) -> FileDifference | None:
    """The first record that differs, line by line, with its id and the place inside it. Neither file is held whole."""
    for number, (mine, again) in enumerate(zip_longest(stored, recomputed), 1):
        if mine != again:
            value, other = _decode_line(mine), _decode_line(again)
            are_records = isinstance(value, dict) and isinstance(other, dict)
            difference = compare_values(file, value, other) if are_records else None
            difference = difference or FileDifference(file, _line_text(mine), _line_text(again))
            return replace(difference, line=number, id=_identity(other) or _identity(value))
    return None


def _value_differences(file: str, stored: Any, recomputed: Any, pointer: str) -> Iterator[FileDifference]:
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        for key in {**stored, **recomputed}:
            mine, again = stored.get(key, _MISSING), recomputed.get(key, _MISSING)
            yield from _value_differences(file, mine, again, child_pointer(pointer, key))
    elif isinstance(stored, list) and isinstance(recomputed, list):
        for number, (mine, again) in enumerate(zip_longest(stored, recomputed, fillvalue=_MISSING)):
            yield from _value_differences(file, mine, again, child_pointer(pointer, number))
    elif type(stored) is not type(recomputed) or stored != recomputed:  # 1, 1.0 and true are three values
        yield FileDifference(file, _value_text(stored), _value_text(recomputed), pointer)


def _without(value: Any, key: str | None) -> Any:
    return {name: part for name, part in value.items() if name != key} if isinstance(value, dict) else value


def _value_text(value: Any) -> str:
    return ABSENT if value is _MISSING else _shorten(json.dumps(value, ensure_ascii=False))


def _line_text(data: bytes | None) -> str:
    if data is None:
        return ABSENT
    return _shorten(data.decode("utf-8", "backslashreplace").rstrip("\n")) or "an empty line"


def _shorten(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def _decode_line(line: bytes | None) -> Any:
    try:
        return None if line is None else json.loads(line)
    except (ValueError, RecursionError):
        return None


def _identity(record: Any) -> str | None:
    """The record's id, whatever its suite calls it."""
    if not isinstance(record, dict):
        return None
    value = next((record[name] for name in ("id", "run") if record.get(name) is not None), None)
    return None if value is None else str(value)


FORMAT_VERSION = 1  # of a verification, as JSON
VerificationKind = Literal["report", "records", "baseline", "comparison"]


class ChangedSetting(NamedTuple):
    """A version or a setting that is not the same now."""

    name: str
    stored: str | None
    now: str | None


@dataclass(frozen=True, slots=True)
class Verification:
    """Verified, or where each file differs first. `compared` names the files that were looked at."""

    of: VerificationKind
    subject: str  # the suite that it is of
    compared: Sequence[str]
    differences: Sequence[FileDifference] = ()
    inputs: Sequence[UsedInput] = ()
    settings: Sequence[ChangedSetting] = ()
    not_compared: Sequence[str] = ()  # with the reason of each, in words
    error: ErrorValue | None = None  # why it could not be made again, where an input has changed

    @property
    def verified(self) -> bool:
        return not self.differences and not self.changed and self.error is None

    @property
    def status(self) -> Literal["verified", "differs"]:
        return "verified" if self.verified else "differs"

    @property
    def changed(self) -> list[UsedInput]:
        return [each for each in self.inputs if each.changed]

    @property
    def exit_status(self) -> int:
        return EXIT_PASSED if self.verified else EXIT_GATE_FAILED

    def as_json(self) -> dict[str, object]:
        return {
            "format_version": FORMAT_VERSION,
            "kind": "verification",
            "of": self.of,
            "suite": self.subject,
            "status": self.status,
            "compared": list(self.compared),
            "difference": asdict(self.differences[0]) if self.differences else None,
            "differences": [asdict(each) for each in self.differences],
            "inputs": [each.as_json() for each in self.inputs],
            "settings": [each._asdict() for each in self.settings],
            "not_compared": list(self.not_compared),
            "error": self.error,
        }


def describe_verification(verification: Verification) -> Page:
    """The first difference of each file, and what explains it."""
    differences = verification.differences
    compared = ", ".join(verification.compared) or "nothing could be compared"
    not_compared = tuple((words,) for words in verification.not_compared)
    sections = (
        Section("First difference", _difference_lists(differences[:1])),
        Section(_other_differences_title(differences), _difference_lists(differences[1:])),
        Section("Cannot be recomputed", _error(verification.error)),
        Section("Changed since", _settings(verification.settings)),
        Section("Inputs", _inputs(verification.inputs)),
        Section("Not compared", (Notes(not_compared),) if not_compared else ()),
    )
    return Page(
        suite="verify",
        verdict=verification.status,
        subject=f"{verification.of} of the {verification.subject} suite, {compared}",
        remarks=() if verification.verified else tuple(_causes(verification)),
        sections=tuple(section for section in sections if section.blocks),
    )


def _other_differences_title(differences: Sequence[FileDifference]) -> str:
    one_each = len({difference.file for difference in differences}) == len(differences)
    return "First difference of the other files" if one_each else "Further differences"


def _causes(verification: Verification) -> Iterator[str]:
    """Why it may differ, in a sentence each."""
    for each in verification.changed:
        yield f"{each.kind}: other bytes than the {verification.of} was made from"
    names = [setting.name for setting in verification.settings]
    if names:
        yield f"made with another value of {', '.join(names)}"
    if not verification.changed and not names and verification.of == "records":
        yield "report and records do not belong together: one of them was changed after it was made"
    elif not verification.changed and not names:
        yield "the inputs are the same: a stored file was changed after it was made"


def _difference_lists(differences: Sequence[FileDifference]) -> tuple[LabelList, ...]:
    lists = []
    for difference in differences:
        rows = {
            "file": difference.file + ("" if difference.line is None else f", line {difference.line}"),
            "id": difference.id,
            "pointer": difference.pointer,
            "stored": difference.stored,
            "made again": difference.recomputed,
            "note": difference.note,
        }
        lists.append(LabelList(tuple(LabelRow(label, (text,)) for label, text in rows.items() if text is not None)))
    return tuple(lists)


def _error(error: ErrorValue | None) -> tuple[LabelList, ...]:
    if error is None:
        return ()
    where = ":".join(str(part) for part in (error["file"], error["line"]) if part is not None)
    return (LabelList((LabelRow("error", (error["message"],)), LabelRow("where", (where,)))),)


def _settings(settings: Sequence[ChangedSetting]) -> tuple[Table, ...]:
    rows = tuple((Name(name), stored or "none", now or "none") for name, stored, now in settings)
    return (Table((Column("setting"), Column("stored"), Column("now")), rows),) if rows else ()


def _inputs(inputs: Sequence[UsedInput]) -> tuple[LabelList, ...]:
    return (LabelList(tuple(LabelRow(Name(used.kind), tuple(_digests(used))) for used in inputs)),) if inputs else ()


def _digests(used: UsedInput) -> Iterator[str]:
    stored, now = short_digests(used.stored), short_digests(used.now)
    yield f"CHANGED from sha256 {stored} to {now}" if used.changed else f"same, sha256 {stored}"
    if used.files:
        yield ", ".join(used.files)
