"""The plan that a protocol sets for a suite, checked against the suite's metrics, and the metric of each gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldgate.core.finding import Finding
from goldgate.core.gate import (
    Gate,
    Verdict,
    average_names,
    find_gate_target,
    similar_parts,
    target_metric,
)
from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import Count, Estimate, Mean, Metric, Metrics, Rate, Ratio, gate_metric
from goldgate.core.page import count_text
from goldgate.core.suite import CheckResult, Outcome, Plan, Suite
from goldgate.core.tally import Tally
from goldgate.errors import ConfigError, as_yaml, did_you_mean
from goldgate.files.address import folder_of_reference
from goldgate.protocol import LoadedProtocol, ProtocolSource, Sections, obtain_protocol
from goldgate.suites import all_suites

if TYPE_CHECKING:  # most protocols name no baseline
    from goldgate.runs.baseline import BaselineProposals

_MISTAKES_IN_GATES = ("protocol.wrong_value", "protocol.unknown_key", "protocol.gate_without_bound")


def load_protocol(source: ProtocolSource) -> LoadedProtocol:
    """A protocol with the sections of all suites, read and checked."""
    return obtain_protocol(source, all_sections())


def all_sections() -> Sections:
    """The settings of every suite by the name of their section."""
    return {suite.section: suite.settings for suite in all_suites()}


def load_plan(suite: Suite, protocol: ProtocolSource) -> Plan:
    """The suite's settings, and its default gates with the protocol's in their place.

    A gate on a metric that the suite does not have, or one below its default that no baseline record speaks for,
    is a ConfigError.
    """
    try:
        loaded = obtain_protocol(protocol, {suite.section: suite.settings}, all_sections)
    except ConfigError as error:
        _require_metric(suite, error)
        raise
    parsed = loaded.protocol
    settings: Any = parsed.section(suite.section, suite.settings)
    plan = Plan(settings, parsed.gates, parsed.protocol, loaded.file, loaded.sha256, loaded.lines)
    suite.check(plan)
    metrics = _SuiteMetrics(suite, settings)
    for name in plan.gates:
        metrics.require(plan, name)
    targets = {name: metrics.metric(name) for name in plan.gates}
    _require_possible(plan, targets)
    metrics.require_compared(plan)
    return _with_defaults(suite, _with_confidence(plan, targets), parsed.baseline)


def _gate_error(
    plan: Plan,
    setting: str,
    message: str,
    expected: str | None,
    found: str,
    advice: str | None = None,
    code: str = "wrong_value",
) -> ConfigError:
    """What is wrong with a gate, or with a setting of it: `strict_f1`, `strict_f1.min`."""
    place = plan.place(f"gates.{setting}")
    return ConfigError(f"protocol.{code}", message, place=place, expected=expected, found=found, advice=advice)


class _SuiteMetrics:
    """The metrics that gates of a suite can be on."""

    def __init__(self, suite: Suite, settings: Any) -> None:
        self._suite, self._settings = suite, settings
        self._metrics, self._measures = suite.known_metrics(settings), suite.measures(settings)

    def metric(self, name: str) -> Metric:
        """The metric that a gate is on, or on a part of which; as it is when nothing was counted."""
        target = find_gate_target(name, self._measures)
        if target is None:
            return self._metrics[name]
        return target.measure.metrics_of(Tally(), target.measure.key)[target.metric]

    def require(self, plan: Plan, name: str) -> None:
        """Refuse a gate on a metric that does not exist: that is a mistake in the protocol, not a verdict."""
        if name in self._metrics or find_gate_target(name, self._measures) is not None:
            return
        self._refuse_parts(plan, name)
        added = self._suite.setting_for(name, self._settings)
        home = next((other.name for other in all_suites() if name in other.known_metrics(other.settings())), None)
        expected: str | None = f"a metric of the {self._suite.name} suite: {', '.join(sorted(self._metrics))}"
        if added is not None:
            message, expected = f"there is no metric {name} without its profile", None
            advice: str | None = f"{added} adds it"
        elif home is not None:
            message = f"{name} is a metric of the {home} suite"
            advice = f"judge it with goldgate {home}, under a protocol of its own"
        else:
            message = f"there is no metric {name}"
            advice = did_you_mean(name, [*self._metrics, *average_names(self._measures)])
        raise _gate_error(plan, name, message, expected, name, advice, "unknown_metric")

    def _refuse_parts(self, plan: Plan, name: str) -> None:
        """A part of a metric that is not counted by part is told apart from a metric that does not exist."""
        metric, bracket, _ = name.partition("[")
        metrics = sorted(self._metrics)
        divided = [other for other in metrics if find_gate_target(f"{other}[x]", self._measures) is not None]
        if bracket and metric in metrics and metric not in divided:
            expected = f"a metric that is: {', '.join(divided)}" if divided else "a metric without brackets"
            raise _gate_error(plan, name, f"{metric} is not counted by part", expected, name, code="unknown_metric")

    def require_compared(self, plan: Plan) -> None:
        """A difference from a stored run is one of rates over units, or of estimates that have one; counts and macro
        averages have none."""
        measures = [each for each in self._measures if isinstance(each, RatioMeasure)]
        rates = {name for each in measures for name in (*each.ratios, *each.compared)}
        for name, gate in plan.gates.items():
            target = find_gate_target(name, measures)
            is_average = target is not None and target.averaged > 0
            if gate.against is None or name in rates or (target and not is_average and target.metric in rates):
                continue
            kind = "a macro average" if is_average else "a count or an estimate"
            advice = "set min or max in place of max_drop and max_rise"
            message = f"{name} cannot be compared with a stored run"
            raise _gate_error(plan, f"{name}.against", message, "a rate, or a part of one", kind, advice, "not_paired")


def _require_possible(plan: Plan, targets: Mapping[str, Metric]) -> None:
    """A bound that no value can meet, or none can miss, is a mistake: 5 for 5 % among them."""
    for name, gate in plan.gates.items():
        for word, bound in (("min", gate.min), ("max", gate.max), ("equals", gate.equals)):
            if bound is not None and _is_share(targets[name]) and not 0 <= bound <= 1:
                advice = f"write {bound} % as {bound / 100}" if 1 < bound <= 100 else None
                raise _gate_error(
                    plan, f"{name}.{word}", f"{name} is a rate", "a number from 0 to 1", str(bound), advice
                )
            if bound is not None and isinstance(targets[name], Count) and bound != int(bound):
                advice = "write how many are allowed, such as 10; it has no share" if word == "max" else None
                raise _gate_error(plan, f"{name}.{word}", f"{name} is a count", "a whole number", str(bound), advice)
        if gate.min is not None and gate.max is not None and gate.min > gate.max:
            bounds = f"min {gate.min}, max {gate.max}"
            raise _gate_error(plan, name, "no value can pass this gate", "min <= max", bounds)


def _is_share(metric: Metric) -> bool:
    if isinstance(metric, Estimate):
        return metric.share
    return isinstance(metric, Rate) and not isinstance(metric, Ratio)


def _with_confidence(plan: Plan, targets: Mapping[str, Metric]) -> Plan:
    """The plan, with a confidence where the value of an estimate must not decide alone and the protocol sets none."""
    gates = dict(plan.gates)
    for name, gate in plan.gates.items():
        metric = targets[name]
        if gate.confidence is not None:
            continue
        if isinstance(metric, Estimate) and metric.gate_confidence is not None:
            if gate.equals is not None:
                message = f"{name} is an estimate, and an interval cannot be tested for equality"
                raise _gate_error(plan, f"{name}.equals", message, "min or max", f"equals {gate.equals}")
            gates[name] = replace(gate, confidence=metric.gate_confidence)
        elif gate.on_inconclusive != "fail":
            message = "a gate without a confidence is never inconclusive"
            raise _gate_error(plan, f"{name}.on_inconclusive", message, "confidence", "no confidence")
    return replace(plan, gates=gates)


def _with_defaults(suite: Suite, plan: Plan, baseline_name: str | None) -> Plan:
    setting = "baseline"
    if baseline_name is None:  # where it stood before every suite had one
        baseline_name, setting = getattr(plan.settings, "baseline", None), f"{suite.section}.baseline"
    baseline = None
    if baseline_name is not None:
        from goldgate.runs.baseline import load_baseline

        folder = folder_of_reference(plan.file, baseline_name, plan.place(setting))
        baseline = load_baseline(folder / baseline_name, baseline_name, plan.place(setting), suite.name)
    defaults = suite.gates(plan)
    _require_baseline(plan, defaults, baseline)
    sha256 = None if baseline is None else baseline.sha256
    return replace(plan, gates={**defaults, **plan.gates}, baseline_sha256=sha256)


def _require_baseline(plan: Plan, defaults: Mapping[str, Gate], baseline: BaselineProposals | None) -> None:
    """Refuse a gate below its default that no baseline record speaks for.

    One that only warns is below it, and so is one that lets pass what is not decided.
    """
    for name, default in defaults.items():
        gate = plan.gates.get(name, default)
        if not gate.is_weaker_than(default):
            continue
        from goldgate.runs.baseline import BASELINE_ADVICE

        description = gate.bounds()
        if gate.severity == "warn":
            description += ", severity warn: it cannot fail the evaluation"
        elif gate.on_inconclusive != "fail":
            description += f", on_inconclusive {gate.on_inconclusive}: it holds while it is not refuted"
        proposed = baseline and baseline.proposals.get(name)
        if baseline is None:
            code, problem = "lowered_without_baseline", "is weaker than its default"
            expected = f"{default.bounds()}, or a record of stored reports: {as_yaml('baseline', 'FILE')}"
        elif proposed is None or gate.least is None or gate.least < proposed:  # a record proposes lower bounds only
            code, problem = "below_baseline", "is weaker than its baseline record proposes"
            few = "a record that proposes a threshold: this one has too few trials of it"
            expected = few if proposed is None else f"≥ {proposed}"
        else:
            continue
        raise _gate_error(plan, name, f"the gate on {name} {problem}", expected, description, BASELINE_ADVICE, code)


def _require_metric(suite: Suite, error: ConfigError) -> None:
    """For a mistake in a gate on no metric, an error that says so first: `f1: 0.8`."""
    if error.code not in _MISTAKES_IN_GATES:
        return
    section, _, rest = (error.place.field or "").partition(".")
    name = rest.partition(".")[0]
    settings: Any = suite.settings()
    if section == "gates" and name and "[" not in name and suite.setting_for(name, settings) is None:
        lines = {} if error.place.line is None else {f"gates.{name}": error.place.line}
        _SuiteMetrics(suite, settings).require(Plan(settings, file=error.place.file, lines=lines), name)


SHOWN_PARTS = 12


def gate_metrics(
    suite: Suite, plan: Plan, metrics: Metrics, tally: Tally, outcome: Outcome
) -> dict[str, Metric | Mean]:
    """The metric of each gate. A part that was not counted is an error."""
    targets: dict[str, Metric | Mean] = {}
    for name in plan.gates:
        if name in metrics:
            targets[name] = gate_metric(metrics[name])
            continue
        gated = find_gate_target(name, suite.measures(plan.settings))
        assert gated is not None  # the plan has seen to it
        declared = outcome.part_names()
        if gated.part and gated.key not in tally.tables and gated.part not in declared:
            similar = similar_parts(gated, tally, declared)
            more = f" and {len(similar) - SHOWN_PARTS} more" if len(similar) > SHOWN_PARTS else ""
            expected = (", ".join(similar[:SHOWN_PARTS]) or "none occurs") + more
            message = f"there is no such {[*gated.measure.parts][len(gated.part) - 1]}"
            raise _gate_error(plan, name, message, expected, name, did_you_mean(name, similar), "unknown_part")
        targets[name] = target_metric(gated, tally)
    return targets


def check_protocol(path: str, suite: str | None) -> CheckResult:
    """`goldgate check` of a protocol: for the suite named, else for the first whose section or metrics it has."""
    suites = [each for each in all_suites() if suite in (None, each.name)]
    mistakes: list[ConfigError] = []
    for each in suites:
        try:
            plan = load_plan(each, path)
        except ConfigError as error:
            mistakes.append(error)
            continue
        gates = count_text(len(plan.gates), "gate")
        return _protocol_report([], f"protocol of the {each.name} suite, {gates}")
    # A metric of another suite is a mistake only where no suite has another one.
    first = next((each for each in mistakes if each.code != "protocol.unknown_metric"), mistakes[0])
    details = (first.expected and f"expected {first.expected}", first.found and f"found {first.found}", first.advice)
    text = "; ".join(filter(None, (first.message, *details)))
    finding = Finding(first.code, "error", path, first.place.line, first.place.field or "", text)
    return _protocol_report([finding], "protocol")


def _protocol_report(findings: list[Finding], summary: str) -> CheckResult:
    status = Verdict.FAIL if findings else Verdict.PASS
    entries = [finding.as_json() for finding in findings]
    report = {"format_version": 1, "suite": "check-protocol", "status": status, "findings": entries, "error": None}
    return CheckResult(report, summary)
