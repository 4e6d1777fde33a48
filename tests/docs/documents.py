"""The documentation as data: its pages, fenced blocks, and the commands that its console blocks show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted((*ROOT.glob("*.md"), *DOCS.rglob("*.md")))

_BLOCK = re.compile(r"^(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"\s+# exit (\d+)\s*$")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the line of the page before its first line, and the file that it is."""

    language: str
    text: str
    line: int
    file: str | None = None  # named by a comment above the block


@dataclass
class Command:
    """A line after `$ `, the exit status it should have, and the output shown under it."""

    line: str
    exit_status: int
    output: list[str] = field(default_factory=list)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found.group(2), found.group(3), text.count("\n", 0, found.start(3)), found.group(1))
        for found in _BLOCK.finditer(text)
    ]


def has(page: Path, language: str) -> bool:
    return any(block.language == language for block in blocks(page))


def commands(console: str) -> Iterator[Command]:
    """The commands of a console block; a line that ends in a backslash goes on in the next."""
    command: Command | None = None
    for line in console.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            if command is not None:
                yield command
            status = _EXIT.search(line)
            command = Command(_EXIT.sub("", line)[2:], int(status.group(1)) if status else 0)
        elif command is not None:
            command.output.append(line)
    if command is not None:
        yield command


def output_fits(shown: list[str], printed: list[str]) -> bool:
    """Whether the printed lines are those shown, where a line `…` stands for any lines."""
    pattern = "".join("(?:.*\n)*" if line.strip() == "…" else re.escape(line.rstrip()) + "\n" for line in shown)
    text = "".join(line.rstrip() + "\n" for line in printed)
    return re.fullmatch(pattern, text) is not None


def refit(shown: list[str], printed: list[str]) -> list[str]:
    """What a page should show: all of it, or as many lines before and behind its one line `…` as it shows now."""
    whole = [line.rstrip() for line in printed]
    if shown.count("…") != 1:
        return whole
    before, behind = shown.index("…"), len(shown) - shown.index("…") - 1
    return [*whole[:before], "…", *whole[len(whole) - behind :]]
