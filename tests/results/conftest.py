"""Results of every suite, the toy suite among them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import chdir
from functools import cache
from pathlib import Path

import pytest

from goldgate.suites import SUITES
from tests.results.made import arguments, make, set_in


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SUITES, "qa", "tests.toy.suite:SUITE")


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes a result of a suite, with its inputs, when it is first asked for."""

    @cache
    def made(suite: str) -> Path:
        folder = tmp_path_factory.mktemp("made") / suite
        options = arguments(suite, folder)
        with chdir(folder):
            make(suite, *options)
        return folder

    return made


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_once: Callable[[str], Path]) -> Callable[[str], Path]:
    """A result of a suite in the folder `out`, as if it had been made where the test is now."""

    def made(suite: str) -> Path:
        folder = shutil.copytree(made_once(suite), tmp_path / suite)
        set_in(folder / "out" / "run.json", ["folder"], str(folder))
        monkeypatch.chdir(folder)
        return folder

    return made
