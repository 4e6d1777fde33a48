"""The extraction suite's report as a page and as pictures; the rates of a stored report, checked against itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from goldgate.core.page import (
    BarPicture,
    Block,
    Cell,
    Column,
    LabelList,
    LabelRow,
    Matrix,
    MatrixCell,
    MeasuredValue,
    Name,
    Notes,
    Page,
    Paragraph,
    Picture,
    Samples,
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
from goldgate.core.report_page import findings_section, suite_report_page
from goldgate.core.suite import (
    ContradictionError,
    HitsAndTrials,
    StoredRates,
    require_equal_rates,
    stated_rates,
    whole_number,
)

SHOWN_TYPES = 20
SHOWN_CONFUSIONS, MOST_CONFUSIONS = 5, 50
SAMPLES = "samples.jsonl"

FAMILIES = ("strict", "relaxed", "type")
MATCHED = ("strict", "relaxed")  # the families of the breakdown
RATES = ("precision", "recall", "f1")
HEADLINE = ("strict_f1", "relaxed_f1", "type_f1", "schema_compliance_rate", "hallucination_rate")

# Headings of the metrics, with how the names under each begin.
_GROUPS = {
    "Parse diagnostics": ("total_samples", "missing_predictions", "parse_"),
    "Schema compliance": ("schema_",),
    "Hallucination": ("hallucination_",),
    "Length of matched values": ("relaxed_excess", "relaxed_shortfall", "stub_rate"),
}
_REST = "Other metrics"
_THOUGHT = "cot_"  # they come last, under a heading of their own

_RATE_COLUMNS = tuple(
    Column(title, group=family, optional=title == "interval")
    for family in MATCHED
    for title in ("P", "R", "F1", "interval")
)
_HITS = {"strict_hits": "strict hits", "relaxed_hits": "relaxed hits"}


def extraction_page(report: Mapping[str, Any]) -> Page:
    """Scores first, chain of thought last."""
    total = report["metrics"]["main"]["total_samples"]["value"]
    sections = [
        Section("Scores", (_scores(report),), in_brief=not report["gates"]),
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
    return suite_report_page(report, count_text(total, "sample"), sections, Samples(SAMPLES, total), HEADLINE)


def _scores(report: Mapping[str, Any]) -> Table:
    main = report["metrics"]["main"]
    return _rates((family, {rate: main[f"{family}_{rate}"] for rate in RATES}) for family in FAMILIES)


def _macro(report: Mapping[str, Any]) -> Table:
    averages = report["breakdown"]["macro"]
    return _rates(
        (f"{family}, by {label}", {rate: averages[kind][f"{family}_{rate}"] for rate in RATES})
        for kind, label in (("event_types", "event type"), ("roles", "role"))
        for family in MATCHED
    )


def _rates(families: Iterable[tuple[str, Mapping[str, Any]]]) -> Table:
    """Precision, recall and F1 in columns."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (label, *(measured_value(rates[rate]) for rate in RATES)) for label, rates in families
    )
    return Table((Column(""), *map(Column, RATES)), rows, with_counts=True)


def _groups(report: Mapping[str, Any]) -> list[Section]:
    """The metrics but those of thoughts under their headings; one that no heading expects is not left out."""
    groups: dict[str, dict[str, Any]] = {title: {} for title in (*_GROUPS, _REST)}
    in_scores = {f"{family}_{rate}" for family in FAMILIES for rate in RATES}
    metrics = report["metrics"]
    for name, metric in {**metrics["main"], **metrics["diagnostics"]}.items():
        if name not in in_scores and not name.startswith(_THOUGHT):
            title = next((title for title, starts in _GROUPS.items() if name.startswith(starts)), _REST)
            groups[title][name] = metric
    return [Section(title, (metric_values(metrics),)) for title, metrics in groups.items() if metrics]


def _papers(report: Mapping[str, Any]) -> Section:
    """What the protocol's profile adds: precision, recall and F1 of each family in a row, then counts."""
    metrics = report["metrics"].get("papers", {})
    counts = {name: metric for name, metric in metrics.items() if not name.endswith(RATES)}
    blocks = (_rates(_families(metrics)), *((metric_values(counts),) if counts else ()))
    return Section("As papers report", blocks if metrics else ())


