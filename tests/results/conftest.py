"""Results of every suite, the toy suite among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from goldgate.suites import SUITES
from tests.results.made import arguments, make


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SUITES, "qa", "tests.toy.suite:SUITE")


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes a result of a suite in the folder `out`, and goes there."""

    def made(suite: str) -> Path:
        folder = tmp_path / suite
        options = arguments(suite, folder)
        monkeypatch.chdir(folder)
        make(suite, *options)
        return folder

    return made
