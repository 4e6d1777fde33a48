"""What is asked about each item: of a model as a judge, how its answer becomes a label, and of people who label.

An item goes into a judge's prompt as JSON, between tags that do not occur in it: its texts are data and cannot leave
their place. That keeps borders apart; it does not keep a model from believing what it reads.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from itertools import islice
from typing import Any, NamedTuple

import orjson

from goldgate.core.suite import Options, Plan
from goldgate.core.task import AnswerFormat, AnswerSchema, Question
from goldgate.errors import ConfigError, InputError, Place, describe_value
from goldgate.files.reading import read_text_file
from goldgate.generation.prompt import PARTS, Parts, Template, find_template, prompt_messages, require_room
from goldgate.readers.draw import (
    ItemFiles,
    ItemKey,
    is_draw_header,
    label_key,
    open_items,
    questions_by_id,
    require_version,
    shown_fields,
)
from goldgate.readers.labels import ITEM_SHA256, JUDGE, UNSURE
from goldgate.readers.records import RecordStore, open_records, read_records
from goldgate.response import DEFAULT_THOUGHT_TAGS, Status, read_answer
from goldgate.response.parsed import JsonForm
from goldgate.suites.judged.suite import SECTION, TEMPLATES

_OWN = {"question": False, "labels": False}
JUDGE_PARTS: Parts = {"system": _OWN, "user": {"text": PARTS["user"]["text"], "tag": False, **_OWN}}
MAX_REASON = 2_000  # characters of a reason that are kept
_FORM = JsonForm(keys=frozenset({"label", "reason"}))
_TRUE, _FALSE = frozenset({"true", "yes", "是", "1"}), frozenset({"false", "no", "否", "0"})


class LabelChoice(NamedTuple):
    """A label that can be given: the word on its button, what is stored, and its keys."""

    word: str
    value: str | bool
    keys: tuple[str, ...]


MAX_CHOICES = 9  # as many as there are keys for
YES_AND_NO = (LabelChoice("yes", True, ("1", "y")), LabelChoice("no", False, ("2", "n")))


class JudgeAnswer(NamedTuple):
    """A label (None: there is none that can be read), the reason that the judge gives, and why there is no label."""

    label: bool | float | str | None
    reason: str | None = None
    problem: str | None = None


def read_label(response: str, words: Sequence[str]) -> JudgeAnswer:
    """The label in a judge's answer. `words` are those that the protocol lists; without any it is true or false."""
    parsed = read_answer(response, DEFAULT_THOUGHT_TAGS, _FORM)
    if parsed.status == Status.ERROR or not isinstance(parsed.value, dict):
        return JudgeAnswer(None, problem="no JSON object could be read")
    answer = parsed.value
    reason = answer.get("reason")
    reason = reason[:MAX_REASON] if isinstance(reason, str) else None
    if "label" not in answer:
        return JudgeAnswer(None, reason, "the answer has no label")
    label = _known_label(answer["label"], words)
    is_abstention = answer["label"] is None
    problem = "the judge gave none" if is_abstention else "the label is not one of those asked for"
    return JudgeAnswer(label, reason, problem if label is None else None)


def _known_label(label: object, words: Sequence[str]) -> bool | float | str | None:
    if isinstance(label, str):
        text = label.strip().casefold()
        if words:
            return next((word for word in words if word.casefold() == text), None)
        return True if text in _TRUE else False if text in _FALSE else None
    if isinstance(label, bool):
        return None if words else label
    return label if isinstance(label, (int, float)) and not words and 0 <= label <= 1 else None


