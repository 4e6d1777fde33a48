"""Findings and problems: what is wrong in stored data, and where: the file and line, the record's id, the pointer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from goldgate.core.contracts import FindingValue

Severity = Literal["error", "warning", "hint"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")
MAX_PER_CODE = 20  # findings of one code in one run; one more says how many are left out


class Finding(NamedTuple):
    """What, how bad, where, and in words. Files are named relative to the outputs."""

    code: str
    severity: Severity
    file: str
    line: int | None
    pointer: str
    message: str
    id: str | None = None  # id of the record, if files are joined by id

    def as_json(self) -> FindingValue:
        entry: FindingValue = {
            "code": self.code,
            "severity": self.severity,
            "file": self.file,
            "line": self.line,
            "pointer": self.pointer,
            "message": limit_length(self.message),
        }
        if self.id is not None:
            entry["id"] = limit_length(self.id)
        return entry


def finding_entries(findings: list[Finding]) -> list[FindingValue]:
    """The findings for a report. Each is taken out of the list as its entry is made: there may be very many."""
    entries = []
    findings.reverse()
    while findings:
        entries.append(findings.pop().as_json())
    return entries


def limit_length(text: str, longest: int = 500) -> str:
    """The text, or its beginning: what comes from a run can be of any length."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


class RunFindings:
    """The findings of one run: MAX_PER_CODE of a code, then only their number."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._names: dict[str, str] = {"": folder}  # path of each file, built once: a run may have many findings
        self._findings: list[Finding] = []
        self._counts: dict[tuple[str, Severity], int] = {}
        self._at_least: set[tuple[str, Severity]] = set()

    def is_full(self, code: str, severity: Severity) -> bool:
        """Whether MAX_PER_CODE findings of this code are listed; more are only counted."""
        return self._counts.get((code, severity), 0) >= MAX_PER_CODE

    def count(self, code: str, severity: Severity, number: int = 1, *, at_least: bool = False) -> None:
        """Count findings beyond MAX_PER_CODE, which are not listed; `at_least` if there may be more of them."""
        self._counts[code, severity] = self._counts.get((code, severity), 0) + number
        if at_least:
            self._at_least.add((code, severity))

    def add(
        self, code: str, severity: Severity, file: str, message: str, pointer: str = "", line: int | None = None
    ) -> None:
        self._counts[code, severity] = count = self._counts.get((code, severity), 0) + 1
        if count <= MAX_PER_CODE:
            name = self._names.get(file) or self._names.setdefault(file, f"{self.folder}/{file}")
            self._findings.append(Finding(code, severity, name, line, pointer, limit_length(message)))

    def to_list(self) -> list[Finding]:
        """All findings, in the order in which they were added."""
        if not self._findings:
            return []
        more = []
        for (code, severity), count in self._counts.items():
            if count > MAX_PER_CODE:
                number = f"{'at least ' if (code, severity) in self._at_least else ''}{count - MAX_PER_CODE}"
                message = f"and {number} more findings of this kind"
                more.append(Finding(code, severity, self.folder, None, "", message))
        return [*self._findings, *more]

    @property
    def errors(self) -> int:
        return sum(count for (_, severity), count in self._counts.items() if severity == "error")

    @property
    def total(self) -> int:
        return sum(self._counts.values())


class FindingSample:
    """The findings of all units, a limited number of each code: the same ones in any order of units.

    How many there are in all is for a measure to count.
    """

    def __init__(self) -> None:
        self._by_code: dict[str, list[Finding]] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            kept = self._by_code.setdefault(finding.code, [])
            kept.append(finding)
            if len(kept) == 2 * MAX_PER_CODE:
                kept[:] = _first(kept)

    def to_list(self) -> list[Finding]:
        """All findings, sorted by code, then by id and place."""
        return [finding for _, kept in sorted(self._by_code.items()) for finding in _first(kept)]


def _first(findings: list[Finding]) -> list[Finding]:
    def order(finding: Finding) -> tuple[str, str, int, str, str]:
        return finding.id or "", finding.file, finding.line or 0, finding.pointer, finding.message

    return sorted(findings, key=order)[:MAX_PER_CODE]


class Problem(NamedTuple):
    """Where, what was expected there, and what was found."""

    pointer: str  # RFC 6901; empty for the whole value
    expected: str
    found: str

    @property
    def message(self) -> str:
        return f"expected {self.expected}, found {self.found}"


def child_pointer(pointer: str, key: str | int) -> str:
    """The pointer of what an object or a list has under a key."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def record_id(record: Mapping[str, Any]) -> str | None:
    """The record's id as text, an integer as its digits; None if it has none."""
    value = record.get("id")
    if type(value) is str:
        return value or None
    return str(value) if type(value) is int else None
