"""The judged suite's pages and pictures: of a report, and of an item with its labels; the rates of a stored report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from goldgate.core.evaluation import HitsAndTrials, StoredRates, share_counts, whole_number
from goldgate.core.finding import limit_length
from goldgate.core.metric import format_number
from goldgate.core.page import (
    Block,
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
from goldgate.core.unit_page import MarkedText, UnitPage, UnitSection, UnitSummary, marked_text
from goldgate.readers.draw import shown_fields
from goldgate.suites.judged.item_parts import split_item

if TYPE_CHECKING:
    from goldgate.core.contracts import MetricValue
    from goldgate.suites.judged.contracts import ItemLabelsRecord, JudgedReport, QuestionRow

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


_HALF = 0.5
_QUOTES, _TEXTS = 20, 10  # of an item on a page: one item must leave room for others


def item_summary(record: ItemLabelsRecord) -> UnitSummary:
    """The item in a list; first those where judge and people disagree, then unsure ones, then people who disagree."""
    human, judge = record["human"], record["judge"]
    facets = {"question": (record["question"],)}
    numbers = {each["label"] for each in record["people"] if isinstance(each["label"], (int, float))}
    words, weight = [], 0
    if record["drawn"] and human is None:
        words, weight = ["unsure" if record["people"] else "no label of a person"], 1
        facets["labels"] = ("unsure",)
    elif human is not None and judge is not None and (human > _HALF) != (judge > _HALF):
        words, weight = [f"people {_text(human)}, judge {_text(judge)}"], 3
        facets["labels"] = ("too strict",) if human > judge else ("too lenient",)
    if len(numbers) > 1:
        words.append("people disagree")
        weight += 1
        facets["people"] = ("disagree",)
    if record["stratum"] is not None:
        facets["stratum"] = (record["stratum"],)
    facets["drawn"] = ("yes",) if record["drawn"] else ("no",)
    return UnitSummary(record["id"], "; ".join(words), weight, facets)


def item_snippet(record: ItemLabelsRecord, inputs: Mapping[str, Any]) -> str:
    """The claim, or the longest text of the item."""
    item = inputs.get("items")
    if not isinstance(item, Mapping):
        return ""
    if isinstance(item.get("claim"), str):
        return str(item["claim"])
    texts = (value for value in shown_fields(item).values() if isinstance(value, str))
    return max(texts, key=len, default="")


def item_page(record: ItemLabelsRecord, inputs: Mapping[str, Any]) -> UnitPage:
    """The result, the item as it was shown, with its quotes marked in its text, and all labels with their notes."""
    summary = item_summary(record)
    sections = [UnitSection("Result", (Paragraph(summary.word or "Nothing stands out."), Paragraph(_result(record))))]
    item = inputs.get("items")
    if isinstance(item, Mapping):
        parts = chain.from_iterable(split_item(item, _QUOTES, _TEXTS))
        sections += [section._replace(blocks=(*map(_cut, section.blocks),)) for section in parts]
    sections.append(UnitSection("Labels", (_label_table(record, inputs.get("labels")),)))
    return UnitPage(record["id"], tuple(sections))


def _result(record: ItemLabelsRecord) -> str:
    drawn = "Drawn" if record["drawn"] else "Not drawn"
    stratum = "" if record["stratum"] is None else f", stratum {limit_length(record['stratum'], 80)}"
    return f"{drawn}{stratum}; label of people {_text(record['human'])}, of the judge {_text(record['judge'])}."


def _text(label: object) -> str:
    return "none" if label is None else f"{label:g}" if isinstance(label, (int, float)) else str(label)


def _cut(block: Block | MarkedText) -> Block | MarkedText:
    """A block of an item; of a long text what is around its quotes."""
    return marked_text(block.text, block.marks) if isinstance(block, MarkedText) else block


def _label_table(record: ItemLabelsRecord, stored: object) -> Table:
    """Every label; with its note where the file is there."""
    notes = {}
    for each in stored if isinstance(stored, list) else ():
        if isinstance(each, Mapping):
            remark = each.get("note") or each.get("reason")
            notes[each.get("kind"), each.get("by")] = limit_length(remark) if isinstance(remark, str) else ""
    rows = [
        (kind, each["by"], _text(each["label"]), notes.get((kind, each["by"]), ""))
        for kind, labels in (("human", record["people"]), ("judge", record["judges"]))
        for each in labels
    ]
    return Table(tuple(map(Column, ("kind", "by", "label", "note"))), tuple(rows), empty="it has no label")
