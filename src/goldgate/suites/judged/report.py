"""The judged suite's own parts of a report: who labelled what, each question with its numbers, and what stands out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, cast

from goldgate.core.contracts import StandsOut, SuiteReport
from goldgate.core.finding import remark
from goldgate.core.gate import GateResult
from goldgate.core.metric import Metrics, format_number
from goldgate.core.page import count_text
from goldgate.core.suite import Outcome
from goldgate.core.tally import Tally
from goldgate.readers.draw import Draw
from goldgate.readers.labels import (
    ItemLabels,
    LabelBook,
    LabelDraws,
    Sampling,
    first_names,
    judge_is_older,
    judge_remarks,
    people_remarks,
    sampling_remarks,
)
from goldgate.stats.corrected_rate import LEAST_IN_STRATUM, LEAST_LABELS, CorrectedRate
from goldgate.stats.distributions import t_tail
from goldgate.stats.interval import GROUP, metric_with_interval
from goldgate.stats.label_counts import GATE_CONFIDENCE, UNLIKELY, JudgeSplit, ones_needed, uneven_judge
from goldgate.suites.judged.measures import (
    TABLE,
    ColumnSums,
    LabelledRates,
    alpha_metric,
    find_ends,
    people_by_question,
    question_keys,
)

if TYPE_CHECKING:
    from goldgate.suites.judged.contracts import JudgedReport, LabellingValue, QuestionRow, RateDetails

ITEM = "item"
MAX_QUESTIONS = 200  # listed
_DRIFT_LABELS = 20  # from which on their order is looked at
_USUAL_BOUND = Fraction(9, 10)


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """What is known of the labels beside their numbers."""

    book: LabelBook
    draw: Draw | None
    sampling: Sampling
    labels: list[ItemLabels]  # of each item
    has_items: bool  # whether a file says what is to be judged
    no_judge_label: int
    silent: frozenset[str]  # questions of which no label of the judge could be read
    outside: int  # labels of judges for what is not among the items
    steps: tuple[int, int]  # in which labels of people, and of judges, are counted
    stretched: list[str]  # questions whose judge's labels were stretched
    order: list[tuple[int, Fraction]]  # the place of an item in the draw, and its h - j
    splits: list[JudgeSplit]  # of the judge's labels of each question, or of each stratum of one
    repeated: int  # items that show what another one shows
    draws: LabelDraws | None


@dataclass
class JudgedOutcome(Outcome):
    """The suite's own parts of a report, and its remarks."""

    label_facts: LabelFacts | None = None

    def details(self, tally: Tally, metrics: Metrics, gates: list[GateResult]) -> Mapping[str, object]:
        facts = self.label_facts
        assert facts is not None
        keys = question_keys(tally, (TABLE,))
        whole = tally.tables.get((TABLE,))
        labelling: LabellingValue = {
            "items": 0 if whole is None else ColumnSums(whole)["items"],
            "human_steps": facts.steps[0],
            "judge_steps": facts.steps[1],
            "sampling": facts.sampling,
            "people": sorted(facts.book.people),
            "judges": sorted(facts.book.judges),
            "labelled_by_several": sum(len(each.people) > 1 for each in facts.labels),
            "without_judge_label": facts.no_judge_label,
            "judge_labels_outside": facts.outside,
            "stretched": facts.stretched[:MAX_QUESTIONS],
            "judge_is_older": judge_is_older(facts.book, facts.draw),
            "label_draws": facts.draws,
            "draw": None if facts.draw is None else facts.draw.header,
        }
        rows = [_question_row(tally, key[1], has_judge=bool(facts.book.judges)) for key in keys[:MAX_QUESTIONS]]
        return {"labelling": labelling, "questions": {"rows": rows, "left_out": len(keys) - len(rows)}}

    def remarks(self, report: SuiteReport) -> Iterator[StandsOut]:
        own, facts = cast("JudgedReport", report), self.label_facts
        assert facts is not None
        yield from sampling_remarks(facts.book, facts.draw, facts.sampling, facts.draws)
        if facts.draw is not None and facts.draw.header["by"] == GROUP:
            message = "drawn by group: the interval is about these groups, and says nothing of others of their kind"
            yield remark("drawn_by_group", message, groups=len(facts.draw.header["strata"]))
        if facts.sampling == "complete" and facts.book.people and not facts.has_items:
            yield remark(
                "no_items", "no items file: whatever has no label is not known, so labels may have been left out"
            )
        if facts.repeated:
            items = count_text(facts.repeated, ITEM)
            message = f"{items} with the same content as another one under another id: each counts by itself"
            yield remark("repeated_items", message, items=facts.repeated)
        yield from _ungated_questions(own)
        yield from people_remarks(facts.book, facts.labels, ITEM)
        for row in own["questions"]["rows"]:
            yield from _rate_remarks(row, facts, several=len(own["questions"]["rows"]) > 1)
            yield from _few_ones(row, report)
        yield from judge_remarks(facts.book, facts.draw, facts.no_judge_label, ITEM)
        yield from _other_judge_remarks(facts)
        yield from _drift(facts.order)
        yield from uneven_judge(facts.splits)


