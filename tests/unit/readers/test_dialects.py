"""Published formats of gold: each is recognized by its keys, and converted with every offset right."""

from __future__ import annotations

import copy
import gzip
import io
import json
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import goldgate.readers.dialects
from goldgate.errors import InputError, Place
from goldgate.readers.dialects import (
    DIALECTS,
    OWN_FORM,
    find_dialect,
    nearest_dialect_advice,
    recognize_dialect,
    recognize_dialect_of,
)
from goldgate.readers.dialects.dialect import Dialect
from goldgate.readers.gold_files import GoldOpener
from goldgate.readers.guess import bad_id_error
from goldgate.readers.records import RecordFile, decode_json, iterate_records
from goldgate.suites.extraction.gold_commands import convert_gold
from goldgate.suites.extraction.records import parse_gold
from tests.cases import cases, error_from
from tests.unit.readers.dialect_samples import (
    CHFINANN,
    DOCEE,
    DUEE_FIN,
    MAVEN,
    MAVEN_ARG,
    OEE_CFC,
    ONEIE,
    RAMS,
    SAMPLES,
    WIKIEVENTS,
)

OWN_RECORD = {"id": "a", "text": "x", "events": []}


def test_every_file_of_the_folder_is_listed() -> None:
    names = [module.name for module in pkgutil.iter_modules(goldgate.readers.dialects.__path__)]
    modules = [import_module(f"goldgate.readers.dialects.{name}") for name in names]
    defined = {value.name for module in modules for value in vars(module).values() if isinstance(value, Dialect)}
    listed = {dialect.name for dialect in DIALECTS}
    assert defined == listed, "add it to DIALECTS in readers/dialects/__init__.py"
    assert listed == {*SAMPLES}, "add an example to SAMPLES in tests/unit/readers/dialect_samples.py"
    assert all(dialect.about for dialect in DIALECTS)


@cases("name", SAMPLES)
def test_a_record_is_recognized_by_its_own_dialect_and_by_no_earlier_one(name: str) -> None:
    found = recognize_dialect(SAMPLES[name][0])
    assert found is not None
    assert found.name == name


@cases("name", SAMPLES)
def test_a_record_is_converted(name: str) -> None:
    record, wanted = SAMPLES[name]
    before = copy.deepcopy(record)
    assert named(name).convert(record) == wanted
    assert record == before


@cases(
    ("tags", "entities"),
    [
        pytest.param("B-PER I-PER O B-LOC", [("PER", "a b"), ("LOC", "d")], id="iob2"),
        pytest.param("I-PER I-PER B-PER I-LOC", [("PER", "a b"), ("PER", "c"), ("LOC", "d")], id="iob1"),
        pytest.param("B-PER E-PER S-PER O", [("PER", "a b"), ("PER", "c")], id="bioes"),
        pytest.param("B-PER L-PER U-PER O", [("PER", "a b"), ("PER", "c")], id="bilou"),
        pytest.param("O I-PER O I-LOC", [("PER", "b"), ("LOC", "d")], id="inside-without-a-beginning"),
        pytest.param("B-PER I-LOC I-LOC O", [("PER", "a"), ("LOC", "b c")], id="inside-of-another-type"),
        pytest.param("E-PER I-PER O O", [("PER", "a"), ("PER", "b")], id="inside-after-an-end"),
        pytest.param("B-a_b I-a_b B-a-b I-a-b", [("a_b", "a b"), ("a-b", "c d")], id="marks-in-names"),
        pytest.param("B I O B", [("entity", "a b"), ("entity", "d")], id="without-types"),
        pytest.param("O O O O", [], id="none"),
    ],
)
def test_tags_are_read_as_entities(tags: str, entities: list[tuple[str, str]]) -> None:
    converted = named("bio").convert({"tokens": [*"abcd"], "text": "a b c d", "tags": tags.split()})
    assert [(event["event_type"], event["arguments"][0]["argument"]) for event in converted["events"]] == entities
    assert parse_gold({"id": "1", **converted}).events.violations == []


