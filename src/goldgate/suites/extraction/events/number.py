"""Numbers as the text that they were written in: `1.10` is not `1.1` to someone who compares texts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NumberText:
    """A JSON number kept as the text it was written in: `1.10` stays `1.10`."""

    text: str


def number_text(text: str) -> int | NumberText:
    """An integer whose text can be made again from its value, or else the text."""
    return int(text) if len(text) < 19 and text != "-0" else NumberText(text)
