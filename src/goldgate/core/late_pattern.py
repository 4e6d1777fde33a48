"""Regular expressions for what is rarely met: compiled when they are first asked, not when a command starts."""

from __future__ import annotations

import re
import sys
from functools import cached_property


class LatePattern:
    """Is asked like a compiled pattern, and takes a little longer: nothing for a loop over every answer."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.match(text, start, end)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.search(text, start, end)
