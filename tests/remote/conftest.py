"""Stores on loopback: a web server, and S3 by moto. Nothing here reaches another machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.remote.samples import SCHEMA, gold_lines, predicted_lines, write_all
from tests.remote.web import Site, serving

pytest.importorskip("fsspec")

__all__ = ["SCHEMA", "gold_lines", "predicted_lines"]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    from goldgate.files.remote import connect

    monkeypatch.setattr(connect, "PAUSE_SECONDS", 0.01)


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """A folder with gold, predictions, schema and protocol."""
    folder = tmp_path / "local"
    folder.mkdir()
    write_all(folder)
    return folder


@pytest.fixture
def site(local: Path) -> Iterator[Site]:
    """The same files on a web server."""
    with serving(Site(files={path.name: path.read_bytes() for path in local.iterdir()})) as site:
        yield site