@dataclass(frozen=True)
class JudgeTask:
    """Asks the same question about every item."""

    items: ItemFiles
    template: Template
    question_text: str
    words: tuple[str, ...]

    @property
    def settings(self) -> dict[str, Any]:
        digest = {"name": self.template.name, "sha256": self.template.sha256}
        return {"template": digest, "question": text_digest(self.question_text), "labels": [*self.words]}

    @property
    def signature(self) -> dict[str, object]:
        return {"template": f"{self.template.name}@{self.template.sha256[:12]}"}

    @property
    def answer_schema(self) -> AnswerSchema:
        label = (
            {"type": ["string", "null"], "enum": [*self.words, None]} if self.words else {"type": ["boolean", "null"]}
        )
        properties = {"reason": {"type": "string"}, "label": label}  # the reason first: it is thought about before
        schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
        return AnswerSchema("judgement", schema)

    @property
    def first_format(self) -> AnswerFormat:
        return "text" if self.template.wants_thought else "json_schema"

    @cached_property
    def keys(self) -> list[ItemKey]:
        return [*self.items]

    def __len__(self) -> int:
        return len(self.keys)

    def id(self, position: int) -> str:
        return self.keys[position].id

    def question(self, position: int, seed: int | None) -> Question:
        key = self.keys[position]
        self.items.store.require_unchanged()
        labels = ", ".join(f'"{word}"' for word in self.words) or "true, false"
        shared = {"question": self.question_text, "labels": labels}
        text = orjson.dumps(shown_fields(self.items[key]), option=orjson.OPT_INDENT_2).decode()
        return Question(key.id, prompt_messages(self.template, shared, text))

    def prediction(self, document_id: str, response: str) -> dict[str, Any]:
        return {"id": document_id, "response": response}

    def labels(self, predictions: Iterable[Mapping[str, Any]], model: str) -> Iterator[dict[str, Any]]:
        """A line of the label file for every item, in their order; none if the items were changed meanwhile."""
        self.items.store.require_unchanged()
        answers = {each["id"]: read_label(each["response"], self.words) for each in predictions}
        for key, item in self.items.items():
            answer = answers.get(key.id, JudgeAnswer(None, problem="the model did not answer"))
            names = {name: item[name] for name in ("group", "question") if item.get(name) is not None}
            record = {"id": key.id, "label": answer.label, "by": model, "kind": "judge", **names}
            record[ITEM_SHA256] = self.items.digests[key]
            yield record | {name: value for name, value in answer._asdict().items() if value is not None}

    def close(self) -> None:
        self.items.store.close()


def open_judge_task(plan: Plan, seeds: Sequence[int | None], response_format: str, options: Options) -> JudgeTask:
    """`goldgate judge`: the items, the template and the question, read and checked."""
    if options.get("items") is None:
        raise ConfigError("items.missing", "there is nothing to judge", advice="give --items FILE, or --from RESULT")
    question = read_question(options.get("question"))
    template = load_judge_template(options.get("template") or ("question" if question else "claim_support"))
    if "{question}" not in template.system + template.user and question:
        raise ConfigError(
            "prompt.no_question",
            f"the template {template.name} has no place for a question",
            expected="{question} in the template, or no --question",
        )
    if template.name == "question" and not question:
        raise ConfigError("question.missing", "the template question needs one", advice='give --question "TEXT"')
    require_room(template, response_format)
    words = tuple(getattr(plan.settings, "labels", None) or ())
    with ExitStack() as opened:
        items = opened.enter_context(open_items(options["items"]))
        _require_one_question(items)
        opened.pop_all()  # the task closes them
        return JudgeTask(items, template, question or "", words)


def _require_one_question(items: ItemFiles) -> None:
    """Refuse items of several questions: all would be asked the same one, and some labels would be of another."""
    items.require_any()
    keys = sorted({key.question for key in items})
    if len(keys) > 1:
        raise InputError(
            "items.several_questions",
            "these items are asked different questions",
            place=Place(items.store.name, None, "question"),
            expected="items of one question: a judge is asked one at a time",
            found=", ".join(keys[:5]) + (" …" if len(keys) > 5 else ""),
            advice=f"make a file for each: jq -c 'select(.question == \"{keys[-1]}\")' items.jsonl > one.jsonl",
        )


def load_judge_template(name: str) -> Template:
    """A template of the judge by its name, or a file."""
    return find_template(name, TEMPLATES, resources.files("goldgate.suites.judged") / "templates", JUDGE_PARTS)


def read_question(option: str | None) -> str | None:
    """The text of `--question`, which may be a file; None where there is none."""
    if option is None:
        return None
    is_file = len(option) < 256 and os.path.isfile(option)
    if not is_file and any("\ud800" <= character <= "\udfff" for character in option):
        raise ConfigError("question.not_text", "the question is not UTF-8", advice="write it into a file")
    return (read_text_file(option, "question").text if is_file else option).strip() or None