@cases(
    ("record", "field"),
    [
        pytest.param({"tokens": ["a", "b"], "tags": ["O"]}, "tags", id="a-tag-too-few"),
        pytest.param({"tokens": ["a"], "tags": ["O", "O"]}, "tags", id="a-tag-too-many"),
        pytest.param({"tokens": ["a"], "ner_tags": [3]}, "ner_tags[0]", id="numbers"),
        pytest.param({"tokens": ["a"], "tags": ["PER"]}, "tags[0]", id="no-mark"),
        pytest.param({"tokens": ["a"], "tags": [""]}, "tags[0]", id="empty"),
        pytest.param({"tokens": ["a", 1], "tags": ["O", "O"]}, "tokens[1]", id="a-token-that-is-no-text"),
        pytest.param({"triples": [["a", "r", "b"], ["a", "r"]]}, "triples[1]", id="a-pair"),
        pytest.param({"triples": [["a", "r", ""]]}, "triples[0][2]", id="an-empty-tail"),
        pytest.param({"triples": [["a", None, "b"]]}, "triples[0][1]", id="no-relation"),
        pytest.param(
            {"triples": [{"head": 1, "relation": "r", "tail": 2}]}, "triples[0].head", id="numbers-of-entities"
        ),
    ],
)
def test_malformed_tags_and_triples_are_errors_with_their_place(record: dict[str, Any], field: str) -> None:
    error = error_from(
        InputError, named("bio" if "tokens" in record else "triples").convert, {"id": "1", "text": "a r b", **record}
    )
    assert error.place.field == field


def test_a_record_without_tokens_among_tagged_ones_is_not_an_empty_one() -> None:
    with pytest.raises(InputError) as refused:
        named("bio").convert({"id": "1", "text": "a r b", "triples": [["a", "r", "b"]]})
    assert refused.value.place.field == "tokens"


def test_a_tag_that_continues_nothing_is_told_with_its_line(tmp_path: Path) -> None:
    records = [{"tokens": ["Ann"], "tags": ["B-PER"]}, {"tokens": ["a", "Bob"], "tags": ["O", "I-PER"]}]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, records)))
    conversion = convert_gold([tmp_path / "gold.jsonl"], io.BytesIO())
    assert conversion.lost == [f"{tmp_path / 'gold.jsonl'}:2: tags[1]: I-PER continues no entity: it begins one"]


@cases(
    "triple",
    [
        pytest.param(["Ann", "left", "Acme"], id="list"),
        pytest.param({"head": "Ann", "relation": "left", "tail": "Acme"}, id="head-relation-tail"),
        pytest.param({"subject": "Ann", "predicate": "left", "object": "Acme"}, id="subject-predicate-object"),
        pytest.param(
            {"type": "left", "head": {"text": "Ann"}, "tail": {"text": "Acme", "start": 9, "end": 13}},
            id="with-offsets",
        ),
    ],
)
def test_triples_are_read_in_any_usual_form(triple: Any) -> None:
    text = "Ann left Acme."
    head = {"role": "head", "argument": "Ann", "start": 0, "end": 3}
    tail = {"role": "tail", "argument": "Acme", "start": 9, "end": 13}
    for key in ("triples", "relations"):
        record = {"text": text, key: [triple]}
        assert recognize_dialect(record) == named("triples")
        assert named("triples").convert(record)["events"] == [{"event_type": "left", "arguments": [head, tail]}]


def test_our_own_form_is_no_dialect() -> None:
    assert recognize_dialect(OWN_RECORD) is None
    assert recognize_dialect({"id": "a", "title": "t", "text": "x", "events": []}) is None
    assert recognize_dialect({"id": "a", "response": "[]"}) is None
    assert recognize_dialect([1, 2]) is None
    assert recognize_dialect(None) is None
    assert find_dialect(OWN_FORM) is None


def test_a_document_without_events_stays() -> None:
    without = {**WIKIEVENTS, "event_mentions": [], "entity_mentions": []}
    assert named("wikievents").convert(without)["events"] == []
    assert named("rams").convert({**RAMS, "gold_evt_links": []})["events"][0]["arguments"] == []
    assert named("maven-arg").convert({**MAVEN_ARG, "events": [], "entities": []})["events"] == []
    empty = {"id": "fin2", "title": "无事", "text": "今日无事。"}
    assert recognize_dialect(empty) is named("duee-fin")
    assert named("duee-fin").convert(empty) == {"id": "fin2", "text": "无事\n今日无事。", "events": []}


