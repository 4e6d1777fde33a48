"""Protocol files: what is left out keeps its default, every mistake is an error with its place."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from goldgate.core.gate import Gate
from goldgate.errors import ConfigError, GoldgateError, InputError
from goldgate.protocol import LoadedProtocol
from goldgate.suites.extraction.suite import SUITE
from goldgate.suites.plan import load_plan, load_protocol

WHOLE = """\
protocol: {version: "1.3", name: duee-fin-dev}
metrics:
  version: "2.0"
  normalization: nfkc-cjk-casefold.v1
  response: {thought_tags: [think, reason]}
  relaxed: {match_mode: span_iou, char_overlap_threshold: 0.25, span_iou_threshold: 0.75}
  schema: {mode: syntax_only}
  hallucination: {match_mode: exact_span}
  cot: {enabled: true, require_thought_block: true, mode: weak_mention}
gates:
  strict_f1: {min: 0.450, max: 1, severity: warn}
  parse_errors: {equals: 10, on_not_evaluable: pass}
"""


def load(tmp_path: Path, text: str | bytes) -> LoadedProtocol:
    path = tmp_path / "protocol.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    load_plan(SUITE, path)  # the suite's own checks too
    return load_protocol(path)


def refused(tmp_path: Path, text: str | bytes) -> GoldgateError:
    with pytest.raises(GoldgateError) as caught:
        load(tmp_path, text)
    assert caught.value.place.file == str(tmp_path / "protocol.yaml")
    return caught.value


def test_every_setting_is_read(tmp_path: Path) -> None:
    protocol = load(tmp_path, WHOLE).protocol
    metrics = protocol.sections["metrics"]
    assert (protocol.protocol.version, protocol.protocol.name) == ("1.3", "duee-fin-dev")
    assert metrics.response.thought_tags == ("think", "reason")
    assert metrics.relaxed.match_mode == "span_iou"
    assert metrics.relaxed.char_overlap_threshold == Decimal("0.25")
    assert metrics.relaxed.span_iou_threshold == Decimal("0.75")
    assert metrics.schema.mode == "syntax_only"
    assert metrics.hallucination.match_mode == "exact_span"
    assert (metrics.cot.enabled, metrics.cot.require_thought_block, metrics.cot.mode) == (True, True, "weak_mention")
    assert protocol.gates == {
        "strict_f1": Gate(min=Decimal("0.450"), max=Decimal(1), severity="warn"),
        "parse_errors": Gate(equals=Decimal(10), on_not_evaluable="pass"),
    }


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "{}"], ids=["empty", "comment", "document", "mapping"])
def test_what_is_left_out_keeps_its_default(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text).protocol.as_file() == load_protocol({}).protocol.as_file()


def test_threshold_keeps_its_decimal_text(tmp_path: Path) -> None:
    loaded = load(tmp_path, "gates: {strict_f1: {min: 0.9500}}")
    assert str(loaded.protocol.gates["strict_f1"].min) == "0.9500"


def test_lines_of_the_settings_are_known(tmp_path: Path) -> None:
    assert load(tmp_path, WHOLE).lines["gates.parse_errors"] == 12


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte-order-mark"])
def test_byte_order_mark_is_no_text(tmp_path: Path, start: bytes) -> None:
    assert load(tmp_path, start + b"protocol: {name: x}\r\n").protocol.protocol.name == "x"


def test_version_without_quotation_marks_is_its_text(tmp_path: Path) -> None:
    assert load(tmp_path, "protocol: {version: 1.10}").protocol.protocol.version == "1.10"


def test_metrics_version_without_quotation_marks_is_its_text(tmp_path: Path) -> None:
    assert load(tmp_path, "metrics: {version: 2.0}").protocol.sections["metrics"].version == "2.0"


@pytest.mark.parametrize(
    ("text", "field", "line", "advice"),
    [
        pytest.param("metrics:\n  relaxd: {}", "metrics.relaxd", 2, "did you mean relaxed?", id="section"),
        pytest.param("metric: {}", "metric", 1, "did you mean metrics?", id="top"),
        pytest.param("gates:\n\n  strict_f1: {mini: 1}", "gates.strict_f1.mini", 3, "did you mean min?", id="gate"),
        pytest.param("profile: values", "profile", 1, "it belongs under metrics: metrics: {profile: …}", id="above"),
        pytest.param(
            "strict_f1: {min: 0.5}", "strict_f1", 1, "it belongs under gates: gates: {strict_f1: …}", id="gate-above"
        ),
        pytest.param("zzzz: 1", "zzzz", 1, None, id="nothing-near"),
        pytest.param("1: 1", "1", 1, None, id="number-as-key"),
    ],
)
def test_unknown_key_is_named_with_its_line_and_a_suggestion(
    tmp_path: Path, text: str, field: str, line: int, advice: str | None
) -> None:
    error = refused(tmp_path, text)
    assert isinstance(error, ConfigError)
    assert error.code == "protocol.unknown_key"
    assert (error.place.field, error.place.line, error.advice) == (field, line, advice)
    assert error.expected is not None
    assert error.expected.startswith("one of ")


@pytest.mark.parametrize(
    ("text", "field", "expected", "found"),
    [
        pytest.param(
            "metrics: {relaxed: {match_mode: exact}}",
            "metrics.relaxed.match_mode",
            "include_or_char_overlap or span_iou",
            'the string "exact"',
            id="word",
        ),
        pytest.param(
            "metrics: {schema: {mode: null}}", "metrics.schema.mode", "syntax_only or schema_strict", "null", id="null"
        ),
        pytest.param('metrics: {version: "3.0"}', "metrics.version", "2.0", 'the string "3.0"', id="version"),
        pytest.param(
            "metrics: {relaxed: {char_overlap_threshold: 1.01}}",
            "metrics.relaxed.char_overlap_threshold",
            "a decimal from 0 to 1",
            "the number 1.01",
            id="above-one",
        ),
        pytest.param(
            "metrics: {relaxed: {span_iou_threshold: -0.1}}",
            "metrics.relaxed.span_iou_threshold",
            "a decimal from 0 to 1",
            "the number -0.1",
            id="below-zero",
        ),
        pytest.param(
            "metrics: {relaxed: {span_iou_threshold: half}}",
            "metrics.relaxed.span_iou_threshold",
            "a decimal from 0 to 1",
            'the string "half"',
            id="word-for-number",
        ),
        pytest.param(
            "metrics: {cot: {enabled: 1}}", "metrics.cot.enabled", "true or false", "the number 1", id="number-for-bool"
        ),
        pytest.param(
            "metrics: {response: {thought_tags: think}}",
            "metrics.response.thought_tags",
            "a list",
            'the string "think"',
            id="no-list",
        ),
        pytest.param(
            'metrics: {response: {thought_tags: [think, ""]}}',
            "metrics.response.thought_tags.1",
            "a text",
            "an empty string",
            id="empty-tag",
        ),
        pytest.param("metrics: [1]", "metrics", "a mapping", "a list", id="list-for-mapping"),
        pytest.param("[1, 2]", None, "a mapping", "a list", id="whole-document"),
        pytest.param("gates: 1", "gates", "a mapping, such as {METRIC: {min: 0.8}}", "the number 1", id="gates"),
        pytest.param(
            "gates: {strict_f1: 0.85}",
            "gates.strict_f1",
            "a mapping, such as {min: 0.85}",
            "the number 0.85",
            id="bare-bound",
        ),
        pytest.param(
            "metrics: {relaxed: span_iou}",
            "metrics.relaxed",
            "a mapping, such as {match_mode: span_iou}",
            'the string "span_iou"',
            id="bare-mode",
        ),
        pytest.param(
            "metrics: {cot: true}", "metrics.cot", "a mapping, such as {enabled: true}", "true", id="bare-switch"
        ),
        pytest.param("metrics: {relaxed: exact}", "metrics.relaxed", "a mapping", 'the string "exact"', id="no-home"),
        pytest.param(
            "gates: {strict_f1: {min: high}}", "gates.strict_f1.min", "a number", 'the string "high"', id="bound"
        ),
        pytest.param(
            "gates: {strict_f1: {min: .inf}}", "gates.strict_f1.min", "a number", 'the string ".inf"', id="infinity"
        ),
        pytest.param(
            "gates: {strict_f1: {min: .nan}}", "gates.strict_f1.min", "a number", 'the string ".nan"', id="not-a-number"
        ),
        pytest.param(
            "gates: {strict_f1: {min: 1, severity: fatal}}",
            "gates.strict_f1.severity",
            "error or warn",
            'the string "fatal"',
            id="severity",
        ),
        pytest.param(
            "gates: {strict_f1: {min: 1, on_not_evaluable: skip}}",
            "gates.strict_f1.on_not_evaluable",
            "fail or pass",
            'the string "skip"',
            id="on-not-evaluable",
        ),
    ],
)
def test_wrong_value_is_named_with_what_is_allowed(
    tmp_path: Path, text: str, field: str | None, expected: str, found: str
) -> None:
    error = refused(tmp_path, text)
    assert isinstance(error, ConfigError)
    assert error.code == "protocol.wrong_value"
    assert (error.place.field, error.expected, error.found) == (field, expected, found)
    assert error.place.line == 1


@pytest.mark.parametrize(
    ("text", "field", "line"),
    [
        pytest.param("gates:\n  a: {min: 1}\n  a: {min: 2}\n", "gates.a", 3, id="gate"),
        pytest.param("protocol: {}\nmetrics: {}\nprotocol: {}\n", "protocol", 3, id="top"),
        pytest.param("gates: {a: {min: 1, min: 2}}", "gates.a.min", 1, id="flow"),
    ],
)
def test_key_that_stands_twice_is_an_error(tmp_path: Path, text: str, field: str, line: int) -> None:
    error = refused(tmp_path, text)
    assert error.code == "protocol.duplicate_key"
    assert (error.place.field, error.place.line) == (field, line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("metrics: {version: [}\n", 1, id="bracket"),
        pytest.param("protocol: {}\n\tmetrics: {}\n", 2, id="tab"),
        pytest.param("a: 1\n---\nb: 2\n", 2, id="two-documents"),
        pytest.param("a: *nobody\n", 1, id="unknown-alias"),
    ],
)
def test_text_that_is_not_yaml_is_an_error_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    error = refused(tmp_path, text)
    assert error.code == "protocol.not_yaml"
    assert error.place.line == line


def test_aliases_that_multiply_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    # Each line is ten times the one before: 10^12 values in 150 bytes.
    lines = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert refused(tmp_path, "\n".join(lines)).code == "protocol.too_large"


def test_alias_of_itself_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "a: &a [*a]\n").code in ("protocol.not_yaml", "protocol.too_large")


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "a: " + "[" * 2_000 + "]" * 2_000).code == "protocol.not_yaml"


@pytest.mark.parametrize("options", ["", "severity: warn", "on_not_evaluable: pass"], ids=["empty", "warn", "policy"])
def test_gate_without_a_bound_is_an_error(tmp_path: Path, options: str) -> None:
    error = refused(tmp_path, f"gates:\n  strict_f1: {{{options}}}\n")
    assert error.code == "protocol.gate_without_bound"
    assert (error.place.field, error.place.line) == ("gates.strict_f1", 2)
    assert error.advice == "write, for example, strict_f1: {min: 0.5}"


def test_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_protocol(tmp_path / "none.yaml")
    assert caught.value.code == "protocol.missing"


def test_file_that_is_not_utf8_is_an_error_with_its_line(tmp_path: Path) -> None:
    error = refused(tmp_path, b"protocol: {}\n# \xff\n")
    assert error.code == "protocol.not_utf8"
    assert (error.place.line, error.found) == (2, "the byte 0xff")


def test_half_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, 'protocol: {name: "\\ud800"}').code == "protocol.bad_text"


@pytest.mark.parametrize("name", ["max_file_megabytes", "max_run_megabytes", "max_total_megabytes"])
@pytest.mark.parametrize("value", ["-1", "0", "-0.0", "none"])
def test_limit_that_lets_nothing_through_is_refused(tmp_path: Path, name: str, value: str) -> None:
    path = tmp_path / "protocol.yaml"
    path.write_text(f"research:\n  {name}: {value}\n")
    with pytest.raises(ConfigError) as caught:
        load_protocol(path)
    assert (caught.value.code, caught.value.expected) == ("protocol.wrong_value", "a number above 0")
    assert (caught.value.place.line, caught.value.place.field) == (2, f"research.{name}")
