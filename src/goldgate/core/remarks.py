"""What can stand out in any report: signs that a number is not what it seems. It changes none.

Each remark has a stable `code`, a `message` for people and the `counts` behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from goldgate.core.gate import Gate
from goldgate.core.metric import Limit, format_number

Remark = dict[str, Any]  # code, message, counts


def remark(code: str, message: str, **counts: object) -> Remark:
    """One thing that stands out."""
    return {"code": code, "message": message, "counts": counts}


def remarks(report: dict[str, Any], headline: Iterable[str]) -> list[Remark]:
    """Gates that are missing, open or without a value; headline metrics undefined, or 0 where more is better."""
    return [
        *_no_gates(report),
        *_open_gates(report),
        *_unmeasured_gates(report),
        *_undefined(report, headline),
        *_zero(report, headline),
    ]


def lowered_gates(gates: Mapping[str, Gate], defaults: Mapping[str, Gate]) -> Iterator[Remark]:
    """Default gates that the protocol lowered, with a baseline record that speaks for it."""
    lowered = [
        f"{name} {gates[name].bounds()}{', only a warning' if gates[name].severity == 'warn' else ''}"
        f" (default {default.bounds()})"
        for name, default in defaults.items()
        if gates[name].is_weaker_than(default)
    ]
    if lowered:
        yield remark("lowered_gates", f"weaker than by default: {', '.join(lowered)}", gates=len(lowered))


def same_files(report: dict[str, Any]) -> Iterator[Remark]:
    """Predictions that are the gold itself. Two empty files are the same by chance."""
    gold, predictions = (
        {file["sha256"] for file in report["inputs"][kind] if file["samples"]} for kind in ("gold", "predictions")
    )
    if same := len(gold & predictions):
        message = "the predictions are the gold, byte for byte: the scores say nothing of a model"
        yield remark("gold_as_predictions", message, files=same)


def missing_answers(missing: int, samples: int) -> Iterator[Remark]:
    """Gold records without a prediction, and what share they are."""
    if missing:
        verb, whose = ("is", "its") if missing == 1 else ("are", "their")
        share = f"{missing} of {samples} answers {verb} missing ({share_percent(missing, samples)})"
        message = f"{share}: everything in {whose} gold counts as missed"
        yield remark("missing_answers", message, missing=missing, samples=samples)


def share_percent(part: int, whole: int) -> str:
    """`12.5 %`; 0 and 100 only where it is all or nothing."""
    return f"{format_number(Fraction(100 * part, whole), 1, [Limit('=', Fraction(100))])} %"


def _no_gates(report: dict[str, Any]) -> Iterator[Remark]:
    gates = report["gates"]
    if not gates:
        yield remark("no_gates", "no gates were set: nothing was judged, and nothing can fail")
    elif all(gate["severity"] == "warn" for gate in gates):
        yield remark("only_warnings", "every gate only warns: nothing can fail", gates=len(gates))


def _open_gates(report: dict[str, Any]) -> Iterator[Remark]:
    """Gates that were not decided and that the protocol lets pass."""
    allowed = ("warn", "pass")
    undecided = [gate for gate in report["gates"] if gate["verdict"] == "INCONCLUSIVE" and gate["severity"] == "error"]
    names = [gate["metric"] for gate in undecided if gate["on_inconclusive"] in allowed]
    if names:
        holds = "is open and holds" if len(names) == 1 else "are open and hold"
        yield remark("open_gates", f"{_join_names(names)} {holds} by on_inconclusive alone", gates=len(names))


def _unmeasured_gates(report: dict[str, Any]) -> Iterator[Remark]:
    """Gates that pass although there was nothing to measure."""
    names = [g["metric"] for g in report["gates"] if g["verdict"] == "PASS" and g["measured"]["value"] is None]
    if names:
        holds = "has no value and passes" if len(names) == 1 else "have no value and pass"
        yield remark("unmeasured_gates", f"{_join_names(names)} {holds} by on_not_evaluable alone", gates=len(names))


def _undefined(report: dict[str, Any], headline: Iterable[str]) -> Iterator[Remark]:
    """Metrics with one reason are one remark."""
    reasons: dict[str, list[str]] = {}
    for name in headline:
        metric = _metric(report, name)
        if metric["value"] is None:
            reasons.setdefault(metric["reason"], []).append(name)
    for reason, names in reasons.items():
        are = "is" if len(names) == 1 else "are"
        yield remark("undefined", f"{_join_names(names)} {are} undefined: {reason}", metrics=len(names))


def _zero(report: dict[str, Any], headline: Iterable[str]) -> Iterator[Remark]:
    names = [name for name in headline if _metric(report, name)["value"] == 0]
    if names:
        are = "is" if len(names) == 1 else "are"
        yield remark("zero", f"{_join_names(names)} {are} 0", metrics=len(names))


def _metric(report: dict[str, Any], name: str) -> dict[str, Any]:
    metric: dict[str, Any] = report["metrics"]["main"][name]
    return metric


def _join_names(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
