"""The data, made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .runs import Data, make_data, report_of


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.fixture
def data(made: Data) -> Iterator[Data]:
    """The files as they should be, whatever a test does to them."""
    made.restore()
    yield made
    made.restore()


@pytest.fixture(scope="session")
def expected(made: Data, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The undisturbed report by the digest of the predictions."""
    folder = tmp_path_factory.mktemp("expected")
    names = ("predictions.jsonl", "other.jsonl")
    return {made.sha256(name): report_of(made, Path(folder, name), name) for name in names}
