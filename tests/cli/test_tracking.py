"""`--track`: what is refused before anything is scored. tests/with_tools has the trackers themselves."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import goldgate
from goldgate.cli.main import goldgate as program
from goldgate.tracking import TRACKERS


@pytest.mark.parametrize("tracker", TRACKERS)
def test_a_missing_tracker_is_an_error_before_anything_is_read(
    tracker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, tracker, None)  # as if it were not installed
    for variable in ("MLFLOW_DISABLE_TELEMETRY", "WANDB_ERROR_REPORTING"):
        monkeypatch.setenv(variable, "true")  # so that they are as before when the test ends
    inputs = ["--gold", "none.jsonl", "--predictions", "none.jsonl", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(program, ["extraction", *inputs, "--track", tracker])
    assert done.exit_code == 2
    assert "track.missing" in done.output
    assert f"pip install {tracker}" in done.output
    assert not (tmp_path / "out").exists()


def test_an_unknown_tracker_is_an_error() -> None:
    with pytest.raises(goldgate.GoldgateError, match=r"did you mean mlflow\?"):
        goldgate.track(goldgate.evaluate([], [], {"event_types": {"Hire": {"roles": ["Person"]}}}), "mlflo")
