"""The page of any suite's report: its own sections between those that every report has. Also the page of an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from goldgate.core.finding import SEVERITIES
from goldgate.core.gate import Verdict, stored_gate
from goldgate.core.metric import metric_sections
from goldgate.core.page import (
    Block,
    Cell,
    Column,
    FindingLine,
    FindingList,
    GateLine,
    InputLine,
    LabelList,
    LabelRow,
    Matrix,
    MatrixCell,
    MeasuredValue,
    MetricValues,
    Name,
    Notes,
    Page,
    Paragraph,
    ReportOrigin,
    ScoreGroup,
    ScorePicture,
    ScoreRow,
    Section,
    Table,
    count_text,
    interval_ends,
    measured_value,
    metric_values,
    plural,
)
from goldgate.core.suite import ANSWERS
from goldgate.errors import Place

if TYPE_CHECKING:
    from goldgate.core.contracts import (
        ErrorValue,
        FileDigest,
        FindingValue,
        GateCauses,
        GateValue,
        GenerationValue,
        MetricValue,
        PlainReport,
        SuiteReport,
    )

LONG_LIST = 400  # characters of what was expected: it would hide what to do
SHOWN_PROBLEMS = 20
SHOWN_FINDINGS = 5
_MAX_UNSURE = 3  # gates that are named
_BOUND_NOTE = "Gates with a confidence rest on a one-sided bound; the intervals shown are two-sided, at 95 %."
SHOWN_CONFUSIONS, MAX_CONFUSIONS = 5, 50
RATES = ("precision", "recall", "f1")


def suite_report_page(
    report: SuiteReport,
    subject: str,
    sections: Sequence[Section],
    headline: Sequence[str] = (),
    remark_filters: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> Page:
    """The page of a report that has numbers; sections without blocks are left out.

    `headline` names the metrics whose bounds are shown where answers are missing; without it, all. `remark_filters`
    has by a remark's code the facet and value of the units that it is about.
    """
    protocol = report["protocol"]
    generation = _generation(report.get("generation"), headline)
    remarks = report["stands_out"]
    gates = gate_lines(report)
    return Page(
        suite=report["suite"],
        verdict=report["status"],
        subject=subject,
        protocol=f"{protocol['name']} {protocol['version']}",
        gates=gates,
        gates_note=" ".join(filter(None, (_verdict_basis(report["gates"]), report.get("gates_together")))),
        remarks=tuple(entry["message"] for entry in remarks),
        remark_filters={e["message"]: remark_filters[e["code"]] for e in remarks if e["code"] in remark_filters},
        sections=tuple(section for section in (_causes_section(gates), generation, *sections) if section.blocks),
        origin=report_origin(report),
    )


def match_gate_digits(page: Page) -> Page:
    """The page, on which a number that a gate judges has as many digits everywhere as beside the gate."""
    judged: dict[tuple[object, ...], MeasuredValue] = {}
    for line in page.gates or ():
        number = _number(line.measured)  # several metrics may have the same
        before = judged.get(number, line.measured.against(()))
        judged[number] = before.against((*before.limits, *line.measured.limits))
    judged = {key: value for key, value in judged.items() if _displayed(value) != _displayed(value.against(()))}
    if not judged:
        return page

    def beside(value: MeasuredValue) -> MeasuredValue:
        same = judged.get(_number(value))
        return value.against(same.limits) if same else value

    def matched(part: Any) -> Any:
        """Part of a page, with all numbers in it."""
        if isinstance(part, MeasuredValue):
            return beside(part)
        if isinstance(part, (Section, Table, MetricValues, ScorePicture, ScoreGroup, ScoreRow)):
            return type(part)(*map(matched, part))
        return tuple(map(matched, part)) if type(part) is tuple else part

    return page._replace(sections=matched(page.sections), pictures=matched(page.pictures))


def _number(value: MeasuredValue) -> tuple[object, ...]:
    return value.value, value.numerator, value.denominator, value.averaged


def _displayed(value: MeasuredValue) -> tuple[str, str]:
    return str(value), str(value.interval)


def default_report_page(report: SuiteReport, unit: str) -> Page:
    """The page of a suite that joins gold and predictions and describes no more: every metric, every finding."""
    sections = [
        Section(
            "Metrics" if name == "main" else name.capitalize(),
            (metric_values(metrics),),
            in_brief=name == "main" and not report["gates"],
        )
        for name, metrics in metric_sections(report["metrics"]).items()
    ]
    sections.append(findings_section(report))
    gold = cast("list[FileDigest]", cast("PlainReport", report)["inputs"].get("gold", []))
    units = sum(file["samples"] for file in gold)
    return suite_report_page(report, count_text(units, unit), sections)


def rate_table(families: Iterable[tuple[str, Mapping[str, MetricValue]]]) -> Table:
    """Precision, recall and F1 of each family in a row."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (label, *(measured_value(rates[rate]) for rate in RATES)) for label, rates in families
    )
    return Table((Column(""), *map(Column, RATES)), rows, with_counts=True)


