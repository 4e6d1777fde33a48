"""What people label: how many items a length of the interval or a gate needs (`goldgate power`), and which (`sample`).

Further labels are taken to be like those at hand, in what people say and in how far the judge agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypedDict

import orjson

from goldgate.core.gate import MetricName, parse_metric_name
from goldgate.core.metric import format_number
from goldgate.core.page import NOT_AVAILABLE, Cell, Column, Name, Notes, Page, Section, Table, count_text
from goldgate.core.suite import Options
from goldgate.errors import ConfigError
from goldgate.readers.draw import (
    BY_JUDGE,
    MAX_DRAW,
    DrawSettings,
    assign_strata,
    draw_items,
    items_sha256,
    open_items,
    strata_of_labels,
)
from goldgate.readers.stored_result import StoredResult
from goldgate.runs.units import ratio_measures, sum_records
from goldgate.stats.corrected_rate import LEAST_LABELS
from goldgate.stats.interval import LEVEL
from goldgate.stats.label_counts import GATE_CONFIDENCE, ExpectedLabels, LabelColumns, LabelGoal, ones_needed
from goldgate.suites.judged.ask import load_judge_template, read_question, text_digest
from goldgate.suites.judged.measures import TABLE, estimate_question_rate, question_keys

USUAL_LENGTH = "0.1"
SIZES = (25, 50, 100, 200, 500, 1_000)


class LabelTarget(TypedDict):
    """What labels are needed for, and how many; null where no number of these items is enough."""

    kind: Literal["length", "min", "max"]
    bound: str
    confidence: float | None  # of a gate
    needed: int | None
    needed_without_judge: int | None
    reason: str | None
    needed_if_all_are_1: int | None  # of a lower bound: without a judge


class IntervalLength(TypedDict):
    """The length of the interval with this many labels."""

    labels: int
    length: float
    length_without_judge: float


class QuestionPlan(TypedDict):
    question: str
    items: int
    labelled: int
    rate: float | None
    reason: str | None  # why nothing can be planned
    targets: list[LabelTarget]
    lengths: list[IntervalLength]


class LabelPlan(TypedDict):
    """The JSON of `goldgate power` for a judged result."""

    format_version: int
    kind: Literal["label_power"]
    suite: str
    signature: str
    level: float
    questions: list[QuestionPlan]
    error: None


def label_power(result: StoredResult, options: Mapping[str, Any]) -> tuple[LabelPlan, Callable[[LabelPlan], Page]]:
    """`goldgate power` for a judged result: the plan, and what describes it."""
    return plan_labels(result, options), describe_label_plan


def plan_labels(result: StoredResult, options: Mapping[str, Any]) -> LabelPlan:
    """The plan of every question; `options` may have a `threshold`, a `width` and `sizes`."""
    measures = ratio_measures(result.suite, result.measured_by)
    tally = sum_records(result, measures).tally
    questions: list[QuestionPlan] = []
    for key in question_keys(tally, (TABLE,)):
        column, rates = LabelColumns(tally.tables[key]), estimate_question_rate(tally, key)
        expected = ExpectedLabels(column.labels(0), column.labels(1), column["older"] > 0)
        plan: QuestionPlan = {
            "question": key[1],
            "items": expected.all_0.items,
            "labelled": expected.all_0.labelled,
            "rate": None if isinstance(rates, str) else float(rates.ends.value),
            "reason": rates if isinstance(rates, str) else None,
            "targets": [],
            "lengths": [],
        }
        if not isinstance(rates, str):
            goals = _goals(result, key[1], options)
            plan["targets"] = [_target(expected, rates.ends.value, goal) for goal in goals]
            plan["lengths"] = [*_lengths(expected, options["sizes"] or SIZES)]
        questions.append(plan)
    return {
        "format_version": 1,
        "kind": "label_power",
        "suite": result.suite.name,
        "signature": result.report["signature"],
        "level": LEVEL,
        "questions": questions,
        "error": None,
    }


def _goals(result: StoredResult, question: str, options: Mapping[str, Any]) -> Iterator[LabelGoal]:
    """A length; and the threshold that is asked for, or the bounds of the report's gates on this rate."""
    yield LabelGoal("length", str(options["width"] or USUAL_LENGTH))
    if options["threshold"] is not None:
        yield LabelGoal("min", str(options["threshold"]), float(GATE_CONFIDENCE))
        return
    for gate in result.report["gates"]:
        if parse_metric_name(gate["metric"]) in (MetricName("rate"), MetricName("rate", (question,))):
            confidence = float(gate.get("confidence") or GATE_CONFIDENCE)
            yield from (LabelGoal(side, str(gate[side]), confidence) for side in ("min", "max") if side in gate)


