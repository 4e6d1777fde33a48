"""Rewards as TRL's GRPO trainer asks for them: by keyword, a batch at a time, and never an exception for what a model
writes."""

from __future__ import annotations

import inspect
import json
import logging
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldgate
from goldgate.errors import ConfigError, InputError
from goldgate.rewards import EventReward, event_reward, field_reward
from tests.cases import cases

SCHEMA = {"event_types": {"Hire": {"roles": ["Person", "Company"]}}}
TEXT = "Lena Ortiz joined Harbour Bank."
PERSON, COMPANY = {"role": "Person", "argument": "Lena Ortiz"}, {"role": "Company", "argument": "Harbour Bank"}
EVENTS: list[dict[str, Any]] = [{"event_type": "Hire", "arguments": [PERSON, COMPANY]}]
HALF = json.dumps([{"event_type": "Hire", "arguments": [PERSON]}])
REWARD = event_reward(schema=SCHEMA, metric="strict_f1")


def reward(*completions: Any, gold: Any = EVENTS, function: EventReward = REWARD) -> list[float | None]:
    """As version 1 of the trainer calls it."""
    count = len(completions)
    columns = {"prompts": "…", "completion_ids": [1, 2], "events": gold, "text": TEXT, "id": "1"}
    return function(
        completions=list(completions), trainer_state=object(), log_extra=lambda column, values: None,
        log_metric=lambda name, value: None, environments=None,
        **{name: [value] * count for name, value in columns.items()},
    )  # fmt: skip


def message(content: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": content, **more}]


def test_a_reward_is_the_metric_of_one_answer() -> None:
    """Half: 1 of 1 predicted and 1 of 2 gold units, F1 = 2·1 / (1 + 2)."""
    whole = json.dumps(EVENTS)
    assert reward(whole, HALF, "I cannot tell.", "[]") == [1.0, 2 / 3, 0.0, 0.0]
    scorer = goldgate.load_scorer(SCHEMA)
    record = {"id": "1", "text": TEXT, "events": EVENTS}
    assert reward(HALF) == [scorer.score(HALF, record)["strict_f1"]]
    assert reward(HALF, function=event_reward(metric="strict_f1")) == [2 / 3]  # a schema is not needed
    assert REWARD(completions=[HALF, HALF], events=[None, EVENTS], text=[None, None]) == [None, 2 / 3]  # no gold
    function = event_reward(schema=SCHEMA, metric="strict_f1", events="gold", text="document")
    assert function(completions=[HALF], gold=[EVENTS], document=[TEXT], events=[[]]) == [2 / 3]
    assert reward(Derived(HALF), message(Derived(HALF)), message(HALF, reasoning=Derived("?"))) == [2 / 3] * 3


def test_arguments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="2 completions, 1 events"):
        REWARD(completions=[HALF, HALF], events=[EVENTS])
    with pytest.raises(TypeError, match="pass everything by name: completions=…, prompts=…, events=…"):
        REWARD(["Who?"], [HALF], events=[EVENTS])


@cases(
    "completion",
    [
        HALF,
        message(HALF),
        message([{"type": "text", "text": HALF}]),
        [{"content": HALF}],  # without a role, as in TRL's own examples
        {"role": "assistant", "content": HALF},
        message(f"<think>Nobody? Lena Ortiz.</think>\n{HALF}"),
        message(HALF, reasoning_content="Lena Ortiz, I think."),
        [*message("Let me look."), {"role": "tool", "content": "[]"}, *message(HALF)],
        [*message(HALF), {"role": "tool", "content": json.dumps(EVENTS)}],  # what a tool says is no answer
        message("", tool_calls=[{"function": {"name": "answer", "arguments": HALF}}]),
        (message(HALF)[0],),
    ],
)
def test_completions_are_text_or_messages(completion: Any) -> None:
    assert reward(completion) == [2 / 3]


