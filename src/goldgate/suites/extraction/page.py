"""The extraction suite's report as a page and as pictures; the rates of a stored report, checked against itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, cast

from goldgate.core.evaluation import (
    ContradictionError,
    HitsAndTrials,
    StoredRates,
    require_equal_rates,
    stated_rates,
    whole_number,
)
from goldgate.core.measure import UNITS_COLUMN, RatioMeasure
from goldgate.core.page import (
    BarPicture,
    Cell,
    Column,
    LabelList,
    LabelRow,
    MeasuredValue,
    Name,
    Notes,
    Page,
    Paragraph,
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
from goldgate.suites.extraction.settings import ExtractionSettings

if TYPE_CHECKING:
    from goldgate.core.contracts import MeanValue, MetricValue
    from goldgate.suites.extraction.contracts import ConfusedPairs, ExtractionReport, UnitScores

SHOWN_TYPES = 20
SAMPLES = "samples.jsonl"

FAMILIES = ("strict", "relaxed", "type")
WHOLE = "event"  # the family of whole events
MATCHED = ("strict", "relaxed")  # the families of the breakdown
HEADLINE = ("strict_f1", "relaxed_f1", "type_f1", "schema_compliance_rate", "hallucination_rate")

CONFUSED = "confused"  # the facet of what was taken for what
_REMARK_FILTERS = {"missing_answers": (PARSED, MISSING_ANSWER), "unreadable_answers": (PARSED, Status.ERROR)}

_LENGTHS = "Length of matched values"
_LENGTHS_NOTE = (
    "relaxed_excess is 1 where no matched value is longer than its partner in gold, and 1.1 where they are 10 % "
    "longer; relaxed_shortfall is 0 where none is shorter."
)
# Headings of the metrics, with how the names under each begin.
_GROUPS = {
    "Parse diagnostics": ("total_samples", "missing_predictions", "parse_", "said_none"),
    "Schema compliance": ("schema_",),
    "Hallucination": ("hallucination_",),
    _LENGTHS: ("relaxed_excess", "relaxed_shortfall", "stub_rate"),
    "Relaxed matches by chance": ("relaxed_chance",),
}
_THOUGHT = "cot_"  # they come last, under a heading of their own

_RATE_COLUMNS = tuple(
    Column(title, group=family, optional=title == "interval")
    for family in MATCHED
    for title in ("P", "R", "F1", "interval")
)


def extraction_page(report: ExtractionReport) -> Page:
    """Scores first, chain of thought last."""
    total = cast(int, report["metrics"]["main"]["total_samples"]["value"])
    sections = [
        Section("Scores", (_scores(report), *_merged(report)), in_brief=not report["gates"]),
        *_groups(report),
        _papers(report),
        Section("Errors by name", (_mistakes(report),)),
        *_confusions(report),
        Section("How answers were read", (_reading(report),)),
        _hints(report),
        findings_section(report),
        *_breakdown(report),
        Section("Macro averages", (_macro(report),)),
        _papers_by_type(report),
        _diagnostics(report),
    ]
    return suite_report_page(report, count_text(total, "sample"), sections, HEADLINE, _REMARK_FILTERS)


def _scores(report: ExtractionReport) -> Table:
    metrics = {**report["metrics"]["main"], **report["metrics"]["companions"]}
    return rate_table((name, {rate: metrics[f"{name}_{rate}"] for rate in RATES}) for name in (*FAMILIES, WHOLE))


def _merged(report: ExtractionReport) -> tuple[Paragraph, ...]:
    """How many gold arguments count once with another."""
    merged = report["reading"]["gold"]["merged"]
    what = f"{count_text(merged, 'gold argument')} with the same type, role and value as another in the record"
    return (Paragraph(f"Not counted twice: {what}."),) if merged else ()


def _macro(report: ExtractionReport) -> Table:
    macro = report["breakdown"]["macro"]
    kinds = {"event type": macro["event_types"], "role": macro["roles"]}
    return rate_table(
        (f"{family}, by {label}", {rate: cast("Mapping[str, MeanValue]", means)[f"{family}_{rate}"] for rate in RATES})
        for label, means in kinds.items()
        for family in MATCHED
    )


def _groups(report: ExtractionReport) -> list[Section]:
    """The metrics but those of scores and thoughts under their headings."""
    in_scores = {f"{family}_{rate}" for family in FAMILIES for rate in RATES}
    metrics = {**report["metrics"]["main"], **report["metrics"]["diagnostics"]}
    groups = metric_groups(
        {name: m for name, m in metrics.items() if name not in in_scores and not name.startswith(_THOUGHT)}, _GROUPS
    )
    note = Paragraph(_LENGTHS_NOTE)
    return [each._replace(blocks=(*each.blocks, note)) if each.title == _LENGTHS else each for each in groups]


def _papers(report: ExtractionReport) -> Section:
    """What the protocol's profile adds: precision, recall and F1 of each family in a row, then counts."""
    metrics = report["metrics"].get("papers") or {}
    counts = {name: metric for name, metric in metrics.items() if not name.endswith(RATES)}
    blocks = (rate_table(_families(metrics)), *((metric_values(counts),) if counts else ()))
    return Section("As papers report", blocks if metrics else ())