def metric_groups(
    metrics: Mapping[str, MetricValue], groups: Mapping[str, tuple[str, ...]], rest: str = "Other metrics"
) -> list[Section]:
    """Metrics under headings, each with how the names under it begin; one that no heading expects is under `rest`."""
    titles: dict[str, dict[str, MetricValue]] = {title: {} for title in (*groups, rest)}
    for name, metric in metrics.items():
        title = next((title for title, starts in groups.items() if name.startswith(starts)), rest)
        titles[title][name] = metric
    return [Section(title, (metric_values(group),)) for title, group in titles.items() if group]


def rate_cells(row: Mapping[str, object], family: str) -> list[Cell]:
    """Precision, recall and F1, of which the last has its interval beside it: three would leave no room."""
    values = [measured_value(cast("MetricValue", row[f"{family}_{rate}"])) for rate in RATES]
    interval = values[-1].interval
    return [*(value._replace(interval=None) for value in values), "" if interval is None else str(interval)]


def confusion_blocks(
    confused: Mapping[str, Any], group: str, title: str, facet: str, counted: str
) -> tuple[Block, ...]:
    """What was taken for what, the most frequent first; nothing where no pair was.

    `group` is the key of its group, and `counted` the noun of what is counted: `sample`.
    """
    cells = tuple(MatrixCell(p["gold"], p["predicted"], p["count"], str(p.get(group, ""))) for p in confused["pairs"])
    if not cells:
        return ()
    matrix = Matrix(
        "gold", "predicted", cells, title, SHOWN_CONFUSIONS, MAX_CONFUSIONS, facet=facet, counted=plural(counted)
    )
    rest = confused["left_out"]
    words = f"{count_text(rest['pairs'], 'rarer pair')} with {count_text(rest['count'], counted)}"
    return (matrix, Paragraph(f"Not listed: {words}.")) if rest["pairs"] else (matrix,)


def count_labels(label: str, counts: Mapping[str, int]) -> LabelRow:
    """`name count` for each that occurred."""
    return LabelRow(label, tuple(f"{name} {count}" for name, count in counts.items() if count) or ("none",))


def findings_section(report: SuiteReport) -> Section:
    """A few findings, for suites in which each names one unit."""
    findings = finding_lines(report["findings"])
    return Section("Findings", (FindingList(findings, limit=SHOWN_FINDINGS),) if findings else ())


def error_page(suite: str, error: ErrorValue) -> Page:
    """Why there are no numbers: code, place, what was expected and found, what to do; then all problems of an input."""
    lines = [
        ("code", error["code"]),
        ("where", str(Place(error["file"], error["line"], error["field"]))),
        ("message", error["message"]),
        ("expected", error["expected"]),
        ("found", error["found"]),
        ("do", error["advice"]),
    ]
    if len(error["expected"] or "") > LONG_LIST and error["advice"]:  # the nearest name, then all of them
        lines.insert(3, lines.pop())
    sections = [Section("", (LabelList(tuple(LabelRow(label, (text,)) for label, text in lines if text)),))]
    problems = error.get("problems") or []
    if len(problems) > 1:
        items = tuple(
            (
                Name(problem["pointer"] or "(the whole file)"),
                f": expected {problem['expected']}, found {problem['found']}",
            )
            for problem in problems
        )
        sections.append(Section("All problems", (Notes(items, limit=SHOWN_PROBLEMS),)))
    return Page(suite=suite, verdict=Verdict.SYSTEM_ERROR, sections=tuple(sections))


def finding_lines(findings: Sequence[FindingValue]) -> tuple[FindingLine, ...]:
    """Stored findings, the worst first; in their own order within a severity."""
    order = (*SEVERITIES, "note")
    worst_first = sorted(findings, key=lambda finding: order.index(finding["severity"]))
    return tuple(map(_finding_line, worst_first))


def _finding_line(finding: FindingValue) -> FindingLine:
    place, unit = _place(finding), _unit(finding)
    return FindingLine(
        finding["severity"], finding["code"], place, finding["message"], unit, finding["file"], finding["line"]
    )


def report_origin(report: SuiteReport) -> ReportOrigin:
    """Versions, signature and inputs, whatever a suite's inputs are."""
    protocol = report["protocol"]
    versions = (
        ("protocol.version", f"{protocol['version']} ({protocol['name']})"),
        ("metrics.version", report["metrics"]["version"]),
    )
    return ReportOrigin(versions, report["signature"], tuple(_inputs(report["inputs"])))