@cases(
    "completion",
    [None, 7, [], {}, [[]], [None], b"x", message(None), message(7), message([7]), [{"role": "user", "content": HALF}],
     message([{"type": "image"}]), [{"role": 7}], message("", tool_calls=[object()]), "\ud800", "[" * 5000, "{" * 100],
)  # fmt: skip
def test_whatever_a_model_leaves_is_worth_nothing_and_raises_nothing(completion: Any) -> None:
    assert reward(completion, "[]", gold=EVENTS) == [0.0, 0.0]
    assert reward(completion, gold=[]) == [0.0]


class Raises(dict[str, Any]):
    """An object that cannot be looked at."""

    def get(self, *_: Any) -> Any:
        raise RuntimeError

    def __eq__(self, _: object) -> bool:
        raise RuntimeError

    __hash__ = None


class Derived(str):
    def strip(self, *_: Any) -> str:
        raise RuntimeError


@cases("completion", [Raises(), [Raises(role="assistant")], [{"role": Raises(), "content": HALF}]])
def test_an_object_that_raises_is_worth_nothing(completion: Any) -> None:
    assert reward(completion) == [0.0]


LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
BRANCH = LEAF | st.lists(LEAF, max_size=3) | st.dictionaries(st.text(max_size=5), LEAF, max_size=3)
JSON = BRANCH | st.lists(BRANCH, max_size=3) | st.dictionaries(st.text(max_size=5), BRANCH, max_size=3)
PARTS = {"role": st.sampled_from(["assistant", "user", "tool", None]), "content": JSON, "tool_calls": JSON}
MESSAGES = st.lists(st.fixed_dictionaries({}, optional=PARTS), max_size=3)


@given(st.lists(st.text(st.characters()) | MESSAGES | JSON, max_size=4))
def test_any_batch_gives_as_many_rewards_from_0_to_1(completions: list[Any]) -> None:
    found = reward(*completions)
    assert len(found) == len(completions)
    assert all(isinstance(each, float) and 0 <= each <= 1 for each in found)


def test_a_column_that_is_missing_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    function = event_reward(schema=SCHEMA)
    with caplog.at_level(logging.WARNING, "goldgate"):
        assert function(prompts=[""], completions=[HALF]) == [None]
        assert function(completions=[HALF, HALF]) == [None, None]
    assert len(caplog.records) == 1
    assert "'events'" in caplog.text


def test_rightly_saying_nothing_is_worth_1_and_nothing_readable_is_not() -> None:
    """The metric is undefined there; a trainer would take None for no opinion, and never reward silence."""
    assert reward("[]", '{"events": []}', "", "no idea", HALF, gold=[]) == [1.0, 1.0, 0.0, 0.0, 0.0]
    precision = event_reward(schema=SCHEMA, metric="strict_precision")
    assert reward("[]", function=precision) == [0.0]  # nothing predicted, and there was something


@cases(
    "gold",
    [
        json.dumps(EVENTS),
        # Arrow: keys that some rows lack are None in them, and a Sequence of objects is an object of lists.
        [{**EVENTS[0], "trigger": None, "arguments": [{**each, "start": None} for each in (PERSON, COMPANY)]}],
        {"event_type": ["Hire"], "arguments": [{key: [PERSON[key], COMPANY[key]] for key in ("role", "argument")}]},
        tuple(EVENTS),
    ],
)
def test_gold_as_data_sets_have_it(gold: Any) -> None:
    assert reward(HALF, gold=gold) == [2 / 3]


@cases("gold", ["[" * 100_000, "not json", 7, [7], [{"event_type": ""}], {"a": 1}])
def test_gold_that_cannot_be_read_is_an_error_with_its_row(gold: Any) -> None:
    with pytest.raises(InputError) as caught:
        REWARD(completions=[HALF, HALF], events=[EVENTS, gold])
    assert "row 2" in str(caught.value)


