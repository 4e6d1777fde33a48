"""Folders that several tests draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.comparison.runs import MODELS, store_extraction, store_research


@pytest.fixture(scope="package")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`a` and `b` are the example models, `passing` and `failing` the example agents."""
    root = tmp_path_factory.mktemp("drawn")
    for name, file in MODELS.items():
        store_extraction(root / name, file)
    for outputs in ("passing", "failing"):
        store_research(root / outputs, outputs)
    return root
