"""Guesses at what a malformed file or record was meant to be: advice in errors, never a way of reading."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from goldgate.errors import InputError, Place, describe_value
from goldgate.readers.dialects import nearest_dialect_advice

MAX_LISTED_KEYS = 8
EXPECTED_ID = "a string that is not empty, or an integer"

# What people call an id, without case, blanks, `-` and `_`; the likeliest first.
_ID_NAMES = (
    "id docid dockey documentid sentenceid sentid sampleid exampleid recordid itemid questionid qid "
    "customid uid uuid guid idx index key rowid number"
).split()


SWAPPED_ADVICE = "are the gold and the predictions swapped?"
_AS_RECORDS = 'write one object per record; with pandas: frame.to_json("records.jsonl", orient="records", lines=True)'


# Files of other tools that are not read: what they are, the keys that give them away, and how to get records.
_UNREAD_LAYOUTS: tuple[tuple[str, set[str], str], ...] = (
    (
        "the input of a batch",
        {"custom_id", "url", "body"},
        "it has the questions; name the file with the answers, which the batch gives back",
    ),
    (
        "the output of an Anthropic batch",
        {"custom_id", "result"},
        'write {"id": custom_id, "response": result.message.content[0].text} for each line',
    ),
    ("a table of rows without names", {"columns", "data"}, _AS_RECORDS),
    (
        "an output file of promptfoo",
        {"evalId", "results"},
        "jq -c '.results.results[] | {id: .vars.id, response: .response.output}' takes the answers out of it",
    ),
    (
        "an export of Label Studio",
        {"annotations", "data"},
        "jq -c '.[] | .data.id as $id | .annotations[] | {id: $id, label: .result[0].value.choices[0], "
        'by: (.completed_by | tostring), kind: "human"}\' takes labels out of it',
    ),
)

_MAGIC = (
    (b"PAR1", "a Parquet file"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x28\xb5\x2f\xfd", "a file packed with zstd"),
    (b"BZh", "a file packed with bzip2"),
    (b"\xfd7zXZ", "a file packed with xz"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
    (b"SQLite format 3", "an SQLite database"),
)
_PRETTY = re.compile(rb'\s*+\{[ \t\r]*+\n\s*+"')  # the head of a pretty-printed object
_TOP_KEY = re.compile(rb'^[ \t]{1,4}"(\w+)"\s*:', re.MULTILINE)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # bytes that no text has
_YAML = re.compile(rb"(?:- )?[\w-]+:(?:\s|\Z)|---\s*\Z")
_PROTOCOL = re.compile(rb"^(?:gates|protocol|metrics):", re.MULTILINE)


def field_error(
    code: str, message: str, field: str, expected: str, found: object, advice: str | None = None
) -> InputError:
    """The error for a value under a field of a record, which gets its file and line where it is read."""
    place = Place(field=field)
    return InputError(code, message, place=place, expected=expected, found=describe_value(found), advice=advice)


def bad_id_error(record: object, kind: str, place: Place) -> InputError:
    """The error for a record of that kind without an id that can be used, and what its author may have meant."""
    error = InputError(f"{kind}.bad_id", f"a {kind} record needs an id", place=place, expected=EXPECTED_ID)
    if not isinstance(record, Mapping):
        error.expected, error.found = "an object with an id", describe_value(record)
    elif "id" in record:
        is_table = len(record) > 1 and all(isinstance(value, (Mapping, list)) for value in record.values())
        error.found = describe_value(record["id"])
        error.advice = (
            f"this seems to be a table by columns: {_AS_RECORDS}" if is_table else _bad_id_advice(record["id"])
        )
    else:
        if kind == "gold" and not {"events", "value"} & record.keys():  # with them, our own form is meant
            error.expected = f"{EXPECTED_ID}; or a published format (goldgate convert --help)"
        error.found, error.advice = f"no id; {describe_keys(record)}", _missing_id_advice(record, kind)
    return error


def _missing_id_advice(record: Mapping[str, Any], kind: str) -> str | None:
    """What may be meant by a record without an id."""
    unread = unread_layout_advice(record)
    wrapped = next((key for key, value in record.items() if _is_records(value)), None)
    if unread is None and wrapped is not None:
        return f"the records seem to be under {wrapped}: jq -c '.{wrapped}[]' takes them out"
    advice = unread or (nearest_dialect_advice(record) if kind == "gold" else None)
    if advice is not None:
        return advice
    if "event_type" in record:
        return 'these are events: write {"id": …, "events": […]} for each document'
    key = _likely_id_path(record)
    labels = next((name for name in _LABEL_NAMES if isinstance(record.get(name), list | dict)), None)
    advice = None
    if key is not None:
        convert = f" (goldgate convert --id-field {key} writes it as id)" if kind == "gold" else ""
        advice = f"is {key} the id? then --id-field {key}, or rename it{convert}"
    if kind == "gold" and labels is not None and not {"events", "event_list"} & record.keys():
        parts = (advice, f"goldgate reads no {labels}: write what is in them as events (docs/files.md, Gold)")
        return "; ".join(filter(None, parts))
    return advice or _map_advice(record, kind)


# What people call the labels of a text that are not events in a form that is read.
_LABEL_NAMES = "labels entities relations triples spans annotations ner tags ner_tags triple_list spo_list".split()


def _likely_id_path(record: Mapping[str, Any]) -> str | None:
    """The path of what seems to be a record's id: under a likely key, alone in a list there, or in an object."""
    key = likely_id_key(record)
    if key is not None:
        return key
    for name, value in record.items():
        if isinstance(value, list) and len(value) == 1 and likely_id_key({name.removesuffix("s"): 0}) is not None:
            return f"{name}.0" if type(value[0]) in (str, int) else None
        inner = likely_id_key(value) if isinstance(value, Mapping) else None
        if inner is not None and type(value[inner]) in (str, int):
            return f"{name}.{inner}"
    return None


