"""A plugin of pytest: a file `….goldgate.yaml` is collected as one test for each gate of its protocol.

pytest imports this module in every session, so it imports nothing of goldgate before there is such a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from goldgate.api import EvaluationFile
    from goldgate.report.verdicts import GateOutcome

ENDINGS = (".goldgate.yaml", ".goldgate.yml")
_OPTION = "--goldgate-input"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("goldgate").addoption(
        _OPTION,
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="judge this file instead of the one that a .goldgate.yaml names, such as predictions=new.jsonl",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GateFile | None:
    if not file_path.name.endswith(ENDINGS):
        return None
    gate_file: GateFile = GateFile.from_parent(parent, path=file_path)
    return gate_file


class GateFailedError(Exception):
    """A gate did not pass; its text is what is shown."""


class GateFile(pytest.File):
    """The gates of one file. They are judged when the first of them runs, and only once."""

    _outcomes: dict[str, GateOutcome] | None = None
    _fault: Exception | None = None
    judged: EvaluationFile

    def collect(self) -> Iterator[GateItem]:
        from goldgate.api import load_evaluation_file
        from goldgate.errors import GoldgateError
        from goldgate.report.escape import visible_name

        try:
            self.judged = load_evaluation_file(self.path, _instead(self.config))
            names = self.judged.gate_names()
        except GoldgateError as error:
            raise self.CollectError(_error_text(error)) from None
        for name in names or ["gates"]:
            # Safe to print, and one piece in a node id.
            yield GateItem.from_parent(self, name=visible_name(name), gate=name)

    def outcome(self, gate: str) -> GateOutcome:
        """What came of a gate; the error of the evaluation, for each of them, where there was one."""
        if self._fault is not None:
            raise self._fault
        if self._outcomes is None:
            from goldgate.report import describe_report
            from goldgate.report.verdicts import gate_outcomes

            try:
                report = self.judged.evaluate().located_report()
            except Exception as problem:
                self._fault = problem
                raise
            self._outcomes = {each.name: each for each in gate_outcomes(describe_report(report))}
        return self._outcomes[gate]


class GateItem(pytest.Item):
    """One gate: it fails where the exit status of the command would be 1 for it, and is skipped where it only warns."""

    def __init__(self, *, gate: str, **options: Any) -> None:
        super().__init__(**options)
        self.gate = gate

    def runtest(self) -> None:
        assert isinstance(self.parent, GateFile)
        outcome = self.parent.outcome(self.gate)
        if outcome.kind == "failed":
            raise GateFailedError("\n".join([f"{outcome.word}: {outcome.reason}", *outcome.details]))
        if outcome.kind == "warning":
            pytest.skip(f"{outcome.word} (warn): {outcome.reason}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """In our words: a gate has no traceback, and neither has a mistake in the inputs."""
        from goldgate.errors import GoldgateError

        if isinstance(excinfo.value, GateFailedError):
            from goldgate.report.escape import visible

            return "\n".join(visible(line) for line in str(excinfo.value).splitlines())
        if isinstance(excinfo.value, GoldgateError):
            return _error_text(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"gate {self.name}"


def _instead(config: pytest.Config) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in config.getoption(_OPTION)]
    for name, equals, path in pairs:
        if not (name and equals and path):
            raise pytest.UsageError(f"{_OPTION} takes NAME=PATH, not {name}{equals}{path}")
    return {name: path for name, _, path in pairs}


def _error_text(error: Any) -> str:
    from goldgate.report.text import render_error

    return render_error(error).rstrip("\n")
