"""A cache of its own for every test, the toy suite, and folders that several tests look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from goldgate.suites import SUITES
from goldgate.viewer.folder import ViewedFolder
from tests.contract.inputs import TOY

from .stored import opened, store_agent, store_model


@pytest.fixture(autouse=True)
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, place in TOY.items():
        monkeypatch.setitem(SUITES, name, place)
    return tmp_path / "cache" / "goldgate"


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`a` and `b` are the example models, `passing` and `failing` the example agents."""
    root = tmp_path_factory.mktemp("stored")
    for name in ("a", "b"):
        store_model(root / name, name)
    for name in ("passing", "failing"):
        store_agent(root / name, name)
    return root


@pytest.fixture
def model_b(stored: Path) -> Iterator[ViewedFolder]:
    folder = opened(stored / "b", "b")
    yield folder
    folder.close()