def _ungated_questions(report: JudgedReport) -> Iterator[StandsOut]:
    """A remark where gates look at some questions and not at others, to which items may have been moved."""
    rows, metrics = report["questions"]["rows"], [gate["metric"] for gate in report["gates"]]
    names = [row["question"] for row in rows]
    ungated = [name for name in names if not any(metric.endswith(f"[{name}]") for metric in metrics)]
    if 0 < len(ungated) < len(names):
        items = sum(row["items"] for row in rows if row["question"] in ungated)
        message = f"no gate looks at {first_names([*map(repr, ungated)])}: {count_text(items, ITEM)}"
        yield remark("ungated_questions", message, questions=len(ungated), items=items)


def _question_row(tally: Tally, question: str, *, has_judge: bool) -> QuestionRow:
    key = (TABLE, question)
    column = ColumnSums(tally.tables[key])
    s, corrected = column.steps, find_ends(tally, key)
    unit = GROUP if column.is_grouped else ITEM
    sums = column.labels(0)
    metrics = LabelledRates().metrics_of(tally, key)
    metrics["human_agreement"] = alpha_metric(people_by_question(tally).get(question, {}))
    ends = None
    if not isinstance(corrected, str):
        ends = {"all_0": _rate_details(corrected.ends.lower), "all_1": _rate_details(corrected.ends.upper)}
    total, squares = sums.j + sums.o, sums.jj + sums.oo
    row = {
        "question": question,
        "items": column["items"],
        "labelled": column["labelled"] // s,
        "unsure": column["unsure"] // s,
        "others": column["others"] // s,
        "groups": column.labelled_groups if column.is_grouped else None,
        "strata": 1 if isinstance(corrected, str) else corrected.strata,
        "merged_strata": 0 if isinstance(corrected, str) else corrected.merged,
        "judge_is_constant": has_judge and sums.items > 1 and squares * sums.items == total**2,
        "ends": ends,
        "metrics": {name: metric_with_interval(metric, unit) for name, metric in metrics.items()},
    }
    return cast("QuestionRow", row)


def _rate_details(rate: CorrectedRate) -> RateDetails:
    return {
        "value": float(rate.value),
        "beta": float(rate.beta),
        "lambdas": [*map(float, rate.lambdas)],
        "variance": float(rate.variance),
        "effective_labels": float(rate.effective_labels),
        "degrees_of_freedom": float(rate.df),
    }


