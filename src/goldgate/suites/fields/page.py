"""The fields suite's report as a page and as pictures; the rates of a stored report, checked against itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from goldgate.core.evaluation import StoredRates, require_equal_rates, stated_rates, whole_number
from goldgate.core.page import (
    BarPicture,
    Block,
    Cell,
    Column,
    LabelList,
    LabelRow,
    MeasuredValue,
    Name,
    Page,
    Picture,
    ScoreGroup,
    ScorePicture,
    ScoreRow,
    Section,
    Table,
    count_text,
    measured_value,
    metric_values,
    score_row,
)
from goldgate.core.report_page import (
    RATES,
    confusion_blocks,
    count_labels,
    findings_section,
    metric_groups,
    rate_cells,
    rate_table,
    suite_report_page,
)
from goldgate.response.parsed import Status
from goldgate.response.reading_report import MISSING_ANSWER, PARSED
from goldgate.suites.fields.alignment import GOLD_STATES, PREDICTED_STATES

if TYPE_CHECKING:
    from goldgate.core.contracts import MetricValue
    from goldgate.suites.fields.contracts import FieldsReport, PathCounts, PathRow

SHOWN_PATHS = 20
HEADLINE = ("field_f1", "item_f1", "document_exact_rate", "schema_compliance_rate", "hallucination_rate")

CONFUSED = "confused"  # the facet of what was taken for what
_REMARK_FILTERS = {"missing_answers": (PARSED, MISSING_ANSWER), "unreadable_answers": (PARSED, Status.ERROR)}
_FAMILIES = {"field": "leaves", "weighted": "leaves, weighted", "item": "items"}
_GROUPS = {
    "Documents": ("document_", "absent_"),
    "Schema compliance": ("schema_",),
    "Hallucination": ("hallucination_",),
    "Parse diagnostics": ("total_samples", "missing_predictions", "parse_"),
}
_ERRORS = (*GOLD_STATES[1:], *PREDICTED_STATES[3:])
_WRONG_MEANINGS = {
    "swapped": "two leaves of one object have each other's values",
    "format": "the same number, date or text in another spelling",
    "number": "another number",
    "part": "one contains the other, punctuation included",
    "other": "another value",
}
_RATE_COLUMNS = tuple(
    Column(title, optional=title == "interval") for title in ("P", "R", "F1", "interval", "pred", "gold")
)


def fields_page(report: FieldsReport) -> Page:
    """What gold and schema disagree about comes first, since every number depends on it."""
    main, macro = report["metrics"]["main"], report["breakdown"]["macro"]
    total = whole_number(main["total_samples"]["value"])
    in_scores = {f"{family}_{rate}" for family in _FAMILIES for rate in RATES}
    sections = [
        _gold_section(report),
        Section("Scores", (rate_table(_scores(report)),), in_brief=not report["gates"]),
        *metric_groups({name: metric for name, metric in main.items() if name not in in_scores}, _GROUPS),
        _confidence(report),
        Section("Errors by name", _errors(report)),
        Section("Confused values of enums", confusion_blocks(report["confusions"], "path", "path", CONFUSED, "value")),
        _paths(report),
        _items(report),
        Section("Macro averages", (rate_table([("by path", _family(macro, "field", "_macro"))]),)),
        Section("How answers were read", (_reading(report),)),
        findings_section(report),
    ]  # fmt: skip
    return suite_report_page(report, count_text(total, "document"), sections, HEADLINE, _REMARK_FILTERS)


def _family(metrics: Mapping[str, object], family: str, ending: str = "") -> dict[str, MetricValue]:
    return {rate: cast("MetricValue", metrics[f"{family}_{rate}{ending}"]) for rate in RATES}


def _scores(report: FieldsReport) -> list[tuple[str, dict[str, MetricValue]]]:
    """Leaves and items; weighted leaves where a weight is set."""
    main = report["metrics"]["main"]
    rows = [(label, _family(main, family)) for family, label in _FAMILIES.items()]
    return [row for row in rows if row[0] != _FAMILIES["weighted"] or row[1]["f1"]["value"] is not None]


def _gold_section(report: FieldsReport) -> Section:
    gold = report["gold"]
    treatment = "left out" if gold["outside_schema"] == "leave_out" else "counted"
    shapes = dict.fromkeys(gold["other_shapes"], "another shape than the schema has")
    outside = {
        path: f"{shapes.get(path, 'the schema does not have it')}: {treatment}" for path in gold["undeclared_paths"]
    }
    counts = {**gold["other_shapes"], **gold["undeclared_paths"]}
    rows = tuple((Name(path), MeasuredValue(counts[path]), text) for path, text in {**shapes, **outside}.items())
    table = Table((Column("path"), Column("places"), Column("gold at this path")), rows, limit=SHOWN_PATHS)
    return Section("Gold against the schema", (table,) if rows else ())


def _confidence(report: FieldsReport) -> Section:
    """What confidences are worth, and what need not be reviewed; nothing where no prediction has them."""
    review = report["review"]
    if not review["leaves"]:
        return Section("Confidence", ())
    threshold, predicted = review["threshold"], report["errors"]["predicted"]["leaves"]
    straight = (
        "no threshold is safe: too few leaves, or too many errors among the most confident"
        if threshold is None
        else f"{review['straight_through']} of {predicted} leaves: those with a confidence from {threshold} on"
    )
    rows = (LabelRow("errors", (f"{review['wrong']} of {review['leaves']} leaves with a confidence",)),
            LabelRow("needs no review", (straight,)))  # fmt: skip
    return Section("Confidence", (metric_values(report["metrics"]["confidence"]), LabelList(rows)))


def _errors(report: FieldsReport) -> tuple[Block, ...]:
    """Leaves of both sides by the name of their error, with their sum; then how wrong values are wrong."""
    sides = [cast("Mapping[str, int]", report["errors"][side]) for side in ("predicted", "gold")]
    rows: list[tuple[Cell, ...]] = [
        (Name(name), *(MeasuredValue(side[name]) if name in side else "" for side in sides)) for name in _ERRORS
    ]
    rows.append((Name("total"), *(MeasuredValue(side["leaves"] - side["hit"]) for side in sides)))
    table = Table((Column("error"), Column("predicted"), Column("gold")), tuple(rows))
    kinds = {kind: count for kind, count in report["errors"]["wrong"].items() if count}
    if not kinds:
        return (table,)
    wrong = tuple((Name(kind), MeasuredValue(count), _WRONG_MEANINGS.get(kind, "")) for kind, count in kinds.items())
    return table, Table((Column("wrong"), Column("leaves"), Column("what it means")), wrong)


def _sorted_paths(report: FieldsReport) -> list[PathRow]:
    """The paths of a report: first those with most lost leaves, then by name."""
    return sorted(
        report["breakdown"]["paths"], key=lambda row: (2 * row["hits"] - row["gold"] - row["predicted"], row["path"])
    )


def _paths(report: FieldsReport) -> Section:
    """Every path, that with most lost leaves first, and what became of its leaves."""
    columns = (Column("path"), *_RATE_COLUMNS, *(Column(name, optional=True) for name in _ERRORS))
    rows: list[tuple[Cell, ...]] = []
    for row in _sorted_paths(report):
        errors = {**row["errors"]["predicted"], **row["errors"]["gold"]}
        rows.append((*_rate_row(row, "field"), *(MeasuredValue(errors.get(name, 0)) for name in _ERRORS)))
    return Section("Paths", (Table(columns, tuple(rows), limit=SHOWN_PATHS, empty="no leaves on either side"),))


def _items(report: FieldsReport) -> Section:
    rows = tuple(_rate_row(row, "item") for row in report["breakdown"]["items"])
    table = Table((Column("items of"), *_RATE_COLUMNS), rows, limit=SHOWN_PATHS)
    return Section("Items that are right as a whole", (table,) if rows else ())


def _rate_row(row: PathCounts, family: str) -> tuple[Cell, ...]:
    return Name(row["path"]), *rate_cells(row, family), MeasuredValue(row["predicted"]), MeasuredValue(row["gold"])


def _reading(report: FieldsReport) -> LabelList:
    reading = report["reading"]
    names = ("repeated_keys", "shape_mended", "pair_share_cost")
    other = {name.replace("_", " "): cast("Mapping[str, int]", reading)[name] for name in names}
    return LabelList((
        *(count_labels(heading, cast("Mapping[str, dict[str, int]]", reading)[heading])
          for heading in ("methods", "thoughts", "repairs")),
        count_labels("mended", other),
        *((count_labels("paired by equality", reading["equal_only_lists"]),) if reading["equal_only_lists"] else ()),
    ))  # fmt: skip


def fields_pictures(report: FieldsReport) -> tuple[Picture, ...]:
    """In the order of the page; paths are those that cost most."""
    scores = tuple(
        ScoreGroup(label, tuple(score_row(rate, rates[rate]) for rate in RATES)) for label, rates in _scores(report)
    )
    sides = [cast("Mapping[str, int]", report["errors"][side]) for side in ("predicted", "gold")]
    errors = tuple((name, tuple(side.get(name, 0) for side in sides)) for name in _ERRORS)
    paths = _sorted_paths(report)
    first_paths = paths[:SHOWN_PATHS]
    rows = tuple(ScoreRow(row["path"], measured_value(row["field_f1"]), aside=str(row["gold"])) for row in first_paths)
    count = f"{len(first_paths)} of {len(paths)} paths" if len(first_paths) < len(paths) else "Paths"
    note = f"{count}, those that cost most leaves first."
    pictures: tuple[Picture, ...] = (
        ScorePicture("scores", "Scores", scores),
        BarPicture("errors", "Errors by name", ("predicted", "gold"), errors),
        ScorePicture("paths", "Paths", (ScoreGroup("field_f1", rows),), aside="gold", notes=(note,)),
    )
    return pictures if rows else pictures[:2]


def fields_rates(report: FieldsReport) -> StoredRates:
    """The rates under metrics.main; a ContradictionError where the paths give others."""
    stated = stated_rates(report)
    rows = report["breakdown"]["paths"]
    hits, predicted, gold = (
        sum(whole_number(cast("Mapping[str, int]", row)[name]) for row in rows)
        for name in ("hits", "predicted", "gold")
    )
    rates_by_path = {
        "field_precision": (hits, predicted),
        "field_recall": (hits, gold),
        "field_f1": (2 * hits, predicted + gold),
    }
    require_equal_rates(rates_by_path, {name: stated[name] for name in rates_by_path})
    documents = whole_number(report["metrics"]["main"]["total_samples"]["value"])
    return StoredRates(stated, {"documents": documents}, judged=report["inputs"]["predictions"] or None)
