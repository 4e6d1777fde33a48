"""The page of any suite's report: its own sections between those that every report has. Also the page of an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goldgate.core.finding import SEVERITIES
from goldgate.core.gate import Gate, Verdict, parse_bound
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
    MeasuredValue,
    MetricValues,
    Name,
    Notes,
    Page,
    Paragraph,
    Picture,
    ReportOrigin,
    Samples,
    ScorePicture,
    ScoreRow,
    Section,
    Table,
    count_text,
    interval_ends,
    measured_value,
    metric_values,
)
from goldgate.errors import Place

SHOWN_PROBLEMS = 20
SHOWN_FINDINGS = 5


def suite_report_page(
    report: Mapping[str, Any],
    subject: str,
    sections: Sequence[Section],
    samples: Samples | None = None,
    headline: Sequence[str] = (),
) -> Page:
    """The page of a report that has numbers; sections without blocks are left out.

    `headline` names the metrics whose bounds are shown where answers are missing; without it, all.
    """
    protocol = report["protocol"]
    generation = _generation(report.get("generation"), headline)
    return Page(
        suite=report["suite"],
        verdict=report["status"],
        subject=subject,
        protocol=f"{protocol['name']} {protocol['version']}",
        gates=tuple(_gate(gate) for gate in report["gates"]),
        gates_note=report.get("gates_together", ""),
        remarks=tuple(entry["message"] for entry in report.get("stands_out", ())),
        sections=tuple(section for section in (generation, *sections) if section.blocks),
        origin=report_origin(report),
        samples=samples,
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

    def cell(content: Cell) -> Cell:
        return beside(content) if isinstance(content, MeasuredValue) else content

    def block(content: Block) -> Block:
        if isinstance(content, Table):
            return content._replace(rows=tuple(tuple(map(cell, row)) for row in content.rows))
        if isinstance(content, MetricValues):
            return MetricValues(tuple((name, beside(value)) for name, value in content.rows))
        return content

    def row(score: ScoreRow) -> ScoreRow:
        return score._replace(measured=beside(score.measured))

    def picture(drawn: Picture) -> Picture:
        if not isinstance(drawn, ScorePicture):
            return drawn
        return drawn._replace(groups=tuple(g._replace(rows=tuple(map(row, g.rows))) for g in drawn.groups))

    sections = tuple(each._replace(blocks=tuple(map(block, each.blocks))) for each in page.sections)
    return page._replace(sections=sections, pictures=tuple(map(picture, page.pictures)))


def _number(value: MeasuredValue) -> tuple[object, ...]:
    return value.value, value.numerator, value.denominator, value.averaged


def _displayed(value: MeasuredValue) -> tuple[str, str]:
    return str(value), str(value.interval)


def default_report_page(report: Mapping[str, Any], unit: str, records: str) -> Page:
    """The page of a suite that joins gold and predictions and describes no more: every metric, every finding."""
    metrics = {name: found for name, found in report["metrics"].items() if isinstance(found, Mapping)}
    titles = {"main": "Metrics"}
    sections = [
        Section(
            titles.get(name, name.capitalize()),
            (metric_values(found),),
            in_brief=name == "main" and not report["gates"],
        )
        for name, found in metrics.items()
    ]
    sections.append(findings_section(report))
    units = sum(file["samples"] for file in report["inputs"].get("gold", ()))
    return suite_report_page(report, count_text(units, unit), sections, Samples(records, units))


def findings_section(report: Mapping[str, Any]) -> Section:
    """A few findings, for suites in which each names one unit."""
    findings = finding_lines(report["findings"])
    return Section("Findings", (FindingList(findings, limit=SHOWN_FINDINGS),) if findings else ())


def error_page(report: Mapping[str, Any]) -> Page:
    """Why there are no numbers: code, place, what was expected and found, what to do; then all problems of an input."""
    error = report["error"]
    lines = (
        ("code", error["code"]),
        ("where", str(Place(error["file"], error["line"], error["field"]))),
        ("message", error["message"]),
        ("expected", error["expected"]),
        ("found", error["found"]),
        ("do", error["advice"]),
    )
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
    return Page(suite=report["suite"], verdict=Verdict.SYSTEM_ERROR, sections=tuple(sections))


def finding_lines(findings: Sequence[Mapping[str, Any]]) -> tuple[FindingLine, ...]:
    """Stored findings, the worst first; in their own order within a severity."""
    order = (*SEVERITIES, "note")
    worst_first = sorted(findings, key=lambda finding: order.index(finding["severity"]))
    return tuple(FindingLine(f["severity"], f["code"], _place(f), f["message"]) for f in worst_first)


def report_origin(report: Mapping[str, Any]) -> ReportOrigin:
    """Versions, signature and inputs, whatever a suite's inputs are."""
    protocol = report["protocol"]
    versions = (
        ("protocol.version", f"{protocol['version']} ({protocol['name']})"),
        ("metrics.version", report["metrics"]["version"]),
    )
    return ReportOrigin(versions, report["signature"], tuple(_inputs(report["inputs"])))


