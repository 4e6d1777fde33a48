"""The plugin of pytest: one test a gate, and an assertion whose message is worth reading."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ("pytester",)

EXAMPLES = Path(__file__).parents[2] / "examples" / "extraction"
PROTOCOL = """
protocol: {version: "1.0", name: tried}
gates:
  strict_f1: {min: 0.45}
  relaxed_f1: {min: 0.99}
  type_f1: {min: 0.99, severity: warn}
  strict_recall: {min: 0.52, confidence: 0.95}
  strict_f1["::error::/\\x1b[2J"]: {min: 0.1}
"""
JUDGED = f"""
protocol: release.yaml
gold: {EXAMPLES / "gold.jsonl"}
predictions: {EXAMPLES / "model-b.jsonl"}
schema: {EXAMPLES / "schema.json"}
"""


def made(pytester: pytest.Pytester, judged: str = JUDGED, protocol: str = PROTOCOL) -> None:
    (pytester.path / "release.yaml").write_text(protocol, encoding="utf-8")
    (pytester.path / "model.goldgate.yaml").write_text(judged, encoding="utf-8")


WITHOUT = [option for name in ("cacheprovider", "hypothesispytest", "xdist") for option in ("-p", f"no:{name}")]


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess(*WITHOUT, *options)


def run_process(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(*WITHOUT, *options, timeout=120)


def test_a_gate_is_a_test(pytester: pytest.Pytester) -> None:
    made(pytester, protocol=PROTOCOL.partition('  strict_f1["')[0])
    result = run_process(pytester, "-v", "-rs")
    result.assert_outcomes(passed=1, failed=2, skipped=1)
    results = {"strict_f1": "PASSED", "relaxed_f1": "FAILED", "type_f1": "SKIPPED", "strict_recall": "FAILED"}
    lines = [f"model.goldgate.yaml::{gate} {result}*" for gate, result in results.items()]
    reasons = ["FAIL: 560/752 is not ≥ 0.99", "relaxed_f1 is 0.7447 (560/752), interval *", "INCONCLUSIVE: *"]
    result.stdout.fnmatch_lines([*lines, *reasons, "SKIPPED*FAIL (warn)*"])
    assert "Traceback" not in result.stdout.str()


def test_one_gate_can_be_chosen_and_another_file_judged(pytester: pytest.Pytester) -> None:
    made(pytester)
    text = run(pytester, "-v").stdout.str()  # names reach no terminal as commands
    assert ("::error::" in text, "\x1b[2J" in text) == (False, False)
    made(pytester, protocol="gates: {relaxed_f1: {min: 0.9}, strict_f1: {min: 0.99}}\n")
    assert run(pytester, "model.goldgate.yaml::relaxed_f1").ret == 1
    option = f"--goldgate-input=predictions={EXAMPLES / 'model-a.jsonl'}"
    run(pytester, "model.goldgate.yaml::relaxed_f1", option).assert_outcomes(passed=1)


def test_a_protocol_without_gates_is_seen(pytester: pytest.Pytester) -> None:
    made(pytester, protocol="protocol: {version: '1.0', name: empty}\n")
    result = run(pytester, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*no gates set; scores only*"])


def test_an_agent_is_judged_by_the_gates_of_its_suite(pytester: pytest.Pytester) -> None:
    root = EXAMPLES.parents[1]
    runs = root / "examples" / "research" / "passing"
    made(pytester, f"suite: research\ngolden: {root / 'eval' / 'golden_queries.json'}\noutputs: {runs}\n")
    run(pytester).assert_outcomes(passed=4)


@pytest.mark.parametrize(
    ("judged", "words"),
    [
        ("[1, 2]", "this does not say what is judged"),
        ("suite: nothing\n", "suite is extraction or research"),
        (JUDGED + "golds: x\n", "did you mean gold"),
        (JUDGED.replace("gold:", "gold: 7 #"), "this is not the name of a file"),
        ("protocol: release.yaml\n", "files to judge are missing"),
        ("a: [", "this is not YAML"),
        (JUDGED.replace("release", "missing"), "does not exist"),
    ],
)
def test_a_mistake_in_the_file_is_said_without_a_traceback(pytester: pytest.Pytester, judged: str, words: str) -> None:
    made(pytester, judged)
    result = run(pytester)
    result.assert_outcomes(errors=1)
    text = " ".join(result.stdout.str().split())
    assert words in text
    assert "Traceback" not in text
    assert "model.goldgate.yaml" in text


def test_data_that_cannot_be_judged_fails_every_gate(pytester: pytest.Pytester) -> None:
    made(pytester, JUDGED.replace("model-b", "missing"), "gates: {strict_f1: {min: 0.4}, type_f1: {min: 0.4}}\n")
    result = run(pytester)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*predictions.missing*"])
    assert "Traceback" not in result.stdout.str()


def test_a_failed_assertion_says_what_was_measured(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        import goldgate, pytest

        @pytest.fixture(scope="module")
        def evaluation():
            folder = {str(EXAMPLES)!r}
            names = ("gold.jsonl", "model-b.jsonl", "schema.json")
            return goldgate.evaluate_files(*(f"{{folder}}/{{name}}" for name in names))

        def test_good(evaluation):
            assert evaluation.passes(strict_f1=0.45)

        def test_bad(evaluation):
            assert evaluation.passes(strict_f1=0.97, parse_errors={{"max": 0}}, relaxed_f1="0.7")
        """
    )
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    wanted = (
        "*assert FAIL: strict_f1 0.5718 = 430/752 [[]0.501, 0.639[]] is not ≥ 0.97; "
        "parse_errors 6 (2 of them missing) [[]2, 13[]] is not ≤ 0; 1 other held"
    )
    result.stdout.fnmatch_lines([wanted])


def test_a_session_that_needs_nothing_of_goldgate_imports_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_imports():
            ours = sorted(name for name in sys.modules if name.startswith("goldgate"))
            assert ours == ["goldgate", "goldgate.pytest_plugin"]
            assert "yaml" not in sys.modules and "orjson" not in sys.modules
        """
    )
    run_process(pytester).assert_outcomes(passed=1)


def test_goldgate_itself_does_not_need_pytest() -> None:
    code = "import sys; sys.modules['pytest'] = None; import goldgate.cli.main, goldgate.api"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
