"""The judged suite's own parts of a report: who labelled what, each question with its numbers, and what stands out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from operator import itemgetter
from typing import TYPE_CHECKING, cast

from goldgate.core.contracts import RemarkValue, SuiteReport
from goldgate.core.finding import Finding, remark
from goldgate.core.gate import GateResult, MetricName, parse_metric_name
from goldgate.core.metric import Metrics, format_number
from goldgate.core.page import count_text
from goldgate.core.suite import Outcome
from goldgate.core.tally import Tally
from goldgate.readers.draw import Draw, item_sha256
from goldgate.readers.label_checks import (
    Sampling,
    find_label_draws,
    first_names,
    judge_is_older,
    judge_remarks,
    people_remarks,
    sampling_remarks,
)
from goldgate.readers.labels import ItemLabels
from goldgate.stats.corrected_rate import LEAST_IN_STRATUM, CorrectedRate
from goldgate.stats.distributions import t_tail
from goldgate.stats.interval import GROUP, metric_with_interval
from goldgate.stats.label_counts import (
    GATE_CONFIDENCE,
    UNLIKELY,
    JudgeSplit,
    LabelColumns,
    LabelResolution,
    agreement_remarks,
    ones_needed,
    split_judge,
    uneven_judge,
)
from goldgate.suites.judged.measures import (
    TABLE,
    ItemFacts,
    LabelledRates,
    alpha_metric,
    count_cells,
    estimate_question_rate,
    people_by_question,
    question_keys,
)

if TYPE_CHECKING:
    from goldgate.suites.judged.contracts import JudgedReport, LabellingValue, QuestionRow, RateDetails
    from goldgate.suites.judged.source import OpenedFiles

ITEM = "item"
MAX_QUESTIONS = 200  # listed
_DRIFT_LABELS = 20  # from which on their order is looked at
_USUAL_BOUND = Fraction(9, 10)


def _label_words(facts: ItemFacts) -> str:
    """The labels of an item: `people 0, judge 1`."""
    labels = (("people", facts.human), ("judge", facts.judge))
    return ", ".join(f"{who} {float(label):g}" for who, label in labels if label is not None)


@dataclass(kw_only=True)
class JudgedOutcome(Outcome):
    """The suite's own parts of a report, and its remarks."""

    files: OpenedFiles
    draw: Draw | None
    sampling: Sampling
    facts: list[ItemFacts]
    steps: LabelResolution
    stretched: list[str]  # questions whose judge's labels were stretched

    def __post_init__(self) -> None:
        self.labels = self.files.labels
        self.item_labels = [self.labels.items.get(each.key, ItemLabels()) for each in self.facts]
        self.no_judge_label = sum(each.judge is None for each in self.facts) if self.labels.judges else 0
        self.answered = {each.key.question for each in self.facts if each.judge is not None}  # by a judge
        cells = {each.key: count_cells(each) for each in self.facts}
        agreed = {key: bool(both_1 + both_0) for key, (both_1, *_, both_0) in cells.items() if any(cells[key])}
        self.label_draws = find_label_draws(self.labels, self.draw, len(self.facts), agreed)

    def details(self, tally: Tally, metrics: Metrics, gates: list[GateResult]) -> Mapping[str, object]:
        keys = question_keys(tally, (TABLE,))
        whole = tally.tables.get((TABLE,))
        labelling: LabellingValue = {
            "items": 0 if whole is None else LabelColumns(whole)["items"],
            "human_steps": self.steps.human,
            "judge_steps": self.steps.judge,
            "sampling": self.sampling,
            "people": sorted(self.labels.people),
            "judges": sorted(self.labels.judges),
            "labelled_by_several": sum(len(each.people) > 1 for each in self.item_labels),
            "without_judge_label": self.no_judge_label,
            "judge_labels_outside": self.files.outside,
            "stretched": self.stretched[:MAX_QUESTIONS],
            "judge_is_older": judge_is_older(self.labels, self.draw),
            "label_draws": self.label_draws,
            "draw": None if self.draw is None else self.draw.header,
        }
        rows = [_question_row(tally, key[1], has_judge=bool(self.labels.judges)) for key in keys[:MAX_QUESTIONS]]
        return {"labelling": labelling, "questions": {"rows": rows, "left_out": len(keys) - len(rows)}}

    def causes(self, gate: GateResult) -> Iterator[Finding] | None:
        """The items with the worst label, those of people before those of a judge."""
        metric, part = parse_metric_name(gate.metric)
        if metric != "rate":
            return None
        best = 0 if gate.gate.max is not None else 1
        labels = [
            (-abs(label - best), each.human is None, each.id, each)
            for each in self.facts
            if part in ((), (each.key.question,))
            and (label := each.judge if each.human is None else each.human) is not None
            and label != best
        ]
        labels.sort(key=itemgetter(0, 1, 2))
        return (Finding("worst_item", "error", "", None, "", _label_words(each), each.id) for *_, each in labels)

    def remarks(self, report: SuiteReport) -> Iterator[RemarkValue]:
        own, labels, draw = cast("JudgedReport", report), self.labels, self.draw
        yield from sampling_remarks(labels, draw, self.sampling, self.label_draws)
        if draw is not None and draw.header["by"] == GROUP:
            message = "drawn by group: the interval is about these groups, and says nothing of others of their kind"
            yield remark("drawn_by_group", message, groups=len(draw.header["strata"]))
        if self.sampling == "complete" and labels.people and self.files.items is None:
            yield remark(
                "no_items", "no items file: whatever has no label is not known, so labels may have been left out"
            )
        if repeated := self._count_repeated():
            items = count_text(repeated, ITEM)
            message = f"{items} with the same content as another one under another id: each counts by itself"
            yield remark("repeated_items", message, items=repeated)
        yield from _ungated_questions(own)
        yield from people_remarks(labels, self.item_labels, ITEM)
        for row in own["questions"]["rows"]:
            where = f"{row['question']}: " if len(own["questions"]["rows"]) > 1 else ""
            yield from _rate_remarks(row, where)
            yield from self._judge_use_remarks(row, where)
            yield from _agreement_remarks(row, where)
            yield from _few_ones(row, report)
        yield from judge_remarks(labels, draw, self.no_judge_label, ITEM)
        yield from self._other_judge_remarks()
        yield from _drift(self._differences())
        yield from uneven_judge(_judge_splits(self.facts))

    def _count_repeated(self) -> int:
        """How many items show what another one of their question shows; those that show nothing are not looked at."""
        nothing, files = item_sha256({}), self.files
        digests = {key: files.digests.get(key) or self.labels.items[key].item_sha256 for key in files.population}
        contents = [(key.question, digest) for key, digest in digests.items() if digest not in (None, nothing)]
        return len(contents) - len({*contents})

    def _judge_use_remarks(self, row: QuestionRow, where: str) -> Iterator[RemarkValue]:
        """Whether the judge says anything of a question."""
        has_judge, ends = bool(self.labels.judges), row["ends"]
        if has_judge and row["question"] not in self.answered:
            yield remark("unread_judge", f"{where}no label of the judge could be read: it says nothing")
        elif row["judge_is_constant"]:
            yield remark("constant_judge", f"{where}the judge gives every item the same label: it says nothing")
        elif ends is not None and has_judge and row["others"] and not any(ends["all_0"]["lambdas"]):
            message = f"{where}λ is 0: the judge does not go with people, and its labels are not used"
            yield remark("useless_judge", message)

    def _other_judge_remarks(self) -> Iterator[RemarkValue]:
        left_out = sorted(self.labels.left_out)
        if left_out:
            message = f"labels of other judges are not used: {first_names(left_out)}"
            yield remark("judges_left_out", message, judges=len(left_out))
        if outside := self.files.outside:
            labels = count_text(outside, "label")
            yield remark("labels_outside", f"{labels} of judges for what is not among the items", labels=outside)
        if self.stretched:
            message = "the judge's labels do not go from 0 to 1: for the correction they are stretched"
            yield remark("stretched_judge", message, questions=len(self.stretched))

    def _differences(self) -> list[tuple[int, Fraction]]:
        """The place of an item in the draw, and its h - j."""
        order = {key: place for place, key in enumerate(self.draw.items)} if self.draw is not None else {}
        return [
            (order[each.key], each.human - each.judge)
            for each in self.facts
            if each.key in order and each.human is not None and each.judge is not None
        ]