def _generation(generation: GenerationValue | None, headline: Sequence[str]) -> Section:
    """How the answers came about; no blocks where they were given and not asked for."""
    if not generation:
        return Section("Generation", ())
    rows = [(Name("answered"), measured_value(generation["coverage"]))]
    rows += [(Name(f"missing: {cause}"), MeasuredValue(count)) for cause, count in generation["missing"].items()]
    blocks: list[Block] = [MetricValues(tuple(rows))]
    cost = generation["cost"]
    if cost is not None:
        blocks.append(LabelList((LabelRow("cost", (f"{cost['amount']} {cost['currency']}",)),)))
    bounds = generation["bounds"]
    if bounds:
        blocks.append(Paragraph("Bounds, if the missing answers were all wrong or all right:"))
        wrong, right = bounds["all_wrong"], bounds["all_right"]
        of_both: list[tuple[Cell, ...]] = [
            (Name(name), measured_value(wrong[name]), measured_value(right[name]))
            for name in [name for name in headline if name in wrong] or wrong
        ]
        blocks.append(Table((Column("metric"), Column("all wrong"), Column("all right")), tuple(of_both)))
    return Section("Generation", tuple(blocks))


def _place(finding: FindingValue) -> str:
    """File, line, id and path inside a record, as far as they are known."""
    line = f":{finding['line']}" if finding["line"] is not None else ""
    identity = f"({finding['id']})" if finding.get("id") is not None else ""
    return " ".join(part for part in (f"{finding['file']}{line}", identity, finding.get("pointer")) if part)


def _unit(finding: FindingValue) -> str:
    """The unit of a finding: the id that it names, or the folder of its file; empty where there is neither."""
    folder, slash, _ = finding["file"].partition("/")
    return str(finding.get("id") or (folder if slash else ""))


def gate_lines(report: SuiteReport) -> tuple[GateLine, ...]:
    """The gates of a report, with what keeps each from passing."""
    causes = {entry["metric"]: entry for entry in report["causes"]}
    return tuple(_gate(gate, causes.get(gate["metric"])) for gate in report["gates"])


def _causes_section(gates: Sequence[GateLine]) -> Section:
    """What keeps gates from passing, gate by gate."""
    rows = []
    for gate in gates:
        rows += [cause._replace(severity=gate.verdict, code=gate.metric) for cause in gate.causes]
        rows += [FindingLine("", gate.metric, gate.cause_words[-1], "")] if gate.more_causes else []
    title = "Where gates failed" if all(row.severity in ("FAIL", "") for row in rows) else "Where gates did not pass"
    block = FindingList(tuple(rows), heads=("verdict", "metric", "where", "why"))
    return Section(title, (block,) if rows else ())


def _verdict_basis(gates: Sequence[GateValue]) -> str:
    """What the verdicts rest on, and which of them other units could turn."""
    sentences, is_plain = [], ["confidence" not in gate for gate in gates]
    if any(is_plain):
        unsure = [gate["metric"] for gate in gates if gate.get("support") == "inconclusive"]
        more = f" and {len(unsure) - _MAX_UNSURE} more" if len(unsure) > _MAX_UNSURE else ""
        turned = f"; uncertain at 95 %: {', '.join(unsure[:_MAX_UNSURE])}{more}" if unsure else ""
        sentences.append(f"Verdicts rest on point estimates{turned}.")
    if not all(is_plain):
        sentences.append(_BOUND_NOTE)
    return " ".join(sentences)


def _gate(gate: GateValue, causes: GateCauses | None) -> GateLine:
    rule, stored = stored_gate(gate), gate.get("difference")
    difference = stored and MeasuredValue(stored["value"], interval=interval_ends(stored))
    return GateLine(
        metric=gate["metric"],
        gate=rule,
        measured=measured_value(gate["measured"]).against(rule.limits()),
        verdict=gate["verdict"],
        reason=gate["reason"],
        difference=difference and difference.against(rule.difference_limits()),
        causes=() if causes is None else tuple(map(_finding_line, causes["first"])),
        more_causes=0 if causes is None else causes["more"],
    )


def _inputs(inputs: Mapping[str, object]) -> Iterator[InputLine]:
    """A digest, an object with a digest and a count, or a list of those. What came from memory has no digest."""
    for kind, entries in inputs.items():
        if kind == ANSWERS:
            continue  # they are those of the predictions
        for entry in entries if isinstance(entries, list) else [entries]:
            if isinstance(entry, str):
                yield InputLine(kind, entry)
            elif isinstance(entry, dict):
                counts = {name: n for name, n in entry.items() if name != "sha256" and isinstance(n, (str, int))}
                sizes = (
                    s if isinstance(s, str) else count_text(s, _singular(things), things)
                    for things, s in counts.items()
                )
                yield InputLine(kind, entry["sha256"], ", ".join(sizes))


def _singular(things: str) -> str:
    """`queries` → `query`."""
    for many, one in (("ies", "y"), ("shes", "sh"), ("s", "")):
        if things.endswith(many):
            return things.removesuffix(many) + one
    return things