def _papers_by_type(report: ExtractionReport) -> Section:
    """What the profile counts for each event type, where it has tables for them, with their plain averages."""
    by_type = report["breakdown"].get("papers") or []
    averages = report["breakdown"]["macro"].get("papers") or {}
    columns = (Column("event type"), Column(""), *map(Column, RATES))
    entries: list[tuple[Cell, Mapping[str, MetricValue]]] = [(Name(e["event_type"]), e["metrics"]) for e in by_type]
    rows: list[tuple[Cell, ...]] = [
        (name, family, *(measured_value(rates[rate]) for rate in RATES))
        for name, metrics in (*entries, ("average", averages))
        for family, rates in _families(metrics)
    ]
    return Section("As papers report, by event type", (Table(columns, tuple(rows)),) if by_type else (), is_detail=True)


def _families(metrics: Mapping[str, MetricValue]) -> list[tuple[str, dict[str, MetricValue]]]:
    """Precision, recall and F1 of each family among these metrics."""
    names = [name.removesuffix("_f1") for name in metrics if name.endswith("_f1")]
    return [(name, {rate: metrics[f"{name}_{rate}"] for rate in RATES}) for name in names]


def _diagnostics(report: ExtractionReport) -> Section:
    """The chain-of-thought metrics, coverage first: no rate of them means anything without it."""
    metrics = {name: m for name, m in report["metrics"]["diagnostics"].items() if name.startswith(_THOUGHT)}
    order = sorted(metrics, key=lambda name: name != "cot_coverage_rate")
    return Section("Diagnostics", (metric_values({name: metrics[name] for name in order}),) if metrics else ())


def _mistakes(report: ExtractionReport) -> Table:
    """Error name, false positives, false negatives; the last row is their sum."""
    counts = {name: (e["false_positives"], e["false_negatives"]) for name, e in report["errors"].items()}
    counts["total"] = (sum(fp for fp, _ in counts.values()), sum(fn for _, fn in counts.values()))
    rows = tuple((Name(name), MeasuredValue(fp), MeasuredValue(fn)) for name, (fp, fn) in counts.items())
    return Table((Column("error"), Column("FP"), Column("FN")), rows)


def _confusions(report: ExtractionReport) -> list[Section]:
    """Event types that were taken for others, and roles within a type."""
    confusions = cast("Mapping[str, ConfusedPairs]", report["confusions"])
    return [
        Section(title, confusion_blocks(confusions[kind], "event_type", group, CONFUSED, counted))
        for kind, title, group, counted in (
            ("event_types", "Confused event types", "", "sample"),
            ("roles", "Confused roles", "event type", "argument"),
        )
    ]


def _reading(report: ExtractionReport) -> LabelList:
    reading = report["reading"]
    violations = tuple(
        f"{name} {entry['occurrences']} (in {count_text(entry['samples'], 'sample')})"
        for name, entry in reading["violations"].items()
    )
    counted = (count_labels(heading, reading[heading]) for heading in ("methods", "thoughts", "repairs"))
    return LabelList((*counted, LabelRow("violations", violations or ("none",))))


def _hints(report: ExtractionReport) -> Section:
    """Forms of answers that a setting would read, and the setting; an empty section if there are none."""
    hints = tuple(
        (
            f"{hint['answers']} of {hint['of']} answers have {hint['have']}: ",
            Name(hint["setting"]) if hint["setting"] else hint["advice"] or "",
        )
        for hint in report["hints"]
    )
    if sum(hint["setting"] is not None for hint in report["hints"]) > 1:
        hints = *hints, ("All of them as one setting: ", Name(report["hints_setting"] or ""))
    return Section("Hints", (Paragraph("They change no number."), Notes(hints)) if hints else ())


def _breakdown(report: ExtractionReport) -> list[Section]:
    """Tables of scores by event type (most gold first, then by name) and by role."""
    breakdown = report["breakdown"]
    hits = tuple(Column(title, optional=True) for title in ("strict hits", "relaxed hits"))
    counts = (Column("pred"), Column("gold"))
    empty = "no event has an argument: see type above"
    type_rows = tuple((Name(entry["event_type"]), *_numbers(entry)) for entry in _sorted_types(report))
    role_rows = tuple(
        (Name(entry["event_type"]), Name(entry["role"]), *_numbers(entry)) for entry in breakdown["roles"]
    )
    by_type = (Column("event type"), *_RATE_COLUMNS, *hits, *counts)
    by_role = (Column("event type"), Column("role"), *_RATE_COLUMNS, *hits, *counts)
    type_table = Table(by_type, type_rows, limit=SHOWN_TYPES, empty=empty)
    role_table = Table(by_role, role_rows, empty=empty)
    return [
        Section("Event types", (type_table, *_more(report, "event_types", "event type"))),
        Section("Roles", (role_table, *_more(report, "roles", "role")), is_detail=True),
    ]