def test_a_sentence_of_textee_has_its_window_for_an_id() -> None:
    window = {**copy.deepcopy(ONEIE), "wnd_id": "CNN_made_up_0", "text": "O ' Neil died ."}
    del window["sent_id"], window["sentence"]
    window["event_mentions"][0]["arguments"][0] |= {"start": 0, "end": 3}
    found = named("oneie").convert(window)
    assert (found["id"], found["text"]) == ("CNN_made_up_0", "O ' Neil died .")
    assert found["events"][0]["arguments"][0]["argument"] == "O ' Neil"


def test_tokens_that_are_not_in_the_text_make_the_text() -> None:
    other = {**WIKIEVENTS, "text": "An other text altogether."}
    found = named("wikievents").convert(other)
    assert found["text"] == " ".join(WIKIEVENTS["tokens"])
    assert found["events"][0]["arguments"][1]["argument"] == "U . S"


def test_an_argument_is_where_the_mention_is_that_it_names() -> None:
    elsewhere = copy.deepcopy(ONEIE)
    elsewhere["event_mentions"][0]["arguments"][0] |= {"start": 3, "end": 4}  # published loaders look at the mention
    assert named("oneie").convert(elsewhere)["events"][0]["arguments"][0]["argument"] == "O'Neil"
    del elsewhere["event_mentions"][0]["arguments"][0]["entity_id"]
    argument = named("oneie").convert(elsewhere)["events"][0]["arguments"][0]
    assert argument == {"role": "Victim", "argument": "O'Neil"}  # other words stand there, so that it has no offsets
    del elsewhere["event_mentions"][0]["arguments"][0]["text"]
    assert named("oneie").convert(elsewhere)["events"][0]["arguments"][0]["argument"] == "died"


def test_a_value_that_is_not_at_its_place_has_none() -> None:
    document = {**CHFINANN[1], "ann_mspan2dranges": {"甲公司": [[0, 1, 4], [1, 0, 3]], "10股": []}}
    first, second, *_ = named("chfinann").convert([7, document])["events"][0]["arguments"]
    assert first == {"role": "Pledger", "argument": "甲公司", "start": 10, "end": 13}
    assert second == {"role": "PledgedShares", "argument": "10股"}


MAVEN_ARG_TEST = {"id": "a", "title": "t", "tokens": [["It"]], "sentences": ["It"], "event_mentions": [], "TIMEX": []}


@cases(
    "record",
    [
        {**{key: MAVEN[key] for key in ("id", "title", "content")}, "candidates": []},
        MAVEN_ARG_TEST,
        {"id": "a", "document": "It .", "event_mentions": [], "entities": []},
    ],
)
def test_a_test_split_without_labels_is_known_and_refused(record: Any) -> None:
    assert recognize_dialect(record) is named("maven")
    error = error_from(InputError, named("maven").convert, record)
    assert (error.code, error.place.field) == ("gold.no_labels", "events")


def test_what_an_unknown_record_lacks_is_said() -> None:
    assert nearest_dialect_advice({"doc_key": "a", "sentences": [], "evt_triggers": []}) == (
        "it is most like rams, which also has gold_evt_links"
    )
    assert nearest_dialect_advice({"id": "a", "document": "x"}) == "it is most like maven-arg, which also has events"
    assert nearest_dialect_advice({"id": 1, "tokens": [], "doc_id": "", "event_mentions": []}) == (
        "is it wikievents? then --dialect wikievents"
    )
    assert nearest_dialect_advice({"sentence": "x", "label": "y"}) is None
    assert nearest_dialect_advice({"id": "a", "text": "x", "events": "none"}) is None
    problem = bad_id_error({"doc_key": "a", "sentences": [], "evt_triggers": []}, "gold", Place())
    assert "goldgate convert --help" in str(problem.expected)
    assert "gold_evt_links" in str(problem.advice)


def test_two_triggers_at_the_same_tokens_have_the_same_arguments() -> None:
    twice = {**RAMS, "evt_triggers": [*RAMS["evt_triggers"], [10, 10, [["conflict.attack", 1.0]]]]}
    first, second = named("rams").convert(twice)["events"]
    assert (first["arguments"], second["event_type"]) == (second["arguments"], "conflict.attack")


