"""Files without a prediction or a label: nothing was scored, and that is no result."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import goldgate
from goldgate.cli.main import goldgate as command
from goldgate.errors import InputError

EXAMPLES = Path(__file__).parents[2] / "examples"
EMPTY: dict[str, bytes] = {
    "empty.jsonl": b"",
    "blank.jsonl": b"\n \n\t\r\n",
    "bom.jsonl": b"\xef\xbb\xbf",
    "array.json": b" [ ] ",
    "list.json": b'{"predictions": [ ]}',
    "empty.jsonl.gz": gzip.compress(b""),
    "blank.jsonl.gz": gzip.compress(b"\n\n"),
    "array.json.gz": gzip.compress(b"[]"),
    "head.csv": b"id,response\n",
    "failed.jsonl": b'{"custom_id": "en-001", "response": null, "error": {"message": "overloaded"}}\n',
}


def run(*words: object, typed: bytes = b"") -> Result:
    return CliRunner().invoke(command, [*map(str, words)], input=typed)


def score(suite: str, *predictions: object, typed: bytes = b"") -> Result:
    gold = EXAMPLES / suite / "gold.jsonl"
    return run(suite, "--gold", gold, "--predictions", *predictions, "--format", "json", typed=typed)


@pytest.mark.parametrize(("suite", "headline"), [("extraction", "strict_f1"), ("fields", "field_f1")])
def test_no_prediction_is_an_error_unless_it_is_allowed(tmp_path: Path, suite: str, headline: str) -> None:
    files = [tmp_path / name for name in EMPTY]
    for path, content in zip(files, EMPTY.values(), strict=True):
        path.write_bytes(content)
    for paths in (*([path] for path in files), files[:4]):
        refused = score(suite, *paths)
        assert (refused.exit_code, "predictions.empty" in refused.stderr) == (2, True), (paths, refused.output)
        assert json.loads(refused.stdout)["error"]["code"] == "predictions.empty"
        allowed = score(suite, *paths, "--allow-empty")
        report = json.loads(allowed.stdout)
        assert (allowed.exit_code, report["status"]) == (0, "NO_GATES"), (paths, allowed.output)
        assert {each["code"] for each in report["findings"]} == {"missing_prediction"}
        assert report["metrics"]["main"][headline]["value"] == 0
    assert "predictions.empty" in score(suite, "-").stderr
    assert "predictions.empty" not in score(suite, "-", "--allow-empty").stderr
    assert "predictions.empty" not in score(suite, files[0], EXAMPLES / suite / "model-a.jsonl").stderr


def test_a_result_of_no_prediction_is_verified_as_it_was_made(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    words = ("--gold", EXAMPLES / "extraction" / "gold.jsonl", "--predictions", tmp_path / "empty.jsonl")
    assert run("extraction", *words, "--allow-empty", "--out", tmp_path / "out").exit_code == 0
    assert run("verify", tmp_path / "out").exit_code == 0
    compared = run("compare", "--gold", words[1], tmp_path / "empty.jsonl", EXAMPLES / "extraction" / "model-a.jsonl")
    assert (compared.exit_code, "predictions.empty" in compared.stderr) == (2, True)


def test_from_python(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    for suite, evaluate in (("extraction", goldgate.evaluate_files), ("fields", goldgate.evaluate_fields)):
        gold = EXAMPLES / suite / "gold.jsonl"
        with pytest.raises(InputError, match="there are no predictions"):
            evaluate(gold, tmp_path / "empty.jsonl")
        assert evaluate(gold, tmp_path / "empty.jsonl", allow_empty=True).status == "NO_GATES"


def test_labels_of_which_there_are_none_judge_nothing(tmp_path: Path) -> None:
    for name in ("empty.jsonl", "blank.jsonl", "array.json", "empty.jsonl.gz"):
        path = tmp_path / name
        path.write_bytes(EMPTY[name])
        for items in ((), ("--items", EXAMPLES / "judged" / "items.jsonl")):
            refused = run("judged", "--labels", path, path, *items)
            assert (refused.exit_code, "labels.empty" in refused.stderr) == (2, True), refused.output
