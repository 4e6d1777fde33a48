"""Results as the commands write them, in a folder of their own with all their inputs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from goldgate.cli.stored_results import power_command, verify_command
from goldgate.cli.suite_command import suite_command

ROOT = Path(__file__).parents[2]
EXTRACTION, RESEARCH = ROOT / "examples" / "extraction", ROOT / "examples" / "research"

QUESTIONS = [
    {"id": f"q{number}", "question": f"What is {number}?", "answer": None if number % 5 == 0 else f"{number}",
     "sources": [f"s{number}", "s0"]}
    for number in range(20)
]  # fmt: skip
ANSWERS = [
    {"id": f"q{number}", "answer": f"{number}" if number % 3 else "no idea", "citations": [f"s{number}"]}
    for number in range(18)
]


def arguments(suite: str, folder: Path) -> list[str]:
    """Copies the inputs of a suite into the folder; the options of its command, with paths inside the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if suite == "extraction":
        for name in ("gold.jsonl", "model-b.jsonl", "schema.json", "protocol-fail.yaml"):
            shutil.copy(EXTRACTION / name, folder / name)
        return ["--gold", "gold.jsonl", "--predictions", "model-b.jsonl", "--schema", "schema.json",
                "--protocol", "protocol-fail.yaml"]  # fmt: skip
    if suite == "research":
        shutil.copytree(RESEARCH / "passing", folder / "runs")
        shutil.copy(ROOT / "eval" / "golden_queries.json", folder / "golden.json")
        (folder / "protocol.yaml").write_text("research: {trials: 3}\n")  # 24 of 36 trials are missing
        return ["--golden", "golden.json", "--outputs", "runs", "--protocol", "protocol.yaml"]
    for name, records in (("gold.jsonl", QUESTIONS), ("answers.jsonl", ANSWERS)):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return ["--gold", "gold.jsonl", "--predictions", "answers.jsonl"]


def make(suite: str, *options: str) -> None:
    """Run the command of a suite here; it writes to the folder `out`."""
    result = CliRunner().invoke(suite_command(suite), [*options, "--out", "out", "--quiet"])
    assert result.exit_code in (0, 1), result.output


def verify(*options: str) -> Result:
    return CliRunner().invoke(verify_command, list(options))


def verified(*options: str) -> tuple[int, dict[str, Any]]:
    """Exit status and JSON of `goldgate verify`."""
    result = verify(*options, "--format", "json")
    return result.exit_code, json.loads(result.stdout)


def power(*options: str) -> Result:
    return CliRunner().invoke(power_command, list(options))


def edit(path: str | Path, old: str, new: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    assert old in text, old
    Path(path).write_text(text.replace(old, new, 1), encoding="utf-8")


def set_in(path: str | Path, keys: list[str | int], value: Any) -> None:
    """Change one value of a JSON file, laid out as it was."""
    whole = here = json.loads(Path(path).read_bytes())
    for key in keys[:-1]:
        here = here[key]
    here[keys[-1]] = value
    Path(path).write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
