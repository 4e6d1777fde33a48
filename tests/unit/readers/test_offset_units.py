"""Offsets of event mentions that may count tokens or characters: the words of the mentions tell which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.errors import InputError
from goldgate.readers.dialects import find_dialect
from goldgate.readers.dialects.dialect import choose_reading
from tests.cases import cases

Json = dict[str, Any]
SETTINGS = {"metrics": {"schema": {"mode": "syntax_only"}, "profile": "textee"}}
# As characters, "Bob" is [0, 3), "met" [4, 7) and "Ann" [8, 11); so many tokens there are, too.
TEXT = "Bob met Ann in the old town by the sea on a day of May."
TOKENS = TEXT.replace(".", " .").split()
PLACES = {
    "characters": {"Bob": (0, 3), "met": (4, 7), "Ann": (8, 11)},
    "tokens": {"Bob": (0, 1), "met": (1, 2), "Ann": (2, 3)},
}


def document(number: int, unit: str, wrong: str = "", keys: tuple[str, ...] = ("sent_id", "sentence")) -> Json:
    """Bob meets Ann; `wrong` is a word whose offsets are those of other words."""

    def mention(word: str) -> Json:
        start, end = PLACES[unit][word]
        shift = 3 if word == wrong else 0
        return {"text": word, "start": start + shift, "end": end + shift}

    arguments = [
        {"entity_id": f"{number}-{word}", "role": role, "text": word} for word, role in (("Bob", "A"), ("Ann", "B"))
    ]
    return {
        keys[0]: f"d{number}",
        keys[1]: TEXT,
        "tokens": TOKENS,
        "entity_mentions": [{"id": f"{number}-{word}", **mention(word)} for word in ("Bob", "Ann")],
        "event_mentions": [{"event_type": "Meet", "trigger": mention("met"), "arguments": arguments}],
    }


ANSWER = [{"event_type": "Meet", "arguments": [{"role": "A", "argument": "Bob"}, {"role": "B", "argument": "Ann"}]}]


def write(path: Path, records: list[Json]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def judge_files(
    folder: Path, *golds: list[Json], predictions: list[Json] | None = None, workers: int = 1
) -> goldgate.Evaluation:
    files = [write(folder / f"gold{number}.jsonl", records) for number, records in enumerate(golds)]
    ids = [record.get("sent_id", record.get("doc_id")) for records in golds for record in records]
    answers = [{"id": identity, "events": ANSWER} for identity in ids] if predictions is None else predictions
    predicted = write(folder / "predictions.jsonl", answers)
    return goldgate.evaluate_files(files, predicted, None, SETTINGS, workers=workers)


def f1(evaluation: goldgate.Evaluation, name: str = "strict_f1") -> tuple[int, int]:
    metric = evaluation.report["metrics"]["papers" if name.startswith("textee") else "main"][name]
    return metric["numerator"], metric["denominator"]


@cases("unit", ["characters", "tokens"])
@cases("keys", [("sent_id", "sentence"), ("doc_id", "text")])
def test_right_answers_are_right_whatever_offsets_count(unit: str, keys: tuple[str, str], tmp_path: Path) -> None:
    gold = [document(number, unit, keys=keys) for number in range(4)]
    evaluation = judge_files(tmp_path, gold)
    assert f1(evaluation) == (16, 16)  # 2 of 2 arguments in each of 4 documents
    form = "wikievents" if keys[0] == "doc_id" else "oneie"
    form += ".characters" if unit == "characters" else ""
    assert evaluation.report["inputs"]["gold"][0]["form"] == form
    assert f"|dialect:{form}" in evaluation.report["signature"]
    # Predictions of the same form are read alike, and have the same offsets.
    alike = judge_files(tmp_path, gold, predictions=gold)
    assert (f1(alike), f1(alike, "textee_ac_plus_f1")) == ((16, 16), (16, 16))


def test_few_mentions_at_other_words_keep_their_words_and_are_listed(tmp_path: Path) -> None:
    gold = [document(number, "characters", wrong="Bob" if number == 2 else "") for number in range(4)]
    whole = judge_files(tmp_path, gold)
    assert f1(whole) == (16, 16)
    (finding,) = [each for each in whole.report["findings"] if each["code"] == "wrong_offsets"]
    assert (finding["id"], finding["pointer"], finding["severity"]) == ("d2", "entity_mentions[0]", "warning")
    assert finding["message"] == 'the text does not have the string "Bob" at [3, 6): it is read without offsets'
    for other in (
        judge_files(tmp_path, gold[::-1]),
        judge_files(tmp_path, gold[:1], gold[1:]),
        judge_files(tmp_path, gold, workers=2),
        goldgate.evaluate(gold, [{"id": f"d{number}", "events": ANSWER} for number in range(4)], protocol=SETTINGS),
    ):
        assert other.report["metrics"] == whole.report["metrics"]
        assert other.report["findings"] == whole.report["findings"]


@pytest.mark.parametrize("unit", ["characters", "tokens"])
def test_file_in_which_most_mentions_are_at_other_words_is_an_error(unit: str, tmp_path: Path) -> None:
    gold = [document(number, unit) for number in range(2)]
    for record in gold:
        for mention in (*record["entity_mentions"], record["event_mentions"][0]["trigger"]):
            mention["start"], mention["end"] = mention["start"] + 4, mention["end"] + 4
    with pytest.raises(InputError, match="other words for 6 of 6 mentions") as refused:
        judge_files(tmp_path, gold)
    assert (refused.value.code, refused.value.place.line) == ("gold.wrong_offsets", 1)
    assert refused.value.place.field == "entity_mentions[0]"


def test_offsets_count_tokens_where_nothing_can_be_compared() -> None:
    record = document(1, "tokens")
    for mention in (*record["entity_mentions"], record["event_mentions"][0]["trigger"]):
        del mention["text"]
    dialect = find_dialect("oneie")
    assert dialect is not None
    (event,) = choose_reading(dialect, [(1, record)]).dialect.convert(record)["events"]
    assert (event["trigger"], [argument["argument"] for argument in event["arguments"]]) == ("met", ["Bob", "Ann"])


def test_blanks_and_marks_that_tokenizers_rewrite_are_no_other_words() -> None:
    record = document(1, "tokens")
    record["tokens"] = ["Bob", "``", "met", "''", *TOKENS[2:]]
    record["event_mentions"][0]["trigger"] = {"text": '"met\n"', "start": 1, "end": 4}
    record["entity_mentions"][1] |= {"start": 4, "end": 5}
    dialect = find_dialect("oneie")
    assert dialect is not None
    reading = choose_reading(dialect, [(1, record)])
    assert not [*reading.misplaced(record)]
    assert reading.dialect.convert(record)["events"][0]["trigger"] == "`` met ''"
