"""What stands out in a research report: the four metrics can be passed by an agent that is of no use."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from goldgate.core.remarks import Remark, remark
from goldgate.core.suite import Report
from goldgate.suites.research.settings import ALARMS


def stands_out(report: Report) -> Iterator[Remark]:
    """Trials that are missing or broken, copies that count, unkept manifests, companions beyond their alarms."""
    yield from _incomplete(report)
    yield from _copies(report)
    yield from _unkept_manifests(report)
    yield from _alarms(report)
    yield from _unseen_by_gates(report)


def _incomplete(report: Report) -> Iterator[Remark]:
    trials, runs = report["conservation"]["trials"], report["conservation"]["runs"]
    if trials["missing"]:
        message = f"{trials['missing']} of {trials['total']} trials are missing: they count as failed"
        yield remark("missing_trials", message, missing=trials["missing"], trials=trials["total"])
    if runs["broken"]:
        message = f"{runs['broken']} of {runs['total']} runs are broken: they count as failed"
        yield remark("broken_runs", message, broken=runs["broken"], runs=runs["total"])


def _copies(report: Report) -> Iterator[Remark]:
    """Rates that would be better if copies of runs were merged."""
    rates = [entry["pointer"].rpartition("/")[2] for entry in report["findings"] if entry["code"] == "copies_counted"]
    if rates:
        copies = sum(run.get("copies", 0) for run in report["runs"])
        count = "1 copy of a run counts" if copies == 1 else f"{copies} copies of runs count"
        message = f"{count}, because merging would improve {', '.join(rates)}"
        yield remark("copies_counted", message, copies=copies, rates=len(rates))


def _unkept_manifests(report: Report) -> Iterator[Remark]:
    """That none are kept is said where the metric is undefined; that there are some all the same is said here."""
    steps = report["conservation"]["steps"]
    total, kept = steps["total"], steps["with_manifest"]
    if report["metrics"]["main"]["manifest_integrity"]["value"] is None and kept:
        message = f"{kept} of {total} steps have a manifest, and the protocol says that this agent keeps none"
        yield remark("manifests_not_kept", message, steps=total, with_manifest=kept)


def _unseen_by_gates(report: Report) -> Iterator[Remark]:
    """Findings about all runs together: claims that are covered in form only, or that hide others."""
    messages = {finding["code"]: finding["message"] for finding in report["findings"] if not finding["file"]}
    if "empty_evidence" in messages:
        yield remark("empty_evidence", messages["empty_evidence"])
    if "uniform_dilution" in messages:
        yield remark("uniform_dilution", messages["uniform_dilution"])


def _alarms(report: Report) -> Iterator[Remark]:
    """Companions that stand out: an agent that files the whole corpus, or always abstains, shows here."""
    for name, gate in ALARMS.items():
        metric = report["metrics"]["companions"][name]
        numerator, denominator = metric["numerator"], metric["denominator"]
        if not denominator:
            continue
        exact = Fraction(numerator, denominator)
        low = gate.min is not None and exact < Fraction(gate.min)
        high = gate.max is not None and exact > Fraction(gate.max)
        if low or high:
            message = f"{name}: {numerator}/{denominator} is not {gate.bounds()}"
            yield remark(name, message, numerator=numerator, denominator=denominator)
