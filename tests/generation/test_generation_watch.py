"""What a person sees while it runs."""

from __future__ import annotations

from decimal import Decimal

import pytest

from goldgate.generation.answerer import GenerationProgress, ProgressCounts, progress_text
from goldgate.generation.request import Usage


def test_a_line_has_everything_a_person_wants_to_know() -> None:
    counts = ProgressCounts(2000, 100, 396, 4, 7, 32, Usage(81_200, 9_871), Decimal("0.31"))
    # 400 of the 1,900 that were to be asked in 10 s: 40 a second, 1,500 left
    assert progress_text(counts, 10.0, "USD") == (
        "500/2,000 (25 %), 40.0/s, 0:38 left, 81,200 + 9,871 tokens, 0.3100 USD, 7 retries, 4 failed"
    )


def test_the_line_names_what_it_waits_for_and_what_it_does_not_know() -> None:
    assert progress_text(ProgressCounts(5, waits_for="--rpm 60"), 1.0).endswith("0 failed, waiting for --rpm 60")
    assert "left" not in progress_text(ProgressCounts(5, 5), 1.0)
    assert "time left unknown" in progress_text(ProgressCounts(5), 0.0)


def test_plain_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    line = GenerationProgress(quiet=False)
    for done in range(100):
        line(ProgressCounts(100, answered=done))
    line(ProgressCounts(100, answered=100))
    line.print_message("finished")
    told = capsys.readouterr().err
    assert "\r" not in told
    assert told.splitlines()[0].startswith("100/100 (100 %)")
    assert told.splitlines()[1:] == ["finished"]


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    line = GenerationProgress(quiet=True)
    line(ProgressCounts(1, answered=1))
    line.print_message("finished")
    assert capsys.readouterr().err == ""
