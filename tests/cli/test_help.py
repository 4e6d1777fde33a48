"""The help: groups of commands, an example in each that can be typed, and what a first run is told."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from goldgate.cli.main import COMMAND_GROUPS, COMMANDS, goldgate
from goldgate.suites import SUITES

ROOT = Path(__file__).parents[2]
GOLD = ROOT / "examples" / "extraction" / "gold.jsonl"


def help_text(*words: str) -> str:
    result = CliRunner().invoke(goldgate, [*words, "--help"], env={"COLUMNS": "80"}, terminal_width=80)
    assert result.exit_code == 0
    return result.output


def examples(text: str) -> Iterator[list[str]]:
    """The commands under `Example`, as words."""
    block = re.search(r"^  Examples?\b.*:\n((?:    .*\n)+)", text, re.MULTILINE)
    assert block is not None
    for line in block[1].replace("\\\n", " ").splitlines():
        yield shlex.split(line)


def test_the_help_lists_every_command_in_its_group() -> None:
    text = help_text()
    for group, names in COMMAND_GROUPS.items():
        section = text.split(f"\n{group}:\n")[1].split("\n\n")[0]
        listed = [line.split()[0] for line in section.splitlines() if re.match(r"  \S", line)]
        assert listed == [*(SUITES if group == "Judge" else ()), *names], group


def test_every_command_shows_an_example_that_it_takes() -> None:
    context = click.Context(goldgate, info_name="goldgate")
    for name in (*SUITES, *COMMANDS):
        text = help_text(name)
        assert max(map(len, text.splitlines())) <= 80, name
        command = goldgate.get_command(context, name)
        assert command is not None
        for program, used, *words in examples(text):
            assert (program, used) == ("goldgate", name)
            command.make_context(name, words)  # a mistake in the options raises


def test_asking_without_an_address_names_the_usual_ones() -> None:
    result = CliRunner().invoke(goldgate, ["generate", "--gold", str(GOLD), "--model", "m"])
    assert result.exit_code == 2
    for server, address in (
        ("OpenAI", "https://api.openai.com/v1"),
        ("vLLM", "http://127.0.0.1:8000/v1"),
        ("llama.cpp", "http://127.0.0.1:8080/v1"),
        ("Ollama", "http://127.0.0.1:11434/v1"),
    ):
        assert re.search(rf"--base-url {re.escape(address)} +{re.escape(server)}", result.stderr), server


def test_a_run_without_gates_says_how_to_set_one() -> None:
    inputs = ["--gold", str(GOLD), "--predictions", str(GOLD.with_name("model-a.jsonl"))]
    result = CliRunner().invoke(goldgate, ["extraction", *inputs], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert result.output.count("no gates set") == 1
    assert "gates: {strict_f1: {min: 0.8}}" in " ".join(result.output.split())


@pytest.mark.parametrize("columns", [40, 80])
def test_no_line_of_a_help_breaks_a_command(columns: int) -> None:
    context, seen = click.Context(goldgate, info_name="goldgate"), 0
    for name in (*SUITES, *COMMANDS):
        command = goldgate.get_command(context, name)
        assert command is not None
        shown = CliRunner().invoke(goldgate, [name, "--help"], terminal_width=columns).output
        assert "\xa0" not in shown
        texts = [each.help or "" for each in command.params if isinstance(each, click.Option)]
        for used in re.findall(r"goldgate [a-z-]+(?: --[a-z-]+)+", " ".join([*texts, command.help or ""])):
            seen += 1
            assert used in shown, (name, used)
        for path in (word for text in texts for word in text.split() if "/" in word or "_" in word):
            assert path in shown, (name, path)
    assert seen > 3