# What a value becomes in jq, where the keys of an object are ids.
_RECORD_OF: dict[type[Any], str] = {
    dict: ".value + {id: .key}",
    list: "{id: .key, events: .value}",
    str: "{id: .key, response: .value}",
}


def _map_advice(record: Mapping[str, Any], kind: str) -> str | None:
    """Advice for one object in which each key seems to be the id of a record."""
    kinds = {type(value) for value in record.values() if value is not None}
    make = _RECORD_OF.get(kinds.pop()) if len(kinds) == 1 else None
    if make is None or ("response" in make and (kind == "gold" or not record.keys().isdisjoint(RESPONSE_NAMES))):
        return None
    return f"are its keys ids? jq -c 'to_entries[] | {make}' FILE writes a record for each"


def unread_layout_advice(keys: Iterable[str]) -> str | None:
    """Advice for a record of another tool's file that has these keys; None for any other record."""
    present = set(keys)
    layouts = (f"this seems to be {name}: {advice}" for name, own, advice in _UNREAD_LAYOUTS if own <= present)
    return next(layouts, None)


def swapped_advice(gold: Mapping[str, Any], prediction: Mapping[str, Any]) -> str | None:
    """Advice where the two are each other's: an answer in the gold, a text with events in the predictions."""
    is_answer = "response" in gold and not {"events", "event_list"} & gold.keys()
    is_gold = "text" in prediction and "response" not in prediction and {"events", "event_list"} & prediction.keys()
    return SWAPPED_ADVICE if is_answer or is_gold else None


def unknown_id_message(matched: int, predictions: int, gold: int) -> str:
    """The message where predictions have ids that gold lacks; where most of gold has one, gold may be cut off."""
    if 2 * matched <= gold:
        return "no gold record has the id of this prediction"
    rest = predictions - matched
    which = "1 prediction is" if rest == 1 else f"{rest} predictions are"
    return f"{matched} of {predictions} ids match: is the gold file complete? {which} not in gold"


def no_answer_error(record: Mapping[str, Any], decoded: str = '"events" (a list)') -> InputError:
    """The error for a prediction that has neither a response nor what would have been decoded from one."""
    return InputError(
        "predictions.no_answer",
        "this prediction has no answer",
        place=Place(field="response"),
        expected=f'"response" (raw text) or {decoded}',
        found=f"the keys {list_keys(sorted(map(str, record)))}" if record else "an empty object",
        advice=unread_layout_advice(record) or _response_field_advice(record),
    )