def text_digest(text: str | None) -> str | None:
    """The digest of a text; None for none."""
    return hashlib.sha256(text.encode()).hexdigest() if text else None


def parse_choices(words: str | None, protocol: str | None) -> Sequence[LabelChoice]:
    """The labels to choose from: words of the option or of the protocol, else yes and no."""
    if words is None and protocol is None:
        return YES_AND_NO
    if words is not None:
        names, source = [word.strip() for word in words.split(",")], "--labels"
    else:
        section, names = _protocol_words(str(protocol))
        source = f"{protocol}: {section}.labels"
        if not names:
            return YES_AND_NO
    if not 2 <= len(names) <= MAX_CHOICES or len(set(names)) < len(names) or "" in names or UNSURE in names:
        raise ConfigError(
            "label.bad_words",
            "these are not words to choose from",
            place=Place(source),
            expected=f"2 to {MAX_CHOICES} different words; `{UNSURE}` can always be chosen",
            found=", ".join(names) or "no words",
            advice='for example --labels "supported,unsupported"',
        )
    return [LabelChoice(name, name, (str(number),)) for number, name in enumerate(names, 1)]


def _protocol_words(protocol: str) -> tuple[str, list[str]]:
    """The words of a protocol's section for judging or, where that has none, of another, and the section's name."""
    from goldgate.suites.plan import load_protocol

    sections = load_protocol(protocol).protocol.sections
    words = {name: [*getattr(sections[name], "labels", ())] for name in sorted(sections, key=lambda n: n != SECTION)}
    return next(((name, labels) for name, labels in words.items() if labels), (SECTION, []))


def open_items_to_label(path: str, question: str | None) -> ItemFiles:
    """The items in their order; those of a draw without its header, which must fit to them and to the question."""
    file = open_records(path, "items")
    with ExitStack() as opened:
        opened.callback(file.close)
        for record in islice(read_records(file), 1):
            if is_draw_header(record.value):
                file.stored.kind = "draw"
        items = ItemFiles(RecordStore([file]))
        items.require_any()
        if items.header is not None:
            require_version(items.header, path)
            _require_draw(items.header, len(items), text_digest(question), Place(path))
        opened.pop_all()
        return items


def _require_draw(header: Mapping[str, Any], count: int, question_sha256: str | None, place: Place) -> None:
    if header.get("n") != count:
        raise InputError(
            "draw.cut_off",
            "the draw does not have the items that its first line says",
            place=place,
            expected=f"{header.get('n')} items",
            found=f"{count:,} items",
            advice="draw again with `goldgate sample`, and keep the file as it is",
        )
    if header.get("question_sha256") not in (None, question_sha256):
        raise InputError(
            "draw.other_question",
            "the items were drawn for another question",
            place=place,
            found="no question" if question_sha256 is None else "a question with another text",
            advice="give the --question that `goldgate sample` was given",
        )


def read_judges(path: str, items: Mapping[ItemKey, object]) -> dict[ItemKey, tuple[str, ...]]:
    """What judges say of each item, in words; labels of other items are passed over."""
    questions = questions_by_id(items)
    words: dict[ItemKey, tuple[str, ...]] = {}
    with closing(RecordStore([open_records(path, "labels")])) as store:
        for located in store.records():
            record = located.value
            if record.get("kind") != JUDGE:
                raise InputError(
                    "labels.not_judge",
                    "this is not a label of a judge",
                    place=located.place("kind"),
                    expected='"judge"',
                    found=describe_value(record.get("kind")),
                    advice="--judge takes the labels that `goldgate judge` wrote",
                )
            try:
                key = label_key(record, questions)
            except InputError as error:
                error.code = f"labels.{error.code.partition('.')[2]}"
                raise located.at(error) from None
            if key in items:
                words[key] = (*words.get(key, ()), _judge_words(record))
    return words


def _judge_words(record: Mapping[str, Any]) -> str:
    label = record.get("label")
    text = label if isinstance(label, str) else "no label" if label is None else orjson.dumps(label).decode()
    reason = record.get("reason")
    return f"{text} ({reason})" if isinstance(reason, str) and reason.strip() else text