def _ungated_questions(report: JudgedReport) -> Iterator[RemarkValue]:
    """A remark where gates look at some questions and not at others, to which items may have been moved."""
    rows, gated = report["questions"]["rows"], {parse_metric_name(gate["metric"]).part for gate in report["gates"]}
    names = [row["question"] for row in rows]
    ungated = [name for name in names if (name,) not in gated]
    if 0 < len(ungated) < len(names):
        items = sum(row["items"] for row in rows if row["question"] in ungated)
        message = f"no gate looks at {first_names([*map(repr, ungated)])}: {count_text(items, ITEM)}"
        yield remark("ungated_questions", message, questions=len(ungated), items=items)


def _question_row(tally: Tally, question: str, *, has_judge: bool) -> QuestionRow:
    key = (TABLE, question)
    column = LabelColumns(tally.tables[key])
    s, corrected = column.steps, estimate_question_rate(tally, key)
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


def _rate_remarks(row: QuestionRow, where: str) -> Iterator[RemarkValue]:
    if row["unsure"]:
        message = f"{where}{count_text(row['unsure'], 'drawn item')} unsure or without a label of a person"
        if row["ends"] is not None:
            low, high = (format_number(end["value"]) for end in (row["ends"]["all_0"], row["ends"]["all_1"]))
            message += f": the rate is {low} if all of them are 0, and {high} if all are 1"
        yield remark("unsure", message, unsure=row["unsure"])


