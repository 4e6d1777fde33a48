"""Predictions that evaluation harnesses and trainers store: lm-evaluation-harness, LLaMA-Factory, Inspect, TextEE.

samples_*.jsonl of lm-evaluation-harness has a document per line, with its place in the data set and all responses
to it. The id is that of the document, where it has one. Of several responses the first counts. A task with several
filters has a line per document for each: the responses are the same, so only the lines of the first filter count.

generated_predictions.jsonl of LLaMA-Factory has prompt, predict and label, in the order of the data set.

A log of Inspect is one JSON file, or an .eval file, which is a zip archive with a file for each sample. A sample that
ended with an error and without an answer has none. Of several epochs none is chosen: that is an error.

TextEE's trainers hand windows with triggers and arguments by token to its scorer. A trigger is [start, end, event
type], an argument [start, end, role], either with its words behind it or not; ends are exclusive. A window has `events`
(end to end), `triggers` (detection only), or a `trigger` and its `arguments`: then every event is a record of its own,
and those of a window belong together. An argument without a role is none.
https://github.com/ej0cl6/TextEE, TextEE/scorer.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from goldgate.core.finding import record_id
from goldgate.errors import InputError, Place, describe_value
from goldgate.readers.guess import field_error
from goldgate.readers.layouts.chat import message_text
from goldgate.readers.layouts.layout import (
    FieldPaths,
    FileLayout,
    LayoutAnswer,
    RecordLayout,
    answer_of,
    missing_package_error,
    not_generated_error,
)
from goldgate.readers.records import RecordFile, check_value_count, too_large_error

if TYPE_CHECKING:
    import zipfile

_RESPONSES = ("resps", "filtered_resps")  # as the model wrote it; some exports have only what the filter left of it


def _is_lm_eval(record: Any) -> bool:
    return isinstance(record, dict) and "doc_id" in record and any(name in record for name in _RESPONSES)


def _lm_eval_answer(record: Mapping[str, Any]) -> LayoutAnswer:
    document, place = record.get("doc"), record.get("doc_id")
    identity = record_id(document) if isinstance(document, dict) else None
    name = next((name for name in _RESPONSES if record.get(name) is not None), _RESPONSES[0])
    response = record.get(name)
    while isinstance(response, list) and response:
        response = response[0]
    if not isinstance(response, str):  # log-likelihoods, of a task that scores given answers
        raise not_generated_error(name, record.get(name))
    position = place if type(place) is int and place >= 0 else None
    if identity is None and position is None:
        identity = record_id({"id": place})
    return LayoutAnswer(identity, {"response": response}, position)


LM_EVAL = RecordLayout(
    "lm-eval",
    "samples_*.jsonl of lm-evaluation-harness",
    _is_lm_eval,
    _lm_eval_answer,
    in_order=True,
    view=lambda record: record.get("filter"),  # its name, which a line has since filters can be several
)


def _is_llama_factory(record: Any) -> bool:
    return isinstance(record, dict) and {"predict", "label"} <= record.keys() <= {"prompt", "predict", "label"}


LLAMA_FACTORY = RecordLayout(
    "llama-factory",
    "generated_predictions.jsonl of LLaMA-Factory",
    _is_llama_factory,
    lambda record: LayoutAnswer(None, {"response": record.get("predict")}),
    in_order=True,
)


_ZIP = b"PK\x03\x04"
_ZSTANDARD = 93  # what newer versions of Inspect pack with, and zipfile cannot read
_ATTACHMENT = "attachment://"


def _inspect_answers(file: RecordFile, fields: FieldPaths) -> Iterator[tuple[int, LayoutAnswer | None]]:
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
        instead = ", or inspect log convert --to json"
        raise missing_package_error(file, "log is packed with zstd", "zstandard", instead) from None
    # What lies before the data: 30 bytes, of which four say how long the name and the rest of the header are.
    header = file.plain.read(member.header_offset, 30)
    name, rest = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    begin = member.header_offset + len(header) + name + rest
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
INSPECT = FileLayout("inspect", "A log of Inspect, .json or .eval", _inspect_answers, (".eval",), _ZIP, _WORDS)


_LISTS = ("events", "triggers")
_NOT_TEXTEE = ("id", "response", "event_mentions")


def _is_textee(record: Any) -> bool:
    if not isinstance(record, dict) or "wnd_id" not in record or any(name in record for name in _NOT_TEXTEE):
        return False
    if isinstance(record.get("events"), list):
        return all(isinstance(event, dict) and isinstance(event.get("trigger"), list) for event in record["events"])
    return isinstance(record.get("triggers"), list) or _is_one_event(record)


def _textee_answer(record: Mapping[str, Any]) -> LayoutAnswer:
    if isinstance(record.get("events"), list):
        events = [_textee_event(event, f"events[{number}]") for number, event in enumerate(record["events"])]
    elif isinstance(record.get("triggers"), list):
        events = [
            {**_textee_part(trigger, f"triggers[{number}]", "event_type", "trigger"), "arguments": []}
            for number, trigger in enumerate(record["triggers"])
        ]
    else:
        events = [_textee_event(record, "")]
    return LayoutAnswer(record_id({"id": record.get("wnd_id")}), {"events": events}, part=_is_one_event(record))


def _is_one_event(record: Mapping[str, Any]) -> bool:
    if any(isinstance(record.get(name), list) for name in _LISTS):
        return False
    return isinstance(record.get("trigger"), list) and isinstance(record.get("arguments"), list)


def _textee_event(event: Any, path: str) -> dict[str, Any]:
    inner = f"{path}." if path else ""
    if not isinstance(event, Mapping):
        raise _textee_error(path, "an object with a trigger and arguments", event)
    arguments = event.get("arguments")
    if not isinstance(arguments, list):
        raise _textee_error(f"{inner}arguments", "a list", arguments)
    return {
        **_textee_part(event.get("trigger"), f"{inner}trigger", "event_type", "trigger"),
        "arguments": [
            _textee_part(argument, f"{inner}arguments[{number}]", "role", "argument")
            for number, argument in enumerate(arguments)
            if not (isinstance(argument, list) and len(argument) > 2 and argument[2] is None)
        ],
    }


def _textee_part(value: Any, path: str, label: str, name: str) -> dict[str, Any]:
    """A trigger or an argument: its label, its words if they are there, and its tokens."""
    if not isinstance(value, list) or len(value) < 3 or not isinstance(value[2], str):
        raise _textee_error(path, f"[start, end, {label.replace('_', ' ')}]", value)
    start, end, text = value[:3]
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise _textee_error(path, "0 <= start < end, counted in tokens", value)
    words = {name: value[3]} if len(value) > 3 and isinstance(value[3], str) else {}
    return {label: text, **words, "token_start": start, "token_end": end}


def _textee_error(path: str, expected: str, found: Any) -> InputError:
    message = "this prediction does not have the form of TextEE's"
    return field_error("predictions.not_in_layout", message, path, expected, found)


TEXTEE = RecordLayout(
    "textee", "what TextEE's trainers predict, window by window", _is_textee, _textee_answer, in_tokens=True
)
