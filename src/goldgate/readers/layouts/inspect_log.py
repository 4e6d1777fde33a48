"""Logs of Inspect: one JSON file, or an .eval file, which is a zip archive with a file for each sample.

A sample that ended with an error and without an answer has none. Of several epochs none is chosen: that is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from goldgate.core.finding import record_id
from goldgate.errors import InputError, MachineError, Place, describe_value
from goldgate.readers.layouts.chat import message_text
from goldgate.readers.layouts.layout import FieldPaths, FileLayout, LayoutAnswer, answer_of
from goldgate.readers.records import RecordFile, check_value_count, too_large_error

if TYPE_CHECKING:
    import zipfile

_ZIP = b"PK\x03\x04"
_ZSTANDARD = 93  # what newer versions of Inspect pack with, and zipfile cannot read
_ATTACHMENT = "attachment://"


def _answers(file: RecordFile, fields: FieldPaths) -> Iterator[tuple[int, LayoutAnswer | None]]:
    epochs: dict[str, object] = {}
    for number, sample in enumerate(_samples(file), 1):
        answer = read_sample(sample, fields)
        identity = answer.id if answer is not None else None
        if identity is not None and epochs.setdefault(identity, sample.get("epoch")) != sample.get("epoch"):
            raise InputError(
                "predictions.several_epochs",
                "this log has several epochs",
                place=Place(file.name),
                expected="one answer for each sample",
                found=f"epochs {epochs[identity]} and {sample.get('epoch')} of {describe_value(identity)}",
                advice="run Inspect with --epochs 1, or write the answers of one epoch to a file of predictions",
            )
        yield number, answer


def read_sample(sample: Any, fields: FieldPaths) -> LayoutAnswer | None:
    """The answer of a sample; none where it ended with an error before there was one."""
    if not isinstance(sample, dict):
        raise InputError("predictions.not_a_log", "a sample of a log is an object", found=describe_value(sample))
    if fields.response is not None or fields.id is not None:
        return answer_of(sample, FieldPaths(fields.id or "id", fields.response or "output.completion"))
    text = _completion(sample.get("output"))
    if not text and sample.get("error") is not None:
        return None
    attachments = sample.get("attachments")
    if text.startswith(_ATTACHMENT) and isinstance(attachments, dict):
        text = attachments.get(text.removeprefix(_ATTACHMENT), text)
    return LayoutAnswer(record_id(sample), {"response": text})


def _completion(output: Any) -> str:
    """What the model wrote: the completion, or the message of the first choice, which may be a call."""
    if not isinstance(output, dict):
        return ""
    text, choices = output.get("completion"), output.get("choices")
    if isinstance(text, str) and text:
        return text
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message_text(message) if isinstance(message, dict) else ""


def _samples(file: RecordFile) -> Iterator[Any]:
    if file.plain.read_some(0, len(_ZIP)) == _ZIP:
        yield from _archive_samples(file)
        return
    size = file.plain.size() - file.start
    if size > file.limit:
        error = too_large_error(
            file.kind, Place(file.name), f"a log of {size:,} bytes, which is read whole", file.limit
        )
        error.advice = f"convert it: inspect log convert --to eval; or {error.advice}"
        raise error
    data = file.plain.read(file.start, size)
    check_value_count(data, file.kind, lambda: Place(file.name), file.limit)
    try:
        log = json.loads(data)
    except (ValueError, RecursionError):
        raise _not_a_log_error(file, "it is not one JSON object") from None
    samples = log.get("samples")
    if not isinstance(samples, list):
        raise _not_a_log_error(file, "it has no samples: was it read with header_only, or did the run fail?")
    yield from samples


def _archive_samples(file: RecordFile) -> Iterator[Any]:
    import zipfile  # for these files alone

    try:
        with zipfile.ZipFile(file.plain.stream()) as archive:
            members = [each for each in archive.infolist() if each.filename.startswith("samples/")]
            if not members:
                raise _not_a_log_error(file, "it is a zip archive without samples/")
            for member in members:
                if member.file_size > file.limit:
                    size = f"{member.filename} with {member.file_size:,} bytes"
                    raise too_large_error(file.kind, Place(file.name), size, file.limit)
                data = _unpack_member(archive, member, file)
                check_value_count(data, file.kind, lambda: Place(file.name), file.limit)
                yield json.loads(data)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError, RecursionError) as problem:
        raise _not_a_log_error(file, str(problem) or type(problem).__name__) from None


def _unpack_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: RecordFile) -> bytes:
    if member.compress_type != _ZSTANDARD:
        return archive.read(member)
    try:
        import zstandard
    except ImportError:
        raise MachineError(
            "machine.missing_package",
            "this log is packed with zstd, and the package zstandard is not installed",
            place=Place(file.name),
            advice="pip install zstandard, or inspect log convert --to json",
        ) from None
    # What lies before the data: 30 bytes, of which four say how long the name and the rest of the header are.
    header = file.plain.read(member.header_offset, 30)
    begin = (
        member.header_offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    )
    packed = file.plain.read(begin, member.compress_size)
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as stream:
            return bytes(stream.read(member.file_size))
    except zstandard.ZstdError as problem:
        raise _not_a_log_error(file, str(problem)) from None


def _not_a_log_error(file: RecordFile, found: str) -> InputError:
    return InputError(
        "predictions.not_a_log", "this is not a whole log of Inspect", place=Place(file.name), found=found
    )


_WORDS = (b'"eval"', b'"status"', b'"version"')
INSPECT = FileLayout("inspect", "A log of Inspect, .json or .eval", _answers, (".eval",), _ZIP, _WORDS)
