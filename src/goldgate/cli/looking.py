"""The units that report.html shows: chosen when all are counted, while the inputs are still open."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation
    from goldgate.core.plan import Plan
    from goldgate.core.unit_page import Given
    from goldgate.report.html.looked import Looked


class Looking:
    """Called at the end of an evaluation with its inputs; then `looked` has the units that are worth a look."""

    def __init__(self, suite: str, lines: Callable[[], Iterable[bytes]]) -> None:
        self._suite = suite
        self._lines = lines  # of the records, when all are written
        self.looked: Looked | None = None

    def __call__(self, evaluation: Evaluation, plan: Plan, given: Given) -> None:
        from goldgate.report.html.worst import worst_units
        from goldgate.suites import load_suite

        self.looked = worst_units(load_suite(self._suite), plan, evaluation, self._lines(), given)


def written_lines(records: IO[bytes]) -> Iterable[bytes]:
    """The lines of a file that was written and can be read."""
    records.seek(0)
    return records