# What other programs call the text that a model wrote; the likeliest first, and last what may be the source text.
_SURE_NAMES = (
    "prediction predict pred predicted completion generated_text generation model_output model_response raw_response"
).split()
RESPONSE_NAMES = (
    *_SURE_NAMES,
    *"output answer result responses outputs completions predictions generations conversations conversation".split(),
    *"turns chat body message content text".split(),
)
# Words in keys such as model_prediction, llmOutput or gpt-4o; and in keys of what the model was given, or should say.
_RESPONSE_WORDS = {*RESPONSE_NAMES, *"generated response reply model llm gpt assistant raw results".split()}
_OTHER_WORDS = set(
    "gold golden target reference references expected truth label labels prompt input question instruction source id "
    "ids time date name version tokens count score error type".split()
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_INNER = ("content", "value", "text", "message", "output", "response")


def _response_field_advice(record: Mapping[str, Any]) -> str | None:
    """Advice that names the path of the text that a model seems to have written."""
    others = [str(key) for key, value in record.items() if _may_be_response(str(key), value)]
    names = (*_SURE_NAMES, *others, *RESPONSE_NAMES)
    name = next((name for name in names if record.get(name) is not None), None)
    if name is None:
        return None
    path, value = name, record[name]
    for _ in range(3):
        inner: Any = None
        if isinstance(value, list) and value and not (isinstance(value[0], Mapping) and "event_type" in value[0]):
            inner = -1 if isinstance(value[-1], Mapping) and ({"role", "from"} & value[-1].keys()) else 0
        elif isinstance(value, Mapping):
            inner = next((key for key in _INNER if key in value), None)
        if inner is None:
            break
        path, value = f"{path}.{inner}", value[inner]
    return f"is {path} what the model wrote? then --response-field {path}"


def _may_be_response(key: str, value: Any) -> bool:
    """Whether a key of another name seems to have what a model wrote: by its words, or by JSON in its text."""
    if key in (*RESPONSE_NAMES, "model"):
        return False
    words = {word.lower() for word in _WORD.findall(key)}
    if words & _OTHER_WORDS or not isinstance(value, str | list | dict):
        return False
    return bool(words & _RESPONSE_WORDS) or (isinstance(value, str) and value.lstrip()[:1] in ("[", "{", "`"))


_ENDPOINT_ID = re.compile(r"(?:chatcmpl|cmpl|resp|gen|msg)[-_]\w+")


def endpoint_id_advice(identity: str) -> str | None:
    """Advice for an id that an endpoint gave to its reply; None for any other id."""
    if _ENDPOINT_ID.match(identity) is None:
        return None
    return "this id is the endpoint's own: store the id of the document beside the reply, and name it with --id-field"


def describe_id(identity: str) -> str:
    """An id for a message: a number as it is written, since it may be one in the file."""
    return f"id {identity}" if re.fullmatch("-?[0-9]{1,40}", identity) else describe_value(identity)


def binary_format(head: bytes) -> str | None:
    """What a file is that does not hold text in UTF-8, by its first bytes."""
    return next((name for magic, name in _MAGIC if head.startswith(magic)), None)


def binary_advice(name: str, head: bytes) -> str | None:
    """Advice for a file that is not text, and that no known format begins like; None for text in another encoding."""
    plain = name.lower()
    for ending, form in ((".gz", "packed with gzip"), (".parquet", "a Parquet file")):
        if plain.endswith(ending):
            return f"its name ends in {ending}, but it is not {form}: is it damaged, or named wrongly?"
    return "this is a binary file: name a file of records" if _CONTROL.search(head) else None


def is_other_file(name: str, head: bytes) -> bool:
    """Whether a file whose first line is not JSON is something else as a whole: `guess_format` says what."""
    is_binary = binary_format(head) is not None or b"\0" in head
    return is_binary or _PRETTY.match(head) is not None or guess_format(name, head) is not None


def guess_format(name: str, head: bytes) -> tuple[str, str] | None:
    """What a file seems to be whose first line is not a JSON record, and advice; None if it may well be damaged."""
    head = head.lstrip()
    line = head.split(b"\n", 1)[0].rstrip(b"\r")
    if line[:1] == b"{":
        layout = unread_layout_advice([key.decode() for key in _TOP_KEY.findall(head)]) if line == b"{" else None
        return None if layout is None else ("this is not a file of records", layout)
    if _CONTROL.search(line) and line[:1] not in b'["':
        return "this is not text", "name a file of records"
    if line[:1] == b"[" and line.rstrip()[-1:] in (b"[", b",") and head[1:].lstrip()[:1] == b'"':
        return "item 1 of this array is a string, and a record is an object", "write one object for each item"
    plain = name.lower().removesuffix(".gz")
    if plain.endswith((".yaml", ".yml")) or _YAML.match(line):
        advice = "write one JSON object per line"
        return "this is YAML, not JSON", "pass a protocol with --protocol" if _PROTOCOL.search(head) else advice
    if plain.endswith((".csv", ".tsv")) or (line[:1] not in b'["' and (b"\t" in line or line.count(b",") > 0)):
        form = "TSV" if b"\t" in line else "CSV"
        if plain.endswith((".csv", ".tsv")):  # where tables are read, it would have been read as one
            return f"this is {form}, not JSON", _AS_RECORDS
        return f"this is {form}, not JSON", f"tables are read from files whose names end in .{form.lower()}: rename it"
    return None


def likely_id_key(record: Mapping[str, Any]) -> str | None:
    """The key under which a record seems to have its id."""
    folded = {re.sub(r"[\W_]", "", str(key).lower()): str(key) for key in reversed(list(record))}
    return next((folded[name] for name in _ID_NAMES if name in folded), None)


def describe_keys(record: Mapping[str, Any]) -> str:
    """The keys of a record, for an error: `the keys are id, text`."""
    if not record:
        return "it is empty"
    more = f" and {len(record) - MAX_LISTED_KEYS} more" if len(record) > MAX_LISTED_KEYS else ""
    return f"the keys are {list_keys(record)}{more}"


def list_keys(keys: Iterable[Any]) -> str:
    """The first few of some keys."""
    return ", ".join(map(str, islice(keys, MAX_LISTED_KEYS)))


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "id" in item for item in value)


def _bad_id_advice(value: object) -> str:
    """What to do about an id that is of no use."""
    if isinstance(value, bool | float):
        return f'write it as text: "{json.dumps(value)}"'
    if isinstance(value, Mapping | list):
        return "choose one text or number that is different in every record"
    return "give every record an id of its own, in gold and predictions alike"
