"""The extraction suite's report: from the sum of all samples to plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import goldgate
from goldgate.core.evaluation import FORMAT_VERSION, Evaluation
from goldgate.core.gate import check_gates, overall
from goldgate.core.metric import Metrics
from goldgate.core.signature import signature
from goldgate.core.tally import Tally
from goldgate.protocol.load import LoadedProtocol
from goldgate.protocol.model import Protocol
from goldgate.readers.records import Digest
from goldgate.suites.extraction.breakdown import breakdown, error_names, reading
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.events.form import form_of, form_signature
from goldgate.suites.extraction.hints import hints
from goldgate.suites.extraction.measures.hallucination import HALLUCINATION_VERSION
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.extraction.stands_out import stands_out

SUITE = "extraction"
PARSER_VERSION = 2  # raised whenever the same response may be read otherwise


def judge(
    scorer: Scorer,
    tally: Tally,
    loaded: LoadedProtocol,
    gold: Sequence[Digest] = (),
    predictions: Sequence[Digest] = (),
) -> Evaluation:
    """Divide the sum, check the gates, and put the report together."""
    protocol = loaded.protocol
    sections: dict[str, Metrics] = {"main": {}, "diagnostics": {}}
    for measure in scorer.measures:
        sections[measure.section].update(measure.metrics(tally))
    metrics = {**sections["main"], **sections["diagnostics"]}
    gates = check_gates(protocol.gates, metrics)
    report: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "suite": SUITE,
        "status": overall(gates),
        "protocol": asdict(protocol.protocol),
        "signature": signature(_settings(protocol, scorer.schema)),
        "inputs": _inputs(gold, predictions, scorer.schema, loaded),
        "gates": [gate.as_json() for gate in gates],
        "metrics": {
            "version": protocol.metrics.version,
            **{
                section: {name: metric.as_json() for name, metric in found.items()}
                for section, found in sections.items()
            },
        },
        "stands_out": [],
        "errors": error_names(tally),
        "reading": reading(tally),
        "hints": hints(tally, scorer.form),
        "breakdown": breakdown(tally),
        "error": None,
    }
    report["stands_out"] = stands_out(report)
    return Evaluation(report, metrics, gates)


def _settings(protocol: Protocol, schema: EventSchema | None) -> dict[str, object]:
    """Everything that can change a number, for the signature."""
    metrics = protocol.metrics
    relaxed, cot = metrics.relaxed, metrics.cot
    threshold = (
        relaxed.char_overlap_threshold
        if relaxed.match_mode == "include_or_char_overlap"
        else relaxed.span_iou_threshold
    )
    return {
        "goldgate": goldgate.__version__,
        "suite": SUITE,
        "metrics": metrics.version,
        "protocol": f"{protocol.protocol.name}@{protocol.protocol.version}",
        "parser": PARSER_VERSION,
        "thoughts": "+".join(metrics.response.thought_tags) or "none",
        **form_signature(form_of(metrics.response)),
        "norm": metrics.normalization,
        "relaxed": f"{relaxed.match_mode}>={threshold.normalize():f}",
        "schema": metrics.schema.mode,
        "hallucination": f"{metrics.hallucination.match_mode}.v{HALLUCINATION_VERSION}",
        "cot": f"{cot.mode}{'+block' if cot.require_thought_block else ''}" if cot.enabled else "off",
        "types": "none" if schema is None else schema.digest[:12],
    }


def _inputs(
    gold: Sequence[Digest], predictions: Sequence[Digest], schema: EventSchema | None, loaded: LoadedProtocol
) -> dict[str, Any]:
    """Digests and sample counts, sorted: in what order the files were named changes nothing."""
    return {
        "gold": [digest._asdict() for digest in sorted(gold)],
        "predictions": [digest._asdict() for digest in sorted(predictions)],
        "schema": schema.sha256 if schema is not None else None,
        "protocol": loaded.sha256,
    }