def _rate_remarks(row: QuestionRow, facts: LabelFacts, *, several: bool) -> Iterator[StandsOut]:
    where = f"{row['question']}: " if several else ""
    if row["unsure"]:
        message = f"{where}{count_text(row['unsure'], 'drawn item')} unsure or without a label of a person"
        if row["ends"] is not None:
            low, high = (format_number(end["value"]) for end in (row["ends"]["all_0"], row["ends"]["all_1"]))
            message += f": the rate is {low} if all of them are 0, and {high} if all are 1"
        yield remark("unsure", message, unsure=row["unsure"])
    if row["question"] in facts.silent:
        yield remark("unread_judge", f"{where}no label of the judge could be read: it says nothing")
    elif row["judge_is_constant"]:
        yield remark("constant_judge", f"{where}the judge gives every item the same label: it says nothing")
    elif row["ends"] is not None and facts.book.judges and row["others"] and not any(row["ends"]["all_0"]["lambdas"]):
        yield remark("useless_judge", f"{where}λ is 0: the judge does not go with people, and its labels are not used")
    agreement = row["metrics"]["agreement"]
    if agreement["value"] == 1 and "denominator" in agreement and agreement["denominator"] >= LEAST_LABELS:
        message = (
            f"{where}judge and people agree on all {agreement['denominator']} items: has one seen the other's labels?"
        )
        yield remark("perfect_agreement", message, items=agreement["denominator"])
    if row["merged_strata"]:
        strata = count_text(row["merged_strata"], "stratum", "strata")
        message = f"{where}{strata} with fewer than {LEAST_IN_STRATUM} labels merged with a neighbour"
        yield remark("merged_strata", message, strata=row["merged_strata"])


def _other_judge_remarks(facts: LabelFacts) -> Iterator[StandsOut]:
    left_out = sorted(facts.book.left_out)
    if left_out:
        message = f"labels of other judges are not used: {first_names(left_out)}"
        yield remark("judges_left_out", message, judges=len(left_out))
    if facts.outside:
        labels = count_text(facts.outside, "label")
        yield remark("labels_outside", f"{labels} of judges for what is not among the items", labels=facts.outside)
    if facts.stretched:
        message = "the judge's labels do not go from 0 to 1: for the correction they are stretched"
        yield remark("stretched_judge", message, questions=len(facts.stretched))


def _few_ones(row: QuestionRow, report: SuiteReport) -> Iterator[StandsOut]:
    """A remark where all labels are 1 and still too few for the gate, or without a gate for 0.9."""
    human, n = row["metrics"]["human_rate"]["value"], row["labelled"]
    if human != 1 or row["unsure"]:
        return
    names = ("rate", f"rate[{row['question']}]")
    gates = [gate for gate in report["gates"] if gate["metric"] in names and "min" in gate]
    bounds = [(Fraction(g["min"]), float(g.get("confidence", GATE_CONFIDENCE)), g["min"]) for g in gates]
    for bound, confidence, text in bounds or [(_USUAL_BOUND, float(GATE_CONFIDENCE), "0.9")]:
        needed = ones_needed(bound, confidence)
        if needed is not None and n < needed:
            message = f"all {count_text(n, 'label')} of people are 1, and a gate of ≥ {text} needs {needed} such labels"
            yield remark("few_labels", message, labels=n, needed=needed)


def _drift(order: Sequence[tuple[int, Fraction]]) -> Iterator[StandsOut]:
    """A remark where the difference between people and judge changes along the order of the draw."""
    n = len(order)
    if n < _DRIFT_LABELS:
        return
    places, differences = [Fraction(place) for place, _ in order], [difference for _, difference in order]
    mean_place, mean = sum(places) / n, sum(differences) / n
    joint = sum((x - mean_place) * (y - mean) for x, y in zip(places, differences, strict=True))
    squares = sum((x - mean_place) ** 2 for x in places) * sum((y - mean) ** 2 for y in differences)
    if not squares:
        return
    share = joint * joint / squares
    p = 0.0 if share == 1 else 2 * t_tail(sqrt(share * (n - 2) / (1 - share)), n - 2)
    if p < UNLIKELY:
        change = "higher" if joint > 0 else "lower"
        message = (
            f"the later items of the draw have {change} labels of people beside the judge's (p {p:.1g}): did the "
            "labelling change on the way?"
        )
        yield remark("labelling_order", message, labels=n)
