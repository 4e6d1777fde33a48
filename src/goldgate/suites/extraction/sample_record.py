"""A sample's record in samples.jsonl: its units, matches, errors and how it was parsed.

Every number of the report is a sum over these records.
"""

from __future__ import annotations

from typing import Any

import orjson

from goldgate.suites.extraction.measures.hallucination import count_distinct
from goldgate.suites.extraction.sample import Facts


def render_record(facts: Facts) -> bytes:
    """The record as one line of JSON."""
    return orjson.dumps(sample_record(facts), option=orjson.OPT_APPEND_NEWLINE)


def sample_record(facts: Facts) -> dict[str, Any]:
    """The record as plain values. `gold` and `predicted` are type → [role, argument] pairs."""
    parsed, predicted, thought = facts.parsed, facts.predicted, facts.thought
    return {
        "id": facts.sample.gold.id,
        "parse": None
        if parsed is None
        else {
            "status": parsed.status,
            "method": parsed.method,
            "repairs": parsed.repairs,
            "thought": parsed.thought_state,
            "start": parsed.start,
            "end": parsed.end,
            "left_out": [{"start": start, "end": end, "reason": reason} for start, end, reason in parsed.left_out],
        },
        "gold": {event_type: [*pairs] for event_type, pairs in facts.sample.gold.events.units.items()},
        "predicted": {event_type: [*pairs] for event_type, pairs in predicted.units.items()},
        "relaxed_pairs": [{"predicted": said, "gold": wanted} for said, wanted in facts.comparison.pairs],
        "errors": [
            {
                "error": mistake,
                "side": "predicted" if is_predicted else "gold",
                "unit": unit,
                "paired_with": partner,
            }
            for mistake, unit, is_predicted, partner in facts.mistakes
        ],
        "violations": [{"violation": found.violation, "path": found.path} for found in predicted.violations],
        "hallucination": None
        if facts.text is None
        else {
            "checked": count_distinct(predicted),
            "unsupported": [(*value.unit[:2], value.text) for value in facts.unsupported],
        },
        "cot": None
        if thought is None
        else {
            "bucket": thought.bucket,
            "type_consistent": thought.type_consistent,
            "argument_consistent": thought.argument_consistent,
            "mentioned": thought.mentioned,
            "missing": thought.missing,
            "copied": thought.copied,
        },
    }
