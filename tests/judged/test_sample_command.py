"""`goldgate sample`, and the items that are made from the results of other suites."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.main import goldgate
from goldgate.readers.draw import assign_strata, judge_strata, load_draw, open_items

from .labelling import read_lines, shown_sha256, write_lines

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ITEMS = [{"id": f"i{number}", "group": f"g{number % 3}", "text": "…"} for number in range(60)]


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(goldgate, [str(argument) for argument in arguments])
    assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit), result.exception
    return result


def words(result: Result) -> str:
    return " ".join(result.output.split())


def test_a_draw_holds_whole_items_and_says_what_to_do_next(tmp_path: Path) -> None:
    items, out = write_lines(tmp_path / "items.jsonl", ITEMS), tmp_path / "drawn.jsonl"
    result = run("sample", "--from", items, "--n", 10, "--out", out)
    assert result.exit_code == 0
    assert result.output == f"10 of 60 items in {out}\nnext: goldgate label {out} --out labels.jsonl\n"
    draw = load_draw(str(out))
    assert all(item in ITEMS for item in draw.items.values())
    with open_items(str(items)) as population:
        draw.check(assign_strata(population.items(), None), {key: shown_sha256(population[key]) for key in population})


def test_the_order_of_the_items_and_an_array_change_no_byte(tmp_path: Path) -> None:
    backwards = tmp_path / "items.json"
    backwards.write_text(json.dumps(ITEMS[::-1], indent=1))
    for name, path in {"one": write_lines(tmp_path / "items.jsonl", ITEMS), "other": backwards}.items():
        assert run("sample", "--from", path, "--n", 10, "--out", tmp_path / name).exit_code == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_strata_of_a_judge_have_the_digest_of_its_labels(tmp_path: Path) -> None:
    labels = [
        {"id": item["id"], "label": number % 6 > 0, "by": "m", "kind": "judge"} for number, item in enumerate(ITEMS)
    ]
    judge, items = write_lines(tmp_path / "judge.jsonl", labels), write_lines(tmp_path / "items.jsonl", ITEMS)
    out = tmp_path / "drawn.jsonl"
    result = run("sample", "--from", items, "--n", 20, "--by", "judge", "--labels", judge, "--out", out)
    # 10 items are labelled 0: 3.3 of 20 by size, at least 5; the 50 others share the rest.
    assert "20 of 60 items (0: 5 of 10, 1: 15 of 50)" in result.output
    draw = load_draw(str(out))
    assert draw.header["labels_sha256"] == hashlib.sha256(judge.read_bytes()).hexdigest()
    with open_items(str(items)) as population:
        draw.check(assign_strata(population.items(), "judge", judge_strata(str(judge))), None)


def test_question_and_template_are_fixed_with_the_draw(tmp_path: Path) -> None:
    items, file = write_lines(tmp_path / "items.jsonl", ITEMS), tmp_path / "question.txt"
    file.write_text("Is it polite?\n")
    headers = {}
    choices: dict[str, list[object]] = {
        "none": [],
        "text": ["--question", "Is it polite?"],
        "file": ["--question", file],
        "template": ["--template", "claim_support"],
    }
    for name, arguments in choices.items():
        run("sample", "--from", items, "--n", 10, *arguments, "--out", tmp_path / name)
        headers[name] = load_draw(str(tmp_path / name)).header
    assert headers["text"] == headers["file"] != headers["none"]
    assert headers["text"]["question_sha256"] is not None
    assert headers["template"]["template_sha256"] is not None
    assert len({header["signature"] for header in headers.values()}) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--n", "0"], "0 is not in the range x>=1"),
        (["--draw", "0"], "0 is not in the range x>=1"),
        (["--draw", str(10**20)], "--draw is at most 1,000,000,000"),
        (["--question", "\udc80"], "the question is not UTF-8"),
        (["--by", "judge"], "--by judge needs the judge's labels"),
        (["--by", "id", "--n", "20"], "20 items cannot be shared among 60 strata"),
        (["--template", "nothing"], "there is no such prompt"),
        (["--what", "claims"], "--what is for a result folder"),
        (["--items", "all.jsonl"], "--items is for a result folder"),
    ],
)
def test_mistakes_write_nothing(tmp_path: Path, arguments: list[str], message: str) -> None:
    out = tmp_path / "drawn.jsonl"
    result = run("sample", "--from", write_lines(tmp_path / "items.jsonl", ITEMS), *arguments, "--out", out)
    assert result.exit_code == 2
    assert message in words(result)
    assert not out.exists()


def test_names_of_strata_are_written_out(tmp_path: Path) -> None:
    """A terminal would obey the colour, and a CI runner the line."""
    items = write_lines(tmp_path / "items.jsonl", [{**item, "kind": "\x1b[31mred\n::error::x"} for item in ITEMS])
    result = run("sample", "--from", items, "--n", "10", "--by", "kind", "--out", tmp_path / "drawn.jsonl")
    assert result.output.startswith("10 of 60 items (\\x1b[31mred\\x0a:\\x3aerror:\\x3ax: 10 of 60) in ")


def test_the_items_are_not_overwritten(tmp_path: Path) -> None:
    items = write_lines(tmp_path / "items.jsonl", ITEMS)
    assert run("sample", "--from", items, "--out", items).exit_code == 2
    assert read_lines(items) == ITEMS


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of each suite that has items."""
    folder = tmp_path_factory.mktemp("results")
    research = ("--golden", ROOT / "eval/golden_queries.json", "--outputs", EXAMPLES / "research/passing")
    extraction = ("--gold", EXAMPLES / "extraction/gold.jsonl", "--predictions", EXAMPLES / "extraction/model-b.jsonl")
    fields = ("--gold", EXAMPLES / "fields/gold.jsonl", "--predictions", EXAMPLES / "fields/model-b.jsonl")
    report = ("--report", folder / "report.json")
    assert run("research", *research, *report, "--out", folder / "research").exit_code in (0, 1)
    assert run("extraction", *extraction, "--out", folder / "extraction").exit_code in (0, 1)
    assert (
        run("fields", *fields, "--schema", EXAMPLES / "fields/schema.json", "--out", folder / "fields").exit_code == 0
    )
    return folder


