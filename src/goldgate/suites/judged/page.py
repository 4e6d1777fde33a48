"""The judged suite's report as a page and as pictures; the rates of a stored report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from goldgate.core.evaluation import HitsAndTrials, StoredRates, share_counts, whole_number
from goldgate.core.metric import format_number
from goldgate.core.page import (
    Cell,
    Column,
    LabelList,
    LabelRow,
    MeasuredValue,
    Name,
    Page,
    Paragraph,
    Picture,
    ScoreGroup,
    ScorePicture,
    Section,
    Table,
    count_text,
    measured_value,
    metric_values,
    score_row,
)
from goldgate.core.report_page import findings_section, suite_report_page

if TYPE_CHECKING:
    from goldgate.core.contracts import MetricValue
    from goldgate.suites.judged.contracts import JudgedReport, QuestionRow

HEADLINE = ("rate", "human_rate")
RATES = ("rate", "human_rate", "judge_rate", "judge_bias", "labels_worth")
AGREEMENT = ("agreement", "judge_sensitivity", "judge_specificity", "cohens_kappa", "human_agreement")
SHOWN_QUESTIONS = 20
CAUTION = (
    "The interval holds for rates from 0.1 to 0.97. At 0.995 with a weak judge it holds in 86 to 90 of 100 cases, and "
    "misses only by being too low. With a perfect judge and up to 30 labels it is two to three times as long as it "
    "need be."
)


def judged_page(report: JudgedReport) -> Page:
    """The rates first, then how far judge and people agree, each question, and how the labels came about."""
    main = cast("dict[str, MetricValue]", report["metrics"]["main"])
    items = report["labelling"]["items"]
    rates = metric_values({name: main[name] for name in RATES})
    sections = [
        Section("Rates", (rates, *_steps(report)), in_brief=not report["gates"]),
        Section("Agreement", (metric_values({name: main[name] for name in AGREEMENT}),)),
        Section("Questions", (_question_table(report),)),
        Section("Labelling", (_labelling(report), Paragraph(CAUTION))),
        findings_section(report),
    ]
    return suite_report_page(report, count_text(items, "item"), sections, HEADLINE)


def _steps(report: JudgedReport) -> Iterator[Paragraph]:
    """What the counts of a rate are, where they are in parts of an item: a judge without a label says one half."""
    labelling, main = report["labelling"], report["metrics"]["main"]
    human, judge = labelling["human_steps"], labelling["judge_steps"]
    for name, steps in (("human_rate", human), ("judge_rate", judge), ("judge_bias", max(human, judge))):
        metric = main[name]
        if steps > 1 and "denominator" in metric and metric["denominator"]:
            total, trials = metric["numerator"], metric["denominator"]
            items = f"{total / steps:,.10g} of {count_text(trials // steps, 'item')}"
            yield Paragraph(f"{name} is counted in parts of an item, {steps:,} to each: {total}/{trials} is {items}.")


def _question_table(report: JudgedReport) -> Table:
    titles = ("question", "rate", "people", "judge", "items N", "labelled n", "unsure", "others m", "λ", "labels worth")
    columns = tuple(Column(title, optional=title in ("unsure", "labels worth")) for title in titles)
    rows: list[tuple[Cell, ...]] = []
    for row in report["questions"]["rows"]:
        metrics = cast("dict[str, MetricValue]", row["metrics"])
        sizes = (MeasuredValue(size) for size in (row["items"], row["labelled"], row["unsure"], row["others"]))
        rates = (measured_value(metrics[name]) for name in ("rate", "human_rate", "judge_rate"))
        rows.append((Name(row["question"]), *rates, *sizes, _lambdas(row), measured_value(metrics["labels_worth"])))
    return Table(columns, tuple(rows), limit=SHOWN_QUESTIONS, empty="there is no item")


def _lambdas(row: QuestionRow) -> str:
    """λ, of several strata from the smallest to the largest; with unsure items the one for 0."""
    if row["ends"] is None:
        return "n/a"
    lambdas = sorted({*row["ends"]["all_0"]["lambdas"]})
    return " to ".join(format_number(each, 3) for each in dict.fromkeys((lambdas[0], lambdas[-1])))


def _labelling(report: JudgedReport) -> LabelList:
    labelling = report["labelling"]
    rows = [
        LabelRow("sampling", (labelling["sampling"],)),
        LabelRow("people", tuple(labelling["people"]) or ("none",)),
        LabelRow("judges", tuple(labelling["judges"]) or ("none",)),
        LabelRow("labelled by several", (count_text(labelling["labelled_by_several"], "item"),)),
        LabelRow("without a judge's label", (count_text(labelling["without_judge_label"], "item"),)),
    ]
    draw = labelling["draw"]
    if draw is not None:
        by = f" by {draw['by']}" if draw["by"] is not None else ""
        older = "; the judge's labels are older than the draw" if labelling["judge_is_older"] else ""
        text = (
            f"draw {draw['draw']}: {draw['n']} of {draw['items']} items{by}, signature {draw['signature'][:12]}{older}"
        )
        rows.append(LabelRow("draw", (text,)))
    return LabelList(tuple(rows))


def judged_pictures(report: JudgedReport) -> tuple[Picture, ...]:
    """The rates of all, then the corrected rate of each question where there are several."""
    main = cast("dict[str, MetricValue]", report["metrics"]["main"])
    names = ("rate", "human_rate", "judge_rate", *AGREEMENT[:3])
    groups = [ScoreGroup("", tuple(score_row(name, main[name]) for name in names))]
    rows = report["questions"]["rows"][:SHOWN_QUESTIONS]
    if len(rows) > 1:
        question_rows = tuple(score_row(row["question"], cast("MetricValue", row["metrics"]["rate"])) for row in rows)
        groups.append(ScoreGroup("rate by question", question_rows))
    return (ScorePicture("scores", "Rates", tuple(groups)),)


def judged_rates(report: JudgedReport) -> StoredRates:
    """Rates as shares of items; of the corrected rate, its share of the effective number of labels, both rounded down.

    Labels between 0 and 1 are counted in steps, which are no trials.
    """
    labelling, rates = report["labelling"], {}
    for name, steps in (("human_rate", labelling["human_steps"]), ("judge_rate", labelling["judge_steps"])):
        hits, trials = _share_counts(report, [name])[name]
        rates[name] = hits // (steps or 1), trials // (steps or 1)
    rows, effective = report["questions"]["rows"], 0.0
    if len(rows) == 1 and rows[0]["ends"] is not None:
        effective = min(end["effective_labels"] for end in (rows[0]["ends"]["all_0"], rows[0]["ends"]["all_1"]))
    value = report["metrics"]["main"]["rate"]["value"]
    corrected = (int((value or 0.0) * int(effective)), int(effective)) if value is not None else (0, 0)
    return StoredRates(
        {**rates, **_share_counts(report, AGREEMENT[:3]), "rate": corrected},
        {"items": whole_number(report["labelling"]["items"])},
        judged=report["inputs"]["labels"] or None,
    )


def _share_counts(report: JudgedReport, names: Sequence[str]) -> dict[str, HitsAndTrials]:
    main = report["metrics"]["main"]
    metrics = ((name, main[name]) for name in names)
    return {name: share_counts(metric, f"metrics.main.{name}") for name, metric in metrics if "denominator" in metric}