def _left_out(report: ExtractionReport, name: Literal["event_types", "roles", "predicted"]) -> int:
    left_out = report["breakdown"].get("left_out")
    return 0 if left_out is None else left_out[name]


def _more(report: ExtractionReport, name: Literal["event_types", "roles"], thing: str) -> tuple[Paragraph, ...]:
    """What is counted and not listed, and where it is."""
    count = _left_out(report, name)
    return (
        (Paragraph(f"And {count_text(count, f'more {thing}')} that gold does not have: {SAMPLES}."),) if count else ()
    )


def _sorted_types(report: ExtractionReport) -> list[UnitScores]:
    """The entries of event types, those with most gold first, then by name."""
    return sorted(report["breakdown"]["event_types"], key=lambda entry: (-entry["gold"], entry["event_type"]))


def _numbers(entry: UnitScores) -> list[Cell]:
    rates = [cell for family in MATCHED for cell in rate_cells(entry, family)]
    return [*rates, *(MeasuredValue(entry[name]) for name in ("strict_hits", "relaxed_hits", "predicted", "gold"))]


def extraction_pictures(report: ExtractionReport) -> tuple[Picture, ...]:
    """In the order of the page. Without a gold argument there are no types to draw."""
    pictures: tuple[Picture, ...] = (_score_picture(report), _error_picture(report))
    return (*pictures, _type_picture(report)) if report["breakdown"]["event_types"] else pictures


def _score_picture(report: ExtractionReport) -> Picture:
    main = report["metrics"]["main"]
    groups = (ScoreGroup(f, tuple(score_row(rate, main[f"{f}_{rate}"]) for rate in RATES)) for f in FAMILIES)
    return ScorePicture("scores", "Scores", tuple(groups))


def _error_picture(report: ExtractionReport) -> Picture:
    rows = tuple((name, (e["false_positives"], e["false_negatives"])) for name, e in report["errors"].items())
    return BarPicture("errors", "Errors by name", ("false positives", "false negatives"), rows)


def _type_picture(report: ExtractionReport) -> Picture:
    """A bar for the strict F1 of each event type: those with most gold first, then by name."""
    types = _sorted_types(report)
    visible_types = types[:SHOWN_TYPES]
    rows = tuple(ScoreRow(e["event_type"], measured_value(e["strict_f1"]), aside=str(e["gold"])) for e in visible_types)
    count = f"{len(visible_types)} of {len(types)} event types" if len(visible_types) < len(types) else "Event types"
    note = f"{count}, those with most gold first."
    return ScorePicture("types", "Event types", (ScoreGroup("strict_f1", rows),), aside="gold", notes=(note,))


def extraction_rates(report: ExtractionReport) -> StoredRates:
    """The rates under metrics.main; a ContradictionError where the event types, or each other, give others."""
    stated = stated_rates(report)
    samples = whole_number(report["metrics"]["main"]["total_samples"]["value"])
    units = {
        name: sum(whole_number(entry[name]) for entry in report["breakdown"]["event_types"])
        for name in ("predicted", "gold", "strict_hits", "relaxed_hits")
    }
    units["predicted"] += whole_number(_left_out(report, "predicted"))
    counted = {
        **_family_counts("strict_", units["strict_hits"], units["predicted"], units["gold"]),
        **_family_counts("relaxed_", units["relaxed_hits"], units["predicted"], units["gold"]),
        # The breakdown has no sets of types: precision and recall give F1, and have one numerator.
        **_family_counts("type_", stated["type_precision"][0], stated["type_precision"][1], stated["type_recall"][1]),
    }
    require_equal_rates(counted, {name: stated[name] for name in counted})
    for name in sorted(stated.keys() & _rates_of_all_samples()):
        if stated[name][1] != samples:
            raise ContradictionError(f"metrics.main.{name}.denominator", str(samples), str(stated[name][1]))
    return StoredRates(stated, {"samples": samples}, judged=report["inputs"]["predictions"] or None)


def _rates_of_all_samples() -> set[str]:
    """The rates under metrics.main that divide by the number of samples."""
    from goldgate.suites.extraction.measures import extraction_measures  # a page alone needs none of them

    measures = [m for m in extraction_measures(ExtractionSettings()) if isinstance(m, RatioMeasure)]
    ratios = {
        name: ratio for measure in measures if measure.section == "main" for name, ratio in measure.ratios.items()
    }
    return {name for name, ratio in ratios.items() if ratio.denominator.keys() == {UNITS_COLUMN}}


def _family_counts(prefix: str, hits: int, predicted: int, gold: int) -> dict[str, HitsAndTrials]:
    return {
        f"{prefix}precision": (hits, predicted),
        f"{prefix}recall": (hits, gold),
        f"{prefix}f1": (2 * hits, predicted + gold),
    }