def all_items(results: Path, tmp_path: Path, suite: str, *arguments: str) -> list[dict[str, Any]]:
    every = tmp_path / "items.jsonl"
    out = ("--out", tmp_path / "drawn.jsonl", "--items", every)
    result = run("sample", "--from", results / suite, *arguments, *out)
    assert result.exit_code == 0, result.output
    return read_lines(every)


def test_items_of_a_research_result_are_its_covered_claims(results: Path, tmp_path: Path) -> None:
    items = all_items(results, tmp_path, "research")
    report = json.loads((results / "research/report.json").read_bytes())
    coverage = report["metrics"]["main"]["evidence_coverage_rate"]
    assert len(items) == coverage["numerator"] == 14
    by_id = {item["id"]: item for item in items}
    quote = by_id["run_a7/claim-1"]["quotes"][0]
    assert by_id["run_a7/claim-1"]["group"] == "run_a7"
    assert by_id["run_a7/claim-1"]["claim"] == "It will be replaced in two stages."
    assert quote["text"] == "will be replaced in two stages"
    assert quote["text"] in quote["source"]
    assert quote["source_id"] == "water-notice"
    assert by_id["run_a3/claim-1"]["quotes"] == [{"text": "carried 212,000 passengers in 1904"}]  # no chunks are stored


def test_items_of_an_extraction_result_are_its_boundary_errors(results: Path, tmp_path: Path) -> None:
    items = all_items(results, tmp_path, "extraction", "--what", "boundary")
    records = read_lines(results / "extraction/samples.jsonl")
    errors = [error for record in records for error in record["errors"] if error["error"] == "boundary"]
    assert len(items) == sum(error["side"] == "predicted" for error in errors) == 65
    (item,) = [item for item in items if item["predicted"] == "citing family reasons"]
    assert (item["event_type"], item["role"], item["gold"]) == ("Resignation", "Reason", "family reasons")
    assert item["group"] == "en-003"
    assert item["predicted"] in item["text"]


def test_items_of_a_fields_result_are_its_wrong_values(results: Path, tmp_path: Path) -> None:
    items = all_items(results, tmp_path, "fields")
    records = read_lines(results / "fields/samples.jsonl")
    wrong = [error for record in records for error in record["errors"] if error["error"] == "wrong"]
    assert len(items) == len(wrong) == 25
    (item,) = [item for item in items if item["id"] == "inv-21/total"]
    assert (item["gold"], item["predicted"], item["path"], item["group"]) == (241.45, 251.45, "total", "inv-21")
    assert "241.45" in item["text"]


def test_a_kind_that_a_result_does_not_have_is_named(results: Path, tmp_path: Path) -> None:
    result = run("sample", "--from", results / "fields", "--what", "claims", "--out", tmp_path / "drawn.jsonl")
    assert "--what wrong" in words(result)


def test_a_result_whose_inputs_are_gone_or_changed_is_an_error(tmp_path: Path) -> None:
    gold, answers = tmp_path / "gold.jsonl", tmp_path / "answers.jsonl"
    shutil.copy(EXAMPLES / "fields/gold.jsonl", gold)
    shutil.copy(EXAMPLES / "fields/model-b.jsonl", answers)
    run("fields", "--gold", gold, "--predictions", answers, "--out", tmp_path / "result")
    sample = ("sample", "--from", tmp_path / "result", "--out", tmp_path / "drawn.jsonl")
    assert run(*sample).exit_code == 0
    answers.write_bytes(answers.read_bytes() + b"\n")
    assert "predictions: not shown; it has changed since" in words(run(*sample))
    answers.unlink()
    result = run(*sample)
    assert result.exit_code == 2
    assert "its items cannot be made" in words(result)


def test_records_that_are_not_ours_are_an_error_with_their_line(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results / "fields", tmp_path / "result")
    with open(tmp_path / "result/samples.jsonl", "ab") as stream:
        stream.write(b'{"id": "x"}\n')
    result = run("sample", "--from", tmp_path / "result", "--out", tmp_path / "drawn.jsonl")
    assert result.exit_code == 2
    assert "samples.jsonl" in result.output
    assert "Traceback" not in result.output
