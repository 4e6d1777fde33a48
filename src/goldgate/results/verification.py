"""What verifying a stored result came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED
from goldgate.results.differences import Difference
from goldgate.results.inputs import UsedInput

FORMAT_VERSION = 1  # of a verification, as JSON
Kind = Literal["report", "records", "baseline", "comparison"]


class OtherSetting(NamedTuple):
    """A version or a setting that is not the same now."""

    name: str
    stored: str | None
    now: str | None


@dataclass(frozen=True, slots=True)
class Verification:
    """Verified, or where each file differs first. `compared` names the files that were looked at."""

    of: Kind
    subject: str  # the suite that it is of
    compared: Sequence[str]
    differences: Sequence[Difference] = ()
    inputs: Sequence[UsedInput] = ()
    settings: Sequence[OtherSetting] = ()
    not_compared: Sequence[str] = ()  # with the reason of each, in words
    error: Mapping[str, Any] | None = None  # why it could not be made again, where an input has changed

    @property
    def verified(self) -> bool:
        return not self.differences and not self.changed and self.error is None

    @property
    def changed(self) -> list[UsedInput]:
        return [each for each in self.inputs if each.changed]

    @property
    def exit_status(self) -> int:
        return EXIT_PASSED if self.verified else EXIT_GATE_FAILED

    def as_json(self) -> dict[str, Any]:
        return {
            "format_version": FORMAT_VERSION,
            "kind": "verification",
            "of": self.of,
            "suite": self.subject,
            "status": "verified" if self.verified else "differs",
            "compared": list(self.compared),
            "difference": self.differences[0].as_json() if self.differences else None,
            "differences": [each.as_json() for each in self.differences],
            "inputs": [each.as_json() for each in self.inputs],
            "settings": [each._asdict() for each in self.settings],
            "not_compared": list(self.not_compared),
            "error": self.error,
        }
