"""Places in a text as people name them: line and column, from 1, and the line with the place marked."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from goldgate.report.escape import shortened, visible, width

_BEFORE = 3  # of 4 columns of an excerpt are for what stands before the place


class Position(NamedTuple):
    """A line and a column (of characters), both from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class Places:
    """The places of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0]  # of the lines
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def position(self, at: int) -> Position:
        line = bisect_right(self._starts, at)
        return Position(line, at - self._starts[line - 1] + 1)

    def stretch(self, start: int, end: int) -> str:
        """`3:1 to 9:4`, both inside the stretch."""
        return f"{self.position(start)} to {self.position(max(start, end - 1))}"

    def excerpt(self, at: int, columns: int) -> tuple[str, str]:
        """The line of a place in so many columns, and a line with a caret under it.

        Behind the text, or on a blank line, it is the end of what stands before it.
        """
        line = self.position(at).line
        begin = self._starts[line - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self.text)
        if not self.text[begin:end].strip():
            kept = len(self.text[:at].rstrip())
            if 0 < kept < at:
                return self.excerpt(kept, columns)
        most = columns * _BEFORE // 4
        first, cut = max(begin, at - columns), ""
        while width(visible(self.text[first:at])) > most - len(cut) or (first > begin and not cut):
            first, cut = first + 1, "…"
        # As one text: what is safe in two pieces may be a command in one.
        line_shown = cut + visible(self.text[first : min(end, at + columns)].rstrip("\r"))
        return shortened(line_shown, columns), " " * width(cut + visible(self.text[first:at])) + "^"