@cases("metric", ["hallucination_rate", "relaxed_f", "parse_errors", "relaxed_excess", 7])
def test_what_cannot_be_a_reward(metric: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        event_reward(schema=SCHEMA, metric=metric)
    assert "relaxed_f1" in str(caught.value.expected)


def test_it_can_be_pickled_has_a_name_and_is_no_coroutine() -> None:
    again = pickle.loads(pickle.dumps(REWARD))
    assert reward(HALF, function=again) == [2 / 3]
    assert again.__name__ == "goldgate_strict_f1"
    assert not inspect.iscoroutinefunction(again)


def test_the_share_of_answers_that_cannot_be_read_is_logged_where_a_trainer_offers_that() -> None:
    logged: list[tuple[str, float]] = []
    REWARD(completions=["?", HALF], events=[EVENTS] * 2, log_metric=lambda name, value: logged.append((name, value)))
    assert logged == [("goldgate_strict_f1/unreadable", 0.5)]


@cases(
    "metric", ["strict_f1", "relaxed_recall", "type_f1", "schema_compliance_rate", "textee_ac_f1", "cot_faithfulness"]
)
def test_a_reward_is_what_a_scorer_says_of_the_metric(metric: str) -> None:
    answer = f"<thought>Hire: Person is Lena Ortiz</thought>{HALF}"
    gold = goldgate.parse_gold({"id": "1", "events": EVENTS, "text": TEXT})
    function = event_reward(SCHEMA, metric, {"metrics": {"cot": {"enabled": True}, "profile": "textee"}})
    assert function([answer], events=[EVENTS], text=[TEXT]) == [function.scorer.score(answer, gold)[metric]]


def test_fields_are_rewarded_leaf_by_leaf() -> None:
    """Gold has 3 leaves; the answer has 2 of them and a wrong one: F1 = 2·2 / (3 + 3)."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "rows": {"type": "array"}}}
    gold = {"name": "Harbor", "rows": [1, 2]}
    function = pickle.loads(pickle.dumps(field_reward(schema)))
    completions = [json.dumps(gold), '{"name": "Harbor", "rows": [2, 3]}', message("none"), None]
    rewards = function(completions=completions, value=[gold, json.dumps(gold), gold, gold])
    assert rewards == [1.0, 2 / 3, 0.0, 0.0]
    assert function.__name__ == "goldgate_field_f1"
    with pytest.raises(ConfigError, match="this metric cannot be a reward"):
        field_reward(schema, "strict_f1")


def test_a_form_that_is_not_read_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    function = event_reward(schema=SCHEMA, metric="strict_f1")
    mapping = json.dumps([{"event_type": each["event_type"], "arguments": {"Person": "Lena Ortiz"}} for each in EVENTS])
    with caplog.at_level(logging.WARNING, "goldgate"):
        assert reward(mapping, mapping, function=function) == [0.0, 0.0]
    (line,) = caplog.messages
    assert "set in the protocol: metrics: {response: {arguments: mapping}}" in line


def test_an_answer_beyond_the_limits_is_not_an_empty_one() -> None:
    leaves: Any = ["a"] * 20
    for _ in range(3):
        leaves = [leaves] * 20
    reward = field_reward({"type": "object", "properties": {"a": {"type": "string"}}}, "field_recall")
    assert reward(completions=["{}", json.dumps({"zz": leaves})], value=[{}, {}]) == [1.0, 0.0]


def test_the_policy_learns_to_give_all() -> None:
    """The loop in miniature learns: what the reward prefers is what the policy ends with."""
    shown = subprocess.run(
        [sys.executable, str(Path(__file__).parents[2] / "examples" / "rewards" / "loop.py")],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    means = [float(mean) for mean in re.findall(r"mean reward ([\d.]+)", shown)]
    assert means[0] < 0.6 < 0.95 < means[-1]
    assert shown.endswith("the policy now mostly gives all\n")
