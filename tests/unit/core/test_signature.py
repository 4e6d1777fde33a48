"""The signature is one line with every setting that can change a number."""

from __future__ import annotations

import pytest

import goldgate
from goldgate.core.suite import signature
from goldgate.suites.extraction.settings import CotSettings
from tests.cases import cases

from ..helpers import SCHEMA, judge


@cases(
    ("value", "word"),
    [
        pytest.param(True, "yes", id="true"),
        pytest.param(False, "no", id="false"),
        pytest.param("a|b", "a/b", id="separator"),
        pytest.param("a\nb", "a b", id="new-line"),
        pytest.param(1, "1", id="number"),
    ],
)
def test_values_cannot_break_the_line(value: object, word: str) -> None:
    assert signature({"x": value, "y": 2}) == f"x:{word}|y:2"


def test_signature_of_a_report_names_version_and_settings() -> None:
    line = judge([], []).report["signature"]
    assert "\n" not in line
    settings = dict(part.split(":", 1) for part in line.split("|"))
    assert settings["goldgate"] == goldgate.__version__
    assert settings["suite"] == "extraction"
    assert settings["metrics"] == "2.0"
    assert settings["relaxed"] == "include_or_char_overlap>=0.5"
    assert settings["norm"] == "nfkc-cjk-casefold.v1"
    assert settings["cot"] == "off"


@cases(
    "settings",
    [
        pytest.param({"relaxed": "span_iou"}, id="relaxed-mode"),
        pytest.param({"threshold": "0.6"}, id="threshold"),
        pytest.param({"schema_mode": "schema_strict"}, id="schema-mode"),
        pytest.param({"hallucination": "exact_span"}, id="hallucination-mode"),
        pytest.param({"cot": CotSettings(enabled=True)}, id="cot"),
        pytest.param({"cot": CotSettings(enabled=True, mode="weak_mention")}, id="cot-mode"),
        pytest.param({"cot": CotSettings(enabled=True, require_thought_block=True)}, id="cot-block"),
        pytest.param({"tags": ("reason",)}, id="thought-tags"),
    ],
)
def test_every_setting_that_can_change_a_number_changes_the_signature(settings: dict[str, object]) -> None:
    plain = judge([], [], SCHEMA).report["signature"]
    assert judge([], [], SCHEMA, **settings).report["signature"] != plain


def test_thresholds_that_are_equal_have_one_form() -> None:
    short, long = judge([], [], threshold="0.5"), judge([], [], threshold="0.500")
    assert short.report["signature"] == long.report["signature"]


def test_event_schema_given_in_memory_is_in_the_signature() -> None:
    other = {"event_types": {"质押": {"roles": ["质押方"]}}}
    plain = judge([], [], SCHEMA, schema_mode="schema_strict").report["signature"]
    assert judge([], [], other, schema_mode="schema_strict").report["signature"] != plain