def test_exclusive_ends_are_told_from_inclusive_ones_by_the_first_record_with_a_trigger() -> None:
    without = {**OEE_CFC, "evt_triggers": [], "ent_spans": [], "gold_evt_links": []}
    single = {**OEE_CFC, "evt_triggers": [[2, 2, ["generalEvents"]]]}  # an empty span, if ends were exclusive
    cases: dict[str, tuple[list[Any], str]] = {
        "rams": ([RAMS], "rams"),
        "oee-cfc": ([OEE_CFC], "oee-cfc"),
        "none in the first": ([without, without, OEE_CFC], "oee-cfc"),
        "none, then rams": ([without, RAMS], "rams"),
        "none at all": ([without], "rams"),
        "types without probabilities, inclusive ends": ([single], "rams"),
    }
    for case, (records, name) in cases.items():
        assert recognize_dialect_of(records) is named(name), case


def test_ends_of_the_other_kind_get_the_dialect_that_has_them() -> None:
    last = {**RAMS, "gold_evt_links": [[[10, 10], [12, 14], "evt1arg1x"]]}
    empty = {**OEE_CFC, "gold_evt_links": [[[2, 4], [0, 0], "subject"]]}
    for name, other, record in (("rams", "oee-cfc", last), ("oee-cfc", "rams", empty)):
        assert f"--dialect {other}" in str(error_from(InputError, named(name).convert, record).advice), name


def test_an_entity_that_nobody_mentions_is_an_argument_without_a_name() -> None:
    found = named("maven-arg").convert({**MAVEN_ARG, "entities": []})["events"][0]["arguments"][0]
    assert found == {"role": "Location", "argument": None, "entity": "ENTITY_1"}


def test_docee_arguments_may_be_a_list_and_have_mentions() -> None:
    mentions = [{"start": 23, "end": 27, "text": "Tarn"}, {"start": 0, "end": 6, "text": "Friday"}]
    found = named("docee").convert([*DOCEE[:3], [{"type": "Date", "mention": mentions}]])["events"][0]["arguments"]
    assert found == [
        {"role": "Date", "argument": "Friday", "start": 0, "end": 6}
        | {"mentions": [{"text": "Friday", "start": 0, "end": 6}, {"text": "Tarn", "start": 23, "end": 27}]}
    ]


@cases(
    ("name", "record", "field"),
    [
        ("wikievents", {**WIKIEVENTS, "doc_id": ""}, "doc_id"),
        ("wikievents", {**WIKIEVENTS, "tokens": ["a", 1]}, "tokens[1]"),
        ("wikievents", {**WIKIEVENTS, "event_mentions": [{"event_type": "A", "trigger": {}}]}, "trigger.text"),
        ("wikievents", {**WIKIEVENTS, "event_mentions": {}}, "event_mentions"),
        ("rams", {**RAMS, "evt_triggers": [[10, 99, [["a", 1.0]]]]}, "evt_triggers[0]"),
        ("rams", {**RAMS, "evt_triggers": [[10, 10, []]]}, "evt_triggers[0][2]"),
        ("rams", {**RAMS, "gold_evt_links": [[[9, 9], [1, 1], "evt1arg1x"]]}, "gold_evt_links[0][0]"),
        ("rams", {**RAMS, "gold_evt_links": [[[10, 10], [3, 2], "evt1arg1x"]]}, "gold_evt_links[0][1]"),
        ("maven-arg", {**MAVEN_ARG, "document": None}, "document"),
        ("maven-arg", {**MAVEN_ARG, "events": [{"mention": []}]}, "events[0].type"),
        ("maven-arg", [], ""),
        ("docee", [1, 2], ""),
        ("chfinann", [1, 2, 3], ""),
        ("chfinann", [None, CHFINANN[1]], "[0]"),
        ("chfinann", ["a", {"sentences": []}], "recguid_eventname_eventdict_list"),
        ("chfinann", ["a", {**CHFINANN[1], "ann_mspan2dranges": {"甲公司": [[9, 0, 3]]}}], "甲公司[0]"),
        ("docee", [*DOCEE[:3], "{"], "[3]"),
        ("duee", [], ""),
        ("duee-fin", "x", ""),
    ],
)
def test_a_damaged_record_is_an_error_with_its_field(name: str, record: Any, field: str) -> None:
    error = error_from(InputError, named(name).convert, record)
    assert error.code == "gold.not_in_dialect"
    assert (error.place.field or "").endswith(field)


@cases("name", SAMPLES)
def test_no_damage_raises_anything_else(name: str) -> None:
    for damaged in damages(SAMPLES[name][0]):
        try:
            json.dumps(named(name).convert(damaged))
        except InputError as error:
            assert error.code in ("gold.not_in_dialect", "gold.no_labels")  # noqa: PT017  # most damages are no error


