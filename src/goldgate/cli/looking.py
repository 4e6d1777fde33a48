"""The units that report.html shows: chosen when all are counted, while the inputs are still open."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING

from goldgate.cli.start import DEBUG
from goldgate.errors import GoldgateError

FAULT = "They cannot be shown, which is a fault of goldgate; please report it:"

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation
    from goldgate.core.plan import Plan
    from goldgate.core.unit_page import Given
    from goldgate.report.html.looked import Looked
    from goldgate.report.html.worst import ReadLine
    from goldgate.suites.worst import WorstUnits


class Looking:
    """Called at the end of an evaluation with its inputs; then `looked` has the units that are worth a look."""

    def __init__(self, suite: str, read: ReadLine) -> None:
        self._suite = suite
        self._read = read  # from the records, when all are written
        self.looked: Looked | None = None

    def __call__(self, evaluation: Evaluation, plan: Plan, given: Given, worst: WorstUnits) -> None:
        from goldgate.report.html.looked import Looked
        from goldgate.report.html.worst import worst_units
        from goldgate.suites import load_suite

        suite = load_suite(self._suite)
        try:
            if worst.fault is not None:
                raise RuntimeError(worst.fault)
            self.looked = worst_units(suite, plan, evaluation, worst, self._read, given)
        except GoldgateError:
            raise
        except Exception as problem:  # what is shown of samples must not cost the verdict of a long run
            if os.environ.get(DEBUG):
                raise
            why = worst.fault or f"{type(problem).__name__}: {problem}"
            self.looked = Looked(unit=suite.unit, note=f"{FAULT} {why}. {DEBUG}=1 shows the traceback.")


def read_written(records: IO[bytes], offset: int, length: int) -> bytes:
    """A part of a file that was written and can be read."""
    records.seek(offset)
    return records.read(length)
