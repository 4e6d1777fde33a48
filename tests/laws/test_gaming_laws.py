"""Repeating, padding or copying never improves a main metric; where relaxed matching forgives it, it is shown.

Relaxed scores are the exception that their definition makes: a value that contains gold's is a hit.
`relaxed_excess` and `relaxed_shortfall` say what that is worth, and gates can bound them.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import goldgate
from goldgate import Evaluation, Protocol
from goldgate.core.metric import Metric
from goldgate.core.value_text import normalize
from goldgate.suites.extraction.settings import CotSettings, ExtractionSettings, HallucinationSettings, SchemaSettings
from tests.examples import examples

from .strategies import ROLES, SCHEMA, TYPES, Json, good_events, odd_events

MANY = examples(200)
TEXT = st.text(alphabet="abcd甲乙丙 ", min_size=1, max_size=24)
# Of these, less is better; of what is left, more is.
LESS = {"hallucination_rate", "hallucination_entity_rate", "parse_errors", "parse_extraction_failures"}
MODES = st.sampled_from(["normalized_substring", "exact_span"])


def judged(gold: list[Json], said: Any, text: str | None, mode: str = "normalized_substring") -> Evaluation:
    settings = ExtractionSettings(
        schema=SchemaSettings("schema_strict"),
        hallucination=HallucinationSettings(mode),  # type: ignore[arg-type]  # one of the two
        cot=CotSettings(enabled=True),
    )
    answer = {"response": said} if isinstance(said, str) else {"events": said}
    return goldgate.evaluate(
        [{"id": "1", "text": text, "events": gold}],
        [{"id": "1", **answer}],
        SCHEMA,
        Protocol(sections={"metrics": settings}),
    )


def main_of(evaluation: Evaluation) -> dict[str, Metric]:
    return {name: evaluation.metrics[name] for name in evaluation.report["metrics"]["main"]}


def improved(before: Evaluation, after: Evaluation) -> set[str]:
    """The main metrics that became better, one that is no longer defined among them."""
    names = set()
    for name, metric in main_of(before).items():
        was, now = metric.exact, main_of(after)[name].exact
        if was is not None and (now is None or (now < was if name in LESS else now > was)):
            names.add(name)
    return names


@st.composite
def repeated(draw: st.DrawFn, events: list[Any]) -> list[Any]:
    """The events with some of them, and some of their arguments, said again."""
    told = json.loads(json.dumps(events))
    for event in told:
        if isinstance(event, dict) and event.get("arguments"):
            again = st.lists(st.sampled_from(event["arguments"]), max_size=4)
            event["arguments"] += draw(again)
    return [*told, *(draw(st.lists(st.sampled_from(told), max_size=4)) if told else [])]


@MANY
@given(good_events, odd_events, st.one_of(st.none(), TEXT), MODES, st.data())
def test_repeating_changes_no_main_metric(
    gold: list[Json], events: list[Any], text: str | None, mode: str, data: st.DataObject
) -> None:
    again = data.draw(repeated(events))
    assert main_of(judged(gold, again, text, mode)) == main_of(judged(gold, events, text, mode))


@MANY
@given(good_events, good_events, TEXT)
def test_copying_the_answer_into_the_thought_changes_no_main_metric(
    gold: list[Json], events: list[Json], text: str
) -> None:
    answer = json.dumps(events, ensure_ascii=False)
    honest, copied = (judged(gold, f"<think>{thought}</think>{answer}", text) for thought in ("因为", answer))
    assert main_of(copied) == main_of(honest)
    assert honest["cot_copied_rate"] == 0
    assert copied["cot_copied_rate"] == (1 if judged_units(events) else 0)
    shown = [entry["code"] for entry in copied.report["stands_out"]]
    assert ("copied_thought" in shown) is bool(judged_units(events))


def judged_units(events: list[Json]) -> dict[str, list[Any]]:
    scorer = goldgate.load_scorer(
        SCHEMA, Protocol(sections={"metrics": ExtractionSettings(schema=SchemaSettings("syntax_only"))})
    )
    found: dict[str, list[Any]] = scorer.score(events, {"id": "1", "events": []}).record["predicted"]
    return found


Said = tuple[str, str, str]  # event type, role, value as written


@st.composite
def padded(draw: st.DrawFn) -> tuple[list[Json], list[Json], list[Json], str]:
    """Gold, an answer, the same answer with each right value longer by the text around it, and the text."""
    text = draw(TEXT)
    gold: list[Said] = []
    answer: list[Said] = []
    around: dict[Said, Said] = {}
    for _ in range(draw(st.integers(1, 6))):
        event_type, role = draw(st.sampled_from(TYPES)), draw(st.sampled_from(ROLES[:2]))
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start + 1, len(text)))
        said = event_type, role, text[start:end]
        around[said] = event_type, role, text[draw(st.integers(0, start)) : draw(st.integers(end, len(text)))]
        kind = draw(st.sampled_from(["right", "missing", "wrong", "made up"]))
        if kind in ("right", "missing"):
            gold.append(said)
        if kind != "missing":
            answer.append((event_type, role, "zz") if kind == "made up" else said)
    right = {(event_type, role, normalize(value)) for event_type, role, value in gold if normalize(value)}
    longer = [around[said] if (*said[:2], normalize(said[2])) in right else said for said in answer]
    return events_of(gold), events_of(answer), events_of(longer), text


def events_of(said: list[Said]) -> list[Json]:
    return [{"event_type": name, "arguments": [{"role": role, "argument": value}]} for name, role, value in said]


@MANY
@given(padded(), MODES)
def test_padding_right_values_improves_no_main_metric_but_relaxed(
    data: tuple[list[Json], list[Json], list[Json], str], mode: str
) -> None:
    gold, answer, longer, text = data
    relaxed = {"relaxed_precision", "relaxed_recall", "relaxed_f1"}
    assert improved(judged(gold, answer, text, mode), judged(gold, longer, text, mode)) <= relaxed


@MANY
@given(st.lists(st.tuples(st.sampled_from(TYPES), st.integers(0, 20), st.integers(1, 6)), min_size=1, max_size=6), TEXT)
def test_whole_text_in_every_role_is_seen_in_the_excess(places: list[tuple[str, int, int]], text: str) -> None:
    values = [(name, text[start % len(text) :][:length]) for name, start, length in places]
    gold = [
        {"event_type": name, "arguments": [{"role": f"{number}", "argument": value}]}
        for number, (name, value) in enumerate(values)
    ]
    said = [
        {"event_type": name, "arguments": [{"role": f"{number}", "argument": text}]}
        for number, (name, _) in enumerate(values)
    ]
    evaluation = judged(gold, said, text)
    lengths = [len(normalize(value)) for _, value in values if normalize(value)]
    expected = Fraction(len(lengths) * len(normalize(text)), sum(lengths)) if lengths else None
    assert evaluation.metrics["relaxed_excess"].exact == expected
    assert evaluation["relaxed_shortfall"] == (0 if lengths else None)
    shown = {entry["code"] for entry in evaluation.report["stands_out"]}
    assert ("relaxed_excess" in shown) is (expected is not None and expected >= Fraction(3, 2))
