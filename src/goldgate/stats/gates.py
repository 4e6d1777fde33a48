"""Gates with a confidence: PASS, FAIL, or INCONCLUSIVE where the units are too few to say.

A gate with a confidence passes when its bound holds for the whole one-sided interval, and fails when it holds for
no value of it. How several of them are controlled together:

- The evaluation passes only if all of them pass. Where even one true value is out of bounds, that gate passes with
  a chance of at most 1 - confidence, and so does the whole: no correction is needed (intersection-union; Berger
  1982).
- It fails if any of them fails, so failures are claimed by Holm's rule: where all true values are within bounds,
  the chance of even one FAIL is at most 1 - confidence. The bounds of one gate share its part (Bonferroni). What
  fails without the correction only is inconclusive.

`support` says of any gate whether the units are many enough, at 95 %, one-sided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from goldgate.core.gate import (
    Gate,
    GateResult,
    Verdict,
    check_gate,
    confidence_percent,
    counts_text,
    not_evaluable_result,
)
from goldgate.core.metric import Count, Estimate, IntervalAt, Limit, Mean, Metric, Rate, Ratio, format_number
from goldgate.stats.interval import (
    Interval,
    NoInterval,
    exact_end,
    gate_interval_of,
    interval_of,
    one_sided,
    units_to_decide,
)

if TYPE_CHECKING:
    from goldgate.core.sums import RatioSums
    from goldgate.stats.paired import PairedSums


FAMILY_NOTE = (
    "The evaluation passes only if all gates pass, so a PASS needs no correction; a FAIL is corrected "
    "by Holm's method over {} gates."
)

_At = Callable[[float], Interval | NoInterval]  # the interval at a level


class PairedEstimates(NamedTuple):
    """The difference of an estimate between this run and a stored one, which the measure has worked out."""

    value: Fraction | None
    units: int
    interval_at: IntervalAt | None  # None where it has no value


class PairedRun(NamedTuple):
    """The difference of this run from a stored one over the same units, in one rate or estimate."""

    sums: PairedSums | PairedEstimates
    share: bool  # False: it may be above 1
    against: str  # as the protocol names it
    sha256: str  # digest of the file it was read from
    same: bool  # the two have the same answers
    asked: PairedSums | None = None  # without runs that belong to no query, if there are any: no gate may rest on them
    undefined: str | None = None  # why an estimate has no difference


class _Bound(NamedTuple):
    """One bound of a gate: which side of it the values must lie, and how to see where they do."""

    words: str  # `740/835`, `a difference of -0.0120`
    value: Fraction
    sign: str
    limit: Fraction
    threshold: str
    at: _At
    needed: Callable[[float], int | None]

    @property
    def least(self) -> bool:
        """Whether values below the limit are out of bounds."""
        return self.sign == "≥"

    def end(self, interval: Interval, *, passes: bool) -> float:
        """The end of an interval that decides: for a pass the end nearest to the forbidden side, else the other."""
        return interval.low if self.least == passes else interval.high

    def is_met(self, value: Fraction) -> bool:
        return value >= self.limit if self.least else value <= self.limit


def judge_gates(
    gates: Mapping[str, Gate],
    metrics: Mapping[str, Metric | Mean],
    paired: Mapping[str, PairedRun] | None = None,
    unit: str = "unit",
) -> list[GateResult]:
    """Every gate's verdict, in the order of the protocol; plain ones by their values, exactly.

    Without `paired`, what is to be compared with a stored run is left open, and only the other bounds are judged.
    """
    pairs = paired or {}
    bounds = {
        name: [] if metrics[name].exact is None else _bounds(gate, metrics[name], pairs.get(name))
        for name, gate in gates.items()
        if gate.confidence is not None
    }
    failed = _failed_gates(gates, bounds)
    return [
        _with_note(
            _gate_result(name, gate, metrics[name], pairs.get(name), bounds.get(name, []), failed.get(name), unit)
        )
        for name, gate in gates.items()
    ]


def _with_note(result: GateResult) -> GateResult:
    """The result whose reason also says what the rate stands for, or what its interval rests on."""
    note = result.measured.note if isinstance(result.measured, (Rate, Estimate)) else ""
    return replace(result, reason=f"{result.reason}; {note}") if note else result


def family_note(gates: Mapping[str, Gate]) -> str | None:
    """How the gates with a confidence are controlled together; None for less than two."""
    family = [gate for gate in gates.values() if gate.confidence is not None and gate.severity == "error"]
    return FAMILY_NOTE.format(len(family)) if len(family) > 1 else None


def _failed_gates(gates: Mapping[str, Gate], bounds: Mapping[str, list[_Bound]]) -> dict[str, int]:
    """The gates that fail, each with the number of gates that its chance was shared with: Holm's rule, stepping down.

    At each step what is left shares the chance; those that fail nevertheless are taken out, and the rest shares anew.
    A gate that only warns stands for itself.
    """
    left = [name for name in bounds if gates[name].severity == "error"]
    failed = {name: 1 for name in bounds if name not in left and _fails(gates[name], bounds[name], 1)}
    while new := [name for name in left if _fails(gates[name], bounds[name], len(left))]:
        failed |= dict.fromkeys(new, len(left))
        left = [name for name in left if name not in new]
    return failed


def _fails(gate: Gate, bounds: list[_Bound], sharing: int) -> bool:
    return any(_is_decided(bound, _shared(gate.confidence, sharing * len(bounds)), passes=False) for bound in bounds)


def _shared(confidence: Decimal | None, sharing: int) -> float:
    """The confidence of one of `sharing` claims that share the chance of being wrong."""
    assert confidence is not None
    return 1 - (1 - float(confidence)) / sharing


def _gate_result(
    name: str,
    gate: Gate,
    measured: Metric | Mean,
    paired: PairedRun | None,
    bounds: list[_Bound],
    sharing: int | None,
    unit: str,
) -> GateResult:
    """The verdict of a gate; `sharing` is the number of gates that its failure was corrected for, if it fails."""
    more = _difference_entry(gate, paired)
    if measured.exact is None:
        return not_evaluable_result(name, gate, measured, str(measured.reason), more)
    if gate.against is not None and any(each.sums.value is None for each in _both_ways(paired)):
        why = "has nothing to divide by" if paired is None or paired.undefined is None else paired.undefined
        return not_evaluable_result(name, gate, measured, f"{gate.against} {why}", more)
    if gate.confidence is None:
        return _exact_result(name, gate, measured, paired, more)
    if sharing is not None:
        reached = _shared(gate.confidence, sharing * len(bounds))
        percent = confidence_percent(Decimal(format_number(reached)))
        out = [bound for bound in bounds if _is_decided(bound, reached, passes=False)]
        reason = "; ".join(_reason(bound, reached, percent, passes=False) for bound in out)
        return GateResult(name, gate, measured, Verdict.FAIL, reason, more)
    confidence = float(gate.confidence)
    if gate.on_inconclusive != "fail" and (missed := _missed_without_interval(bounds, confidence)):
        return GateResult(name, gate, measured, Verdict.FAIL, "; ".join(missed), more)
    open_bounds = [bound for bound in bounds if not _is_decided(bound, confidence, passes=True)]
    if open_bounds:
        reason = "; ".join(_open_reason(bound, gate.confidence, unit) for bound in open_bounds)
        return GateResult(name, gate, measured, Verdict.INCONCLUSIVE, reason, more)
    percent = confidence_percent(gate.confidence)
    reason = "; ".join(_reason(bound, confidence, percent, passes=True) for bound in bounds)
    if paired is not None and paired.same:
        reason += f"; {paired.against} has the same answers, so there is nothing to compare"
    return GateResult(name, gate, measured, Verdict.PASS, reason or counts_text(measured, gate), more)


def _exact_result(
    name: str, gate: Gate, measured: Metric | Mean, paired: PairedRun | None, more: Mapping[str, object]
) -> GateResult:
    """The verdict of a gate without a confidence: by the values, and by their exact difference."""
    plain = check_gate(name, gate, measured)
    if paired is None or paired.sums.value is None:
        return plain
    broken, held = [plain.reason] if plain.verdict is Verdict.FAIL else [], list[str]()
    for each in _both_ways(paired):
        value = each.sums.value or Fraction(0)
        for bound, signed, word in ((gate.max_drop, -value, "drop"), (gate.max_rise, value, "rise")):
            if bound is not None:
                change = format_number(signed, limits=(Limit("≤", Fraction(bound)),))
                words = f"a {word} of {change} from {each.against}"
                if signed <= Fraction(bound):
                    held.append(f"{words} is ≤ {bound}")
                else:
                    broken.append(f"{words} is not ≤ {bound}")
    if broken:
        return GateResult(name, gate, measured, Verdict.FAIL, "; ".join(broken), more)
    values = Gate(gate.min, gate.max, gate.equals).bounds()
    reasons = [f"{counts_text(measured, gate)} is {values}"] if values else []
    return GateResult(name, gate, measured, Verdict.PASS, "; ".join([*reasons, *held]), more)


def _bounds(gate: Gate, measured: Metric | Mean, paired: PairedRun | None) -> list[_Bound]:
    """Every bound of a gate, with the interval that it is held against."""
    bounds = []
    sums = None if isinstance(measured, (Mean, Count, Ratio, Estimate)) else measured.sums
    value = Fraction(measured.exact or 0)  # what has none is not judged
    at, words = partial(gate_interval_of, measured), counts_text(measured, gate)
    for sign, limit in (("≥", gate.min), ("≤", gate.max)):
        if limit is not None:
            threshold = Fraction(limit)
            needed = partial(_to_decide, sums, threshold)
            bounds.append(_Bound(words, value, sign, threshold, str(limit), at, needed))
    return bounds + [bound for each in _both_ways(paired) for bound in _difference_bounds(gate, each)]


def _both_ways(paired: PairedRun | None) -> Iterator[PairedRun]:
    """The comparison over all units, and, where there is one, over requested units only."""
    if paired is not None:
        yield paired
        if paired.asked is not None:
            yield paired._replace(sums=paired.asked, against=f"{paired.against} without unrequested units")


def _difference_bounds(gate: Gate, paired: PairedRun) -> Iterator[_Bound]:
    value = paired.sums.value
    if value is None:
        return
    words = f"a difference of {format_number(value, limits=gate.difference_limits())} from {paired.against}"
    for sign, limit in (("≥", gate.max_drop and gate.max_drop.copy_negate()), ("≤", gate.max_rise)):
        if limit is not None:
            border = Fraction(limit)
            at, needed = partial(_difference_interval, paired), partial(_to_tell, paired, border)
            yield _Bound(words, value, sign, border, str(limit), at, needed)


def _is_decided(bound: _Bound, confidence: float, *, passes: bool) -> bool:
    """Whether the whole interval is within the bound (for a pass) or out of it; False where there is none."""
    interval = bound.at(one_sided(confidence))
    return isinstance(interval, Interval) and bound.is_met(exact_end(bound.end(interval, passes=passes))) is passes


def _missed_without_interval(bounds: list[_Bound], confidence: float) -> list[str]:
    """Bounds that the value misses and that have no interval. If they counted as open, the gate could never fail."""
    return [
        f"{bound.words} is not {bound.sign} {bound.threshold} by its value, and there is no interval: {interval.reason}"
        for bound in bounds
        if not bound.is_met(bound.value) and isinstance(interval := bound.at(one_sided(confidence)), NoInterval)
    ]


def _reason(bound: _Bound, confidence: float, percent: str, *, passes: bool) -> str:
    interval = bound.at(one_sided(confidence))
    assert isinstance(interval, Interval)
    verb, side = "is" if passes else "is not", "at least" if bound.least == passes else "at most"
    end = _end(bound.end(interval, passes=passes), bound)
    return f"{bound.words} {verb} {bound.sign} {bound.threshold}: {side} {end} with {percent} confidence"


def _open_reason(bound: _Bound, confidence: Decimal, unit: str) -> str:
    level = one_sided(float(confidence))
    interval = bound.at(level)
    reason = f"{bound.words} does not decide {bound.sign} {bound.threshold}"
    if isinstance(interval, NoInterval):
        return f"{reason}: {interval.reason}"
    ends = f"from {_end(interval.low, bound)} to {_end(interval.high, bound)}"
    reason += f": {ends} with {confidence_percent(confidence)} confidence at each end"
    if _is_decided(bound, float(confidence), passes=False):
        return f"{reason}; alone this gate would fail, corrected for the other gates it does not"
    needed = bound.needed(level)
    if needed is None or needed <= interval.units:
        return reason
    counted = f"{interval.units:,} have something to count"
    return f"{reason}; about {needed:,} {unit}s would decide it, and {counted}"


def _difference_interval(paired: PairedRun, level: float) -> Interval | NoInterval:
    """The interval of the difference."""
    from goldgate.stats.paired import difference_interval

    if isinstance(paired.sums, PairedEstimates):
        if paired.same:
            return Interval(level, 0.0, 0.0, "equal", paired.sums.units)
        return NoInterval(str(paired.undefined)) if paired.sums.interval_at is None else paired.sums.interval_at(level)
    return difference_interval(paired.sums, level, paired.share, same=paired.same)


def _to_decide(sums: RatioSums | None, threshold: Fraction, level: float) -> int | None:
    return None if sums is None else units_to_decide(sums, threshold, level)


def _to_tell(paired: PairedRun, border: Fraction, level: float) -> int | None:
    from goldgate.stats.paired import units_to_tell

    sums = paired.sums
    return None if isinstance(sums, PairedEstimates) else units_to_tell(sums, border, level, paired.share)


def _difference_entry(gate: Gate, paired: PairedRun | None) -> dict[str, object]:
    """The difference from a stored run, with its two-sided interval at the gate's confidence, for the report."""
    if paired is None or gate.against is None:
        return {}
    value = paired.sums.value
    difference = None if gate.confidence is None else _difference_interval(paired, one_sided(float(gate.confidence)))
    interval = difference if isinstance(difference, Interval) else None
    return {
        "against": {"name": paired.against, "sha256": paired.sha256},
        "difference": {
            "value": None if value is None else float(value),
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
            "units": paired.sums.units,
        },
    }


def _end(end: float, bound: _Bound) -> str:
    return str(end) if isinstance(end, int) else format_number(end, limits=(Limit(bound.sign, bound.limit),))


CONFIDENCE = 0.95
Support = Literal["supported", "inconclusive", "refuted"]


def support(gate: Gate, measured: Metric | Mean) -> Support | None:
    """Supported if the interval lies within the gate's bounds, refuted if it lies outside; None if there is none.

    The point estimate decides the gate; this says how much it would take to turn it. None for a gate with a confidence
    or a stored run too: its own verdict says it.
    """
    if not gate.is_plain:
        return None
    interval = interval_of(measured, one_sided(CONFIDENCE))
    if isinstance(interval, NoInterval):
        return None
    low, high = exact_end(interval.low), exact_end(interval.high)
    least = None if gate.least is None else Fraction(gate.least)
    most = None if gate.most is None else Fraction(gate.most)
    if (least is not None and high < least) or (most is not None and low > most):
        return "refuted"
    if (least is None or low >= least) and (most is None or high <= most):
        return "supported"
    return "inconclusive"