def _generation(generation: Mapping[str, Any] | None, headline: Sequence[str]) -> Section:
    """How the answers came about; no blocks where they were given and not asked for."""
    if not generation:
        return Section("Generation", ())
    rows = [(Name("answered"), measured_value(generation["coverage"]))]
    rows += [(Name(f"missing: {cause}"), MeasuredValue(count)) for cause, count in generation["missing"].items()]
    blocks: list[Block] = [MetricValues(tuple(rows))]
    spent = tuple(_spent(generation))
    if spent:
        blocks.append(LabelList(spent))
    if generation.get("stopped"):
        blocks.append(Paragraph(_stopped(generation["stopped"])))
    bounds = generation.get("bounds")
    if bounds:
        blocks.append(Paragraph("Bounds, if the missing answers were all wrong or all right:"))
        sides = ("all_wrong", "all_right")
        names = [name for name in headline if name in bounds["all_wrong"]] or bounds["all_wrong"]
        of_both: list[tuple[Cell, ...]] = [
            (Name(name), *(measured_value(bounds[side][name]) for side in sides)) for name in names
        ]
        blocks.append(Table((Column("metric"), Column("all wrong"), Column("all right")), tuple(of_both)))
    return Section("Generation", tuple(blocks))


def _stopped(stopped: Mapping[str, Any]) -> str:
    """What a report over part of the documents says about all of them."""
    saved = stopped["saved"]
    tokens = saved["tokens"]["input"] + saved["tokens"]["output"]
    money = "" if saved["cost"] is None else f" and {saved['cost']} in money"
    limit = stopped["most_predictions"]
    assumed = "" if limit is None else f", if no answer predicts more than {limit}"
    return (
        f"Stopped when every gate was decided, after {stopped['decided_after']} of {stopped['documents']} documents in "
        f"a random order (seed {stopped['order_seed']}). The verdicts hold for all {stopped['documents']}, wrong in at "
        f"most {stopped['error_rate']:.0%} of such runs{assumed}. All other numbers are of the documents that decided "
        "it, and their intervals do not know that it was stopped there. "
        f"{saved['documents']} documents were not asked: about {tokens} tokens{money} saved."
    )


def _place(finding: Mapping[str, Any]) -> str:
    """File, line, id and path inside a record, as far as they are known."""
    line = f":{finding['line']}" if finding["line"] is not None else ""
    identity = f"({finding['id']})" if finding.get("id") is not None else ""
    inside = finding.get("pointer") or finding.get("field") or ""
    return " ".join(part for part in (f"{finding['file']}{line}", identity, inside) if part)


def _spent(generation: Mapping[str, Any]) -> Iterator[LabelRow]:
    """Tokens and cost, where a report has them."""
    tokens, cost = generation.get("tokens"), generation.get("cost")
    if tokens:
        yield LabelRow("tokens", tuple(f"{name} {count}" for name, count in tokens.items()))
    if cost is not None:
        yield LabelRow("cost", (f"{cost['amount']} {cost['currency']}",))


def _gate(gate: Mapping[str, Any]) -> GateLine:
    names = ("min", "max", "equals", "max_drop", "max_rise", "confidence")
    bounds = {name: parse_bound(gate[name]) for name in names if gate.get(name) is not None}
    rule = Gate(
        **bounds,
        against=gate["against"]["name"] if "against" in gate else None,
        on_not_evaluable=gate["on_not_evaluable"],
        on_inconclusive=gate.get("on_inconclusive", "fail"),
        severity=gate["severity"],
    )
    stored = gate.get("difference")
    difference = stored and MeasuredValue(stored["value"], interval=interval_ends(stored))
    return GateLine(
        metric=gate["metric"],
        gate=rule,
        measured=measured_value(gate["measured"]).against(rule.limits()),
        verdict=gate["verdict"],
        reason=gate["reason"],
        support=gate.get("support"),
        difference=difference and difference.against(rule.difference_limits()),
    )


def _inputs(inputs: Mapping[str, Any]) -> Iterator[InputLine]:
    """A digest, an object with a digest and a count, or a list of those. What came from memory has no digest."""
    for kind, entries in inputs.items():
        for entry in entries if isinstance(entries, list) else [entries]:
            if isinstance(entry, str):
                yield InputLine(kind, entry)
            elif entry is not None:
                counts = {things: size for things, size in entry.items() if things != "sha256"}
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