def _agreement_remarks(row: QuestionRow, where: str) -> Iterator[RemarkValue]:
    agreement = row["metrics"]["agreement"]
    if "denominator" in agreement:
        yield from agreement_remarks(agreement["numerator"], agreement["denominator"], ITEM, where)
    if row["merged_strata"]:
        strata = count_text(row["merged_strata"], "stratum", "strata")
        message = f"{where}{strata} with fewer than {LEAST_IN_STRATUM} labels merged with a neighbour"
        yield remark("merged_strata", message, strata=row["merged_strata"])


def _few_ones(row: QuestionRow, report: SuiteReport) -> Iterator[RemarkValue]:
    """A remark where all labels are 1 and still too few for the gate, or without a gate for 0.9."""
    human, n = row["metrics"]["human_rate"]["value"], row["labelled"]
    if human != 1 or row["unsure"]:
        return
    names = (MetricName("rate"), MetricName("rate", (row["question"],)))
    gates = [gate for gate in report["gates"] if parse_metric_name(gate["metric"]) in names and "min" in gate]
    bounds = [(Fraction(g["min"]), float(g.get("confidence", GATE_CONFIDENCE)), g["min"]) for g in gates]
    for bound, confidence, text in bounds or [(_USUAL_BOUND, float(GATE_CONFIDENCE), "0.9")]:
        needed = ones_needed(bound, confidence)
        if needed is not None and n < needed:
            message = f"all {count_text(n, 'label')} of people are 1, and a gate of ≥ {text} needs {needed} such labels"
            yield remark("few_labels", message, labels=n, needed=needed)


def _drift(order: Sequence[tuple[int, Fraction]]) -> Iterator[RemarkValue]:
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


def _judge_splits(facts: Iterable[ItemFacts]) -> list[JudgeSplit]:
    """Each question, or stratum of one, with the judge's labels on drawn items and on all of them."""
    tables: dict[tuple[str, str], list[tuple[bool, Fraction]]] = {}
    for each in facts:
        if each.corrected is not None:
            tables.setdefault((each.key.question, each.stratum or ""), []).append((each.drawn, each.corrected))
    return [split for table in tables.values() for split in split_judge(table)]