def test_a_file_is_converted_line_by_line_and_hashed_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps(WIKIEVENTS) + "\n\n" + json.dumps({**WIKIEVENTS, "doc_id": "b"}) + "\n")
    file = GoldOpener()(path, "gold")
    assert file.form == "wikievents"
    assert [record["id"] for record in records(file)] == ["wiki_made_up_1", "b"]
    assert file.plain.read_some(0, 1 << 20).count(b"\n") == 3  # the blank line is there: the second is on line 3
    assert file.stored.sha256() != file.plain.sha256()
    file.close()


def test_documents_without_ids_are_numbered_through_all_files(tmp_path: Path) -> None:
    opener = GoldOpener()
    found = []
    for name in ("train.json", "dev.json"):
        (tmp_path / name).write_text(json.dumps([DOCEE, DOCEE], indent=1))
        file = opener(tmp_path / name, "gold")
        found += [record["id"] for record in records(file)]
        file.close()
    assert found == ["1", "2", "3", "4"]


@pytest.mark.parametrize("form", ["array", "indented", "lines", "packed", "marked"])
@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_may_be_an_array_or_lines_and_have_a_mark(tmp_path: Path, name: str, form: str) -> None:
    both = [SAMPLES[name][0]] * 2
    text = {
        "array": json.dumps(both),
        "indented": json.dumps(both, indent=2, ensure_ascii=False),
    }.get(form, "".join(json.dumps(each, ensure_ascii=False) + "\r\n" for each in both))
    path = tmp_path / "gold.json"
    data = text.encode("utf-8-sig" if form == "marked" else "utf-8")
    path.write_bytes(gzip.compress(data) if form == "packed" else data)
    file = GoldOpener()(path, "gold")
    assert file.form == name
    assert [record["events"] for record in records(file)] == [SAMPLES[name][1]["events"]] * 2
    file.close()


@pytest.mark.parametrize("as_lines", [False, True])
def test_a_title_of_docee_may_be_nan(tmp_path: Path, as_lines: bool) -> None:
    rows = [[float("nan"), *DOCEE[1:]], DOCEE, [float("nan"), "It rained.", "Floods", float("nan")]]
    path = tmp_path / "train.json"
    path.write_text("\n".join(map(json.dumps, rows)) if as_lines else json.dumps(rows))
    file = GoldOpener()(path, "gold")
    assert file.form == "docee"
    assert [len(record["events"][0]["arguments"]) for record in records(file)] == [2, 2, 0]
    file.close()


def test_a_dialect_can_be_named_for_records_that_do_not_show_it(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    bare = {key: value for key, value in DUEE_FIN.items() if key != "event_list"} | {"events": None}
    path.write_text(json.dumps(bare))
    assert recognize_dialect(bare) is None
    file = GoldOpener("duee-fin")(path, "gold")
    assert records(file)[0]["events"] == []
    file.close()


def test_a_record_that_cannot_be_converted_is_an_error_with_its_line_or_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps(WIKIEVENTS) + "\n" + json.dumps({**WIKIEVENTS, "doc_id": None}) + "\nnot json\n")
    refused_with = error_from(InputError, GoldOpener(), path, "gold")
    assert (refused_with.place.line, refused_with.place.field) == (2, "doc_id")
    file = GoldOpener(skip_unconverted=True)(path, "gold")
    assert [(line, error.code) for line, error in file.unconverted] == [
        (2, "gold.not_in_dialect"),
        (3, "gold.not_json"),
    ]
    file.close()


def named(name: str) -> Dialect:
    found = find_dialect(name)
    assert found is not None
    return found


def records(file: RecordFile) -> list[dict[str, Any]]:
    return [decode_json(data) for _, data in iterate_records(file)]


def damages(value: Any) -> Iterator[Any]:
    """The value with each of its parts in turn replaced by something else, or left out."""
    yield from (None, 7, "", "word", [], {}, [[]], True)
    if isinstance(value, dict):
        for key in value:
            yield {name: item for name, item in value.items() if name != key}
            for damaged in damages(value[key]):
                yield {**value, key: damaged}
    elif isinstance(value, list) and value:
        for damaged in damages(value[0]):
            yield [damaged, *value[1:]]
