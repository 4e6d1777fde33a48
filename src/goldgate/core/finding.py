"""A finding: something in the stored artifacts that a reader of the report must know of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "hint"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")
SHOWN_A_CODE = 20  # of one code in one run; the rest is one finding that says how many


class Finding(NamedTuple):
    """What, how bad, where, and in words. Files are named relative to the outputs."""

    code: str
    severity: Severity
    file: str
    line: int | None
    pointer: str
    message: str
    id: str | None = None  # of the record, where files are joined by id

    def as_json(self) -> dict[str, object]:
        shown: dict[str, object] = {
            "code": self.code,
            "severity": self.severity,
            "file": self.file,
            "line": self.line,
            "pointer": self.pointer,
            "message": cut(self.message),
        }
        if self.id is not None:
            shown["id"] = cut(self.id)
        return shown


def entries_of(findings: list[Finding]) -> list[dict[str, object]]:
    """The findings for a report. Each is taken out of the list as its entry is made: there may be very many."""
    entries = []
    findings.reverse()
    while findings:
        entries.append(findings.pop().as_json())
    return entries


def cut(text: str, longest: int = 500) -> str:
    """The text, or its beginning: what comes from a run can be of any length."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


class Findings:
    """The findings of one run, so many of a code and then their number."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._names: dict[str, str] = {"": folder}  # of files: written once, for a run may have many findings
        self._found: list[Finding] = []
        self._counts: dict[tuple[str, Severity], int] = {}
        self._at_least: set[tuple[str, Severity]] = set()

    def is_full(self, code: str, severity: Severity) -> bool:
        """Whether so many of this code are listed that more of them are only counted."""
        return self._counts.get((code, severity), 0) >= SHOWN_A_CODE

    def count(self, code: str, severity: Severity, number: int = 1, *, at_least: bool = False) -> None:
        """Count findings of a code that is full, without words for each; `at_least` if there may be more of them."""
        self._counts[code, severity] = self._counts.get((code, severity), 0) + number
        if at_least:
            self._at_least.add((code, severity))

    def add(
        self, code: str, severity: Severity, file: str, message: str, pointer: str = "", line: int | None = None
    ) -> None:
        self._counts[code, severity] = count = self._counts.get((code, severity), 0) + 1
        if count <= SHOWN_A_CODE:
            name = self._names.get(file) or self._names.setdefault(file, f"{self.folder}/{file}")
            self._found.append(Finding(code, severity, name, line, pointer, cut(message)))

    def listed(self) -> list[Finding]:
        """All of them, in the order in which they were found."""
        if not self._found:
            return []
        more = []
        for (code, severity), count in self._counts.items():
            if count > SHOWN_A_CODE:
                number = f"{'at least ' if (code, severity) in self._at_least else ''}{count - SHOWN_A_CODE}"
                message = f"and {number} more findings of this kind"
                more.append(Finding(code, severity, self.folder, None, "", message))
        return [*self._found, *more]

    @property
    def errors(self) -> int:
        return sum(count for (_, severity), count in self._counts.items() if severity == "error")

    @property
    def total(self) -> int:
        return sum(self._counts.values())


class FewOfEachCode:
    """The findings of all units, so many of each code: the same ones, in whatever order they come.

    How many there are in all is for a measure to count.
    """

    def __init__(self) -> None:
        self._by_code: dict[str, list[Finding]] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            kept = self._by_code.setdefault(finding.code, [])
            kept.append(finding)
            if len(kept) == 2 * SHOWN_A_CODE:
                kept[:] = _first(kept)

    def listed(self) -> list[Finding]:
        """By code, then by id and place."""
        return [finding for _, kept in sorted(self._by_code.items()) for finding in _first(kept)]


def _first(findings: list[Finding]) -> list[Finding]:
    def order(finding: Finding) -> tuple[str, str, int, str, str]:
        return finding.id or "", finding.file, finding.line or 0, finding.pointer, finding.message

    return sorted(findings, key=order)[:SHOWN_A_CODE]
