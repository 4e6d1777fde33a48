"""What is made from the program itself: the reference of the commands, and pictures of reports in a terminal."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from goldgate.cli.generate import evaluate_api_command, evaluate_checkpoint_command
from goldgate.cli.main import COMMANDS, goldgate
from goldgate.suites import SUITES

from .documents import DOCS, ROOT
from .plots import PLOTS, plot

COMMANDS_PAGE = DOCS / "commands.md"
MARK = "<!-- What follows is the help of each command, written by tests/docs: GOLDGATE_UPDATE=1 pytest tests/docs -->\n"
WIDTH = 100  # of the help

SCRIPTS = {
    "evaluate_api.py": evaluate_api_command,
    "evaluate.py --checkpoint": evaluate_checkpoint_command,
}


def commands_page() -> str:
    """The page with the help of every command behind what people wrote there."""
    written = COMMANDS_PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    group = click.Context(goldgate, info_name="goldgate")
    sections = []
    for name in (*SUITES, *COMMANDS):
        command = goldgate.get_command(group, name)
        assert command is not None
        sections.append(_help(f"goldgate {name}", command))
    sections += [_help(f"python {name}", command) for name, command in SCRIPTS.items()]
    return written + MARK + "\n" + "\n".join(sections)


def _help(name: str, command: click.Command) -> str:
    names = ["-h", "--help"]
    command = copy(command)
    command._help_option = None  # click keeps the option of the first call, which another test may have made without -h
    context = command.make_context(name, [], resilient_parsing=True, terminal_width=WIDTH, help_option_names=names)
    return f"## {name}\n\n```text\n{command.get_help(context)}\n```\n"


class Picture(NamedTuple):
    """A command, the files that it is run on by their names in it, and the sections of its report that are shown."""

    title: str
    command: Sequence[str]
    files: Mapping[str, str]
    sections: Sequence[str]


PICTURES = {
    "report.svg": Picture(
        "goldgate extraction in a terminal: a model passes one gate and fails two",
        ("goldgate extraction --gold gold.jsonl --predictions answers.jsonl \\",
         "      --schema schema.json --protocol release.yaml --out report"),
        {"gold.jsonl": "examples/extraction/gold.jsonl", "answers.jsonl": "examples/extraction/model-a.jsonl",
         "schema.json": "examples/extraction/schema.json", "release.yaml": "examples/extraction/protocol-fail.yaml"},
        ("Gates", "What stands out", "Scores", "Errors by name"),
    ),
    "research.svg": Picture(
        "goldgate research in a terminal: an agent fails its gates",
        ("goldgate research --golden golden_queries.json --outputs outputs \\", "      --out report"),
        {"golden_queries.json": "eval/golden_queries.json", "outputs": "examples/research/failing"},
        ("Gates", "What stands out", "Evidence records"),
    ),
}  # fmt: skip

_LINE, _TOP, _LEFT = 18, 52, 18
_WIDE = 720
_PLAIN = "#d7dce2"
_INK = {"31": "#ff7b72", "32": "#7ee787", "33": "#f2c97d"}
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_PAINTED = re.compile(r"\x1b\[(\d+)m(.*?)\x1b\[0m")


def picture(name: str) -> str:
    """A terminal with the beginning of a report in it, its main sections and its end."""
    wanted = PICTURES[name]
    lines = [("$ " * (number == 0) + line, "#8fb7ff") for number, line in enumerate(wanted.command)]
    lines += [(line, _PLAIN) for line in _excerpt(_in_terminal(wanted), wanted.sections)]
    height = _TOP + len(lines) * _LINE + 6
    texts = "\n".join(
        f'<text x="{_LEFT}" y="{_TOP + number * _LINE}" fill="{ink}" xml:space="preserve">{_painted(line)}</text>'
        for number, (line, ink) in enumerate(lines)
    )
    title = escape(wanted.title)
    size = f'viewBox="0 0 {_WIDE} {height}" width="{_WIDE}" height="{height}"'
    buttons = "".join(
        f'<circle cx="{22 + 20 * number}" cy="20" r="6" fill="{ink}"/>'
        for number, ink in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">
<rect width="{_WIDE}" height="{height}" rx="10" fill="#12161c"/>
{buttons}
<g font-family="{_FONTS}" font-size="14">
{texts}
</g>
</svg>
"""


def _in_terminal(wanted: Picture) -> list[str]:
    """The lines that a command prints on a terminal of 80 columns."""
    reading, terminal = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"COLUMNS": "80", "TERM": "xterm", "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"}
    words = shlex.split(" ".join(line.removesuffix("\\") for line in wanted.command))
    words[:1] = [sys.executable, "-m", "goldgate"]
    with TemporaryDirectory() as folder:
        for name, file in wanted.files.items():
            (Path(folder) / name).symlink_to(ROOT / file)
        with subprocess.Popen(words, cwd=folder, env=environment, stdout=terminal, stderr=subprocess.DEVNULL):
            os.close(terminal)
            printed = b"".join(_read(reading))
    return printed.decode().replace("\r\n", "\n").splitlines()


def _read(terminal: int) -> Iterator[bytes]:
    """What is written to a terminal until nobody can write to it any more."""
    with os.fdopen(terminal, "rb", buffering=0) as stream:
        try:
            while data := stream.read(65536):
                yield data
        except OSError:  # the other end is closed
            return


def _excerpt(lines: list[str], sections: Sequence[str]) -> Iterator[str]:
    """The headline, some sections in their order, `…` for all others, and the last lines."""
    *parts, last = "\n".join(lines).split("\n\n")
    shown = True
    for number, part in enumerate(parts):
        if number == 0 or part.split("\n")[0] in sections:
            yield from ([] if number == 0 else [""]) + part.split("\n")
            shown = True
        elif shown:
            yield from ("", "…")
            shown = False
    yield from ("", *last.split("\n"))


def _painted(line: str) -> str:
    def paint(found: re.Match[str]) -> str:
        return f'<tspan fill="{_INK.get(found.group(1), _PLAIN)}" font-weight="bold">{found.group(2)}</tspan>'

    return _PAINTED.sub(paint, escape(line, quote=False))


GENERATED = [COMMANDS_PAGE, *(DOCS / "images" / name for name in (*PICTURES, *PLOTS))]


def make(file: Path) -> str:
    """What should be in a generated file."""
    if file == COMMANDS_PAGE:
        return commands_page()
    return plot(file.name) if file.name in PLOTS else picture(file.name)