def _papers_by_type(report: Mapping[str, Any]) -> Section:
    """What the profile counts for each event type, where it has tables for them, with their plain averages."""
    by_type = report["breakdown"].get("papers", ())
    averages = report["breakdown"]["macro"].get("papers", {})
    columns = (Column("event type"), Column(""), *map(Column, RATES))
    entries: list[tuple[Cell, Mapping[str, Any]]] = [(Name(e["event_type"]), e["metrics"]) for e in by_type]
    rows: list[tuple[Cell, ...]] = [
        (name, family, *(measured_value(rates[rate]) for rate in RATES))
        for name, metrics in (*entries, ("average", averages))
        for family, rates in _families(metrics)
    ]
    return Section("As papers report, by event type", (Table(columns, tuple(rows)),) if by_type else (), is_detail=True)


def _families(metrics: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Precision, recall and F1 of each family among these metrics."""
    names = [name.removesuffix("_f1") for name in metrics if name.endswith("_f1")]
    return [(name, {rate: metrics[f"{name}_{rate}"] for rate in RATES}) for name in names]


def _diagnostics(report: Mapping[str, Any]) -> Section:
    """The chain-of-thought metrics, coverage first: no rate of them means anything without it."""
    metrics = {name: m for name, m in report["metrics"]["diagnostics"].items() if name.startswith(_THOUGHT)}
    order = sorted(metrics, key=lambda name: name != "cot_coverage_rate")
    return Section("Diagnostics", (metric_values({name: metrics[name] for name in order}),) if metrics else ())


def _mistakes(report: Mapping[str, Any]) -> Table:
    """Error name, false positives, false negatives; the last row is their sum."""
    counts = {name: (e["false_positives"], e["false_negatives"]) for name, e in report["errors"].items()}
    counts["total"] = (sum(fp for fp, _ in counts.values()), sum(fn for _, fn in counts.values()))
    rows = tuple((Name(name), MeasuredValue(fp), MeasuredValue(fn)) for name, (fp, fn) in counts.items())
    return Table((Column("error"), Column("FP"), Column("FN")), rows)


def _confusions(report: Mapping[str, Any]) -> list[Section]:
    """Event types that were taken for others, and roles within a type; no section where none were."""
    sections = []
    for kind, title, group in (("event_types", "event types", ""), ("roles", "roles", "event type")):
        confused = report.get("confusions", {}).get(kind)  # an older report has none
        if not confused or not confused["pairs"]:
            continue
        cells = tuple(
            MatrixCell(p["gold"], p["predicted"], p["count"], p.get("event_type", "")) for p in confused["pairs"]
        )
        blocks: list[Block] = [Matrix("gold", "predicted", cells, group, SHOWN_CONFUSIONS, MOST_CONFUSIONS)]
        rest = confused["left_out"]
        if rest["pairs"]:
            words = f"{count_text(rest['pairs'], 'rarer pair')} with {count_text(rest['count'], 'confusion')}"
            blocks.append(Paragraph(f"Not listed: {words}."))
        sections.append(Section(f"Confused {title}", tuple(blocks)))
    return sections


def _reading(report: Mapping[str, Any]) -> LabelList:
    """`name count` for each that occurred."""
    reading = report["reading"]
    lists = {
        heading: [f"{name} {count}" for name, count in reading[heading].items() if count]
        for heading in ("methods", "thoughts", "repairs")
    }
    lists["violations"] = [
        f"{name} {entry['occurrences']} (in {count_text(entry['samples'], 'sample')})"
        for name, entry in reading["violations"].items()
    ]
    return LabelList(tuple(LabelRow(heading, tuple(entries) or ("none",)) for heading, entries in lists.items()))


def _hints(report: Mapping[str, Any]) -> Section:
    """What stands out in the answers, and the setting that would read it; no blocks where there is nothing."""
    hints = tuple(
        (f"{hint['answers']} of {hint['of']} answers have {hint['have']}: ", Name(hint["setting"]))
        for hint in report.get("hints", ())
    )
    return Section("Hints", (Paragraph("They change no number."), Notes(hints)) if hints else ())


def _breakdown(report: Mapping[str, Any]) -> list[Section]:
    """By event type, those with most gold first, then by name; and by role."""
    breakdown = report["breakdown"]
    hits = tuple(Column(title, optional=True) for title in _HITS.values())
    counts = (Column("pred"), Column("gold"))
    empty = "no event has an argument: see type above"
    type_rows = tuple((Name(entry["event_type"]), *_numbers(entry)) for entry in _sorted_types(report))
    role_rows = tuple(
        (Name(entry["event_type"]), Name(entry["role"]), *_numbers(entry)) for entry in breakdown["roles"]
    )
    by_type = (Column("event type"), *_RATE_COLUMNS, *hits, *counts)
    by_role = (Column("event type"), Column("role"), *_RATE_COLUMNS, *hits, *counts)
    return [
        Section("Event types", (Table(by_type, type_rows, limit=SHOWN_TYPES, empty=empty),)),
        Section("Roles", (Table(by_role, role_rows, empty=empty),), is_detail=True),
    ]


def _sorted_types(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The entries of event types, those with most gold first, then by name."""
    return sorted(report["breakdown"]["event_types"], key=lambda entry: (-entry["gold"], entry["event_type"]))


def _numbers(entry: Mapping[str, Any]) -> list[Cell]:
    """Precision, recall and F1, of which the last has its interval beside it: three would leave no room."""
    rates: list[Cell] = []
    for family in MATCHED:
        values = [measured_value(entry[f"{family}_{rate}"]) for rate in RATES]
        rates += [rate._replace(interval=None) for rate in values]
        rates.append("" if values[-1].interval is None else str(values[-1].interval))
    return [*rates, *(MeasuredValue(entry[name]) for name in (*_HITS, "predicted", "gold"))]


_TYPE_SCORE = "strict_f1"


def extraction_pictures(report: Mapping[str, Any]) -> tuple[Picture, ...]:
    """In the order of the page. Without a gold argument there are no types to draw."""
    pictures: tuple[Picture, ...] = (_score_picture(report), _error_picture(report))
    return (*pictures, _type_picture(report)) if report["breakdown"]["event_types"] else pictures


def _score_picture(report: Mapping[str, Any]) -> Picture:
    main = report["metrics"]["main"]
    groups = (ScoreGroup(f, tuple(score_row(rate, main[f"{f}_{rate}"]) for rate in RATES)) for f in FAMILIES)
    return ScorePicture("scores", "Scores", tuple(groups))


def _error_picture(report: Mapping[str, Any]) -> Picture:
    rows = tuple((name, (e["false_positives"], e["false_negatives"])) for name, e in report["errors"].items())
    return BarPicture("errors", "Errors by name", ("false positives", "false negatives"), rows)


def _type_picture(report: Mapping[str, Any]) -> Picture:
    """Those with most gold, then by name."""
    types = _sorted_types(report)
    listed = types[:SHOWN_TYPES]
    rows = tuple(ScoreRow(e["event_type"], measured_value(e[_TYPE_SCORE]), aside=str(e["gold"])) for e in listed)
    count = f"{len(listed)} of {len(types)} event types" if len(listed) < len(types) else "Event types"
    note = f"{count}, those with most gold first."
    return ScorePicture("types", "Event types", (ScoreGroup(_TYPE_SCORE, rows),), aside="gold", notes=(note,))


_RATES_OF_ALL_SAMPLES = ("schema_compliance_rate",)


def extraction_rates(report: Mapping[str, Any]) -> StoredRates:
    """The rates under metrics.main; a ContradictionError where the event types, or each other, give others."""
    stated = stated_rates(report)
    samples = whole_number(report["metrics"]["main"]["total_samples"]["value"])
    units = {
        name: sum(whole_number(entry[name]) for entry in report["breakdown"]["event_types"])
        for name in ("predicted", "gold", "strict_hits", "relaxed_hits")
    }
    counted = {
        **_family_counts("strict_", units["strict_hits"], units["predicted"], units["gold"]),
        **_family_counts("relaxed_", units["relaxed_hits"], units["predicted"], units["gold"]),
        # The breakdown has no sets of types: precision and recall give F1, and have one numerator.
        **_family_counts("type_", stated["type_precision"][0], stated["type_precision"][1], stated["type_recall"][1]),
    }
    require_equal_rates("metrics.main", counted, {name: stated[name] for name in counted})
    for name in _RATES_OF_ALL_SAMPLES:
        if stated[name][1] != samples:
            raise ContradictionError(f"metrics.main.{name}.denominator", str(samples), str(stated[name][1]))
    return StoredRates(stated, {"samples": samples}, judged=report["inputs"]["predictions"] or None)


def _family_counts(prefix: str, hits: int, predicted: int, gold: int) -> dict[str, HitsAndTrials]:
    return {
        f"{prefix}precision": (hits, predicted),
        f"{prefix}recall": (hits, gold),
        f"{prefix}f1": (2 * hits, predicted + gold),
    }