def _target(expected: ExpectedLabels, rate: Fraction, goal: LabelGoal) -> LabelTarget:
    kind, bound, confidence = goal
    needed = alone = ones = None
    if kind == "min" and confidence is not None:
        ones = ones_needed(Fraction(bound), confidence)
    if kind != "length" and (rate <= Fraction(bound) if kind == "min" else rate >= Fraction(bound)):
        side = "above" if kind == "min" else "below"
        reason: str | None = f"the rate is not {side} it: more labels would not pass the gate"
    else:
        needed, alone = (expected.needed(goal, correct=correct) for correct in (True, False))
        reason = "all of these items are not enough: collect more" if needed is None else None
    return {
        "kind": kind,
        "bound": bound,
        "confidence": confidence,
        "needed": needed,
        "needed_without_judge": alone,
        "reason": reason,
        "needed_if_all_are_1": ones,
    }


def _lengths(expected: ExpectedLabels, sizes: Sequence[int]) -> Iterator[IntervalLength]:
    sums = expected.all_0
    for n in sorted({size for size in (*sizes, sums.labelled) if LEAST_LABELS <= size <= sums.items}):
        alone = expected.length(n, correct=False)
        yield {"labels": n, "length": expected.length(n), "length_without_judge": alone}


def describe_label_plan(plan: LabelPlan) -> Page:
    """The page of a plan, from its JSON."""
    sections = [Section("Labels of people needed", (_needed_table(plan),))]
    for question in plan["questions"]:
        if question["lengths"]:
            rows = tuple(
                (f"{e['labels']:,}", format_number(e["length"]), format_number(e["length_without_judge"]))
                for e in question["lengths"]
            )
            columns = tuple(map(Column, ("labels", "with the judge", "people alone")))
            suffix = f", {question['question']}" if len(plan["questions"]) > 1 else ""
            sections.append(Section(f"Length of the interval{suffix}", (Table(columns, rows),)))
    notes = [
        f"The intervals have a level of {plan['level']:g}; a gate looks at one end, with its own confidence.",
        "Further labels are taken to be like those at hand, drawn without strata, and the judge to agree as often.",
    ]
    ones = {
        f"If all labels are 1, and without a judge, ≥ {target['bound']} needs {target['needed_if_all_are_1']:,} labels."
        for question in plan["questions"]
        for target in question["targets"]
        if target["needed_if_all_are_1"] is not None
    }
    sections.append(Section("What this rests on", (Notes(tuple((words,) for words in (*notes, *sorted(ones)))),)))
    items = sum(question["items"] for question in plan["questions"])
    return Page(suite="power", subject=f"{plan['suite']} suite, {count_text(items, 'item')}", sections=tuple(sections))


def _needed_table(plan: LabelPlan) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for question in plan["questions"]:
        name, labelled = Name(question["question"]), f"{question['labelled']:,} of {question['items']:,}"
        if question["reason"] is not None:
            rows.append((name, NOT_AVAILABLE, labelled, "", question["reason"], ""))
            continue
        rate = format_number(question["rate"]) if question["rate"] is not None else NOT_AVAILABLE
        for target in question["targets"]:
            sign = {"length": "length ≤", "min": "rate ≥", "max": "rate ≤"}[target["kind"]]
            needed = target["reason"] if target["needed"] is None else f"{target['needed']:,}"
            alone = "" if target["needed_without_judge"] is None else f"{target['needed_without_judge']:,}"
            rows.append((name, rate, labelled, f"{sign} {target['bound']}", needed or "", alone))
    columns = ("question", "rate", "labelled", "for", "with the judge", "people alone")
    return Table(tuple(map(Column, columns)), tuple(rows))


class SampleLines(NamedTuple):
    """The lines of a draw, and what was drawn in a few words."""

    lines: list[bytes]
    summary: str


def sample_items(path: str, options: Options) -> SampleLines:
    """`goldgate sample`: draw from a file of items."""
    if options["draw"] > MAX_DRAW:
        raise ConfigError("draw.too_large", f"--draw is at most {MAX_DRAW:,}", found=str(options["draw"]))
    by, template, judge, digest = options.get("by"), options.get("template"), None, None
    if options.get("labels") is not None:
        with open_items(options["labels"], "labels") as labels:
            judge, digest = strata_of_labels(labels), labels.store.sha256s()[0]
    elif by == BY_JUDGE:
        raise ConfigError("draw.no_labels", "--by judge needs the judge's labels", advice="add --labels FILE")
    question = text_digest(read_question(options.get("question")))
    template_sha256 = None if template is None else load_judge_template(template).sha256
    with open_items(path) as items:
        items.require_any()
        settings = DrawSettings(
            options["n"], items_sha256(items.digests), by, question, template_sha256, digest, options["draw"]
        )
        header, keys = draw_items(assign_strata(items.items(), by, judge), settings)
        lines = [orjson.dumps(record) + b"\n" for record in (header, *(items[key] for key in keys))]
    few = " (all there are: fewer than --n)" if header["n"] < options["n"] else ""
    strata = ", ".join(f"{each['name']}: {each['drawn']} of {each['items']}" for each in header["strata"])
    return SampleLines(lines, f"{header['n']} of {header['items']} items{few}" + (f" ({strata})" if strata else ""))
