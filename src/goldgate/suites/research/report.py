"""A finished research report: what stands out in it, as a page, summarized run by run, recounted from its own runs.

A stored report whose metrics contradict its `runs` and `queries` is rejected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from operator import mul
from typing import Literal, cast

from goldgate.core.contracts import RateValue, RemarkValue
from goldgate.core.evaluation import ContradictionError, HitsAndTrials, StoredRates, require_equal_rates, whole_number
from goldgate.core.finding import remark
from goldgate.core.metric import metric_sections
from goldgate.core.page import (
    Block,
    Cell,
    Column,
    FindingList,
    LabelList,
    LabelRow,
    Name,
    Page,
    Paragraph,
    Section,
    Table,
    count_text,
    measured_value,
    metric_values,
)
from goldgate.core.report_page import finding_lines, suite_report_page
from goldgate.core.unit_page import UnitSummary
from goldgate.errors import describe_value
from goldgate.suites.research.contracts import (
    RUN_LIES_DEEPER,
    EvidenceValue,
    ResearchReport,
    RunRecord,
    RunValue,
    SupportValue,
    TrialRecord,
)
from goldgate.suites.research.suite import ALARMS, ResearchSettings

MAX_FINDINGS = 15
MAX_IGNORED = 5
MAX_TABLE_ROWS = 1_000  # of a long table; the JSON report has all

# Each total and its parts.
_BALANCE = {
    "queries": ("answered", "missing"),
    "trials": ("runs", "missing"),
    "directories": ("runs", "ignored"),
    "runs": ("evaluated", "broken"),
    "claims": ("verified", "candidate", "retracted"),
    "evidence": ("valid", "failed"),
    "steps": ("with_manifest", "without_manifest"),
}


def research_page(report: ResearchReport) -> Page:
    """Evidence and companions first, then the worst findings."""
    findings = FindingList(finding_lines(report["findings"]), limit=MAX_FINDINGS, most=MAX_TABLE_ROWS)
    companions = metric_sections(report["metrics"])["companions"]
    sections = [
        Section("Evidence records", _evidence_blocks(report["evidence"])),
        Section("Companions", (metric_values(companions),) if companions else ()),
        Section("Labels of claims", (_label_pairs(report["support"]),) if "support" in report else ()),
        Section("Findings, the worst first" if findings.rows else "Findings", (findings,)),
        Section("Queries", (_query_table(report),), is_detail=True),
        Section("Runs", (_run_table(report),), is_detail=True),
        Section("Ignored", _ignored_table(report)),
        Section("Counts", (_balance_pairs(report),)),
    ]
    return suite_report_page(
        report, _page_subject(report), sections, remark_filters={"missing_trials": ("outcome", MISSING_RUN)}
    )


def _page_subject(report: ResearchReport) -> str:
    balance = report["conservation"]
    queries, runs = balance["queries"], balance["runs"]
    parts = [count_text(queries["total"], "query"), count_text(runs["total"], "run")]
    if queries["missing"]:
        parts[0] += f" ({queries['missing']} without a run)"
    if runs["broken"]:
        parts[1] += f" ({runs['broken']} broken)"
    return ", ".join(parts)


def _evidence_blocks(evidence: EvidenceValue) -> tuple[Block, ...]:
    """How many valid records were checked to which level, how many failed and why, and what that leaves open."""
    levels = tuple(f"{name} {count}" for name, count in evidence["levels"].items())
    failures = tuple(f"{name} {count}" for name, count in evidence["failures"].items())
    pairs = LabelList((LabelRow("checked to", levels or ("none",)), LabelRow("failed", failures or ("none",))))
    return (pairs, Paragraph(evidence["note"])) if evidence["note"] else (pairs,)


def _label_pairs(support: SupportValue) -> LabelList:
    """Who labelled how many of which claims."""
    failed = support["claims"] - support["items"]
    rows = (
        LabelRow("verified claims", (str(support["claims"]), f"{failed} without valid evidence: not supported")),
        LabelRow("labelled", (f"{support['labelled']} of {support['items']}", f"{support['unsure']} unsure")),
        LabelRow("chosen", (_CHOSEN[support["sampling"]],)),
        LabelRow("people", tuple(support["people"]) or ("none",)),
        LabelRow("judges", tuple(support["judges"]) or ("none",)),
    )
    return LabelList(rows)


_CHOSEN = {
    "drawn": "drawn by goldgate sample",
    "complete": "all of them",
    "trusted": "not drawn by goldgate sample, and trusted to be a random sample",
}


def _query_table(report: ResearchReport) -> Table:
    rows = []
    for number, query in enumerate(report["queries"]):
        recall = query["recall"]
        of_trials: list[Cell] = [measured_value(recall[n]) if recall else "n/a" for n in ("best", "worst", "mean")]
        row: tuple[Cell, ...] = (
            str(number),
            query["objective"],
            "yes" if query["evidence_sufficient"] else "no",
            query["status"],
            f"{query['trials']}/{query['owed_trials']}",
            *of_trials,
            "" if query["right_abstentions"] is None else str(query["right_abstentions"]),
        )
        rows.append(row)
    columns = (
        *map(Column, ("#", "objective", "sufficient", "status", "trials/owed")),
        *(Column(title, group="recall") for title in ("best", "worst", "mean")),
        Column("right abstentions"),
    )
    return Table(columns, tuple(rows), most=MAX_TABLE_ROWS)


def _run_table(report: ResearchReport) -> Table:
    rows = tuple(
        (
            Name(run["run"]),
            "" if run["query"] is None else str(run["query"]),
            run["status"] + (f" ({run['reason']})" if run["reason"] else ""),
            run["stop_reason"] or "",
            f"{run['covered_claims']}/{run['verified_claims']}",
            f"{run['found_ids']}/{run['required_ids']}",
            str(run["ledger"]),
            f"{run['steps_with_manifest']}/{run['steps']}",
        )
        for run in report["runs"]
    )
    titles = ("run", "query", "status", "stop reason", "claims", "ids", "ledger", "manifests")
    return Table(tuple(map(Column, titles)), rows, most=MAX_TABLE_ROWS)


def _ignored_table(report: ResearchReport) -> tuple[Block, ...]:
    rows = tuple((Name(entry["path"]), entry["reason"]) for entry in report["ignored"])
    return (Table((Column("path"), Column("reason")), rows, MAX_IGNORED, MAX_TABLE_ROWS),) if rows else ()


def _balance_pairs(report: ResearchReport) -> LabelList:
    balance = cast(Mapping[str, Mapping[str, int]], report["conservation"])
    return LabelList(
        tuple(
            LabelRow(name, (f"{balance[name]['total']} = " + " + ".join(f"{balance[name][p]} {p}" for p in parts),))
            for name, parts in _BALANCE.items()
        )
    )


def research_remarks(report: ResearchReport) -> Iterator[RemarkValue]:
    """Runs that are missing, broken or copies, unkept manifests, companions beyond alarms, claims that hide others."""
    balance = report["conservation"]
    trials, runs, steps = balance["trials"], balance["runs"], balance["steps"]
    if trials["missing"]:
        message = f"{trials['missing']} of {trials['total']} trials are missing: they count as failed"
        yield remark("missing_trials", message, missing=trials["missing"], trials=trials["total"])
    if runs["broken"]:
        message = f"{runs['broken']} of {runs['total']} runs are broken: they count as failed"
        yield remark("broken_runs", message, broken=runs["broken"], runs=runs["total"])
    deeper = [entry["reason"] for entry in report["ignored"] if entry["reason"].startswith(RUN_LIES_DEEPER)]
    if deeper:
        more = f", and {len(deeper) - 1} more" if len(deeper) > 1 else ""
        yield remark("deeper_runs", f"{deeper[0]}{more}: it is not judged", folders=len(deeper))
    yield from _reading_remarks(report)
    # That no manifests are kept is said where the metric is undefined; that there are some all the same is said here.
    total, with_manifest = steps["total"], steps["with_manifest"]
    if report["metrics"]["main"]["manifest_integrity"]["value"] is None and with_manifest:
        message = f"{with_manifest} of {total} steps have a manifest, and the protocol says that this agent keeps none"
        yield remark("manifests_not_kept", message, steps=total, with_manifest=with_manifest)
    yield from _companion_remarks(report)
    yield from _evidence_remarks(report)


def setting_remarks(settings: ResearchSettings, counted_copies: int) -> Iterator[RemarkValue]:
    """Settings by which less is demanded of runs than by default."""
    if settings.provenance == "source":
        yield remark("provenance_by_source", "research.provenance is source: evidence needs no chunk_id")
    if settings.manifest == "recorded":
        yield remark("recorded_manifests", "research.manifest is recorded: any object with run and step is a manifest")
    if settings.copies == "count":
        counted = count_text(counted_copies, "run equals another and counts", "runs equal others and count")
        yield remark("copies_are_trials", f"research.copies is count: {counted} as trials", copies=counted_copies)


def _reading_remarks(report: ResearchReport) -> Iterator[RemarkValue]:
    """Metrics that would be better without copies of runs or runs that match no query, or with them."""
    messages = [entry["message"] for entry in report["findings"] if entry["code"] == "worse_reading"]
    if messages:
        more = f"; and {count_text(len(messages) - 1, 'more metric')} so" if len(messages) > 1 else ""
        yield remark("worse_reading", f"{messages[0]}{more}", metrics=len(messages))


def _evidence_remarks(report: ResearchReport) -> Iterator[RemarkValue]:
    """Findings about claims that are covered in form only, or that hide others."""
    messages = {finding["code"]: finding["message"] for finding in report["findings"] if not finding["file"]}
    if "empty_evidence" in messages:
        yield remark("empty_evidence", messages["empty_evidence"])
    for finding in report["findings"]:
        if finding["code"] == "uneven_runs":  # one for each gate
            yield remark("uneven_runs", finding["message"])
    if "uniform_dilution" in messages:
        yield remark("uniform_dilution", messages["uniform_dilution"])
    repeated = [finding for finding in report["findings"] if finding["code"] == "repeated_statement"]
    if repeated:
        more = f", and {len(repeated) - 1} more runs like it" if len(repeated) > 1 else ""
        message = f"{repeated[0]['file'].partition('/')[0]}: {repeated[0]['message']}{more}"
        yield remark("repeated_statement", message, runs=len(repeated))


def _companion_remarks(report: ResearchReport) -> Iterator[RemarkValue]:
    """Remarks on companion rates: they show an agent that files the whole corpus, or always abstains."""
    companions = metric_sections(report["metrics"])["companions"]
    for name, gate in ALARMS.items():
        metric = companions[name]
        if "denominator" not in metric or not metric["denominator"]:
            continue
        numerator, denominator = metric["numerator"], metric["denominator"]
        exact = Fraction(numerator, denominator)
        low = gate.min is not None and exact < Fraction(gate.min)
        high = gate.max is not None and exact > Fraction(gate.max)
        if low or high:
            message = f"{name}: {numerator}/{denominator} is not {gate.bounds()}"
            yield remark(name, message, numerator=numerator, denominator=denominator)


MISSING_RUN, BROKEN_RUN = "missing", "broken"
_MAX_CODES = 3
_WRONG_ABSTENTION = "no abstention where there is no evidence"

# The findings that counts of the record tell better.
_CODES_WITH_COUNTS = frozenset({"claim_not_covered", "manifest_missing", "missing_id", "failed_abstention"})


def run_summary(record: TrialRecord) -> UnitSummary:
    """Trials that are missing are named by what was asked; a run that only has warnings weighs one."""
    if record["run"] is None:
        facets = {"outcome": (MISSING_RUN,), **_query_facet(record)}
        return UnitSummary(
            record["objective"], count_text(record["trials"], "run is", "runs are") + " missing", 1, facets
        )
    problems = [*_problem_counts(record)]
    words, weight = [words for words, _ in problems], sum(count for _, count in problems)
    codes = [code for code in record["findings"] if code not in record["failures"] and code not in _CODES_WITH_COUNTS]
    if codes and record["status"] != BROKEN_RUN:
        more = len(codes) - _MAX_CODES
        words.append(", ".join(codes[:_MAX_CODES]) + (f" and {more} more" if more > 0 else ""))
        weight = weight or 1
    return UnitSummary(record["run"], "; ".join(words), weight, _run_facets(record))


def _problem_counts(record: RunRecord) -> Iterator[tuple[str, int]]:
    """What is wrong in words, and how often."""
    if record["status"] == BROKEN_RUN:
        yield f"broken: {record['reason']}", 1
    failures = record["failures"]
    if failures:
        yield ", ".join(f"{name} {count}" for name, count in failures.items()), sum(failures.values())
    for thing, what, lacking in (
        ("claim", "not covered", record["verified_claims"] - record["covered_claims"]),
        ("required id", "not found", record["required_ids"] - record["found_ids"]),
        ("step", "without manifest", record["steps"] - record["steps_with_manifest"]),
    ):
        if lacking > 0:
            yield f"{count_text(lacking, thing)} {what}", lacking
    if record["units"].get("abstention", [1])[0] == 0:
        yield _WRONG_ABSTENTION, 1


def _run_facets(record: RunRecord) -> dict[str, tuple[str, ...]]:
    facets: dict[str, tuple[str, ...]] = {"outcome": (record["status"],), **_query_facet(record)}
    if record["findings"]:
        facets["finding"] = (*record["findings"],)
    if record["stop_reason"] is not None:
        facets["stop reason"] = (record["stop_reason"],)
    abstention = record["units"].get("abstention")
    if abstention is not None:
        facets["abstention"] = ("right" if abstention[0] else "wrong",)
    return facets


def _query_facet(record: TrialRecord) -> dict[str, tuple[str, ...]]:
    """What was asked: the id of the query, or else its words."""
    asked = record["query_id"] or record["objective"]
    return {} if asked is None else {"query": (asked,)}


_NO_MANIFESTS_SIGN = "manifests:not_kept"  # in the signature
_UNSET_TRIALS = "trials:most"  # in the signature, where the protocol does not set their number
_RunCount = Literal["covered_claims", "verified_claims", "found_ids", "required_ids", "steps_with_manifest", "steps"]
_PARTS_OF_RUN: tuple[tuple[_RunCount, _RunCount], ...] = (  # of a run: the part, and what it is a part of
    ("covered_claims", "verified_claims"),
    ("found_ids", "required_ids"),
    ("steps_with_manifest", "steps"),
)


def recount_report(report: ResearchReport) -> StoredRates:
    """The four rates as the runs give them; the objectives that were asked."""
    _require_fields(report)
    rates = _recounted_rates(report)
    if _NO_MANIFESTS_SIGN in str(report["signature"]).split("|"):
        rates["manifest_integrity"] = (0, 0)  # the runs count their steps all the same
    _check_conservation(report)
    main = cast(Mapping[str, RateValue], report["metrics"]["main"])
    stated = {name: (whole_number(rate["numerator"]), whole_number(rate["denominator"])) for name, rate in main.items()}
    require_equal_rates(rates, stated)
    balance = report["conservation"]
    asked = frozenset(query["objective"] for query in report["queries"] if query["trials"])
    return StoredRates(
        rates,
        {"runs": balance["runs"]["evaluated"], "queries": balance["queries"]["total"]},
        {"objectives": asked},
        report["inputs"]["outputs"],
        tuple(run["fingerprint"] for run in report["runs"]),
    )


def _require_fields(report: ResearchReport) -> None:
    """What is taken from a report without working it out again is there: KeyError or TypeError if not."""
    if not all(type(query["objective"]) is str for query in report["queries"]):
        raise TypeError
    if not all(run["fingerprint"] is None or type(run["fingerprint"]) is str for run in report["runs"]):
        raise TypeError
    _ = [query["trials"] for query in report["queries"]], report["inputs"]["outputs"]["sha256"]


def _check_conservation(report: ResearchReport) -> None:
    runs, stated = report["runs"], report["conservation"]["runs"]
    evaluated = sum(run["status"] == "evaluated" for run in runs)
    counted = {"total": len(runs), "evaluated": evaluated, "broken": len(runs) - evaluated}
    for name in sorted(counted.keys() | stated.keys()):
        if counted.get(name) != stated.get(name):
            raise ContradictionError(
                f"conservation.runs.{name}", describe_value(counted.get(name)), describe_value(stated.get(name))
            )


def _recounted_rates(report: ResearchReport) -> dict[str, HitsAndTrials]:
    """The four rates, from the counts of every run and the trials that every query owes."""
    queries, runs = report["queries"], report["runs"]
    for number, run in enumerate(runs):
        for part, of in _PARTS_OF_RUN:
            if not 0 <= whole_number(run[part]) <= whole_number(run[of]):
                raise ContradictionError(f"runs.{number}.{part}", f"at most {run[of]}", str(run[part]))
        if run["query"] is not None and run["required_ids"] != queries[whole_number(run["query"])]["required_ids"]:
            raise ContradictionError(f"runs.{number}.required_ids", "those of its query", str(run["required_ids"]))
    copies = [whole_number(run.get("copies", 0)) for run in runs]
    merged = Counter(run["query"] for run in runs)
    with_copies = merged.copy()
    for run, number in zip(runs, copies, strict=True):
        with_copies[run["query"]] += number
    owed = _owed_trials(report, merged, with_copies)
    most = max(with_copies[number] for number in range(len(queries))) or 1
    weighings: list[tuple[list[int], Counter[int | None], int]] = [([1] * len(runs), merged, owed)]
    if any(copies):
        weighings.append(([1 + number for number in copies], with_copies, owed if _sets_trials(report) else most))
    asked = [run["query"] is not None and "unknown_objective" not in run for run in runs]
    weighings += [([*map(mul, weights, asked)], trials, most) for weights, trials, most in weighings]
    rates = [_weighted_rates(report, *weighing) for weighing in weighings]
    return {name: min((each[name] for each in rates), key=_defined_rate) for name in rates[0]}


def _owed_trials(report: ResearchReport, merged: Counter[int | None], with_copies: Counter[int | None]) -> int:
    """The trials that every query owes; ContradictionError where a query does not have those that its runs are."""
    queries, runs = report["queries"], report["runs"]
    owed = max([whole_number(query["owed_trials"]) for query in queries])
    evaluated = {run["query"] for run in runs if run["status"] == "evaluated"}
    for number, query in enumerate(queries):
        trials = with_copies[number] if _sets_trials(report) else merged[number]
        surplus = trials > owed and number in evaluated
        if query["trials"] != merged[number] or query["owed_trials"] != owed or surplus:
            stated = f"{query['trials']} trials of {query['owed_trials']}"
            raise ContradictionError(f"queries.{number}.trials", f"{trials} trials, of {owed} owed", stated)
    return owed


def _sets_trials(report: ResearchReport) -> bool:
    """Whether the protocol sets the number of trials."""
    return _UNSET_TRIALS not in str(report["signature"]).split("|")


def _defined_rate(rate: HitsAndTrials) -> Fraction:
    """The rate for comparing readings of it: the lowest counts, of equal ones the first. Undefined is as bad as 0."""
    return Fraction(*rate) if rate[1] else Fraction(0)


def _weighted_rates(
    report: ResearchReport, weights: Sequence[int], trials: Counter[int | None], owed: int
) -> dict[str, HitsAndTrials]:
    """The four rates, each run counted by its weight; `trials` are those of each query, which then owes `owed`."""
    queries, weighed = report["queries"], [*zip(report["runs"], weights, strict=True)]
    of_query = [(query, max(owed, trials[number])) for number, query in enumerate(queries)]
    evaluated = [(run, weight) for run, weight in weighed if run["status"] == "evaluated"]
    asked = [(run, queries[run["query"]], weight) for run, weight in evaluated if run["query"] is not None]
    right = sum(
        weight * (run["stop_reason"] == "NO_EVIDENCE" and run["verified_claims"] == 0)
        for run, query, weight in asked
        if not query["evidence_sufficient"]
    )
    return {
        "evidence_coverage_rate": (
            _weighted_sum(evaluated, "covered_claims"),
            _weighted_sum(weighed, "verified_claims"),
        ),
        "golden_recall": (
            sum(run["found_ids"] * weight for run, _, weight in asked),
            sum(whole_number(query["required_ids"]) * trials for query, trials in of_query),
        ),
        "abstention_accuracy": (right, sum(trials for query, trials in of_query if not query["evidence_sufficient"])),
        "manifest_integrity": (_weighted_sum(weighed, "steps_with_manifest"), _weighted_sum(weighed, "steps")),
    }


def _weighted_sum(weighed: Sequence[tuple[RunValue, int]], name: _RunCount) -> int:
    return sum(run[name] * weight for run, weight in weighed)
