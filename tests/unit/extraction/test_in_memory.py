"""From Python: chat messages, many responses at once, records, data frames, and errors that say what was expected."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.core.tally import Tally
from goldgate.errors import GoldgateError, InputError
from goldgate.suites.extraction.settings import CotSettings
from tests.cases import cases

from ..helpers import SCHEMA, Json, answer, event, gold, judge, score, scorer

SUE = event("Sue", ("plaintiff", "Bob"))
GOLD = gold(SUE, text="Bob sues", identity="a")
GATE = {"gates": {"strict_f1": {"min": 1}}}
RIGHT, WRONG = answer(SUE), answer(event("Sue", ("plaintiff", "Ann")))


def assistant(content: Any, **more: Any) -> Json:
    return {"role": "assistant", "content": content, **more}


@cases(
    "messages",
    [
        pytest.param([assistant(RIGHT)], id="one"),
        pytest.param(assistant(RIGHT), id="by-itself"),
        pytest.param((assistant(RIGHT),), id="a-tuple"),
        pytest.param([{"role": "user", "content": "?"}, assistant(WRONG), assistant(RIGHT)], id="the-last"),
        pytest.param([assistant(RIGHT), {"role": "user", "content": "thanks"}], id="the-last-of-the-assistant"),
        pytest.param(
            [assistant([{"type": "text", "text": RIGHT[:9]}, {"type": "text", "text": RIGHT[9:]}])], id="parts"
        ),
        pytest.param([assistant([RIGHT])], id="text-parts"),
        pytest.param(
            [assistant([{"type": "thinking", "thinking": WRONG}, {"type": "text", "text": RIGHT}])], id="a-thought-part"
        ),
        pytest.param([assistant(RIGHT, reasoning_content=WRONG)], id="reasoning-is-not-the-answer"),
        pytest.param(
            [assistant(None, tool_calls=[{"function": {"name": "f", "arguments": {"events": [SUE]}}}])], id="tool-call"
        ),
    ],
)
def test_chat_messages_are_scored_as_the_text_of_the_last_assistant_message(messages: Any) -> None:
    assert scorer().score(messages, GOLD)["strict_f1"] == 1.0


@cases("content", ["", None, []])
def test_an_assistant_that_wrote_nothing_was_read_and_found_wanting(content: Any) -> None:
    scored = scorer().score([assistant(content)], GOLD)
    assert scored["strict_f1"] == 0.0
    assert scored.record["parse"]["status"] == "error"


@cases(
    ("messages", "said"),
    [
        ([{"role": "user", "content": "?"}], "role assistant; the roles are user"),
        ([{"role": "assistant", "text": RIGHT}], "no content; its keys are role, text"),
        ([assistant(7)], "not int"),
        ([assistant([7])], "not int"),
    ],
)
def test_chat_messages_without_a_text_are_refused(messages: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        scorer().score(messages, GOLD)


def test_arguments_with_roles_are_not_chat_messages() -> None:
    scored = scorer().score([{"role": "plaintiff", "argument": "Bob"}], GOLD)
    assert scored.record["parse"]["method"] == "structured"
    assert [found["violation"] for found in scored.record["violations"]] == ["event_type_invalid", "arguments_not_list"]


def test_reasoning_beside_the_content_is_its_thought() -> None:
    settings: Json = {"schema": SCHEMA, "cot": CotSettings(enabled=True)}
    beside: Any = [assistant(RIGHT, reasoning_content="Sue: the plaintiff is Bob")]
    inside = f"<think>Sue: the plaintiff is Bob</think>{RIGHT}"
    assert score(beside, GOLD, **settings)["cot_faithfulness"] == 1.0
    assert score(beside, GOLD, **settings).record["cot"] == score(inside, GOLD, **settings).record["cot"]
    without: Any = [assistant(RIGHT)]
    assert score(without, GOLD, **settings)["cot_faithfulness"] is None


def test_gold_as_text_is_an_error_that_says_so() -> None:
    with pytest.raises(InputError) as caught:
        scorer().score(RIGHT, '{"id": "a", "events": []}')  # type: ignore[arg-type]  # what a caller may try
    assert caught.value.code == "gold.wrong_type"
    assert "not text" in str(caught.value)
    assert "json.loads" in str(caught.value)
    with pytest.raises(InputError, match="object with events"):
        goldgate.parse_gold([SUE])  # type: ignore[arg-type]


def test_null_events_beside_an_event_list_say_nothing() -> None:
    both = {"id": "a", "text": "Bob sues", "events": None, "event_list": [SUE]}
    assert scorer().score(RIGHT, both)["strict_f1"] == 1.0
    assert judge([GOLD], [{"id": "a", "events": None, "event_list": [SUE]}])["strict_f1"] == 1.0
    nulls: list[Json] = [{"events": None}, {"events": None, "event_list": None}]
    for broken in [*nulls, {"events": None, "event_list": {}}]:
        with pytest.raises(InputError):
            scorer().score(RIGHT, {"id": "a", **broken})
    for missing in nulls:
        assert judge([GOLD], [{"id": "a", **missing}])["missing_predictions"] == 1
    with pytest.raises(InputError):
        judge([GOLD], [{"id": "a", "events": None, "event_list": {}}])


def test_a_scorer_that_was_pickled_scores_the_same() -> None:
    first = scorer(SCHEMA, cot=CotSettings(enabled=True), relaxed="span_iou")
    again = pickle.loads(pickle.dumps(first))
    for response in (RIGHT, WRONG, "no idea", f"<think>Sue</think>{RIGHT}"):
        assert again.score(response, GOLD).record == first.score(response, GOLD).record
        assert again.score(response, GOLD).tally == first.score(response, GOLD).tally
    kept = pickle.loads(pickle.dumps(first.score(RIGHT, GOLD)))
    assert kept["strict_f1"] == 1.0


def test_many_responses_are_scored_one_for_one() -> None:
    responses = [RIGHT, [assistant(WRONG)], None]
    scores = scorer().score_many(responses, [GOLD, goldgate.parse_gold(GOLD), GOLD])
    assert [each["strict_f1"] for each in scores] == [1.0, 0.0, 0.0]
    assert scorer().score_many(iter([RIGHT]), iter([GOLD]))[0]["strict_f1"] == 1.0


@cases(
    ("responses", "golds", "error", "said"),
    [
        ([RIGHT], [GOLD, GOLD], ValueError, "1 responses, 2 golds"),
        (RIGHT, [GOLD], TypeError, "responses is a list"),
        ([RIGHT], GOLD, TypeError, "golds is a list"),
        (None, [GOLD], TypeError, "not NoneType"),
        ([RIGHT, 7], [GOLD, GOLD], TypeError, "response 2: .*not int"),
        ([RIGHT, RIGHT], [GOLD, "x"], InputError, "gold record 2"),
    ],
)
def test_many_responses_with_a_mistake_say_which(responses: Any, golds: Any, error: type, said: str) -> None:
    with pytest.raises(error, match=said) as caught:
        scorer().score_many(responses, golds)
    if isinstance(caught.value, GoldgateError):
        assert said in str(caught.value)


def test_records_of_the_samples_are_kept_where_they_are_asked_for() -> None:
    golds = [GOLD, gold(identity="b")]
    kept = goldgate.evaluate(golds, [{"id": "a", "response": RIGHT}], SCHEMA, records=True)
    assert kept.samples is not None
    assert [sample["id"] for sample in kept.samples] == ["a", "b"]
    assert kept.samples[0] == goldgate.load_scorer(SCHEMA).score(RIGHT, GOLD).record
    plain = goldgate.evaluate(golds, [{"id": "a", "response": RIGHT}], SCHEMA)
    assert plain.samples is None
    assert plain.report == kept.report


@cases(
    ("golds", "said"),
    [
        ("gold.jsonl", "evaluate_files takes paths"),
        (Path("gold.jsonl"), "evaluate_files takes paths"),
        (GOLD, "put it into a list"),
        (None, "found:    null"),
        (7, "the number 7"),
    ],
)
def test_what_holds_no_records_is_refused(golds: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        judge(golds, [])
    assert caught.value.code == "gold.wrong_type"
    assert said in str(caught.value)


@cases(("schema", "protocol"), [([SCHEMA], None), (7, None), (SCHEMA, ["x"]), (SCHEMA, 7)])
def test_what_is_no_schema_and_no_protocol_is_refused(schema: Any, protocol: Any) -> None:
    with pytest.raises(GoldgateError):
        goldgate.load_scorer(schema, protocol)


def test_unknown_metric_says_which_there_are() -> None:
    evaluation = judge([GOLD], [])
    for ask in (
        lambda: evaluation["strictF1"],
        lambda: evaluation.metrics["strictF1"],
        lambda: scorer().score(RIGHT, GOLD)["strictF1"],
        lambda: scorer().metrics(Tally())["strictF1"],
    ):
        with pytest.raises(KeyError) as caught:
            ask()
        said = str(caught.value)
        assert "there is no metric 'strictF1'" in said
        assert "did you mean strict_f1?" in said
        assert "schema_compliance_rate" in said
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == said


def test_what_is_printed_is_short() -> None:
    evaluation = goldgate.evaluate(
        [GOLD], [{"id": "a", "response": RIGHT}], SCHEMA, {"gates": {"strict_f1": {"min": 1}}}
    )
    assert str(evaluation) == "<Evaluation: extraction PASS; strict_f1 1.0000>"
    without_gates = repr(judge([GOLD], []))
    assert without_gates.startswith("<Evaluation: extraction NO_GATES; strict_precision n/a, ")
    assert "…" in without_gates
    one = scorer(SCHEMA)
    assert repr(one) == "<Scorer: metrics 2.0, 3 event types>"
    assert repr(scorer()) == "<Scorer: metrics 2.0, no event schema>"
    scored = one.score(RIGHT, GOLD)
    assert repr(scored) == "<Score of a: strict_f1 1.0000, relaxed_f1 1.0000, type_f1 1.0000, parse raw>"
    assert repr(one.score(None, GOLD)).endswith("no answer>")
    assert len(repr(scored.tally)) < 80


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_say_what_to_install(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """tests/with_tools has those of libraries that are installed."""
    monkeypatch.setitem(sys.modules, library, None)  # as if it were not installed
    evaluation = goldgate.evaluate([GOLD], [], SCHEMA, records=True, allow_empty=True)
    for ask in (evaluation.to_dataframe, evaluation.samples_to_dataframe):
        with pytest.raises(ImportError, match=f"pip install {library}"):
            ask(library)
        with pytest.raises(ValueError, match="pandas, polars"):
            ask("arrow")  # type: ignore[arg-type]  # that is the test
    with pytest.raises(ValueError, match="records=True"):
        judge([GOLD], []).samples_to_dataframe()


def test_files_keep_their_records_where_asked(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(json.dumps(GOLD) + "\n")
    (tmp_path / "predictions.jsonl").write_text(json.dumps({"id": "a", "response": RIGHT}) + "\n")
    files = tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl"
    samples = goldgate.evaluate([GOLD], [{"id": "a", "response": RIGHT}], SCHEMA, records=True).samples
    for workers in (1, 2):
        kept = goldgate.evaluate_files(*files, SCHEMA, records=True, workers=workers).samples
        assert kept == json.loads(json.dumps(samples)), workers
    assert goldgate.evaluate_files(*files, SCHEMA, records=False).samples is None
    with pytest.raises(TypeError, match="records is True, or a file"):
        goldgate.evaluate_files(*files, SCHEMA, records="samples.jsonl")  # type: ignore[arg-type]


def test_evaluate_and_score_take_the_same_forms() -> None:
    responses: dict[str, Any] = {
        "text": RIGHT,
        "chat messages": [assistant(RIGHT)],
        "one message": assistant(RIGHT),
        "a list of events": [SUE],
        "an object with events": {"events": [SUE]},
        "a reply": {"id": "chatcmpl-1", "choices": [{"message": assistant(RIGHT)}]},
    }
    for name, response in responses.items():
        record = {"id": "a", "response": response}
        assert goldgate.evaluate([GOLD], [record], SCHEMA)["strict_f1"] == 1.0, name
        assert scorer().score(response, GOLD)["strict_f1"] == 1.0, name
        assert scorer().score(record, GOLD)["strict_f1"] == 1.0, name
    for record in (
        {"id": "a", "events": [SUE]},
        {"id": "a", "messages": [{"role": "user", "content": "?"}, assistant(RIGHT)]},
        {"id": "a", "choices": [{"text": RIGHT}]},
    ):
        assert goldgate.evaluate([GOLD], [record], SCHEMA)["strict_f1"] == 1.0, record
        assert scorer().score(record, GOLD)["strict_f1"] == 1.0, record
    failed = {"id": "a", "choices": []}  # a request that failed: no answer
    assert goldgate.evaluate([GOLD], [failed], SCHEMA)["missing_predictions"] == 1
    duee = {"id": "a", "text": "Bob sues", "event_list": [{**SUE, "trigger": "sues"}]}
    golds: dict[str, Any] = {"our form": GOLD, "parsed": goldgate.parse_gold(GOLD), "a dialect": duee}
    for name, record in golds.items():
        assert goldgate.evaluate([record], [{"id": "a", "response": RIGHT}], SCHEMA)["strict_f1"] == 1.0, name
        assert scorer().score(RIGHT, record)["strict_f1"] == 1.0, name
    for response in (5, [{"role": "user", "content": "?"}]):
        with pytest.raises(InputError, match="a response is the raw text"):
            goldgate.evaluate([GOLD], [{"id": "a", "response": response}], SCHEMA)
