"""Whatever stands in data, what a command prints cannot steer a terminal; JSON says the same as before."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from goldgate.cli.main import main

HOSTILE = "a\x7f\x9b31m\u202e\u2066\u200b\U000e0041"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    event = {"event_type": HOSTILE, "arguments": [{"role": HOSTILE, "argument": HOSTILE}]}
    record = {"id": HOSTILE, "text": HOSTILE, "events": [event]}
    files = {
        "gold.jsonl": record,
        "predictions.jsonl": {"id": HOSTILE, "events": [event]},
        "schema.json": {"event_types": {HOSTILE: {"roles": [HOSTILE]}}},
        "typo.json": {"event_types": {HOSTILE: {"roles": HOSTILE}}},
    }
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_printed_steers_a_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    inputs = "--gold gold.jsonl --predictions predictions.jsonl --schema"
    commands = [
        *(f"extraction {inputs} schema.json --format {name}" for name in ("text", "markdown", "html")),
        f"extraction {inputs} schema.json --format json --out out",
        f"extraction {inputs} typo.json --format json",
        "check gold.jsonl --schema schema.json --format json",
        *(f"compare {HOSTILE}=out b=out --format {name}" for name in ("json", "latex")),
        f"trend {HOSTILE}=out b=out --format json",
        "power out --detect 0.1 --format json",
        "read predictions.jsonl --format json",
        f"plot {HOSTILE}=out b=out --out pictures",
        f"verify {HOSTILE} --format json",
        f"compare {HOSTILE} b",
        f"{HOSTILE}",
        f"extraction {HOSTILE} --gold",
        f"extraction {inputs} schema.json --format {HOSTILE}",
    ]
    for command in commands:
        monkeypatch.setattr(sys, "argv", ["goldgate", *command.split(" ")])
        with pytest.raises(SystemExit):
            main()
        output, errors = capfd.readouterr()
        assert output or errors, command
        for text in (output, errors):
            assert text.replace("\n", "").isprintable(), (command, text)
        if "--format json" in command and "read" not in command:
            json.loads(output)
    assert HOSTILE in (folder / "out" / "report.json").read_text(encoding="utf-8")  # files keep their bytes
