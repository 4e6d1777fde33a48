"""Protocol files: what is left out keeps its default, every mistake is an error with its place."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from goldgate.core.gate import Gate
from goldgate.errors import ConfigError, GoldgateError, InputError, as_yaml
from goldgate.protocol import LoadedProtocol
from goldgate.suites.extraction.suite import SUITE
from goldgate.suites.plan import load_plan, load_protocol
from tests.cases import cases

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
    loaded = load(tmp_path, WHOLE)
    assert loaded.lines["gates.parse_errors"] == 12
    protocol = loaded.protocol
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


@cases("text", ["", "# nothing\n", "---\n", "{}"])
def test_what_is_left_out_keeps_its_default(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text).protocol.as_file() == load_protocol({}).protocol.as_file()


def test_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    for start in (b"", b"\xef\xbb\xbf"):
        assert load(tmp_path, start + b"protocol: {name: x}\r\n").protocol.protocol.name == "x"


def test_numbers_are_read_as_they_are_written(tmp_path: Path) -> None:
    protocol = load(
        tmp_path, "protocol: {version: 1.10}\nmetrics: {version: 2.0}\ngates: {strict_f1: {min: 0.9500}}"
    ).protocol
    assert (protocol.protocol.version, protocol.sections["metrics"].version) == ("1.10", "2.0")
    assert str(protocol.gates["strict_f1"].min) == "0.9500"


@cases(
    ("text", "field", "line", "advice"),
    [
        ("metrics:\n  relaxd: {}", "metrics.relaxd", 2, "did you mean relaxed?"),
        ("metric: {}", "metric", 1, "did you mean metrics?"),
        ("gates:\n\n  strict_f1: {mini: 1}", "gates.strict_f1.mini", 3, "did you mean min?"),
        ("profile: values", "profile", 1, "it belongs under metrics: metrics: {profile: …}"),
        ("strict_f1: {min: 0.5}", "strict_f1", 1, "it belongs under gates: gates: {strict_f1: …}"),
        ("zzzz: 1", "zzzz", 1, None),
        ("1: 1", "1", 1, None),
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


UNIT = "a decimal from 0 to 1"
WRONG = [  # a key, its value as it is written, what is expected and what was found
    ("metrics.relaxed.match_mode", "exact", "include_or_char_overlap or span_iou", 'the string "exact"'),
    ("metrics.schema.mode", "null", "syntax_only or schema_strict", "null"),
    ("metrics.version", '"3.0"', "2.0", 'the string "3.0"'),
    ("metrics.relaxed.char_overlap_threshold", "1.01", UNIT, "the number 1.01"),
    ("metrics.relaxed.span_iou_threshold", "-0.1", UNIT, "the number -0.1"),
    ("metrics.relaxed.span_iou_threshold", "half", UNIT, 'the string "half"'),
    ("metrics.cot.enabled", "1", "true or false", "the number 1"),
    ("metrics.response.thought_tags", "think", "a list", 'the string "think"'),
    ("metrics", "[1]", "a mapping", "a list"),
    ("gates", "1", "a mapping, such as {METRIC: {min: 0.8}}", "the number 1"),
    ("gates", "[{strict_f1: 0.5}]", "a mapping, such as {METRIC: {min: 0.8}}", "a list"),
    ("gates.strict_f1", "0.85", "a mapping, such as {min: 0.85}", "the number 0.85"),
    ("metrics.relaxed", "span_iou", "a mapping, such as {match_mode: span_iou}", 'the string "span_iou"'),
    ("metrics.cot", "true", "a mapping, such as {enabled: true}", "true"),
    ("metrics.relaxed", "exact", "a mapping", 'the string "exact"'),
    ("gates.strict_f1.min", "high", "a number", 'the string "high"'),
    ("gates.strict_f1.min", ".inf", "a number", 'the string ".inf"'),
    ("gates.strict_f1.min", ".nan", "a number", 'the string ".nan"'),
    ("gates.strict_f1.severity", "fatal", "error or warn", 'the string "fatal"'),
    ("gates.strict_f1.on_not_evaluable", "skip", "fail or pass", 'the string "skip"'),
    *((f"research.max_{name}_megabytes", value, "a number above 0", found)
      for name in ("file", "run", "total")
      for value, found in (("-1", "the number -1"), ("0", "the number 0"), ("-0.0", "the number -0.0"),
                           ("none", 'the string "none"'))),
]  # fmt: skip


@cases(("field", "value", "expected", "found"), WRONG)
def test_wrong_value_is_named_with_what_is_allowed(
    tmp_path: Path, field: str, value: str, expected: str, found: str
) -> None:
    error = refused(tmp_path, as_yaml(field, value))
    assert isinstance(error, ConfigError)
    assert error.code == "protocol.wrong_value"
    assert (error.place.field, error.expected, error.found, error.place.line) == (field, expected, found, 1)


def test_wrong_value_in_a_list_or_of_the_whole_document_is_named(tmp_path: Path) -> None:
    error = refused(tmp_path, 'metrics: {response: {thought_tags: [think, ""]}}')
    assert (error.place.field, error.expected, error.found) == (
        "metrics.response.thought_tags.1", "a text", "an empty string",
    )  # fmt: skip
    error = refused(tmp_path, "[1, 2]")
    assert (error.code, error.place.field, error.expected) == ("protocol.wrong_value", None, "a mapping")


LAUGHS = [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]  # ten times the line before


@cases(
    ("text", "code", "field", "line"),
    [
        ("gates:\n  a: {min: 1}\n  a: {min: 2}\n", "duplicate_key", "gates.a", 3),
        ("protocol: {}\nmetrics: {}\nprotocol: {}\n", "duplicate_key", "protocol", 3),
        ("gates: {a: {min: 1, min: 2}}", "duplicate_key", "gates.a.min", 1),
        ("metrics: {version: [}\n", "not_yaml", None, 1),
        ("protocol: {}\n\tmetrics: {}\n", "not_yaml", None, 2),
        ("a: 1\n---\nb: 2\n", "not_yaml", None, 2),
        ("a: *nobody\n", "not_yaml", None, 1),
        (b"protocol: {}\n# \xff\n", "not_utf8", None, 2),
    ],
)
def test_text_that_cannot_be_read_is_an_error_with_its_line(
    tmp_path: Path, text: str | bytes, code: str, field: str | None, line: int
) -> None:
    error = refused(tmp_path, text)
    assert (error.code, error.place.field, error.place.line) == (f"protocol.{code}", field, line)


@cases(
    ("text", "codes"),
    [
        ("\n".join(["a0: &a0 [1,1,1,1,1,1,1,1,1,1]", *LAUGHS]), ["too_large"]),  # 10^12 values in 150 bytes
        ("a: &a [*a]\n", ["not_yaml", "too_large"]),
        ("a: " + "[" * 2_000 + "]" * 2_000, ["not_yaml"]),
        ('protocol: {name: "\\ud800"}', ["bad_text"]),
    ],
)
def test_what_would_fill_the_memory_or_break_a_report_is_refused(tmp_path: Path, text: str, codes: list[str]) -> None:
    assert refused(tmp_path, text).code.removeprefix("protocol.") in codes


@cases("options", ["", "severity: warn", "on_not_evaluable: pass"])
def test_gate_without_a_bound_is_an_error(tmp_path: Path, options: str) -> None:
    error = refused(tmp_path, f"gates:\n  strict_f1: {{{options}}}\n")
    assert error.code == "protocol.gate_without_bound"
    assert (error.place.field, error.place.line) == ("gates.strict_f1", 2)
    assert error.advice == "write, for example, strict_f1: {min: 0.5}"


def test_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_protocol(tmp_path / "none.yaml")
    assert caught.value.code == "protocol.missing"
