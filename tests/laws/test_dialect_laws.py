"""Whatever a published file holds: as many events and arguments come out as went in, each exactly where it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from goldgate.readers.dialects import find_dialect, recognize_dialect

TOKEN = st.text(st.sampled_from("aZé0.,'\"-()甲公司😀\u0301#"), min_size=1, max_size=4)
SENTENCE = st.lists(TOKEN, min_size=1, max_size=6)
NAME = st.sampled_from(["Attack", "life.die", "arg01", "质押方", "Place"])
Span = tuple[int, int]  # tokens of the whole document, the end exclusive
Json = dict[str, Any]


class Event(NamedTuple):
    type: str
    triggers: list[Span]
    arguments: list[tuple[str, list[Span]]]  # a role, and every mention of what fills it


class Document(NamedTuple):
    sentences: list[list[str]]
    events: list[Event]

    @property
    def tokens(self) -> list[str]:
        return [token for sentence in self.sentences for token in sentence]

    def cut(self, span: Span) -> str:
        return "".join(self.tokens[slice(*span)])


@st.composite
def documents(draw: st.DrawFn) -> Document:
    sentences = draw(st.lists(SENTENCE, min_size=1, max_size=4))
    starts = [sum(map(len, sentences[:number])) for number in range(len(sentences))]

    @st.composite
    def span(draw: st.DrawFn) -> Span:
        """In one sentence, as annotators mark it."""
        number = draw(st.integers(0, len(sentences) - 1))
        first = draw(st.integers(0, len(sentences[number]) - 1))
        last = draw(st.integers(first, len(sentences[number]) - 1))
        return starts[number] + first, starts[number] + last + 1

    mentions = st.lists(span(), min_size=1, max_size=3, unique=True)
    arguments = st.lists(st.tuples(NAME, mentions), max_size=3)
    return Document(sentences, draw(st.lists(st.builds(Event, NAME, mentions, arguments), max_size=3)))


def characters(document: Document, span: Span, blank: str = " ") -> Span:
    """The characters of some tokens, in a text that has so much between two."""
    tokens = document.tokens
    first = len(blank.join([*tokens[: span[0]], ""]))
    return first, first + len(blank.join(tokens[slice(*span)]))


def in_sentence(document: Document, span: Span, blank: str = "") -> tuple[int, int, int]:
    """The sentence that some tokens are in, and their characters there."""
    at = 0
    for number, sentence in enumerate(document.sentences):
        if span[0] < at + len(sentence):
            inner = Document([sentence], [])
            return number, *characters(inner, (span[0] - at, span[1] - at), blank)
        at += len(sentence)
    raise AssertionError


def check(name: str, record: Any, document: Document, mentions: Callable[[list[Span]], list[Span]]) -> None:
    """`mentions` says which of several the format keeps."""
    dialect = find_dialect(name)
    assert dialect is not None
    if document.events or name != "docee":
        assert recognize_dialect(json.loads(json.dumps(record))) is dialect
    converted = dialect.convert(record)
    assert len(converted["events"]) == len(document.events)
    for event, wanted in zip(converted["events"], document.events, strict=True):
        assert event["event_type"] == wanted.type
        if "trigger" in event:
            assert placed(event, "trigger", converted) == sorted(map(document.cut, mentions(wanted.triggers)))
        assert [argument["role"] for argument in event["arguments"]] == [role for role, _ in wanted.arguments]
        for argument, (_, spans) in zip(event["arguments"], wanted.arguments, strict=True):
            assert placed(argument, "argument", converted) == sorted(map(document.cut, mentions(spans)))


def placed(part: Json, name: str, record: Json) -> list[str]:
    """The texts of all mentions without blanks, each of which is where it says to be."""

    def each() -> Iterator[str]:
        for mention in part.get("mentions") or [{**part, "text": part[name]}]:
            assert record["text"][mention["start"] : mention["end"]] == mention["text"]
            if "tokens" in record:
                tokens = record["tokens"][mention["token_start"] : mention["token_end"]]
                assert "".join(tokens) == squeezed(mention["text"])
            yield squeezed(mention["text"])

    return sorted(each())


def squeezed(text: str) -> str:
    return text.replace(" ", "").replace("\n", "")


def first(spans: list[Span]) -> list[Span]:
    return spans[:1]


def all_of(spans: list[Span]) -> list[Span]:
    return spans


@given(documents(), st.data())
def test_mentions_in_tokens(document: Document, data: st.DataObject) -> None:
    glue = [data.draw(st.sampled_from(["", " ", "\n"])) for _ in document.tokens]
    entities: list[Json] = []

    def entity(span: Span) -> str:
        entities.append({"id": f"T{len(entities)}", "start": span[0], "end": span[1], "text": document.cut(span)})
        return str(entities[-1]["id"])

    record: Json = {
        "doc_id": "d",
        "tokens": document.tokens,
        "text": "".join(token + between for token, between in zip(document.tokens, glue, strict=True)),
        "event_mentions": [
            {
                "event_type": event.type,
                "trigger": {
                    "start": event.triggers[0][0],
                    "end": event.triggers[0][1],
                    "text": document.cut(event.triggers[0]),
                },
                "arguments": [
                    {"entity_id": entity(spans[0]), "role": role, "text": document.cut(spans[0])}
                    for role, spans in event[2]
                ],
            }
            for event in document.events
        ],
        "entity_mentions": entities,
    }
    check("wikievents", record, document, first)
    check("oneie", {**record, "wnd_id": "d_0"}, document, first)
    check("oneie", {**{k: v for k, v in record.items() if k != "text"}, "sent_id": "d-0"}, document, first)


@given(documents())
def test_links_with_inclusive_ends(document: Document) -> None:
    own_triggers = {event.triggers[0]: event for event in document.events}  # links name an event by its trigger
    document = Document(document.sentences, list(own_triggers.values()))
    record = {
        "doc_key": "d",
        "sentences": document.sentences,
        "evt_triggers": [[t[0], t[1] - 1, [[event.type, 1.0]]] for t, event in own_triggers.items()],
        "gold_evt_links": [
            [[t[0], t[1] - 1], [spans[0][0], spans[0][1] - 1], f"evt001arg02{role}"]
            for t, event in own_triggers.items()
            for role, spans in event.arguments
        ],
    }
    check("rams", record, document, first)


@given(documents())
def test_triggers_in_sentences(document: Document) -> None:
    document = Document(document.sentences, [event._replace(arguments=[]) for event in document.events])

    def mention(span: Span) -> Json:
        number, at = 0, 0
        while span[0] >= at + len(document.sentences[number]):
            at += len(document.sentences[number])
            number += 1
        return {"sent_id": number, "offset": [span[0] - at, span[1] - at], "trigger_word": "x"}

    events = [{"type": event.type, "mention": [*map(mention, event.triggers)]} for event in document.events]
    content = [{"sentence": "x", "tokens": sentence} for sentence in document.sentences]
    check("maven", {"id": "d", "content": content, "events": events}, document, all_of)
    ere = {"id": "d", "tokens": document.sentences, "sentences": ["x"] * len(content), "events": events}
    check("maven", ere, document, all_of)


@given(documents())
def test_entities_in_characters(document: Document) -> None:
    def mention(span: Span, name: str) -> Json:
        return {name: " ".join(document.tokens[slice(*span)]), "offset": [*characters(document, span)]}

    entities: list[Json] = []

    def filler(spans: list[Span]) -> Json:
        if len(spans) == 1:
            return mention(spans[0], "content")
        entities.append({"id": f"E{len(entities)}", "mention": [mention(span, "mention") for span in spans]})
        return {"entity_id": entities[-1]["id"]}

    events = []
    for event in document.events:
        roles: dict[str, list[Json]] = {}
        for role, spans in event.arguments:
            roles.setdefault(role, []).append(filler(spans))
        triggers = [mention(span, "trigger_word") for span in event.triggers]
        events.append({"type": event.type, "mention": triggers, "argument": roles})
    by_role = [  # an object has each role once
        event._replace(
            arguments=sorted(event.arguments, key=lambda each: [role for role, _ in event[2]].index(each[0]))
        )
        for event in document.events
    ]
    record = {"id": "d", "document": " ".join(document.tokens), "events": events, "entities": entities}
    check("maven-arg", record, Document(document.sentences, by_role), all_of)


@given(documents())
def test_one_event_in_characters(document: Document) -> None:
    document = Document(document.sentences, document.events[:1])
    if not document.events:
        return
    event = document.events[0]
    arguments = []
    for role, spans in event.arguments:
        start, end = characters(document, spans[0])
        arguments.append({"start": start, "end": end, "type": role, "text": " ".join(document.tokens)[start:end]})
    for given_as in (arguments, json.dumps(arguments)):
        check("docee", [None, " ".join(document.tokens), event.type, given_as], document, first)


@given(documents())
def test_values_in_sentences(document: Document) -> None:
    places: dict[str, list[list[int]]] = {}
    events = []
    for number, event in enumerate(document.events):
        roles: dict[str, list[str]] = {}
        for role, spans in event.arguments:
            value = document.cut(spans[0])
            place = [*in_sentence(document, spans[0])]
            if place not in places.setdefault(value, []):
                places[value].append(place)
            roles.setdefault(role, []).append(value)
        events.append([number, event.type, {**roles, "Nothing": None}])
    sentences = ["".join(sentence) for sentence in document.sentences]
    record = ["d", {"sentences": sentences, "ann_mspan2dranges": places, "recguid_eventname_eventdict_list": events}]
    dialect = find_dialect("chfinann")
    assert dialect is not None
    converted = dialect.convert(record)
    assert recognize_dialect(record) is dialect
    for event, wanted in zip(converted["events"], document.events, strict=True):
        assert len(event["arguments"]) == len(wanted.arguments)
        for argument in event["arguments"]:
            assert placed(argument, "argument", converted) == [argument["argument"]] * len(places[argument["argument"]])


@given(documents())
def test_beginnings_in_characters(document: Document) -> None:
    events = []
    for event in document.events:
        arguments = []
        for role, spans in event.arguments:
            start, _ = characters(document, spans[0], "")
            arguments.append({"role": role, "argument": document.cut(spans[0]), "argument_start_index": start})
        start, _ = characters(document, event.triggers[0], "")
        trigger = {"trigger": document.cut(event.triggers[0]), "trigger_start_index": start}
        events.append({"event_type": event.type, **trigger, "arguments": arguments})
    check("duee", {"id": "d", "text": "".join(document.tokens), "event_list": events}, document, first)
