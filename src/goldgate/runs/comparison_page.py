"""A comparison as a page: the systems, each against the reference, parts, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from goldgate.core.metric import Limit, format_number
from goldgate.core.page import (
    NOT_AVAILABLE,
    Cell,
    Column,
    InputLine,
    IntervalEnds,
    MeasuredValue,
    Name,
    Notes,
    Page,
    Paragraph,
    Phrase,
    ReportOrigin,
    Section,
    Table,
    count_text,
    interval_ends,
    measured_value,
    plural,
)

if TYPE_CHECKING:
    from goldgate.core.contracts import ComparedValue
    from goldgate.runs.contracts import ComparedMetric, ComparisonReport, MissingAnswers, TestedDifference

SHOWN_PARTS = 10
_AGAINST_COLUMNS = ("difference", "p", "Holm", "w/t/l", "detectable", "for 0.01")
_PLAIN = ("paired-t", "runs-t")  # methods of intervals
_LEAST_P = 0.0001  # smaller p-values are shown as such
_SIGNIFICANT = Limit("=", Fraction(1, 20))


def describe_comparison(report: ComparisonReport) -> Page:
    """The page of comparison.json."""
    names = [system["name"] for system in report["systems"]]
    units = count_text(report["units"], report["unit"])
    sections = [
        Section("Systems", (_systems(report), *_best_rule(report)), in_brief=True),
        *_runs(report),
        *(_against(report, name) for name in names if name != report["against"]),
        *_other_f1(report),
        Section("How to read this", (Notes(tuple(_reading_notes(report))),)),
        *_other_metrics(report),
        *_parts(report),
        *_changed_units(report),
        *_missing_answers(report),
    ]
    return Page(
        suite="compare",
        subject=f"{', '.join(names)} on {units}",
        remarks=tuple(_remarks(report)),
        sections=tuple(sections),
        origin=_origin(report),
    )


def p_value(p: float | None) -> MeasuredValue:
    """Four decimals; 0.0500 only where it is 0.05."""
    if p is None:
        return MeasuredValue(None)
    return MeasuredValue(p, display=format_number(p, limits=(_SIGNIFICANT,)) if p >= _LEAST_P else f"<{_LEAST_P}")


def _systems(report: ComparisonReport) -> Table:
    """Systems × main metrics, with intervals; the best is marked."""
    rows: list[tuple[Cell, ...]] = []
    for system in report["systems"]:
        cells = [_value(system["metrics"][metric], metric in system["best_in"]) for metric in _shown_metrics(report)]
        rows.append((Name(system["name"]), *cells))
    return Table((Column("system"), *map(Column, _shown_metrics(report))), tuple(rows))


def _shown_metrics(report: ComparisonReport) -> list[str]:
    """The main metrics that some system has; all of them where none has any."""
    undefined = _undefined_metrics(report)
    everywhere = [metric for metric, names in undefined.items() if len(names) == len(report["systems"])]
    return [metric for metric in report["headline"] if metric not in everywhere] or list(report["headline"])


def _undefined_metrics(report: ComparisonReport) -> dict[str, list[str]]:
    """The main metrics that are undefined, and for which systems."""
    systems_by_metric = {
        metric: [system["name"] for system in report["systems"] if system["metrics"][metric]["value"] is None]
        for metric in report["headline"]
    }
    return {metric: names for metric, names in systems_by_metric.items() if names}


def _value(metric: ComparedValue, best: bool = False) -> MeasuredValue:
    return measured_value(metric)._replace(averaged=None, undefined=None, best=best)


def _best_rule(report: ComparisonReport) -> Iterator[Paragraph]:
    if all(entry["p"] is None for entry in report["comparisons"] if entry["family"] == "main"):
        return  # nothing was tested
    words = "No system is significantly better than every other one"
    if any(system["best_in"] for system in report["systems"]):
        words = "*: the best, better than every other system"
    elif len(report["systems"]) == 2:
        words = "No difference is significant"
    yield Paragraph(f"{words} (Holm, p < 0.05).")


def _runs(report: ComparisonReport) -> Iterator[Section]:
    """Systems with several runs: how far those are apart, and how far the documents are."""
    several = [system for system in report["systems"] if len(system["runs"]) > 1]
    if not several:
        return
    rows: list[tuple[Cell, ...]] = []
    for system in several:
        for metric in report["headline"]:
            value = system["metrics"][metric]
            if value["value"] is not None:
                spreads = (MeasuredValue(value[key]) for key in ("between_runs", "se_runs", "se_units"))
                ends = f"{format_number(min(value['by_run']))} to {format_number(max(value['by_run']))}"
                name = Name(system["name"]), Name(metric, whole=True)
                rows.append((*name, str(len(system["runs"])), ends, *spreads))
    columns = ("system", "metric", "runs", "from run to run", "sd", "se runs", f"se {_units(report)}")
    words = (
        "sd: the standard deviation of the runs. The intervals combine two standard errors of the mean: "
        f"se {_units(report)}, from the number of {_units(report)}, and se runs, from differences between runs beyond "
        "that (0 if they differ no more than by chance)."
    )
    table = Table(tuple(map(Column, columns)), tuple(rows))
    yield Section("Several runs", (table, Paragraph(words)))


def _against(report: ComparisonReport, name: str) -> Section:
    entries = [e for e in report["comparisons"] if e["system"] == name and e["metric"] in _shown_metrics(report)]
    columns = Column("metric"), Column("system", optional=True), *map(Column, _AGAINST_COLUMNS)
    rows: list[tuple[Cell, ...]] = []
    for e in entries:
        detectable, needed = e.get("detectable"), e.get("units_for_one_point")
        planned = (
            # No two shares differ by more than 1.
            MeasuredValue(detectable, display="> 1" if detectable is not None and detectable > 1 else None),
            MeasuredValue(needed, display=None if needed is None else f"{needed:,}"),
        )
        rows.append((Name(e["metric"], whole=True), Name(e["system"]), *_difference(e), _standing(e), *planned))
    table = Table(columns, tuple(rows))
    return Section(f"{name} against {report['against']}", (table, *_not_compared(report, entries)), in_brief=True)


def _not_compared(report: ComparisonReport, entries: Sequence[ComparedMetric]) -> Iterator[Paragraph]:
    """For metrics that both systems have and that are not compared: the reason."""
    undefined, metrics = _undefined_metrics(report), dict[str, list[str]]()
    for entry in entries:
        if entry["difference"] is None and entry["metric"] not in undefined:
            metrics.setdefault(entry["reason"], []).append(entry["metric"])
    for reason, names in metrics.items():
        yield Paragraph(f"Not compared: {', '.join(names)}: {reason}.")


def _difference(entry: TestedDifference) -> tuple[Cell, ...]:
    difference = entry["difference"]
    if difference is None:
        change = MeasuredValue(None, reason=entry["reason"])
    else:
        change = _exact(Fraction(difference.get("exact", difference["value"])), interval_ends(difference))
    return change, p_value(entry["p"]), p_value(entry["p_adjusted"])


def _exact(value: Fraction, interval: IntervalEnds | None = None) -> MeasuredValue:
    return MeasuredValue(float(value), value.numerator, value.denominator, interval=interval)


def _standing(entry: TestedDifference) -> str:
    return "/".join(str(entry[key]) for key in ("wins", "ties", "losses")) if "wins" in entry else NOT_AVAILABLE


def _reading_notes(report: ComparisonReport) -> Iterator[Phrase]:
    unit, units = report["unit"], _units(report)
    yield (
        f"difference: system minus {report['against']}, over the same {units}; in brackets the interval at 95 %. "
        f"The unit is the {unit}.",
    )
    tests = {test["method"] for e in report["comparisons"] if (test := e["test"]) is not None}
    if "runs-t" in tests:
        yield ("p: Student's t, with the spread between runs and between " + units + ".",)
    if "swap" in tests:
        yield (
            f"p: how often the two would differ this much if the two results of each {unit} were swapped at random "
            "(swap test).",
        )
    if "paired-t" in tests:
        yield (f"p where more than 1,000 {units} differ: the paired t test, which is then close to it.",)
    yield from _interval_notes(report, units)
    yield ("Holm: p, adjusted for all comparisons of these tables together by Holm's method.",)
    yield (
        f"w/t/l: wins, ties and losses: {units} that raise the difference, leave it or lower it; without the {units} "
        "that have nothing to count of the metric in either system.",
    )
    yield (
        f"detectable: the smallest difference that these {units} show with 80 % power; "
        f"for 0.01: how many {units} a difference of one point would need"
        + (f", unless there are several runs: more {units} alone might never show it." if "runs-t" in tests else "."),
    )


def _interval_notes(report: ComparisonReport, units: str) -> Iterator[Phrase]:
    entries = [(each, own) for each in (*report["comparisons"], *report["parts"]) if (own := each["difference"])]
    if any(
        each["p"] is not None and each["p"] < _SIGNIFICANT.number and (own["low"] or 0) <= 0 <= (own["high"] or 0)
        for each, own in entries
    ):
        yield ("p may be small where the interval holds 0: the two differ, and by how much is open.",)
    plain = dict.fromkeys(each["metric"] for each, own in entries if own.get("method") in _PLAIN)
    if plain:
        yield (f"{', '.join(plain)}: not a share. The interval is the plain paired one, too narrow for few {units}.",)


def _other_f1(report: ComparisonReport) -> Iterator[Section]:
    """F1 of every family beside the main ones, such as those of a profile, which papers put into a table."""
    names = [n for n in report["systems"][0]["metrics"] if n.endswith("_f1") and n not in report["headline"]]
    rows: list[tuple[Cell, ...]] = [
        (Name(name, whole=True), *(_value(system["metrics"][name]) for system in report["systems"]))
        for name in names
        if any(system["metrics"][name]["value"] is not None for system in report["systems"])
    ]
    if rows:
        columns = (Column("metric"), *(Column(system["name"]) for system in report["systems"]))
        yield Section("Other F1 scores", (Table(columns, tuple(rows)),))


def _other_metrics(report: ComparisonReport) -> Iterator[Section]:
    entries = [e for e in report["comparisons"] if e["family"] == "other" and e["difference"] is not None]
    if entries:
        rows = [(Name(e["metric"]), Name(e["system"]), *_difference(e), _standing(e)) for e in entries]
        titles = ("metric", "system", "difference", "p", "adjusted", "w/t/l")
        words = "For exploring: adjusted by Benjamini-Hochberg, apart from the main metrics."
        if any("wins" not in entry for entry in entries):
            words += " A macro average is the plain mean over the parts; its p is Student's t."
        blocks = Table(tuple(map(Column, titles)), tuple(rows)), Paragraph(words)
        yield Section("Other metrics", blocks, is_detail=True)


def _parts(report: ComparisonReport) -> Iterator[Section]:
    """The first main metric by part, the smallest p-value first."""
    metric = next((e["metric"] for e in report["parts"] if e["p"] is not None), None)
    if metric is None:
        return
    entries = [e for e in report["parts"] if e["metric"] == metric and e["p"] is not None]
    entries.sort(key=lambda e: (e["p_adjusted"], e["p"], e["part"], e["system"]))
    many = len(report["systems"]) > 2
    rows: list[tuple[Cell, ...]] = []
    for e in entries:
        names = [Name(" / ".join(e["part"])), *([Name(e["system"])] if many else [])]
        rows.append((*names, *_difference(e), MeasuredValue(e["units"])))
    titles = ["part", *(["system"] if many else []), "difference", "p", "adjusted", _units(report)]
    significant = sum(e["p_adjusted"] is not None and e["p_adjusted"] < 0.05 for e in entries)
    words = (
        f"For exploring: adjusted by Benjamini-Hochberg, so that of those below 0.05 about one in twenty is chance; "
        f"{significant} of {len(entries)} {'is' if significant == 1 else 'are'} below."
    )
    table = Table(tuple(map(Column, titles)), tuple(rows), limit=SHOWN_PARTS)
    yield Section(f"{metric} by part", (table, Paragraph(words)))


def _changed_units(report: ComparisonReport) -> Iterator[Section]:
    changed = report["changed"]
    if not changed["first"]:
        return
    rows: list[tuple[Cell, ...]] = []
    for line in changed["first"]:
        first, second = (
            ", ".join(f"{column} {count}" for column, count in line["counts"][name].items())
            for name in (line["against"], line["system"])
        )
        change = MeasuredValue(None) if line["change"] is None else _exact(Fraction(line["change"]))
        rows.append((Name(line["id"]), Name(line["system"]), change, first, second))
    units = ", ".join(f"{name} {count}" for name, count in changed["units"].items())
    columns = ("id", "system", "part of the difference", report["against"], "system")
    table = Table(tuple(map(Column, columns)), tuple(rows))
    words = Paragraph(f"Changed {_units(report)}: {units}. changed.jsonl, which --out writes, has all of them.")
    yield Section(f"What changed most in {changed['metric']}", (table, words), is_detail=True)


def _missing_answers(report: ComparisonReport) -> Iterator[Section]:
    """Answers that are not there, and ids that only some have."""
    items: list[Phrase] = []
    for system in report["systems"]:
        several = len(system["runs"]) > 1
        texts = [_missing_of(run["missing"]) for run in system["runs"]]
        if several and texts[0] and len(set(texts)) == 1:
            items.append((Name(system["name"]), f", in each of {len(texts)} runs: {texts[0]}"))
            continue
        for number, words in enumerate(texts, 1):
            if words:
                items.append((Name(system["name"]), f", run {number}: {words}" if several else f": {words}"))
    for entry in report["left_out"]:
        first = ", ".join(entry["first"]) + (", …" if entry["lacks"] > len(entry["first"]) else "")
        items.append((Name(entry["system"]), f": left out, as it lacks {entry['lacks']} that others have: {first}"))
    if items:
        yield Section("Not in all systems", (Notes(tuple(items)),))


def _missing_of(missing: MissingAnswers) -> str:
    """The missing answers of one run as text; empty if it has all answers."""
    if not missing["count"]:
        return ""
    more = ", …" if missing["count"] > len(missing["first"]) else ""
    ids = f" (id: {', '.join(missing['first'])}{more})" if missing["first"] else ""
    return f"{count_text(missing['count'], 'answer')} missing, counted as wrong{ids}"


def _remarks(report: ComparisonReport) -> Iterator[str]:
    if not report["same_gold"]:
        units = f"{report['units']} {_units(report)}"
        yield (
            f"the systems were judged by different gold: only the {units} that all have are compared, and only as far "
            "as the gold is the same for these do differences come from the systems"
        )
    for system in report["systems"]:
        if len(system["runs"]) > len({str(run["inputs"]) for run in system["runs"]}):
            yield f"{system['name']} has runs that judge the same bytes: they say little about how much runs differ"
        zero = [metric for metric in report["headline"] if system["metrics"][metric]["value"] == 0]
        if zero:
            command = f"goldgate {report['suite']}"
            yield f"{system['name']} has 0 for {' and '.join(zero)}: run {command} on it alone to see why"
    undefined: dict[tuple[str, ...], list[str]] = {}
    for metric, names in _undefined_metrics(report).items():
        undefined.setdefault(tuple(names), []).append(metric)
    for lacking, metrics in undefined.items():
        of = "every system" if len(lacking) == len(report["systems"]) else ", ".join(lacking)
        verb, they = ("is", "it is") if len(metrics) == 1 else ("are", "they are")
        yield f"{' and '.join(metrics)} {verb} undefined for {of}, with nothing to divide by: {they} not compared"


def _origin(report: ComparisonReport) -> ReportOrigin:
    inputs = [InputLine(kind, digest) for kind, digests in report["gold"].items() for digest in digests]
    for system in report["systems"]:
        for run in system["runs"]:
            inputs += [InputLine(system["name"], digest) for digests in run["inputs"].values() for digest in digests]
    return ReportOrigin((("suite", report["suite"]),), report["signature"], tuple(inputs))


def _units(report: ComparisonReport) -> str:
    return plural(str(report["unit"]))
