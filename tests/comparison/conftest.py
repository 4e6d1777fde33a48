"""Folders that several tests compare."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldgate.comparison import Comparison, compare

from .runs import MODELS, store_extraction, store_research


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`a` and `b` are the example models, `passing` and `failing` the example agents."""
    root = tmp_path_factory.mktemp("stored")
    for name, file in MODELS.items():
        store_extraction(root / name, file)
    for outputs in ("passing", "failing"):
        store_research(root / outputs, outputs)
    return root


@pytest.fixture(scope="session")
def a_and_b(stored: Path) -> Comparison:
    """The comparison of the two example models, made once for all who only read it."""
    return compare(stored / "a", stored / "b")
