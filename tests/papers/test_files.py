"""The published counts from files as the published programs read and write them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate import Evaluation
from goldgate.errors import InputError
from tests.cases import error_from

from . import published
from .made import Json, count, settings, triple

WORDS = ("Bob", "bombed", "Rome", ",", "and", "U.S.", ".", "'s")
ROLES = {"T": ("A", "B", "C"), "U": ("A", "D")}


def evaluate(folder: Path, gold: list[Json], predictions: list[Json], profile: str = "textee") -> Evaluation:
    for name, records in (("gold.jsonl", gold), ("predictions.jsonl", predictions)):
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (folder / name).write_text("".join(lines), encoding="utf-8")
    (folder / "protocol.yaml").write_text(json.dumps(settings(profile)), encoding="utf-8")
    return goldgate.evaluate_files(folder / "gold.jsonl", folder / "predictions.jsonl", None, folder / "protocol.yaml")


def prepared(window: Json, tokens: list[str], text: str | None) -> Json:
    """A window as TextEE prepares data: arguments name entity mentions, which have the tokens."""
    spans = list(dict.fromkeys((a[0], a[1]) for event in window["events"] for a in event["arguments"]))
    entities = {span: f"{window['wnd_id']}-{number}" for number, span in enumerate(spans)}
    mentions = [
        {
            "event_type": event["trigger"][2],
            "trigger": _mention(event["trigger"], tokens),
            "arguments": [{"entity_id": entities[a[0], a[1]], "role": a[2], "text": "-"} for a in event["arguments"]],
        }
        for event in window["events"]
    ]
    return {
        "doc_id": window["doc_id"],
        "wnd_id": window["wnd_id"],
        "tokens": tokens,
        **({} if text is None else {"text": text}),
        "entity_mentions": [{"id": entities[span], **_mention(span, tokens)} for span in spans],
        "event_mentions": mentions,
    }


def _mention(span: Any, tokens: list[str]) -> Json:
    return {"start": span[0], "end": span[1], "text": " ".join(tokens[span[0] : span[1]])}


def _random_window(choose: random.Random, number: int, size: int) -> Json:
    def placed() -> list[int]:
        start = choose.randrange(size)
        return [start, choose.randrange(start + 1, min(size, start + 2) + 1)]

    events = [
        {
            "trigger": [*placed(), choose.choice(("Attack", "Move"))],
            "arguments": [[*placed(), choose.choice("AB")] for _ in range(choose.randrange(4))],
        }
        for _ in range(choose.randrange(4))
    ]
    return {"doc_id": "d", "wnd_id": f"d-{number}", "events": events * choose.choice((1, 1, 2))}


def _as_written(form: str, window: Json, tokens: list[str]) -> list[Json]:
    """A predicted window in one of the ways in which TextEE has it."""
    place = {"doc_id": window["doc_id"], "wnd_id": window["wnd_id"]}
    if form == "end to end":
        return [place | {"tokens": tokens, "events": window["events"]}]
    if form == "with words":
        events = [
            {"trigger": [*e["trigger"], "w"], "arguments": [[*a, "w"] for a in e["arguments"]]}
            for e in window["events"]
        ]
        return [place | {"events": events}]
    if form == "as gold":
        return [prepared(window, tokens, None)]  # without the text: gold has it
    no_role = [0, 1, None]
    return [place | {"trigger": e["trigger"], "arguments": [*e["arguments"], no_role]} for e in window["events"]]


@pytest.mark.parametrize("form", ["end to end", "with words", "as gold", "an event a record"])
@pytest.mark.parametrize("seed", range(6))
def test_textee_counts_from_its_own_files(form: str, seed: int, tmp_path: Path) -> None:
    choose = random.Random(f"{form} {seed}")
    golds, predictions, gold_file, predicted_file = [], [], [], []
    for number in range(6):
        tokens = [choose.choice(WORDS) for _ in range(choose.randrange(2, 8))]
        gold, predicted = (_random_window(choose, number, len(tokens)) for _ in range(2))
        golds.append(gold)
        predictions.append(predicted)
        # The text has its tokens in order, with blanks or without, or is another one.
        text = choose.choice((" ".join(tokens), "".join(tokens), "?"))
        gold_file.append(prepared(gold, tokens, text))
        predicted_file += _as_written(form, predicted, tokens)
    choose.shuffle(predicted_file)
    found = evaluate(tmp_path, gold_file, predicted_file)
    expected = published.textee(predictions, golds)
    assert {family: triple(found, f"textee_{family}") for family in expected} == expected
    assert count(found, "textee_by_text") == 0
    assert f"|layout:{'oneie' if form == 'as gold' else 'textee'}" in found.report["signature"]


TOKENS = ["Bob", "bombed", "Rome"]
GOLD = prepared(
    {"doc_id": "d", "wnd_id": "d-0", "events": [{"trigger": [1, 2, "Attack"], "arguments": [[2, 3, "Place"]]}]},
    TOKENS,
    "Bob bombed Rome",
)


def test_words_of_predicted_tokens_are_those_of_gold(tmp_path: Path) -> None:
    found = evaluate(
        tmp_path, [GOLD], [{"wnd_id": "d-0", "events": [{"trigger": [1, 2, "Attack"], "arguments": [[2, 3, "Place"]]}]}]
    )
    assert triple(found, "strict") == (1, 1, 1)
    assert triple(found, "textee_ac_plus") == (1, 1, 1)


def test_detection_alone(tmp_path: Path) -> None:
    found = evaluate(tmp_path, [GOLD], [{"wnd_id": "d-0", "triggers": [[1, 2, "Attack"], [0, 1, "Move"]]}])
    assert (triple(found, "textee_tc"), triple(found, "textee_ac")) == ((1, 2, 1), (0, 0, 1))


def test_gold_without_tokens_has_offsets_as_they_are(tmp_path: Path) -> None:
    gold = {
        "id": "d-0",
        "events": [{"event_type": "Attack", "trigger": "bombed", "start": 1, "end": 2, "arguments": []}],
    }
    found = evaluate(
        tmp_path, [gold], [{"wnd_id": "d-0", "events": [{"trigger": [1, 2, "Attack", "bombed"], "arguments": []}]}]
    )
    assert (triple(found, "textee_tc"), count(found, "textee_by_text")) == ((1, 1, 1), 0)


@pytest.mark.parametrize(
    ("prediction", "code", "field"),
    [
        ({"triggers": [[2, 4, "Attack"]]}, "predictions.no_such_tokens", "events[0]"),
        ({"triggers": [[-1, -1, "Attack"]]}, "predictions.not_in_layout", "triggers[0]"),
        ({"triggers": [[1, 2]]}, "predictions.not_in_layout", "triggers[0]"),
        ({"events": [{"trigger": [1, 2, "Attack"]}]}, "predictions.not_in_layout", "events[0].arguments"),
        ({"trigger": [1, 2, "Attack"], "arguments": [["2", 3, "A"]]}, "predictions.not_in_layout", "arguments[0]"),
    ],
)
def test_what_cannot_be_placed_is_an_error_with_its_line(
    prediction: Json, code: str, field: str, tmp_path: Path
) -> None:
    usual: Json = {"wnd_id": "d-1", "triggers": []}
    error = error_from(
        InputError, evaluate, tmp_path, [GOLD, GOLD | {"wnd_id": "d-1"}], [usual, {"wnd_id": "d-0", **prediction}]
    )
    assert (error.code, error.place.line, error.place.field) == (code, 2, field)


def test_a_window_that_gold_does_not_have_is_an_unknown_id(tmp_path: Path) -> None:
    error = error_from(InputError, evaluate, tmp_path, [GOLD], [{"wnd_id": "d-9", "triggers": [[5, 6, "Attack"]]}])
    assert error.code == "predictions.unknown_id"


def _table(choose: random.Random, *, empty: bool) -> dict[str, list[published.Row]]:
    """Rows of each event type; in a prediction one may be empty. Blanks and case make another value."""
    found: dict[str, list[published.Row]] = {}
    for event_type, roles in ROLES.items():
        rows = []
        for _ in range(choose.randrange(4)):
            row = tuple(choose.choice(("x", "x", "y", "X", " x")) if choose.random() < 0.6 else None for _ in roles)
            if empty or any(row):
                rows += [row] * choose.choice((1, 1, 2))
        found[event_type] = rows
    return found


def _record(number: int, table: dict[str, list[published.Row]]) -> Json:
    events = [
        {
            "event_type": event_type,
            "arguments": [
                {"role": role, "argument": cell}
                for role, cell in zip(ROLES[event_type], row, strict=True)
                if cell is not None
            ],
        }
        for event_type, rows in table.items()
        for row in rows
    ]
    return {"id": str(number), "events": events}


@pytest.mark.parametrize("seed", range(20))
def test_doc2edag_counts_by_type_role_and_kind_of_document(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    pairs = [(_table(choose, empty=True), _table(choose, empty=False)) for _ in range(6)]
    predictions, golds = ([_record(number, pair[side]) for number, pair in enumerate(pairs)] for side in (0, 1))
    found = evaluate(tmp_path, golds, predictions, "doc2edag")
    expected: dict[tuple[str, ...], list[int]] = {}
    key: tuple[str, ...]
    for predicted, gold in pairs:
        kind = "multi" if sum(map(len, gold.values())) > 1 else "single"
        for event_type, roles in ROLES.items():
            by_role = published.doc2edag_roles(predicted[event_type], gold[event_type], len(roles))
            for role, counts in zip(roles, by_role, strict=True):
                for key in ((), (kind,), (event_type,), (event_type, kind), (event_type, role, "role")):
                    expected[key] = [a + b for a, b in zip(expected.get(key, (0, 0, 0)), counts, strict=True)]
    for key, (tp, fp, fn) in expected.items():
        assert _counted(found, *key) == (tp, tp + fp, tp + fn), key


def _as_chfinann(number: int, table: dict[str, list[published.Row]]) -> list[Any]:
    events = [
        [place, event_type, dict(zip(ROLES[event_type], row, strict=True))]
        for event_type, rows in table.items()
        for place, row in enumerate(rows)
    ]
    document = {"sentences": ["x y X", "z"], "ann_mspan2dranges": {}, "recguid_eventname_eventdict_list": events}
    return [str(number), document]


@pytest.mark.parametrize("seed", range(5))
def test_doc2edag_counts_from_its_own_files(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    pairs = [(_table(choose, empty=True), _table(choose, empty=False)) for _ in range(6)]
    for name, side in (("predictions.json", 0), ("gold.json", 1)):
        documents = [_as_chfinann(number, pair[side]) for number, pair in enumerate(pairs)]
        (tmp_path / name).write_text(json.dumps(documents), encoding="utf-8")
    found = goldgate.evaluate_files(tmp_path / "gold.json", tmp_path / "predictions.json", None, settings("doc2edag"))
    expected = [published.doc2edag(ours[kind], theirs[kind]) for ours, theirs in pairs for kind in ROLES]
    tp, fp, fn = (sum(counts[place] for counts in expected) for place in range(3))
    assert triple(found, "doc2edag") == (tp, tp + fp, tp + fn)


def test_every_trigger_of_a_predicted_event_counts_where_it_has_several(tmp_path: Path) -> None:
    mentions = [{"sent_id": 0, "offset": [place, place + 1], "trigger_word": "-", "id": str(place)} for place in (0, 2)]
    document = {
        "id": "m",
        "title": "made up",
        "content": [{"sentence": "war and fight", "tokens": ["war", "and", "fight"]}],
        "events": [{"id": "e", "type": "Attack", "type_id": 1, "mention": mentions}],
    }
    assert triple(evaluate(tmp_path, [document], [document]), "textee_tc") == (2, 2, 2)


def _counted(evaluation: Evaluation, *key: str) -> tuple[int, int, int]:
    """Hits, predicted and gold, of all, of a kind of document, of an event type or of a role."""
    metrics: Json = evaluation.report["metrics"]["papers"]
    family = next((f"doc2edag_{name}" for name in key if name in ("single", "multi", "role")), "doc2edag")
    if key and key[0] in ROLES:
        entry = next((e for e in evaluation.report["breakdown"]["papers"] if e["event_type"] == key[0]), None)
        if entry is not None and family == "doc2edag_role":
            entry = next((each for each in entry["roles"] if each["role"] == key[1]), None)
        if entry is None:
            return 0, 0, 0
        metrics = entry["metrics"]
    precision, recall = metrics[f"{family}_precision"], metrics[f"{family}_recall"]
    return precision["numerator"], precision["denominator"], recall["denominator"]
