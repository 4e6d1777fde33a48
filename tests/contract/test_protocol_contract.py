"""The protocol's schema and its loader: whatever the loader accepts is valid, as an editor would check it."""

from __future__ import annotations

from typing import Any

import yaml

from goldgate.errors import GoldgateError
from goldgate.suites.plan import load_protocol
from tests.cases import cases
from tests.spoiling import spoiled

from .referee import objections

WHOLE = """\
protocol: {version: "1.3", name: duee-fin-dev}
metrics:
  version: "2.0"
  normalization: nfkc-cjk-casefold.v1
  response: {thought_tags: [think, reason], prefix: "[", keys: {events: [items]}, null_words: [none]}
  relaxed: {match_mode: span_iou, char_overlap_threshold: 0.25}
  cot: {enabled: true}
research: {require_verbatim: true, trials: 3, max_file_megabytes: 1.5}
gates:
  strict_f1: {min: 0.450, max: 1, severity: warn}
generation: {currency: EUR, prices: {default: {input: 0.5, output: 2}}}
"""
WRITTEN = [
    WHOLE,
    "protocol: {version: 1.10, name: 7}",  # a number without quotation marks is its text
    "metrics: {version: 2.0}",
    "metrics:\ngates:\ngeneration: {prices: }\n",  # sections whose lines are all commented out
    "metrics: {response: {flat: {event_type: {from: gold}}}}",
    "metrics: {response: {flat: {event_type: Hire}, prefix: }}",
    "# nothing\n",
]


@cases("text", WRITTEN)
def test_whatever_is_accepted_is_valid(text: str) -> None:
    whole = yaml.safe_load(text)
    load_protocol(whole or {})
    assert objections("protocol.schema.json", whole) == []
    accepted = [case for case in spoiled(whole) if isinstance(case, dict) and accepts(case)]
    for case in accepted:
        assert objections("protocol.schema.json", case) == [], case


def accepts(settings: Any) -> bool:
    try:
        load_protocol(settings)
    except GoldgateError:
        return False
    return True


@cases(
    "text",
    [
        "metric: {}",
        "metrics: {version: 3.0}",
        "metrics: {relaxed: {match_mode: exact}}",
        "metrics: {relaxed: {char_overlap_threshold: 1.5}}",
        "metrics: {cot: {enabled: 1}}",
        "research: {max_file_megabytes: 0}",
        "gates: {strict_f1: 0.85}",
        "gates: {strict_f1: {mini: 1}}",
    ],
)
def test_bad_setting_is_refused_by_schema_and_loader(text: str) -> None:
    settings = yaml.safe_load(text)
    assert objections("protocol.schema.json", settings) != []
    assert not accepts(settings)
